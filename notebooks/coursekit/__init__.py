"""The student kit of From Bigrams to Translators: checks with words, a progress card, handing in, data and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coursekit.checks.api import check, progress, start
from coursekit.checks.break_it import break_it
from coursekit.checks.earlier_labs import mine
from coursekit.checks.hand_in import hand_in
from coursekit.notebook.progress import track
from coursekit.notebook.until_written import needs, until_written

if TYPE_CHECKING:
    from coursekit.data import path

__all__ = [
    "break_it",
    "check",
    "hand_in",
    "mine",
    "needs",
    "path",
    "progress",
    "start",
    "track",
    "until_written",
]


def __getattr__(name: str) -> Any:
    """``path``, imported on first use: if ``data`` were imported here, ``python -m coursekit.data`` would run it twice."""
    if name == "path":
        from coursekit.data import path

        return path
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
