"""Whoever has something in the class's folder has a row, whatever it is and wherever it leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import solution_sources
from autograder.errors import UserError
from autograder.grading.submissions import MISSING, _is_copy, find_submissions, read
from tests.fixtures.frozen_course import hand_in
from tests.grading.accidents import LAB, TEMPLATE, notebook, raw, stub


@pytest.mark.parametrize("target", ["eve", "/nowhere", "a" * 300, "."])
def test_a_students_folder_that_is_a_link_costs_that_student_alone(tmp_path: Path, target: str) -> None:
    notebook = tmp_path / "ada" / LAB / f"{LAB}.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text("{}")
    (tmp_path / "eve").symlink_to(target)
    (tmp_path / "list.csv").write_text("ada\n")
    (tmp_path / "a list elsewhere").symlink_to("list.csv")
    ada, eve = find_submissions(tmp_path, LAB)
    assert (ada.student, ada.path, ada.notes) == ("ada", notebook, ())
    assert eve.student == "eve" and eve.notes == ("The student's folder is a link to another.",)
    assert read(eve, LAB).raw is None and read(eve, LAB).trouble


def place(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("{}")
    return root


@pytest.mark.parametrize(
    ("path", "stamp"),
    [
        (f"{LAB.title()}/{LAB}.ipynb", f"{LAB.title()}/timestamp.txt"),
        (f"{LAB.title()}/{LAB.title()}.ipynb", f"{LAB.title()}/timestamp.txt"),
        (f"{LAB}/{LAB}/{LAB}.ipynb", f"{LAB}/timestamp.txt"),
        (f"{LAB}/work/my own.ipynb", f"{LAB}/timestamp.txt"),
        (f"{LAB}.ipynb", "timestamp.txt"),
    ],
)
def test_a_notebook_one_step_off_is_graded_and_it_is_said(tmp_path: Path, path: str, stamp: str) -> None:
    place(tmp_path, f"ada/{path}", "ada/06_positions/06_positions.ipynb")
    (tmp_path / "ada" / stamp).write_text("2026-10-01 12:00:00 UTC")
    [ada] = find_submissions(tmp_path, LAB)
    assert ada.path == tmp_path / "ada" / path and read(ada, LAB).raw == b"{}"
    assert ada.notes == (f"There was no {LAB}/{LAB}.ipynb; {path} was graded in its place.",)
    assert ada.submitted_at == "2026-10-01 12:00:00 UTC"


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([LAB], LAB),
        (["my own.ipynb"], "my own.ipynb"),
        ([f"{LAB}/answers.py", f"{LAB}/work.ipynb.gz"], f"{LAB}/answers.py, {LAB}/work.ipynb.gz"),
        ([f"{LAB}/a/x.ipynb", f"{LAB}/b/y.ipynb"], f"{LAB}/a/x.ipynb, {LAB}/b/y.ipynb"),
        ([f"{LAB}/a/{LAB}.ipynb", f"{LAB}/b/{LAB}.ipynb"], f"{LAB}/a/{LAB}.ipynb, {LAB}/b/{LAB}.ipynb"),
        ([f"{LAB}/a/b/c/d/e/{LAB}.ipynb"], f"{LAB}/a/b/c/d"),
    ],
)
def test_where_it_is_not_certain_what_is_meant_nothing_is_graded_and_a_note_names_what_lies_there(
    tmp_path: Path, paths: list[str], names: str
) -> None:
    place(tmp_path, *(f"ada/{path}" for path in paths), f"bo/{LAB}/{LAB}.ipynb")
    ada, _ = find_submissions(tmp_path, LAB)
    assert ada.path is None
    assert ada.notes == (f"There was no {LAB}/{LAB}.ipynb, and none that is surely meant by: {names}.",)
    assert read(ada, LAB).digest not in ("", MISSING), "an earlier run said something else"


def test_other_labs_are_nothing_to_say(tmp_path: Path) -> None:
    place(tmp_path, "ada/06_positions/06_positions.ipynb", f"bo/{LAB}/{LAB}.ipynb")
    ada, _ = find_submissions(tmp_path, LAB)
    assert (ada.path, ada.notes, read(ada, LAB).digest) == (None, (), MISSING)


def test_what_lies_beside_the_students_folders_is_a_row(tmp_path: Path) -> None:
    place(tmp_path, f"ada/{LAB}/{LAB}.ipynb", f".eve/{LAB}/{LAB}.ipynb", f"{LAB}.ipynb")
    place(tmp_path, "cy.ipynb", "ada.ipynb", "list.csv", ".git/HEAD")
    eve, ada, cy = find_submissions(tmp_path, LAB)
    assert (eve.student, eve.notes) == (".eve", ("The student's folder is a hidden one.",)) and eve.path
    said = f"lies beside the students' folders and was not graded: its place is %s/{LAB}/."
    assert ada.path and ada.notes == (f"ada.ipynb {said % 'ada'}",)
    assert (cy.student, cy.path, cy.notes) == ("cy", None, (f"cy.ipynb {said % 'cy'}",))


def test_where_nobody_has_a_notebook_the_first_that_lies_there_is_named(tmp_path: Path) -> None:
    place(tmp_path, "ada/my own.ipynb", "bo/readme.txt")
    with pytest.raises(UserError, match=r"holds a submission of .* ada: There was no .* my own.ipynb"):
        find_submissions(tmp_path, LAB)


TIMES = (
    ("2026-10-01 20:00:00", "2026-10-01 11:00:00 UTC", "names no zone: it was taken for Asia/Tokyo"),
    ("2026-10-01 20:00:00 JST", "2026-10-01 11:00:00 UTC", ""),
    ("2026-10-01 20:00:00.123456 UTC", "2026-10-01 20:00:00.123456 UTC", ""),
    *((text, "", "holds no valid time") for text in ("01/10/2026 10:00:00", "0001-01-01 00:00:00 +14:00")),
    *((f"2026-10-01 12:00:00 {zone}", "", "holds no valid time") for zone in ("UTC+3", "CET")),
)


def test_a_time_is_never_guessed(tmp_path: Path, course_at) -> None:
    course_at('timezone = "Asia/Tokyo"')
    place(tmp_path, f"ada/{LAB}/{LAB}.ipynb")
    for text, time, said in TIMES:
        (tmp_path / "ada" / LAB / "timestamp.txt").write_text(text)
        [ada] = find_submissions(tmp_path, LAB)
        assert ada.submitted_at == time, text
        assert (said in ada.notes[0]) if said else not ada.notes, text


def test_another_labs_notebook_in_the_folder_is_no_answer(tmp_path):
    other, untouched = "00_warm_up", notebook(*map(stub, [*TEMPLATE.names, *TEMPLATE.by_hand]))
    hand_in(tmp_path, "ada", raw(untouched).decode(), file=f"{LAB}.ipynb")
    hand_in(tmp_path, "ada", raw(answered(other, solution_sources(other))).decode(), file=f"{other}.ipynb")
    [ada] = find_submissions(tmp_path, LAB)
    assert ada.path is not None and ada.path.name == f"{LAB}.ipynb"


def test_a_copy_of_an_imported_labs_notebook_is_known_by_its_name():
    copies = ["geo-Copy1", "geo (2)", "geo - Kopie", "geo copy 2", "Geo-Copy1-Copy2"]
    others = ["geometry", "geo2", "geo-extra"]
    assert [name for name in (*copies, *others) if _is_copy(f"{name}.ipynb", "geo.ipynb")] == copies
