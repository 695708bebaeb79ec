"""Audits a question in one pass: what its file says, and how its tests and its card judge every known answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coursekit.checks.encoding import encode

from autograder.audit.hidden_tests import AnswerAudit, audit_answers, indistinct
from autograder.audit.public_checks import PublicTrouble, audit_public
from autograder.questions.engine.compare import value_difference
from autograder.questions.engine.draw import PUBLIC, Ask, asks_of
from autograder.questions.engine.question import Question, questions_of
from autograder.testing.evidence import as_numbers
from autograder.testing.run import salt


@dataclass(frozen=True)
class QuestionAudit:
    """How each answer fared, and what is wrong with the question as a whole and with its card."""

    rows: list[AnswerAudit]
    faults: list[str]
    public: list[PublicTrouble]

    @property
    def sentences(self) -> list[str]:
        """All that is wrong, a sentence for each; none where all is well."""
        return [
            *(f"{row.kind} {row.name}: {row.fault}" for row in self.rows if row.fault),
            *self.faults,
            *(f"public check, {one.kind} {one.answer}: {one.sentence}" for one in self.public),
        ]


def audit_question(lab: str, question: str, points: float) -> QuestionAudit:
    """Audit a question (lab by full name); each answer runs once in the tests and once on the card.

    ::

        audit_question("07_self_attention", "kernel_smooth", 3.0).sentences
    """
    rows = audit_answers(lab, question, points)
    twins = [f"no hidden test tells {first} from {second}" for first, second in indistinct(rows)]
    faults = [*_of_the_file(questions_of(lab)[question]), *twins]
    return QuestionAudit(rows, faults, audit_public(lab, question))


def as_json(audits: Mapping[str, Mapping[str, QuestionAudit]]) -> dict[str, Any]:
    """``{lab: {question: {master, alternatives: [[name, passed]], misconceptions: [[name, killed]]}}}``.

    ``faults`` and ``public_checks`` (kind, answer, sentence) stand beside them where there are any.
    """
    return {
        lab: {question: _as_json(audit) for question, audit in questions.items()}
        for lab, questions in audits.items()
    }


def _as_json(audit: QuestionAudit) -> dict[str, Any]:
    def of(kind: str) -> list[list[Any]]:
        return [[row.name, row.as_it_should] for row in audit.rows if row.kind == kind]

    found: dict[str, Any] = {
        "master": all(good for _, good in of("master")),
        "alternatives": of("alternative"),
        "misconceptions": of("misconception"),
    }
    worthless = [f"{row.name}: {row.fault}" for row in audit.rows if row.kind == "worthless" and row.fault]
    if faults := [*audit.faults, *worthless]:
        found["faults"] = faults
    if audit.public:
        found["public_checks"] = [[one.kind, one.answer, one.sentence] for one in audit.public]
    return found


def _of_the_file(question: Question) -> Iterator[str]:
    titles = [one.title for one in question.misconceptions]
    if len(set(titles)) < len(titles):
        yield "two misconceptions have one title"
    public, hidden = (_inputs_by_part(asks_of(question, drawn)) for drawn in (PUBLIC, salt()))
    for name, inputs in hidden.items():
        if inputs == public[name]:
            yield f"{name} draws nothing: its hidden inputs are the card's"
    for ask in asks_of(question, salt()):
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
