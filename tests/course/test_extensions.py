"""Extensions that were given while the course ran: found again under any name, and never a formula in a spreadsheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course import extensions
from autograder.course.policy_file import names_of_student
from autograder.errors import UserError

LAB = "00_warm_up"


def days_of(file: Path, student: str) -> float | None:
    """What the file gives a student: the last of the lines that mean them."""
    given = extensions.granted(file, LAB)
    names = names_of_student(given, student)
    return given[names[-1]] if names else None


@pytest.mark.parametrize("student", ["ada", "=HYPERLINK(1)", "@eve", "-1+1", "a;=b", "o'brien"])
def test_an_extension_is_found_again_and_is_no_formula(tmp_path, student):
    file = tmp_path / "extensions.csv"
    for days in (2, 0.00001, 1 / 3, 3.9993055555555554, 366):
        extensions.add(file, LAB, student, days)
        assert days <= days_of(file, student) == pytest.approx(days, rel=1e-4), "a moment less costs a day"
    assert days_of(file, "somebody else") is None
    cell = file.read_text().splitlines()[-1].split(",")[1].strip('"')
    assert cell[0] not in "=+-@" and ";=" not in cell
    file.write_text(f"lab,student,days\n{LAB},@eve,1\n")  # as nobody but a person writes it
    assert days_of(file, "@eve") == 1
    extensions.add(file, LAB, "@eve", 3)
    assert days_of(file, "@eve") == 3


@pytest.mark.parametrize(
    "content",
    [
        b"lab,student,days\n00,ada,1",  # no line end, and the lab by its number
        "lab;student;days\r\n00_warm_up;ada;1,0\r\n\r\n".encode("utf-8-sig"),
        "Lab\tStudent\tDays\r\n0\tada\t1\r\n".encode("utf-16"),
        "lab,student,days,why\n00,ada,1,ill\n00,jürgen,2,\n".encode("cp1252"),
    ],
)
def test_a_list_that_a_spreadsheet_has_saved_is_read_and_made_longer(tmp_path, content):
    file = tmp_path / "extensions.csv"
    file.write_bytes(content)
    assert days_of(file, "ada") == 1
    extensions.add(file, LAB, "bo", 2)
    assert [days_of(file, student) for student in ("ada", "bo")] == [1, 2]


def test_what_others_wrote_into_the_list_stays(tmp_path):
    """Reasons, who gave it, a link to a list that is shared, and who may read it."""
    shared = tmp_path / "shared.csv"
    shared.write_text(f'Lab,student,days,reason,by\n{LAB},ada,7,"ill, until May",Prof. X\n')
    shared.chmod(0o640)
    file = tmp_path / "extensions.csv"
    file.symlink_to(shared)
    extensions.add(file, LAB, "bo", 2)
    lines = shared.read_text().splitlines()
    assert lines == ["Lab,student,days,reason,by", f'{LAB},ada,7,"ill, until May",Prof. X', f"{LAB},bo,2,,"]
    assert file.is_symlink() and shared.stat().st_mode & 0o777 == 0o640
    assert days_of(file, "bo") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["extensions.csv", "shared.csv"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("00,ada,1\n", "The first row"),
        ("lab,student,days\n99,ada,1\n", "There is no lab “99”"),
        ("lab,student,days\n00,ada,nan\n", "Row 2"),
        ("lab,student,days\n00,,1\n", "Row 2"),
        ("lab,student,days\n00,ada\n", "Row 2"),
        ("", "is empty"),
    ],
)
def test_a_list_that_says_something_else_is_refused_in_a_sentence_and_left_as_it_is(tmp_path, content, said):
    file = tmp_path / "extensions.csv"
    file.write_text(content)
    with pytest.raises(UserError, match=said):
        days_of(file, "ada")
    with pytest.raises(UserError, match=said):
        extensions.add(file, LAB, "ada", 1)
    assert file.read_text() == content
