"""The results of grading: frozen dataclasses that workers send to the writers.

``SubmissionResult.as_json`` is the documented JSON of ``grade --json``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter


@dataclass(frozen=True)
class Status:
    """The end of a submission's run, with the sentences for each reader: see ``statuses.toml``."""

    colour: str
    for_student: str
    for_staff: str
    test_message: str = ""
    event: str = ""


#: The note on the student's page if the grader itself failed. It does not repeat the error, which may contain a hidden input.
FAULT_NOTE = (
    "The grader itself failed on this submission, which is not its author's fault: "
    "it has not been graded, and a person has to look at it."
)
#: Begins the note of an old result that stayed because the grader itself failed on the new one; stored notes may go on in other words.
NOT_GRADED_AGAIN = "The grader itself failed when this was to be graded again"
EARLIER_NOTE = (
    f"{NOT_GRADED_AGAIN}, which is not its author's fault: "
    "the points are from an earlier run, and a person has to look at it."
)

_STATUSES = tomllib.loads(Path(__file__).with_name("statuses.toml").read_text(encoding="utf-8"))
#: Every submission ends in exactly one of these.
STATUSES = {name: Status(**sentences) for name, sentences in _STATUSES.items()}

#: Level of isolation of a submission -> sentence for the teaching team. A result names the available parts in brackets after
#: ``reduced`` (docs/security.md says what each part protects).
ISOLATION = {
    "namespaces": "no other file, process or network exists for a submission",
    "reduced": "the parts in brackets kept files, processes and the network from submissions; memory and disk were watched less closely",
}
STRONGEST, REDUCED = ISOLATION


#: The statuses without a notebook to grade.
UNREAD = ("missing", "unreadable")


def whole_sentences(text: str, most: int = 2000) -> str:
    """The text or, if it has more than ``most`` characters, its first sentences or lines that fit, followed by "…"."""
    if len(text) <= most:
        return text
    end = max(text.rfind(mark, 0, most) for mark in (". ", ".\n", "? ", "\n"))
    return f"{text[: end + 1].rstrip()} …" if end >= 0 else f"{text[:most]}…"


#: Ends the message of a test that passes because the answer cannot be judged until an earlier answer is corrected.
MEND_FIRST = "mend that first; this part costs nothing"


@dataclass(frozen=True)
class TestResult:
    """One hidden test: its title, whether it passed, and its message to the student.

    The message is the reason for the failure, or names the earlier answers that were replaced by the course's.
    """

    #: Tells pytest that this class is no test case.
    __test__ = False

    name: str
    passed: bool
    message: str = ""


@dataclass(frozen=True)
class QuestionResult:
    """One graded question. ``misconception`` is its title, ``hint`` its hint."""

    name: str
    points: float
    max_points: float
    tests: tuple[TestResult, ...] = ()
    misconception: str | None = None
    hint: str | None = None
    #: The student's error with the student's own frames; "" for none.
    error: str = ""
    #: What is wrong, in words: the misconception's title, or what the values or the error show.
    cause: str | None = None
    #: The forbidden library functions that the student used, such as ("torch.softmax",).
    forbidden: tuple[str, ...] = ()
    #: Whether the cell of the answer, or of a name that it needs, stopped with an error (``cause`` and ``error``).
    did_not_run: bool = False
    #: A generated sentence about an answer without a misconception; "" if none is certain.
    generated: str = ""

    @property
    def is_right(self) -> bool:
        """Whether all tests passed."""
        return bool(self.tests) and all(test.passed for test in self.tests)

    @property
    def in_question(self) -> bool:
        """Whether a person must decide its points: it uses a forbidden function, or is only partly tested."""
        return self.points > 0 and (bool(self.forbidden) or self.is_partly_tested)

    @property
    def why(self) -> str:
        """What is wrong if no misconception was recognised: what the answer does, then what its values show."""
        return " ".join(filter(None, (self.generated, self.cause)))

    @property
    def is_partly_tested(self) -> bool:
        """Whether a test passed only because an earlier answer that it needs is wrong."""
        return any(test.passed and test.message.endswith(MEND_FIRST) for test in self.tests)


@dataclass(frozen=True)
class CellOutcome:
    """The outcome of one executed cell. ``outputs`` are nbformat output dicts of limited size."""

    grade_id: str | None
    index: int
    status: str  # "ok", "error" or "not-run"
    seconds: float = 0.0
    outputs: tuple[dict[str, Any], ...] = ()
    error: str = ""


@dataclass(frozen=True)
class SubmissionResult:
    """A graded submission: one status, a row for every question, notes in words."""

    student: str
    lab: str
    status: str
    score: float
    max_score: float
    seconds: float
    questions: tuple[QuestionResult, ...] = ()
    #: Sentences about repairs and problems: "The test cell of softmax was missing and was restored."
    notes: tuple[str, ...] = ()
    #: The executed notebook as nbformat JSON (for autograded/); "" for none.
    notebook: str = ""
    #: ISO time of the submission (timestamp.txt); "" if unknown.
    submitted_at: str = ""
    #: The submission's level of ``ISOLATION``; for ``reduced``, with its parts.
    isolation: str = STRONGEST
    #: The digests of everything that the result depends on, one for each question (``cache_keys``).
    keys: dict[str, str] = field(default_factory=dict)
    #: The results of the public checks in this run: question -> list of (passed, sentence).
    public_checks: dict[str, list[tuple[bool, str]]] = field(default_factory=dict)
    #: The grader's own error ("" for none). It is never the student's fault and gives no grade.
    fault: str = ""
    #: The notes about the run; the other notes are about the notebook's form.
    run_notes: tuple[str, ...] = ()
    #: The questions that were tested in this result's run; the others keep earlier results.
    tested: tuple[str, ...] = ()
    #: The notes on unclear choices of what counts; teachers also read them.
    choices: tuple[str, ...] = ()

    @property
    def is_outdated(self) -> bool:
        """Whether its points are from an earlier run, because the grader itself failed on the newer submission."""
        return any(note.startswith(NOT_GRADED_AGAIN) for note in self.notes)

    @property
    def readable(self) -> bool:
        """Whether there was a notebook to grade. A class's mean counts only these."""
        return self.status not in UNREAD

    def as_json(self) -> dict[str, Any]:
        """The documented JSON of one row of ``grade --json``."""
        row = self.as_dict() | {"seconds": round(self.seconds, 4)}
        questions = [{name: question[name] for name in _OF_A_QUESTION} for question in row["questions"]]
        return {name: row[name] for name in _OF_A_ROW} | {"questions": questions}

    def as_dict(self) -> dict[str, Any]:
        """The full result for the store. ``from_dict`` is the inverse."""
        found: dict[str, Any] = _RESULT.dump_python(self, warnings=False)  # six times as fast as ``asdict``
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SubmissionResult:
        """Rebuild a result from ``as_dict``, restoring tuples."""
        return _RESULT.validate_python(data)


_RESULT = TypeAdapter(SubmissionResult)
_OF_A_ROW = ("student", "lab", "status", "score", "max_score", "seconds", "isolation", "notes")
_OF_A_QUESTION = (
    *("name", "points", "max_points", "tests", "misconception", "hint", "cause", "generated", "error"),
    "forbidden",
)
