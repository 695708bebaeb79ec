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
        cleaner = _Cleaner(limits)
        cleaned = [cleaner.output(output) for output in outputs[: limits.outputs] if type(output) is dict]
        kept = tuple(output for output in cleaned if output is not None)
        self.left -= len(json.dumps(kept))
        return kept if self.left >= 0 else ()


class _Cleaner:
    """Rebuilds the outputs of one cell, within one budget."""

    def __init__(self, limits: Limits):
        self.text_left = 2 * limits.output_bytes
        self.pictures_left = limits.picture_bytes

    def text(self, text: str, max_length: int | None = None) -> str:
        kept = clean_text(text, self.text_left if max_length is None else min(max_length, self.text_left))
        self.text_left -= len(kept)
        return kept

    def output(self, output: dict[Any, Any]) -> dict[str, Any] | None:
        match output:
            case {"output_type": "stream", "name": ("stdout" | "stderr") as name, "text": str(text)}:
                return {"output_type": "stream", "name": name, "text": self.text(text)}
            case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(lines)}:
                kept = [self.text(line, 4000) for line in lines[:100] if type(line) is str]
                summary = {"ename": self.text(name, 80), "evalue": self.text(value, 4000)}
                return {"output_type": "error", **summary, "traceback": kept}
            case {"output_type": "display_data", "data": dict(data)}:
                return {"output_type": "display_data", "data": self.data(data), "metadata": {}}
            case {"output_type": "execute_result", "data": dict(data), "execution_count": count}:
                number = count if type(count) is int and 0 <= count < 1_000_000 else None
                content = {"data": self.data(data), "metadata": {}}
                return {"output_type": "execute_result", **content, "execution_count": number}
        return None

    def data(self, data: dict[Any, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for mime in TEXT_TYPES:
            if type(data.get(mime)) is str:
                kept[mime] = self.text(data[mime])
        for mime in BINARY_TYPES:
            picture = data.get(mime)
            if type(picture) is str and len(picture) <= self.pictures_left and BASE64.issuperset(picture):
                self.pictures_left -= len(picture)
                kept[mime] = picture
        return kept
