"""Watches a lab's files and has its preview made again when one changes. The pages are files in a private folder."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

from autograder.course.masters import course_header, course_root, master_path, source_of_import
from autograder.course.soundness.companions import questions_folder
from autograder.errors import UserError
from autograder.files import write_atomically


def watched(lab: str) -> list[Path]:
    """The files and folders of a lab whose change is seen: its master, what stands beside it, its data."""
    root = course_root()
    names = course_header(lab).get("data") or []
    data = [root / "data" / str(name) for name in names if isinstance(names, list)]
    return [path for path in (master_path(lab), questions_folder(lab, root), *data) if path.exists()]


def remake(lab: str, folder: Path, version: int) -> bool:
    """Build and audit what changed, in a fresh process; whether everything is as it should be."""
    _tell(folder, version - 1, busy=True)
    command = [sys.executable, "-P", "-m", "autograder.preview.make", lab, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not (folder / "index.html").exists():
        raise UserError(f"The preview of {lab} could not be made: {done.stderr.strip().splitlines()[-1:]}")
    _tell(folder, version, busy=False)
    return done.returncode == 0


def _tell(folder: Path, version: int, *, busy: bool) -> None:
    """Write what the open page asks for: how often the pages were made, and whether they are being made."""
    write_atomically(folder / "version.js", f"made({version}, {'true' if busy else 'false'});\n")


def preview(
    lab: str, browser: bool, said: Callable[[str], None], stop: threading.Event | None = None
) -> None:
    """Make the preview of a lab (full name), open it, and make it again after every change, until interrupted."""
    from watchfiles import watch

    if source_of_import(lab):
        raise UserError(f"{lab} was imported, so it names no wrong answers to show.")
    with tempfile.TemporaryDirectory(prefix="preview-") as name:
        folder, version = Path(name), 1
        said(f"{lab}: building and auditing … (Ctrl+C ends it)")
        good = remake(lab, folder, version)
        said(f"{_state(good)}: {(folder / 'index.html').as_uri()}")
        if browser:
            webbrowser.open((folder / "index.html").as_uri())
        for changes in watch(*watched(lab), stop_event=stop, raise_interrupt=False):
            if names := sorted({Path(path).name for _, path in changes if not path.endswith(".pyc")}):
                version += 1
                said(f"{', '.join(names)} changed: {_state(remake(lab, folder, version))}")


def _state(good: bool) -> str:
    return "✓ everything as it should be" if good else "✗ the page says what is to be put right"
