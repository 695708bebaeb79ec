"""Finds the data files that come with the course: in a bundle, in the repository, or where the kit was installed."""

from __future__ import annotations

from pathlib import Path

from coursekit.errors import MissingFile

_KIT = Path(__file__).resolve().parents[1]


def _folders() -> list[Path]:
    """The folders that may contain data: beside the notebook, beside the kit (a bundle), or in the repository."""
    here = Path.cwd()
    return [
        here / "data",
        here.parent / "data",
        _KIT.parent / "data",
        _KIT.parent.parent / "data",
        here.parent.parent / "data",
    ]


def path(name: str) -> Path:
    """The path of the data file ``name`` (``"names.txt"``). Raises MissingFile."""
    for folder in _folders():
        if (folder / name).exists():
            return folder / name
    raise MissingFile(
        f"The data file {name} is missing: unpack the lab's folder again, with its data folder."
    )


def lines(name: str) -> list[str]:
    """The lines of a text file, without their ends and without empty ones."""
    return [line for line in path(name).read_text(encoding="utf-8").splitlines() if line]
