"""What is unsound in a lab is refused in a sentence: planted faults in the docs' example lab, and a new lab's stubs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from autograder.cli.app import app
from autograder.course import masters
from autograder.course.masters import all_labs
from autograder.course.new_lab import new_lab, parse_questions
from autograder.course.soundness import faults_of, require_sound
from autograder.course.student_files import data_files
from autograder.errors import UserError
from tests.fixtures.example_lab import LAB, example_files, write_example

#: The name of a lab that ``new_lab`` writes.
NEW = "15_shares"
MASTER = f"solutions/{LAB}/{LAB}.py"
ENTROPY = f"autograder/questions/m{LAB}/entropy.py"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The folder of a course without a lab."""
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    masters.course_header.cache_clear()
    yield tmp_path
    masters.course_header.cache_clear()


@pytest.fixture
def planted(root):
    """``planted(file, old, new)`` writes the example with one change, and gives the sentences about it."""
    (root / "data").mkdir()
    (root / "data" / "names.txt").touch()

    def plant(file: str, old: str | None = None, new: str = "") -> list[str]:
        text = example_files()[file]
        assert old is None or old in text, "the fault cannot be planted: the page has changed"
        (root / file).unlink(missing_ok=True)
        write_example(root, {file: None if old is None else text.replace(old, new, 1)})
        masters.course_header.cache_clear()
        return faults_of(LAB)

    return plant


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
    planted(MASTER, '# %% test="entropy" points=12\ncheck("entropy", entropy)\n', "")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, UserError) and 'no cell test="entropy"' in str(done.exception)
    assert sorted(tmp_path.rglob("*")) == before


def test_data_that_are_none_are_named(planted):
    for data, sentence in ("[name.txt]", "which is not in data"), ("names.txt", r"write data: \[names.txt\]"):
        planted(MASTER, "#     minutes: 20\n", f"#     data: {data}\n")
        with pytest.raises(UserError, match=sentence):
            data_files(LAB)


def test_all_that_is_unsound_in_a_new_lab_is_what_is_unfinished(root):
    new_lab(NEW, parse_questions("shares:8,other:12"))
    [fault] = faults_of(NEW)
    assert "“other”: it has no misconception, no alternative" in fault
    assert require_sound([NEW], unfinished=True) == [fault]
    with pytest.raises(UserError, match="it has no misconception"):
        require_sound([NEW])
    new_lab("16_whole", {"shares": 20})
    assert faults_of("16_whole") == []


def test_a_file_that_is_there_is_left_alone(root):
    new_lab(NEW, {"shares": 20})
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
    refused["entropy:8,other:11"] = "add up to 19 and not to 20"
    refused["entropy:8,entropy:12"] = "in the list twice"
    for questions, sentence in refused.items():
        with pytest.raises(UserError, match=sentence):
            parse_questions(questions)
    for name in ("topic", "14-topic", "14_Topic", "../14_topic"):
        with pytest.raises(UserError, match="is no name for a lab"):
            new_lab(name, {"shares": 20})
