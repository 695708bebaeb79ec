"""Shows a sentence or a progress bar for slow work, in a notebook or terminal."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from coursekit.notebook.cards import in_notebook

Item = TypeVar("Item")

_BAR = (
    '<div style="font:13px system-ui,sans-serif;white-space:nowrap"><progress max="{total}" value="{done}" '
    'style="width:20rem;max-width:60%;vertical-align:middle"></progress> {text}</div>'
)


def say(sentence: str, details: str = "") -> None:
    """Show one quiet line, with ``details`` folded below it."""
    if in_notebook():
        from IPython.display import HTML, display

        inside = f"<summary>Details</summary><pre>{html.escape(details)}</pre>"
        folded = f"<details>{inside}</details>" if details else ""
        line = f'<p style="font:14px system-ui,sans-serif;opacity:.75">○ {html.escape(sentence)}</p>'
        display(HTML(line + folded))
    else:
        print(f"○ {sentence}" + f"\n{details}" * bool(details))


def track(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Yield ``items`` with a progress bar that shows ``what``, the progress, and the time left.

    Shows nothing for the first half second. The bar updates at most five times a second.
    """
    total = len(items) if total is None and hasattr(items, "__len__") else total  # type: ignore[arg-type]
    began, shown, handle, done = time.monotonic(), 0.0, None, 0
    try:
        for item in items:
            done += 1
            yield item
            now = time.monotonic()
            if now - began > 0.5 and now - shown > 0.2:
                shown, handle = now, draw_bar(handle, what, done, total, now - began)
    finally:  # also if the loop is left early
        if handle is not None:
            draw_bar(handle, what, done, total, time.monotonic() - began, finished=True)


def fastest(function: Callable[..., object], *arguments: Any, tries: int = 5, what: str = "timing") -> float:
    """The seconds of the fastest of several calls of a function."""
    seconds = []
    for _ in track(range(tries), what):
        began = time.perf_counter()
        function(*arguments)
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def draw_bar(
    handle: object, what: str, done: int, total: int | None, seconds: float, finished: bool = False
) -> object:
    """Draw the bar, or update the bar of ``handle``, an earlier call's result."""
    left = f", {seconds / done * (total - done):.0f} s left" if total and not finished else ""
    text = f"{what}: {done:,}" + (f" of {total:,}" if total else "") + f" ({seconds:.0f} s{left})"
    if not in_notebook():
        if finished or sys.stderr.isatty():  # a log gets only the last line
            print(f"\r{text}   ", end="\n" if finished else "", file=sys.stderr, flush=True)
        return True
    from IPython.display import HTML, display

    page = HTML(_BAR.format(total=total or max(done, 1), done=done, text=html.escape(text)))
    if handle is None:
        return display(page, display_id=True)
    handle.update(page)  # type: ignore[attr-defined]
    return handle
