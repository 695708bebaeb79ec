"""The card's data: public inputs, what is right for them and what each misconception makes of them, and its hint.

Values are data with nine digits, compared with a tolerance and never drawn again: a student's NumPy may draw others. No
code of a reference, a misconception or the master is among them, so that nothing in the kit computes an answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.questions.engine.compare import Outcome
from autograder.questions.engine.draw import PUBLIC, Ask
from autograder.questions.engine.judge import known
from autograder.questions.engine.question import Question
from autograder.testing.evidence import as_numbers

DIGITS = 9
#: Of an array with few different values each entry is the place of its value.
_PLACES = "0123456789"
#: The data of all questions of a lab take no more bytes.
MAX_BYTES = 1 << 20


def card_data(question: Question) -> dict[str, Any]:
    """What the card needs of a question, ready for JSON.

    A case holds ``asked`` (the arguments), ``right``, and under ``slips`` what each misconception makes of it where that is
    wrong, by its number; a scenario, which is code, only its title::

        json.dumps(card_data(question), separators=(",", ":"))
    """
    slips = known(question, PUBLIC)
    parts: dict[str, dict[str, Any]] = {
        part.name: {"title": part.title, "cases": []} for part in question.parts
    }
    for place, ask in enumerate(slips[0].seen.asks if slips else ()):
        if ask.case is None:
            continue
        wrong = {
            str(number): _outcome(slip.seen.outcomes[place])
            for number, slip in enumerate(slips)
            if slip.seen.wrong[place] or slip.seen.outcomes[place].changed
        }
        parts[ask.part.name]["cases"].append(_case(ask, wrong))
    return {
        "question": question.name,
        "uses": list(question.uses),
        "parts": list(parts.values()),
        "misconceptions": [
            {"title": one.title, "hint": one.hint, "costs": one.costs} for one in question.misconceptions
        ],
    }


def _case(ask: Ask, slips: dict[str, Any]) -> dict[str, Any]:
    assert ask.case is not None
    case = {
        "asked": encode([list(ask.case.args), ask.case.kwargs]),
        "right": _outcome(ask.right),
        "slips": slips,
    }
    tolerances = {name: value for name, value in zip(("rtol", "atol"), ask.tolerances, strict=True) if value}
    return case | tolerances


def _outcome(outcome: Outcome) -> dict[str, Any]:
    found = {"error": outcome.error} if outcome.error else {"value": encode(outcome.value)}
    return found | ({"changed": list(outcome.changed)} if outcome.changed else {})


def encode(value: Any) -> Any:
    """A plain value for JSON: arrays and tensors with their kind of number and shape, fractions with nine digits.

    >>> encode((np.array([[True, False]]), 1 / 3))
    {'tuple': [{'array': 'b', 'shape': [1, 2], 'data': [True, False]}, 0.333333333]}
    """
    if isinstance(value, np.ndarray) or hasattr(value, "detach"):
        array = as_numbers(value)
        if array is None or array.dtype.kind not in "biufc":
            return encode(value.tolist())
        entries = [_entry(number) for number in array.ravel().tolist()]
        head: dict[str, Any] = {"array": array.dtype.kind, "shape": list(array.shape)}
        if hasattr(value, "detach"):
            head["tensor"] = str(value.dtype).removeprefix("torch.")
        values = list(dict.fromkeys(entries)) if array.dtype.kind != "c" else entries
        if len(values) > len(_PLACES) or len(values) == len(entries):
            return head | {"data": entries}
        place = dict(zip(values, _PLACES, strict=False))
        return head | {"values": values, "data": "".join(place[entry] for entry in entries)}
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, complex):
        return {"complex": [encode(value.real), encode(value.imag)]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, (tuple, set, frozenset)):
        items = value if isinstance(value, tuple) else sorted(value, key=repr)
        return {type(value).__name__: [encode(item) for item in items]}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a card cannot hold a value of type {type(value).__name__}")


def _entry(number: Any) -> Any:
    """A number of an array: one that is not finite is its name."""
    return str(number) if isinstance(number, float) and not math.isfinite(number) else encode(number)


def _tensor(array: Any, kind: str) -> Any:
    import torch  # takes seconds, and most labs do without

    return torch.tensor(array, dtype=getattr(torch, kind))


def decode(data: Any) -> Any:
    """The value that was encoded.

    >>> decode(encode((np.array([[True, False]]), {"a": math.inf})))
    (array([[ True, False]]), {'a': inf})
    """
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    if "array" in data:
        data_of = dict(zip(_PLACES, data.get("values", ()), strict=False))
        entries = [data_of[place] for place in data["data"]] if data_of else data["data"]
        flat = [float(entry) if isinstance(entry, str) else decode(entry) for entry in entries]
        kind = {"b": bool, "i": int, "u": int, "f": float}.get(data["array"], complex)
        array: Any = np.array(flat, dtype=kind).reshape(data["shape"])
        return _tensor(array, data["tensor"]) if "tensor" in data else array
    ((kind, held),) = data.items()
    if kind == "dict":
        return {decode(key): decode(item) for key, item in held}
    if kind in ("float", "bytes", "complex"):
        return (
            float(held)
            if kind == "float"
            else bytes.fromhex(held)
            if kind == "bytes"
            else complex(*decode(held))
        )
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](decode(held))
