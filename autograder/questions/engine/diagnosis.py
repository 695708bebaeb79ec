"""Finds the misconception behind a failed question: the one that behaves the same on the same inputs."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress

from autograder.course.masters import solution
from autograder.course.policy_file import settings
from autograder.judging.run import TestRun, cached_for_salt, run_test, set_salt, tests_of, traces_match
from autograder.questions.engine.answers import answers_of, fresh_answers
from autograder.questions.engine.question import Answer
from autograder.sandbox.host.student import Student


class KnownAnswer:
    """A misconception with its runs of the question's hidden tests. Each test runs when its result is first needed.

    In a live class each attempt has its own inputs, and the first test rules most misconceptions out.
    """

    def __init__(self, lab: str, answer: Answer):
        self.answer = answer
        self._tests = tests_of(lab)[answer.question]
        names = {**solution(lab), answer.question: answer.function}
        self._student = Student.local_namespace(names, answer.question)
        self._runs: list[TestRun] = []

    def runs(self) -> Iterator[TestRun]:
        """Yield the runs in the order of the question's hidden tests."""
        for place, test in enumerate(self._tests):
            if place == len(self._runs):
                self._runs.append(run_test(test, self._student))
            yield self._runs[place]

    def fails_alike(self, runs: Sequence[TestRun]) -> bool:
        """Whether the misconception fails the same tests for the same reasons. Messages are compared, not values."""
        return len(runs) == len(self._tests) and all(map(_fails_alike, runs, self.runs()))


@cached_for_salt
def known_answers(lab: str, question: str) -> tuple[KnownAnswer, ...]:
    """The misconceptions of a question. All students get the same inputs, so each misconception runs a test once."""
    if question not in answers_of(lab)["misconception"]:
        return ()
    return tuple(KnownAnswer(lab, answer) for answer in fresh_answers(lab, question)["misconception"])


def run_known_answers(lab: str) -> None:
    """Run all misconceptions now, for the processes that will be forked from this one."""
    set_salt(settings().salt)
    for question in answers_of(lab)["misconception"]:
        for known in known_answers(lab, question):
            with suppress(Exception):  # it comes again, and is told, with a submission that needs this one
                deque(known.runs(), maxlen=0)


def candidates(lab: str, question: str, runs: Sequence[TestRun]) -> list[KnownAnswer]:
    """The misconceptions that fail the same tests for the same reasons.

    Errors alone are no evidence: the answer must have returned a value in some test.
    """
    if all(run.result.passed for run in runs) or not any(map(_has_values, runs)):
        return []
    return [known for known in known_answers(lab, question) if known.fails_alike(runs)]


def diagnose(lab: str, question: str, runs: Sequence[TestRun]) -> Answer | None:
    """The misconception that fails the same tests for the same reasons with the same results, or None."""
    return with_same_values(candidates(lab, question, runs), runs)


def with_same_values(known: Sequence[KnownAnswer], runs: Sequence[TestRun]) -> Answer | None:
    """The candidate that returned the same values in the failed tests, or None."""
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
    """A test's message without its numbers. Equal values may fail for another reason, such as a type or side effect."""
    return re.sub(r"\d+", "#", run.result.message)
