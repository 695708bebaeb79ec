"""What the cards say that a student saved: read from any outputs, and never more than a word of theirs."""

from __future__ import annotations

from coursekit.notebook.verdict import MIME

from autograder.grading.saved_checks import MOST, saved_checks


def card(question: object, *marks: object) -> list[object]:
    return [{"output_type": "display_data", "data": {MIME: {"question": question, "marks": [*marks]}}}]


def test_the_last_card_of_a_question_counts_line_by_line():
    early = card("softmax", ["Sums to one.", False, "Divide."])
    late = card("softmax", ["Sums to one.", True, ""])
    assert saved_checks([early]) == {"softmax": [(False, "Sums to one. Divide.")]}
    assert saved_checks([early, None, [], late]) == {"softmax": [(True, "Sums to one.")]}


def test_what_is_no_card_says_nothing():
    for outputs in (None, "x", {}, [None], [{"data": []}], [{"data": {MIME: []}}], card(1), card(None, 1)):
        assert saved_checks([outputs]) == {}


def test_a_forged_card_is_short_plain_text():
    rows = [["\ud800" + "x" * 9_000, True, ""], ["y", 1, 2], "z"] + [["w", True, ""]] * 5_000
    [lines] = saved_checks([card("softmax", *rows)]).values()
    assert len(lines) < MOST and all(len(text) <= 2_001 and text.isascii() for _, text in lines[1:])
    assert lines[0][1].encode("utf-8")
