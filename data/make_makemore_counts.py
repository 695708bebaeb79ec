"""Counts makemore's names for labs 01 and 02, so that the lectures' numbers can be worked without the list.

    python data/make_makemore_counts.py names.txt

``names.txt`` is makemore's list (its sha256 is in ``coursekit.data.names``). Lab 02's parts come from makemore's own
shuffle: Python's generator with seed 42, then 80 % for training, 10 % for choosing, the rest for testing.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from coursekit.data.download import same_content
from coursekit.data.names import ALPHABET, MAKEMORE

HERE = Path(__file__).resolve().parent


def bigrams(names: Iterable[str], start: str = ".", end: str = ".") -> Counter[tuple[str, str]]:
    """How often each token follows each other one."""
    return Counter(pair for name in names for pair in pairwise([start, *name, end]))


def trigrams(names: Iterable[str]) -> Counter[str]:
    """How often each three tokens stand in a row, with two dots before a name and one after it."""
    padded = (f"..{name}." for name in names)
    return Counter(text[at : at + 3] for text in padded for at in range(len(text) - 2))


def write_columns(file: Path, heading: str, columns: Sequence[Counter[str]]) -> None:
    """One line for each key that some column counts: the key, then its count in each column."""
    keys = sorted(set().union(*columns))
    rows = [",".join([key, *(str(column[key]) for column in columns)]) for key in keys]
    file.write_text("\n".join([heading, *rows, ""]), encoding="ascii")


def main(source: str) -> None:
    """Write the three tables of counts beside this script."""
    if not same_content(Path(source), MAKEMORE.sha256):
        sys.exit(f"{source} is not the list that the lectures count.")
    names = Path(source).read_text(encoding="ascii").split()
    table = bigrams(names, "<S>", "<E>")
    rows = [",".join(str(table[current, following]) for following in ALPHABET) for current in ALPHABET]
    (HERE / "01_markov_bigram" / "makemore_counts.csv").write_text("\n".join([*rows, ""]), encoding="ascii")

    random.Random(42).shuffle(names)
    lab_02 = HERE / "02_dirichlet_map"
    parts = [trigrams(part) for part in (names[:200], names[:1000], names[-3203:])]
    write_columns(lab_02 / "makemore_trigrams.csv", "trigram,first_200,first_1000,last_3203", parts)
    n1, n2 = int(0.8 * len(names)), int(0.9 * len(names))
    halves = [Counter({a + b: n for (a, b), n in bigrams(p).items()}) for p in (names[:n1], names[n1:n2])]
    write_columns(lab_02 / "makemore_bigrams.csv", "bigram,train_25626,dev_3203", halves)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Give makemore's names.txt.")
    main(sys.argv[1])
