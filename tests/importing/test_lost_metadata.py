"""In an imported lab right answers count, also where the notebook's cells have lost their names or are all that is left."""

from __future__ import annotations

import json

import nbformat
import pytest

from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import command, freeze
from tests.fixtures.nbgrader_course import answer, cell, checking, notebook

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

SOLVED = "### BEGIN SOLUTION\n    {}\n    ### END SOLUTION"
AREA, AROUND = "def area(a, b):\n    {}", "def around(a, b):\n    {}"
RIGHT = [AREA.format("return a * b"), AROUND.format("return 2 * (a + b)")]
CHECKS = ["assert area(2, 3) == 6", "assert around(2, 3) == 10"]
NOTEBOOKS = {
    "no names": [RIGHT[0], CHECKS[0], RIGHT[1], CHECKS[1]],
    "answers alone": RIGHT,
    "name used again": [*RIGHT, "area = area(2, 3)"],
    "checks first": [*CHECKS, *RIGHT],
    "one wrong": [RIGHT[0], AROUND.format("return a + b")],
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lost")
    root = freeze(tmp_path_factory.mktemp("course"))
    source = folder / "source" / "ps" / "geo.ipynb"
    source.parent.mkdir(parents=True)
    cells = [
        answer("area", AREA.format(SOLVED.format("return a * b"))),
        checking("t_area", 2, CHECKS[0]),
        answer("around", AROUND.format(SOLVED.format("return 2 * (a + b)"))),
        checking("t_around", 2, CHECKS[1]),
    ]
    nbformat.write(notebook(cells), source)
    assert command("import", source, "--name", "20_geo", root=root).returncode == 0
    for student, codes in NOTEBOOKS.items():
        path = folder / "submitted" / student / "ps" / "geo.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook([cell("code", code) for code in codes]), path)
    done = command("grade", "20", "--submitted", folder / "submitted", "--out", folder / "out", root=root)
    assert done.returncode == 0, done.stdout + done.stderr
    return {row["student"]: row for row in json.loads((folder / "out" / "results.json").read_text())}


@pytest.mark.parametrize("student", NOTEBOOKS)
def test_an_answer_has_its_points_whatever_its_cell_lost(graded, student):
    assert graded[student]["score"] == (2.0 if student == "one wrong" else 4.0), graded[student]


@pytest.mark.parametrize("student", NOTEBOOKS)
def test_one_note_says_what_happened(graded, student):
    notes = graded[student]["notes"]
    assert sum("had lost their names" in note for note in notes) == 1 and len(notes) <= 3, notes
