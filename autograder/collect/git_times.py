"""The date of the last commit that changed a notebook. Whoever commits can set it as they like: it is the student's word."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from autograder.files import read_plain

#: Bytes of a clone's list of names that are read.
_LARGEST = 4 << 20
_OBJECT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def commit_time(repository: Path, path: str) -> datetime | None:
    """When ``path`` was last committed in a clone; None when that cannot be seen.

    A clone's own configuration may name programs that git would start. So git reads the clone's objects from an empty
    repository of ours, and never the clone's configuration.
    """
    git = repository / ".git"
    commit = _head(git) if git.is_dir() and not git.is_symlink() else ""
    if not commit or (git / "objects").is_symlink():
        return None
    with tempfile.TemporaryDirectory() as folder:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        nowhere = {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_LAZY_FETCH": "1",
            "HOME": folder,
        }
        objects = {"GIT_OBJECT_DIRECTORY": str((git / "objects").resolve())}
        try:
            subprocess.run(
                ["git", "init", "--quiet", "--bare", folder],
                env=clean | nowhere,
                check=True,
                capture_output=True,
                timeout=30,
            )
            words = [
                "git",
                f"--git-dir={folder}",
                "rev-list",
                "--max-count=1",
                "--timestamp",
                commit,
                "--",
                path,
            ]
            done = subprocess.run(
                words, env=clean | nowhere | objects, check=True, capture_output=True, text=True, timeout=30
            )
            seconds = done.stdout.split()
            return datetime.fromtimestamp(int(seconds[0]), UTC) if seconds else None
        except (OSError, subprocess.SubprocessError, ValueError, OverflowError):
            return None


def _head(git: Path) -> str:
    """The commit that the clone stands at ("" when it cannot be read)."""
    try:
        head = _read(git / "HEAD").strip()
        if not head.startswith("ref: refs/"):
            return head if _OBJECT.fullmatch(head) else ""
        name = head.removeprefix("ref: ")
        if ".." in name:
            return ""
        if (git / name).is_file():
            commit = _read(git / name).strip()
        else:
            packed = _read(git / "packed-refs").splitlines()
            commit = next((line.split()[0] for line in packed if line.endswith(f" {name}")), "")
        return commit if _OBJECT.fullmatch(commit) else ""
    except (OSError, ValueError):
        return ""


def _read(path: Path) -> str:
    """A file of the clone's, which may be anything: of one that is larger, a part says nothing false."""
    return read_plain(path, _LARGEST).decode("utf-8")
