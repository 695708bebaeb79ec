"""Names the misunderstanding behind a failed question: the misconception that behaves the same on the same inputs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.testing.catalogue import Answer, answers_of
from autograder.testing.evidence import traces_match
from autograder.testing.run import TestRun, cached_for_salt, run_question, student_with_answer


@cached_for_salt
def known_answers(lab: str, question: str) -> tuple[tuple[Answer, tuple[TestRun, ...]], ...]:
    """How each misconception of a question fares. The inputs are the same for every student, so once is enough."""
    answers = answers_of(lab)["misconception"].get(question, ())
    return tuple(
        (answer, tuple(run_question(lab, question, student_with_answer(lab, question, answer.function))))
        for answer in answers
    )


def diagnose(lab: str, question: str, runs: Sequence[TestRun]) -> Answer | None:
    """The misconception that fails the same tests, for the same reasons, with the same results, or None.

    A verdict on errors alone is no evidence: somewhere both must have returned the same value.
    """
    if all(run.result.passed for run in runs) or not any(
        _has_values(run) for run in runs if not run.result.passed
    ):
        return None
    for answer, known in known_answers(lab, question):
        if len(known) == len(runs) and all(_same(a, b) for a, b in zip(runs, known, strict=True)):
            return answer
    return None


def _has_values(run: TestRun) -> bool:
    return any(entry.kind != "error" for entry in run.trace)


def _same(student: TestRun, known: TestRun) -> bool:
    if student.result.passed != known.result.passed:
        return False
    if student.result.passed:
        return True
    return _reason(student) == _reason(known) and traces_match(student.trace, known.trace)


def _reason(run: TestRun) -> str:
    """What the test says, without its numbers: the same values may fail for another reason, a type or a side effect."""
    return re.sub(r"\d+", "#", run.result.message)
