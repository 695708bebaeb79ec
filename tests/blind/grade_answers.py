"""Grades answers that were written blind, and sets what they got beside what their authors thought fair.

    python -m tests.blind.grade_answers ANSWERS OUT [--labs 02,04] [--fair TABLE.md]

ANSWERS holds files ``NN_student.py``: a section for each question begins ``#%% question``; ``#%% +before question``
is a cell put before that one (``+before FIRST``: behind the setup cell). TABLE.md has a row for each wrong answer:
``| lab | student | question | what was planted | points/maximum | …``. A student's name says what they are: ``honest``,
``wrong``, ``follow`` or ``carry`` (right but for one earlier answer) or ``rubbish``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.course.build import released_notebook
from autograder.course.masters import lab_name
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.pipeline import run


@dataclass(frozen=True)
class Planted:
    """A wrong answer: what its author put into it, and the points that they thought fair."""

    slip: str
    fair: float


@dataclass(frozen=True)
class Row:
    """What one answer got."""

    lab: str
    student: str
    question: str
    given: float
    of: float
    misconception: str
    generated: str  # what the answer does, where no misconception matches
    cause: str  # in words
    card: str  # "green", or what the first red line says
    failed: tuple[str, ...]
    planted: Planted | None

    @property
    def lost(self) -> bool:
        return self.given < self.of


def sections(text: str) -> dict[str, str]:
    """The parts of an answers file by their heads."""
    parts = re.split(r"^#%% (.*)$", text, flags=re.M)
    return {head.strip(): body.strip("\n") for head, body in zip(parts[1::2], parts[2::2], strict=True)}


def filled(lab: str, answers: dict[str, str]) -> nbformat.NotebookNode:
    """The released notebook with the answers in; ValueError when one has no cell."""
    notebook = released_notebook(lab)
    left, cells = dict(answers), []
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        name = meta.get("grade_id", "")
        if name and (before := left.pop(f"+before {name}", None)) is not None:
            cells.append(nbformat.v4.new_code_cell(before))
        if cell.cell_type == "code" and name in left:
            cell.source = left.pop(name)
        elif cell.cell_type == "markdown" and meta.get("solution"):
            cell.source = "An answer in a sentence."
        cells.append(cell)
        if name == "setup" and (first := left.pop("+before FIRST", None)) is not None:
            cells.append(nbformat.v4.new_code_cell(first))
    if left:
        raise ValueError(f"no cell for {sorted(left)}")
    notebook.cells = cells
    return notebook


def fair_points(table: str) -> dict[tuple[str, str, str], Planted]:
    """(lab's number, student, question) -> what was planted, from the rows of a Markdown table."""
    found = {}
    for line in table.splitlines():
        columns = [part.strip() for part in line.strip("|").split("|")]
        if len(columns) > 4 and (points := re.fullmatch(r"([\d.]+)/([\d.]+)", columns[4])):
            found[columns[0], columns[1], columns[2]] = Planted(columns[3], float(points[1]))
    return found


def grade(lab: str, answers: Sequence[Path], out: Path) -> Iterable[SubmissionResult]:
    """Grade a lab's answers, each as a student's notebook."""
    for path in answers:
        student = path.stem.partition("_")[2]
        target = out / "submitted" / student / lab / f"{lab}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(filled(lab, sections(path.read_text(encoding="utf-8"))), target)
    return run(lab, out / "submitted", out / "graded", jobs=1).results


def _card(result: SubmissionResult, question: QuestionResult) -> str:
    marks = result.public_checks.get(question.name, [])
    if not marks:
        return "none"
    return next((sentence for passed, sentence in marks if not passed), "green")


def rows_of(
    results: Iterable[SubmissionResult], planted: dict[tuple[str, str, str], Planted]
) -> Iterable[Row]:
    for result in results:
        for question in result.questions:
            yield Row(
                result.lab[:2], result.student, question.name, question.points, question.max_points,
                question.misconception or "", question.generated, question.cause or "", _card(result, question),
                tuple(f"{test.name} [{test.message}]" for test in question.tests if not test.passed),
                planted.get((result.lab[:2], result.student, question.name)),
            )  # fmt: skip


def summary(rows: Sequence[Row]) -> str:
    """The figures of a set of answers: in full, noticed, named, green, and points given against fair ones."""
    whole = {(row.lab, row.student) for row in rows if row.student.startswith("honest")}
    less = {(row.lab, row.student) for row in rows if row.student.startswith("honest") and row.lost}
    wrong = [row for row in rows if row.planted]
    right = [row for row in wrong if row.planted and row.planted.fair == row.of]
    wrong = [row for row in wrong if row not in right]
    noticed = [row for row in wrong if row.lost]
    lines = [
        f"honest notebooks with full points: {len(whole - less)} of {len(whole)}",
        f"wrong answers that lost points: {len(noticed)} of {len(wrong)}",
        f"of these named by a misconception: {sum(bool(row.misconception) for row in noticed)}",
        f"of these with a generated sentence: {sum(bool(row.generated) for row in noticed)}",
        f"card all green, points lost: {sum(row.card == 'green' for row in noticed)}",
        f"points given: {sum(row.given for row in wrong):.1f}; fair: {sum(row.planted.fair for row in wrong if row.planted):.1f}",
        f"no points for what its author gave half or more: "
        f"{sum(not row.given and row.planted.fair >= row.of / 2 for row in wrong if row.planted)}",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("answers", type=Path)
    parser.add_argument("out", type=Path, help="an empty folder, or one of an earlier call")
    parser.add_argument("--labs", default="", help="numbers, with commas between; else all that have answers")
    parser.add_argument("--fair", type=Path)
    parser.add_argument("--failed", action="store_true", help="say which tests failed")
    options = parser.parse_args()
    planted = fair_points(options.fair.read_text(encoding="utf-8")) if options.fair else {}
    files = sorted(options.answers.glob("[0-9][0-9]_*.py"))
    numbers = options.labs.split(",") if options.labs else sorted({path.name[:2] for path in files})
    everything: list[Row] = []
    for number in numbers:
        lab = lab_name(number)
        chosen = [path for path in files if path.name.startswith(number)]
        rows = list(rows_of(grade(lab, chosen, options.out / lab), planted))
        everything += rows
        for row in rows:
            if row.lost or row.planted:
                fair = f"{row.planted.fair:g}" if row.planted else "-"
                slip = row.planted.slip if row.planted else ""
                print(
                    f"| {row.student} | {row.question} | {slip} | {fair} | {row.given:g}/{row.of:g} | {row.misconception or ' ~ '.join(('', row.generated or '', row.cause))} | {row.card[:170]} |"
                )
                if options.failed:
                    for sentence in row.failed:
                        print(f"|     | {sentence}")
        print(f"\n{lab}\n{summary(rows)}\n")
    print(f"all\n{summary(everything)}")


if __name__ == "__main__":
    main()
