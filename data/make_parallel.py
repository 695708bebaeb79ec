"""Writes the built-in English-German corpus into data/parallel, or with --check compares it with what is there.

    python data/make_parallel.py [--check]

Each split is a gzip'd text file of lines "English <tab> German". The bytes depend only on the grammar and
its seed, on any machine. It does not train or score anything.
"""

import argparse
import gzip
import hashlib
import io
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from parallel_grammar.splits import SEED, HeldOut, Pair, build

FOLDER = Path(__file__).resolve().parent / "parallel"


def compressed(pairs: list[Pair]) -> bytes:
    """Pairs as gzip'd lines, with neither a name nor a time in the header."""
    text = "".join(f"{english}\t{german}\n" for english, german in pairs).encode()
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(text)
    return buffer.getvalue()


def held_out_json(held_out: HeldOut) -> bytes:
    """What is held out, as one JSON object of sorted word pairs."""
    listed = {
        kind: sorted([first, second] for name, first, second in held_out.relations if name == kind)
        for kind in ("adjective_noun", "verb_object")
    }
    listed["coreference_nouns"] = sorted(map(list, held_out.pairs))
    listed["coreference_noun_adjective"] = sorted(map(list, held_out.antecedents))
    lines = ",\n".join(f'  "{name}": {json.dumps(pairs)}' for name, pairs in listed.items())
    return ("{\n" + f'  "seed": {SEED},\n' + lines + "\n}\n").encode()


def contents() -> dict[str, bytes]:
    """Every generated file's name and bytes."""
    splits, held_out = build()
    files = {f"{name}.tsv.gz": compressed(pairs) for name, pairs in splits.items()}
    files["held_out.json"] = held_out_json(held_out)
    return files


def readable(data: bytes) -> bytes:
    """What a file says: zlib versions may compress the same text differently."""
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def check(files: dict[str, bytes]) -> list[str]:
    """The names of files that are missing or say something else than the grammar does."""
    return [
        name
        for name, data in files.items()
        if not (FOLDER / name).exists() or readable((FOLDER / name).read_bytes()) != readable(data)
    ]


def write(files: dict[str, bytes]) -> None:
    """Writes the files and their checksums."""
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)
    sources = {name: (FOLDER / name).read_bytes() for name in ("lexicon.toml", "frames.toml")}
    everything = sorted((files | sources).items())
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in everything)
    (FOLDER / "SHA256SUMS").write_text(sums)


def main() -> int:
    """Runs the command; the exit status is 1 where --check finds a difference."""
    parser = argparse.ArgumentParser(description="Write or check the built-in English-German corpus.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    files = contents()
    if options.check:
        different = check(files)
        print(
            "data/parallel differs in " + ", ".join(different) if different else "data/parallel is up to date"
        )
        return 1 if different else 0
    write(files)
    for name, data in files.items():
        print(f"{name:28} {len(data):>9,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
