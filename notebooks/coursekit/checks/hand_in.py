"""Packs the saved notebook into a zip to hand in, and says in words what is in it.

What is handed in is the file, not what the screen shows: a notebook that was not saved is not packed.
"""

from __future__ import annotations

import json
import os
import re
import time
import zipfile
from pathlib import Path
from typing import Any

from coursekit.checks import api
from coursekit.notebook import cards
from coursekit.notebook.verdict import Verdict

Cells = list[dict[str, Any]]


def hand_in() -> cards.Card | None:
    """Pack the lab's notebook, as it was last saved, beside it; a card says what it holds and what is missing.

    While a notebook is graded, there is nothing to pack.
    """
    lab, questions, verdicts = api.state()
    if hasattr(_shell(), "course_shell"):
        return None
    path = Path.cwd() / f"{lab}.ipynb"
    try:
        content = path.read_bytes()
        cells: Cells = json.loads(content)["cells"]
    except FileNotFoundError:
        return cards.present(
            cards.not_packed(f"There is no file `{path.name}` in {path.parent}.{_renamed()}")
        )
    except (ValueError, KeyError):
        return cards.present(
            cards.not_packed(f"`{path.name}` is no notebook that can be read. Save it again.")
        )
    newer = [name for name in questions if not _is_saved(name, cells)]
    if newer:
        reason = f"What you ran last for `{'`, `'.join(newer)}` is not in the file yet."
        return cards.present(
            cards.not_packed(f"{reason} Save the notebook (Ctrl+S), then run this cell again.")
        )
    parts = [(name, *_became(name, cells, verdicts.get(name))) for name in questions]
    parts += [(name, *_written(cell)) for name, cell in _text_answers(cells)]
    archive = path.with_suffix(".zip")
    _pack(archive, path.name, content)
    saved = time.strftime("%H:%M on %d %B", time.localtime(path.stat().st_mtime))
    advice = f"It holds the notebook as it was saved at {saved}. If you change something: save, and run this cell again."
    return cards.present(
        cards.packed(archive.name, f"{archive.stat().st_size / 1000:,.0f} kB", parts, advice)
    )


def _shell() -> Any:
    """IPython's shell that runs the notebook; None elsewhere."""
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _renamed() -> str:
    """What to do when the notebook that runs has another name than its lab."""
    name = Path(os.environ.get("JPY_SESSION_NAME", "")).name
    return (
        f" This notebook is called `{name}`: give it its first name back (File > Rename Notebook)."
        if name
        else ""
    )


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell.get("source", "")).strip()


def _is_saved(question: str, cells: Cells) -> bool:
    """Whether the last cell that was run to define ``question`` stands in the file as it was run."""
    shell = _shell()
    ran = shell.history_manager.input_hist_raw if shell is not None and shell.history_manager else []
    defines = re.compile(rf"^(def|class) {re.escape(question)}\b", re.MULTILINE)
    last = next((text.strip() for text in reversed(ran) if defines.search(text)), None)
    return last is None or any(_source(cell) == last for cell in cells)


def _grade_id(cell: dict[str, Any]) -> str:
    return str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", ""))


def _became(question: str, cells: Cells, verdict: Verdict | None) -> tuple[str, bool]:
    """In words what the file holds for a question, and whether that is an answer."""
    cell = next((cell for cell in cells if _grade_id(cell) == question), None)
    if cell is None:
        return "its cell is missing: take it from a fresh copy of the notebook", False
    if verdict is not None and verdict.passed:
        return "written, and its public checks pass", True
    if re.search(r"^\s*raise NotImplementedError\(\)", _source(cell), re.MULTILINE):
        return "not written yet", False
    if verdict is None:
        return "written, but not checked since the notebook was started", True
    return f"written; {sum(m.passed for m in verdict.marks)} of {len(verdict.marks)} public checks hold", True


def _text_answers(cells: Cells) -> list[tuple[str, dict[str, Any]]]:
    """The cells for answers in words, with their names."""
    flagged = [(cell, cell.get("metadata", {}).get("nbgrader", {})) for cell in cells]
    return [
        (_grade_id(cell), cell) for cell, flags in flagged if flags.get("grade") and flags.get("solution")
    ]


def _written(cell: dict[str, Any]) -> tuple[str, bool]:
    """Whether an answer in words differs from what stood there first."""
    if _source(cell) in ("", "YOUR ANSWER HERE"):
        return "no answer yet", False
    return "answered in words: a person reads it", True


def _pack(archive: Path, name: str, content: bytes) -> None:
    """Write the zip; one that is there stays whole until the new one is."""
    draft = archive.with_suffix(".zip.part")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, content)
    draft.replace(archive)
