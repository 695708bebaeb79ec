"""Audits the public checks: right answers pass them, wrong ones do not, and none that students really give breaks one.

Each misconception fails its card and shows its own hint there, unless its ``card=`` says why not.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from coursekit.checks.api import judge
from coursekit.notebook import cards
from coursekit.notebook.verdict import Verdict

from autograder.course.masters import solution
from autograder.testing.catalogue import answers_of, loaded_anew


@dataclass(frozen=True)
class PublicTrouble:
    """A public check that is at fault: which answer shows it, and what it did."""

    answer: str
    kind: str  # "master", "alternative" or "misconception"
    sentence: str


@dataclass(frozen=True)
class _Judged:
    """A known answer and what its card says."""

    name: str
    kind: str
    accepted: bool  # whether the card has to be green
    verdict: Verdict
    errors: list[tuple[str, Exception]]  # what was raised, and in which check


def audit_public(lab: str, question: str) -> list[PublicTrouble]:
    """Where the public checks of a question (lab by full name) say a wrong thing about a known answer.

    The master and the alternatives pass every check. A misconception shows its hint. And no check may stumble over what an
    answer returned, for its card would blame an error on the student that is not in their code. Each answer is judged once.
    """
    judged = _judge_all(lab, question)
    wrong = {one.name: one.verdict for one in judged if one.kind == "misconception"}
    troubles = [trouble for one in judged for trouble in _troubles(one)]
    return troubles + _without_its_hint(lab, question, wrong)


def _judge_all(lab: str, question: str) -> list[_Judged]:
    judged = [_judge(lab, question, "master", "master", solution(lab)[question], True)]
    for kind, by_question in answers_of(lab).items():
        for answer in by_question.get(question, ()):
            function = in_a_notebook(answer.function, solution(lab))
            accepted = kind != "misconception"
            judged.append(_judge(lab, question, kind, answer.name, function, accepted))
    return judged


def _judge(lab: str, question: str, kind: str, name: str, function: Any, accepted: bool) -> _Judged:
    errors: list[tuple[str, Exception]] = []
    return _Judged(name, kind, accepted, judge(lab, question, function, errors), errors)


def _without_its_hint(lab: str, question: str, wrong: Mapping[str, Verdict]) -> list[PublicTrouble]:
    """The misconceptions whose card does not say what their author wrote for them, and whose ``card=`` gives no reason for it."""
    known = {answer.name: answer for answer in answers_of(lab)["misconception"].get(question, ())}
    return [
        PublicTrouble(name, "misconception", "its card does not show its hint")
        for name, verdict in wrong.items()
        if not known[name].card and not any(known[name].hint in mark.hint for mark in verdict.marks)
    ]


def in_a_notebook(function: Any, beside: Mapping[str, Any]) -> Any:
    """The answer with the master's other functions beside it, as a check may look for them there, and nothing kept of earlier calls."""
    named = getattr(function, "course_answer", None)
    if named:
        function = loaded_anew([named[1]])[0].function
    if not isinstance(function, FunctionType):
        return function
    names = {**beside, **function.__globals__}
    moved = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    moved.__kwdefaults__, moved.__doc__ = function.__kwdefaults__, function.__doc__
    return moved


def _troubles(judged: _Judged) -> list[PublicTrouble]:
    sentences = [
        f"{check} stumbles: {''.join(traceback.format_exception_only(error)).strip()}"
        for check, error in judged.errors
        if judged.accepted or not (isinstance(error, NotImplementedError) or _in_the_answer(error))
    ]
    if judged.accepted and not judged.verdict.passed and not sentences:
        red = [f"“{mark.title}” says: {mark.hint}" for mark in judged.verdict.marks if not mark.passed]
        sentences = red or ["it is taken for an answer that is not written"]
    try:
        cards.checked(judged.verdict, 0, 1)
    except Exception as error:
        sentences.append(f"no card can be made: {error!r}")
    return [PublicTrouble(judged.name, judged.kind, sentence) for sentence in sentences]


def _in_the_answer(error: BaseException) -> bool:
    """Whether the error came up in an answer, or in what it called, and not in the check's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    folders = ("/questions/m", "/solutions/")
    return any(folder in frame.filename for frame in frames for folder in folders)
