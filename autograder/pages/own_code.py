"""Finds a student's code for a question in their notebook, and chooses the lines that the page shows."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autograder.grading.cell_text import MAX_PARSED, statements
from autograder.pages.render import plain
from autograder.results import QuestionResult

#: The most lines that are shown of one answer, and the most characters of a line.
MOST_LINES, LONGEST_LINE = 20, 200
_PLACE = re.compile(r"in (?P<cell>.+), line (?P<line>\d+)(?:: (?P<text>.*))?\n(?P<error>(?s:.*))")


@dataclass(frozen=True)
class Line:
    """A line of code. ``marked``: whether it raises the error or has a forbidden call; ``gap``: whether lines before it are left out."""

    number: int
    text: str
    marked: bool = False
    gap: bool = False

    @property
    def wrapped_indent(self) -> int:
        """The indentation, in columns, of the continuation of a wrapped line: four more than the line's own."""
        return min(len(self.text) - len(self.text.lstrip()), 16) + 4


@dataclass(frozen=True)
class OwnCode:
    """The shown lines, the number of further lines, and the error that a marked line raises ("" for none).

    ``cell``: the cell that stopped, in words, if the lines are those of another cell than the answer's.
    """

    lines: tuple[Line, ...] = ()
    more: int = 0
    error: str = ""
    cell: str = ""


def code_cells(notebook: str) -> list[tuple[str, str]]:
    """(grade_id or "", source) of a notebook's code cells, cells that ran last. Empty for an invalid notebook."""
    try:
        cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
        ordered = sorted(cells, key=lambda cell: cell.get("execution_count") is not None)
        return [
            (str(cell["metadata"].get("nbgrader", {}).get("grade_id", "")), "".join(cell["source"]))
            for cell in ordered
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def own_code(cells: Sequence[tuple[str, str]], question: QuestionResult) -> OwnCode:
    """The answer's cell from its definition on: all lines, or those around the marked lines.

    If a cell that the answer needs did not run: only the line that stopped it.
    """
    called = re.escape(question.name)
    definition = re.compile(rf"^[ \t]*(?:(?:async )?def|class) {called}\b|^{called}\b *=", re.MULTILINE)
    defining = [source for _, source in cells if question.name in source and definition.search(source)]
    source = ["", *defining, *(source for name, source in cells if name == question.name)][-1].expandtabs(4)
    texts, hidden = source.split("\n"), _doc_strings(source)
    place = _PLACE.fullmatch(question.error)
    error = plain(place["error"], 500) if place else ""
    marked = {int(place["line"])} if place and _is_here(place, question.name, texts) else set()
    if question.did_not_run and place and place["text"] and not marked:
        line = Line(int(place["line"]), plain(place["text"], LONGEST_LINE), marked=True)
        opening = next((code.split("\n")[0] for _, code in cells if place["text"] in code), "")
        cell = f"The cell that begins `{plain(opening, 80)}`" if opening else place["cell"].capitalize()
        return OwnCode((line,), 0, error, cell)
    error = error if marked else ""
    if not marked and question.forbidden:
        words = "|".join(re.escape(name.rpartition(".")[2]) for name in question.forbidden)
        code = [re.sub(r"\b(?:def|class) .*|#.*", "", text) for text in texts]
        marked = {n for n, text in enumerate(code, 1) if re.search(rf"\b(?:{words})\b", text)} - hidden
    shown = [n for n, text in enumerate(texts, 1) if n in marked or (text.strip() and n not in hidden)]
    found = definition.search(source)
    begins = source.count("\n", 0, found.start()) + 1 if found else 1
    start = min(marked, default=begins)
    if begins <= start:  # helpers above the answer are left out
        shown = [n for n in shown if n >= begins]
    above = sum(n < start for n in shown) - (MOST_LINES // 2 if marked else 0)
    first = max(0, min(above, len(shown) - MOST_LINES))
    kept = shown[first : first + MOST_LINES]
    lines = tuple(
        Line(
            n, plain(texts[n - 1], LONGEST_LINE), n in marked, gap=any(map(str.strip, texts[before : n - 1]))
        )
        for before, n in zip([0, *kept], kept, strict=False)
    )
    return OwnCode(lines, len(shown) - first - len(kept), error)


def _is_here(place: re.Match[str], name: str, texts: list[str]) -> bool:
    """Whether the error is raised by a line of this cell, not another's."""
    number = int(place["line"])
    text = texts[number - 1].strip() if 0 < number <= len(texts) else ""
    return (
        bool(text)
        and (place["cell"] == name or "number " in place["cell"])
        and (not place["text"] or text[:300] == place["text"].strip()[:300])
    )


def _doc_strings(source: str) -> set[int]:
    """The lines of docstrings, which come from the lab."""
    body = statements(source) if len(source) <= MAX_PARSED else []
    return {
        number
        for node in _definitions(body)
        if ast.get_docstring(node, clean=False) is not None
        for number in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }


def _definitions(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node
        yield from _definitions(getattr(node, "body", ()))
