"""Asks the hidden tests of a question about every answer that the course knows, and about some that are worth nothing.

Right answers keep all points, each misconception is recognised as itself and pays, and rubbish earns next to nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from coursekit.checks.encoding import encode

from autograder.grading.diagnosis import diagnose, known_answers
from autograder.grading.rubric import points_earned
from autograder.questions.engine.draw import PUBLIC, asks_of
from autograder.questions.engine.question import Question, questions_of
from autograder.testing.catalogue import Answer, answers_of
from autograder.testing.evidence import traces_match
from autograder.testing.run import TestRun, earned, master_runs, run_question, student_with_answer

#: The share of the points that an answer which is worth nothing may earn.
MAX_FOR_NOTHING = 0.05
#: By what share of the points a cost may differ from what the failed tests are worth, without a reason.
MAX_WITHOUT_REASON = 0.25


@dataclass(frozen=True)
class AnswerAudit:
    """How one answer fared in the hidden tests of its question."""

    name: str
    kind: str  # "master", "alternative", "misconception" or "worthless"
    points: float
    max_points: float
    runs: tuple[TestRun, ...]
    #: What is wrong with how a misconception is recognised and what it costs, in words.
    trouble: str = ""

    @property
    def failed(self) -> list[tuple[str, str]]:
        """The tests that failed it: name and message."""
        return [(run.test.name, run.result.message) for run in self.runs if not run.result.passed]

    @property
    def fault(self) -> str:
        """What is wrong with how it fared, in words; "" where nothing is."""
        if self.kind == "worthless":
            share = self.points / self.max_points
            return f"it earns {share:.0%}" if share > MAX_FOR_NOTHING else ""
        if self.kind != "misconception":
            failed = "; ".join(f"{name}: {message}" for name, message in self.failed)
            return failed if self.points < self.max_points else ""
        return "it passes every test" if self.points >= self.max_points else self.trouble

    @property
    def as_it_should(self) -> bool:
        """Whether there is no fault."""
        return not self.fault


def audit_answer(lab: str, question: str, points: float, kind: str, name: str, function: Any) -> AnswerAudit:
    """Run the hidden tests of a question on one answer."""
    runs = run_question(lab, question, student_with_answer(lab, question, function))
    named = None if kind == "worthless" else _named(lab, question, runs)
    kept = points_earned(lab, question, points, runs, named)
    return AnswerAudit(name, kind, kept, points, tuple(runs))


def audit_answers(lab: str, question: str, points: float) -> list[AnswerAudit]:
    """The master, the alternatives, the misconceptions and some worthless answers to one question, each run once."""
    runs = master_runs(lab, question)
    rows = [AnswerAudit("master", "master", points_earned(lab, question, points, runs, None), points, runs)]
    for answer in answers_of(lab)["alternative"].get(question, ()):
        rows.append(audit_answer(lab, question, points, "alternative", answer.name, answer.function))
    for known in known_answers(lab, question):
        rows.append(_misconception(lab, points, known.answer, tuple(known.runs())))
    for name, function in _worthless(questions_of(lab)[question]):
        rows.append(audit_answer(lab, question, points, "worthless", name, function))
    return rows


def _named(lab: str, question: str, runs: Sequence[TestRun]) -> Answer | None:
    return None if all(run.result.passed for run in runs) else diagnose(lab, question, runs)


def _misconception(lab: str, points: float, answer: Answer, runs: tuple[TestRun, ...]) -> AnswerAudit:
    named = _named(lab, answer.question, runs)
    kept = points_earned(lab, answer.question, points, runs, named)
    deducted = points * sum(run.test.deducts for run in runs if not run.result.passed)
    held = earned(points, [(run.test.weight, run.result.passed) for run in runs]) - deducted
    weighed = points - max(0.0, held)
    if named is None or named.name != answer.name:
        trouble = f"it is recognised as {named.name if named else 'none'}"
    elif not 0 < answer.costs <= points:
        trouble = f"it costs {answer.costs:g} of {points:g} points"
    elif abs(answer.costs - weighed) > MAX_WITHOUT_REASON * points and not answer.because:
        trouble = f"it costs {answer.costs:g}, and its tests are worth {weighed:.2f}: say why in because="
    else:
        trouble = ""
    return AnswerAudit(answer.name, "misconception", kept, points, runs, trouble)


def indistinct(rows: Sequence[AnswerAudit]) -> list[tuple[str, str]]:
    """Pairs of misconceptions that no hidden test tells apart, so that a diagnosis could not either."""
    wrong = [row for row in rows if row.kind == "misconception"]
    return [(first.name, second.name) for first, second in combinations(wrong, 2) if _alike(first, second)]


def _alike(first: AnswerAudit, second: AnswerAudit) -> bool:
    return all(
        a.result.passed == b.result.passed and traces_match(a.trace, b.trace)
        for a, b in zip(first.runs, second.runs, strict=True)
    )


def _worthless(question: Question) -> Iterator[tuple[str, Any]]:
    """Answers that know the card's data by heart, always return its first right value, or return their first argument."""
    asks = asks_of(question, PUBLIC)
    right = {
        json.dumps(encode([list(ask.case.args), ask.case.kwargs])): ask.right.value
        for ask in asks
        if ask.case is not None
    }

    def by_heart(*args: Any, **kwargs: Any) -> Any:
        return right.get(json.dumps(encode([list(args), kwargs])))

    yield "the card's data by heart", by_heart
    yield "the card's first right value", lambda *_, **__: asks[0].right.value
    yield "the first argument", lambda first=None, *_, **__: first
