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
        Attempt(number, "07", student, number, f"r{number}", "", 0.0)
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


@given(st.text("abcd", max_size=30))
def test_everything_is_taken_once_each_students_in_the_order_they_came_after_as_many_as_was_said(
    students: str,
):
    queue, came = FairQueue(1), attempts(students + "z")
    for attempt in came:
        queue.put(attempt)
    said, taken = {attempt.id: queue.ahead_of(attempt) for attempt in came}, list[Attempt]()
    while len(queue):
        attempt = queue.take()
        assert attempt is not None and said[attempt.id] == len(taken) and queue.ahead_of(attempt) is None
        taken.append(attempt)
        queue.done(attempt)
    assert sorted(a.id for a in taken) == [a.id for a in came]
    assert "z" in [attempt.student for attempt in taken[: len(set(students)) + 1]], "nobody's many delay one"
    for student in set(students):
        assert [a.id for a in taken if a.student == student] == [a.id for a in came if a.student == student]


def held(queue: FairQueue, attempt: Attempt, seconds: float) -> None:
    """Have an attempt be the only one, and take so long."""
    queue.put(attempt)
    assert queue.take() == attempt
    queue.done(attempt, seconds)


def test_students_of_slow_notebooks_come_after_the_others_and_never_hold_the_last_grader():
    queue = FairQueue(2)
    for slow in attempts("mn"):
        held(queue, slow, 60.0)
    came = attempts("mnab")
    for attempt in came:
        queue.put(attempt)
    assert [queue.ahead_of(attempt) for attempt in came] == [2, 3, 0, 1]
    for expected in "ab":
        taken = queue.take()
        assert taken is not None and taken.student == expected
        queue.done(taken, 1.0)
    assert queue.take() == came[0]
    queue.put(attempts("....m")[-1])  # one student never holds two graders
    taken_too: list[Attempt | None] = []
    grader = threading.Thread(target=lambda: taken_too.append(queue.take()))
    grader.start()
    grader.join(0.2)
    assert taken_too == []  # n is slow, too: this grader is for others
    late = attempts("....c")[-1]
    queue.put(late)
    grader.join(60)
    assert taken_too == [late]


def test_slow_is_more_than_the_class_needs_and_ends_with_a_quick_one():
    queue = FairQueue(1)
    for attempt in attempts("abcdefhijk"):
        held(queue, attempt, 60.0)  # a lab whose notebooks all take a minute
    for student, seconds, after in (("g", 90.0, "ga"), ("m", 300.0, "am"), ("m", 1.0, "ma")):
        held(queue, attempts(student)[0], seconds)
        for attempt in attempts(student + "a"):
            queue.put(attempt)
        assert order(queue) == list(after)
