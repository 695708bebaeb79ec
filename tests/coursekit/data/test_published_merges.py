"""With the published merges the course's own encode gives, token by token, what the lecture's slides show."""

from __future__ import annotations

import regex
from coursekit.figures.token_boxes import published_merges, published_numbers
from coursekit.provided import p04_tokenizer

from autograder.course.masters import read_master

RHYME = (
    "64 93637 4024 311 9581 9581 9581 198 998 1518 1148 568 1436 1518 1518 1518 198 8248 682 430 568 1436 1518 1518 "
    "1518 198 16514 279 5740 315 279 5655 6437 9581 9581 9581"
)


def _given(name):
    """What a cell of the lab's master defines under a name, without running the others."""
    for cell in read_master("04_tokenizer").cells:
        if cell.cell_type == "code" and f"\n{name} = " in f"\n{cell.source}":
            names = {}
            exec(cell.source.split("\n\n\n")[0].split("\nwith ")[0], names)
            return names[name]
    raise KeyError(name)


def _numbers(model, text, monkeypatch):
    """A text's published numbers."""
    cut = {"gpt2": p04_tokenizer.PATTERN, "gpt4": regex.compile(_given("GPT4"))}[model]
    monkeypatch.setattr(p04_tokenizer, "PATTERN", cut)
    names = published_numbers()
    return [names[n] if n < 256 else n for n in p04_tokenizer.encode(text, published_merges(model))]


def test_the_rhyme_and_the_name_that_nobody_trained_have_the_numbers_of_the_slides(monkeypatch):
    expected = list(map(int, RHYME.split()))
    assert _numbers("gpt2", " SolidGoldMagikarp", monkeypatch) == [43453]
    assert _numbers("gpt4", "\n".join(_given("lines")), monkeypatch) == expected == _given("slide")
