"""An imported notebook gives what stock nbgrader gives, cell by cell, on the same submissions (how fast: ``bench_grading``).

``nbgrader_scores.json`` records what nbgrader gives, and its version. ``make proof`` asks nbgrader again.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.course import policy_file
from autograder.course.masters import course_root
from autograder.importing.bring_in import import_notebook
from autograder.results import SubmissionResult
from autograder.run.pipeline import run
from tests.fixtures.frozen_course import command
from tests.fixtures.nbgrader_course import (
    SUBMISSIONS,
    answer,
    cell,
    checking,
    copy_examples,
    hand_in,
    notebook,
    source_notebook,
    stock_scores,
    submitted,
)

LIMITS = "[limits]\ncell_seconds = 2\ncall_seconds = 2\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a course without a lab."""
    root = tmp_path_factory.mktemp("importing")
    shutil.copytree(course_root() / "notebooks" / "coursekit", root / "notebooks" / "coursekit")
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(course_root() / name, root)
    (root / "course.toml").write_text(LIMITS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_ROOT", str(root))
        policy_file.use(None)
        yield root
    policy_file.use(None)


def reasons(path: Path, lab: str) -> dict[str, str]:
    """Import a notebook: test cell -> why it stays beside the student's code ("" for one that became a hidden test)."""
    return {cell.grade_id: cell.reason for cell in import_notebook(path, lab).cells}


def graded(lab: str, folder: Path) -> dict[str, SubmissionResult]:
    """student -> result."""
    done = run(lab, folder / "submitted", folder / "out", jobs=1)
    return {result.student: result for result in done.results}


def scores(results: dict[str, SubmissionResult]) -> dict[str, dict[str, float]]:
    """student -> cell -> points."""
    return {student: {q.name: q.points for q in result.questions} for student, result in results.items()}


CODE = tomllib.loads(Path(__file__).with_name("answers.toml").read_text(encoding="utf-8"))


def write_source(folder: Path, assignment: str, name: str, made) -> Path:
    path = folder / "source" / assignment / f"{name}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(made, path)
    return path


def means(folder: Path) -> None:
    made = source_notebook()
    write_source(folder, "hw", "means", made)
    for student, answers in SUBMISSIONS.items():
        hand_in(folder, student, "hw", "means", submitted(made, answers))


def examples(folder: Path) -> None:
    copy_examples(folder)
    made = nbformat.read(folder / "submitted" / "hacker" / "ps1" / "problem1.ipynb", as_version=4)
    for student, code in CODE["squares"].items():
        hand_in(folder, student, "ps1", "problem1", submitted(made, {"squares": code}))


def autotests(folder: Path) -> None:
    copy_examples(folder, "ps1_autotest")
    made = nbformat.read(folder / "source" / "ps1_autotest" / "problem1.ipynb", as_version=4)
    for student, answers in {"right": {}, "wrong": {"squares": CODE["squares"]["wrong"]}}.items():
        hand_in(folder, student, "ps1_autotest", "problem1", submitted(made, answers))


#: Courses: what writes its source and its submissions, assignment and notebook, and the test cells that stay in the notebook.
COURSES = {
    "20_means": (means, "hw", "means", {"squares_uses_no_loop_over_mean", "squares_share", "account_pays"}),
    "21_examples": (examples, "ps1", "problem1", {"sum_of_squares_uses_squares"}),
    "23_autotests": (autotests, "ps1_autotest", "problem1", {"sum_of_squares_uses_squares"}),
}
SCORES = json.loads(Path(__file__).with_name("nbgrader_scores.json").read_text())


@pytest.mark.parametrize("lab", COURSES)
def test_every_kind_of_answer_gets_what_nbgrader_gives_cell_by_cell(course, tmp_path, lab):
    write, assignment, name, stay = COURSES[lab]
    write(tmp_path)
    found = reasons(tmp_path / "source" / assignment / f"{name}.ipynb", lab)
    assert {cell for cell, reason in found.items() if reason} == stay
    (tmp_path / "submitted" / "missing").mkdir()
    ours = scores(graded(lab, tmp_path))
    assert set(ours.pop("missing").values()) == {0}
    assert ours == SCORES[lab]


def test_the_recorded_scores_are_of_the_nbgrader_that_is_installed():
    assert importlib.metadata.version("nbgrader") == SCORES["nbgrader"]


@pytest.mark.proof  # they change with nbgrader's version, and every run looks at that
@pytest.mark.parametrize("lab", COURSES)
def test_the_recorded_scores_are_those_that_nbgrader_gives(tmp_path, lab):
    write, assignment, name, _ = COURSES[lab]
    write(tmp_path)
    stock = stock_scores(tmp_path, assignment, name)
    assert {
        student: {cell: points[cell] for cell in SCORES[lab][student]} for student, points in stock.items()
    } == SCORES[lab]


def test_files_beside_the_notebook_lie_beside_it_in_build_release_and_grading(course, tmp_path):
    made = notebook(
        [
            cell("code", 'numbers = [float(line) for line in open("numbers.txt")]\nmore = open("data/more.txt").read()'),
            answer("total", "def total(xs):\n    ### BEGIN SOLUTION\n    return sum(xs)\n    ### END SOLUTION"),
            checking("total_of_all", 3, "assert total(numbers) == 6\n### BEGIN HIDDEN TESTS\nassert more == '4'\n### END HIDDEN TESTS"),
        ]
    )  # fmt: skip
    path = write_source(tmp_path, "hw", "numbers", made)
    (path.parent / "numbers.txt").write_text("1\n2\n3\n")
    (path.parent / "data").mkdir()
    (path.parent / "data" / "more.txt").write_text("4")
    hand_in(tmp_path, "ada", "hw", "numbers", submitted(made, {}))
    for words in (
        ("import", path, "--name", "24_numbers"),
        ("grade", "24", "--submitted", tmp_path / "submitted", "--out", tmp_path / "out"),
        ("build", "24"),
        ("release", "24", "--out", tmp_path / "release"),
    ):
        done = command(*words, root=course)
        assert done.returncode == 0, done.stdout + done.stderr
    [row] = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [(q["name"], q["points"]) for q in row["questions"]] == [("total_of_all", 3)]
    executed = nbformat.read(tmp_path / "out/autograded/ada/24_numbers/24_numbers.ipynb", 4).cells
    assert not any(one.get("outputs") for one in executed), "a test cell keeps the outputs of its run: none"
    released = tmp_path / "release" / "24_numbers"
    files = {path.name for path in released.iterdir()}
    assert files == {"24_numbers.ipynb", "coursekit", "data", "numbers.txt"}
    assert (released / "data" / "more.txt").is_file()
    text = (released / "24_numbers.ipynb").read_text()
    assert "total(numbers)" in text
    assert not any(hidden in text for hidden in ("sum(xs)", "more == ", "kit.zip"))


def test_no_forger_gets_a_point_or_an_input_and_a_cell_that_ends_the_program_costs_its_own(course, tmp_path):
    ends, forgers, walls = CODE["ends"], CODE["forgers"], CODE["walls"]
    made = notebook(
        [
            cell("code", "import numpy as np"),
            *(answer(name, source) for name, source in walls["answers"].items()),
            *(checking(name, 1, source) for name, source in (walls["checks"] | ends).items()),
            answer("last", "'the end'"),
        ]
    )
    students = {"honest": {}, "wrong": {"f_sol": "def f(x):\n    return x + 2"}, **forgers}
    for student, answers in students.items():
        hand_in(tmp_path, student, "hw", "walls", submitted(made, answers))
    found = reasons(write_source(tmp_path, "hw", "walls", made), "25_walls")
    assert [cell for cell, reason in found.items() if reason] == ["by_interrupt"]
    ours, out = scores(graded("25_walls", tmp_path)), tmp_path / "out"
    lost = {student: {name for name in points if not points[name]} for student, points in ours.items()}
    forged = {who: {next(iter(answers)).replace("-cell", "_test")} for who, answers in forgers.items()}
    assert lost == {"honest": set(), "wrong": {*ends}, **forged, "puts_it_out": set()}
    pages = [file for file in out.rglob("*") if file.suffix in (".html", ".json", ".ipynb")]
    assert pages and not [file for file in pages if "77007" in file.read_text()]
    assert "it is []" in (out / "autograded" / "puts_it_out" / "25_walls" / "25_walls.ipynb").read_text()


GIVEN, AREA, AROUND = "SIDE = 2", "def area(a, b):\n    {}", "def around(a, b):\n    {}"
RIGHT = [AREA.format("return a * b"), AROUND.format("return 2 * (a + b)")]
CHECKS = ["assert area(SIDE, 3) == 6", "assert around(2, 3) == 10"]
#: Notebooks whose cells have lost their metadata.
WITHOUT_NAMES = {
    "no names": [GIVEN, RIGHT[0], CHECKS[0], RIGHT[1], CHECKS[1]],
    "answers alone": RIGHT,
    "name used again": [*RIGHT, "area = area(2, 3)"],
    "checks first": [*CHECKS, *RIGHT],
    "one wrong": [RIGHT[0], AROUND.format("return a + b")],
}


def test_right_answers_count_where_cells_have_lost_their_names_and_one_note_says_so(course, tmp_path):
    solved = "### BEGIN SOLUTION\n    {}\n    ### END SOLUTION"
    cells = [
        cell("code", GIVEN, "given", locked=True),
        answer("area", AREA.format(solved.format("return a * b"))),
        checking("t_area", 2, CHECKS[0]),
        answer("around", AROUND.format(solved.format("return 2 * (a + b)"))),
        checking("t_around", 2, CHECKS[1]),
    ]
    reasons(write_source(tmp_path, "ps", "geo", notebook(cells)), "27_geo")
    for student, codes in WITHOUT_NAMES.items():
        hand_in(tmp_path, student, "ps", "geo", notebook([cell("code", code) for code in codes]))
    results = graded("27_geo", tmp_path)
    points = dict.fromkeys(WITHOUT_NAMES, 4) | {"one wrong": 2}
    assert {student: result.score for student, result in results.items()} == points
    for result in results.values():
        notes = result.notes
        assert sum("had lost their names" in note for note in notes) == 1 and len(notes) <= 3, notes
