"""The papers' tables in lab 13 say what the lectures print, and what their figures' titles claim follows from them."""

from __future__ import annotations

import ast
from statistics import mean

import pytest

from autograder.course.masters import master_path


@pytest.fixture(scope="module")
def tables():
    """The literal tables of the master, by name."""
    found = {}
    for node in ast.walk(ast.parse(master_path("13_beyond").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def test_gpts_ablation_has_the_averages_that_the_lecture_prints(tables):
    averages = {name: mean(row) for name, row in tables["ablation"].items()}
    printed = {
        "transformer, pre-trained": 74.7,
        "transformer, not pre-trained": 59.9,
        "LSTM, pre-trained": 69.1,
    }
    assert averages == pytest.approx(printed, abs=0.07)


def test_glue_has_the_averages_and_sizes_that_the_lecture_prints(tables):
    averages = [mean(row) for row in tables["glue"].values()]
    assert averages == pytest.approx([74.0, 71.0, 75.1, 79.6, 82.1], abs=0.06)
    assert list(tables["labels_of"].values()) == [392, 392, 363, 108, 67, 8.5, 5.7, 3.5, 2.5]
    assert all(
        b > g
        for b, g in zip(tables["glue"]["BERT base (encoder)"], tables["glue"]["GPT (decoder)"], strict=True)
    )


def test_to_german_base_is_the_best_and_to_french_only_big_is(tables):
    german, french = tables["german"], tables["french"]
    assert german["Transformer (base)"] == (27.3, 3.3e18) and german["Transformer (big)"] == (28.4, 2.3e19)
    assert french["Transformer (base)"][0] == 38.1 and french["Transformer (big)"][0] == 41.8
    for table, base_wins in ((german, True), (french, False)):
        others = [score for name, (score, _) in table.items() if not name.startswith("Transformer")]
        assert (table["Transformer (base)"][0] > max(others)) == base_wins
        assert table["Transformer (big)"][0] > max(others)
    assert round(german["ConvS2S ensemble"][1] / german["Transformer (base)"][1]) == 23
    assert round(french["ConvS2S ensemble"][1] / french["Transformer (big)"][1]) == 52


def test_contexts_are_those_of_the_lecture_but_for_llama_2(tables):
    contexts = tables["contexts"]
    assert (contexts["Llama 2"], contexts["GPT-4"]) == (4096, 32 * 1024)
    assert (contexts["GPT-4 Turbo"], contexts["Llama 3.1"]) == (128_000, 128 * 1024)
    assert (contexts["Claude 3.5 Sonnet"], contexts["Gemini 1.5 Pro"]) == (200_000, 2 * 1024**2)
