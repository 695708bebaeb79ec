"""Feedback goes back through nbgrader's exchange, and Generate Feedback writes this harness's pages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course.masters import course_root
from autograder.run.exchange_files import SECRET, secret_of
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB, WRONG, command, environment, hand_in

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]


def nbgrader(folder: Path, frozen: Path, *words: str) -> str:
    """Run nbgrader's command in a folder; what it logged."""
    programs = Path(sys.executable).parent
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "nbgrader", *words, "--course=c"],
        cwd=folder, env=environment(frozen, PATH=path, HOME=str(folder)), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, frozen: Path) -> tuple[Path, Path]:
    """A teacher's and a student's folder; the student fetched, worked and submitted, another handed in without the exchange."""
    teacher, student, exchange = (
        tmp_path_factory.mktemp(name) for name in ("teacher", "student", "exchange")
    )
    exchange.chmod(0o777)
    config = (course_root() / "nbgrader_config.py").read_text()
    (teacher / "nbgrader_config.py").write_text(f"{config}\nc.Exchange.root = {str(exchange)!r}\n")
    (student / "nbgrader_config.py").write_text(f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\n")
    shutil.copytree(frozen / "solutions" / LAB, teacher / "solutions" / LAB)
    nbgrader(teacher, frozen, "generate_assignment", LAB, "--create")
    nbgrader(teacher, frozen, "release_assignment", LAB)
    nbgrader(student, frozen, "fetch_assignment", LAB)
    work = hand_in(student, "work", WRONG)
    shutil.copy(work, student / LAB / f"{LAB}.ipynb")
    nbgrader(student, frozen, "submit", LAB)
    nbgrader(teacher, frozen, "collect", LAB)
    hand_in(teacher / "submitted", "by mail", {})
    done = command(
        "grade", LAB, "--submitted", teacher / "submitted", "--out", teacher, "--jobs", 1, root=frozen
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return teacher, student


def test_the_page_that_a_student_fetches_is_ours(course, frozen):
    teacher, student = course
    nbgrader(teacher, frozen, "release_feedback", LAB)
    nbgrader(student, frozen, "fetch_feedback", LAB)
    [fetched] = student.rglob("feedback/**/*.html")
    [who] = [folder.name for folder in (teacher / "submitted").iterdir() if folder.name != "by mail"]
    ours = teacher / "feedback" / who / LAB / f"{LAB}.html"
    assert fetched.read_text() == ours.read_text()
    assert f"Feedback for <bdi>{who}</bdi>" in fetched.read_text()


def test_generate_feedback_writes_our_page_again(course, frozen):
    teacher, _ = course
    [who] = [folder.name for folder in (teacher / "submitted").iterdir() if folder.name != "by mail"]
    page = teacher / "feedback" / who / LAB / f"{LAB}.html"
    before = page.read_text()
    page.write_text("nbgrader's")
    nbgrader(teacher, frozen, "generate_feedback", LAB, "--force")
    assert page.read_text() == before
    secret = (teacher / "submitted" / who / LAB / SECRET).read_text()
    assert page.with_name(SECRET).read_text() == secret
    nbgrader(teacher, frozen, "release_feedback", LAB)


def test_a_secret_is_read_as_it_stands_and_made_where_there_is_none(tmp_path):
    (tmp_path / SECRET).write_text("a1b2")
    assert secret_of(LAB, "ada", tmp_path) == "a1b2"
    made = secret_of(LAB, "ada", None)
    assert len(made) == 64 and made == secret_of(LAB, "ada", tmp_path / "nowhere") != secret_of(
        LAB, "bo", None
    )


@pytest.mark.parametrize("hostile", ["link", "empty", "long", "fifo"])
def test_a_secret_that_is_none_is_replaced(tmp_path, hostile):
    place = tmp_path / SECRET
    if hostile == "link":
        (tmp_path / "other").write_text("a classmate's")
        place.symlink_to(tmp_path / "other")
    elif hostile == "fifo":
        os.mkfifo(place)
    else:
        place.write_text("" if hostile == "empty" else "x" * 5000)
    assert secret_of(LAB, "ada", tmp_path) == secret_of(LAB, "ada", None)
