"""Proves a question, in one pass: right answers are whole, each wrong one is named, loses points and is red on the card.

Whoever knows the card's data by heart, or returns rubbish, earns next to nothing; and the text's own numbers are those of
the reference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from coursekit.checks.encoding import encode

from autograder.questions.engine.compare import value_difference
from autograder.questions.engine.draw import PUBLIC, Ask, asks_of
from autograder.questions.engine.judge import Judgement, all_recognised, judge_function, known
from autograder.questions.engine.question import Question
from autograder.questions.engine.rubric import points_earned, share_of_weights
from autograder.testing.evidence import as_numbers

#: What a memoriser of the card, or rubbish, may earn at most.
MAX_FOR_NOTHING = 0.05
#: By what share of the points a cost may differ from what the failed families are worth, without a reason.
MAX_WITHOUT_REASON = 0.25


def audit(question: Question, points: float, master: Callable[..., Any], salt: str) -> list[str]:
    """What is wrong with a question, a sentence for each fault; none where all is well.

    ::

        audit(question, 5.0, solution(lab)[question.name], "a salt")
    """
    return [
        *_of_families(question, salt),
        *_of_right_answers(question, master, salt),
        *_of_misconceptions(question, points, salt),
        *_of_rubbish(question, salt),
    ]


def _of_families(question: Question, salt: str) -> Iterator[str]:
    public = _inputs_by_part(asks_of(question, PUBLIC))
    for name, inputs in _inputs_by_part(asks_of(question, salt)).items():
        if inputs == public[name]:
            yield f"{name} draws nothing: its hidden inputs are the card's"
    for ask in asks_of(question, salt):
        if ask.case is not None and not _as_the_text_says(ask.right.value, ask.case.gives):
            yield f"{ask.part.name}: the reference gives {ask.right.value}, and the text says {ask.case.gives}"


def _inputs_by_part(asks: tuple[Ask, ...]) -> dict[str, str]:
    inputs: dict[str, str] = {}
    for ask in asks:
        if ask.case is not None:
            asked = json.dumps(encode([list(ask.case.args), ask.case.kwargs]))
            inputs[ask.part.name] = inputs.get(ask.part.name, "") + asked
    return inputs


def _as_the_text_says(value: Any, gives: Any) -> bool:
    """Whether a value is the text's, to the digits that the text writes; None says nothing."""
    if gives is None:
        return True
    numbers = as_numbers(gives)
    if isinstance(gives, tuple) or (
        isinstance(gives, list) and (numbers is None or numbers.dtype.kind == "U")
    ):
        return len(value) == len(gives) and all(map(_as_the_text_says, value, gives))
    if numbers is None or numbers.dtype.kind != "f" or not numbers.size:
        return not value_difference(value, numbers if isinstance(gives, list) else gives)
    decimals = max(len(repr(number).partition(".")[2]) for number in numbers.ravel().tolist())
    return not value_difference(value, numbers, rtol=0, atol=0.51 * 10.0**-decimals)


def _of_right_answers(question: Question, master: Callable[..., Any], salt: str) -> Iterator[str]:
    for function in (master, *question.alternatives):
        for inputs in (salt, PUBLIC):
            judgement = judge_function(question, inputs, function)
            if not judgement.right:
                yield f"the right answer {function.__name__} fails {sorted(judgement.seen.failed)}"


def _of_misconceptions(question: Question, points: float, salt: str) -> Iterator[str]:
    titles = [one.title for one in question.misconceptions]
    if len(set(titles)) < len(titles):
        yield "two misconceptions have one title"
    for public, slip in zip(known(question, PUBLIC), known(question, salt), strict=True):
        one = slip.misconception
        named = [other.title for other in all_recognised(question, salt, slip.seen)]
        weighed = points * (1 - share_of_weights(question, slip.seen))
        if slip.seen.right:
            yield f"“{one.title}” keeps all points"
        elif named != [one.title]:
            yield f"“{one.title}” is recognised as {named}"
        if public.seen.right:
            yield f"“{one.title}” has a green card"
        if not 0 < one.costs <= points:
            yield f"“{one.title}” costs {one.costs:g} of {points:g} points"
        if abs(one.costs - weighed) > MAX_WITHOUT_REASON * points and not one.because:
            yield f"“{one.title}” costs {one.costs:g}, and its families are worth {weighed:.2f}: say why in because="


def _of_rubbish(question: Question, salt: str) -> Iterator[str]:
    for function in (_by_heart(question), _the_first_right_value(question), _the_first_argument):
        judgement = judge_function(question, salt, function)
        share = points_earned(question, salt, 1.0, Judgement(judgement.seen))
        if share > MAX_FOR_NOTHING:
            yield f"{function.__name__.strip('_')} earns {share:.0%}"


def _by_heart(question: Question) -> Callable[..., Any]:
    """An answer that knows the card's right values by heart."""
    right = {
        json.dumps(encode([list(ask.case.args), ask.case.kwargs])): ask.right.value
        for ask in asks_of(question, PUBLIC)
        if ask.case is not None
    }

    def by_heart(*args: Any, **kwargs: Any) -> Any:
        return right.get(json.dumps(encode([list(args), kwargs])))

    return by_heart


def _the_first_right_value(question: Question) -> Callable[..., Any]:
    value = asks_of(question, PUBLIC)[0].right.value

    def the_first_right_value(*args: Any, **kwargs: Any) -> Any:
        return value

    return the_first_right_value


def _the_first_argument(first: Any = None, *args: Any, **kwargs: Any) -> Any:
    return first
