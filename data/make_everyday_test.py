"""Writes data/tatoeba/test.tsv.gz: 300 pairs of Tatoeba's test split, for lab 12.

    python data/make_everyday_test.py

Taken at equal distances from the 2,626 pairs that the translator of everyday sentences was not trained on; nobody chose
them. Fetches the corpus when it is not in the course's cache.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "notebooks")]

from coursekit import data  # noqa: E402

PAIRS = 300


def main() -> None:
    """Fetch, choose, write."""
    pairs = data.load("tatoeba", "test")
    chosen = [pairs[n * len(pairs) // PAIRS] for n in range(PAIRS)]
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(chosen)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as file:
        file.write(text.getvalue().encode())
    (HERE / "tatoeba" / "test.tsv.gz").write_bytes(packed.getvalue())
    print(f"{len(chosen)} pairs, {len(packed.getvalue()):,} bytes")


if __name__ == "__main__":
    main()
