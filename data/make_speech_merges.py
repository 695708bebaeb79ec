"""Learns ``04_tokenizer/speech_merges.csv``: 2,000 merges from the first million characters of the speeches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from coursekit.data.speeches import speech_text
from coursekit.provided.p04_tokenizer import pre_tokenize, train_bpe

CHARACTERS, MERGES = 1_000_000, 2_000


def main() -> None:
    """Write one merge a line, ``left,right``, in the order learned; the first gets the id 256."""
    chunks = Counter(pre_tokenize(speech_text(CHARACTERS)))
    words = {tuple(chunk.encode("utf-8")): count for chunk, count in chunks.items()}
    target = Path(__file__).resolve().parent / "04_tokenizer" / "speech_merges.csv"
    target.parent.mkdir(exist_ok=True)
    target.write_text(
        "".join(f"{left},{right}\n" for left, right in train_bpe(words, MERGES)), encoding="ascii"
    )


if __name__ == "__main__":
    main()
