"""The cells of a submission: the outputs that a child reports of them, and the part of a stopped one that runs again.

The child is untrusted. So an output is rebuilt here from nbformat's fields, each of the right type and within its limit:
nothing else reaches a notebook or a page.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from autograder.sandbox.limits import Limits
from autograder.sandbox.wire import clean_text

TEXT_TYPES = ("text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml")
BINARY_TYPES = ("image/png", "image/jpeg")
#: The characters of a picture in a notebook.
BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\n")

#: The most characters of a cell that are parsed: a syntax tree takes some four hundred times the size of its code.
MAX_READ = 200_000


def clean_outputs(outputs: Sequence[Any], limits: Limits) -> Iterator[dict[str, Any]]:
    """A cell's outputs as nbformat 4 output dicts, without those that are malformed or over the limits."""
    for output in outputs[: limits.outputs]:
        match output:
            case {"output_type": "stream", "name": ("stdout" | "stderr") as name, "text": str(text)}:
                yield {
                    "output_type": "stream",
                    "name": name,
                    "text": clean_text(text, 2 * limits.output_bytes),
                }
            case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(lines)}:
                kept = [clean_text(line, 4000) for line in lines[:100] if type(line) is str]
                summary = {"ename": clean_text(name, 80), "evalue": clean_text(value, 4000)}
                yield {"output_type": "error", **summary, "traceback": kept}
            case {"output_type": "display_data", "data": dict(data)}:
                yield {"output_type": "display_data", "data": _data(data, limits), "metadata": {}}
            case {"output_type": "execute_result", "data": dict(data), "execution_count": count}:
                number = count if type(count) is int and 0 <= count < 1_000_000 else None
                content = {"data": _data(data, limits), "metadata": {}}
                yield {"output_type": "execute_result", **content, "execution_count": number}


def _data(data: dict[Any, Any], limits: Limits) -> dict[str, Any]:
    kept: dict[str, Any] = {
        mime: clean_text(data[mime], 2 * limits.output_bytes)
        for mime in TEXT_TYPES
        if type(data.get(mime)) is str
    }
    for mime in BINARY_TYPES:
        picture = data.get(mime)
        if type(picture) is str and len(picture) <= limits.picture_bytes and BASE64.issuperset(picture):
            kept[mime] = picture
    return kept


def part_to_rerun(source: str, line: int) -> str:
    """The part of a stopped cell that can run again in a fresh child without being stopped again.

    If the ``line`` of the interruption is known, counted from 1, that is the code before the top-level statement there.
    Otherwise it is the cell's imports, definitions, and assignments that call nothing but ``globals()`` and its methods.
    There is none of a cell that is too long or not plain Python (``%time``, ``!ls``).
    """
    if len(source) > MAX_READ:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes in students' code
            statements = ast.parse(source).body
        if not line:
            return "\n\n".join(ast.unparse(node) for node in statements if _is_harmless(node))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for statement in statements:
        if (statement.end_lineno or 0) >= line:
            first = min([statement, *getattr(statement, "decorator_list", ())], key=lambda node: node.lineno)
            *above, there = source.split("\n")[: first.lineno]
            beside = there.encode()[: first.col_offset].decode()
            return "\n".join([*above, "" if beside.strip() == "@" else beside])
    return ""


def _is_harmless(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        called = (ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call))
        return all(name.partition(".")[0] in ("globals", "globals()") for name in called)
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
