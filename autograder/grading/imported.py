"""Grades a lab that was imported from nbgrader: each test cell where it stands, outside the notebook or beside its code."""

from __future__ import annotations

import re
from collections.abc import Mapping

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.course.masters import source_of_import
from autograder.course.policy_file import spec
from autograder.grading.grader import Grader, Run, labelled_sources, run_in, shown_error_of
from autograder.grading.repaired import Repaired
from autograder.grading.submissions import Notebook
from autograder.grading.time_guard import JudgeClock
from autograder.results import CellOutcome, QuestionResult, TestResult
from autograder.sandbox.host.session import Session
from autograder.testing.run import HiddenTest, earned, tests_of
from autograder.testing.safe_errors import TYPES, safe_name

#: What students and teachers read in the place of a test's title, where the verdict is the word of the student's own process.
BESIDE = "Run in the sandbox, beside your own code, as nbgrader does"
#: nbgrader interrupts an endless cell and goes on with what it left; here the cells run again without it.
RERUNS = 10
#: An imported notebook finds the files that lay beside it where it looks for them: runs before its first cell.
FILES_BESIDE = """
import os as _os
_beside = _os.path.realpath("data/{lab}")
for _name in _os.listdir(_beside) if _os.path.isdir(_beside) else []:
    if _os.path.islink(_name):
        _os.remove(_name)
    _os.symlink(_os.path.join(_beside, _name), _name)
del _os, _beside
"""

#: Types that students return by mistake, by their last names; what another is called would be a student's choice of words.
_TYPES = frozenset(name.rpartition(".")[2] for name in TYPES) | {
    "Counter",
    "Decimal",
    "Fraction",
    "OrderedDict",
    "defaultdict",
}

_NO_TIME_TO_SHOW = "There was no time left to run all cells once more for their outputs: some are not shown."
_HIDDEN = "a hidden check of this cell does not hold"


def grader_of(lab: str) -> type[Grader]:
    """The grader for a lab (full name)."""
    return ImportedGrader if source_of_import(lab) else Grader


class ImportedGrader(Grader):
    """Runs each hidden test when its cell has run, with the names as they stand there: so nbgrader would have run it.

    A process that was asked hidden inputs could put them out, so nothing of its outputs is shown: for these the cells run
    once more, in one that was asked nothing.
    """

    def _run(self, repaired: Repaired, kept: Mapping[str, QuestionResult], notebook: Notebook) -> Run:
        """Run the notebook's cells, and test the questions that are not ``kept`` on the way."""
        notes: list[str] = []
        tested = dict(kept)
        points = dict(spec(self.lab).questions)
        tests = tests_of(self.lab)
        question_of = {cell: name for name, cell in self.template.test_of.items()}
        cells, clock = labelled_sources(repaired), JudgeClock()
        before = ("the files beside the notebook", FILES_BESIDE.format(lab=self.lab))
        with self.zygotes.zygote_for(notebook).session() as session:

            def after(label: str) -> None:
                name = question_of.get(label, "")
                if tests.get(name) and name not in tested:
                    tested[name] = _question(session, clock, name, points[name], tests[name], cells, notes)

            outcomes = session.run_cells([before, *cells], reruns=RERUNS, after=after)[1:]
            for name in points.keys() - tested.keys():
                after(self.template.test_of[name])  # a hidden test whose cell never ran
            status = session.status
            notes = [session.note, *notes] if session.note else notes
            shown = outcomes
            if tested.keys() - kept.keys():
                shown = session.run_cells([before, *cells], reruns=RERUNS)[1:]
        by_cell = {outcome.grade_id: outcome for outcome in outcomes}
        shown_of = {outcome.grade_id: outcome for outcome in shown}
        for name in points.keys() - tested.keys():
            cell = self.template.test_of[name]
            code, master = self.template.test_code[cell], self.template.named[cell]
            error = shown_of[cell].error if cell in shown_of else ""
            tested[name] = judged_beside(master, code, by_cell.get(cell), name, points[name], error)
        if any(
            seen.status == "not-run" != ran.status and ran.outputs
            for ran, seen in zip(outcomes, shown, strict=True)
        ):
            notes.append(_NO_TIME_TO_SHOW)
        if status is None:
            status = "partly-run" if any(outcome.status == "error" for outcome in outcomes) else "graded"
        return Run(tuple(shown), tuple(tested[name] for name in points), status, tuple(notes))


def _question(
    session: Session,
    clock: JudgeClock,
    name: str,
    points: float,
    tests: tuple[HiddenTest, ...],
    cells: list[tuple[str, str]],
    notes: list[str],
) -> QuestionResult:
    """Run the hidden tests of a cell; notes say what a teacher must know of it."""
    session.forget_traces()
    runs = []
    for test in tests:
        run, end = run_in(session, clock, name, test)
        runs.append(run)
        notes += [f"While “{name}” was tested, {end}."] if end else []
    notes += [cannot_leave(name, run.unsendable) for run in runs if run.unsendable]
    shown = shown_error_of(runs, cells)
    failed = next((run.result.message for run in runs if not run.result.passed), "")
    cause = (
        f"It raises an error: {shown.splitlines()[-1]}." if shown else failed[:1].upper() + failed[1:] or None
    )
    score = earned(points, [(run.test.weight, run.result.passed) for run in runs])
    tests_run = tuple(run.result for run in runs)
    return QuestionResult(name, score, points, tests_run, error=shown, cause=cause)


def judged_beside(
    cell: NotebookNode, code: str, outcome: CellOutcome | None, name: str, points: float, error: str
) -> QuestionResult:
    """The points that nbgrader would read off the outputs of a test cell that ran as ``code`` in the student's process.

    What a cell writes to stderr costs nothing here: a warning is no mistake. ``error``: the error to show.
    """
    from nbgrader.utils import determine_grade  # a worker that grades no imported lab does without

    if outcome is None or outcome.status == "not-run":
        message = "this could not be run any more"
        return QuestionResult(name, 0.0, points, (TestResult(BESIDE, False, message),))
    shown = [output for output in outcome.outputs if output.get("name") != "stderr"]
    if outcome.status == "error":
        shown = [{"output_type": "error"}]
    node = nbformat.from_dict({**cell, "outputs": shown})
    node.metadata.nbgrader.points = points
    message = _said(error, code)
    try:
        score = float(determine_grade(node)[0] or 0.0)
    except (ValueError, KeyError):  # nbgrader itself stops here
        score, message = 0.0, message or f"what the cell shows last is no number of points up to {points:g}"
    message = message or f"the cell gives {score:g} of {points:g} points"
    return QuestionResult(
        name, score, points, (TestResult(BESIDE, score == points, "" if score == points else message),)
    )


def _said(error: str, code: str) -> str:
    """A cell's error for its student: nothing of a line that they were not given."""
    if "HIDDEN TESTS" not in code or not error:
        return error
    place = re.search(r"\(line (\d+): ", error)
    lines = code.splitlines()[: int(place[1])] if place else code.splitlines()[:1]
    marks = [line for line in lines if "HIDDEN TESTS" in line]
    return error if place and not (marks and "BEGIN" in marks[-1]) else _HIDDEN


def cannot_leave(question: str, kind: str) -> str:
    """A note for the teacher on a value that could not be compared."""
    known = safe_name(kind, _TYPES, "")
    kind = f"a value of type {known}" if known else "a value of a type of its own"
    return (
        f"“{question}”: {kind} came back, which cannot be compared outside the student's process. "
        "It counts as wrong until a person looks at it."
    )
