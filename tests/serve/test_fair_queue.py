"""Nobody's hundred notebooks delay anybody's one, and what is said about the wait is true."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from autograder.serve.fair_queue import FairQueue
from autograder.serve.journal import Attempt


def attempts(students: str) -> list[Attempt]:
    """An attempt for each letter, whose author the letter is."""
    return [
        Attempt(number, "07", student, number, f"r{number}", "", 1, 0.0)
        for number, student in enumerate(students)
    ]


def order(queue: FairQueue) -> list[str]:
    """Who is graded, in order."""
    names = []
    while len(queue):
        attempt = queue.take()
        assert attempt is not None
        names.append(attempt.student)
        queue.done(attempt)
    return names


def test_a_hundred_of_one_student_do_not_delay_anothers_first():
    queue = FairQueue(1)
    for attempt in attempts("a" * 100 + "b"):
        queue.put(attempt)
    assert order(queue)[:3] == ["a", "b", "a"]


@given(st.text("abcd", max_size=30))
def test_everything_is_taken_once_and_each_students_in_the_order_they_came(students: str):
    queue, came = FairQueue(1), attempts(students)
    for attempt in came:
        queue.put(attempt)
    taken = []
    while len(queue):
        attempt = queue.take()
        assert attempt is not None
        taken.append(attempt)
        queue.done(attempt)
    assert sorted(a.id for a in taken) == [a.id for a in came]
    for student in set(students):
        assert [a.id for a in taken if a.student == student] == [a.id for a in came if a.student == student]


@given(st.text("abcd", min_size=1, max_size=20), st.data())
def test_the_number_ahead_is_how_many_are_taken_before(students: str, data: st.DataObject):
    queue, came = FairQueue(1), attempts(students)
    for attempt in came:
        queue.put(attempt)
    wanted = data.draw(st.sampled_from(came))
    said, before = queue.ahead_of(wanted), 0
    while (attempt := queue.take()) is not None and attempt.id != wanted.id:
        before += 1
        queue.done(attempt)
    assert said == before
    assert queue.ahead_of(wanted) is None


def test_a_longer_queue_and_slower_grading_are_said_to_take_longer_and_more_workers_shorter():
    one, two = FairQueue(1), FairQueue(2)
    assert one.seconds_for(9) > one.seconds_for(3) > two.seconds_for(3)
    before = one.seconds_for(3)
    slow = attempts("a")[0]
    one.put(slow)
    one.take()
    one.done(slow, 30.0)
    assert one.seconds_for(3) > before


class Clock:
    """A clock that is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def held(queue: FairQueue, clock: Clock, attempt: Attempt, seconds: float) -> None:
    """Have an attempt be the only one, and take so long."""
    queue.put(attempt)
    assert queue.take() == attempt
    clock.now += seconds
    queue.done(attempt, seconds)


def test_one_student_never_holds_two_graders():
    queue, taken = FairQueue(2), []
    first, second, others = attempts("aab")
    for attempt in (first, second):
        queue.put(attempt)
    assert queue.take() == first
    grader = threading.Thread(target=lambda: taken.append(queue.take()))
    grader.start()
    grader.join(0.2)
    assert taken == []
    queue.put(others)
    grader.join(60)
    assert taken == [others]
    queue.done(others)
    queue.done(first)
    assert queue.take() == second


def test_students_of_slow_notebooks_come_after_the_others_and_never_hold_the_last_grader():
    clock = Clock()
    queue = FairQueue(2, clock)
    for slow in attempts("mn"):
        held(queue, clock, slow, 60.0)
    came = attempts("mnab")
    for attempt in came:
        queue.put(attempt)
    assert [queue.ahead_of(attempt) for attempt in came] == [2, 3, 0, 1]
    for expected in "ab":
        taken = queue.take()
        assert taken is not None and taken.student == expected
        queue.done(taken, 1.0)
    assert queue.take() == came[0]
    taken_too: list[Attempt | None] = []
    grader = threading.Thread(target=lambda: taken_too.append(queue.take()))
    grader.start()
    grader.join(0.2)
    assert taken_too == []  # n is slow, too: this grader is for others
    late = attempts("....c")[-1]
    queue.put(late)
    grader.join(60)
    assert taken_too == [late]


def test_slow_is_more_than_the_class_needs_and_passes():
    clock = Clock()
    queue = FairQueue(1, clock)
    for attempt in attempts("abcdefhijk"):
        held(queue, clock, attempt, 60.0)  # a lab whose notebooks all take a minute
    clock.now += 6 * 60.0
    held(queue, clock, attempts("g")[0], 90.0)
    for attempt in attempts("ga"):
        queue.put(attempt)
    assert order(queue) == ["g", "a"]
    held(queue, clock, attempts("m")[0], 300.0)
    for attempt in attempts("ma"):
        queue.put(attempt)
    assert order(queue) == ["a", "m"]
    clock.now += 5 * 300.0
    for attempt in attempts("ma"):
        queue.put(attempt)
    assert order(queue) == ["m", "a"]


def test_a_closed_queue_lets_its_graders_go():
    queue, ended = FairQueue(1), []
    grader = threading.Thread(target=lambda: ended.append(queue.take()))
    grader.start()
    queue.close()
    grader.join(60)
    assert ended == [None]
