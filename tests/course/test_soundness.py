"""What is unsound in a lab is refused in a sentence: one planted fault after another in the docs' example lab."""

from __future__ import annotations

import tomllib
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.cli.app import app
from autograder.course import masters
from autograder.course.masters import all_labs
from autograder.course.soundness import faults_of, require_sound
from autograder.course.visible_files import data_files
from autograder.errors import UserError
from tests.fixtures.example_lab import LAB, example_files, write_example

MASTER = f"solutions/{LAB}/{LAB}.py"
QUESTIONS = f"autograder/questions/m{LAB}"
ENTROPY = f"{QUESTIONS}/entropy.py"


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """``planted(file, old, new)`` writes the example with one change, and gives the sentences about it."""
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    masters.course_header.cache_clear()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "names.txt").touch()

    def plant(file: str, old: str | None = None, new: str = "") -> list[str]:
        text = example_files()[file]
        assert old is None or old in text, "the fault cannot be planted: the page has changed"
        (tmp_path / file).unlink(missing_ok=True)
        write_example(tmp_path, {file: None if old is None else text.replace(old, new, 1)})
        masters.course_header.cache_clear()
        return faults_of(LAB)

    yield plant
    masters.course_header.cache_clear()


TEST_CELL = '# %% test="entropy" points=12\ncheck("entropy", entropy)\n'
HEADER = "#     minutes: 20\n"

#: file -> name of a fault -> what is planted, and what is said.
FAULTS = tomllib.loads(Path(__file__).with_name("planted_faults.toml").read_text(encoding="utf-8"))


def test_each_planted_fault_is_refused_in_a_sentence(planted):
    for file, faults in FAULTS.items():
        for name, fault in faults.items():
            said = planted(file, fault.get("old"), fault.get("new", ""))
            assert fault["says"] in "\n".join(said), name


def test_the_example_and_every_lab_are_sound(planted, monkeypatch):
    assert planted(MASTER, "", "") == []
    monkeypatch.delenv("COURSE_ROOT")
    masters.course_header.cache_clear()
    assert [fault for lab in all_labs() for fault in faults_of(lab)] == []


def test_all_faults_are_said_at_once_and_no_more_than_twenty(planted):
    text = example_files()[MASTER].replace('test="entropy" points=12', 'tst="entropy"')
    write_example(masters.course_root(), {MASTER: text, ENTROPY: None})
    with pytest.raises(UserError) as refused:
        require_sound([LAB])
    sentences = str(refused.value).splitlines()[1:]
    assert len(sentences) >= 4 and all(": " in sentence for sentence in sentences)
    marks = "".join(f'# %% locked="setup" option{i}=1\n0\n\n' for i in range(30))
    write_example(masters.course_root(), {MASTER: text + "\n" + marks})
    with pytest.raises(UserError, match=r"… and \d+ more"):
        require_sound([LAB])


def test_a_cell_that_needs_one_which_grading_skips_is_named(monkeypatch):
    cells = [
        nbformat.v4.new_code_cell("coin = 0.5", metadata={"tags": ["skip-grading"]}),
        nbformat.v4.new_code_cell("coin + 1", id="later"),
    ]
    monkeypatch.setattr(masters, "read_master", lambda lab: nbformat.v4.new_notebook(cells=cells))
    with pytest.raises(UserError, match=r"The cell later .* NameError: name 'coin' is not defined"):
        masters.solution.__wrapped__(LAB)


COMMANDS = (
    ["build", LAB], ["build", "--check", LAB], ["audit", LAB], ["release", LAB, "--out", "out"],
    ["simulate", LAB, "--out", "out"],
)  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_the_commands_refuse_a_fault_before_they_write(words, planted, tmp_path, monkeypatch):
    planted(MASTER, TEST_CELL, "")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, UserError) and 'no cell test="entropy"' in str(done.exception)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_question_without_its_parts_is_no_reason_not_to_build(planted):
    planted(ENTROPY)
    [note] = require_sound([LAB], unfinished=True)
    assert "it has no family of inputs and no scenario, no misconception, no alternative" in note
    with pytest.raises(UserError, match="it has no family"):
        require_sound([LAB])


def test_data_that_are_none_are_named(planted):
    for data, sentence in (
        ("[name.txt]", "name.txt, which is not in data"),
        ("names.txt", r"write data: \[names.txt\]"),
    ):
        planted(MASTER, HEADER, f"#     data: {data}\n")
        with pytest.raises(UserError, match=sentence):
            data_files(LAB)
