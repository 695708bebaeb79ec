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
from collections.abc import Iterable

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
        self._count = 0
        for path in paths:
            if self.taken > enough:
                return
            try:
                self._measure(path, enough)
            except OSError:
                self.taken = float("inf")

    def _measure(self, path: str, enough: int) -> None:
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return
        if stat.S_ISDIR(found.st_mode):
            self._walk(path, enough)
        else:
            self._count += 1
            self.taken += 512 * found.st_blocks if self._count <= MAX_FILES else float("inf")

    def _walk(self, path: str, enough: int) -> None:
        # The open folders from the top down, each with the names in it that are still to be measured.
        way: list[tuple[int, list[str]]] = []
        try:
            self._enter(way, path, None)
            while way and self.taken <= enough:
                here, waiting = way[-1]
                if not waiting:
                    way.pop()
                    os.close(here)
                elif len(way) > MAX_DEPTH:
                    self.taken = float("inf")
                else:
                    self._enter(way, waiting.pop(), here)
        finally:
            for here, _ in way:
                os.close(here)

    def _enter(self, way: list[tuple[int, list[str]]], name: str, above: int | None) -> None:
        try:
            here = os.open(name, _OPEN, dir_fd=above)
        except (FileNotFoundError, NotADirectoryError):
            self.moved = True
            return
        waiting: list[str] = []
        way.append((here, waiting))
        with os.scandir(here) as entries:
            for entry in entries:
                self._count += 1
                if self._count > MAX_FILES:
                    self.taken = float("inf")
                    return
                try:
                    self.taken += 512 * entry.stat(follow_symlinks=False).st_blocks
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.name)
                except FileNotFoundError:
                    self.moved = True


def open_to_everybody(above: str = "/", depth: int = 3) -> list[str]:
    """The folders, at most ``depth`` below ``above``, in which every user may make files, such as ``/tmp``. No kernel file systems."""
    found = []
    with contextlib.suppress(OSError), os.scandir(above) as entries:
        for entry in entries:
            if entry.path in ("/proc", "/sys"):
                continue
            with contextlib.suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    if entry.stat(follow_symlinks=False).st_mode & stat.S_IWOTH:
                        found.append(entry.path)
                    if depth > 1:
                        found += open_to_everybody(entry.path, depth - 1)
    return found


def owned(folders: Iterable[str], user: int) -> list[str]:
    """The entries directly in these folders that belong to a user."""
    found = []
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == user:
                        found.append(entry.path)
    return found


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
