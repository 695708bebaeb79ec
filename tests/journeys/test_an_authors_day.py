"""A lecturer adds a lab with docs/write_a_lab.md alone: the page's files, then the page's commands, which print what it says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.fixtures.example_lab import LAB, PAGE, write_example
from tests.fixtures.frozen_course import environment, freeze, unhurried

ROOT = PAGE.parents[1]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = unhurried(write_example(freeze(tmp_path_factory.mktemp("author"))))
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, root / name)
    return root


def _run(words, root):
    """The exit status of a command of the page, run in the course's folder, and what it prints."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "autograder.cli", *words[1:]],
        cwd=root, env=environment(root), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def _steps():
    """(words of a command, the lines that the page shows below it), in the page's order."""
    [text] = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for step in text.split("$ ")[1:]:
        command, *lines = step.splitlines()
        yield shlex.split(command), lines


def test_the_pages_lab_goes_from_its_files_to_a_graded_class_and_prints_what_the_page_says(course):
    for words, lines in _steps():
        status, output = _run(words, course)
        assert status == 0, output
        for line in lines:
            assert line in output, (words, output)
    results = json.loads((course / "build" / "class" / "results.json").read_text())
    assert len(results) == 5 and {result["lab"] for result in results} == {LAB}
    named = {question["misconception"] for result in results for question in result["questions"]}
    assert "one number for the whole table" in named
    released = (course / "build" / "release" / LAB / f"{LAB}.ipynb").read_text(encoding="utf-8")
    assert (
        "YOUR CODE HERE" in released and "BEGIN SOLUTION" not in released and "BEGIN HIDDEN" not in released
    )


def test_a_new_lab_builds_at_once_and_its_audit_passes_or_says_what_is_unfinished(course):
    words = "new-lab 15_topic --questions shares:8,other:12", "build 15", "audit 15"
    said = [_run(["autograder", *command.split()], course) for command in words]
    assert [status for status, _ in said] == [0, 0, 2], said
    handed_in = course / "submitted" / "ada" / "15_topic" / "15_topic.ipynb"
    handed_in.parent.mkdir(parents=True)
    shutil.copy(course / "notebooks" / "15_topic" / "15_topic.ipynb", handed_in)
    said.append(_run(["autograder", "grade", "15", "--submitted", "submitted", "--out", "out"], course))
    for status, output in said[2:]:
        assert status == 2 and "“other”: it has no misconception, no alternative" in output
    for command in ("new-lab 16_shares --questions shares:20", "build 16", "audit 16"):
        status, output = _run(["autograder", *command.split()], course)
        assert status == 0, (command, output)
