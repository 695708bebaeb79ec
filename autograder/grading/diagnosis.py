"""Names the misunderstanding behind a failed question: the misconception that behaves the same on the same inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from autograder.course.masters import solution
from autograder.questions.engine.answers import Answer, answers_of, fresh_answers
from autograder.sandbox.host.student import Student
from autograder.testing.evidence import traces_match
from autograder.testing.run import TestRun, cached_for_salt, run_test, tests_of


class KnownAnswer:
    """A misconception with its runs of the question's hidden tests. A test runs when its result is first needed.

    In a live class each attempt has inputs of its own, and most misconceptions are told from an answer by the first test.
    """

    def __init__(self, lab: str, answer: Answer):
        self.answer = answer
        self._tests = tests_of(lab)[answer.question]
        names = {**solution(lab), answer.question: answer.function}
        self._student = Student.local_namespace(names, answer.question)
        self._runs: list[TestRun] = []

    def runs(self) -> Iterator[TestRun]:
        """Yield its runs in the order of the question's hidden tests."""
        for place, test in enumerate(self._tests):
            if place == len(self._runs):
                self._runs.append(run_test(test, self._student))
            yield self._runs[place]

    def fails_alike(self, runs: Sequence[TestRun]) -> bool:
        """Whether it fails the same tests for the same reasons. It compares messages, not values."""
        return len(runs) == len(self._tests) and all(map(_fails_alike, runs, self.runs()))


@cached_for_salt
def known_answers(lab: str, question: str) -> tuple[KnownAnswer, ...]:
    """The misconceptions of a question. The inputs are the same for every student, so each runs a test once."""
    if question not in answers_of(lab)["misconception"]:
        return ()
    return tuple(KnownAnswer(lab, answer) for answer in fresh_answers(lab, question)["misconception"])


def candidates(lab: str, question: str, runs: Sequence[TestRun]) -> list[KnownAnswer]:
    """The misconceptions that fail the same tests for the same reasons.

    Errors alone are no evidence: somewhere the answer must have returned a value.
    """
    if not any(map(_has_values, runs)):
        return []
    return [known for known in known_answers(lab, question) if known.fails_alike(runs)]


def diagnose(lab: str, question: str, runs: Sequence[TestRun]) -> Answer | None:
    """The misconception that fails the same tests, for the same reasons, with the same results, or None."""
    return with_same_values(candidates(lab, question, runs), runs)


def with_same_values(known: Sequence[KnownAnswer], runs: Sequence[TestRun]) -> Answer | None:
    """The one of these candidates that returned the same values in the tests that failed, or None."""
    for one in known:
        if all(
            a.result.passed or traces_match(a.trace, b.trace) for a, b in zip(runs, one.runs(), strict=True)
        ):
            return one.answer
    return None


def _has_values(run: TestRun) -> bool:
    return any(entry.kind != "error" for entry in run.trace)


def _fails_alike(student: TestRun, known: TestRun) -> bool:
    if student.result.passed or known.result.passed:
        return student.result.passed == known.result.passed
    return _reason(student) == _reason(known)


def _reason(run: TestRun) -> str:
    """What the test says, without its numbers: the same values may fail for another reason, a type or a side effect."""
    return re.sub(r"\d+", "#", run.result.message)
