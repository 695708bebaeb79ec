"""``python -m coursekit.translator``, from training to the exported file, with a tiny model on the built-in corpus."""

from __future__ import annotations

import io
import json
import signal
from pathlib import Path

import pytest
import torch
from coursekit.translator import __main__ as command
from coursekit.translator import model as lab_model
from coursekit.translator.batches import LONGEST, sentences
from coursekit.translator.model import load_lab_12
from coursekit.translator.plan import Plan, plan_from
from coursekit.translator.run import Run

TINY = "d_model=16 heads=2 d_ff=24 layers=1 vocabulary=300 warm_up=5 batch_tokens=300 epochs=2"
ROOT = Path(__file__).resolve().parents[3]


def _train(folder, *more, pairs=300):
    return command.main(
        ["train", "built-in", "--out", str(folder), "--plan", *TINY.split(), f"pairs={pairs}", *more]
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of both directions."""
    folder = tmp_path_factory.mktemp("runs") / "both"
    assert _train(folder, "--direction", "both") == 0
    return folder


def test_a_run_leaves_all_its_files_whole_and_is_evaluated_with_sacrebleus_signature_and_samples(run, capsys):
    names = {file.name for file in run.iterdir()}
    assert names >= {"checkpoint.pt", "curve.json", "curve.png"}
    assert not [name for name in names if "part" in name]
    curve = json.loads((run / "curve.json").read_text())
    assert curve["losses"][-1] < curve["losses"][0] and curve["measured"][-1]["validation_loss"] > 0
    assert command.main(["evaluate", str(run), "--beam", "2", "--limit", "6"]) == 0
    said = capsys.readouterr().out
    assert "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp" in said and "chrF" in said
    report = json.loads((run / "evaluation_test_beam2.json").read_text())
    pairs, samples = sentences("built-in", "test", "de-en")[:6], report["de-en"]["samples"]
    assert [row["source"] for row in samples] == [source for source, _ in pairs]
    assert {"source", "translation", "reference"} == set(samples[0]) and report["en-de"]["sentences"] == 6


def test_alternatives_are_best_first_and_an_exported_file_translates_as_the_run_does(
    run, tmp_path, capsys, monkeypatch
):
    words = ["translate", str(run), "I eat.", "Du isst.", "--to", "de", "--alternatives", "3"]
    assert command.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "I eat." and lines[4] == "Du isst."
    shown = [float(line.split()[0]) for line in lines[1:4]]
    assert shown == sorted(shown, reverse=True)
    out = tmp_path / "ship" / "model.pt"
    assert command.main(["export", str(run), "--out", str(out)]) == 0
    capsys.readouterr()
    for place in (run, out):
        monkeypatch.setattr("sys.stdin", io.StringIO("The dog sleeps.\n\n"))
        assert command.main(["translate", str(place), "--to", "de"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def test_the_plan_of_an_older_version_is_known_without_what_has_gone():
    """As in the model that ships: how it was trained, not what it computes."""
    assert plan_from({"corpus": "tatoeba", "optimiser": "muon", "without": ("joint",)}) == Plan("tatoeba")


def test_pairs_that_are_too_long_are_counted_and_ctrl_c_leaves_a_checkpoint_to_go_on_from(
    tmp_path, capsys, monkeypatch
):
    text = sentences("built-in", "train", "de-en", 40)
    monkeypatch.setattr(command, "sentences", lambda *_: [*text, ("Haus " * (LONGEST + 9), "house")])
    learn = Run.learn_from

    def interrupted(run, batch):
        signal.raise_signal(signal.SIGINT)
        return learn(run, batch)

    with monkeypatch.context() as patched:
        patched.setattr(Run, "learn_from", interrupted)
        assert _train(tmp_path / "run") == 0
    said = capsys.readouterr().out
    assert "from 40 pairs (1 are too long)" in said and "the same command goes on" in said
    assert len(torch.load(tmp_path / "run" / "checkpoint.pt")["curve"]["losses"]) == 1
    assert _train(tmp_path / "run") == 0
    said = capsys.readouterr().out
    assert "Going on from step 1" in said and "Finished" in said


UNWRITTEN = ROOT / "notebooks" / "12_translator" / "12_translator.ipynb"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("evaluate nowhere", "There is no checkpoint nowhere"),
        ("train built-in --notebook nowhere.ipynb", "There is no notebook"),
        (f"train built-in --notebook {UNWRITTEN}", "Transformer in 12_translator.ipynb is not written yet"),
        ("train built-in --plan heads=5", "5 heads cannot share a width of 128 evenly"),
        ("train built-in --plan colour=5", "A plan has no 'colour'"),
        ("train built-in --plan dropout=1", "The plan's dropout cannot be '1'; usually it is 0.1"),
        ("train built-in --plan layers=two", "layers cannot be 'two'"),
        ("train built-in --minutes nan", "minutes cannot be 'nan'"),
        ("train built-in --device cuda", "finds no GPU here"),
        ("train built-in --out RUN --plan rate=0.5", "another plan"),
        ("translate RUN Ja. --beam 5000", "as many as there are subwords"),
        ("translate RUN/curve.json Ja.", "damaged, or something else"),
        ("translate OTHER Ja.", "do not fit this Transformer"),
    ],
)
def test_a_mistake_is_one_sentence(run, words, sentence, capsys, tmp_path, monkeypatch):
    state = torch.load(run / "checkpoint.pt")
    state["model"].pop(next(iter(state["model"])))
    torch.save(state, tmp_path / "other")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert command.main(words.replace("RUN", str(run)).replace("OTHER", "other").split()) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


def test_the_students_own_transformer_is_trained_and_translates(tmp_path, capsys, monkeypatch):
    notebook = ROOT / "solutions" / "12_translator" / "12_translator.ipynb"
    own = ["--notebook", str(notebook)]
    assert _train(tmp_path / "own", *own, pairs=60) == 0
    assert load_lab_12(notebook).Transformer.__module__ == "own_12_translator"
    assert command.main(["translate", str(tmp_path / "own"), "Ich esse.", *own]) == 0
    monkeypatch.setattr(lab_model, "FAST", "coursekit.provided.no_such_module")
    assert command.main(["translate", str(tmp_path / "own"), "Ja.", *own]) == 2
    assert "in the bundle of lab 13" in capsys.readouterr().err
