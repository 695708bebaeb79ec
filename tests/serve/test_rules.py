"""What the course's policy says about attempts holds, to the second and to the point."""

import dataclasses
import time
from datetime import UTC, datetime

import pytest

from autograder.errors import UserError
from autograder.results import STATUSES
from autograder.serve import rules
from autograder.serve.fair_queue import FairQueue
from autograder.serve.journal import Attempt, Refused
from tests.serve.conftest import LAB


def attempt(number: int, points: float | None = None, ago: float = 50.0, **changes: object) -> Attempt:
    """A graded attempt that came in so many seconds ago; without points it waits."""
    when = time.time() - ago
    waiting = Attempt(number, LAB, "ada", number, f"r{number}", "", when)
    verdict = {"graded": when, "status": "graded", "score": points, **changes}
    return waiting if points is None else dataclasses.replace(waiting, **verdict)


def in_so_many(seconds: float) -> str:
    """A time as course.toml has it."""
    return f"{datetime.fromtimestamp(time.time() + seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def may_hand_in(*earlier: Attempt, who: str = "ada") -> Refused | None:
    """Why somebody may not hand in now, after these attempts, of which those without a verdict wait."""
    queue = FairQueue(1)
    for waiting in earlier:
        if waiting.graded is None:
            queue.put(waiting)
    try:
        return rules.may_hand_in(LAB, who, queue, earlier)
    except Refused as reason:
        return reason


def test_attempts_are_counted_but_not_one_on_which_the_grader_failed(course_at):
    course_at("")
    assert not may_hand_in(*(attempt(n, 1.0) for n in range(1, 50)))
    two = [attempt(1, 1.0), attempt(2, 2.0)]
    course_at("[live]\nattempts = 2")
    assert "all 2 attempts" in str(may_hand_in(*two))
    assert not may_hand_in(attempt(1, 0.0, fault=True), two[1])
    course_at('[live]\nattempts = 2\nverdicts = "pass or fail"\n[labs.00.live]\nattempts = 3')
    assert not may_hand_in(*two)
    assert not rules.shows_points(LAB, "ada"), "a lab's own policy replaces what it says and nothing else"


def test_a_pause_three_that_wait_and_a_closed_lab_bar_whom_they_concern(course_at):
    course_at("[live]\npause_minutes = 2")
    early = may_hand_in(attempt(1, 1.0, ago=30))
    assert early and 60 < early.retry_after <= 90 and "2 minutes" in str(early)
    assert not may_hand_in(attempt(1, 1.0, ago=121))
    course_at("")
    three = [attempt(n) for n in (1, 2, 3)]
    assert "still wait" in str(may_hand_in(*three)) and not may_hand_in(*three, who="bo")
    course_at(f"[labs.00]\ncloses = {in_so_many(-60)}\n[labs.00.extensions]\nbo = 1")
    assert "closed" in str(may_hand_in()) and not may_hand_in(who="bo")


@pytest.mark.parametrize(("counts", "number"), [("best", 3), ("last", 4)])
def test_the_best_or_the_last_attempt_counts_but_none_that_was_not_read_or_graded(course_at, counts, number):
    course_at(f'[live]\ncounts = "{counts}"')
    graded = [attempt(1, 4.0), attempt(2, 9.0), attempt(3, 9.0), attempt(4, 1.0)]
    failed = [attempt(5, 0.0, status="unreadable"), attempt(6, 0.0, fault=True), attempt(7)]
    assert rules.counting(LAB, [*graded, *failed]).number == number, "of equal ones the later"
    assert rules.counting(LAB, [attempt(1, 0.0, status="unreadable"), attempt(2)]).number == 2
    assert rules.counting(LAB, []) is None


def test_the_best_is_what_is_left_when_lateness_is_taken_off(course_at):
    course_at(f"[labs.00]\ndue = {in_so_many(-3600)}\n[labs.00.late]\npercent_per_day = 50")
    in_time, late = attempt(1, 6.0, ago=7200), attempt(2, 10.0, ago=0)
    assert rules.counting(LAB, [in_time, late]) is in_time


def test_a_card_shows_what_the_policy_shows_now(course_at, make_result):
    def card(policy: str) -> dict:
        course_at(policy)
        result = dataclasses.replace(make_result("ada"), score=10.0)
        return rules.card_of(attempt(1, 10.0), result, 1, FairQueue(1))

    shown = card("[live]\nattempts = 5")
    assert (shown["attempt"], shown["of"], shown["score"]) == (1, 5, 10.0)
    assert {"points", "max_points", "cause", "hint"} <= shown["questions"][0].keys()
    shown = card('[live]\nverdicts = "pass or fail"')
    assert "score" not in shown
    assert all(question.keys() == {"name", "passed"} for question in shown["questions"])
    after = '[live]\nverdicts = "after closing"\n'
    shown = card(f"{after}[labs.00]\ncloses = {in_so_many(3600)}")
    assert (shown["state"], shown["questions"]) == ("kept", []) and "score" not in shown
    assert card(f"{after}[labs.00]\ncloses = {in_so_many(-60)}")["score"] == 10.0
    course_at(after)
    with pytest.raises(UserError, match="does not say when it closes"):
        rules.check_policy([LAB])


def test_a_card_of_pass_or_fail_says_the_same_however_the_notebook_ended(make_result):
    ends = ("graded", "partly-run", "timed-out", "out-of-memory", "crashed")
    shown = [rules._verdict(make_result("ada", status=status), False) for status in ends]
    assert all(one == shown[0] for one in shown)
    unread = rules._verdict(make_result("ada", status="unreadable"), False)
    assert unread["message"] == STATUSES["unreadable"].for_student
