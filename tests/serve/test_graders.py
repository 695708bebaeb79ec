"""Each attempt has hidden inputs of its own, the same whenever it is graded; none of them are the course's."""

import dataclasses
import time
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.course.masters import lab_name
from autograder.course.policy_file import settings
from autograder.errors import GradingError
from autograder.grading.submissions import Notebook, Submission
from autograder.grading.task import Task
from autograder.judging import run as judging
from autograder.questions.engine.diagnosis import known_answers
from autograder.questions.engine.draw import trials_of
from autograder.questions.engine.question import questions_of
from autograder.run import worker
from autograder.sandbox.limits import Limits
from autograder.serve import graders
from autograder.serve.fair_queue import FairQueue
from autograder.serve.graders import Graders, salt_of
from autograder.serve.journal import Attempt
from tests.fixtures.live_class import NOTEBOOK
from tests.fixtures.waiting import until
from tests.serve.conftest import LAB

FIRST = Attempt(1, LAB, "ada", 1, "00-AAAA", "", 0.0)


@pytest.fixture(autouse=True)
def same_salt_afterwards():
    before = judging._salt
    yield
    judging.set_salt(before)


def drawn() -> float:
    """The first number that the hidden tests of the lab draw."""
    return float(np.ravel(trials_of(questions_of(LAB)["softmax"], judging.salt())[1].case.args[0])[0])


def test_another_attempt_another_student_and_another_lab_have_other_inputs():
    others = [
        dataclasses.replace(FIRST, number=2),
        dataclasses.replace(FIRST, student="ad", number=11),
        dataclasses.replace(FIRST, student="bo"),
        dataclasses.replace(FIRST, lab=lab_name("01")),
    ]
    salts = [salt_of(attempt) for attempt in (FIRST, *others)]
    assert len({*salts, settings().salt}) == 6
    assert salt_of(dataclasses.replace(FIRST, id=9, receipt="other", received=5.0)) == salts[0]


def test_a_worker_draws_from_the_tasks_salt_and_from_the_courses_again_for_the_next():
    seen: list[float] = []
    grader, notebook = (
        SimpleNamespace(grade=lambda task: seen.append(drawn())),
        Notebook(Submission("ada", None), LAB),
    )
    for salt in ("", salt_of(FIRST), ""):
        worker._graded(grader, Task(notebook, salt=salt))
    assert seen[0] == seen[2] != seen[1]


def test_what_a_misconception_returns_is_computed_anew_for_other_inputs_and_once_for_the_same():
    known, returned = [], []
    for salt in ("one", "one", "two"):
        judging.set_salt(salt)
        known.append(known_answers(LAB, "softmax"))
        returned.append(str([entry.value for one in known[-1] for run in one.runs() for entry in run.trace]))
    assert known[0] is known[1] and returned[0] != returned[2]


def test_a_grader_lives_through_whatever_an_attempt_brings_about(tmp_path, monkeypatch):
    told: list[Attempt] = []

    def tell(attempt: Attempt) -> None:
        told.append(attempt)
        if told.count(attempt) == 1 and attempt.id < 3:
            raise OSError("the disk is full")

    waited: list[float] = []
    monkeypatch.setattr(graders, "time", SimpleNamespace(monotonic=time.monotonic, sleep=waited.append))
    monkeypatch.setattr(Graders, "_ready", lambda *_: None)
    monkeypatch.setattr(Graders, "_verdict", lambda *_: None)
    queue, kept = FairQueue(2), SimpleNamespace(finish=lambda *_: None)
    working = Graders(kept, queue, {LAB: None}, tell)
    working.start()
    for number in range(6):
        queue.put(dataclasses.replace(FIRST, id=number, student=str(number)))
    until(lambda: len(told) >= 9)
    working.stop()
    assert sorted(attempt.id for attempt in told) == [0, 0, 1, 1, 2, 2, 3, 4, 5]
    assert waited == 3 * [graders.AGAIN_AFTER]


def test_an_attempt_that_ends_two_workers_gets_a_fault_for_its_verdict(tmp_path, monkeypatch):
    waited, stopped, limits = [], [], Limits()

    def graded(task: Task, seconds: float) -> tuple[str, str]:
        waited.append(seconds)
        return "died", "its process ended"

    dying = SimpleNamespace(graded=graded, stop=lambda: stopped.append(True))
    monkeypatch.setattr(Graders, "_ready", lambda self, own, lab: own.setdefault(lab, dying))
    assignments = {LAB: SimpleNamespace(lab=LAB, limits=limits)}
    kept = SimpleNamespace(notebook=lambda *_: tmp_path / f"{LAB}.ipynb")
    verdict = Graders(kept, FairQueue(1), assignments, print)._verdict(FIRST, {})
    assert verdict.status == "crashed" and "died 2 times" in verdict.fault
    assert len(stopped) == 2 and min(waited) > 2 * limits.total_seconds


def test_what_counts_is_laid_out_before_the_class_is_graded(live, tmp_path, monkeypatch):
    async def grade(*_: object) -> None: ...

    monkeypatch.setattr("autograder.serve.team._run_grade", grade)
    place = tmp_path / "out" / "submitted" / "ada"
    place.parent.mkdir()
    place.write_text("as on a disk that is full")
    live.ask(f"/labs/{LAB}/hand-in", NOTEBOOK, "ada")
    with pytest.raises(GradingError, match="What ada handed in cannot be laid out"):
        live.service._on_verdict(live.service.queue.take())
    decision = f"/team/{LAB}/decide", b'{"do": "grade"}', "prof"
    refused = live.ask(*decision)
    assert refused.status == 409 and "ada" in refused.json["message"]
    place.unlink()
    assert live.ask(*decision).status == 200
    assert (place / LAB / f"{LAB}.ipynb").read_bytes() == NOTEBOOK
