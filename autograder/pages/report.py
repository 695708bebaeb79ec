"""Writes the report on a class in one lab, for teachers: the class's results, gathered in one pass, and who wrote alike."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from autograder.course.lab import LabSpec
from autograder.files import feedback_page, report_page, write_atomically
from autograder.pages.places import Place, places_of
from autograder.pages.render import address_of, plain, render, sorting_script
from autograder.pages.similarity import ALIKE, Answers, alike_groups, answers
from autograder.results import ISOLATION, REDUCED, STATUSES, STRONGEST, SubmissionResult

#: With fewer submissions a correlation tells little; the report says so.
FEW = 12
#: The folder of the demos' pages, beside the report.
DEMOS = "demos/"


def build_report(
    results: Iterable[SubmissionResult],
    spec: LabSpec,
    out: Path,
    known_answers: Iterable[str] = (),
    remarks: Sequence[str] = (),
) -> Path:
    """Write ``out/report/<lab>.html``. Returns its path. Raises GradingError if it cannot be written.

    ``results`` may be a generator: only one notebook is kept at a time. ``known_answers`` are sources that students may have
    in common without copying (see ``alike_groups``). ``remarks`` are sentences about the class, such as whose lateness was
    not counted, or who is missing.
    """
    class_results: list[SubmissionResult] = []
    submissions: dict[str, Answers] = {}
    for result in results:
        if (written := answers(result, spec)) is not None:
            submissions[result.student] = written
        class_results.append(replace(result, notebook=""))
    class_results.sort(key=lambda result: result.student.casefold())
    path = report_page(out, spec.name)
    places = places_of(spec, DEMOS)
    groups, not_compared = alike_groups(submissions, spec, known_answers)
    handed_in = [result for result in class_results if result.readable]
    questions = question_statistics(handed_in, spec.questions)
    page = render(
        "report.html.j2",
        **sorting_script(),
        title=spec.title,
        lab=spec.name,
        scores=_score_summary(handed_in, spec),
        questions=questions,
        question_headline=question_headline(questions),
        few=len(handed_in) < FEW,
        misconceptions=_counted("misconception", class_results, places, path.parent),
        generated=_counted("generated", class_results, places, path.parent),
        statuses=STATUSES,
        flagged=[
            (one, question) for one in class_results for question in one.questions if question.forbidden
        ],
        groups=groups,
        not_compared=not_compared,
        alike=round(100 * ALIKE),
        results=class_results,
        page_of=lambda student: address_of(feedback_page(out, student, spec.name), path.parent),
        remarks=[plain(remark, 2000) for remark in remarks],
        question_names=[name for name, _ in spec.questions],
        reduced=Counter(one.isolation for one in handed_in if one.isolation != STRONGEST),
        reduced_means=ISOLATION[REDUCED],
        handed_in=len(handed_in),
    )
    write_atomically(path, page)
    return path


def _score_summary(results: Sequence[SubmissionResult], spec: LabSpec) -> dict[str, Any] | None:
    if not results:
        return None
    scores = [result.score for result in results]
    lower = [max(0.0, score) for score in scores if score < spec.max_score - 1e-9]
    seconds = sorted(result.seconds for result in results)
    slowest = max(results, key=lambda result: result.seconds)
    return {
        "mean": statistics.fmean(scores),
        "median": statistics.median(scores),
        "max": spec.max_score,
        "full": len(scores) - len(lower),
        "spread": statistics.pstdev(scores),
        "bins": [
            *np.histogram(np.round(lower, 6), bins=10, range=(0, spec.max_score))[0].tolist(),
            len(scores) - len(lower),
        ],
        "seconds": statistics.median(seconds),
        "slowest": (plain(slowest.student, 100), slowest.seconds),
    }


def question_statistics(
    results: Sequence[SubmissionResult], questions: Sequence[tuple[str, float]]
) -> list[dict[str, Any]]:
    """Difficulty and discrimination of each question over the given submissions. Shares are between 0 and 1.

    The mean share is the "difficulty" of classical test theory (high means easy). The discrimination is the corrected
    item-total correlation: the total excludes the question itself, which would correlate with itself (Henrysson, 1963).
    """
    points = [{q.name: float(q.points) for q in result.questions} for result in results]
    table = []
    for name, most in questions if points else ():
        earned = [row.get(name, 0.0) for row in points]
        rest = [sum(row.values()) - mark for row, mark in zip(points, earned, strict=True)]
        try:
            discrimination = statistics.correlation(earned, rest) if len(points) > 2 else None
        except statistics.StatisticsError:  # no spread
            discrimination = None
        table.append(
            {
                "name": name,
                "mean_share": statistics.fmean(earned) / most if most else 0.0,
                "full_share": sum(mark >= most - 1e-9 for mark in earned) / len(earned),
                "zero_share": sum(mark <= 1e-9 for mark in earned) / len(earned),
                "losing": sum(mark < most - 1e-9 for mark in earned),
                "discrimination": discrimination,
            }
        )
    return table


def question_headline(questions: Sequence[Mapping[str, Any]]) -> str:
    """A sentence about the hardest question, or questions if the table shows the same share for several."""
    if len(questions) < 2:
        return ""
    lowest = min(question["mean_share"] for question in questions)
    if lowest > 0.95:
        return "No question was hard for this class"
    share = f"{100 * lowest:.0f}%"
    hardest = [one["name"] for one in questions if f"{100 * one['mean_share']:.0f}%" == share]
    if len(hardest) == len(questions):
        return f"All questions were equally hard: {share} of their points were earned"
    if len(hardest) > 1:
        return f"{', '.join(hardest[:-1])} and {hardest[-1]} were the hardest: {share} of their points were earned"
    return f"{hardest[0]} was the hardest: {share} of its points were earned"


def _counted(
    what: str, results: Sequence[SubmissionResult], places: Mapping[str, Place], folder: Path
) -> list[dict[str, Any]]:
    """The class's misconceptions or generated sentences, the costliest first. ``demo``: the address of a written demo."""
    held: dict[tuple[str, str], dict[str, Any]] = {}
    for result in results:
        for question in result.questions:
            if title := getattr(question, what):
                place = places.get(question.name, Place())
                demo = place.demo if (folder / place.demo_address).is_file() else ""
                fresh = {"title": title, "question": question.name, "students": [], "lost": 0.0}
                one = held.setdefault((title, question.name), fresh)
                one["students"].append(plain(result.student, 100))
                one["lost"] += question.max_points - question.points
                one |= {"hint": question.hint or "", "demo": demo, "address": place.demo_address}
    return sorted(held.values(), key=lambda one: (-one["lost"], one["question"], one["title"]))
