"""The gradebook, the feedback page, the class report and every export say the same points."""

import csv
import datetime
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.course.lab import LabSpec
from autograder.exports import export
from autograder.gradebook.final_points import final_points, with_final_points
from autograder.gradebook.writer import GradebookWriter, marks_of
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.report import build_report
from autograder.results import SubmissionResult
from tests.fixtures.small_lab import LAB
from tests.gradebook.by_hand import enter

DUE = datetime.datetime(2026, 3, 1, 10)  # the submissions come in a day later

#: What a person enters, by cell; what differs in the result; the late penalty as a share of the points.
CASES: dict[str, tuple[dict[str, dict[str, float]], dict[str, Any], float]] = {
    "nobody entered anything": ({}, {}, 0.0),
    "a manual score above the tests'": ({"test_softmax": {"manual_score": 6}}, {"softmax": 2.0}, 0.0),
    "a manual score of zero": ({"test_softmax": {"manual_score": 0}}, {}, 0.0),
    "both": ({"test_one_hot": {"manual_score": 1, "extra_credit": 0.5}}, {}, 0.0),
    "a written answer": ({"why_softmax": {"manual_score": 3.5, "extra_credit": 1}}, {}, 0.0),
    "extra credit for an answer that waits": ({"why_softmax": {"extra_credit": 1}}, {}, 0.0),
    "late": ({"why_softmax": {"manual_score": 3.5}}, {}, 0.2),
    "late, and the penalty takes more than all": ({"test_softmax": {"manual_score": 1}}, {}, 1.5),
    "points for who handed in nothing": (
        {"test_softmax": {"manual_score": 4}, "why_softmax": {"manual_score": 2}},
        {"status": "missing", "notebook": "", "questions": (), "score": 0.0},
        0.0,
    ),
}


def penalty_in(book: Path) -> float:
    with Gradebook(f"sqlite:///{book}") as gradebook:
        return float(gradebook.find_submission_notebook(LAB, LAB, "ada").late_submission_penalty or 0.0)


@pytest.mark.parametrize("case", CASES)
def test_everybody_who_shows_points_shows_the_same(
    case: str, spec: LabSpec, make_result: Callable[..., SubmissionResult], tmp_path: Path
) -> None:
    entered, changes, share = CASES[case]
    result, book = make_result("ada", **changes), tmp_path / "gradebook.db"
    rule = (lambda points, _late, _due: share * points) if share else None
    with GradebookWriter(book, spec, due=DUE, late_penalty=rule) as writer:
        writer.write(result)
        for cell, values in entered.items():
            enter(book, LAB, "ada", cell, **values)
        with Gradebook(f"sqlite:///{book}") as gradebook:
            nbgraders = float(gradebook.find_submission(LAB, "ada").score)  # lateness apart
        marks = marks_of(writer.apply_policy(), "ada")
        assert penalty_in(book) == pytest.approx(min(share, 1.0) * nbgraders)
        writer.write(result)  # a regrade counts the penalty from the same points
        assert penalty_in(book) == pytest.approx(min(share, 1.0) * nbgraders)

    expected = max(1 - share, 0.0) * nbgraders
    final = final_points(result, spec, marks)
    assert final.total == pytest.approx(expected)

    page = FeedbackWriter(spec, tmp_path).page(result, marks)
    total = re.search(r'<div class="total"><strong>([\d.]+)</strong>', page)
    assert total is not None and float(total[1]) == pytest.approx(expected)
    rows = [re.search(rf'id="question-{n}".*?>([\d.]+) of [\d.]+', page, re.DOTALL) for n in (1, 2)]
    assert [float(row[1]) for row in rows if row] == pytest.approx(
        [q.final for q in final.questions.values()]
    )

    listed = tmp_path / "list.csv"
    listed.write_text("Username\nada\n")
    for form, roster in (("canvas", None), ("moodle", listed), ("gradescope", None), ("github", None)):
        export(form, [result], spec, tmp_path, marks={"ada": marks}, roster=roster)
    with (tmp_path / f"canvas-{LAB}.csv").open(encoding="utf-8", newline="") as file:
        assert float(list(csv.reader(file))[2][5]) == pytest.approx(expected)
    with (tmp_path / f"moodle-{LAB}.csv").open(encoding="utf-8", newline="") as file:
        assert float(next(csv.DictReader(file))[LAB]) == pytest.approx(expected)
    gradescope = json.loads((tmp_path / "gradescope" / "ada" / "results.json").read_text())
    assert gradescope["score"] == pytest.approx(expected)
    github = json.loads((tmp_path / "github-classroom" / "ada" / "autograding.json").read_text())
    assert sum(test["score"] for test in github["tests"]) == pytest.approx(expected)

    shown = with_final_points(result, final)
    report = build_report([shown], spec, tmp_path).read_text(encoding="utf-8")
    functions = sum(final.questions[question.name].final for question in result.questions)
    assert f'data-value="{functions}"><strong>' in report


def test_what_the_course_takes_back_goes_and_what_a_person_entered_stays(
    spec: LabSpec, make_result: Callable[..., SubmissionResult], tmp_path: Path
) -> None:
    book, names = tmp_path / "gradebook.db", ("ada", "bo")
    longer = dict.fromkeys(names, datetime.timedelta(days=2))

    def with_policy(**policy: Any) -> list[tuple[datetime.timedelta | None, float]]:
        with GradebookWriter(book, spec, **policy) as writer:
            if not writer.all_marks():
                for name in names:
                    writer.write(make_result(name))
            writer.apply_policy()
        with Gradebook(f"sqlite:///{book}") as gradebook:
            rows = [gradebook.find_submission(LAB, name) for name in names]
            return [(row.extension, float(row.notebooks[0].late_submission_penalty or 0.0)) for row in rows]

    def rule(_points: float, _late: float, _due: datetime.datetime) -> float:
        return 2.0

    assert with_policy(due=DUE, extension=longer.get, late_penalty=rule) == [(longer["ada"], 0.0)] * 2
    by_hand = datetime.timedelta(days=9)
    with Gradebook(f"sqlite:///{book}") as gradebook:
        gradebook.find_submission(LAB, "bo").extension = by_hand
        gradebook.db.commit()
    assert with_policy(due=DUE, late_penalty=rule) == [(None, 2.0), (by_hand, 0.0)]
    assert with_policy(due=DUE) == [(None, 0.0), (by_hand, 0.0)]
    assert with_policy(late_penalty=rule) == [(None, 0.0), (by_hand, 0.0)], "no due date any more"
    with Gradebook(f"sqlite:///{book}") as gradebook:
        assert gradebook.find_assignment(LAB).duedate is None
        gradebook.find_assignment(LAB).duedate = DUE
        gradebook.db.commit()
    assert with_policy(late_penalty=rule) == [(None, 2.0), (by_hand, 0.0)], "a person's date stays"
    odd = dict.fromkeys(["Sammy Davis Jr.", "Müller & Sohn", "ada-0123456789abcdef"], longer["ada"])
    with GradebookWriter(book, spec, due=DUE, extension=odd.get, late_penalty=rule) as writer:
        for name in odd:
            writer.write(make_result(name))
        marks = writer.apply_policy(odd)
        assert not any(marks_of(marks, name).late_penalty for name in odd), "stored under another name"
