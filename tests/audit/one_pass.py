"""One pass a question: each answer that the course knows runs once against the hidden tests and once against the card.

What is found wrong is a list of sentences, each of which names the answer and what does not hold of it.
"""

from __future__ import annotations

import ast
import inspect
import zlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from coursekit.checks import questions, time_limit
from coursekit.checks.api import judge

from autograder.audit.question import audit_answer, audit_question, in_a_notebook
from autograder.course.masters import solution, solution_source
from autograder.course.policy_file import spec
from autograder.judging.run import run_question, salt, set_salt
from autograder.sandbox.host.student import Student

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
    with patch.object(time_limit, "SECONDS", 600.0):
        with patch.object(questions, "AGAIN_SECONDS", 20.0):
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
        with patch.dict(solution(lab), dict.fromkeys(names, other)):
            runs = run_question(lab, question, Student.local_namespace(solution(lab), question))
        for failed in runs:
            if not failed.result.passed:
                yield f"master, the other answers {other.__name__}: {failed.test.name}: {failed.result.message}"


def _nothing_given_away(lab: str, question: str) -> Iterator[str]:
    """Student code finds whatever is in the sandbox: what helps it along may answer earlier questions only."""
    with patch.object(Student, "scene", autospec=True, side_effect=Student.scene) as scene:
        run_question(lab, question, Student.local_namespace({question: nonsense}, question))
    order = [name for name, _ in spec(lab).questions]
    nodes = [node for call in scene.call_args_list for node in ast.walk(ast.parse(call.args[1]))]
    defined = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for name in sorted(defined & set(order[order.index(question) :])):
        yield f"a hidden test sends an answer to {name} into the sandbox"


# --------------------------------------------------------------------- right answers in every form that lab 00 promises to take

Change = Callable[[Any], Any]


def _each(leaf: Change, sequence: Change = lambda items: items) -> Change:
    """A change of the leaves of plain tuples and lists, and of the tuples and lists themselves."""

    def change(value: Any) -> Any:
        if type(value) in (tuple, list):
            return sequence(type(value)(change(item) for item in value))
        return leaf(value)

    return change


def _single(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value.astype(np.float32)
    if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
        return value.float()
    return np.float32(value) if type(value) is float else value


def _single_input(value: Any) -> Any:
    return value if isinstance(value, torch.Tensor) and value.requires_grad else _single(value)


def _tensor(value: Any) -> Any:
    return torch.tensor(value) if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" else value


def _result(change: Change) -> Change:
    return lambda function: lambda *given, **named: change(function(*given, **named))


def _arguments(change: Change) -> Change:
    def changed(named: dict[str, Any]) -> dict[str, Any]:
        return {name: change(value) for name, value in named.items()}

    return lambda function: lambda *given, **named: function(*map(change, given), **changed(named))


def _other_names(function: Any) -> Any:
    """Takes by name only what has a value by default: only those names are promised."""
    parameters = inspect.signature(function).parameters.values()
    promised = {p.name for p in parameters if p.default is not p.empty or p.kind is p.VAR_KEYWORD}

    def renamed(*given: Any, **named: Any) -> Any:
        if set(named) - promised:
            raise TypeError(f"the argument is called otherwise here: {sorted(set(named) - promised)}")
        return function(*given, **named)

    return renamed


#: Every style once. Those of one group change different values, so that none hides another; other names read the signature, so
#: they come first.
STYLES: tuple[dict[str, Change], ...] = (
    {
        "arguments of other names": _other_names,
        "single precision at the end": _result(_each(_single)),
        "tuples for lists": _result(_each(lambda value: value, tuple)),
    },
    {
        "NumPy's numbers": _result(_each(lambda v: np.asarray(v)[()] if type(v) in (float, int) else v)),
        "tensors for arrays": _result(_each(_tensor)),
        "lists for tuples": _result(_each(lambda value: value, list)),
        "single precision on the way": _arguments(_each(_single_input)),
    },
    {"lists for arrays": _result(_each(lambda v: v.tolist() if isinstance(v, np.ndarray) else v))},
)
#: The layers that these are given are in double precision.
IN_DOUBLE = ("attention_maps", "cached_attention")


# ----------------------------------------------------------------------------------- other answers, and none


def _honest_variations(lab: str, question: str) -> Iterator[str]:
    """The right answer in another style keeps its points and its green card."""
    right = solution(lab)[question]
    if isinstance(right, type):  # of a class only its results could be varied
        return
    for together in STYLES:
        styles, answer = list(together), right
        if question in IN_DOUBLE:
            styles = [name for name in styles if name != "single precision on the way"]
        for name in styles:
            answer = together[name](answer)
        if fault := audit_answer(lab, question, 1, "alternative", "varied", answer).fault:
            yield f"right answer with {styles}: {fault}"
        for mark in judge(lab, question, in_a_notebook(answer, solution(lab))).marks:
            if not mark.passed:
                yield f"right answer with {styles}: its card says “{mark.title}” {mark.hint}"


def _rubbish(lab: str, question: str) -> Iterator[str]:
    """Whatever comes back is judged; no card says that a function raised an error which the check itself ran into with it."""
    points, kinds = dict(spec(lab).questions)[question], list(RUBBISH)
    if salt() == SALT:  # numbers, and another kind for each question; `make proof` tries all
        kinds = [kinds.pop(), kinds[zlib.crc32(question.encode()) % len(kinds)]]
    for name in kinds:

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
