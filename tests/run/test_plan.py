"""Memory stays flat whatever the class holds, and a plan says why something is graded."""

from pathlib import Path

from autograder.grading.cache_keys import Context
from autograder.grading.submissions import MISSING, find_submissions, read_class
from autograder.run.pipeline import _tasks
from autograder.run.plan import make_plan
from tests.fixtures.frozen_course import LAB, hand_in

CONTEXT = Context(LAB, {"limits": "1"}, {"softmax": "1"})


def test_bytes_are_let_go_of_and_read_again_when_it_is_their_turn(tmp_path: Path) -> None:
    place = tmp_path / "submitted"
    for student, text in {"ada": "a" * 1000, "bo": "b", "cleo": ""}.items():
        hand_in(place, student, text)
    (place / "cleo" / LAB / f"{LAB}.ipynb").unlink()
    class_ = find_submissions(place, LAB)
    notebooks = read_class(class_, LAB)
    assert not any(notebook.raw for notebook in notebooks)
    hand_in(place, "ada", "another attempt")
    plan = make_plan(notebooks, {"bo": (notebooks[1].digest, "another")}, CONTEXT, CONTEXT)
    assert plan.reasons == {"ada": "new", "bo": "an earlier run stood under other conditions", "cleo": "new"}
    graded = {t.submission.student: t.notebook for t in _tasks(plan, LAB, tmp_path / "out", force=False)}
    assert (graded["ada"].raw, graded["bo"].raw) == (b"another attempt", b"b")
    assert graded["ada"].digest != notebooks[0].digest and graded["cleo"].digest == MISSING
