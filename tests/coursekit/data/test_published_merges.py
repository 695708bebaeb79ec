"""With the published merges the course's own encode gives, token by token, what the lecture's slides show."""

from __future__ import annotations

import pytest
import regex
from coursekit.figures.token_boxes import published_merges, published_numbers
from coursekit.provided import p04_tokenizer

from autograder.course.masters import read_master

SPECIAL = {"gpt2": 50256, "gpt4": 100257}
RHYME = (
    "64 93637 4024 311 9581 9581 9581 198 998 1518 1148 568 1436 1518 1518 1518 198 8248 682 430 568 1436 1518 1518 "
    "1518 198 16514 279 5740 315 279 5655 6437 9581 9581 9581"
)
CLASS = {
    "gpt2": "4871 29130 7509 25 198 220 220 220 37227 14881 1398 329 29130 11341 37811 628 220 220 220 825 11593 15003 "
    "834 7 944 2599 198 220 220 220 220 220 220 220 1303 4277 25 12776 397 2546 286 17759 357 439 9881 828 645 4017 "
    "3212 11 645 7572 198 220 220 220 220 220 220 220 2116 13 647 3212 796 23884 1303 357 600 11 493 8 4613 493 198 "
    "220 220 220 220 220 220 220 2116 13 33279 796 13538 1303 965 198 220 220 220 220 220 220 220 2116 13 20887 62 83 "
    "482 641 796 23884 1303 965 4613 493 11 304 13 70 13 1391 6 50256 10354 1802 28676 92 198 220 220 220 220 220 220 "
    "220 2116 13 18893 397 796 2116 13557 11249 62 18893 397 3419 1303 493 4613 9881",
    "gpt4": "1058 9857 3213 512 262 4304 4066 538 369 9857 12509 15425 262 711 1328 2381 3889 726 997 286 674 1670 25 "
    "24757 1404 315 220 4146 320 543 5943 705 912 82053 11 912 12912 198 286 659 749 2431 288 284 4792 674 320 396 11 "
    "528 8 1492 528 198 286 659 40209 284 1621 674 610 198 286 659 64308 29938 284 4792 674 610 1492 528 11 384 1326 "
    "13 5473 100257 1232 220 1041 15574 534 286 659 78557 284 659 1462 5957 53923 368 674 528 1492 5943",
}


def _given(name):
    """What a cell of the lab's master defines under a name, without running the others."""
    for cell in read_master("04_tokenizer").cells:
        if cell.cell_type == "code" and f"\n{name} = " in f"\n{cell.source}":
            names = {}
            exec(cell.source.split("\n\n\n")[0].split("\nwith ")[0], names)
            return names[name]
    raise KeyError(name)


def _numbers(model, text, monkeypatch):
    """A text's published numbers, cut at the special token first."""
    cut = {"gpt2": p04_tokenizer.PATTERN, "gpt4": regex.compile(_given("GPT4"))}[model]
    names, ids = published_numbers(), []
    with monkeypatch.context() as patch:
        patch.setattr(p04_tokenizer, "PATTERN", cut)
        for i, part in enumerate(text.split("<|endoftext|>")):
            ids += [SPECIAL[model]] * (i > 0) + p04_tokenizer.encode(part, published_merges(model))
    return [names[token] if token < 256 else token for token in ids]


def test_the_rhyme_and_the_python_class_have_the_numbers_of_the_slides(monkeypatch):
    expected = list(map(int, RHYME.split()))
    assert _numbers("gpt4", "\n".join(_given("lines")), monkeypatch) == expected == _given("slide")
    for model, numbers in CLASS.items():
        assert _numbers(model, _given("python_class"), monkeypatch) == list(map(int, numbers.split()))


@pytest.mark.parametrize(("model", "count"), [("gpt2", 50_000), ("gpt4", 100_000)])
def test_every_merge_makes_a_token_that_no_other_makes(model, count):
    spelled = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), new in published_merges(model).items():
        spelled[new] = spelled[left] + spelled[right]
    assert len(set(spelled.values())) == len(spelled) == 256 + count


def test_the_name_that_nobody_trained_is_one_token_of_gpt2_only(monkeypatch):
    assert _numbers("gpt2", " SolidGoldMagikarp", monkeypatch) == [43453]
    assert len(_numbers("gpt4", " SolidGoldMagikarp", monkeypatch)) > 1
