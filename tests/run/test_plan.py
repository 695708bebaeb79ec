"""Each notebook is read once for a run, and memory stays flat whatever the class holds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from autograder.grading import submissions
from autograder.grading.cache_keys import Context
from autograder.grading.submissions import MISSING, Notebook, Submission, collect, read_class
from autograder.run.pipeline import _tasks
from autograder.run.plan import EarlierRun, Plan, make_plan
from tests.fixtures.frozen_course import LAB

CONTEXT = Context(LAB, {"limits": "1"}, {"softmax": "1"})


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Student -> how often the notebook was read from the disk."""
    counts: Counter[str] = Counter()
    bytes_of = submissions._bytes_of

    def counted(path: Path) -> bytes:
        counts[path.parts[-3]] += 1
        return bytes_of(path)

    monkeypatch.setattr(submissions, "_bytes_of", counted)
    return counts


@pytest.fixture
def class_(tmp_path: Path) -> list[Submission]:
    """ada's notebook is large, bo's names PyTorch, cleo handed in nothing, dora's is no plain file."""
    for student, text in {"ada": "a" * 1000, "bo": "import torch", "cleo": None, "dora": "link"}.items():
        folder = tmp_path / "submitted" / student / LAB
        folder.mkdir(parents=True)
        if text == "link":
            (folder / f"{LAB}.ipynb").symlink_to("elsewhere.ipynb")
        elif text is not None:
            (folder / f"{LAB}.ipynb").write_text(text)
    return collect(tmp_path / "submitted", LAB)


def tasks(plan: Plan, out: Path) -> dict[str, Notebook]:
    return {task.submission.student: task.notebook for task in _tasks(plan, LAB, out, force=False)}


def test_what_the_plan_read_is_what_is_graded(class_, reads, tmp_path):
    plan = make_plan(read_class(class_, LAB), EarlierRun(), CONTEXT)
    graded = tasks(plan, tmp_path / "out")
    assert list(graded) == ["ada", "cleo", "dora", "bo"], "who does not wait for PyTorch comes first"
    assert (graded["ada"].raw, graded["bo"].raw) == (b"a" * 1000, b"import torch")
    assert graded["cleo"].digest == MISSING and "not a plain file" in graded["dora"].trouble
    assert set(reads.values()) == {1}


def test_bytes_that_do_not_fit_are_let_go_of_and_read_when_it_is_their_turn(
    class_, reads, tmp_path, monkeypatch
):
    monkeypatch.setattr(submissions, "KEPT_BYTES", 100)
    notebooks = read_class(class_, LAB)
    assert sum(len(notebook.raw or b"") for notebook in notebooks) == len(b"import torch")
    class_[0].path.write_text("another attempt")
    graded = tasks(make_plan(notebooks, EarlierRun(), CONTEXT), tmp_path / "out")
    assert graded["ada"].raw == b"another attempt" and graded["ada"].digest != notebooks[0].digest
    assert reads == {"ada": 2, "bo": 1, "dora": 1}


def test_an_unchanged_class_is_read_once_and_not_graded(class_, reads):
    notebooks = read_class(class_[:3], LAB)
    keys = {notebook.submission.student: (notebook.digest, CONTEXT.whole) for notebook in notebooks}
    plan = make_plan(notebooks, EarlierRun(CONTEXT, keys), CONTEXT)
    assert (plan.to_grade, plan.unchanged) == ((), ("ada", "bo", "cleo"))
    assert reads == {"ada": 1, "bo": 1}


def test_a_plan_says_why_something_is_graded_again(class_):
    notebooks = read_class(class_[:1], LAB)
    own = notebooks[0].digest
    for stored, reason in (
        ({}, "new"),
        ({"ada": ("", "")}, "the grader had failed on it"),
        ({"ada": ("another", CONTEXT.whole)}, "the notebook changed"),
        ({"ada": (own, "another")}, "an earlier run stood under other conditions"),
    ):
        assert make_plan(notebooks, EarlierRun(CONTEXT, stored), CONTEXT).reasons == {"ada": reason}
