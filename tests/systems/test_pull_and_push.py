"""Pull, grade, push, regrade, push: nobody is lost, and nothing of anybody's is overwritten."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from autograder.cli.app import app
from autograder.cli.systems import SYSTEMS
from autograder.course.policy_file import extension_of, extensions_file, settings
from autograder.errors import UserError
from autograder.files import folder_name, timestamp_in
from autograder.systems.exchange import Attempt, Entry, File, Person, Refused, System, Update
from autograder.systems.pull import Pull
from autograder.systems.push import Push, Row, grades_of

LAB, ADA, BO, CY = "00_warm_up", 1, 2, 3
#: When ada handed in, and when the assignment is due.
WHEN, DUE = (int(datetime(2026, 11, day, 15, tzinfo=UTC).timestamp()) for day in (19, 20))
NOTEBOOK = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}).encode()
POLICY = "[labs.00]\ndue = 2026-11-20T15:00:00\n"


def attempt(when: int = WHEN, **more: Any) -> Attempt:
    return Attempt(0, when, (File(f"{LAB}.ipynb", 9, when, "x", "/a/"),), **more)


class Site(System):
    """A learning system in memory, and a class of made-up results there. Tests change the attributes."""

    name, key, title, most, due = "Moodle", "assignment 2", "Warm-up", 30.0, DUE

    def __init__(self, submitted, spec, make_result) -> None:
        self.submitted, self.spec, self._make = submitted, spec, make_result
        self.ids = {ADA: ("ada", "a@uni.edu"), BO: ("bo",), CY: ("cy",)}
        self.attempts = {ADA: attempt(), BO: attempt(), CY: None}
        self.there, self.longer = defaultdict(Entry), dict[int, int]()
        #: Users whose grades were sent, those who are refused, and what is lost without a word.
        self.sent, self.refused, self.lost = list[int](), set[int](), set[str]()
        #: After so many files the line is dead.
        self.files_left = 99

    def people(self):
        return [Person(user, self.ids[user], found) for user, found in self.attempts.items()], []

    def due_dates(self, people):
        return {one.user: self.longer.get(one.user, self.due) for one in people}

    def read(self, file):
        self.files_left -= 1
        if self.files_left < 0:
            raise UserError("no line")
        if file.address == "refused":
            raise Refused("The file is gone.")
        return NOTEBOOK

    def require_gradable(self): ...

    def entries(self, attempts):
        return {user: self.there[user] for user in attempts}

    def send(self, user, attempt, new: Update, now):
        if user in self.refused:
            raise Refused("the grading period is closed")
        assert attempt == 0 and now == self.there[user]
        self.sent.append(user)
        files = now.files if new.page is None else (File(new.page_name, len(new.page), 1, ""),)
        whole = {"grade": new.grade, "comment": new.comment.replace("<br>", "<br />"), "files": files}
        self.enter(user, **{name: value for name, value in whole.items() if name not in self.lost})
        if "answer" in self.lost:
            raise UserError("no answer")

    def enter(self, user: int, **changes: Any) -> None:
        """As a person does it in the system's own pages."""
        now = self.there[user]
        self.there[user] = replace(now, modified=now.modified + 1, **changes)

    def time(self, student: str) -> str:
        return timestamp_in(self.submitted / student / LAB)

    def pull(self) -> Pull:
        done = Pull(self, self.submitted, LAB)
        done.run()
        return done

    def results(self, *points: float, at: str = "") -> list[Any]:
        """One for each folder, with these points of 4 and 6."""
        earned, names = points or (4.0, 3.0), [one.name for one in self.submitted.iterdir() if one.is_dir()]
        return [self._make(name, *earned, submitted_at=at or self.time(name)) for name in names]

    def push(self, *points: float, at: str = "", replaced: tuple[str, ...] = ()) -> Push:
        grades = grades_of(self.spec, self.results(*points, at=at), {})
        return Push(self, self.submitted, LAB, grades, replaced)

    def row(self, user: int, *points: float, at: str = "") -> Row:
        """What a push would do for somebody."""
        return next(row for row in self.push(*points, at=at).rows if row.user == user)


@pytest.fixture
def site(tmp_path, course_at, spec, make_result) -> Site:
    course_at(POLICY)
    return Site(tmp_path / "submitted", spec, make_result)


@pytest.fixture
def pulled(site) -> Site:
    site.pull()
    return site


# Pull


def test_pull_lays_out_the_class_as_grading_reads_it(site):
    typed, up = Attempt(0, WHEN, has_text=True), folder_name("../up")
    large = Attempt(0, WHEN, (File("a.ipynb", 1 << 40, 0, ""),))
    gone = Attempt(0, WHEN, (File("a.ipynb", 9, 0, "refused"),))
    site.attempts |= {4: attempt(WHEN + 5), 5: attempt(), 6: typed, 7: large, 8: gone}
    site.ids |= {4: (), 5: ("../up",), 6: ("typist",), 7: ("large",), 8: ("gone",)}
    done = site.pull()
    folders = {folder.name for folder in site.submitted.iterdir() if folder.is_dir()}
    assert folders == {"ada", "bo", "cy", "moodle-4", up, "typist", "large", "gone"}
    assert done.handed_in == done.fetched == ["ada", "bo", "moodle-4", "../up"]
    assert (site.submitted / up / LAB / f"{LAB}.ipynb").exists() and site.row(5).what == "new"
    assert site.time("moodle-4") == "2026-11-19 15:00:05 UTC" and site.pull().fetched == []
    said = " ".join(done.notes)
    assert "typist typed a text into Moodle" in said and f"large handed in no notebook of {LAB}" in said
    assert "large: a.ipynb is larger than" in said and "gone: The file is gone." in said
    assert "nothing that is graded here: typist, large, gone. No grade will be sent." in said
    assert site.row(6).why == "handed in nothing that is graded here"


def test_a_pull_fetches_what_is_new_and_goes_on_where_it_was_cut_off(site):
    site.files_left = 1
    with pytest.raises(UserError, match="no line"):
        site.pull()
    site.files_left = 99
    assert site.pull().fetched == ["bo"]
    site.attempts[ADA] = attempt(WHEN + 60)
    assert site.pull().fetched == ["ada"] and site.time("ada") == "2026-11-19 15:01:00 UTC"


def test_the_class_list_names_the_folders_and_two_of_one_name_stay_apart(site, course_at):
    course_at(POLICY, "student,email,ID number\nlovelace,a@uni.edu,\nx,x@uni.edu,\n")
    site.ids |= {BO: ("twin",), CY: ("TWIN",)}
    done, said = site.pull(), " ".join(site.pull().notes)
    assert done.students == ["TWIN_3", "lovelace", "twin_2"]
    assert "On the class list, but not a student in Moodle: x" in said
    assert "would have one folder: twin, TWIN;" in " ".join(done.notes)
    course_at(POLICY)
    assert site.pull().students == done.students, "a folder's name stays"


def test_of_the_courses_and_the_systems_due_dates_the_longer_one_counts(site, course_at):
    day = 86_400
    extensions_file().write_text(f"lab,student,days\n{LAB},cy,9\n", encoding="utf-8")
    site.longer = {ADA: DUE + 3 * day, CY: DUE + 4 * day}
    assert "extensions.csv than in Moodle, which counts: cy" in " ".join(site.pull().notes)
    days = [longer.days if (longer := extension_of(LAB, one)) else 0 for one in ("ada", "bo", "cy")]
    assert days == [3, 0, 9]
    before = extensions_file().read_text(encoding="utf-8")
    site.pull()
    assert extensions_file().read_text(encoding="utf-8") == before
    site.longer = {ADA: 0, BO: DUE - day}
    said = " ".join(site.pull().notes)
    assert "Never due in Moodle, so give them an extension in course.toml: ada" in said
    assert "Due sooner than the others in Moodle, which does not count here: bo" in said
    there = "is 2026-11-20T15:00:00, and course.toml"
    for policy, sentence in (
        ("", f"{there} has none, so nobody is late: write `due = 2026-11-20T15"),
        ("[labs.00]\ndue = 2026-11-19", f"{there}'s 2026-11-19T23:59:59, which counts"),
    ):
        extensions_file().unlink()
        course_at(policy)
        site.longer = {ADA: DUE + 3 * day}
        assert sentence in " ".join(site.pull().notes)
        assert extension_of(LAB, "ada") is not None and extension_of(LAB, "bo") is None
    site.due = 0
    course_at("")
    assert settings().due(LAB) is None and site.pull().notes == []


def test_another_assignments_folder_or_a_damaged_record_or_an_empty_class_is_refused(site):
    site.submitted.mkdir()
    with pytest.raises(UserError, match="run `autograder moodle pull 00` first"):
        site.push()
    site.pull()
    record, site.key = next(site.submitted.glob("*.json")), "assignment 3"
    with pytest.raises(UserError, match="give another folder with --submitted"):
        site.pull()
    record.write_text("{")
    with pytest.raises(UserError, match="cannot be read: put back the file as it was"):
        site.pull()
    record.unlink()
    site.attempts.clear()
    with pytest.raises(UserError, match=r"no student of “Warm-up”: .* see all groups"):
        site.pull()


# Push


def test_what_is_pushed_is_what_the_plan_said_and_a_second_push_sends_only_what_changed(pulled):
    push = pulled.push()
    assert [(row.student, row.what) for row in push.rows] == [("ada", "new"), ("bo", "new"), ("cy", "left out")]  # fmt: skip
    assert any("every grade is scaled" in note for note in push.notes)
    assert push.send() == [] and pulled.sent == [ADA, BO]
    entry = pulled.there[ADA]
    assert entry.grade == 14, "7 of the lab's 15 points, of 30"
    assert "one_hot: 4 of 4" in entry.comment and "softmax: 3 of 6" in entry.comment
    assert [file.name for file in entry.files] == [f"{LAB}.html"]
    assert pulled.push().send() == [] and pulled.sent == [ADA, BO]
    assert [row.what for row in pulled.push().rows] == ["as it is", "as it is", "left out"]
    assert pulled.push(1.0, 3.0).send() == [] and pulled.there[BO].grade == 8
    pulled.enter(ADA, is_settled=False)
    assert pulled.row(ADA, 1.0, 3.0).what == "change"
    (pulled.submitted / "ada").rename(pulled.submitted / "x")
    push = pulled.push()
    assert push.rows[-1].student == "x" and push.rows[-1].why == "not fetched from Moodle"
    assert "Fetched, but not graded: ada." in push.notes


def test_what_does_not_arrive_is_named_and_the_rest_goes(pulled):
    pulled.refused = {ADA}
    assert pulled.push().send() == ["ada: the grading period is closed"] and pulled.there[BO].grade == 14
    pulled.refused, pulled.lost = set(), {"comment", "grade"}
    missing = "the grade and the comment did not arrive."
    assert pulled.push(2.0, 3.0).send() == [f"ada: {missing}", f"bo: {missing}"]
    pulled.lost, pulled.there[ADA] = {"files"}, Entry(is_settled=False)
    assert pulled.push().send()[0] == "ada: the feedback page and the state did not arrive."
    pulled.lost = {"answer"}
    with pytest.raises(UserError, match="no answer"):
        pulled.push(1.0, 3.0).send()
    pulled.lost.clear()
    pulled.enter(ADA, is_settled=True)
    assert pulled.push(2.0, 3.0).send() == [] and pulled.there[ADA].grade == 10, "the entry is ours"


SINCE = [
    (lambda site: site.there.update({ADA: Entry(5.0)}), "somebody entered this grade or comment", ""),
    (lambda site: site.enter(ADA, comment="<p>See me</p>"), "somebody entered this grade or comment", ""),
    (lambda site: site.enter(ADA, comment=None), "somebody entered this grade or comment", ""),
    (lambda site: site.enter(ADA, locked="it is overridden"), "it is overridden", ""),
    (lambda site: setattr(site, "most", 4.99), "5.01 is above the maximum of 4.99", ""),
    (lambda site: site.attempts.update({ADA: None}), "nothing is handed in in Moodle", "nothing handed in there any"),
    (lambda site: site.attempts.update({ADA: attempt(open=True)}), "a new attempt is open", ""),
    (lambda site: site.attempts.update({ADA: attempt(WHEN + 9)}), "handed in again since", ""),
    (lambda site: site.attempts.pop(ADA), "no active student", "No active students of Moodle any more"),
]  # fmt: skip


@pytest.mark.parametrize(("happens", "why", "note"), SINCE)
def test_what_happened_there_since_is_left_alone_and_said(pulled, happens, why, note):
    pulled.push().send()
    happens(pulled)
    before, points = pulled.there[ADA], (9.05, 6.0) if "maximum" in why else (2.0, 3.0)
    row = pulled.row(ADA, *points)
    assert row.what == "left out" and why in row.why
    assert pulled.push(*points).send() == [] and pulled.there[ADA] == before
    assert not note or any(note in said and "ada" in said for said in pulled.pull().notes)


def test_a_hidden_comment_is_ours_while_nothing_changes_there_and_an_older_result_is_not_sent(pulled):
    pulled.push().send()
    pulled.there[ADA] = replace(pulled.there[ADA], comment=None, files=())
    assert [pulled.row(ADA, *points).what for points in ((), (2.0, 3.0))] == ["as it is", "change"]
    assert "what was graded is not what was fetched last" in pulled.row(ADA, at="2026-11-18 10:00:00 UTC").why


def test_what_an_assignment_does_not_take_is_not_sent(pulled):
    pulled.takes_comments = pulled.takes_files = False
    pulled.notes = ("Nobody sees this.",)
    push = pulled.push()
    assert push.send() == [] and (pulled.there[ADA].comment, pulled.there[ADA].files) == ("", ())
    assert sum("switched off" in note for note in push.notes) == 2 and pulled.notes[0] in push.notes


def test_the_first_push_of_the_command_only_shows(site, monkeypatch):
    monkeypatch.setattr("autograder.cli.systems.results_and_marks", lambda *_: (site.results(), {}))
    monkeypatch.setattr("autograder.cli.systems.spec", lambda _: site.spec)
    monkeypatch.setitem(SYSTEMS, "Moodle", lambda *_: site)
    monkeypatch.setattr("autograder.cli.systems.refuse_world_readable", lambda *_: None)  # tmp_path may be

    def run(what, *more):
        return CliRunner().invoke(app, ["moodle", what, "00", "--submitted", str(site.submitted), *more])

    pulled, push = run("pull"), ("push", "--out", str(site.submitted.parent))
    assert pulled.exit_code == 0 and "✓ 3 students, 2 submissions (2 new) of “Warm-up”" in pulled.output
    shown = run(*push)
    assert shown.exit_code == 0 and not site.sent and re.search(r"ada +14 +new", shown.output)
    assert "Nothing was sent yet. To send 2 grades" in shown.output
    assert "✓ 2 of 2 arrived in Moodle" in run(*push, "--send").output
    assert "2 are as they are" in run(*push).output
    for user in (ADA, BO):
        site.enter(user, grade=1.0)
    assert "--replace names nobody, without a result" in str(run(*push, "--replace", "nobody").exception)
    assert "✓ 1 of 1 arrived" in run(*push, "--replace", "ada").output
    assert (site.there[ADA].grade, site.there[BO].grade) == (14, 1), (
        "a person's grade stays until it is named"
    )
    site.lost.add("grade")
    site.enter(ADA, grade=1.0)
    lost = run(*push, "--replace", "ada")
    assert lost.exit_code == 1 and "the grade did not arrive" in lost.output and "✗ 0 of 1" in lost.output
