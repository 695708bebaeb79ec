"""Checks what the child says its cells put out, and keeps what a notebook may hold.

The child is a stranger: an output is rebuilt here from the parts that nbformat knows, each of its type and
under its limit, so that no invention of the child's reaches a notebook or a page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .policy import Limits

TEXT_TYPES = ("text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml")
BINARY_TYPES = ("image/png", "image/jpeg")
#: What a public check reports: see coursekit.
CHECK_TYPE = "application/vnd.coursekit.check+json"
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\n")


def clean_outputs(outputs: Sequence[Any], limits: Limits) -> tuple[dict[str, Any], ...]:
    """The outputs as nbformat 4 output dicts; what is malformed or over the limits is left out."""
    cleaned = [_clean(output, limits) for output in outputs[: limits.outputs] if type(output) is dict]
    return tuple(output for output in cleaned if output is not None)


def _clean(output: dict[Any, Any], limits: Limits) -> dict[str, Any] | None:
    most = 2 * limits.output_bytes
    match output:
        case {"output_type": "stream", "name": ("stdout" | "stderr") as name, "text": str(text)}:
            return {"output_type": "stream", "name": name, "text": _text(text, most)}
        case {"output_type": "error", "ename": str(name), "evalue": str(value), "traceback": list(lines)}:
            kept = [_text(line, 4000) for line in lines[:100] if type(line) is str]
            value = _text(value, 4000)
            return {"output_type": "error", "ename": _text(name, 80), "evalue": value, "traceback": kept}
        case {"output_type": "display_data", "data": dict(data)}:
            return {"output_type": "display_data", "data": _data(data, limits), "metadata": {}}
        case {"output_type": "execute_result", "data": dict(data), "execution_count": count}:
            number = count if type(count) is int and 0 <= count < 1_000_000 else None
            kept_data = _data(data, limits)
            return {
                **{"output_type": "execute_result", "data": kept_data},
                **{"metadata": {}, "execution_count": number},
            }
    return None


def _text(text: str, most: int) -> str:
    """Text that can be written as UTF-8."""
    return text[:most].encode("utf-8", "replace").decode("utf-8")


def _data(data: dict[Any, Any], limits: Limits) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for mime in TEXT_TYPES:
        if type(data.get(mime)) is str:
            kept[mime] = _text(data[mime], 2 * limits.output_bytes)
    for mime in BINARY_TYPES:
        picture = data.get(mime)
        if type(picture) is str and len(picture) <= limits.picture_bytes and _BASE64.issuperset(picture):
            kept[mime] = picture
    check = data.get(CHECK_TYPE)
    if type(check) is dict:
        try:
            text = json.dumps(check, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return kept
        if len(text) <= limits.output_bytes:
            kept[CHECK_TYPE] = json.loads(text)
    return kept
