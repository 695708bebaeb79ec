"""Nobody is late by a file's own time, and the times that a teacher's list gives are those that count."""

from __future__ import annotations

import contextlib
import importlib
import json
from datetime import timedelta
from pathlib import Path

import nbformat
import pytest

from autograder.collect import collect
from autograder.course import policy_file
from autograder.errors import UserError
from autograder.results import SubmissionResult
from autograder.run.remarks import remarks
from tests.collect.test_collect import LAB, folder_of, zip_of

CANVAS = {f"lovelaceada_4711_900_{LAB}.ipynb": "ada", f"bohr_niels_LATE_4712_901_{LAB}.ipynb": "niels"}
MOODLE = {
    f"Ada Lovelace_77_assignsubmission_file_/{LAB}.ipynb": "ada",
    f"Łukasz Nowak_78_assignsubmission_file_/{LAB}.ipynb": "lukasz",
}


def stamps(out: Path) -> dict[str, str]:
    return {path.parents[1].name: path.read_text().strip() for path in out.glob("*/*/timestamp.txt")}


def listed(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_canvass_report_and_the_list_of_its_api_give_the_times(tmp_path, out):
    source = zip_of(tmp_path / "d.zip", dict(CANVAS))
    report = listed(
        tmp_path / "r.csv", "user_id,name,submitted_at\n4711,Ada Lovelace,2026-03-01T10:00:00Z\n4712,,\n"
    )
    done = collect(source, out, LAB, times=report)
    assert stamps(out) == {"lovelaceada_4711": "2026-03-01 10:00:00 UTC"}
    assert done.without_time == ("bohr_niels_4712",)
    answer = [
        {"id": 4711, "user_id": 4712, "submitted_at": "2026-03-01T12:00:00+02:00", "attempt": 2},
        {"id": 9, "user_id": 4711, "submitted_at": None},
    ]
    collect(source, out, LAB, times=listed(tmp_path / "api.json", json.dumps(answer)))
    assert stamps(out) == {
        "lovelaceada_4711": "2026-03-01 10:00:00 UTC",
        "bohr_niels_4712": "2026-03-01 10:00:00 UTC",
    }, "what was known before of the same notebook stays known"


#: What is no list of this lab's times -> why it is refused.
REFUSED = {
    **{
        f'student,time\nada,"{time}"\n': r"Row 2 .* is no time that can be read without guessing"
        for time in ("02/03/2026 10:00", "yesterday", "2026-03-02", "2 Marchember 2026, 10:00", "2 March 2026, 14:15 AM")
    },
    "who,what\na,b\n": "no column for the submitted .* its columns are “who”, “what”",
    "time\n2026-03-02 10:00\n": "whose time",
    "student,time\n" + "".join(f"x{number},2026-03-02 10:00 UTC\n" for number in range(12)): (
        "has a time of nobody in the download.*x9 and 2 more, the download ada, bo. Nothing was collected."
    ),
    # Canvas's API has a list of a student's submissions in all assignments: the last of them made everybody late.
    json.dumps([{"user_id": 1, "assignment_id": n, "submitted_at": f"2026-03-{n}T10:00:00Z"} for n in (17, 18)]): (
        "of 2 assignments, 17, 18: give that of this lab alone"
    ),
    "student,Assignment ID,assignment name,time\nada,17,Lab,2026-03-01T10:00Z\nada,18,Lab,2026-03-30T10:00Z\n": "of 2 assignments, 17, 18",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_list_of_this_labs_times_is_refused(tmp_path, out, text):
    source = folder_of(tmp_path / "class", {f"{who}/{LAB}.ipynb": who for who in ("ada", "bo")})
    with pytest.raises(UserError, match=REFUSED[text]):
        collect(source, out, LAB, times=listed(tmp_path / "times", text))
    assert not out.exists()


def test_a_worksheet_of_another_assignment_stops_everything(tmp_path, out):
    for row, said in (
        ("Participant 77,Łukasz Nowak", "calls number 77 “Łukasz Nowak”, the download “Ada Lovelace”"),
        ("Participant 77,", "has no names"),
    ):
        text = f"Identifier,Full name,Last modified (submission)\n{row},2026-03-02 10:00\n"
        with pytest.raises(UserError, match=said):
            collect(
                zip_of(tmp_path / "m.zip", dict(MOODLE)), out, LAB, times=listed(tmp_path / "w.csv", text)
            )
        assert not out.exists()


def test_a_plain_list_and_github_classrooms_grades_give_the_times(tmp_path, out):
    source = folder_of(tmp_path / "class", {f"{who}/{LAB}.ipynb": who for who in ("ada", "bo", "cy")})
    plain = "student;time\nada;02.03.2026 10:00\nADA;2026-03-02 12:00 UTC\nbo;2026-03-02T12:00:00-05:00\n"
    more = "boo;2026-03-02 11:00 UTC\nboo;2026-03-02 12:00 UTC\nnever;\n"
    done = collect(source, out, LAB, times=listed(tmp_path / "t.csv", plain + more))
    assert "In t.csv, but not in the download: boo." in done.notes and done.without_time == ("cy",)
    assert "In t.csv with several times, of which the last counts: ada." in done.notes
    assert stamps(out) == {"ada": "2026-03-02 12:00:00 UTC", "bo": "2026-03-02 17:00:00 UTC"}, (
        "the last counts"
    )
    grades = "roster_identifier,github_username,student_repository_name,submission_timestamp\nada,x,lab-07-x,2026-03-03 08:00:00 UTC\n"
    collect(source, out, LAB, times=listed(tmp_path / "g.csv", grades))
    assert stamps(out)["ada"] == "2026-03-03 08:00:00 UTC"
    folder_of(source, {f"ADA/{LAB}.ipynb": "another, called alike but for capitals"})
    plain = "student,time\nada,2026-03-01 10:00:00 UTC\nADA,2026-03-09 10:00:00 UTC\n"
    collect(source, out / "2", LAB, times=listed(tmp_path / "t.csv", plain))
    assert stamps(out / "2") == {"ada": "2026-03-01 10:00:00 UTC", "ADA": "2026-03-09 10:00:00 UTC"}


def test_a_notebook_of_another_lab_is_said(tmp_path, out):
    from autograder.course.build import released_notebook

    text = nbformat.writes(released_notebook("06_positions"))
    done = collect(folder_of(tmp_path / "class", {f"ada/{LAB}.ipynb": text}), out, LAB)
    assert any(f"is a notebook of 06_positions, not of {LAB}" in note for note in done.notes)


def test_one_new_name_on_a_list_ends_nothing_and_another_courses_list_does(tmp_path, out, course_at):
    people = {102: ("bachbo", "Bach, Bo"), 103: ("kerncleo", "Kern, Cleo"), 104: ("batman", "Mint, Mallory")}
    source = zip_of(tmp_path / "z.zip", {f"{one}_{n}_9_{LAB}.ipynb": one for n, (one, _) in people.items()})
    other = {102: "Xenia X", 103: "Yoko Y", 104: "Batman"}
    for number, names in enumerate(({n: name for n, (_, name) in people.items()}, other)):
        roster = "\n".join(["student,name,canvas id", *(f's{n},"{name}",{n}' for n, name in names.items())])
        rows = [f'"{name}",{n},2026-03-01 10:00:00 UTC' for n, name in names.items()]
        times = listed(tmp_path / "t.csv", "\n".join(["name,user_id,submitted_at", *rows]))
        if number == 0:
            course_at("", roster)
            done = collect(source, out / "list", LAB)
            assert set(done.students) == {"s102", "s103", "batman_104"}
            said = "104 is “Mint, Mallory” on the class list and “batman” in the download"
            assert any(said in note for note in done.notes)
            course_at("")
            done = collect(source, out / "times", LAB, times=times)
            assert len(done.students) == 3 and done.without_time == ("batman_104",)
            assert any("Name in t.csv does not match" in note and "batman_104" in note for note in done.notes)
        else:
            with pytest.raises(UserError, match="is another assignment's or another course's"):
                collect(source, tmp_path / "other", LAB, times=times)
            course_at("", roster)
            done = collect(source, tmp_path / "other", LAB)
            assert done.students == ("bachbo_102", "kerncleo_103", "s104")


def test_whoever_is_called_like_what_a_list_calls_a_classmate_gives_her_no_time(tmp_path, out, course_at):
    """Canvas's report has names beside numbers, and a name may be a classmate's login or number: her time was his, and late."""
    roster = "student,name,email,id number,canvas id\nada,Ada Lovelace,ada@x.edu,i101,101\nmal,Mallory M,mal@x.edu,i104,104\n"
    course_at("", roster)
    for number, header in enumerate(("user_id,Student,submitted_at", "SIS Login ID,Student,submitted_at")):
        for name in ("i101", "ada", "ADA", "ada@x.edu", "Ada Lovelace", "lovelaceada_101"):
            files = {f"lovelaceada_101_9000_{LAB}.ipynb": "ada", f"{name}_104_9001_{LAB}.ipynb": "mal"}
            who = ("101", "104") if number == 0 else ("ada", "mal")
            rows = [
                f"{who[0]},Ada Lovelace,2026-03-01 10:00:00 UTC",
                f"{who[1]},{name},2026-03-09 10:00:00 UTC",
            ]
            times = listed(tmp_path / "t.csv", "\n".join([header, *rows]))
            submitted = out / f"{number}-{name}"
            collect(zip_of(tmp_path / "c.zip", dict(files)), submitted, LAB, times=times)
            assert stamps(submitted)["ada"] == "2026-03-01 10:00:00 UTC", name


def test_wherever_collecting_is_stopped_a_new_notebook_has_no_earlier_ones_time(tmp_path, out, monkeypatch):
    module = importlib.import_module("autograder.collect.placing")
    whole, left = module.write_atomically, 0

    def stopped(path: Path, content: str | bytes) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise UserError("the disk is full")
        whole(path, content)

    rows = [f"{number},2026-03-01T10:00:00Z" for number in (4711, 4712)]
    times = listed(tmp_path / "t.csv", "\n".join(["user_id,submitted_at", *rows]))
    for stop in range(1, 6):
        submitted = out / str(stop)
        collect(zip_of(tmp_path / "1.zip", dict(CANVAS)), submitted, LAB, times=times)
        assert len(stamps(submitted)) == 2
        later = zip_of(tmp_path / "2.zip", {name: f"{text} again" for name, text in CANVAS.items()})
        left = stop
        monkeypatch.setattr(module, "write_atomically", stopped)
        with contextlib.suppress(UserError):
            collect(later, submitted, LAB)
        monkeypatch.setattr(module, "write_atomically", whole)
        done = collect(later, submitted, LAB)
        assert stamps(submitted) == {} and len(done.without_time) == 2


def test_repositories_are_refused_unless_their_folders_are_called_like_the_students(tmp_path, out):
    """Whoever owns a repository may rename it: its name takes no classmate's place."""
    clones = folder_of(tmp_path / "c", {f"lab-{who}/{LAB}.ipynb": who for who in ("ada", "bo")})
    (clones / "lab-ada" / ".git").mkdir()
    (clones / "lab-bo" / ".github").mkdir()
    (clones / "lab-bo" / ".github" / "classroom.yml").touch()
    with pytest.raises(UserError, match="fetch them with `autograder github pull`, or give --kind plain"):
        collect(clones, out, LAB)
    assert collect(clones, out / "plain", LAB, kind="plain").students == ("lab-ada", "lab-bo")


def test_an_extension_of_whom_two_accounts_may_be_is_both_and_that_is_said(tmp_path, course_at):
    """It is hers, and nobody can say here who she is."""
    roster = "student,name,username,extension\nada-gh,Ada A,ada1,30\nbo-gh,Bo B,bo1,\nmal-gh,Mal M,mal1,\n"
    course_at("", roster)
    names, longer = ("ada-gh", "bo-gh", "ada1"), timedelta(days=30)
    assert [policy_file.extension_of(LAB, who) for who in names] == [longer, None, longer]
    results = [SubmissionResult(who, LAB, "graded", 0.0, 1.0, 0.0, ()) for who in names]
    [sentence] = [one for one in remarks(LAB, results, {}) if "seem to be" in one]
    assert "ada-gh, ada1 all seem to be ada-gh" in sentence and "have that student's extension" in sentence
    assert set(policy_file.class_list().of_folders(names)) == {"bo-gh"}
