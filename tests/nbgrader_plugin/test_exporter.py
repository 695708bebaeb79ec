"""nbgrader's own Autograde grades in the sandbox, as ``autograder grade`` does, and Generate Feedback writes this harness's pages."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import course_root, solution
from autograder.course.policy_file import spec
from autograder.errors import UserError
from autograder.nbgrader_plugin import exporter
from autograder.nbgrader_plugin.score_in_kernel import score
from autograder.run.recorder import SECRET, secret_of
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB, WRONG, environment, hand_in

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

HOSTILE = """
import contextlib, pathlib
for place in ({places}):
    with contextlib.suppress(OSError):
        pathlib.Path(place, "owned").write_text("x")
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, frozen: Path) -> Path:
    """A course folder with this project's nbgrader configuration; its class, a hostile student in it, is graded by nbgrader."""
    folder = tmp_path_factory.mktemp("nbgrader")
    shutil.copy(course_root() / "nbgrader_config.py", folder)
    shutil.copytree(frozen / "solutions" / LAB, folder / "solutions" / LAB)
    submitted = folder / "submitted"
    for student, answers in (("ada", {}), ("bo", WRONG), ("torn", "{")):
        hand_in(submitted, student, answers)
    notebook = answered(LAB, {})
    places = f"{str(folder)!r}, {str(frozen)!r}"
    notebook.cells.insert(1, nbformat.v4.new_code_cell(HOSTILE.format(places=places)))
    hand_in(submitted, "eve", nbformat.writes(notebook))
    (submitted / "bo" / LAB / "timestamp.txt").write_text("2026-10-04 12:00:00 UTC\n")
    for words in (("generate_assignment", LAB, "--create"), ("autograde", LAB)):
        run(folder, frozen, "-m", "nbgrader", *words)
    return folder


def run(course: Path, frozen: Path, *words: str) -> str:
    """What Python prints with these words in the course's folder."""
    own = environment(frozen, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    command = [sys.executable, "-P", *words]
    done = subprocess.run(command, cwd=course, env=own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def scores(folder: Path) -> dict[tuple[str, str], tuple]:
    """(student, cell) -> what the gradebook says."""
    with sqlite3.connect(folder / "gradebook.db") as database:
        rows = database.execute(
            "SELECT a.student_id, b.name, g.auto_score, g.needs_manual_grade FROM grade g "
            "JOIN base_cell b ON b.id = g.cell_id JOIN submitted_notebook n ON n.id = g.notebook_id "
            "JOIN submitted_assignment a ON a.id = n.assignment_id"
        ).fetchall()
    return {(student, cell): tuple(rest) for student, cell, *rest in rows}


def total(folder: Path, student: str) -> float:
    return sum(points or 0.0 for (who, _), (points, _) in scores(folder).items() if who == student)


def test_the_command_gives_the_scores_of_autograder_grade_and_hostile_code_gets_nothing(
    course, frozen, graded_class
):
    ours = scores(graded_class / "out")
    assert {key: row for key, row in scores(course).items() if key[0] in ("ada", "bo")} == {
        key: row for key, row in ours.items() if key[0] != "cleo"
    }
    assert [total(course, who) > 0 for who in ("ada", "bo", "eve", "torn")] == [True, True, False, False]
    assert list(course.rglob("owned")) == list(frozen.rglob("owned")) == []
    for student in ("ada", "bo"):
        place = Path("autograded", student, LAB, f"{LAB}.ipynb")
        assert (course / place).read_text() == (graded_class / "out" / place).read_text()
    assert "could not be read" in (course / "autograded" / "torn" / LAB / f"{LAB}.ipynb").read_text()
    assert (course / "notebooks" / LAB / f"{LAB}.ipynb").is_file()
    for folder in ("notebooks", "autograded"):
        assert list((course / folder).rglob("*.py")) == [], "a master's text goes nowhere"


BUTTON = """
import json, os, sys
from traitlets.config import PyFileConfigLoader
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

config = PyFileConfigLoader("nbgrader_config.py", path=os.getcwd()).load_config()
config.CourseDirectory.root = os.getcwd()
api = NbGraderAPI(CourseDirectory(config=config), config=config)
done = api.autograde(sys.argv[1], sys.argv[2])
print(json.dumps([done, "torch" in sys.modules]))
"""


def test_formgraders_button_grades_one_student_and_keeps_what_people_entered(course, frozen):
    with sqlite3.connect(course / "gradebook.db") as database:
        database.execute("UPDATE grade SET manual_score = 1.5 WHERE auto_score IS NULL")
    hand_in(course / "submitted", "bo", {})
    said = run(course, frozen, "-c", BUTTON, LAB, "bo")
    result, torch = json.loads(said.splitlines()[-1])
    assert result["success"], result
    assert "bo: graded, 20 of 20 points" in result["log"]
    assert not torch, "the server's process runs neither tests nor students' code"
    assert total(course, "bo") == 20
    with sqlite3.connect(course / "gradebook.db") as database:
        assert database.execute("SELECT COUNT(*) FROM grade WHERE manual_score = 1.5").fetchone()[0] >= 2


def test_where_grading_is_refused_nbgrader_hears_why_and_it_is_not_tried_again(monkeypatch, tmp_path):
    asked = []

    def refused(*words, **_):
        asked.append(words)
        return SimpleNamespace(returncode=2, stdout="", stderr="No sandbox can be had here.")

    monkeypatch.setattr(exporter.subprocess, "run", refused)
    monkeypatch.setattr(exporter, "_places", lambda *_: (tmp_path, tmp_path))
    ours = exporter.IsolatedExporter()
    for student in ("ada", "bo"):
        with pytest.raises(UserError, match="No sandbox can be had here"):
            ours._grade(LAB, [student])
    assert len(asked) == 1


def test_the_page_says_what_grading_said_and_its_secret_lies_beside_it(graded):
    out, autograded = graded / "out", graded / "out" / "autograded" / "bo" / LAB
    page = out / "feedback" / "bo" / LAB / f"{LAB}.html"
    (autograded / SECRET).write_text("a1b2")
    converter = SimpleNamespace(
        coursedir=SimpleNamespace(root=str(out)),
        _format_dest=lambda lab, student: str(page.parent),
        _format_source=lambda lab, student: str(autograded),
    )
    ours = exporter.FeedbackExporter()
    total = re.compile(r'<div class="total">.*?</div>')
    made, wrote = ours.content(converter, LAB, "bo"), page.read_text(encoding="utf-8")
    assert "Feedback for <bdi>bo</bdi>" in made and total.search(made)[0] == total.search(wrote)[0]
    assert page.with_name(SECRET).read_text() == "a1b2"
    with pytest.raises(UserError, match="run Autograde first"):
        ours.content(converter, LAB, "nobody")


def test_what_the_cards_said_outlives_scoring_in_the_kernel():
    from coursekit.notebook.verdict import Verdict, last_verdicts

    lab, question = "00_warm_up", "one_hot"
    names = dict(solution(lab))
    solution.cache_clear()  # as in a new kernel, where the first score runs the master
    last_verdicts[question] = Verdict(question, ())
    assert score(lab, question, names) == dict(spec(lab).questions)[question]
    assert question in last_verdicts
    last_verdicts.clear()


def test_a_secret_is_read_as_it_stands_and_made_where_there_is_none(tmp_path):
    place, other = tmp_path / SECRET, tmp_path / "other"
    other.write_text("a classmate's")
    made = secret_of(LAB, "ada", None)
    assert len(made) == 64 and made != secret_of(LAB, "bo", None)
    for put, *words in (
        (Path.unlink, True), (Path.write_text, ""), (Path.write_text, "x" * 5000), (Path.symlink_to, other), (os.mkfifo,),
    ):  # fmt: skip
        put(place, *words)
        assert secret_of(LAB, "ada", tmp_path) == made
        place.unlink(missing_ok=True)
    place.write_text("a1b2")
    assert secret_of(LAB, "ada", tmp_path) == "a1b2"
