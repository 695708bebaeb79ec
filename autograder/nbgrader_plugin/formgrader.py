"""Opens nbgrader's Formgrader on a graded class, with a configuration for the output folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from sqlalchemy.engine import URL

from autograder.errors import UserError
from autograder.files import write_atomically


def address_of(database: Path) -> str:
    """A database's URL for SQLAlchemy, with the path's special characters escaped."""
    return URL.create("sqlite", database=str(database)).render_as_string()


def configure(out: Path) -> Path:
    """Write ``nbgrader_config.py`` into a graded folder and return the folder. Raises ``UserError`` without a gradebook."""
    from autograder.course.masters import course_root

    out = out.resolve()
    if not (out / "gradebook.db").is_file():
        raise UserError(f"There is no gradebook in {out}: grade a class into it first.")
    beside = out.parent / "submitted"
    template = Path(__file__).with_name("formgrader_config.txt").read_text(encoding="utf-8")
    text = template.format(
        root=str(out),
        source=str(course_root() / "solutions"),
        submitted=str(beside if beside.is_dir() and not (out / "submitted").is_dir() else out / "submitted"),
        database=address_of(out / "gradebook.db"),
    )
    write_atomically(out / "nbgrader_config.py", text)
    return out


def serve(out: Path, port: int, browser: bool) -> int:
    """Serve until Ctrl + C, SIGTERM or the terminal's end, which also end the server. Returns its exit status."""
    folder = configure(out)
    command = [sys.executable, "-m", "jupyter", "lab", f"--port={port}", f"--notebook-dir={folder}"]
    command += ["--LabApp.default_url=/formgrader/gradebook", *([] if browser else ["--no-browser"])]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    # In its own session the server gets Ctrl + C only from this process and does not ask for confirmation.
    server = subprocess.Popen(command, cwd=folder, start_new_session=True)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: server.terminate())
    return server.wait()
