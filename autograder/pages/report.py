"""Writes the report on a class in one lab, for teachers: the class's results, gathered in one pass, and who wrote alike.

Code that everybody may have is not compared: the released notebook's, the known answers' (above all the master's), and every
line that several others also wrote. Names are removed, so that renaming hides nothing. The rest is compared only if it
is long enough: a short exercise has one good answer, and two students who find it are no pair. Answers far longer than
necessary are not compared; the report says whose.
"""

from __future__ import annotations

import json
import keyword
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from autograder.course.lab import LabSpec
from autograder.files import feedback_page, report_page, write_atomically
from autograder.pages.places import Place, places_of
from autograder.pages.render import address_of, plain, render, sorting_script
from autograder.results import ISOLATION, REDUCED, STATUSES, STRONGEST, SubmissionResult

#: With fewer submissions a correlation tells little; the report says so.
FEW = 12
#: The folder of the demos' pages, beside the report.
DEMOS = "demos/"
#: The least similarity of a reported pair.
ALIKE = 0.9
#: Kind of cells -> the fewest own tokens that are compared.
FEWEST = {"code": 60, "prose": 30}
#: The most characters that are read of one student: three times the longest lab's answers.
MAX_READ = 20_000
#: A line written by more than this share of the class, and more than four people, counts as common.
COMMON_SHARE, COMMON_PEOPLE = 0.1, 4
_TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*|[^\s\w]")
Line = tuple[str, ...]
#: "code" as lines of tokens and "prose" as lines of one word, in a student's own cells; None if too long.
Answers = Mapping[str, tuple[Line, ...] | None]


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


# Likeness


@dataclass(frozen=True)
class AlikeGroup:
    """Students whose own code or prose is nearly the same, with the smallest and largest similarity."""

    students: tuple[str, ...]
    what: str  # "code" or "prose"
    lowest: float
    highest: float


def code_lines(source: str) -> tuple[Line, ...]:
    """The lines of a cell as tokens, without comments. Names except attributes are replaced by their order in the line."""
    lines = []
    for line in source.split("\n"):
        order: dict[str, str] = {}
        tokens = _TOKEN.findall(line.partition("#")[0])
        nameless = (
            order.setdefault(token, f"name{len(order)}")
            if token.isidentifier() and not keyword.iskeyword(token) and before != "."
            else token
            for before, token in zip(("", *tokens), tokens, strict=False)
        )
        lines.append(tuple(nameless))
    return tuple(filter(None, lines))


def _words(source: str) -> tuple[Line, ...]:
    return tuple((word,) for word in re.findall(r"\w+", source.casefold()))


def answers(result: SubmissionResult, spec: LabSpec) -> Answers | None:
    """The student's own cells of a submission, including added cells; None without a notebook."""
    if not result.notebook:
        return None
    written = {name for name, _ in spec.written}
    graded = {name for name, _ in spec.questions}
    own: dict[str, list[str]] = {"code": [], "prose": []}
    for cell in json.loads(result.notebook)["cells"]:  # faster than nbformat, which makes objects
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in written:
            own["prose"].append("".join(cell["source"]))
        elif cell["cell_type"] == "code" and (grade_id is None or grade_id in graded):
            own["code"].append("".join(cell["source"]))
    texts = {what: "\n".join(sources) for what, sources in own.items()}
    split = {"code": code_lines, "prose": _words}
    return {what: split[what](text) if len(text) <= MAX_READ else None for what, text in texts.items()}


def alike_groups(
    submissions: Mapping[str, Answers], spec: LabSpec, known_answers: Iterable[str] = ()
) -> tuple[list[AlikeGroup], dict[str, list[str]]]:
    """Groups of near-identical submissions, most similar first; and "code" or "prose" -> students who were not compared.

    ``known_answers`` are sources that students may write without copying: alternative solutions and misconceptions. The
    master and the released notebook always count as known.
    """
    given = [cell.source for cell in spec.cells]
    known = {"code": {line for source in (*known_answers, *given) for line in code_lines(source)}}
    known["prose"] = {word for source in given for word in _words(source)}
    groups: list[AlikeGroup] = []
    left_out = {}
    for what, fewest in FEWEST.items():
        lines = {student: one[what] or () for student, one in submissions.items()}
        wrote = Counter(line for one in lines.values() for line in set(one) if what == "code")
        most = max(COMMON_PEOPLE, COMMON_SHARE * sum(one[what] is not None for one in submissions.values()))
        common = known[what].union(line for line, count in wrote.items() if count > most)
        tokens = {
            student: [token for line in one if line not in common for token in line]
            for student, one in lines.items()
        }
        groups += _groups({student: own for student, own in tokens.items() if len(own) >= fewest}, what)
        if missing := sorted(student for student, one in submissions.items() if one[what] is None):
            left_out[what] = missing
    return sorted(groups, key=lambda group: -group.highest), left_out


def _groups(tokens: dict[str, list[str]], what: str) -> list[AlikeGroup]:
    """Connected groups of students with similar token sequences."""
    if len(tokens) < 2:
        return []
    students, own = [*tokens], [*tokens.values()]
    likeness: Any = cdist(
        own, own, scorer=Indel.normalized_similarity, score_cutoff=ALIKE, dtype=np.float32, workers=1
    )
    groups: list[set[int]] = []
    pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(likeness, 1) >= ALIKE)]
    for pair in pairs:
        touched = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if group not in touched] + [set(pair).union(*touched)]
    found = []
    for group in groups:
        shares = [float(likeness[i, j]) for i, j in pairs if i in group]
        found.append(AlikeGroup(tuple(sorted(students[i] for i in group)), what, min(shares), max(shares)))
    return found
