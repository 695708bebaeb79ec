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
#: What git may use for one clone: seconds of a processor, and bytes of memory. A student chooses how large an object unpacks.
SECONDS = 10
MEMORY = 256 << 20
#: Git maps a part of a large clone at a time, and so stays within ``MEMORY`` in an honest one.
_IN_PARTS = [
    "-c", "core.packedGitWindowSize=16m", "-c", "core.packedGitLimit=64m", "-c", "core.deltaBaseCacheLimit=16m",
]  # fmt: skip


class OverLimits(Exception):
    """Git could not tell the time within its limits, or the clone is damaged."""


def commit_time(repository: Path, path: str) -> datetime | None:
    """When ``path`` was last committed in a clone; None when no commit has it, or nothing here is a clone.

    A clone's own configuration may name programs that git would start. So git reads the clone's objects from an empty
    repository of ours, and never the clone's configuration. Raises ``OverLimits``.
    """
    git = repository / ".git"
    commit = _head(git) if git.is_dir() and not git.is_symlink() else ""
    if not commit or (git / "objects").is_symlink():
        return None
    with tempfile.TemporaryDirectory() as folder:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = clean | {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_LAZY_FETCH": "1",
            "HOME": folder,
        }
        try:
            bounded(["git", "init", "--quiet", "--bare", folder], environment)
            environment["GIT_OBJECT_DIRECTORY"] = str((git / "objects").resolve())
            words = ["rev-list", "--max-count=1", "--timestamp", commit, "--", path]
            seconds = bounded(["git", f"--git-dir={folder}", *_IN_PARTS, *words], environment).split()
            return datetime.fromtimestamp(int(seconds[0]), UTC) if seconds else None
        except FileNotFoundError:  # there is no git here
            return None
        except (OSError, subprocess.SubprocessError, ValueError, OverflowError):
            raise OverLimits(
                f"git could not read the last commit within {SECONDS} s and {MEMORY >> 20} MB, or the clone is damaged"
            ) from None


def bounded(command: list[str], environment: dict[str, str], largest: int = 0, memory: int = 0) -> bytes:
    """What a command writes, in a process that cannot grow beyond the limits.

    ``largest``: bytes of a file that it may write (0: as many as are read of a clone's list); ``memory``: 0 for ``MEMORY``.
    """
    try:
        import resource
    except ImportError:
        raise OverLimits(
            "this system has no limits for git: collect on Linux or macOS for commit times"
        ) from None

    def limit() -> None:
        for what, most in (
            (resource.RLIMIT_AS, memory or MEMORY),
            (resource.RLIMIT_FSIZE, largest or _LARGEST),
            (resource.RLIMIT_CPU, SECONDS),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(what, (most, most))

    with tempfile.TemporaryFile() as written:
        subprocess.run(
            command,
            env=environment,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.DEVNULL,
            timeout=6 * SECONDS,  # a pipe among the objects never answers, and a busy machine answers late
            preexec_fn=limit,
        )
        written.seek(0)
        return written.read()


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
