"""A course of 60 on Canvas in Germany: from the class list over three downloads to the last export, every grade by hand.

The tests' points are given, not earned: nothing runs. What is computed here shares no code with the program.
"""

from __future__ import annotations

import csv
import json
import random
import re
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.cli.rewrite import export_results, write_term
from autograder.collect import Collected, collect
from autograder.course.build import released_notebook
from autograder.course.masters import lab_name
from autograder.course.policy_file import class_list, spec
from autograder.grading.submissions import Submission
from autograder.grading.submissions import collect as find
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.pipeline import STORE
from autograder.run.recorder import Recorder
from autograder.run.remarks import remarks
from autograder.run.store import ResultStore

LABS = [lab_name(number) for number in ("00", "01", "02")]
#: What Canvas has for each lab, as a German export writes it; None: what the lab has.
POSSIBLE = {LABS[0]: "100,00", LABS[1]: None, LABS[2]: "10,00"}
#: Berlin's summer is two hours before UTC, its winter one.
DUE = {
    LABS[0]: datetime(2026, 10, 12, 16, 0, 0, tzinfo=UTC),
    LABS[1]: datetime(2026, 11, 9, 17, 0, 0, tzinfo=UTC),
}
POLICY = """\
timezone = "Europe/Berlin"
[late]
percent_per_day = 10
at_most_percent = 30
grace_minutes = 15
[extensions]
s003 = 2
nobody-here = 4
[labs.00]
due = 2026-10-12T18:00:00
closes = 2026-10-19T18:00:00
[labs.01]
due = 2026-11-09T18:00:00
[labs.01.extensions]
s004 = 2026-11-12T18:00:00
"""
NAMES = [
    "Müller, Zoë", "van der Berg, Jan", "O'Hara, Finn", "Nowak, Łukasz", "Groß, Änne", "Mc_Fly, Ann", "Prince",
    "de la Cruz-Ruiz, María José", "Lee, Ann", "Lee, Ann", "Иванов, Пётр", "山田, 太郎", "Ng, X", "d’Arc, Jeanne",
    "Smith, John, Jr.", "ÅSTRÖM, BO", "Smith7, Ada", "=SUM(A1), Eve", "da Silva Sauro, Rita", "İnan, Işık",
]  # fmt: skip
STUDENTS = {f"s{n:03}": NAMES[n] if n < len(NAMES) else f"Nachname{n}, Vorname{n}" for n in range(60)}
#: Somebody who is not in the class.
STRANGER = "fremdereve_99999"
NUMBER = {student: 5000 + 7 * n for n, student in enumerate(STUDENTS)}


def canvass(name: str) -> str:
    """What Canvas makes of a sortable name: lower case, word characters only."""
    return re.sub(r"[^\w]", "", name.lower())


class Term:
    """What really happened: who handed in what and when, what the tests and the teacher gave."""

    def __init__(self) -> None:
        chance = random.Random(2026)
        self.late: dict[tuple[str, str], timedelta | None] = {}
        self.earned: dict[tuple[str, str], list[float]] = {}
        self.written: dict[tuple[str, str], float] = {}
        self.silent: set[tuple[str, str]] = set()
        for lab in LABS:
            for n, student in enumerate(STUDENTS):
                key = (lab, student)
                if n in (30, 31) or chance.random() < 0.03:
                    self.silent.add(key)  # 30 types a text, 31 never does anything
                    continue
                self.earned[key] = [
                    most * chance.choice((0, 0.25, 0.5, 1)) for _, most in spec(lab).questions
                ]
                hours = chance.choice((-90, -30, -1, -0.1, 0.1, 1, 23, 25, 49, 100, 169, 200))
                self.late[key] = None if n % 50 == 7 else timedelta(hours=hours)
                if n % 40 == 9:
                    self.written[key] = 1.5

    def who(self, lab: str) -> set[str]:
        """Who handed in a notebook."""
        return {student for of, student in self.earned if of == lab}

    def undated(self, lab: str) -> set[str]:
        """Who handed in, and nobody knows when."""
        return {student for student in self.who(lab) if self.late[lab, student] is None}

    def waits(self, lab: str, student: str) -> bool:
        """Whether an answer of theirs waits for a person."""
        read = (lab, student) in self.written and len(spec(lab).written) == 1
        return student in self.who(lab) and not read

    def hours_late(self, lab: str, student: str) -> float:
        """How late a submission is, extensions counted; 0 where nobody knows, or there is no due date."""
        late = self.late.get((lab, student))
        if late is None or lab not in DUE:
            return 0.0
        days = 2 if student == "s003" else 3 if student == "s004" and lab == LABS[1] else 0
        return max(0.0, late.total_seconds() / 3600 - 24 * days)

    def grade(self, lab: str, student: str) -> float:
        """The grade by hand."""
        if (lab, student) not in self.earned:
            return 0.0
        total = sum(self.earned[lab, student]) + self.written.get((lab, student), 0.0)
        hours = self.hours_late(lab, student)
        if lab == LABS[0] and hours > 7 * 24:
            return 0.0
        if hours <= 0.25:
            return total
        days = int(hours // 24) + (hours % 24 > 0)
        return total - round(total * min(10 * days, 30) / 100, 2)


def notebook(lab: str) -> str:
    return nbformat.writes(released_notebook(lab))


def download(path: Path, lab: str, term: Term) -> Path:
    """Canvas's zip of one assignment: a notebook of everybody's, but for a typed text and who is silent."""
    text = notebook(lab)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for n, (student, name) in enumerate(STUDENTS.items()):
            file, content = ("text.html", "my text") if n == 30 else (f"{lab}.ipynb", text)
            if (lab, student) in term.silent and n != 30:
                continue
            mark = "_LATE" if (late := term.late.get((lab, student))) and late > timedelta() else ""
            archive.writestr(f"{canvass(name)}{mark}_{NUMBER[student]}_{9000 + n}_{file}", content)
        archive.writestr(f"fremdereve_99999_99999_{lab}.ipynb", text)
    return path


def times(path: Path, lab: str, term: Term) -> Path:
    """The list of Canvas's API: attempts, zones, and nulls for those who handed in nothing."""
    rows = []
    for n, student in enumerate(STUDENTS):
        late = term.late.get((lab, student))
        when = None if late is None else DUE.get(lab, DUE[LABS[1]]) + late
        stamp = f"{when:%Y-%m-%dT%H:%M:%SZ}" if when else None
        if when and n % 2 == 0:
            stamp = (when + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S+02:00")
        rows.append({"id": 5000 + 7 * (59 - n), "user_id": NUMBER[student], "submitted_at": stamp})
        if when and n % 25 == 3:
            earlier = f"{when - timedelta(days=3):%Y-%m-%dT%H:%M:%SZ}"
            rows.append({"id": 1, "user_id": NUMBER[student], "submitted_at": earlier})
    path.write_text(json.dumps(rows))
    return path


def gradebook_export(path: Path) -> Path:
    """Canvas's own export, as a German browser gets it."""
    columns = (f"{lab} ({n})" for n, lab in enumerate(LABS))
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *columns, "Final Score"]
    possible = (POSSIBLE[lab] or maximum(lab).replace(".", ",") for lab in LABS)
    rows = [head, ["    Points Possible", "", "", "", "", *possible, "(read only)"]]
    for n, (student, name) in enumerate(STUDENTS.items()):
        rows.append([name, str(NUMBER[student]), f"S{n}", student, "AB"[n % 2], "", "7,50", "", "12,25"])
    rows.append(["Student, Test", "4242", "", "abcdef", "A", "", "", "", ""])
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    return path


def maximum(lab: str) -> str:
    return f"{sum(most for _, most in (*spec(lab).questions, *spec(lab).written)):g}"


def given(lab: str, submission: Submission, term: Term) -> SubmissionResult:
    """A result with the points that the tests gave."""
    lab_spec = spec(lab)
    stranger = submission.student.startswith("fremder")
    earned = [0.0] * len(lab_spec.questions) if stranger else term.earned.get((lab, submission.student))
    if submission.path is None or earned is None:
        return SubmissionResult(submission.student, lab, "missing", 0.0, lab_spec.max_score, 0.0)
    questions = tuple(
        QuestionResult(name, got, most) for (name, most), got in zip(lab_spec.questions, earned, strict=True)
    )
    return SubmissionResult(
        submission.student, lab, "graded", sum(earned), lab_spec.max_score, 0.0, questions, submitted_at=submission.submitted_at
    )  # fmt: skip


def enter(out: Path, lab: str, term: Term) -> None:
    """What a person enters in Formgrader."""
    with Gradebook(f"sqlite:///{out / 'gradebook.db'}") as book:
        for (of, student), value in term.written.items():
            if of == lab:
                grade = book.find_grade(spec(lab).written[0][0], lab, lab, student)
                grade.manual_score, grade.needs_manual_grade = value, False
        book.db.commit()


@pytest.fixture
def listed(tmp_path: Path, course_at: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Canvas's gradebook export, which is the course's class list too, and the course's policy in force."""
    path = gradebook_export(tmp_path / "canvas.csv")
    monkeypatch.setenv("COURSE_ROSTER", str(path))
    course_at(POLICY)
    return path


def test_every_grade_of_the_term_is_the_one_by_hand(tmp_path: Path, listed: Path) -> None:
    people = class_list().people
    assert len(people) == len(STUDENTS) and {person.section for person in people} == {"A", "B"}
    term, out = Term(), tmp_path / "out"
    out.mkdir()
    for lab in LABS:
        collected(tmp_path, lab, term)
        said = graded(tmp_path / f"in-{lab}", out, lab, term)
        assert "course.toml gives an extension to nobody of this class: nobody-here." in said
        assert (lab in DUE) == ("Lateness was not counted for" in said)
        exported(out, lab, listed, term)
    reported(out, term)


def collected(folder: Path, lab: str, term: Term) -> None:
    """Canvas's download, collected with its list of times."""
    done: Collected = collect(
        download(folder / f"{lab}.zip", lab, term), folder / f"in-{lab}", lab,
        times=times(folder / f"{lab}.json", lab, term),
    )  # fmt: skip
    assert set(done.students) == {*term.who(lab), STRANGER}
    assert set(done.without_time) == {*term.undated(lab), STRANGER}
    words = "\n".join(done.notes)
    assert "s030 handed in a typed text but no notebook" in words
    assert f"Not on the class list: {STRANGER}" in words


def graded(submitted: Path, out: Path, lab: str, term: Term) -> str:
    """The class recorded with the points that the tests gave, and a person's; what a teacher hears of it."""
    with ResultStore(out / STORE) as store, Recorder(lab, out, store) as recorder:
        found = find(submitted, lab)
        absent = class_list().absent(submission.student for submission in found)
        class_ = [*found, *(Submission(person.student, None) for person in absent)]
        assert len(class_) == len(STUDENTS) + 1
        recorder.begin(class_)
        for submission in class_:
            recorder.record(given(lab, submission, term))
        enter(out, lab, term)
        _, results, marks = recorder.finish()
        return " ".join(remarks(lab, results, marks))


def exported(out: Path, lab: str, listed: Path, term: Term) -> None:
    """Canvas's import holds every student's grade, scaled, in German numbers."""
    made = export_results("canvas", lab, out, None, roster=listed)
    with made.paths[0].open(encoding="utf-8", newline="") as file:
        header, possible, *rows = csv.reader(file, delimiter=";")
    assert header[5] == f"{lab} ({LABS.index(lab)})" and len(rows) == len(STUDENTS)
    most = float((POSSIBLE[lab] or maximum(lab)).replace(",", "."))
    assert float(possible[5].replace(",", ".")) == most
    for row in rows:
        student = row[3]
        assert row[1] == str(NUMBER[student]) and row[0].lstrip("'") == STUDENTS[student]
        grade = term.grade(lab, student) * most / float(maximum(lab))
        assert float(row[5].replace(",", ".")) == pytest.approx(grade, abs=0.0051), student
        assert ("not read yet" in row[6]) == term.waits(lab, student)
        assert ("nobody knows when" in row[6]) == (student in term.undated(lab) and lab in DUE)
    assert any(STRANGER in note for note in made.notes)


def reported(out: Path, term: Term) -> None:
    """The term's table holds everybody's points over the labs, who missed what, and on whose account."""
    _, (page, table) = write_term(out, Console(quiet=True))
    with table.open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert set(rows) == {*STUDENTS, STRANGER}
    for n, (student, name) in enumerate(STUDENTS.items()):
        row = rows[student]
        assert row["name"].lstrip("'") == name and row["section"] == "AB"[n % 2]
        assert float(row["points"]) == pytest.approx(sum(term.grade(lab, student) for lab in LABS), abs=0.011)
        assert row["missing"].split() == [lab for lab in LABS if student not in term.who(lab)]
        unfinished = [
            lab for lab in LABS
            if term.waits(lab, student) or (student in term.undated(lab) and lab in DUE)
        ]  # fmt: skip
        assert row["not final"].split() == unfinished
        for lab in LABS:
            assert float(row[lab]) == pytest.approx(term.grade(lab, student), abs=0.0051)
        assert ("nothing handed in for the latest lab" in row["falling behind"]) == (
            student not in term.who(LABS[-1])
        )
    text = page.read_text(encoding="utf-8")
    assert f"3 labs, {len(STUDENTS) + 1} students" in text and "Иванов, Пётр" in text
