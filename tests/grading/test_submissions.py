"""Whoever has something in the class's folder has a row, whatever it is and wherever it leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.grading.submissions import collect, read

LAB = "01_markov_bigram"


@pytest.mark.parametrize("target", ["eve", "/nowhere", "a" * 300, "."])
def test_a_students_folder_that_is_a_link_costs_that_student_alone(tmp_path: Path, target: str) -> None:
    notebook = tmp_path / "ada" / LAB / f"{LAB}.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text("{}")
    (tmp_path / "eve").symlink_to(target)
    (tmp_path / "list.csv").write_text("ada\n")
    (tmp_path / "a list elsewhere").symlink_to("list.csv")
    ada, eve = collect(tmp_path, LAB)
    assert (ada.student, ada.path, ada.notes) == ("ada", notebook, ())
    assert eve.student == "eve" and eve.notes == ("The student's folder is a link to another.",)
    assert read(eve, LAB).raw is None and read(eve, LAB).trouble
