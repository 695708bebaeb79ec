"""Grades answers that were written blind, and sets what they got beside what their authors thought fair.

    python -m tests.blind.grade_answers ANSWERS OUT --fair TABLE.md

ANSWERS holds files ``NN_student.py``: a section for each question begins ``#%% question``; ``#%% +before question``
is put before that one (``+before FIRST``: before the file's first). TABLE.md has a row for each wrong answer:
``| lab | student | question | what was planted | points/maximum | …``. OUT is an empty folder. The name of an honest student
begins with ``honest``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from autograder.audit.simulate import answered
from autograder.course.masters import SKIP, lab_name
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.pipeline import run

#: (Lab's number, student, question) -> what was planted, and the fair points.
Planted = dict[tuple[str, str, str], tuple[str, float]]


def answers_in(text: str) -> dict[str, str]:
    """question -> its answer, behind what stands before it."""
    [first, *_] = re.findall(r"^#%% (\w+)", text, re.M)
    heads = re.split(r"^#%% (.*)$", text.replace("+before FIRST", f"+before {first}"), flags=re.M)
    found = {head.strip(): body.strip("\n") for head, body in zip(heads[1::2], heads[2::2], strict=True)}
    both = {question: (f"+before {question}", question) for question in found if question[0] != "+"}
    return {
        name: "\n\n\n".join(found[part] for part in parts if part in found) for name, parts in both.items()
    }


def planted_in(table: str) -> Planted:
    """The rows of a Markdown table."""
    rows = re.findall(r"^\|? *(\d\d) *\| *(\w+) *\| *(\w+) *\| *(.*?) *\| *([\d.]+)/[\d.]+ *\|", table, re.M)
    return {(lab, student, question): (slip, float(fair)) for lab, student, question, slip, fair in rows}


def graded(lab: str, answers: Iterable[Path], out: Path) -> Sequence[SubmissionResult]:
    """Grade a lab's answers, each as a student's notebook that was run, so that its cards are saved with it."""
    for path in answers:
        target = out / "submitted" / path.stem.partition("_")[2] / lab / f"{lab}.ipynb"
        target.parent.mkdir(parents=True)
        notebook = answered(lab, answers_in(path.read_text(encoding="utf-8")))
        client = NotebookClient(notebook, kernel_name="python3", allow_errors=True, skip_cells_with_tag=SKIP)
        client.execute()
        nbformat.write(notebook, target)
    return run(lab, out / "submitted", out / "graded", jobs=1).results


def card_of(result: SubmissionResult, question: QuestionResult) -> str:
    """``green``, or what the first red line of the card says."""
    marks = result.public_checks.get(question.name, [(False, "none")])
    return next((sentence for passed, sentence in marks if not passed), "green")


def summary(results: Iterable[SubmissionResult], planted: Planted) -> str:
    """The figures of a set of answers: in full, noticed, named, green, and points given against fair ones."""
    honest = [result for result in results if result.student.startswith("honest")]
    rows = [(r, q, planted.get((r.lab[:2], r.student, q.name))) for r in results for q in r.questions]
    wrong = [(r, q, row[1]) for r, q, row in rows if row and row[1] < q.max_points]
    noticed = [(r, q) for r, q, _ in wrong if q.points < q.max_points]
    return "\n".join([
        f"honest notebooks with full points: {sum(r.score == r.max_score for r in honest)} of {len(honest)}",
        f"wrong answers that lost points: {len(noticed)} of {len(wrong)}",
        f"of these named by a misconception: {sum(bool(q.misconception) for _, q in noticed)}",
        f"by a generated sentence: {sum(bool(q.generated) for _, q in noticed)}",
        f"card all green, points lost: {sum(card_of(r, q) == 'green' for r, q in noticed)}",
        f"points given: {sum(q.points for _, q, _ in wrong):.1f}; fair: {sum(fair for *_, fair in wrong):.1f}",
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("answers", type=Path)
    parser.add_argument("out", type=Path, help="an empty folder")
    parser.add_argument("--fair", type=Path, required=True)
    given = parser.parse_args()
    planted = planted_in(given.fair.read_text(encoding="utf-8"))
    files = sorted(given.answers.glob("[0-9][0-9]_*.py"))
    everything: list[SubmissionResult] = []
    for number in sorted({path.name[:2] for path in files}):
        lab = lab_name(number)
        results = graded(lab, [path for path in files if path.name.startswith(number)], given.out / lab)
        everything += results
        for result in results:
            for q in result.questions:
                slip, fair = planted.get((number, result.student, q.name), ("", None))
                if slip or q.points < q.max_points:
                    named = q.misconception or f"{q.generated} ~ {q.cause}"
                    points = f"{fair} | {q.points:g}/{q.max_points:g}"
                    row = (result.student, q.name, slip, points, named, card_of(result, q)[:170])
                    print(f"| {' | '.join(row)} |")
        print(f"\n{lab}\n{summary(results, planted)}\n")
    print(f"all\n{summary(everything, planted)}")


if __name__ == "__main__":
    main()
