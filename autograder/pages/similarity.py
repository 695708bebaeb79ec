"""Finds submissions that are more similar than the exercise explains.

Code that everybody may have is not compared: the released notebook's, the known answers' (above all the master's), and every
line that several others also wrote. Names are removed, so that renaming hides nothing. The rest is compared only if it
is long enough: a short exercise has one good answer, and two students who find it are no pair. Answers far longer than
necessary are not compared; the report says whose.
"""

from __future__ import annotations

import json
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from autograder.course.lab import LabSpec
from autograder.results import SubmissionResult

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


@dataclass(frozen=True)
class AlikeGroup:
    """Students whose own code or prose is nearly the same, with the smallest and largest similarity."""

    students: tuple[str, ...]
    what: str  # "code" or "prose"
    lowest: float
    highest: float


def code_lines(source: str) -> tuple[Line, ...]:
    """The lines of a cell as tokens, without comments. Names except attributes are replaced by their order in the line."""
    return tuple(filter(None, map(_tokens, source.split("\n"))))


@lru_cache(maxsize=10_000)  # students share most of their lines
def _tokens(line: str) -> Line:
    order: dict[str, str] = {}
    tokens = _TOKEN.findall(line.partition("#")[0])
    return tuple(
        order.setdefault(token, f"name{len(order)}")
        if token.isidentifier() and not keyword.iskeyword(token) and before != "."
        else token
        for before, token in zip(("", *tokens), tokens, strict=False)
    )


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
