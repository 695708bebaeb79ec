"""Nobody's hundred notebooks delay anybody's one, and what is said about the wait is true."""

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


def test_no_student_holds_two_graders_and_the_wait_is_said_by_how_long_the_last_took():
    queue = FairQueue(2)
    first, second, other = attempts("aab")
    for attempt in (first, second):
        queue.put(attempt)
    assert queue.take() == first
    taken: list[Attempt | None] = []
    grader = threading.Thread(target=lambda: taken.append(queue.take()))
    grader.start()
    grader.join(0.2)
    assert taken == []
    queue.put(other)
    grader.join(60)
    assert taken == [other]
    for attempt in (first, other):
        queue.done(attempt, 9.0)
    assert queue.take() == second
    assert [queue.seconds_for(ahead) for ahead in (1, 2)] == [9.0, 18.0]
