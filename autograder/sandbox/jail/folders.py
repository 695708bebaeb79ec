"""Measures and removes folders with untrusted content, however deep they are and whatever their permissions.

Paths below such a folder may be too long for the kernel, or change their target in between. So each folder is opened
relative to its parent, and links are not followed. Runs on both sides.
"""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator
from itertools import islice

#: The most files and folders; the scratch space of a namespace may hold as many.
MAX_FILES = 20_000
#: The most nested folders. Each takes a descriptor while it is read.
MAX_DEPTH = 100
_OPEN = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


class DiskUsage:
    """The disk space of files, and of all files below folders. Counting stops after ``enough`` bytes.

    ``taken``: the bytes; infinite if the files are too many, too deep or not readable.
    ``moved``: whether a file disappeared, perhaps to another place, between being listed and measured.
    """

    def __init__(self, paths: Iterable[str], enough: int):
        self.taken = 0.0
        self.moved = False
        self._enough = enough
        self._count = 0
        for path in paths:
            self._measure(path, None, 0)

    def _measure(self, name: str, above: int | None, depth: int) -> None:
        """Count a file, or a folder with its content. ``above`` is the open folder in which it lies."""
        if self.taken > self._enough:
            return
        self._count += 1
        if self._count > MAX_FILES or depth > MAX_DEPTH:
            self.taken = float("inf")
            return
        try:
            found = os.stat(name, dir_fd=above, follow_symlinks=False)
            self.taken += 512 * found.st_blocks
            if not stat.S_ISDIR(found.st_mode):
                return
            folder = os.open(name, _OPEN, dir_fd=above)
            try:
                with os.scandir(folder) as entries:
                    names = [entry.name for entry in islice(entries, MAX_FILES + 1)]
                for below in names:
                    self._measure(below, folder, depth + 1)
            finally:
                os.close(folder)
        except (FileNotFoundError, NotADirectoryError):
            self.moved = True
        except OSError:
            self.taken = float("inf")


def open_to_everybody(above: str = "/", depth: int = 3) -> list[str]:
    """The folders, at most ``depth`` below ``above``, in which every user may make files, such as ``/tmp``. No kernel file systems."""
    found = []
    for path, status in _entries(above):
        if stat.S_ISDIR(status.st_mode) and path not in ("/proc", "/sys"):
            found += [path] if status.st_mode & stat.S_IWOTH else []
            found += open_to_everybody(path, depth - 1) if depth > 1 else []
    return found


def owned(folders: Iterable[str], user: int) -> list[str]:
    """The entries directly in these folders that belong to a user."""
    return [path for folder in folders for path, status in _entries(folder) if status.st_uid == user]


def _entries(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The path and status of each entry that can be seen."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                yield entry.path, entry.stat(follow_symlinks=False)


def remove(path: str, seconds: float) -> bool:
    """Remove a file, or a folder with its content, within ``seconds``. Returns whether it is gone.

    ``rm`` and ``chmod`` walk folders of any depth, and follow no link. What is closed to its owner is opened first.
    """
    until = time.monotonic() + seconds
    for words in (["rm", "-rf"], ["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        if os.path.lexists(path):
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(
                    [*words, "--", path], timeout=until - time.monotonic(), stderr=subprocess.DEVNULL
                )
    return not os.path.lexists(path)
