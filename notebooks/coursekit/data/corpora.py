"""The optional corpora. ``load("multi30k")`` fetches a corpus once and keeps it in the course's cache.

``COURSE_DATA_CACHE`` is the folder of the cache; ``COURSE_DATA_MIRROR`` is a folder or address with copies.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from coursekit.data.download import Remote, fetch
from coursekit.errors import UserError
from coursekit.notebook.progress import say


@dataclass(frozen=True)
class Corpus:
    """An optional corpus: title, description, licence and files."""

    title: str
    about: str
    licence: str
    files: tuple[Remote, ...]


def _files(folder: str, address: str, *files: tuple[str, int, str]) -> tuple[Remote, ...]:
    return tuple(Remote(f"{folder}/{name}", f"{address}/{name}", sha, size) for name, size, sha in files)


_GITHUB = "https://raw.githubusercontent.com"
_MULTI30K = _files(
    "multi30k",
    f"{_GITHUB}/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw",
    ("train.en.gz", 568929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
    ("train.de.gz", 637044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
    ("val.en.gz", 21650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
    ("val.de.gz", 24681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
    ("test_2016_flickr.en.gz", 21077, "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
    ("test_2016_flickr.de.gz", 22890, "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"),
)
_TATOEBA = _files(
    "tatoeba",
    f"{_GITHUB}/rioyshky/translation/de48b7027f7318d77010a6e08ed928c10748c23d",
    ("deu-eng.zip", 4012023, "b7688f84f99fa33c17397c14d8bd9cef1fdeb2ee0bf50074767023aee8926e28"),
)
_NAMES = _files(
    "names",
    f"{_GITHUB}/karpathy/makemore/988aa59e4d8fefa526d06f3b453ad116258398d4",
    ("names.txt", 228145, "0a30b5557f192f32ab962680889aac5f6fda0f4cecf40a6d0b5694f58ea8cc4d"),
)
CORPORA = {
    "multi30k": Corpus(
        "Multi30k",
        "31,014 descriptions of photographs in English and German (Elliott et al. 2016), tested on test2016",
        "no formal licence: made from Flickr30k, for research and teaching that earns no money; cite W16-3210",
        _MULTI30K,
    ),
    "tatoeba": Corpus(
        "Tatoeba",
        "169,813 pairs of everyday sentences in English and German, as of 13 May 2018",
        "CC BY 2.0 FR; attribution: tatoeba.org and www.manythings.org/anki",
        _TATOEBA,
    ),
    "makemore": Corpus(
        "makemore's names",
        "32,033 names that the lectures count (Andrej Karpathy's makemore; US births of 2018)",
        "MIT; the names themselves are public facts of the US Social Security Administration",
        _NAMES,
    ),
}
_MULTI30K_FILES = {"train": "train", "validation": "val", "test": "test_2016_flickr"}


def load(name: str, split: str = "train") -> list[Any]:
    """Load a corpus by its name. If it is not in the cache, it is fetched and its licence shown.

    ``"multi30k"`` and ``"tatoeba"`` are lists of pairs ``(english, german)``, and ``split`` is one of ``"train"``,
    ``"validation"`` and ``"test"``; ``"makemore"`` is a list of names.
    Raises MissingFile if the corpus is not in the cache and cannot be fetched; UserError for an unknown name or split.
    """
    files = files_of(name)
    if name == "multi30k":
        if split not in _MULTI30K_FILES:
            raise UserError(
                f"Multi30k has the splits {', '.join(_MULTI30K_FILES)}; there is no split {split!r}."
            )
        stem = _MULTI30K_FILES[split]
        english, german = (_gzipped_lines(files[f"{stem}.{language}.gz"]) for language in ("en", "de"))
        return list(zip(english, german, strict=True))
    if name == "tatoeba":
        return _tatoeba(files["deu-eng.zip"], split)
    return files["names.txt"].read_text(encoding="ascii").split()


def corpus_named(name: str) -> Corpus:
    """The corpus of this name. Raises UserError for an unknown name."""
    if name not in CORPORA:
        raise UserError(f"There is no corpus {name!r}: choose one of {', '.join(CORPORA)}.")
    return CORPORA[name]


def files_of(name: str) -> dict[str, Path]:
    """Name -> path of a corpus's files, fetched if necessary, with checked checksums."""
    corpus = corpus_named(name)
    _show_licence(corpus)
    return {Path(remote.name).name: fetch(remote) for remote in corpus.files}


@cache
def _show_licence(corpus: Corpus) -> None:
    say(f"{corpus.title}: {corpus.about}. Licence: {corpus.licence}.")


def _gzipped_lines(file: Path) -> list[str]:
    with gzip.open(file, "rt", encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\n").strip() for line in stream]


def _tatoeba(file: Path, split: str) -> list[tuple[str, str]]:
    """One split of Tatoeba, by English sentence: 1 % validation, 2 % test, each English sentence once there.

    Case and punctuation are ignored (*Go!* and *go.* are the same). No sentence of validation or test, English or German, is
    in the training set, so that nothing can be memorised in either direction.
    """
    if split not in ("train", "validation", "test"):
        raise UserError(f"Tatoeba has the splits train, validation and test; there is no split {split!r}.")
    with zipfile.ZipFile(file) as archive:
        rows = archive.read("deu.txt").decode("utf-8").split("\n")
    pairs = [(row.split("\t")[0].strip(), row.split("\t")[1].strip()) for row in rows if "\t" in row]
    parts: dict[str, list[tuple[str, str]]] = {"train": [], "validation": [], "test": []}
    held_german, seen = set(), set()
    for english, german in pairs:
        place = int(hashlib.sha256(_words(english).encode()).hexdigest()[:8], 16) % 100
        part = "validation" if place == 0 else "test" if place in (1, 2) else "train"
        if part != "train":
            held_german.add(_words(german))
            if _words(english) in seen:
                continue
            seen.add(_words(english))
        parts[part].append((english, german))
    if split == "train":
        return [pair for pair in parts["train"] if _words(pair[1]) not in held_german]
    return parts[split]


def _words(sentence: str) -> str:
    """The sentence's words in lower case, without punctuation."""
    return " ".join(re.findall(r"\w+", sentence.lower()))
