"""A lecturer adds a lab with docs/write_a_lab.md alone: the page's files, then the page's commands, which print what it says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys

from tests.fixtures.example_lab import LAB, PAGE, write_example
from tests.fixtures.frozen_course import environment, freeze, unhurried


def _steps():
    """(words of a command, the lines that the page shows below it), in the page's order."""
    [text] = re.findall(r"^```console\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for step in text.split("$ ")[1:]:
        command, *lines = step.splitlines()
        yield shlex.split(command), lines


def test_the_pages_lab_goes_from_its_files_to_a_graded_class_and_prints_what_the_page_says(tmp_path):
    course = unhurried(write_example(freeze(tmp_path / "course")))
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(PAGE.parents[1] / name, course / name)
    for words, lines in _steps():
        done = subprocess.run(
            [sys.executable, "-P", "-m", "autograder.cli", *words[1:]],
            cwd=course, env=environment(course), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert [line for line in lines if line not in done.stdout + done.stderr] == [], words
    results = json.loads((course / "build" / "class" / "results.json").read_text())
    assert len(results) == 5 and {result["lab"] for result in results} == {LAB}
    named = {question["misconception"] for result in results for question in result["questions"]}
    assert "one number for the whole table" in named
    released = (course / "build" / "release" / LAB / f"{LAB}.ipynb").read_text(encoding="utf-8")
    assert "YOUR CODE HERE" in released
    assert "BEGIN SOLUTION" not in released and "BEGIN HIDDEN" not in released
