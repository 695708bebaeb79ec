"""A folder that a stranger filled: how much room it takes, and how it is removed, however deep it is and whatever is closed.

Nothing below it is reached by a path, which may be longer than the kernel takes, or lead somewhere else by now: each folder
is opened in the one above it, and no link is followed. Runs on both sides.
"""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import time
from collections.abc import Iterable

#: As many files and folders as the scratch space of a namespace may hold.
MAX_FILES = 20_000
#: Folders inside each other. Each takes a descriptor while it is looked at.
MAX_DEPTH = 100
_OPEN = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


class Room:
    """The bytes that some files and the files below some folders take on the disk, counted until they are more than ``enough``.

    ``taken``: without end where they cannot be counted: too many, too deep, or closed to whoever looks.
    ``moved``: whether something went, perhaps to another place, between being listed and looked at.
    """

    def __init__(self, paths: Iterable[str], enough: int):
        self.taken = 0.0
        self.moved = False
        self._count = 0
        for path in paths:
            if self.taken > enough:
                return
            try:
                self._look_at(path, enough)
            except OSError:
                self.taken = float("inf")

    def _look_at(self, path: str, enough: int) -> None:
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
        # The folders on the way down, each with the names of those in it that are still to be looked at.
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
    """The folders in which every user may make files (``/tmp``, ``/dev/shm``), so many folders down; no links, nothing of the kernel's."""
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
    """The entries of these folders that belong to a user; deeper ones are left out."""
    found = []
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == user:
                        found.append(entry.path)
    return found


def remove(path: str, seconds: float) -> bool:
    """Remove a folder with all below it, or a file, as far as it can be done in so many seconds; whether it is gone.

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
