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

TINY = [
    "d_model=16",
    "heads=2",
    "d_ff=24",
    "layers=1",
    "vocabulary=300",
    "warm_up=5",
    "batch_tokens=300",
    "epochs=2",
]
ROOT = Path(__file__).resolve().parents[3]


def _train(folder, *more, pairs=300):
    return command.main(["train", "built-in", "--out", str(folder), "--plan", *TINY, f"pairs={pairs}", *more])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of both directions."""
    folder = tmp_path_factory.mktemp("runs") / "both"
    assert _train(folder, "--direction", "both") == 0
    return folder


def test_a_run_leaves_all_its_files_whole_and_is_evaluated_with_sacrebleus_signature_and_samples(run, capsys):
    names = {file.name for file in run.iterdir()}
    assert names >= {"plan.json", "subwords.json", "checkpoint.pt", "curve.json", "curve.png"}
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


def _one_sentence(capsys, words, sentence):
    capsys.readouterr()
    assert command.main([*map(str, words)]) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


UNWRITTEN = ROOT / "notebooks" / "12_translator" / "12_translator.ipynb"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("evaluate nowhere", "holds no training run"),
        ("train built-in --notebook nowhere.ipynb", "There is no notebook"),
        (f"train built-in --notebook {UNWRITTEN}", "Transformer in 12_translator.ipynb is not written yet"),
        ("train built-in --plan heads=5", "5 heads cannot share a width of 128 evenly"),
        ("train built-in --plan colour=5", "A plan has no 'colour'"),
        ("train built-in --plan dropout=1", "The plan's dropout cannot be '1'; usually it is 0.1"),
        ("train built-in --plan rate=nan", "rate cannot be 'nan'"),
        ("train built-in --tokens -5", "tokens cannot be '-5'"),
        ("train built-in --plan warm_up=0", "warm_up cannot be '0'"),
        ("train built-in --plan layers=two", "layers cannot be 'two'"),
        ("train built-in --device cuda", "finds no GPU here"),
        ("train built-in --out RUN --plan rate=0.5", "another plan"),
        ("translate RUN Ja. --beam 5000", "as many as there are subwords"),
        ("translate RUN/checkpoint.pt Ja.", "name its folder, "),
    ],
)
def test_a_mistake_is_one_sentence(run, words, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    _one_sentence(capsys, [word.replace("RUN", str(run)) for word in words.split()], sentence)


def _without_a_weight(state):
    state["model"].pop(next(iter(state["model"])))


def _older(state):
    state["optimisers"] = [state.pop("optimizer")]


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("plan.json", "{", "cannot be read as JSON"),
        ("plan.json", '{"corpus": "built-in", "colour": 1}', "version of the course: its plan has colour"),
        ("subwords.json", '{"merges": [1]}', "subwords.json cannot be read as subwords"),
        ("checkpoint.pt", "not a checkpoint", "damaged, or something else"),
        ("checkpoint.pt", _without_a_weight, "do not fit this Transformer"),
        ("checkpoint.pt", _older, "of another version of the course"),
    ],
)
def test_a_damaged_run_is_said_in_one_sentence(run, file, content, sentence, tmp_path, capsys):
    for name in ("plan.json", "subwords.json", "checkpoint.pt"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    if callable(content):
        state = torch.load(run / file)
        content(state)
        torch.save(state, tmp_path / file)
    else:
        (tmp_path / file).write_text(content)
    words = ["translate", tmp_path, "Hello.", "--to", "de"]
    if content is _older:
        words = ["train", "built-in", "--out", tmp_path, "--direction", "both", "--plan", *TINY, "pairs=300"]
    _one_sentence(capsys, words, sentence)


def test_the_students_own_transformer_is_trained_and_translates(tmp_path, capsys, monkeypatch):
    notebook = ROOT / "solutions" / "12_translator" / "12_translator.ipynb"
    own = ["--notebook", str(notebook)]
    assert _train(tmp_path / "own", *own, pairs=60) == 0
    assert load_lab_12(notebook).Transformer.__module__ == "own_12_translator"
    assert command.main(["translate", str(tmp_path / "own"), "Ich esse.", *own]) == 0
    monkeypatch.setattr(lab_model, "FAST", "coursekit.provided.no_such_module")
    _one_sentence(capsys, ["translate", tmp_path / "own", "Ja.", *own], "in the bundle of lab 13")
