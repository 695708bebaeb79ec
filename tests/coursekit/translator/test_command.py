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

SIZES = {
    "d-model": 16,
    "heads": 2,
    "d-ff": 24,
    "layers": 1,
    "vocabulary": 300,
    "warm-up": 5,
    "batch-tokens": 300,
}
TINY = [word for name, value in SIZES.items() for word in (f"--{name}", str(value))]
ROOT = Path(__file__).resolve().parents[3]


def _train(folder, *more):
    words = ["--threads", "1", "train", "built-in", "--out", str(folder), *TINY, "--pairs", "300"]
    return command.main([*words, "--epochs", "2", *more])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of both directions."""
    folder = tmp_path_factory.mktemp("runs") / "both"
    assert _train(folder, "--direction", "both") == 0
    return folder


def test_a_run_leaves_its_plan_its_curve_and_a_picture_and_nothing_half_written(run):
    names = {file.name for file in run.iterdir()}
    assert names >= {"plan.json", "subwords.json", "checkpoint.pt", "curve.json", "curve.png"}
    assert not [name for name in names if "part" in name]
    curve = json.loads((run / "curve.json").read_text())
    assert curve["losses"][-1] < curve["losses"][0] and curve["measured"][-1]["validation_loss"] > 0


def test_a_run_is_evaluated_with_sacrebleus_signature_and_samples(run, capsys):
    words = ["evaluate", str(run), "--beam", "2", "--limit", "6", "--samples", "3"]
    assert command.main(words) == 0
    said = capsys.readouterr().out
    assert "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp" in said and "chrF" in said
    report = json.loads((run / "evaluation_test_beam2.json").read_text())
    pairs, samples = sentences("built-in", "test", "de-en")[:6], report["de-en"]["samples"]
    assert [row["source"] for row in samples] == [pairs[1][0], pairs[3][0], pairs[5][0]]
    assert {"source", "translation", "reference"} == set(samples[0]) and report["en-de"]["sentences"] == 6


def test_alternatives_are_shown_best_first(run, capsys):
    words = ["translate", str(run), "I eat.", "Du isst.", "--to", "de", "--alternatives", "3"]
    assert command.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "I eat." and lines[4] == "Du isst."
    shown = [float(line.split()[0]) for line in lines[1:4]]
    assert shown == sorted(shown, reverse=True)


def test_an_exported_file_translates_sentences_from_standard_input_as_the_run_does(
    run, tmp_path, capsys, monkeypatch
):
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


def test_pairs_that_are_too_long_are_left_out_and_counted(tmp_path, capsys, monkeypatch):
    text = sentences("built-in", "train", "de-en", 40)
    monkeypatch.setattr(command, "sentences", lambda *_: [*text, ("Haus " * (LONGEST + 9), "house")])
    assert _train(tmp_path / "run", "--epochs", "1") == 0
    assert "from 40 pairs (1 are too long)" in capsys.readouterr().out


def test_ctrl_c_leaves_a_checkpoint_from_which_the_same_command_goes_on(tmp_path, capsys, monkeypatch):
    learn = Run.learn_from

    def interrupted(run, batch):
        signal.raise_signal(signal.SIGINT)
        return learn(run, batch)

    with monkeypatch.context() as patched:
        patched.setattr(Run, "learn_from", interrupted)
        assert _train(tmp_path / "run", "--pairs", "60") == 0
    assert "the same command goes on" in capsys.readouterr().out
    assert len(torch.load(tmp_path / "run" / "checkpoint.pt")["curve"]["losses"]) == 1
    assert _train(tmp_path / "run", "--pairs", "60") == 0
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
        ("train built-in --heads 5", "5 heads cannot share a width of 128 evenly"),
        ("train built-in --device cuda", "finds no GPU here"),
        ("train built-in --out RUN --rate 0.5", "another plan"),
        ("translate RUN Ja. --beam 5000", "as many as there are subwords"),
        ("translate RUN Ja. --alternatives 5000", "as many as there are subwords"),
        ("translate RUN/checkpoint.pt Ja.", "name its folder, "),
    ],
)
def test_a_mistake_is_one_sentence(run, words, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    _one_sentence(capsys, [word.replace("RUN", str(run)) for word in words.split()], sentence)


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("train built-in --dropout 1", "a number of at least 0 and less than 1"),
        ("train built-in --rate nan", "a number of at least 0"),
        ("train built-in --tokens -5", "a whole number of at least 0"),
        ("train built-in --warm-up 0", "a whole number of at least 1"),
        ("train built-in --layers two", "a whole number of at least 1"),
        ("translate run --length-penalty inf", "a number of at least 0"),
    ],
)
def test_a_number_that_cannot_be_is_named_beside_its_option(words, allowed, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(words.split())
    assert ended.value.code == 2 and f"is not {allowed}" in capsys.readouterr().err


def _without_a_weight(state):
    state["model"].pop(next(iter(state["model"])))


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("plan.json", "{", "cannot be read as JSON"),
        ("plan.json", '{"corpus": "built-in", "colour": 1}', "version of the course: its plan has colour"),
        ("plan.json", "[]", "not a table"),
        ("subwords.json", "{", "subwords.json cannot be read as subwords"),
        ("subwords.json", '{"merges": [1]}', "subwords.json cannot be read as subwords"),
        ("checkpoint.pt", "not a checkpoint", "damaged, or something else"),
        ("checkpoint.pt", "", "damaged, or something else"),
        ("checkpoint.pt", _without_a_weight, "do not fit this Transformer"),
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
    _one_sentence(capsys, ["translate", tmp_path, "Hello.", "--to", "de"], sentence)


def test_a_checkpoint_of_an_older_version_is_said_in_one_sentence(run, tmp_path, capsys):
    for name in ("plan.json", "subwords.json"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    state = torch.load(run / "checkpoint.pt")
    state["optimisers"] = [state.pop("optimizer")]
    torch.save(state, tmp_path / "checkpoint.pt")
    words = ["train", "built-in", "--out", tmp_path, *TINY, "--pairs", 300, "--epochs", 2]
    _one_sentence(capsys, [*words, "--direction", "both"], "of another version of the course")


def test_the_students_own_transformer_is_trained_and_translates(tmp_path, capsys, monkeypatch):
    notebook = ROOT / "solutions" / "12_translator" / "12_translator.ipynb"
    own = ["--notebook", str(notebook)]
    assert _train(tmp_path / "own", *own, "--pairs", "60") == 0
    assert load_lab_12(notebook).Transformer.__module__ == "own_12_translator"
    assert command.main(["translate", str(tmp_path / "own"), "Ich esse.", *own]) == 0
    monkeypatch.setattr(lab_model, "FAST", "coursekit.provided.no_such_module")
    _one_sentence(capsys, ["translate", tmp_path / "own", "Ja.", *own], "in the bundle of lab 13")
