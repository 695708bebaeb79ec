"""What a teacher's commands make in this repository, git does not take: submissions, grades, names, the salt."""

from __future__ import annotations

import re
import subprocess

from autograder.course.masters import course_root

ROOT = course_root()
PAGES = ("README.md", "docs/run_a_course.md", "docs/live_class.md")
_MADE = re.compile(r"(?:--(?:out|submitted|times|roster|volume)|autograder collect) \"?(?:\$PWD/)?([\w.-]+)")


def made() -> set[str]:
    """The files and folders that the pages' commands name, relative to this repository."""
    blocks = [
        block
        for page in PAGES
        for block in re.findall(
            r"^```\w*\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        )
    ]
    return {name for block in blocks for name in _MADE.findall(block)}


def ignored(name: str) -> bool:
    """Whether git leaves it out."""
    words = ["git", "check-ignore", "--quiet", "--no-index", name]
    return subprocess.run(words, cwd=ROOT, check=False).returncode == 0


def test_the_pages_name_what_this_test_looks_for():
    assert {
        "to_students",
        "submitted",
        "graded",
        "submissions.zip",
        "worksheet.csv",
        "class",
        "our-course",
    } <= made()


def test_git_leaves_out_what_the_pages_commands_make_the_salt_and_the_lists_of_people():
    lists = {
        ".course-salt",
        ".moodle-token",
        ".canvas-token",
        ".lti-key.pem",
        "roster.csv",
        "extensions.csv",
        "gradebook.db",
        "gradebook.db-journal",
    }
    names = {name if "." in name else f"{name}/inside" for name in made()} | lists
    assert [name for name in sorted(names) if not ignored(name)] == []


def test_git_takes_the_course_itself():
    for name in ("course.toml", "solutions/01_markov_bigram/01_markov_bigram.py", "data/names.txt"):
        assert (ROOT / name).exists() and not ignored(name)
