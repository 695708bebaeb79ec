"""Writes the merges of GPT-2 and GPT-4 for lab 04, from the files that OpenAI publishes with tiktoken.

``python data/make_published_merges.py FOLDER``, where the folder holds ``r50k_base.tiktoken.gz`` and
``cl100k_base.tiktoken.gz``: one token a line, its bytes in base64 and its rank. A file says which tokens there are, not of
what they were merged; merging a token's bytes by all lower ranks leaves the two.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import sys
from itertools import pairwise
from pathlib import Path

FILES = {"gpt2": "r50k_base.tiktoken", "gpt4": "cl100k_base.tiktoken"}
#: What tiktoken itself expects of the unpacked files.
SHA256 = {
    "gpt2": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "gpt4": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}


def parts(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes]:
    """The two tokens of lower rank that a token was merged of."""
    pieces = [bytes([byte]) for byte in token]
    while len(pieces) > 2:
        known = [(ranks.get(left + right, len(ranks)), i) for i, (left, right) in enumerate(pairwise(pieces))]
        _, i = min(known)
        pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
    left, right = pieces
    return left, right


def main() -> None:
    """Write one merge a line, ``left,right``, in the order learned: bytes are 0 to 255, the first merge is 256."""
    target = Path(__file__).resolve().parent / "04_tokenizer"
    for name, file in FILES.items():
        published = gzip.decompress((Path(sys.argv[1]) / f"{file}.gz").read_bytes())
        if hashlib.sha256(published).hexdigest() != SHA256[name]:
            sys.exit(f"{file} is not the file that tiktoken publishes.")
        ranks = {
            base64.b64decode(token): int(rank) for token, rank in map(bytes.split, published.splitlines())
        }
        numbers = {token: token[0] if len(token) == 1 else rank for token, rank in ranks.items()}
        rows = []
        for token in sorted(ranks, key=ranks.__getitem__)[256:]:
            left, right = parts(token, ranks)
            rows.append(f"{numbers[left]},{numbers[right]}\n")
        (target / f"{name}_merges.csv.gz").write_bytes(gzip.compress("".join(rows).encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
