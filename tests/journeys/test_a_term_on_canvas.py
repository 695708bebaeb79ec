"""A class on Canvas in Germany: from the class list over two downloads to the last export, every grade by hand.

The tests' points are given, not earned: nothing runs.
"""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
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
from autograder.grading.submissions import Submission, find_submissions
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.recorder import Recorder
from autograder.run.remarks import remarks
from autograder.run.store import STORE, ResultStore

LABS = [lab_name(number) for number in ("00", "01")]
DUE = [datetime(2026, 10, 12, 16, tzinfo=UTC), datetime(2026, 11, 9, 17, tzinfo=UTC)]
#: The most points of each lab, and what Canvas has for it: every grade of the first is scaled.
MOST = [sum(points for _, points in (*spec(lab).questions, *spec(lab).written)) for lab in LABS]
POSSIBLE = [100.0, MOST[1]]
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


#: Student -> name, hours between due date and hand-in (None: nobody knows), share of the tests' points, the percent that lateness
#: takes off in each lab, counted by hand, and the file.
STUDENTS = {
    "s0": ("Müller, Zoë", -90, 1, (0, 0), "{}.ipynb"),
    "s1": ("van der Berg, Jan", 0.1, 0.5, (0, 0), "{}.ipynb"),  # within the grace
    "s2": ("O'Hara, Finn", 1, 0.25, (10, 10), "{}.ipynb"),
    "s3": ("Nowak, Łukasz", 49, 1, (10, 10), "{}.ipynb"),  # two days more in each lab
    "s4": ("Groß, Änne", 49, 1, (30, 0), "{}.ipynb"),  # three days more in the second
    "s5": ("Lee, Ann", 25, 0.5, (20, 20), "{}.ipynb"),
    "s6": ("Lee, Ann", None, 0.5, (0, 0), "{}.ipynb"),
    "s7": ("Иванов, Пётр", 169, 1, (100, 30), "{}.ipynb"),  # the first lab had closed
    "s8": ("Ng, X", 1, 0, (0, 0), "text.html"),
    "s9": ("d’Arc, Jeanne", None, 0, (0, 0), ""),
}
#: Somebody who is not in the class; whose written answer a person read, and what it got.
STRANGER, READ, WRITTEN = "fremdereve_99999", "s4", 1.5
NUMBER = {student: 5000 + 7 * int(student[1:]) for student in STUDENTS}
NOTEBOOKS = {student for student, (*_, file) in STUDENTS.items() if file.endswith("ipynb")}


def grade(lab: int, student: str) -> float:
    """The grade by hand."""
    _, _, share, off, _ = STUDENTS[student]
    total = share * spec(LABS[lab]).max_score + (WRITTEN if student == READ else 0.0)
    return total - round(total * off[lab] / 100, 2)


def collected(folder: Path, lab: int) -> Path:
    """What lies in ``submitted`` once Canvas's zip of a lab is collected, with the list of times of its API."""
    text = nbformat.writes(released_notebook(LABS[lab]))
    rows = []
    with zipfile.ZipFile(folder / "d.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{STRANGER}_99999_{LABS[lab]}.ipynb", text)
        for student, (name, hours, _, _, file) in STUDENTS.items():
            if file:  # of a name Canvas leaves lower case and word characters
                who = re.sub(r"\W", "", name.lower()) + ("_LATE" if (hours or 0) > 0 else "")
                number = NUMBER[student]
                archive.writestr(f"{who}_{number}_{9 * number}_{file.format(LABS[lab])}", text)
            when = hours and (DUE[lab] + timedelta(hours=hours)).isoformat()
            rows.append({"id": 1, "user_id": NUMBER[student], "submitted_at": when})
    (folder / "t.json").write_text(json.dumps(rows))
    done = collect(folder / "d.zip", folder / f"in-{lab}", LABS[lab], times=folder / "t.json")
    assert set(done.students) == {*NOTEBOOKS, STRANGER} and set(done.without_time) == {"s6", STRANGER}
    words = "\n".join(done.notes)
    assert "s8 handed in a typed text but no notebook" in words
    assert f"Not on the class list: {STRANGER}" in words
    return folder / f"in-{lab}"


def graded(submitted: Path, out: Path, lab: str) -> str:
    """Record the class with the points that the tests gave, and a person's; what a teacher hears of it."""
    lab_spec = spec(lab)
    with ResultStore(out / STORE) as store, Recorder(lab, out, store) as recorder:
        found = find_submissions(submitted, lab)
        absent = class_list().absent(submission.student for submission in found)
        class_ = [*found, *(Submission(person.student, None) for person in absent)]
        recorder.begin(class_)
        for one in class_:
            share = STUDENTS[one.student][2] if one.student in STUDENTS else 0.0
            asked = lab_spec.questions if one.path else ()
            questions = tuple(QuestionResult(name, share * points, points) for name, points in asked)
            score = sum(question.points for question in questions)
            status = "graded" if one.path else "missing"
            result = SubmissionResult(one.student, lab, status, score, lab_spec.max_score, 0.0, questions)
            recorder.record(replace(result, submitted_at=one.submitted_at))
        with Gradebook(f"sqlite:///{out / 'gradebook.db'}") as book:  # as a person does in Formgrader
            entry = book.find_grade(lab_spec.written[0][0], lab, lab, READ)
            entry.manual_score, entry.needs_manual_grade = WRITTEN, False
            book.db.commit()
        _, results, marks = recorder.finish()
        return " ".join(remarks(lab, results, marks))


def test_every_grade_of_the_term_is_the_one_by_hand(
    tmp_path: Path, course_at: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class list is Canvas's gradebook export as a German browser gets it."""
    possible = [f"{points:.2f}".replace(".", ",") for points in POSSIBLE]
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *(f"{lab} (7)" for lab in LABS), "Final Score"],
        ["    Points Possible", "", "", "", "", *possible, "(read only)"],
        *([name, NUMBER[who], f"S{who}", who, "A", "", "7,50", "12,25"] for who, (name, *_) in STUDENTS.items()),
        ["Student, Test", "4242", "", "abcdef", "A", "", "", ""],
    ]  # fmt: skip
    roster, out = tmp_path / "canvas.csv", tmp_path / "out"
    out.mkdir()
    with roster.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    monkeypatch.setenv("COURSE_ROSTER", str(roster))
    course_at(POLICY)
    for lab in range(len(LABS)):
        said = graded(collected(tmp_path, lab), out, LABS[lab])
        assert "course.toml gives an extension to nobody of this class: nobody-here." in said
        assert "Lateness was not counted for" in said
        made = export_results("canvas", LABS[lab], out, None, roster=roster)
        assert any(STRANGER in note for note in made.notes)
        with made.paths[0].open(encoding="utf-8", newline="") as file:
            _, possible, *rows = csv.reader(file, delimiter=";")
        assert float(possible[5].replace(",", ".")) == POSSIBLE[lab] and len(rows) == len(STUDENTS)
        for name, number, _, student, _, points, *_ in rows:
            assert (name, number) == (STUDENTS[student][0], str(NUMBER[student]))
            scaled = pytest.approx(grade(lab, student) * POSSIBLE[lab] / MOST[lab], abs=0.0051)
            assert float(points.replace(",", ".")) == scaled, student
    _, (page, table) = write_term(out, Console(quiet=True))
    with table.open(encoding="utf-8", newline="") as file:
        terms = {row["student"]: row for row in csv.DictReader(file)}
    assert set(terms) == {*STUDENTS, STRANGER}
    for student, (name, *_) in STUDENTS.items():
        row = terms[student]
        assert (row["name"], row["section"]) == (name, "A")
        assert float(row["points"]) == pytest.approx(grade(0, student) + grade(1, student), abs=0.011)
        assert row["missing"].split() == ([] if student in NOTEBOOKS else LABS)
        read = [LABS[0]] if student == READ else []  # the second lab has two written answers
        assert row["not final"].split() == [lab for lab in LABS if student in NOTEBOOKS and lab not in read]
        behind = "nothing handed in for the latest lab" in row["falling behind"]
        assert behind == (student not in NOTEBOOKS)
    assert f"2 labs, {len(STUDENTS) + 1} students" in page.read_text(encoding="utf-8")
