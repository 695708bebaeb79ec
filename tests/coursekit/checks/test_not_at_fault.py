"""A card says “mend that first” of an earlier answer only where that one may be at fault."""

from __future__ import annotations

import pytest
from coursekit.checks import api
from coursekit.checks.not_at_fault import is_not_at_fault
from coursekit.notebook.verdict import last_verdicts

from autograder.course.masters import all_labs, solution

LAB = "04_tokenizer"
FIRST = "your earlier `pre_tokenize` is not right yet: mend that first"
RULES = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
ENCODE = """
def encode(text, merges):
    ids = []
    for chunk in pre_tokenize(text):
        print("a line of the student's own")
        word = list(chunk.encode())
        while len(word) > 2:
            known = [pair for pair in zip(word, word[1:]) if pair in merges]
            if not known:
                break
            pair = min(known, key=merges.get)
            word = list(merge_pair(word, pair, merges[pair]))
        ids += word
    return ids
"""


@pytest.fixture
def card(monkeypatch):
    """The words of the card of ``encode``, for the source of ``pre_tokenize`` and of ``encode``."""
    monkeypatch.setattr(api, "_lab", LAB)
    last_verdicts.clear()

    def check(pre_tokenize: str, encode: str = ENCODE) -> str:
        names = {"__name__": "__main__", "merge_pair": solution(LAB)["merge_pair"]}
        exec(f"import regex\ndef pre_tokenize(text):\n    {pre_tokenize}\n{encode}", names)
        earlier = names["pre_tokenize"]
        assert "✗" in api.check("pre_tokenize", earlier).words
        words = api.check("encode", names["encode"]).words
        assert names["pre_tokenize"] is earlier
        return words

    api.checks_of(LAB, "encode")
    yield check
    last_verdicts.clear()


def test_an_own_slip_is_told_where_the_earlier_answer_gave_what_is_right(card):
    words = card(f'return regex.findall(r"{RULES}", text) or [text]')
    assert FIRST not in words and "“ b” is still two bytes" in words


def test_the_earlier_answer_is_named_where_it_is_wrong_for_the_very_input(card):
    assert FIRST in card('return regex.findall(r"[a-z]+|.", text)')


def test_and_where_it_goes_by_another_name(card):
    renamed = "cut = pre_tokenize\n" + ENCODE.replace("in pre_tokenize(text)", "in cut(text)")
    assert FIRST in card(f'return regex.findall(r"{RULES}", text) or [text]', renamed)


def test_one_that_raises_or_is_never_asked_may_be_at_fault():
    def broken(text):
        raise KeyError(text)

    names = {"cut": broken}
    assert not is_not_at_fault(lambda: names["cut"]("a"), names, "cut", [("a", ["a"])])
    assert not is_not_at_fault(lambda: None, {"cut": list}, "cut", [("a", ["a"])])
    assert names == {"cut": broken}


def test_what_a_check_holds_for_right_is_what_the_solution_gives():
    for lab in all_labs():
        known = getattr(api.load(lab), "KNOWN", {})
        for name, calls in known.items():
            for given, right in calls:
                names = {name: solution(lab)[name]}
                assert is_not_at_fault(
                    lambda n=names, q=name, g=given: n[q](g), names, name, [(given, right)]
                )
