"""The error of a cell that did not run is told wherever somebody looks, and only where it is the cause."""

from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace

from rich.console import Console

from autograder.cli.grade_table import table_of
from autograder.grading.cell_errors import failed_cells, stopped_cells, with_cell_error
from autograder.grading.repair import repair
from autograder.grading.repaired import Cell
from autograder.judging.run import NOT_DEFINED
from autograder.results import CellOutcome, QuestionResult, SubmissionResult, TestResult, whole_sentences
from autograder.run.remarks import MOST_CHOICES, remarks, what_is_wrong
from autograder.serve.rules import _verdict
from tests.grading.accidents import COUNTS, LAB, TEMPLATE, insert, notebook, raw

ERROR = "SyntaxError: invalid character '−' (U+2212) (line 3: x = 3 − 1)"
TOO_LONG = "This cell was stopped: it took too long."


def question(message: str, error: str = "", points: float = 0.0) -> QuestionResult:
    cause = f"{message[:1].upper()}{message[1:]}."
    tests = (TestResult("A title.", False, message),)
    return QuestionResult(COUNTS, points, 3.0, tests, error=error, cause=cause)


def after(failed: str, lost: QuestionResult, *accidents) -> QuestionResult:
    """The question, when the first cell that holds the text ``failed`` stopped with ``ERROR``."""
    repaired = repair(raw(notebook(*accidents)), TEMPLATE)
    ran = repaired.executed_source()
    broken = next((i for i, source in enumerate(ran) if failed and failed in source), -1)
    outcomes = [
        CellOutcome(None, i, "error" if i == broken else "ok", error=ERROR if i == broken else "")
        for i in range(len(ran))
    ]
    return with_cell_error(lost, repaired, TEMPLATE, failed_cells(repaired, outcomes))


def test_a_cell_that_stopped_is_no_cause_of_what_does_not_lack_its_names():
    raised = question("your function raised an error", "NameError: name '…' is not defined")
    for lost in (question("row 2 sums to 1.7"), raised):
        assert after("def bigram_counts", lost) == lost
    lost = question(NOT_DEFINED)
    assert after("x = 1", lost, insert("x = 1")) == lost


def test_cells_that_stopped_are_named_by_their_first_line_and_their_error():
    errors = ["NameError: a", TOO_LONG, *["NameError: a"] * 4]
    cells = [Cell(None, run=code) for code in ("\n  plt.plot(`a`)\nb", *"cdefg")]
    notes = stopped_cells([*zip(cells, errors, strict=True)])
    assert notes[0] == "The cell that begins `plt.plot('a')` stopped: NameError: a"
    assert notes[1] == "The cell that begins `c` was stopped: it took too long."
    assert (len(notes), notes[-1]) == (6, "1 more of your cells stopped with an error.")


def test_a_long_text_ends_with_a_whole_sentence():
    text = "Asked: q = [1.5, 2]\nYours: 3. " + "Right: 4. " * 300
    short = whole_sentences(text, 50)
    assert short == "Asked: q = [1.5, 2]\nYours: 3. Right: 4. Right: 4. …"
    assert whole_sentences(text[:50], 50) == text[:50]
    assert whole_sentences("x" * 99, 50) == "x" * 50 + "…"


def result(**more: object) -> SubmissionResult:
    told = after("def bigram_counts", question(NOT_DEFINED))
    return replace(SubmissionResult("ada", LAB, "partly-run", 0.0, 20.0, 1.0, (told,)), **more)  # type: ignore[arg-type]


def test_the_terminals_table_and_a_students_card_show_it():
    out = io.StringIO()
    done = SimpleNamespace(results=[result()], lab=LAB, marks={})
    Console(file=out, width=300).print(table_of(done))  # type: ignore[arg-type]
    assert f"Q1: Its cell did not run: {ERROR}" in out.getvalue()
    assert _verdict(result(), True)["questions"][0]["cause"].endswith(ERROR)
    assert result().as_json()["questions"][0]["cause"].endswith(ERROR)
    [told] = result().questions
    slip = replace(told, points=told.max_points - 1, cause="The mask is ignored.")
    for error, said in ((ERROR, f"stopped: {ERROR}"), (TOO_LONG, "was stopped: it took too long")):
        needed = replace(told, cause=f"A cell that it needs did not run: {error}")
        notes = stopped_cells([(Cell(None, run="x"), "E"), (Cell(None, run="y"), error)])
        shown = what_is_wrong(result(questions=(slip, needed), notes=tuple(notes)))
        assert shown == [f"Q2: `y` {said}", "Q1: The mask is ignored"]


def test_a_teacher_is_told_what_was_chosen_and_for_how_many_more():
    choice = "“f” is defined in cell number 72, which counts."
    assert f"ada: {choice}" in remarks(LAB, [result(choices=(choice,))], {})
    many = [result(student=f"s{number:03d}", choices=(choice,)) for number in range(MOST_CHOICES + 2)]
    said = remarks(LAB, many, {})
    assert sum(choice in sentence for sentence in said) == MOST_CHOICES
    assert any(f"s{MOST_CHOICES:03d}, s{MOST_CHOICES + 1:03d}" in sentence for sentence in said)
