"""Finds a student's code for a question in their notebook, and chooses the lines that the page shows."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
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


def own_code(cells: Iterable[tuple[str, str]], question: QuestionResult) -> OwnCode:
    """The answer's cell from its definition on: all lines, or those around the marked lines.

    If a cell that the answer needs did not run: only the line that stopped it.
    """
    definition = re.compile(
        rf"^[ \t]*(?:(?:async )?def|class) {re.escape(question.name)}\b|^{re.escape(question.name)}\b *=",
        re.MULTILINE,
    )
    known = list(cells)
    sources = [source for name, source in known if name == question.name]
    sources = sources or [source for _, source in known if definition.search(source)]
    source = sources[-1].expandtabs(4) if sources else ""
    texts = source.split("\n")
    marked, error = _line_of_error(question, texts)
    place = _PLACE.fullmatch(question.error)
    if question.did_not_run and not error and place and place["text"]:
        line = Line(int(place["line"]), plain(place["text"], LONGEST_LINE), marked=True)
        first = next((code.split("\n")[0] for _, code in known if place["text"] in code), "")
        cell = f"The cell that begins `{plain(first, 80)}`" if first else place["cell"].capitalize()
        return OwnCode((line,), 0, plain(place["error"], 500), cell)
    if not sources:
        return OwnCode()
    hidden = _doc_strings(source)
    marked = marked or _forbidden_lines(question.forbidden, texts, hidden)
    shown = [n for n, text in enumerate(texts, 1) if n in marked or (text.strip() and n not in hidden)]
    found = definition.search(source)
    begins = source.count("\n", 0, found.start()) + 1 if found else 1
    if begins <= min(marked, default=begins):  # helpers above the answer are left out
        shown = [n for n in shown if n >= begins]
    kept = _window(shown, min(marked, default=begins), above=MOST_LINES // 2 if marked else 0)
    lines = tuple(
        Line(
            number,
            plain(texts[number - 1], LONGEST_LINE),
            number in marked,
            gap=any(text.strip() for text in texts[before : number - 1]),
        )
        for before, number in zip([0, *kept], kept, strict=False)
    )
    return OwnCode(lines, sum(number > kept[-1] for number in shown) if kept else 0, error)


def _window(shown: list[int], start: int, above: int) -> list[int]:
    """At most ``MOST_LINES`` of the line numbers, from ``above`` lines before ``start`` on."""
    place = sum(number < start for number in shown)
    first = max(0, min(place - above, len(shown) - MOST_LINES))
    return shown[first : first + MOST_LINES]


def _line_of_error(question: QuestionResult, texts: list[str]) -> tuple[set[int], str]:
    """The line of this cell that raises the question's error, and the error; empty if another cell raises it."""
    place = _PLACE.fullmatch(question.error)
    if place is None or not (place["cell"] == question.name or "number " in place["cell"]):
        return set(), ""
    number = int(place["line"])
    text = texts[number - 1].strip() if 0 < number <= len(texts) else ""
    if not text or (place["text"] and text[:300] != place["text"].strip()[:300]):
        return set(), ""
    return {number}, plain(place["error"], 500)


def _forbidden_lines(names: Iterable[str], texts: list[str], hidden: set[int]) -> set[int]:
    words = [re.escape(name.rpartition(".")[2]) for name in names]
    called = re.compile(rf"\b(?:{'|'.join(words)})\b") if words else None
    return {
        number
        for number, text in enumerate(texts, 1)
        if called and number not in hidden and called.search(re.sub(r"\b(?:def|class) .*|#.*", "", text))
    }


def _doc_strings(source: str) -> set[int]:
    """The lines of docstrings, which come from the lab."""
    body = statements(source) if len(source) <= MAX_PARSED else []
    return {
        number
        for top in body
        for node in ast.walk(top)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and ast.get_docstring(node, clean=False) is not None
        for number in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
