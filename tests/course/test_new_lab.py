"""A new lab's files: one question that is sound, and stubs that are named until they are written."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autograder.course import masters
from autograder.course.new_lab import new_lab, parse_questions
from autograder.course.soundness import faults_of, require_sound
from autograder.errors import UserError

LAB = "15_shares"


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    masters.course_header.cache_clear()
    yield tmp_path
    masters.course_header.cache_clear()


def test_all_that_is_unsound_in_a_new_lab_is_what_is_unfinished(root):
    new_lab(LAB, parse_questions("shares:8,other:12"))
    [fault] = faults_of(LAB)
    assert "“other”: it has no misconception, no alternative" in fault
    assert len(require_sound([LAB], unfinished=True)) == 1
    new_lab("16_whole", {"shares": 20})
    assert faults_of("16_whole") == []


def test_what_is_written_is_formatted(root):
    new_lab(LAB, {"shares": 8, "other": 6, "third": 6})
    words = ["-m", "ruff", "format", "--check", "--line-length", "110"]
    command = [sys.executable, *words, str(root / "autograder")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_file_that_is_there_is_left_alone(root):
    new_lab(LAB, {"shares": 20})
    before = {path: path.read_bytes() for path in root.rglob("*.py")}
    with pytest.raises(UserError, match="There is a lab 15_shares already"):
        new_lab("15_other", {"shares": 20})
    kept = root / "autograder" / "questions" / "m16_kept" / "shares.py"
    kept.parent.mkdir()
    kept.write_text("mine")
    with pytest.raises(UserError, match="is there already: nothing was written"):
        new_lab("16_kept", {"shares": 20})
    assert {path: path.read_bytes() for path in root.rglob("*.py")} == before | {kept: b"mine"}


def test_questions_and_names_that_cannot_be_are_refused(root):
    refused = dict.fromkeys(("entropy", "entropy:0,other:20", "en-tropy:20"), "no question with its points")
    for name in ("class", "print", "np", "_x", "e\u0301", "a" * 61):
        refused[f"{name}:20"] = "cannot be a question's name"
    refused |= {
        "entropy:8,other:11": "add up to 19 and not to 20",
        "entropy:8,entropy:12": "in the list twice",
    }
    for questions, sentence in refused.items():
        with pytest.raises(UserError, match=sentence):
            parse_questions(questions)
    for name in ("topic", "14-topic", "14_Topic", "../14_topic"):
        with pytest.raises(UserError, match="is no name for a lab"):
            new_lab(name, {"shares": 20})
