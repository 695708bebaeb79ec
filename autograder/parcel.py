"""Packs an assignment's files into bytes, for workers that have the package and nothing else of the course."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.work import Assignment

_KIT = "notebooks/coursekit"
#: Modules and folders that belong to one lab carry its number: test_07_…, m07_…, 07_….
_LAB_NUMBER = re.compile(r"^(?:test_|m)?(\d\d)_")


@dataclass(frozen=True)
class Parcel:
    """An assignment whose files travel with it. ``digest`` names it."""

    assignment: Assignment
    files: bytes
    digest: str


def pack(assignment: Assignment) -> Parcel:
    """Put the masters, hidden tests and misconceptions up to the lab, its kit and its data into a parcel."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for source, name in sorted(set(_files(assignment)), key=lambda pair: pair[1]):
            archive.writestr(zipfile.ZipInfo(name), source.read_bytes(), zipfile.ZIP_DEFLATED)
    files = content.getvalue()
    identity = f"{assignment.context.whole} {assignment.settings.salt}"
    return Parcel(assignment, files, hashlib.sha256(identity.encode() + files).hexdigest()[:16])


def unpack(parcel: Parcel, folder: Path) -> Assignment:
    """Write the parcel's files to ``folder``: a course of its own; the assignment as it is there."""
    with zipfile.ZipFile(io.BytesIO(parcel.files)) as archive:
        archive.extractall(folder)
    old = parcel.assignment
    data = tuple(folder / "data" / path.relative_to(old.root / "data") for path in old.data)
    return replace(old, root=folder, kit=folder / _KIT, data=data)


def _files(assignment: Assignment) -> Iterator[tuple[Path, str]]:
    """Each file with its name in the parcel."""
    root, number = assignment.root, assignment.lab[:2]
    for master in root.glob("solutions/[0-9][0-9]_*/*.py"):
        if master.parent.name[:2] <= number:
            yield master, f"solutions/{master.parent.name}/{master.name}"
    for kind in ("hidden_tests", "misconceptions"):
        for module in (root / "autograder" / kind).glob("*.py"):
            found = _LAB_NUMBER.match(module.name)
            if found is not None and found.group(1) <= number:
                yield module, f"autograder/{kind}/{module.name}"
    for file in _below(assignment.kit):
        yield file, f"{_KIT}/{file.relative_to(assignment.kit).as_posix()}"
    for path in assignment.data:
        for file in _below(path):
            yield file, f"data/{file.relative_to(root / 'data').as_posix()}"


def _below(path: Path) -> Iterator[Path]:
    """The file itself, or all files below the folder, without caches."""
    if path.is_file():
        yield path
    for file in path.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file
