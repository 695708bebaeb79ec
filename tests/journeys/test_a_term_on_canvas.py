"""A class on Canvas in Germany: from the class list over two downloads to the last export, every grade by hand.

The tests' points are given, not earned: nothing runs.
"""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.cli.rewrite import export_results, write_term
from autograder.collect import collect
from autograder.course.build import released_notebook
from autograder.course.masters import lab_name
from autograder.course.policy_file import class_list, spec
from autograder.grading.submissions import Submission
from autograder.grading.submissions import find_submissions as find
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.pipeline import STORE
from autograder.run.recorder import Recorder
from autograder.run.remarks import remarks
from autograder.run.store import ResultStore

LABS = [lab_name(number) for number in ("00", "01")]
#: Berlin is two hours before UTC in summer, one in winter.
BERLIN = timezone(timedelta(hours=2))
DUE = [datetime(2026, 10, 12, 16, tzinfo=UTC), datetime(2026, 11, 9, 17, tzinfo=UTC)]
#: What Canvas has for each lab, as a German export writes it; None: what the lab has.
POSSIBLE = ["100,00", None]
POLICY = """\
timezone = "Europe/Berlin"
[late]
percent_per_day = 10
at_most_percent = 30
grace_minutes = 15
[extensions]
s3 = 2
nobody-here = 4
[labs.00]
due = 2026-10-12T18:00:00
closes = 2026-10-19T18:00:00
[labs.01]
due = 2026-11-09T18:00:00
[labs.01.extensions]
s4 = 2026-11-12T18:00:00
"""


@dataclass(frozen=True)
class Student:
    """Somebody's name in Canvas, and what they did in each lab.

    ``hours`` is when they handed in after the due date (None: nobody knows), ``share`` what the tests gave, ``off`` the percent
    that lateness takes off in each lab, counted by hand, and ``hands_in`` a notebook, a ``text``, or nothing.
    """

    name: str
    hours: float | None
    share: float
    off: tuple[int, int] = (0, 0)
    hands_in: str = "notebook"


STUDENTS = {
    f"s{number}": student
    for number, student in enumerate(
        [
            Student("Müller, Zoë", -90, 1),
            Student("van der Berg, Jan", 0.1, 0.5),  # within the grace
            Student("O'Hara, Finn", 1, 0.25, (10, 10)),
            Student("Nowak, Łukasz", 49, 1, (10, 10)),  # two days more in each lab
            Student("Groß, Änne", 49, 1, (30, 0)),  # three days more in the second
            Student("Mc_Fly, Ann", 25, 0.5, (20, 20)),
            Student("Prince", 100, 1, (30, 30)),
            Student("de la Cruz-Ruiz, María José", None, 0.5),
            Student("Lee, Ann", 23, 0, (10, 10)),
            Student("Lee, Ann", -1, 0.5),
            Student("Иванов, Пётр", 169, 1, (100, 30)),  # the first lab had closed
            Student("山田, 太郎", 200, 0.25, (100, 30)),
            Student("Ng, X", 1, 0, hands_in="text"),
            Student("d’Arc, Jeanne", 1, 0, hands_in=""),
            Student("Smith, John, Jr.", -30, 0.5),
            Student("=SUM(A1), Eve", -30, 1),
        ]
    )
}
#: Somebody who is not in the class; whose written answer a person read, and what it got.
STRANGER, READ, WRITTEN = "fremdereve_99999", "s14", 1.5
NUMBER = {student: 5000 + 7 * int(student[1:]) for student in STUDENTS}
NOTEBOOKS = {student for student, one in STUDENTS.items() if one.hands_in == "notebook"}
UNDATED = {student for student in NOTEBOOKS if STUDENTS[student].hours is None}


def most(lab: int) -> float:
    return sum(points for _, points in (*spec(LABS[lab]).questions, *spec(LABS[lab]).written))


def grade(lab: int, student: str) -> float:
    """The grade by hand."""
    one = STUDENTS[student]
    if student not in NOTEBOOKS:
        return 0.0
    total = one.share * spec(LABS[lab]).max_score + (WRITTEN if student == READ else 0.0)
    return total - round(total * one.off[lab] / 100, 2)


def waits(lab: int, student: str) -> bool:
    """Whether an answer of theirs waits for a person."""
    return student in NOTEBOOKS and not (student == READ and len(spec(LABS[lab]).written) == 1)


def download(path: Path, lab: int) -> Path:
    """Canvas's zip of one assignment. Of a name it leaves lower case and word characters."""
    text = nbformat.writes(released_notebook(LABS[lab]))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (student, one) in enumerate(STUDENTS.items()):
            file = {"notebook": f"{LABS[lab]}.ipynb", "text": "text.html"}.get(one.hands_in)
            if file is not None:
                late = "_LATE" if one.hours and one.hours > 0 else ""
                who = re.sub(r"[^\w]", "", one.name.lower())
                archive.writestr(f"{who}{late}_{NUMBER[student]}_{9000 + number}_{file}", text)
        archive.writestr(f"{STRANGER}_99999_{LABS[lab]}.ipynb", text)
    return path


def times(path: Path, lab: int) -> Path:
    """The list of Canvas's API: earlier attempts, zones, and nulls for those who handed in nothing."""
    rows = []
    for number, (student, one) in enumerate(STUDENTS.items()):
        when = None if one.hours is None else DUE[lab] + timedelta(hours=one.hours)
        earlier = when - timedelta(days=3) if when and number % 5 == 0 else None
        for moment in filter(None, (earlier, when)) if when else (None,):
            shown = moment.astimezone(UTC if number % 2 else BERLIN).isoformat() if moment else None
            rows.append({"id": 5000 - number, "user_id": NUMBER[student], "submitted_at": shown})
    path.write_text(json.dumps(rows))
    return path


@pytest.fixture
def listed(tmp_path: Path, course_at: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Canvas's gradebook export as a German browser gets it, which is the class list too, and the course's policy in force."""
    marks = ["", "7,50", "12,25"]
    path, columns = tmp_path / "canvas.csv", [f"{lab} ({number})" for number, lab in enumerate(LABS)]
    possible = [cell or f"{most(lab):g}".replace(".", ",") for lab, cell in enumerate(POSSIBLE)]
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *columns, "Final Score"],
        ["    Points Possible", "", "", "", "", *possible, "(read only)"],
        *(
            [one.name, str(NUMBER[student]), f"S{student}", student, "AB"[int(student[1:]) % 2], *marks]
            for student, one in STUDENTS.items()
        ),
        ["Student, Test", "4242", "", "abcdef", "A", "", "", ""],
    ]
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    monkeypatch.setenv("COURSE_ROSTER", str(path))
    course_at(POLICY)
    return path


def test_every_grade_of_the_term_is_the_one_by_hand(tmp_path: Path, listed: Path) -> None:
    people = class_list().people
    assert len(people) == len(STUDENTS) and {person.section for person in people} == {"A", "B"}
    out = tmp_path / "out"
    out.mkdir()
    for lab in range(len(LABS)):
        submitted = tmp_path / f"in-{lab}"
        done = collect(
            download(tmp_path / "d.zip", lab), submitted, LABS[lab], times=times(tmp_path / "t.json", lab)
        )
        assert set(done.students) == {*NOTEBOOKS, STRANGER}
        assert set(done.without_time) == {*UNDATED, STRANGER}
        words = "\n".join(done.notes)
        assert "s12 handed in a typed text but no notebook" in words
        assert f"Not on the class list: {STRANGER}" in words
        said = graded(submitted, out, lab)
        assert "course.toml gives an extension to nobody of this class: nobody-here." in said
        assert "Lateness was not counted for" in said
        exported(out, lab, listed)
    reported(out)


def graded(submitted: Path, out: Path, lab: int) -> str:
    """Record the class with the points that the tests gave, and a person's; what a teacher hears of it."""
    lab_spec = spec(LABS[lab])

    def given(submission: Submission) -> SubmissionResult:
        name = submission.student
        if submission.path is None:
            return SubmissionResult(name, lab_spec.name, "missing", 0.0, lab_spec.max_score, 0.0)
        share = 0.0 if name == STRANGER else STUDENTS[name].share
        questions = tuple(QuestionResult(one, share * points, points) for one, points in lab_spec.questions)
        score = sum(question.points for question in questions)
        return SubmissionResult(
            name, lab_spec.name, "graded", score, lab_spec.max_score, 0.0, questions, submitted_at=submission.submitted_at
        )  # fmt: skip

    with ResultStore(out / STORE) as store, Recorder(lab_spec.name, out, store) as recorder:
        found = find(submitted, lab_spec.name)
        absent = class_list().absent(submission.student for submission in found)
        class_ = [*found, *(Submission(person.student, None) for person in absent)]
        assert len(class_) == len(STUDENTS) + 1
        recorder.begin(class_)
        for submission in class_:
            recorder.record(given(submission))
        with Gradebook(f"sqlite:///{out / 'gradebook.db'}") as book:  # as a person does in Formgrader
            entry = book.find_grade(lab_spec.written[0][0], lab_spec.name, lab_spec.name, READ)
            entry.manual_score, entry.needs_manual_grade = WRITTEN, False
            book.db.commit()
        _, results, marks = recorder.finish()
        return " ".join(remarks(lab_spec.name, results, marks))


def exported(out: Path, lab: int, listed: Path) -> None:
    """Canvas's import holds every student's grade, scaled, in German numbers."""
    made = export_results("canvas", LABS[lab], out, None, roster=listed)
    with made.paths[0].open(encoding="utf-8", newline="") as file:
        header, possible, *rows = csv.reader(file, delimiter=";")
    assert header[5] == f"{LABS[lab]} ({lab})" and len(rows) == len(STUDENTS)
    top = float((POSSIBLE[lab] or str(most(lab))).replace(",", "."))
    assert float(possible[5].replace(",", ".")) == top
    for row in rows:
        student = row[3]
        assert row[1] == str(NUMBER[student]) and row[0].lstrip("'") == STUDENTS[student].name
        scaled = grade(lab, student) * top / most(lab)
        assert float(row[5].replace(",", ".")) == pytest.approx(scaled, abs=0.0051), student
        assert ("not read yet" in row[6]) == waits(lab, student)
        assert ("nobody knows when" in row[6]) == (student in UNDATED)
    assert any(STRANGER in note for note in made.notes)


def reported(out: Path) -> None:
    """The term's table holds everybody's points over the labs, and who missed what."""
    _, (page, table) = write_term(out, Console(quiet=True))
    with table.open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert set(rows) == {*STUDENTS, STRANGER}
    for student, one in STUDENTS.items():
        row, labs = rows[student], range(len(LABS))
        assert row["name"].lstrip("'") == one.name and row["section"] == "AB"[int(student[1:]) % 2]
        assert float(row["points"]) == pytest.approx(sum(grade(lab, student) for lab in labs), abs=0.011)
        assert row["missing"].split() == ([] if student in NOTEBOOKS else LABS)
        assert row["not final"].split() == [LABS[n] for n in labs if waits(n, student) or student in UNDATED]
        behind = "nothing handed in for the latest lab" in row["falling behind"]
        assert behind == (student not in NOTEBOOKS)
    assert f"2 labs, {len(STUDENTS) + 1} students" in page.read_text(encoding="utf-8")
