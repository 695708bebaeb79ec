"""Makes a card's data: public inputs, their right outcomes, and each misconception's outcomes and hint.

``autograder build`` writes the data into the kit. They contain no code of a reference, misconception or master, so that
nothing in the kit computes an answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursekit.checks.compare import Observed, Outcome, alike
from coursekit.checks.encoding import encode
from coursekit.checks.questions import DIGEST_KEY
from coursekit.checks.words import argument_names

from autograder.course.masters import course_root
from autograder.course.policy_file import spec
from autograder.course.student_files import kit_folder
from autograder.errors import UserError
from autograder.files import digest_of, write_atomically
from autograder.questions.engine.as_tests import first_of_each_family
from autograder.questions.engine.card_code import card_code
from autograder.questions.engine.draw import PUBLIC, Trial, outcome_of, student_answering, trials_of
from autograder.questions.engine.question import Answer, Case, Family, Question, questions_of
from autograder.sandbox.host.student import Student, argument_in_words

#: The most bytes of a lab's data.
MAX_BYTES = 1 << 20
#: The absolute and relative tolerance for stored numbers, because machines round differently.
_TOLERANCE = 1e-6


def card_file(lab: str) -> Path:
    """The path, in the kit, of the data of a lab's cards."""
    return kit_folder() / "checks" / "data" / f"q{lab}.json"


def write_card(lab: str) -> None:
    """Write the data of a lab's cards, unless they are up to date."""
    if not card_file(lab).exists():
        write_atomically(card_file(lab), "{}\n")  # the master's first cell needs the file
    if (data := data_of(lab)) and (card_drift(lab) or not is_stored(lab, data)):
        text = json.dumps({DIGEST_KEY: _digest_of_files(lab), **data}, **_COMPACT) + "\n"
        if len(text.encode()) > MAX_BYTES:
            raise UserError(
                f"The cards' data of {lab} would take more than a megabyte: yield smaller public inputs."
            )
        write_atomically(card_file(lab), text)


def card_drift(lab: str) -> str:
    """A sentence if the data of a lab's cards were made from other versions of the question files; else "".

    Only digests are compared. ``is_stored`` compares the values, which takes seconds for each question.
    """
    file = card_file(lab)
    stored = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if stored.get(DIGEST_KEY, "") == _digest_of_files(lab):
        return ""
    return f"notebooks/{file.relative_to(kit_folder().parent)} differs from the questions' files"


def is_stored(lab: str, data: dict[str, Any]) -> bool:
    """Whether the stored data of a lab's cards equal ``data`` except for rounding."""
    stored = json.loads(card_file(lab).read_text(encoding="utf-8"))
    return _are_equal({name: value for name, value in stored.items() if name != DIGEST_KEY}, data)


def _digest_of_files(lab: str) -> str:
    folder = course_root() / "autograder" / "questions" / f"m{lab}"
    return digest_of(sorted(folder.glob("*.py"))) if folder.is_dir() else ""


_COMPACT: dict[str, Any] = {"separators": (",", ":"), "allow_nan": False, "ensure_ascii": False}


def data_of(lab: str) -> dict[str, Any]:
    """Question -> data, in the lab's order."""
    questions = questions_of(lab)
    return {name: card_data(questions[name]) for name, _ in spec(lab).questions if name in questions}


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_are_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    if isinstance(one, float) or isinstance(other, float):
        both = (isinstance(number, (int, float)) for number in (one, other))
        return all(both) and abs(one - other) <= _TOLERANCE * (1 + abs(other))
    return bool(one == other)


def card_data(question: Question) -> dict[str, Any]:
    """A question's data for its card, ready for JSON.

    A case has ``asked`` (the arguments), ``right`` (the right outcome), and ``slips``: a misconception's number -> its wrong
    outcome. A scenario's outcomes are observations. ``code`` is the source of scenarios and impostors::

        json.dumps(card_data(question), allow_nan=False)
    """
    parts: dict[str, dict[str, Any]] = {part.name: _part_data(part) for part in question.parts}
    fresh, trials = question.anew(), trials_of(question, PUBLIC)
    known = [_Known(one, student_answering(fresh, one.function), trials) for one in fresh.misconceptions]
    for place, trial in enumerate(trials):
        wrong = {
            str(number): _outcome_data(question, trial, outcome)
            for number, outcome in enumerate(one.outcomes[place] for one in known)
            if outcome.changed or trial.difference(outcome)
        }
        case: dict[str, Any] = {"right": _outcome_data(question, trial, trial.right), "slips": wrong}
        if trial.case is None:
            parts[trial.part.name]["seed"] = trial.seed
        else:
            case["asked"] = encode(([*trial.case.args], trial.case.kwargs))
            case |= {"text": True} if trial.case.gives is not None else {}
        parts[trial.part.name]["cases"].append(case)
    return {
        "forbidden": list(question.forbidden),
        "parts": list(parts.values()),
        "misconceptions": [
            {"hint": one.hint} | ({"again": True} if one.differs_again else {}) for one in known
        ],
        "code": card_code(question),
        "impostors": [function.__name__ for function in question.impostors],
    }


class _Known:
    """A misconception's outcomes in the card's trials, and whether a family's first call, repeated, has another outcome."""

    def __init__(self, misconception: Answer, student: Student, trials: Sequence[Trial]):
        self.hint = misconception.hint
        self.outcomes = [outcome_of(trial, student) for trial in trials]
        first = first_of_each_family(trials)
        self.differs_again = not all(
            _same_again(self.outcomes[place], outcome_of(trials[place], student)) for place in first
        )


def _same_again(first: Outcome, again: Outcome) -> bool:
    return first.error == again.error if first.error else alike(first, again)


def _part_data(part: Any) -> dict[str, Any]:
    limits = (
        {name: getattr(part, name) for name in ("rtol", "atol", "only")} if isinstance(part, Family) else {}
    )
    kept = {name: value for name, value in limits.items() if value is not None}
    return {"name": part.name, "title": part.title, "cases": [], **kept}


def _outcome_data(question: Question, trial: Trial, outcome: Outcome) -> dict[str, Any]:
    if outcome.error:
        found: dict[str, Any] = {"error": outcome.error}
    elif trial.case is None:
        found = {"seen": [_observation_data(observed) for observed in outcome.value]}
    else:
        found = {"value": _without_tensors(encode(outcome.value))}
    changed = set(outcome.changed) - set(trial.right.changed)
    return found | ({"changed": _changed(question, trial.case, changed)} if changed and trial.case else {})


def _observation_data(observed: Observed) -> list[Any]:
    return [observed.name, _without_tensors(encode(observed.value)), observed.rtol, observed.atol]


def _without_tensors(data: Any) -> Any:
    """Encoded values with arrays in place of tensors, so that no card imports PyTorch to compare them."""
    if isinstance(data, list):
        return [_without_tensors(item) for item in data]
    if isinstance(data, dict):
        return data["numbers"] if "tensor" in data else {k: _without_tensors(v) for k, v in data.items()}
    return data


def _changed(question: Question, case: Case, changed: set[str]) -> list[str]:
    """The names of the arguments that a call changed."""
    names = argument_names(question.reference, case.args)
    places = [place for place in range(len(names)) if argument_in_words(place) in changed]
    return [names[place] for place in places] + [n for n in case.kwargs if argument_in_words(n) in changed]
