"""A fault of a lab as its author reads it: where it stands, what is wrong, and the nearest name that would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a lab. ``str`` is the sentence for its author."""

    #: The file, as a path below the course's folder.
    file: str
    #: The line it is about (from 1), or 0 for the whole file.
    line: int
    #: The cell, function or setting that is at fault; "" for the whole file.
    place: str
    sentence: str
    #: Whether it is only not there yet, for a question that the header calls unfinished.
    unfinished: bool = False

    def __str__(self) -> str:
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{where}{f', {self.place}' if self.place else ''}: {self.sentence}."


def nearest(name: object, known: Iterable[str]) -> str:
    """ "; the nearest is “entropy”", or what there is instead, to end a sentence about a name that is not known."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    if close:
        return f"; the nearest is “{close[0]}”"
    return (
        f"; there {'is' if len(names) == 1 else 'are'} {', '.join(f'“{n}”' for n in names[:12])}"
        if names
        else ""
    )


def missing_file(path: Path, root: Path, what: str) -> Fault:
    """That a file (or folder) is not there, with the nearest one beside it."""
    beside = [p.name for p in path.parent.glob("*") if p.name[:1] not in "._"] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, beside, n=1, cutoff=0.8)
    hint = f"; there is {close[0]}" if close else ""
    return Fault(path.relative_to(root).as_posix(), 0, "", f"{what} are not there{hint}")
