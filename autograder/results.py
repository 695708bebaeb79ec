"""What grading produces: plain, frozen values that travel from the workers to the writers.

``SubmissionResult.as_json`` is the documented JSON of ``grade --json``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Status:
    """How a submission ended, in the words of everybody who is told."""

    #: Its colour in a terminal.
    colour: str
    #: For the student, on the feedback page and in exports. The result's notes name the cell.
    for_student: str
    #: For the teaching team, in the report.
    for_staff: str
    #: What a hidden test says that could not be judged because of it.
    test_message: str = ""
    #: What happened to the child process, in the note about the cell or call that ended it.
    event: str = ""


#: Where the grader itself failed, for the page that the student sees: it repeats nothing of the error, which may hold a hidden input.
FAULT_NOTE = (
    "The grader itself failed on this submission, which is not its author's fault: "
    "it has not been graded, and a person has to look at it."
)
#: A note of a result that stayed as it was, because the grader itself failed on what was to take its place.
EARLIER_NOTE = (
    "The grader itself failed when this was to be graded again, which is not its author's fault: "
    "the points are those of the time before, and a person has to look at it."
)

#: Every submission ends in exactly one of these.
STATUSES = {
    "graded": Status(
        "green",
        "Your notebook ran from top to bottom, and every question was tested.",
        "ran from top to bottom",
    ),
    "partly-run": Status(
        "yellow",
        "Some of your cells stopped with an error. Every question that could be tested was tested, "
        "and what works counts.",
        "some cells stopped with an error; the rest was graded",
    ),
    "timed-out": Status(
        "red",
        "Your notebook ran out of time: one cell was stopped. What ran without it counted.",
        "a cell ran out of time and was stopped",
        "your function took too long",
        "it took too long",
    ),
    "out-of-memory": Status(
        "red",
        "Your notebook asked for more memory than it may use, and a cell was stopped. "
        "What ran without it counted.",
        "a cell asked for too much memory and was stopped",
        "your function took too much memory",
        "it took too much memory",
    ),
    "crashed": Status(
        "red",
        "Python itself stopped while it ran your notebook. What ran before that counted.",
        "Python itself stopped",
        "your function ended the process it ran in",
        "its process ended",
    ),
    "unreadable": Status(
        "red",
        "We could not open your notebook file. Please check that it opens in JupyterLab, choose "
        "File → Save and hand it in again, or ask your teacher.",
        "the file is no notebook that can be read",
        "the notebook could not be read",
    ),
    "missing": Status(
        "dim",
        "We have no notebook from you for this lab. If you did hand one in, please tell your teacher.",
        "no notebook was handed in",
        "nothing was handed in",
    ),
}


#: What kept a submission apart from everything else while it ran: a level, and what that keeps, for the teaching team. A result
#: names after ``reduced`` in brackets what there was (docs/security.md says what each part keeps).
ISOLATION = {
    "namespaces": "no other file, process or network exists for a submission",
    "reduced": "what stands in brackets kept files, processes and the network from submissions; memory and disk were watched less closely",
}
STRONGEST, REDUCED = ISOLATION


#: Without a notebook to grade.
UNREAD = ("missing", "unreadable")


def whole_sentences(text: str, most: int = 2000) -> str:
    """The text, or its first sentences and lines that have at most so many characters together, and then "…"."""
    if len(text) <= most:
        return text
    end = max(text.rfind(mark, 0, most) for mark in (". ", ".\n", "? ", "\n"))
    return f"{text[: end + 1].rstrip()} …" if end >= 0 else f"{text[:most]}…"


#: Ends the message of a test that passes because nobody can tell what the answer is worth until an earlier one is mended.
MEND_FIRST = "mend that first; this part costs nothing"


@dataclass(frozen=True)
class TestResult:
    """One hidden test: its title in words, whether it passed, and what it tells the student.

    That is why it failed, or with which of the course's own answers in place of the student's it passed.
    """

    #: The name begins with "Test", but it is no test case for pytest to collect.
    __test__ = False

    name: str
    passed: bool
    message: str = ""


@dataclass(frozen=True)
class QuestionResult:
    """One graded question. ``misconception`` is a title, ``hint`` the sentence that goes with it."""

    name: str
    points: float
    max_points: float
    tests: tuple[TestResult, ...] = ()
    misconception: str | None = None
    hint: str | None = None
    #: The student's own error, in the student's own frames ("" when there was none).
    error: str = ""
    #: What is wrong, in words: the misconception's title, or else what the values or the error show.
    cause: str | None = None
    #: Library functions the question forbids and the student used, e.g. ("torch.softmax",).
    forbidden: tuple[str, ...] = ()
    #: Whether the cell that should define the answer, or a name that it needs, stopped with an error, which ``cause`` and
    #: ``error`` tell.
    did_not_run: bool = False
    #: What an answer without a misconception does, in a sentence that nobody wrote; "" where none is sure.
    generated: str = ""

    @property
    def is_right(self) -> bool:
        """Whether all of its tests passed."""
        return bool(self.tests) and all(test.passed for test in self.tests)

    @property
    def in_question(self) -> bool:
        """Whether a person says what it is worth: it uses a forbidden function, or part of it could not be tested."""
        return self.points > 0 and (bool(self.forbidden) or self.is_partly_tested)

    @property
    def why(self) -> str:
        """What is wrong where no misconception was recognised: what the answer does, then what its values show."""
        return " ".join(filter(None, (self.generated, self.cause)))

    @property
    def is_partly_tested(self) -> bool:
        """Whether a test passed only because an earlier answer that it needs is not right."""
        return any(test.passed and test.message.endswith(MEND_FIRST) for test in self.tests)


@dataclass(frozen=True)
class CellOutcome:
    """What one executed cell did. ``outputs`` are nbformat output dicts, already capped in size."""

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
    #: Sentences about repairs and troubles: "The test cell of softmax was missing and was restored."
    notes: tuple[str, ...] = ()
    #: The executed notebook as nbformat JSON text (for autograded/), "" when there is none.
    notebook: str = ""
    #: ISO time of the submission (timestamp.txt), "" when nobody knows it.
    submitted_at: str = ""
    #: What kept the submission apart while it ran: a level of ``ISOLATION``, with its parts where it is ``reduced``.
    isolation: str = STRONGEST
    #: What the result depends on: one digest a question (incremental grading).
    keys: dict[str, str] = field(default_factory=dict)
    #: The results of the public checks in this run: question -> list of (passed, sentence).
    public_checks: dict[str, list[tuple[bool, str]]] = field(default_factory=dict)
    #: What went wrong in the grader itself ("" when nothing did): never the student's fault, and no grade.
    fault: str = ""
    #: What the notes say about how the run went; the others are about the notebook's form.
    run_notes: tuple[str, ...] = ()
    #: The questions that were tested in the run that made this result; the others were taken over.
    tested: tuple[str, ...] = ()
    #: Those of the notes that say what counts where that was not plain: the teacher reads them, too.
    choices: tuple[str, ...] = ()

    @property
    def readable(self) -> bool:
        """Whether there was a notebook to grade; a mean over a class counts only these."""
        return self.status not in UNREAD

    def as_json(self) -> dict[str, Any]:
        """The documented JSON shape of one row of ``grade --json``."""
        questions = [
            _shown(q, _OF_A_QUESTION)
            | {"tests": [_shown(test, ("name", "passed", "message")) for test in q.tests]}
            | {"forbidden": list(q.forbidden)}
            for q in self.questions
        ]
        row = _shown(
            self, ("student", "lab", "status", "score", "max_score", "seconds", "isolation", "notes")
        )
        return row | {"seconds": round(self.seconds, 4), "notes": list(self.notes), "questions": questions}

    def as_dict(self) -> dict[str, Any]:
        """Everything, for the result store; ``from_dict`` reads it back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SubmissionResult:
        """Rebuild a result written by ``as_dict`` (tuples restored)."""
        questions = tuple(
            QuestionResult(
                **{
                    **q,
                    "tests": tuple(TestResult(**t) for t in q["tests"]),
                    "forbidden": tuple(q["forbidden"]),
                }
            )
            for q in data["questions"]
        )
        checks = {name: [(bool(p), str(s)) for p, s in rows] for name, rows in data["public_checks"].items()}
        notes = {name: tuple(data.get(name, ())) for name in ("notes", "run_notes", "tested", "choices")}
        return cls(**{**data, **notes, "questions": questions, "public_checks": checks})


_OF_A_QUESTION = (
    *("name", "points", "max_points", "tests", "misconception", "hint", "cause", "generated", "error"),
    "forbidden",
)


def _shown(thing: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names}
