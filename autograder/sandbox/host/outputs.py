"""Rebuilds the cell outputs that the child reports, keeping only parts that a notebook may hold.

The child is untrusted. So an output is rebuilt here from nbformat's fields, each of the right type and within its limit:
nothing else reaches a notebook or a page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from autograder.sandbox.limits import Limits
from autograder.sandbox.wire import clean_text

TEXT_TYPES = ("text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml")
BINARY_TYPES = ("image/png", "image/jpeg")
#: The characters of a picture in a notebook.
BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\n")


#: The most output of all cells of a notebook, in bytes as JSON; later output is dropped.
MAX_OUTPUT = 16 << 20


class OutputBudget:
    """The rest of ``MAX_OUTPUT`` for one run of a notebook's cells."""

    def __init__(self) -> None:
        self.left = MAX_OUTPUT

    def clean(self, outputs: Sequence[Any], limits: Limits) -> tuple[dict[str, Any], ...]:
        """A cell's outputs as nbformat 4 output dicts; none if the notebook's budget is spent.

        Outputs that are malformed or over the limits are left out.
        """
        if self.left < 0:
            return ()
        rebuilt = (_rebuilt(output, limits) for output in outputs[: limits.outputs] if type(output) is dict)
        kept = tuple(output for output in rebuilt if output is not None)
        self.left -= len(json.dumps(kept))
        return kept if self.left >= 0 else ()


def _rebuilt(output: dict[Any, Any], limits: Limits) -> dict[str, Any] | None:
    kind = output.get("output_type")
    match output:
        case {"output_type": "stream", "name": ("stdout" | "stderr") as name, "text": str(text)}:
            return {"output_type": kind, "name": name, "text": clean_text(text, 2 * limits.output_bytes)}
        case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(lines)}:
            kept = [clean_text(line, 4000) for line in lines[:100] if type(line) is str]
            summary = {"ename": clean_text(name, 80), "evalue": clean_text(value, 4000)}
            return {"output_type": kind, **summary, "traceback": kept}
        case {"output_type": "display_data", "data": dict(data)}:
            return {"output_type": kind, "data": _data(data, limits), "metadata": {}}
        case {"output_type": "execute_result", "data": dict(data), "execution_count": count}:
            number = count if type(count) is int and 0 <= count < 1_000_000 else None
            content = {"data": _data(data, limits), "metadata": {}}
            return {"output_type": kind, **content, "execution_count": number}
    return None


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
