"""``python -m coursekit.translator``, from training to translating, with a tiny model on the built-in corpus."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import pytest
import torch
from coursekit.translator import __main__ as command
from coursekit.translator import model as lab_model
from coursekit.translator.batches import sentences
from coursekit.translator.model import load_lab_12

TINY = "d_model=16 heads=2 d_ff=24 layers=1 vocabulary=300 warm_up=5 batch_tokens=300 epochs=2"
ROOT = Path(__file__).resolve().parents[3]


def _train(folder, *more, pairs=300):
    plan = ("--plan", *TINY.split(), f"pairs={pairs}")
    return command.main(["train", "built-in", "--out", str(folder), *plan, *more])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of both directions."""
    folder = tmp_path_factory.mktemp("runs") / "both"
    assert _train(folder, "--direction", "both") == 0
    return folder


def test_a_run_is_evaluated_with_sacrebleus_signature_and_samples(run, capsys):
    assert {file.name for file in run.iterdir()} == {"checkpoint.pt", "translator.pt"}
    assert command.main(["evaluate", str(run), "--beam", "2", "--limit", "6"]) == 0
    english_german, german_english = capsys.readouterr().out.split("de-en: 6 sentences in ")
    assert "en-de: 6 sentences in " in english_german
    assert "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp" in german_english and "chrF" in german_english
    for german, english in sentences("built-in", "test", "de-en", 6):
        assert f"\n  {german}\n  → " in german_english and f"\n  = {english}\n" in german_english


def test_alternatives_are_best_first_and_the_file_to_ship_does_as_the_run(run, capsys, monkeypatch):
    words = ["translate", str(run), "I eat.", "Du isst.", "--to", "de", "--alternatives", "3"]
    assert command.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "I eat." and lines[4] == "Du isst."
    shown = [float(line.split()[0]) for line in lines[1:4]]
    assert shown == sorted(shown, reverse=True)
    for place in (run, run / "translator.pt"):
        monkeypatch.setattr("sys.stdin", io.StringIO("The dog sleeps.\n\n"))
        assert command.main(["translate", str(place), "--to", "de"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


UNWRITTEN = ROOT / "notebooks" / "12_translator" / "12_translator.ipynb"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("evaluate nowhere", "There is no checkpoint nowhere"),
        ("train built-in --notebook nowhere.ipynb", "There is no notebook"),
        (f"train built-in --notebook {UNWRITTEN}", "Transformer in 12_translator.ipynb is not written yet"),
        ("train built-in --plan heads=5", "5 heads cannot share a width of 128 evenly"),
        ("train built-in --plan colour=5", "A plan has no 'colour'"),
        ("train built-in --plan dropout=1", "The plan's dropout cannot be '1'; the default is 0.1"),
        ("train built-in --minutes nan", "minutes cannot be 'nan'"),
        ("train built-in --out RUN --plan rate=0.5 pairs=40", "another plan"),
        ("translate RUN Ja. --beam 5000", "as many as there are subwords"),
        ("translate damaged Ja.", "damaged or of another kind"),
        ("translate OTHER Ja.", "do not fit this Transformer"),
    ],
)
def test_a_mistake_is_one_sentence(run, words, sentence, capsys, tmp_path, monkeypatch):
    state = torch.load(run / "checkpoint.pt")
    state["model"].pop(next(iter(state["model"])))
    torch.save(state, tmp_path / "other")
    (tmp_path / "damaged").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert command.main(words.replace("RUN", str(run)).replace("OTHER", "other").split()) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1


def test_the_students_own_transformer_is_trained_and_translates(tmp_path, capsys, monkeypatch):
    notebook = ROOT / "solutions" / "12_translator" / "12_translator.ipynb"
    own, loaded = ["--notebook", str(notebook)], cache(load_lab_12)
    monkeypatch.setattr(command, "load_lab_12", loaded)
    assert _train(tmp_path / "own", *own, pairs=60) == 0
    assert loaded(notebook)[0].__module__ == "own_12_translator"
    assert command.main(["translate", str(tmp_path / "own"), "Ich esse.", *own]) == 0
    monkeypatch.setattr(lab_model, "FAST", "coursekit.provided.no_such_module")
    loaded.cache_clear()
    assert command.main(["translate", str(tmp_path / "own"), "Ja.", *own]) == 2
    assert "in the bundle of lab 13" in capsys.readouterr().err
