"""Computes an answer's points: a recognised misconception loses its cost; other answers earn the tests that pass.

* A right answer keeps all points.
* A recognised misconception loses its cost, whatever inputs were drawn.
* Any other answer gets the weights of the tests that it passes, less a share for each rule that it breaks. It never keeps
  more than a misconception whose failed tests it also fails: a second slip on top earns nothing.

The course's policy may set another cost::

    [labs.07.rubric.kernel_smooth]
    "σ is not squared" = 1.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autograder.course.policy_file import settings
from autograder.judging.run import TestRun, earned, tests_of
from autograder.questions.engine.answers import answers_of
from autograder.questions.engine.diagnosis import known_answers
from autograder.questions.engine.question import Answer
from autograder.results import QuestionResult

#: Begins the message of a test that was skipped because an earlier one did not end.
NOT_RUN = "this was not run"


def points_earned(
    lab: str, question: str, points: float, runs: Sequence[TestRun], named: Answer | None
) -> float:
    """The points of an answer, rounded to hundredths, from the runs of all hidden tests of its question.

    ::

        points_earned(lab, "kernel_smooth", 5.0, runs, diagnose(lab, "kernel_smooth", runs))
    """
    share = earned(points, [(run.test.weight, run.result.passed) for run in runs])
    failed = {run.test.name for run in runs if not run.result.passed}
    if not failed:
        return float(points)
    if named is not None:
        return _kept(points, cost_of(lab, named))
    broken = (run.test.deducts for run in runs if run.ran and not run.result.passed)
    share = max(0.0, share - points * sum(broken))
    for known in known_answers(lab, question):
        cost = cost_of(lab, known.answer)
        if _kept(points, cost) < share:
            theirs = {run.test.name for run in known.runs() if not run.result.passed}
            if theirs and theirs <= failed:
                share = _kept(points, cost)
    return round(share, 2)


def paid_anew(lab: str, question: QuestionResult) -> QuestionResult:
    """A question's stored result with points and hint recomputed from the current costs; no test runs."""
    runs = [
        TestRun(test, result, (), ran=not result.message.startswith(NOT_RUN))
        for test, result in zip(tests_of(lab)[question.name], question.tests, strict=True)
    ]
    known = answers_of(lab)["misconception"].get(question.name, ())
    named = next((answer for answer in known if answer.title == question.misconception), None)
    points = points_earned(lab, question.name, question.max_points, runs, named)
    if question.forbidden and settings().forbidden == "zero":
        points = 0.0
    return replace(question, points=points, hint=named.hint if named else question.hint)


def cost_of(lab: str, answer: Answer) -> float:
    """The cost of a misconception in points, from the course's policy or else the question's file."""
    return settings().lab(lab).rubric.get(answer.question, {}).get(answer.title, answer.costs)


def _kept(points: float, cost: float) -> float:
    return round(max(0.0, points - cost), 2)
