"""What leaves the checkout: git takes nothing that a teacher's commands make, and a wheel every file that is no module."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest

from autograder.course.masters import course_root
from autograder.course.student_files import files_below

ROOT = course_root()
_MADE = re.compile(r"(?:--(?:out|submitted|times|roster|volume)|autograder collect) \"?(?:\$PWD/)?([\w.-]+)")
KEPT = ("course.toml", "solutions/01_markov_bigram/01_markov_bigram.py", "data/names.txt")
SECRETS = (
    ".course-salt", ".moodle-token", ".canvas-token", ".lti-key.pem",
    "roster.csv", "extensions.csv", "gradebook.db", "gradebook.db-journal",
)  # fmt: skip


def ignored(name: str) -> bool:
    """Whether git leaves it out."""
    words = ["git", "check-ignore", "--quiet", "--no-index", name]
    return subprocess.run(words, cwd=ROOT, check=False).returncode == 0


def test_git_leaves_out_what_the_pages_commands_make_the_salt_and_the_lists_of_people_and_takes_the_course():
    pages = ("README.md", "docs/run_a_course.md", "docs/live_class.md")
    text = "".join((ROOT / page).read_text() for page in pages)
    made = set(_MADE.findall("".join(re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))))
    assert {"to_students", "submitted", "graded", "submissions.zip", "our-course"} <= made
    names = {name if "." in name else f"{name}/inside" for name in made} | {*SECRETS}
    assert [name for name in sorted(names) if not ignored(name)] == []
    assert [name for name in KEPT if ignored(name) or not (ROOT / name).exists()] == []


@pytest.mark.parametrize("folder", ["autograder", "notebooks/coursekit"])
def test_a_wheel_holds_every_template_script_and_style(folder):
    files = {file for file in files_below(ROOT / folder) if file.suffix != ".py"}
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    for package, patterns in data.items():
        if package.split(".")[0] == (ROOT / folder).name:
            here = (ROOT / folder).parent.joinpath(*package.split("."))
            files.difference_update(file for pattern in patterns for file in here.glob(pattern))
    assert sorted(files) == []
