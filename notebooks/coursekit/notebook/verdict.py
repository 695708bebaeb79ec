"""The result of an answer's public checks."""

from __future__ import annotations

from dataclasses import dataclass

#: The MIME type of a check's verdict in a cell's outputs.
MIME = "application/vnd.coursekit.check+json"


@dataclass(frozen=True)
class Mark:
    """One line of a card: what was checked, whether it holds, and what to do if not."""

    title: str
    passed: bool
    hint: str = ""


@dataclass(frozen=True)
class Verdict:
    """The outcome of all public checks of one question. ``written`` is False for an untouched stub."""

    question: str
    marks: tuple[Mark, ...]
    written: bool = True

    @property
    def passed(self) -> bool:
        """Whether every mark holds."""
        return self.written and all(mark.passed for mark in self.marks)


def is_stub(error: BaseException) -> bool:
    """Whether an error is the stub's ``raise NotImplementedError()``. PyTorch's own have a message."""
    return isinstance(error, NotImplementedError) and not error.args


#: Question -> the last verdict on it in this session.
last_verdicts: dict[str, Verdict] = {}
