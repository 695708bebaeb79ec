"""Which files of the student kit a piece of code can come to run: what it names, and what that imports in its turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path

from autograder.course.visible_files import kit_files, kit_folder

#: A mention of the kit: ``coursekit.models.letters``, ``coursekit.models import (letters, …``, in Python or in a notebook's JSON.
_MENTION = re.compile(rb"coursekit((?:\.\w+)*)(?:[ \t]+import[ \t]*(\([^)]{0,1000}|[^\"\\\n#]{0,1000}))?")
#: ``mine("08", "MultiHeadAttention")`` runs the course's own version where a submission is graded: ``provided/p08_….py``.
#: (Behind a backtick it is an example in a docstring.)
_EARLIER_LAB = re.compile(rb"(?<!`)\bmine\(\s*\\?[\"'](\d\d?)")
#: Further mentions are not looked at: no notebook has so many, and a hostile one must not hold up the class.
_MENTIONS = 2_000
_NAMES = 20_000
#: Bytes of a module's name that are read: more than the kit's longest.
_LONGEST = 200


def kit_files_named(source: bytes, lab: str) -> frozenset[str]:
    """The files of the kit (``models/letters.py``) that the source names and a student of ``lab`` has.

    Read as text, so that a notebook need not be parsed. A name in a sentence counts too, which costs a regrade at most;
    one that is put together while the code runs is not seen.
    """
    return _named(source, _files(lab, kit_folder()))


def kit_files_reached(names: Iterable[str], lab: str) -> list[Path]:
    """These files of the kit and all that they import, directly or not, in a fixed order."""
    files = _files(lab, kit_folder())
    reached: set[str] = set()
    waiting = [name for name in names if name in files]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += _named(files[name].read_bytes(), files)
    return sorted(files[name] for name in reached)


@cache
def _files(lab: str, kit: Path) -> dict[str, Path]:
    """Name in the kit -> file, of what a student of ``lab`` sees."""
    return {file.relative_to(kit).as_posix(): file for file in kit_files(lab)}


def _named(source: bytes, files: Mapping[str, Path]) -> frozenset[str]:
    """The files that the source names: each module, and the packages that hold it."""
    deepest = max((name.count("/") for name in files), default=0) + 1  # parts of the longest module's name
    modules: set[tuple[str, ...]] = set()
    for mention in islice(_MENTION.finditer(source), _MENTIONS):
        module = tuple(mention[1][:_LONGEST].decode().split(".")[1 : deepest + 1])
        modules.add(module)
        modules.update((*module, name.decode()) for name in re.findall(rb"\w+", mention[2] or b""))
        if len(modules) > _NAMES:
            break
    named = {
        name
        for parts in {parts[:length] for parts in modules for length in range(len(parts) + 1)}
        for name in (f"{'/'.join(parts)}.py", "/".join((*parts, "__init__.py")))
        if name in files
    }
    for mention in islice(_EARLIER_LAB.finditer(source), _MENTIONS):
        number = int(mention[1])
        named |= {name for name in files if name.startswith(f"provided/p{number:02d}_")}
    return frozenset(named)
