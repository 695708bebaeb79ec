"""Extensions that were given while the course ran: found again under any name, and never a formula in a spreadsheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course import extensions

LAB = "00_warm_up"


@pytest.mark.parametrize("student", ["ada", "=HYPERLINK(1)", "@eve", "-1+1", "a;=b", "o'brien"])
def test_an_extension_is_found_again_and_is_no_formula(tmp_path: Path, student: str) -> None:
    file = tmp_path / "extensions.csv"
    extensions.add(file, LAB, student, 2)
    assert extensions.granted(file, LAB, student) == 2
    assert extensions.granted(file, LAB, "somebody else") is None
    [_, line] = file.read_text().splitlines()
    cell = line.split(",")[1].strip('"')
    assert cell[0] not in "=+-@" and ";=" not in cell


def test_the_last_line_holds_also_where_an_earlier_one_was_written_plainly(tmp_path: Path) -> None:
    file = tmp_path / "extensions.csv"
    file.write_text(f"lab,student,days\n{LAB},@eve,1\n")
    assert extensions.granted(file, LAB, "@eve") == 1
    extensions.add(file, LAB, "@eve", 3)
    assert extensions.granted(file, LAB, "@eve") == 3
