"""Builds and audits a lab once and writes the preview's pages: ``python -m autograder.preview.make LAB FOLDER``.

A process of its own for each time, because Python does not read a changed module again. A question whose files are as
they were keeps what the last time said of it (``kept.json`` in the folder).
"""

from __future__ import annotations

import autograder.startup.lean_imports  # noqa: F401 (before what it makes quick)

# isort: split
import hashlib
import html
import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coursekit.checks.api import judge
from coursekit.notebook import cards
from markupsafe import Markup

from autograder.audit.hidden_tests import AnswerAudit
from autograder.audit.public_checks import in_a_notebook
from autograder.audit.question import audit_question
from autograder.course import build as building
from autograder.course.masters import course_root, lab_name, solution, use_root
from autograder.course.policy_file import settings, spec
from autograder.course.soundness import require_sound
from autograder.errors import UserError
from autograder.files import write_atomically
from autograder.grading.cache_keys import context_of
from autograder.grading.diagnosis import diagnose
from autograder.grading.rubric import points_earned
from autograder.grading.symptoms import find_symptom
from autograder.pages.clean_html import cell_html
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.render import TEMPLATES, render
from autograder.questions.engine.card import write_card
from autograder.results import QuestionResult, SubmissionResult
from autograder.sandbox.limits import Limits
from autograder.testing.catalogue import Answer, answers_of
from autograder.testing.run import TestRun, master_runs, set_salt

#: What a page of the preview is called for a wrong answer.
FEEDBACK = "feedback-{question}-{answer}.html"


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong answer as the index shows it: what it keeps, its card, and where its feedback page lies."""

    name: str
    title: str
    points: float
    max_points: float
    card: str
    page: str


@dataclass(frozen=True)
class QuestionPreview:
    """A question as the index shows it: what the audit finds wrong, and its wrong answers."""

    name: str
    troubles: tuple[str, ...]
    right: str
    answers: tuple[WrongAnswer, ...]


def make(lab: str, folder: Path) -> bool:
    """Write ``index.html`` and the pages that it shows; whether nothing was found wrong."""
    use_root(course_root())
    set_salt(settings().salt)
    notes: list[str] = []
    previews: list[QuestionPreview] = []
    try:
        notes = require_sound([lab], unfinished=True)
        write_card(lab)
        built = building.build(lab)
        notes += [built.drift] if built.drift else []
        unfinished = {name for name, _ in spec(lab).questions if any(f"“{name}”" in note for note in notes)}
        write_atomically(folder / "notebook.html", notebook_page(lab))
        previews = _questions(lab, folder, unfinished)
    except UserError as error:
        notes = str(error).splitlines()
    except Exception as error:  # of the author's own files: the page says it, and the next change may mend it
        notes = [f"{type(error).__name__}: {error}"]
    good = not notes and not any(preview.troubles for preview in previews)
    look = {"script": Markup((TEMPLATES / "preview.js").read_text()), "cards": _cards_style()}
    page = render("preview.html.j2", lab=lab, notes=notes, questions=previews, good=good, **look)
    write_atomically(folder / "index.html", page)
    return good


def _cards_style() -> Markup:
    """The rules that a card brings into a notebook."""
    markup: str = cards.Card("", "", {})._repr_mimebundle_()["text/html"]
    return Markup(markup)


def _questions(lab: str, folder: Path, unfinished: set[str]) -> list[QuestionPreview]:
    """Every finished question; one whose files did not change is taken from the last time."""
    kept_file = folder / "kept.json"
    kept: dict[str, Any] = json.loads(kept_file.read_text()) if kept_file.exists() else {}
    keys = _keys(lab)
    made: dict[str, Any] = {}
    for name, points in spec(lab).questions:
        if name in unfinished:
            continue
        if kept.get(name, {}).get("key") != keys[name]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a wrong answer may well divide by zero
                made[name] = {"key": keys[name], "preview": asdict(_question(lab, name, points, folder))}
        else:
            made[name] = kept[name]
    write_atomically(kept_file, json.dumps(made))
    return [_again(entry["preview"]) for entry in made.values()]


def _again(values: dict[str, Any]) -> QuestionPreview:
    answers = tuple(WrongAnswer(**answer) for answer in values["answers"])
    return QuestionPreview(values["name"], tuple(values["troubles"]), values["right"], answers)


def _keys(lab: str) -> dict[str, str]:
    """What a question's preview rests on: all that its grade does, which the whole file of the question decides."""
    context = context_of(lab, Limits())
    shared = json.dumps(context.shared, sort_keys=True)
    return {
        name: hashlib.sha256("\0".join([shared, own]).encode()).hexdigest()
        for name, own in context.questions.items()
    }


def _question(lab: str, name: str, points: float, folder: Path) -> QuestionPreview:
    audit = audit_question(lab, name, points)
    right = [row for row in audit.rows if row.kind in ("master", "alternative")]
    wrong = {row.name: row for row in audit.rows if row.kind == "misconception"}
    passed = f"{sum(row.as_it_should for row in right)} of {len(right)} right answers pass"
    answers = answers_of(lab)["misconception"].get(name, ())
    return QuestionPreview(
        name,
        tuple(audit.sentences),
        passed,
        tuple(_wrong_answer(lab, name, answer, wrong[answer.name], folder) for answer in answers),
    )


def _wrong_answer(lab: str, name: str, answer: Answer, row: AnswerAudit, folder: Path) -> WrongAnswer:
    """The card and the feedback page of a student who is wrong in this one way."""
    verdict = judge(lab, name, in_a_notebook(answer.function, solution(lab)))
    count = len(spec(lab).questions)
    card = cards.checked(verdict, count - (not verdict.passed), count).markup
    question = _graded(lab, name, row.max_points, row.runs)
    others = {
        other: _graded(lab, other, most, master_runs(lab, other))
        for other, most in spec(lab).questions
        if other != name
    }
    questions = tuple(others.get(other, question) for other, _ in spec(lab).questions)
    checks = {name: [(mark.passed, f"{mark.title} {mark.hint}".strip()) for mark in verdict.marks]}
    page = FEEDBACK.format(question=name, answer=answer.name)
    result = _result(lab, f"somebody with “{answer.title}”", questions, checks)
    write_atomically(folder / page, FeedbackWriter(spec(lab), folder).page(result))
    return WrongAnswer(answer.name, answer.title, question.points, row.max_points, card, page)


def _graded(lab: str, name: str, points: float, runs: Sequence[TestRun]) -> QuestionResult:
    """What grading would say of these runs: the points, and the misconception or else what the values show."""
    results = tuple(run.result for run in runs)
    if all(result.passed for result in results):
        return QuestionResult(name, points, points, results)
    answer = diagnose(lab, name, runs)
    score = points_earned(lab, name, points, runs, answer)
    if answer is not None:
        return QuestionResult(name, score, points, results, answer.title, answer.hint, cause=answer.title)
    symptom = find_symptom(lab, name, runs)
    return QuestionResult(name, score, points, results, cause=symptom.sentence if symptom else None)


def _result(
    lab: str,
    student: str,
    questions: tuple[QuestionResult, ...],
    checks: dict[str, list[tuple[bool, str]]],
) -> SubmissionResult:
    score = round(sum(question.points for question in questions), 2)
    most = spec(lab).max_score
    return SubmissionResult(
        student, lab, "graded", score, most, 0.0, questions, notebook="{}", public_checks=checks
    )


def notebook_page(lab: str) -> str:
    """The student's notebook as it is released, without its outputs."""
    cells = [
        Markup(cell_html(cell.source, cell.get("attachments")))
        if cell.cell_type == "markdown"
        else Markup(f"<pre>{html.escape(cell.source)}</pre>")
        for cell in building.released_notebook(lab).cells
    ]
    return render("preview_notebook.html.j2", lab=lab, cells=cells)


if __name__ == "__main__":
    sys.exit(0 if make(lab_name(sys.argv[1]), Path(sys.argv[2])) else 1)
