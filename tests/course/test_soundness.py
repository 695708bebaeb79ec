"""What is unsound in a lab is refused in a sentence: one planted fault after another in the docs' example lab."""

from __future__ import annotations

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
        return [str(fault) for fault in faults_of(LAB)]

    yield plant
    masters.course_header.cache_clear()


TEST_CELL = '# %% test="entropy" points=12\ncheck("entropy", entropy)\n'
HEADER = "#     minutes: 20\n"

#: What is planted: the file, what stands there, what stands there instead; and the sentence, or its telling part.
FAULTS = {
    # the master: questions and their test cells
    "a test cell is missing": (MASTER, TEST_CELL, "", f'{MASTER}, line 56, cell question=“entropy”: no cell test="entropy" gives it points'),
    "points that do not add up": (MASTER, "points=12", "points=10", "add up to 18 and not to 20"),
    "a test of no question": (MASTER, 'test="entropy"', 'test="entropi"', "there is no question “entropi”; the nearest is “entropy”"),
    "a question that is misspelt": (MASTER, 'question="entropy"', 'question="entrpy"', "its solution does not define entrpy; the nearest is “entropy”"),
    "a test above its question": (MASTER, '# %% question="entropy"', TEST_CELL + '\n# %% question="entropy"', "it stands above its question"),
    "a test that has a written answer's name": (MASTER, 'written="why_fair"', 'written="test_entropy"', "has the name “test_entropy” already"),
    "no question at all": (MASTER, None, "", "the lab's master and its cells are not there"),
    # the master: cell options
    "a misspelt option": (MASTER, 'question="entropy"', 'qestion="entropy"', "there is no option “qestion”; the nearest is “question”"),
    "an unknown option": (MASTER, 'locked="setup"', 'locked="setup" collapsed=true', "there is no option “collapsed”"),
    "words among the options": (MASTER, '[markdown] written="why_fair"', '[markdwn] written="why_fair"', "“[markdwn]” is no option; the nearest is “[markdown]”"),
    "two roles": (MASTER, 'locked="setup"', 'locked="setup" question="setup"', "it is both question and locked"),
    "no points": (MASTER, "points=12", "", "it gives no points"),
    "points below zero": (MASTER, "points=12", "points=-12", "points=-12 is no number of points above zero"),
    "points for the question": (MASTER, 'question="entropy"', 'question="entropy" points=4', "only test and written cells give points"),
    "a misspelt tag": (MASTER, '["skip-grading"]', '["skip-gradng"]', "there is no tag “skip-gradng”; the nearest is “skip-grading”"),
    "a question that is skipped": (MASTER, 'question="entropy"', 'question="entropy" tags=["skip-grading"]', "cannot be tagged skip-grading"),
    "a written answer in code": (MASTER, '[markdown] written="why_fair"', 'written="why_fair"', "a written cell is a [markdown] cell"),
    "tags that are no list": (MASTER, 'tags=["skip-grading"]', 'tags="skip-grading"', "its cells cannot be read"),
    "no name for a function": (MASTER, 'question="entropy"', 'question="en-tropy"', "“en-tropy” cannot be the name of a function"),
    # the master: solutions
    "a misspelt region": (MASTER, "### BEGIN SOLUTION", "### BEGIN SOLUTIO", f"{MASTER}, line 35, cell question=“surprise”: “### BEGIN SOLUTIO” marks no region; the nearest is “### BEGIN SOLUTION”"),
    "a region without an end": (MASTER, "    ### END SOLUTION\n", "", "needs its “### END SOLUTION” below it"),
    "a solution in a test cell": (MASTER, 'check("entropy", entropy)', '### BEGIN SOLUTION\ncheck("entropy", entropy)\n### END SOLUTION', "stands in question and written cells only"),
    "a region around the definition": (MASTER, "def entropy(P):", "### BEGIN SOLUTION\ndef entropy(P):\n    ### END SOLUTION", "stands above the line that defines entropy"),
    "a solution of another name": (MASTER, "def entropy(P):", "def entropi(P):", "its solution does not define entropy; the nearest is “entropi”"),
    "a solution that is no Python": (MASTER, "def entropy(P):", "def entropy(P)", "cell question=“entropy”: it is no Python"),
    "a card for another question": (MASTER, 'check("entropy", entropy)', 'check("surprise", entropy)', 'it needs check("entropy", entropy) (it checks surprise)'),
    "no card": (MASTER, 'check("entropy", entropy)', "entropy", "it shows no card"),
    "a magic that grading would run": (MASTER, "import numpy as np\n", "# %matplotlib inline\nimport numpy as np\n", "it is no plain Python"),
    "the start of another lab": (MASTER, 'start("14_entropy")', 'start("13_beyond")', "begins another lab; this one is “14_entropy”"),
    "no start": (MASTER, 'start("14_entropy")\n', "", "no cell starts the lab"),
    "a start that is not locked": (MASTER, '# %% locked="setup"', "# %%", "the cell that starts the lab is to be locked"),
    # the master: header
    "an unknown setting": (MASTER, HEADER, "#     minute: 20\n", "there is no setting “minute”; the nearest is “minutes”"),
    "a limit of nothing": (MASTER, HEADER, "#     limits: {cell_seconds: 0}\n", "the limit cell_seconds: 0 is no number above zero"),
    "a header that cannot be read": (MASTER, HEADER, "#     minutes: [20\n", "The header of"),
    # the questions' files
    "no file for a question": (ENTROPY, None, "", "question “entropy”: it has no family of inputs and no scenario, no misconception, no alternative"),
    "no right answer in another style": (ENTROPY, "@question.alternative", "", "question “entropy”: it has no alternative"),
    "a file that is no Python": (ENTROPY, "import math", "import math math", f"{ENTROPY}, line 3: it is no Python"),
}  # fmt: skip


def test_each_planted_fault_is_refused_in_a_sentence(planted):
    for name, (file, old, new, sentence) in FAULTS.items():
        assert sentence in "\n".join(planted(file, old, new)), name


def test_the_example_and_every_lab_are_sound(planted, monkeypatch):
    assert planted(MASTER, "", "") == []
    monkeypatch.delenv("COURSE_ROOT")
    masters.course_header.cache_clear()
    assert [str(fault) for lab in all_labs() for fault in faults_of(lab)] == []


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
