"""One pass a question: each answer that the course knows runs once against the hidden tests and once against the card.

What is found wrong is a list of sentences, each of which names the answer and what does not hold of it.
"""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from coursekit.checks import questions, time_limit
from coursekit.checks.api import judge

from autograder.audit.question import audit_answer, audit_question, in_a_notebook
from autograder.course.masters import solution, solution_source
from autograder.course.policy_file import spec
from autograder.judging.run import run_question, salt, set_salt
from autograder.sandbox.host.student import Student
from tests.audit.styles import REFUSED, TOGETHER, varied

#: What no question asks for: it earns next to nothing, and its card is red and does not say that the function raised an error.
RUBBISH = {
    "nothing": None,
    "a text": "a smooth curve",
    "bytes": b"bytes",
    "a number": 7.5,
    "not a number": float("nan"),
    "a truth": True,
    "an empty list": [],
    "lists of unequal lengths": [[1.0], [2.0, 3.0]],
    "a dictionary": {"output": 1},
    "a set": {1, 2},
    "a function": len,
    "three things": (None, "two", {}),
    "made-up numbers": (1e9, 1e9, 0.5, 0.5),
    "made-up numbers within reach": (10, 10, 0.5, 0.5),
}
#: The inputs are drawn from this salt, whatever a test before has set: no verdict of the pass is luck.
SALT = "no salt set: development only"


def faults(lab: str, question: str, drawn: str = SALT) -> list[str]:
    """Whatever is wrong with how a question is graded, with inputs drawn from the salt ``drawn``."""
    set_salt(drawn)
    # Nothing here goes on for ever, and a busy machine changes no card.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time_limit, "SECONDS", 600.0)
        with patch.context() as longer:
            longer.setattr(questions, "AGAIN_SECONDS", 20.0)
            found = audit_question(lab, question, dict(spec(lab).questions)[question]).sentences
        parts = [_paid_once, _nothing_given_away, _honest_variations, _rubbish]
        return [*found, *(fault for part in parts for fault in part(lab, question))]


# --------------------------------------------------------------------------- a question is judged on its own


def not_written(*arguments: Any, **named: Any) -> Any:
    raise NotImplementedError


def nonsense(*arguments: Any, **named: Any) -> Any:
    return None


def _paid_once(lab: str, question: str) -> Iterator[str]:
    """A right answer gets full points whatever the answers that it builds on are worth.

    Where its code names no other question, what these are is all one.
    """
    source, names = solution_source(lab, question), {name for name, _ in spec(lab).questions} - {question}
    builds_on_others = any(name in source for name in names)
    for other in (not_written, nonsense) if builds_on_others else (nonsense,):
        with pytest.MonkeyPatch.context() as patch:
            for name in names:
                patch.setitem(solution(lab), name, other)
            runs = run_question(lab, question, Student.local_namespace(solution(lab), question))
        for failed in runs:
            if not failed.result.passed:
                yield f"master, the other answers {other.__name__}: {failed.test.name}: {failed.result.message}"


def _nothing_given_away(lab: str, question: str) -> Iterator[str]:
    """Student code finds whatever is in the sandbox: what helps it along may answer earlier questions only."""
    sent: list[str] = []
    scene = Student.scene
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Student,
            "scene",
            lambda self, source, **named: sent.append(source) or scene(self, source, **named),
        )
        run_question(lab, question, Student.local_namespace({question: nonsense}, question))
    order = [name for name, _ in spec(lab).questions]
    nodes = [node for source in sent for node in ast.walk(ast.parse(source))]
    defined = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for name in sorted(defined & set(order[order.index(question) :])):
        yield f"a hidden test sends an answer to {name} into the sandbox"


# ----------------------------------------------------------------------------------- other answers, and none


def _honest_variations(lab: str, question: str) -> Iterator[str]:
    """The right answer in another style keeps its points and its green card."""
    right = solution(lab)[question]
    if isinstance(right, type):  # of a class only its results could be varied
        return
    for together in TOGETHER:
        styles = [name for name in together if name not in REFUSED.get(question, ())]
        answer = varied(right, styles)
        if fault := audit_answer(lab, question, 1, "alternative", "varied", answer).fault:
            yield f"right answer with {styles}: {fault}"
        for mark in judge(lab, question, in_a_notebook(answer, solution(lab))).marks:
            if not mark.passed:
                yield f"right answer with {styles}: its card says “{mark.title}” {mark.hint}"


def _few(question: str) -> list[str]:
    """Numbers, and a kind of rubbish that differs from question to question. `make proof` tries all kinds."""
    *others, numbers = RUBBISH
    return [numbers, others[zlib.crc32(question.encode()) % len(others)]]


def _rubbish(lab: str, question: str) -> Iterator[str]:
    """Whatever comes back is judged; no card says that a function raised an error which the check itself ran into with it."""
    points = dict(spec(lab).questions)[question]
    for name in _few(question) if salt() == SALT else RUBBISH:

        def answer(*given: Any, _rubbish: Any = RUBBISH[name], **named: Any) -> Any:
            return _rubbish

        if fault := audit_answer(lab, question, points, "worthless", name, answer).fault:
            yield f"{name}: {fault}"
        marks = judge(lab, question, answer).marks
        if not any(mark.hint for mark in marks):
            yield f"{name} has a green card"
        for mark in marks:
            if mark.hint.startswith("your function raised"):
                yield f"of {name} the card says: {mark.hint}"
