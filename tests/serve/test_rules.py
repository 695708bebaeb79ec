"""What the course's policy says about attempts holds, to the second and to the point."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from autograder.errors import UserError
from autograder.results import STATUSES
from autograder.serve import rules
from autograder.serve.fair_queue import FairQueue
from autograder.serve.journal import Attempt, Refused

LAB = "00_warm_up"
Make = Callable[..., Attempt]


@pytest.fixture
def attempt() -> Make:
    """``attempt(number, points)``: graded; None: waiting."""

    def make(
        number: int, points: float | None = None, received: float | None = None, **changes: object
    ) -> Attempt:
        when = time.time() - 100 + number if received is None else received
        waiting = Attempt(number, LAB, "ada", number, f"r{number}", "", when)
        verdict = {"graded": when, "status": "graded", "score": points, **changes}
        return waiting if points is None else dataclasses.replace(waiting, **verdict)

    return make


def in_so_many(seconds: float) -> str:
    """A time as course.toml has it."""
    return f"{datetime.fromtimestamp(time.time() + seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def refused(earlier: list[Attempt], student: str = "ada", queue: FairQueue | None = None) -> Refused:
    with pytest.raises(Refused) as caught:
        rules.may_hand_in(LAB, student, queue or FairQueue(1), earlier)
    return caught.value


def test_attempts_are_counted_but_not_one_on_which_the_grader_failed(course_at, attempt):
    course_at("")
    rules.may_hand_in(LAB, "ada", FairQueue(1), [attempt(n, 1.0) for n in range(1, 50)])
    two = [attempt(1, 1.0), attempt(2, 2.0)]
    course_at("[live]\nattempts = 2")
    assert "all 2 attempts" in str(refused(two))
    rules.may_hand_in(LAB, "ada", FairQueue(1), [attempt(1, 0.0, fault=True), two[1]])
    course_at('[live]\nattempts = 2\nverdicts = "pass or fail"\n[labs.00.live]\nattempts = 3')
    rules.may_hand_in(LAB, "ada", FairQueue(1), two)
    assert not rules.shows_points(LAB, "ada"), "a lab's own policy replaces what it says and nothing else"


def test_between_two_attempts_is_a_pause(course_at, attempt):
    course_at("[live]\npause_minutes = 2")
    early = refused([attempt(1, 1.0, received=time.time() - 30)])
    assert 60 < early.retry_after <= 90
    assert "2 minutes" in str(early)
    rules.may_hand_in(LAB, "ada", FairQueue(1), [attempt(1, 1.0, received=time.time() - 121)])


def test_a_closed_lab_takes_nothing_but_from_those_who_have_longer(course_at):
    course_at(f"[labs.00]\ncloses = {in_so_many(-60)}\n[labs.00.extensions]\nbo = 1")
    assert "closed" in str(refused([]))
    rules.may_hand_in(LAB, "bo", FairQueue(1), [])


def test_three_of_a_student_may_wait(course_at, attempt):
    course_at("")
    queue, earlier = FairQueue(1), [attempt(n) for n in (1, 2, 3)]
    for waiting in earlier:
        queue.put(waiting)
    assert "still wait" in str(refused(earlier, queue=queue))
    shown = rules.card_of(earlier[1], None, 2, queue)
    assert (shown["state"], shown["ahead"]) == ("waiting", 1) and shown["seconds"] >= 1
    rules.may_hand_in(LAB, "bo", queue, [])


@pytest.mark.parametrize(("counts", "number"), [("best", 3), ("last", 4)])
def test_the_best_or_the_last_attempt_counts_but_none_that_was_not_read_or_graded(
    course_at, attempt, counts, number
):
    course_at(f'[live]\ncounts = "{counts}"')
    graded = [attempt(1, 4.0), attempt(2, 9.0), attempt(3, 9.0), attempt(4, 1.0)]
    failed = [attempt(5, 0.0, status="unreadable"), attempt(6, 0.0, fault=True), attempt(7)]
    assert rules.counting(LAB, [*graded, *failed]).number == number, "of equal ones the later"
    assert rules.counting(LAB, [attempt(1, 0.0, status="unreadable"), attempt(2)]).number == 2
    assert rules.counting(LAB, []) is None


def test_the_best_is_what_is_left_when_lateness_is_taken_off(course_at, attempt):
    course_at(f"[labs.00]\ndue = {in_so_many(-3600)}\n[labs.00.late]\npercent_per_day = 50")
    in_time, late = attempt(1, 6.0, received=time.time() - 7200), attempt(2, 10.0, received=time.time())
    assert rules.counting(LAB, [in_time, late]) is in_time


@pytest.fixture
def card(attempt, make_result) -> Callable[[], dict]:
    """The card of a first attempt with ten points, under the policy of the moment."""

    def make() -> dict:
        result = dataclasses.replace(make_result("ada"), score=10.0)
        return rules.card_of(attempt(1, 10.0), result, 1, FairQueue(1))

    return make


def test_a_card_at_once_has_points_and_causes_and_one_of_pass_or_fail_neither(course_at, card):
    course_at("[live]\nattempts = 5")
    shown = card()
    assert (shown["attempt"], shown["of"], shown["score"]) == (1, 5, 10.0)
    assert {"points", "max_points", "cause", "hint"} <= shown["questions"][0].keys()
    course_at('[live]\nverdicts = "pass or fail"')
    shown = card()
    assert "score" not in shown
    assert all(question.keys() == {"name", "passed"} for question in shown["questions"])


def test_a_card_of_pass_or_fail_says_the_same_however_the_notebook_ended(make_result):
    ends = ("graded", "partly-run", "timed-out", "out-of-memory", "crashed")
    shown = [rules._verdict(make_result("ada", status=status), False) for status in ends]
    assert all(one == shown[0] for one in shown)
    unread = rules._verdict(make_result("ada", status="unreadable"), False)
    assert unread["message"] == STATUSES["unreadable"].for_student


def test_a_card_after_closing_says_nothing_before_and_everything_after(course_at, card):
    policy = '[live]\nverdicts = "after closing"\n[labs.00]\ncloses = '
    course_at(policy + in_so_many(3600))
    shown = card()
    assert (shown["state"], shown["questions"]) == ("kept", [])
    assert "score" not in shown
    course_at(policy + in_so_many(-60))
    assert card()["score"] == 10.0
    course_at('[live]\nverdicts = "after closing"')
    with pytest.raises(UserError, match="does not say when it closes"):
        rules.check_policy([LAB])
