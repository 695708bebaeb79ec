"""Audits the public checks: right answers pass them, wrong ones do not, and none that students really give breaks one.

What only unseen inputs can show stands in a lab's list, in ``misconceptions/mNN_topic/__init__.py``, with the reason::

    ONLY_UNSEEN = {"patchify": {"view_of_a_view": "a check that passes a view would give the idea away"}}

A lab without the list is not held to it yet.

What a card says to each wrong answer stands in ``misconceptions/mNN_topic/cards.json``, as a person has read and found
true: a hint that speaks for another slip is seen there. When a sentence changes, or an answer is new, the audit fails
until somebody has read it again and written it down with ``autograder audit LAB --accept-cards``.

A lab whose cards are made of its questions' files has neither list: each misconception fails, and shows its own hint.
"""

from __future__ import annotations

import importlib
import json
import re
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from coursekit.checks.api import judge
from coursekit.checks.questions import questions_of
from coursekit.notebook import cards
from coursekit.notebook.verdict import Verdict

from autograder.course.masters import solution
from autograder.files import write_atomically
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

    The master and the alternatives (but those with ``public=False``) pass every check. A misconception fails one, unless
    it is on the lab's list. And no check may stumble over what an answer returned, for its card would blame an error on
    the student that is not in their code. Each answer is judged once.
    """
    judged = _judge_all(lab, question)
    wrong = {one.name: one.verdict for one in judged if one.kind == "misconception"}
    troubles = [trouble for one in judged for trouble in _troubles(one)]
    return troubles + _off_the_list(lab, question, wrong) + _not_accepted(lab, question, wrong)


def _judge_all(lab: str, question: str) -> list[_Judged]:
    judged = [_judge(lab, question, "master", "master", solution(lab)[question], True)]
    for kind, by_question in answers_of(lab).items():
        for answer in by_question.get(question, ()):
            function = in_a_notebook(answer.function, solution(lab))
            accepted = kind != "misconception" and answer.public
            judged.append(_judge(lab, question, kind, answer.name, function, accepted))
    return judged


def _judge(lab: str, question: str, kind: str, name: str, function: Any, accepted: bool) -> _Judged:
    errors: list[tuple[str, Exception]] = []
    return _Judged(name, kind, accepted, judge(lab, question, function, errors), errors)


def only_unseen(lab: str) -> dict[str, dict[str, str]] | None:
    """The misconceptions that pass the public checks by design, with the reasons; None where a lab has no list."""
    if questions_of(lab):  # there a misconception's ``card=`` gives the reason
        return None
    return getattr(importlib.import_module(f"autograder.misconceptions.m{lab}"), "ONLY_UNSEEN", None)


def _off_the_list(lab: str, question: str, wrong: Mapping[str, Verdict]) -> list[PublicTrouble]:
    """Where the list and the checks disagree on which misconceptions a card shows."""
    lists = only_unseen(lab)
    if lists is None:
        return []
    listed, troubles = dict(lists.get(question, {})), []
    for name, verdict in wrong.items():
        reason = listed.pop(name, "")
        if verdict.passed and not reason:
            sentence = "it passes every public check and is not on the list ONLY_UNSEEN"
        elif reason and not verdict.passed:
            sentence = "it is on the list ONLY_UNSEEN, but a public check tells it"
        else:
            continue
        troubles.append(PublicTrouble(name, "misconception", sentence))
    gone = "it is on the list ONLY_UNSEEN, but there is no such misconception"
    return troubles + [PublicTrouble(name, "misconception", gone) for name in listed]


def _sentence(verdict: Verdict) -> str:
    """What a wrong answer's card explains: its first hint, without measured decimals and library's words."""
    hint = next((mark.hint for mark in verdict.marks if mark.hint), "")
    hint = re.sub(r"(your function raised \w+): .*", r"\1", hint)
    return re.sub(r"-?\d*\.\d{3,}(e-?\d+)?", "#", hint)


def accept_cards(lab: str, questions: Iterable[str]) -> None:
    """Write down what the cards say today, as read and found true."""
    said = {
        question: {
            one.name: _sentence(one.verdict)
            for one in _judge_all(lab, question)
            if one.kind == "misconception"
        }
        for question in questions
    }
    write_atomically(_cards_file(lab), json.dumps(said, indent=1, ensure_ascii=False) + "\n")


def _cards_file(lab: str) -> Path:
    return Path(str(importlib.import_module(f"autograder.misconceptions.m{lab}").__file__)).with_name(
        "cards.json"
    )


def _not_accepted(lab: str, question: str, wrong: Mapping[str, Verdict]) -> list[PublicTrouble]:
    """The wrong answers whose card says what nobody has found true of them yet."""
    if questions_of(lab):
        return _without_its_hint(lab, question, wrong)
    accepted = json.loads(_cards_file(lab).read_text(encoding="utf-8")) if _cards_file(lab).exists() else {}
    today = {name: _sentence(verdict) for name, verdict in wrong.items()}
    before = accepted.get(question, {})
    return [
        PublicTrouble(
            name,
            "misconception",
            f"its card says “{today.get(name, 'nothing: there is no such answer')}”: if that is true of it, `autograder audit {lab[:2]} --accept-cards`",
        )
        for name in {**today, **before}
        if today.get(name) != before.get(name)
    ]


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
    folders = ("/misconceptions/", "/questions/m", "/solutions/")
    return any(folder in frame.filename for frame in frames for folder in folders)
