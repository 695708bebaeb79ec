"""Memory stays flat whatever the class holds; what is as it was is not graded again."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.grading.cache_keys import Context
from autograder.grading.submissions import MISSING, Submission, find_submissions, read_class
from autograder.run.pipeline import _tasks
from autograder.run.plan import make_plan
from tests.fixtures.frozen_course import LAB

CONTEXT = Context(LAB, {"limits": "1"}, {"softmax": "1"})


@pytest.fixture
def class_(tmp_path: Path) -> list[Submission]:
    """cleo handed in nothing, dora's is no plain file."""
    for student, text in {"ada": "a" * 1000, "bo": "b", "cleo": None, "dora": "link"}.items():
        folder = tmp_path / "submitted" / student / LAB
        folder.mkdir(parents=True)
        if text == "link":
            (folder / f"{LAB}.ipynb").symlink_to("elsewhere.ipynb")
        elif text is not None:
            (folder / f"{LAB}.ipynb").write_text(text)
    return find_submissions(tmp_path / "submitted", LAB)


def test_bytes_are_let_go_of_and_read_again_when_it_is_their_turn(class_, tmp_path):
    notebooks = read_class(class_, LAB)
    assert not any(notebook.raw for notebook in notebooks)
    class_[0].path.write_text("another attempt")
    plan = make_plan(notebooks, {}, None, CONTEXT)
    graded = {t.submission.student: t.notebook for t in _tasks(plan, LAB, tmp_path / "out", force=False)}
    assert (graded["ada"].raw, graded["bo"].raw) == (b"another attempt", b"b")
    assert graded["ada"].digest != notebooks[0].digest
    assert graded["cleo"].digest == MISSING and "not a plain file" in graded["dora"].trouble


def test_an_unchanged_class_is_not_graded_and_a_plan_says_why_something_is_graded_again(class_):
    notebooks = read_class(class_[:1], LAB)
    own = notebooks[0].digest
    plan = make_plan(notebooks, {"ada": (own, CONTEXT.combined_digest)}, CONTEXT, CONTEXT)
    assert (plan.to_grade, plan.unchanged) == ((), ("ada",))
    for stored, reason in (
        ({}, "new"),
        ({"ada": ("", "")}, "the grader had failed on it"),
        ({"ada": ("another", CONTEXT.combined_digest)}, "the notebook changed"),
        ({"ada": (own, "another")}, "an earlier run stood under other conditions"),
    ):
        assert make_plan(notebooks, stored, CONTEXT, CONTEXT).reasons == {"ada": reason}
