"""Reads the two TOML files of words and frames into frozen dataclasses."""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "parallel"

VOWELS = "aeiou"


@dataclass(frozen=True)
class Noun:
    """A noun on both sides. ``at`` and ``to`` are (English, German) prepositions of a place."""

    key: str
    de: str
    gender: str
    plural: str = ""
    english_plural: str = ""
    oblique: str = ""
    feminine: str = ""
    mass: bool = False
    at: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adjective:
    """An adjective; ``stem`` is what endings attach to."""

    key: str
    de: str
    on: tuple[str, ...]
    stem: str = ""
    excluded: tuple[str, ...] = ()
    too: bool = True
    degrees: bool = True


@dataclass(frozen=True)
class Verb:
    """A verb with its principal parts, what it combines with, and how it behaves.

    ``present`` and ``preterite`` hold the forms for ich, du, er and wir; a separable verb's forms are
    given without their particle.
    """

    key: str
    en: str
    past: str
    third: str
    de: str
    present: tuple[str, ...]
    participle: str
    auxiliary: str = "haben"
    particle: str = ""
    imperative: str = ""
    preterite: tuple[str, ...] = ()
    case: str = "accusative"
    preposition: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    object: tuple[str, ...] = ()
    recipient: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    goal: tuple[str, ...] = ()
    conjunction: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    not_place: tuple[str, ...] = ()
    not_subject: tuple[str, ...] = ()
    flags: frozenset[str] = field(default_factory=frozenset)


FLAGS = (
    "stative",
    "present_only",
    "past_only",
    "no_modals",
    "needs_place",
    "cities",
    "home",
    "onto",
    "phrasal",
)


SIBILANTS = ("s", "x", "z", "ch", "sh")


def with_s(word: str) -> str:
    """A regular English plural or third person: -s, -es after a sibilant, -ies for consonant + y."""
    if word.endswith(SIBILANTS):
        return word + "es"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _frozen(entry: dict) -> dict:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}


@cache
def words() -> dict:
    """The word list as parsed from ``lexicon.toml``."""
    with open(FOLDER / "lexicon.toml", "rb") as file:
        return tomllib.load(file)


@cache
def frames() -> dict:
    """Adverbials and sentence frames as parsed from ``frames.toml``."""
    with open(FOLDER / "frames.toml", "rb") as file:
        return tomllib.load(file)


@cache
def nouns() -> dict[str, Noun]:
    """All nouns by their English singular."""
    table = {}
    for key, entry in words()["nouns"].items():
        values = _frozen(entry)
        values.setdefault("english_plural", with_s(key))
        table[key] = Noun(key=key, **values)
    return table


@cache
def adjectives() -> dict[str, Adjective]:
    """All adjectives by their English form."""
    table = {}
    for key, entry in words()["adjectives"].items():
        values = _frozen(entry)
        values["excluded"] = values.pop("not", ())
        values.setdefault("stem", values["de"])
        table[key] = Adjective(key=key, **values)
    return table


@cache
def verbs() -> dict[str, Verb]:
    """All verbs by key; the key is the English verb unless the entry names another."""
    table = {}
    for key, entry in words()["verbs"].items():
        values = _frozen(entry)
        values["excluded"] = values.pop("not", ())
        values["flags"] = frozenset(flag for flag in FLAGS if values.pop(flag, False))
        values.setdefault("en", key)
        first = values["en"].split()[0]
        values.setdefault("third", with_s(first))
        table[key] = Verb(key=key, **values)
    return table


def matches(noun: Noun, tags: tuple[str, ...], excluded: tuple[str, ...] = ()) -> bool:
    """Whether one of ``tags`` is the noun itself or one of its tags, and the noun is not excluded."""
    return noun.key not in excluded and any(tag == noun.key or tag in noun.tags for tag in tags)


@cache
def nouns_for(tags: tuple[str, ...], excluded: tuple[str, ...] = ()) -> tuple[Noun, ...]:
    """The nouns that go with ``tags``, in the lexicon's order."""
    return tuple(noun for noun in nouns().values() if matches(noun, tags, excluded))


@cache
def adjectives_for(noun: str) -> tuple[Adjective, ...]:
    """The adjectives that make sense of a noun, in the lexicon's order."""
    entry = nouns()[noun]
    return tuple(word for word in adjectives().values() if matches(entry, word.on, word.excluded))
