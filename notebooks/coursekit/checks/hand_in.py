"""Hands the saved notebook in: sends it to the course's live class or, without one, packs it into a zip.

The file is handed in, not what is on the screen. A notebook with unsaved answers is refused.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

from coursekit.checks import api
from coursekit.checks.sending import LiveClass, colab_notebook, live_class, send, store_link
from coursekit.errors import UserError
from coursekit.notebook import cards
from coursekit.notebook.verdict import Verdict

Cells = list[dict[str, Any]]


def hand_in(link: str = "") -> cards.Card | None:
    """Hand in the lab's notebook as it was last saved. A card shows the outcome.

    With your invitation's ``link``, which is stored for the next time, the notebook goes to the live class. The card shows
    the receipt and the verdict. Without a link, a zip is written beside the notebook. The card lists what it holds and what
    is missing. While a notebook is graded, this does nothing.
    """
    lab, questions, verdicts = api.state()
    if hasattr(_shell(), "course_shell"):
        return None
    path = Path.cwd() / f"{lab}.ipynb"
    try:
        live = live_class(link)
    except UserError as error:
        return cards.present(cards.not_taken(str(error)))
    try:
        from_colab = colab_notebook()
        content = from_colab if from_colab is not None else _read_saved(path)
        cells: Cells = json.loads(content)["cells"]
    except FileNotFoundError:
        return cards.present(
            cards.not_packed(f"There is no file `{path.name}` in {path.parent}.{_rename_advice()}")
        )
    except (ValueError, KeyError):
        return cards.present(cards.not_packed(f"`{path.name}` cannot be read as a notebook. Save it again."))
    newer = [name for name in questions if not _is_saved(name, cells)]
    if newer:
        reason = f"What you ran last for `{'`, `'.join(newer)}` is not in the file yet."
        return cards.present(
            cards.not_packed(f"{reason} Save the notebook (Ctrl+S), then run this cell again.")
        )
    if live is not None:
        return _send_and_show(live, link, lab, content)
    parts = [(name, *_answer_state(name, cells, verdicts.get(name))) for name in questions]
    parts += [(name, *_text_state(cell)) for name, cell in _text_answers(cells)]
    archive = path.with_suffix(".zip")
    _pack(archive, path.name, content)
    when = time.time() if from_colab is not None else path.stat().st_mtime
    saved = time.strftime("%H:%M on %d %B", time.localtime(when))
    advice = f"It holds the notebook as it was saved at {saved}. If you change something: save, and run this cell again."
    return cards.present(
        cards.packed(archive.name, f"{archive.stat().st_size / 1000:,.0f} kB", parts, advice)
    )


def _send_and_show(to: LiveClass, link: str, lab: str, content: bytes) -> cards.Card | None:
    """Send the notebook, and update its card until there is a verdict; in a terminal, print each card.

    A link that works is stored for the next time.
    """
    handle, card = None, None
    try:
        for answer in send(to, lab, content):
            if card is None and link:
                store_link(link)
            card = cards.handed_in(answer)
            if handle is not None:
                handle.update(card)
            elif cards.in_notebook():
                from IPython.display import display

                handle = display(card, display_id=True)
            elif answer.get("state") == "waiting":
                print(card.words, file=sys.stderr)
    except UserError as error:
        if card is None:
            return cards.present(cards.not_taken(str(error)))
    if handle is not None or card is None:
        return None
    return cards.present(card)


def _shell() -> Any:
    """The IPython shell that runs the notebook, or None."""
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _rename_advice() -> str:
    """A sentence with advice if the running notebook does not have its lab's name."""
    name = Path(os.environ.get("JPY_SESSION_NAME", "")).name
    advice = "give it back its original name (File > Rename Notebook)."
    return f" This notebook is called `{name}`: {advice}" if name else ""


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell.get("source", "")).strip()


def _is_saved(question: str, cells: Cells) -> bool:
    """Whether the file contains the cell that last defined ``question``, as it was run."""
    shell = _shell()
    ran = shell.history_manager.input_hist_raw if shell is not None and shell.history_manager else []
    defines = re.compile(rf"^(def|class) {re.escape(question)}\b", re.MULTILINE)
    last = next((text.strip() for text in reversed(ran) if defines.search(text)), None)
    return last is None or any(_source(cell) == last for cell in cells)


def _grade_id(cell: dict[str, Any]) -> str:
    return str(cell.get("metadata", {}).get("nbgrader", {}).get("grade_id", ""))


def _answer_state(question: str, cells: Cells, verdict: Verdict | None) -> tuple[str, bool]:
    """A phrase about a question's answer in the file, and whether it is written."""
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
    """(name, cell) of each written answer."""
    flagged = [(cell, cell.get("metadata", {}).get("nbgrader", {})) for cell in cells]
    return [
        (_grade_id(cell), cell) for cell, flags in flagged if flags.get("grade") and flags.get("solution")
    ]


def _text_state(cell: dict[str, Any]) -> tuple[str, bool]:
    """A phrase about a written answer, and whether it differs from the released text."""
    if _source(cell) in ("", "YOUR ANSWER HERE"):
        return "no answer yet", False
    return "answered in words: a person reads it", True


def _pack(archive: Path, name: str, content: bytes) -> None:
    """Write the zip. An existing zip stays complete until the new one is."""
    draft = archive.with_suffix(".zip.part")
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, content)
    draft.replace(archive)


def _read_saved(path: Path) -> bytes:
    """The saved notebook. While JupyterLab writes it, it is not valid JSON and is read again."""
    for _ in range(10):
        content = path.read_bytes()
        with contextlib.suppress(ValueError):
            json.loads(content)
            return content
        time.sleep(0.2)
    return content
