"""Named wrong answers and correct alternatives: ``misconception`` and ``alternative`` mark them.

``misconceptions/mNN_topic.py`` holds both. A misconception is a short working function (or class) with the
question's signature; its docstring is the hint that a student gets who shows the same behaviour, its name in
words is the title. An alternative is a correct answer in another style; it must get full points::

    @misconception("softmax", title="softmax over the wrong axis")
    def softmax_over_columns(x, axis=-1):
        '''Your weights sum to one over the queries. Each query hands out one unit of attention, ...'''

    @alternative("softmax")
    def softmax_by_loops(x, axis=-1): ...
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Answer:
    """A named answer to a question; ``hint`` is empty for a correct alternative."""

    question: str
    name: str
    title: str
    function: Callable[..., Any]
    hint: str = ""
    #: Whether the public checks accept it too; they may hold a student to the letter of the question.
    public: bool = True


def misconception(question: str, title: str = "") -> Callable[[Any], Any]:
    """Mark a wrong answer that students really give. Its docstring is the hint."""

    def mark(function: Any) -> Any:
        hint = " ".join((inspect.getdoc(function) or "").split())
        if not hint:
            raise ValueError(f"misconception {function.__name__} needs a docstring: the hint")
        words = title or function.__name__.replace("_", " ")
        function.course_answer = ("misconception", Answer(question, function.__name__, words, function, hint))
        return function

    return mark


def alternative(question: str, *, public: bool = True) -> Callable[[Any], Any]:
    """Mark a correct answer in another style; ``public=False`` for one that the public checks rightly refuse."""

    def mark(function: Any) -> Any:
        words = function.__name__.replace("_", " ")
        answer = Answer(question, function.__name__, words, function, public=public)
        function.course_answer = ("alternative", answer)
        return function

    return mark


@cache
def answers_of(lab: str) -> dict[str, dict[str, tuple[Answer, ...]]]:
    """``{"misconception" | "alternative": {question: answers}}`` of a lab (full name), in file order."""
    module = importlib.import_module(f"autograder.misconceptions.m{lab}")
    found: dict[str, dict[str, list[Answer]]] = {"misconception": {}, "alternative": {}}
    for value in vars(module).values():
        mark = getattr(value, "__dict__", {}).get("course_answer")
        if mark and getattr(value, "__module__", "") == module.__name__:
            kind, answer = mark
            found[kind].setdefault(answer.question, []).append(answer)
    return {kind: {q: tuple(a) for q, a in by.items()} for kind, by in found.items()}
