"""Grades a lab imported from nbgrader: each test cell runs at its place, outside the sandbox or beside the code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.course.masters import source_of_import
from autograder.grading.grader import NOT_RUN_ANY_MORE, Grader, Run, run_tests, shown_error_of, start_turn
from autograder.grading.repaired import Repaired
from autograder.judging.imported_cell import hidden_lines
from autograder.judging.run import TestRun, earned, tests_of
from autograder.results import CellOutcome, QuestionResult, TestResult

#: The title of a test whose verdict comes from the student's own process.
BESIDE = "Run in the sandbox, beside your own code, as nbgrader does"
#: Runs before the first cell: links the files that lay beside the imported notebook into the working folder.
FILES_BESIDE = """
import os as _os
_beside = _os.path.realpath("data/{lab}")
for _name in _os.listdir(_beside) if _os.path.isdir(_beside) else []:
    if _os.path.islink(_name):
        _os.remove(_name)
    _os.symlink(_os.path.join(_beside, _name), _name)
del _os, _beside
"""

#: The note for the teacher on a value that could not be compared.
_CANNOT_LEAVE = (
    "“{}”: a value came back which cannot be compared outside the student's process. "
    "It counts as wrong until a person looks at it."
)
_HIDDEN = "a hidden check of this cell does not hold"


def grader_of(lab: str) -> type[Grader]:
    """The grader for a lab (full name)."""
    return ImportedGrader if source_of_import(lab) else Grader


class ImportedGrader(Grader):
    """Runs each hidden test in the state after its cell, as nbgrader does.

    A process that got hidden inputs could print them. So the cells run once for their outputs, then once more in a child
    that stops after each test cell and runs its hidden tests.
    """

    def _test_outputs(self, questions: Sequence[QuestionResult]) -> dict[str, str]:
        """Test cells keep the outputs of their run."""
        return {}

    def _run(self, repaired: Repaired, kept: Mapping[str, QuestionResult]) -> Run:
        """Run the notebook's cells, then test the questions that are not ``kept``, each after its cell."""
        notes: list[str] = []
        judged = dict(kept)
        tests, check_of = tests_of(self.lab), self.template.test_of
        cells = repaired.labelled_sources()
        before = ("the files beside the notebook", FILES_BESIDE.format(lab=self.lab))
        places = {label: place for place, (label, _) in enumerate(cells)}
        asked = [name for name in self.points if tests.get(name) and name not in kept]
        asked.sort(key=lambda name: places.get(check_of[name], len(cells)))
        with self.zygote.session() as session:
            session.start_question(session.limits.question_seconds(1) if asked else 0.0)
            outcomes = session.run_cells([before, *cells])[1:]
            notes += [session.note] if session.note else []
            for turn, name in enumerate(asked):
                clock = start_turn(session, turn, len(asked))
                session.stand_after(check_of[name])
                tested = run_tests(session, clock, name, tests[name], name)
                notes += [
                    *tested.notes,
                    *(_CANNOT_LEAVE.format(name) for run in tested.runs if run.unsendable),
                ]
                judged[name] = _judged(tested.runs, name, self.points[name], cells)
            status = session.status
        by_cell = {outcome.grade_id: outcome for outcome in outcomes}
        for name in self.points.keys() - judged.keys():
            cell = check_of[name]
            code, master = self.template.test_code[cell], self.template.named[cell]
            judged[name] = judged_beside(master, code, by_cell.get(cell), name, self.points[name])
        return Run(tuple(outcomes), tuple(judged[name] for name in self.points), tuple(notes), status)


def _judged(
    runs: Sequence[TestRun], name: str, points: float, cells: Sequence[tuple[str, str]]
) -> QuestionResult:
    shown = shown_error_of(runs, cells)
    failed = next((run.result.message for run in runs if not run.result.passed), "")
    cause = f"It raises an error: {shown.splitlines()[-1]}." if shown else failed[:1].upper() + failed[1:]
    score = earned(points, [(run.test.weight, run.result.passed) for run in runs])
    tests_run = tuple(run.result for run in runs)
    return QuestionResult(name, score, points, tests_run, error=shown, cause=cause or None)


def judged_beside(
    cell: NotebookNode, code: str, outcome: CellOutcome | None, name: str, points: float
) -> QuestionResult:
    """The points that nbgrader would give for the outputs of a test cell that ran as ``code`` in the student's process.

    Output on stderr costs nothing: a warning is no mistake.
    """
    from nbgrader.utils import determine_grade  # slow to import; only imported labs need it

    if outcome is None or outcome.status == "not-run":
        return QuestionResult(name, 0.0, points, (TestResult(BESIDE, False, NOT_RUN_ANY_MORE),))
    shown = [output for output in outcome.outputs if output.get("name") != "stderr"]
    if outcome.status == "error":
        shown = [{"output_type": "error"}]
    node = nbformat.from_dict({**cell, "outputs": shown})
    node.metadata.nbgrader.points = points
    message, hidden = outcome.error, hidden_lines(code)
    place = re.search(r"\(line (\d+): ", message)
    if message and hidden and (place is None or int(place[1]) in hidden):
        message = _HIDDEN  # it may name a line that students were not given
    try:
        score = float(determine_grade(node)[0] or 0.0)
    except (ValueError, KeyError):  # nbgrader itself stops here
        score, message = 0.0, message or f"what the cell shows last is no number of points up to {points:g}"
    message = message or f"the cell gives {score:g} of {points:g} points"
    return QuestionResult(
        name, score, points, (TestResult(BESIDE, score == points, "" if score == points else message),)
    )
