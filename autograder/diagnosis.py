"""Names the misunderstanding behind a failed question: the misconception that behaves the same on the same inputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from autograder.answers import Answer, answers_of
from autograder.audit import run_question, substituted
from autograder.testing import TestRun
from autograder.trace import traces_match


@cache
def _known(lab: str, question: str) -> tuple[tuple[Answer, tuple[TestRun, ...]], ...]:
    """How each misconception of a question fares. The inputs are the same for every student, so once is enough."""
    answers = answers_of(lab)["misconception"].get(question, ())
    return tuple(
        (answer, tuple(run_question(lab, question, substituted(lab, question, answer.function))))
        for answer in answers
    )


def diagnose(lab: str, question: str, runs: Sequence[TestRun]) -> Answer | None:
    """The misconception that fails the same tests with the same results, or None.

    A verdict on errors alone is no evidence: somewhere both must have returned the same wrong value.
    """
    if all(run.result.passed for run in runs) or not any(
        _has_values(run) for run in runs if not run.result.passed
    ):
        return None
    for answer, known in _known(lab, question):
        if len(known) == len(runs) and all(_same(a, b) for a, b in zip(runs, known, strict=True)):
            return answer
    return None


def _has_values(run: TestRun) -> bool:
    return any(entry.kind != "error" for entry in run.trace)


def _same(student: TestRun, known: TestRun) -> bool:
    if student.result.passed != known.result.passed:
        return False
    return student.result.passed or traces_match(student.trace, known.trace)
