"""Finds submissions that are more alike than the exercise explains.

Left out of the comparison, as everybody may have it: what the released notebook gave, what the known
answers (the master's above all) say, and every line that several others wrote too. Names are taken
out, so that renaming hides nothing. Only what remains is compared, and only when enough of it remains:
a short exercise has one good answer, and two who find it are no pair. Cells that a student added are compared apart
from the answers. A line that is no Python is skipped. Answers far longer than any that is asked for, or broken in too many
places, are not read, and where a class has too much to compare, its longest are left out: the report says whose, for
nobody else's clock runs here.

The distance is rapidfuzz's Indel distance on tokens, which nbgrader brings along. (copydetect 0.5.0
was judged too: its fingerprints rest on Python's salted ``hash`` and change from run to run, its wheel
lacks the compiled part, and reducing every name to one letter makes short honest answers equal.)
"""

from __future__ import annotations

import io
import itertools
import json
import keyword
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from autograder.course.lab import LabSpec
from autograder.results import SubmissionResult

#: A pair is reported from this share of common tokens on, among at least this many of one's own.
ALIKE = 0.9
FEWEST_TOKENS = 60
FEWEST_WORDS = 30
#: Characters of code, and of prose, that are read of one student: three times as many as the longest lab's answers need.
MAX_READ = 20_000
#: Lines of a cell that are skipped because no Python begins there; one with more of them is not compared.
MAX_SKIPPED = 20
#: Tokens, or words, that are compared of all students together: the time grows with their square, to half a minute.
MAX_COMPARED = 1_000_000
#: A line that more than this share of the class wrote (and more than four people) is common property.
COMMON_SHARE = 0.1
COMMON_PEOPLE = 4

_IGNORED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
#: What Python up to 3.11 makes no token of, and then looks for the end of it again from each character behind it.
_ENDLESS = {"'", '"', " ", "\t", "\f"}
#: Lines that IPython takes for its own: ``!ls``, ``%time f()``, ``files = !ls``. Python's tokenizer may find no end of their quotes.
_IPYTHON = re.compile(r"^[ \t]*+(?:[!%?,;/]|[\w.,\[\] \t]*+=[ \t]*+[!%]).*", re.MULTILINE)
_STRING_PREFIX = re.compile(r"^[A-Za-z]*(\"\"\"|'''|\"|')")

Line = tuple[str, ...]


@dataclass(frozen=True)
class Answers:
    """One submission's own cells: lines of tokens for the code, words for the prose; None for what cannot be read."""

    student: str
    code: tuple[Line, ...] | None
    prose: tuple[str, ...] | None
    #: The code of cells that the student added.
    added: tuple[Line, ...] | None = ()


@dataclass(frozen=True)
class AlikeGroup:
    """Students whose own code, or own prose, is nearly the same; the smallest and largest likeness."""

    students: tuple[str, ...]
    what: str  # "code", "added" or "prose"
    lowest: float
    highest: float


@dataclass(frozen=True)
class Alike:
    """What comparing a class found, the most alike first; and whose code, or prose, could not be compared."""

    groups: tuple[AlikeGroup, ...]
    left_out: dict[str, tuple[str, ...]]  # "code", "added" or "prose" -> students


def code_lines(source: str) -> tuple[Line, ...] | None:
    """The logical lines of a cell as tokens: no comments, no layout, no doc strings. None where too much is no Python."""
    lines: list[Line] = []
    left = io.StringIO(_IPYTHON.sub("", source)).readlines()
    for _ in range(MAX_SKIPPED + 1):
        read, broken = _lines_up_to_an_error(left)
        lines += read
        if broken is None:
            return tuple(
                line for line in lines if line and not (len(line) == 1 and _STRING_PREFIX.match(line[0]))
            )
        left = left[broken:]
    return None


def _lines_up_to_an_error(source: Sequence[str]) -> tuple[list[Line], int | None]:
    """The logical lines that Python's tokenizer finds, and the number of the line at which it gives up, if it does."""
    lines: list[Line] = []
    current: list[str] = []
    broken: int | None = None
    try:
        for token in tokenize.generate_tokens(iter([*source, ""]).__next__):
            if token.type == tokenize.NEWLINE:
                lines.append(tuple(current))
                current = []
            elif token.type == tokenize.ERRORTOKEN and token.string in _ENDLESS:
                broken = token.start[0]
                break
            elif token.type not in _IGNORED:
                current.append(token.string)
    except tokenize.TokenError as error:
        broken = error.args[1][0]
    except SyntaxError as error:
        broken = error.lineno
    return [*lines, tuple(current)], broken


def nameless(line: Line) -> Line:
    """The line with the names that a student may choose replaced by their order of appearance."""
    order: dict[str, str] = {}
    tokens = []
    for position, token in enumerate(line):
        is_attribute = position > 0 and line[position - 1] == "."
        if token.isidentifier() and not keyword.iskeyword(token) and not is_attribute:
            tokens.append(order.setdefault(token, f"name{len(order)}"))
        else:
            tokens.append(token)
    return tuple(tokens)


def answers(result: SubmissionResult, spec: LabSpec) -> Answers | None:
    """The student's own cells of a submission; None when there is no notebook."""
    if not result.notebook:
        return None
    cells = json.loads(result.notebook)["cells"]  # our own: nbformat would make objects of it all
    questions, written = {name for name, _ in spec.questions}, {name for name, _ in spec.written}
    given = {cell.source.strip() for cell in spec.cells}
    code: list[str] = []
    prose: list[str] = []
    added: list[str] = []
    for cell in cells:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        source = "".join(cell["source"])
        if grade_id in questions and cell["cell_type"] == "code":
            code.append(source)
        elif grade_id in written:
            prose.append(source)
        elif grade_id is None and cell["cell_type"] == "code" and source.strip() not in given:
            added.append(source)
    words = tuple(word for source in prose for word in _words(source)) if _can_be_read(prose) else None
    return Answers(result.student, _lines_of(code), words, _lines_of(added))


def _lines_of(sources: Sequence[str]) -> tuple[Line, ...] | None:
    cells = [code_lines(source) for source in sources] if _can_be_read(sources) else [None]
    return None if None in cells else tuple(line for cell in cells for line in cell or ())


def _can_be_read(sources: Iterable[str]) -> bool:
    return sum(map(len, sources)) <= MAX_READ


def _words(source: str) -> list[str]:
    return re.findall(r"\w+", source.casefold())


def alike_groups(submissions: Sequence[Answers], spec: LabSpec, known_answers: Iterable[str] = ()) -> Alike:
    """Groups of near-identical submissions, the most alike first, and who could not be compared.

    ``known_answers`` are sources that nobody needs to copy from a neighbour: alternative solutions,
    and the misconceptions' functions. The master and the released template always count as known.
    """
    code = {one.student: one.code for one in submissions if one.code is not None}
    added = {one.student: one.added for one in submissions if one.added is not None}
    prose = {one.student: one.prose for one in submissions if one.prose is not None}
    known = {nameless(line) for source in known_answers for line in code_lines(source) or ()}
    known |= {
        nameless(line)
        for cell in spec.cells
        if cell.cell_type == "code"
        for line in code_lines(cell.source) or ()
    }
    wrote = Counter(form for lines in code.values() for form in {nameless(line) for line in lines})
    wrote += Counter(form for lines in added.values() for form in {nameless(line) for line in lines})
    common = max(COMMON_PEOPLE, COMMON_SHARE * len(submissions))

    def unshared_tokens(lines: Sequence[Line]) -> list[str]:
        forms = (nameless(line) for line in lines)
        return [token for form in forms if form not in known and wrote[form] <= common for token in form]

    template = _template_words(spec)
    own = {
        "code": {student: unshared_tokens(lines) for student, lines in code.items()},
        "added": {student: unshared_tokens(lines) for student, lines in added.items()},
        "prose": {
            student: [word for word in words if word not in template] for student, words in prose.items()
        },
    }
    compared = {what: _shortest(tokens) for what, tokens in own.items()}
    groups = [
        *_groups(compared["code"], FEWEST_TOKENS, "code"),
        *_groups(compared["added"], FEWEST_TOKENS, "added"),
        *_groups(compared["prose"], FEWEST_WORDS, "prose"),
    ]
    everybody = sorted(one.student for one in submissions)
    return Alike(
        tuple(sorted(groups, key=lambda group: -group.highest)),
        {
            what: left_out
            for what, tokens in compared.items()
            if (left_out := tuple(student for student in everybody if student not in tokens))
        },
    )


def _shortest(tokens: dict[str, list[str]]) -> dict[str, list[str]]:
    """The shortest of them, ``MAX_COMPARED`` tokens in all, in the order of the class."""
    by_length = sorted(tokens, key=lambda student: (len(tokens[student]), student))
    sums = itertools.accumulate(len(tokens[student]) for student in by_length)
    kept = {student for student, sum_ in zip(by_length, sums, strict=True) if sum_ <= MAX_COMPARED}
    return {student: own for student, own in tokens.items() if student in kept}


def _template_words(spec: LabSpec) -> set[str]:
    """Words of the questions themselves, which every answer may repeat."""
    written = {name for name, _ in spec.written}
    sources = [c.source for c in spec.cells if c.metadata.get("nbgrader", {}).get("grade_id") in written]
    return {word for source in sources for word in _words(source)}


def _groups(tokens: dict[str, list[str]], fewest: int, what: str) -> list[AlikeGroup]:
    """Connected groups of students whose token sequences are alike."""
    students = [student for student, sequence in tokens.items() if len(sequence) >= fewest]
    if len(students) < 2:
        return []
    sequences = [tokens[student] for student in students]
    likeness: Any = cdist(
        sequences,
        sequences,
        scorer=Indel.normalized_similarity,
        score_cutoff=ALIKE,
        dtype=np.float32,
        workers=1,
    )
    leader = list(range(len(students)))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    pairs = [(int(i), int(j)) for i, j in np.argwhere(np.triu(likeness, 1) >= ALIKE)]
    for i, j in pairs:
        leader[find(i)] = find(j)
    members: dict[int, set[int]] = {}
    values: dict[int, list[float]] = {}
    for i, j in pairs:
        members.setdefault(find(i), set()).update((i, j))
        values.setdefault(find(i), []).append(float(likeness[i, j]))
    return [
        AlikeGroup(tuple(sorted(students[i] for i in group)), what, min(values[root]), max(values[root]))
        for root, group in members.items()
    ]
