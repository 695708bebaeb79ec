"""Packs an assignment's files into bytes, for workers that have the package and nothing else of the course."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course.visible_files import KIT, files_below, grader_files
from autograder.grading.task import Assignment


@dataclass(frozen=True)
class WorkerArchive:
    """An assignment whose files travel with it. ``digest`` names it."""

    assignment: Assignment
    files: bytes
    digest: str


def pack(assignment: Assignment) -> WorkerArchive:
    """Put the masters and questions' files up to the lab, its kit and its data into an archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for source, name in sorted(set(_files(assignment)), key=lambda pair: pair[1]):
            packed.writestr(zipfile.ZipInfo(name), source.read_bytes(), zipfile.ZIP_DEFLATED)
    files = content.getvalue()
    identity = f"{assignment.context.whole} {assignment.settings.salt}"
    return WorkerArchive(assignment, files, hashlib.sha256(identity.encode() + files).hexdigest()[:16])


def unpack(archive: WorkerArchive, folder: Path) -> Assignment:
    """Write the archive's files to ``folder``: a course of its own; the assignment as it is there."""
    with zipfile.ZipFile(io.BytesIO(archive.files)) as packed:
        packed.extractall(folder)
    old = archive.assignment
    data = tuple(folder / "data" / path.relative_to(old.root / "data") for path in old.data)
    return replace(old, root=folder, kit=folder / KIT, data=data)


def _files(assignment: Assignment) -> Iterator[tuple[Path, str]]:
    """Each file with its name in the archive."""
    yield from grader_files(assignment.lab)
    for file in files_below(assignment.kit):
        yield file, f"{KIT}/{file.relative_to(assignment.kit).as_posix()}"
    for path in assignment.data:
        for file in files_below(path):
            yield file, f"data/{file.relative_to(assignment.root / 'data').as_posix()}"
