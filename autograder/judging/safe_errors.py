"""Reduces an error in a student's code to parts that cannot contain a hidden input.

The report of an error comes from the student's process, which knows the hidden inputs, so it is not shown unchanged. The
innermost source line is shown if the notebook has that line. The error's name is shown if Python or a library has an error
of that name. The message is shown if it has a known form, without numbers and without names that are not in the shown lines.
"""

from __future__ import annotations

import builtins
import re
import tomllib
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from autograder.sandbox.host.student import StudentError

#: Lists of names, also for ``movable``.
WORDS = {
    what: frozenset(names)
    for what, names in tomllib.loads(
        Path(__file__).with_name("names.toml").read_text(encoding="utf-8")
    ).items()
}
#: The errors that are named: Python's own and those of libraries. The student could choose any other name, so it could be a
#: hidden input.
NAMES = WORDS["errors_of_libraries"] | {
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}
#: The types of returned values that are named.
TYPES = WORDS["returned_by_mistake"]

#: A student's line is shown if it is among the notebook's first ``MAX_LINES``; its first ``MAX_OWN_WORDS`` words may be named.
#: Both limit what a student's code can put on a page: see docs/security.md.
MAX_LINES = 1024
MAX_OWN_WORDS = 16

_NUMBERS = r"(?:[\d()\[\], .*+-]|(?<=\d)x(?=\d)| and )*"
_QUOTED = r"'[^']*'"
#: The forms of Python's, NumPy's and PyTorch's messages, with # for numbers and ' for a quoted name.
_FORMS = Path(__file__).with_name("known_messages.txt").read_text(encoding="utf-8").splitlines()


def _pattern(form: str) -> re.Pattern[str]:
    """The form as a regular expression: # matches numbers and shapes, ' a quoted word, @ a bare word."""
    slots = {"#": f"({_NUMBERS})", "'": f"({_QUOTED})", "@": r"([\w.+*/@%<>=&|^~-]{1,40})"}
    parts = re.split(r"(#|'(?![a-zA-Z@`])|@)", form)
    return re.compile("".join(slots.get(part, re.escape(part)) for part in parts))


_PATTERNS = tuple(_pattern(form) for form in _FORMS)
#: What may stand in a message's places.
COMMON = WORDS["common"]


def safe_error(error: StudentError | None, cells: Sequence[tuple[str, str]]) -> str:
    """The error with the student's line that raised it; "" for no error. ``cells`` are (label, source) of the run cells."""
    if error is None:
        return ""
    place, line = _innermost_line(error, cells)
    message = safe_message(error.message, line)
    name = error.type_name if error.type_name in NAMES else "an error of your own"
    return "\n".join([*([f"{place}: {line}"] if line else []), f"{name}: {message}" if message else name])


def _innermost_line(error: StudentError, cells: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Place and text of the innermost frame's line that is in the notebook; empty if there is none."""
    numbered = (
        (label, number, line.strip()[:300])
        for label, source in cells
        for number, line in enumerate(source.split("\n"), start=1)
        if line.strip()
    )
    lines = {(label, number): line for label, number, line in islice(numbered, MAX_LINES)}
    for frame in reversed(error.frames):
        line = lines.get((frame.cell, frame.line), "")
        if line and line == frame.source.strip()[:300]:
            return f"in {frame.cell}, line {frame.line}", line
    return "", ""


def safe_message(message: str, shown: str) -> str:
    """The message in its known form: without numbers, with common types and operators, and with at most one name from the
    line ``shown``; "" if the form is unknown.
    """
    line = " ".join(message.split())[:400]
    words = [part for word in re.findall(r"[\w.]+", shown) for part in {word: 0, word.partition(".")[0]: 0}]
    own = set(words[:MAX_OWN_WORDS])

    def shown_slot(slot: str) -> str:
        inner = slot.strip("'")
        if inner in COMMON:
            return slot
        if inner in own:
            own.clear()
            return slot
        return "'…'" if slot.startswith("'") else "…" if slot.strip() else slot

    for pattern in _PATTERNS:
        if match := pattern.fullmatch(line):
            parts, end = [], 0
            for number in range(1, (pattern.groups or 0) + 1):
                parts += [line[end : match.start(number)], shown_slot(match[number])]
                end = match.end(number)
            return "".join([*parts, line[end:]])
    return ""
