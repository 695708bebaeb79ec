"""What a sentence says, in neither language: noun phrases, clauses and sentences as frozen dataclasses."""

from dataclasses import dataclass
from typing import Literal

from parallel_grammar.lexicon import Verb

Tense = Literal["present", "past", "future"]

NUMBERS = ("two", "three", "four", "five")
POSSESSIVES = ("my", "your", "his", "her", "our", "their")
PERSONS = {"I": "1s", "you": "2s", "he": "3s", "she": "3s", "it": "3s", "we": "1p", "they": "3p"}


@dataclass(frozen=True)
class NounPhrase:
    """A pronoun, a name, or determiner + adjective + noun; ``also`` joins a second one with *and*.

    ``det`` is an English determiner or "" for none. ``pronoun`` is the English subject form.
    ``gender`` is the gender that *it* takes in German.
    """

    noun: str = ""
    det: str = ""
    plural: bool = False
    adjective: str = ""
    pronoun: str = ""
    name: str = ""
    gender: str = ""
    also: "NounPhrase | None" = None

    @property
    def person(self) -> str:
        """1s, 2s, 3s, 1p or 3p: what a verb agrees with."""
        if self.pronoun:
            return PERSONS[self.pronoun]
        return "3p" if self.plural or self.also else "3s"

    @property
    def indefinite(self) -> bool:
        """Whether German negates it with *kein* and puts it after a place."""
        return bool(self.noun) and self.det in ("a", "", "many", *NUMBERS)


@dataclass(frozen=True)
class PrepositionalPhrase:
    """A preposition in both languages with the German case; no preposition and no phrase is a fixed adverb."""

    en: str
    de: str
    case: str = ""
    phrase: NounPhrase | None = None


@dataclass(frozen=True)
class Predicate:
    """What follows *be*: degree + adjective, or a profession."""

    adjective: str = ""
    degree: str = ""
    profession: NounPhrase | None = None


@dataclass(frozen=True)
class Clause:
    """One finite clause. ``verb`` is None for *be*; ``complement`` is what *nicht* stands before."""

    subject: NounPhrase
    verb: Verb | None
    tense: Tense = "present"
    modal: str = ""
    negated: bool = False
    recipient: NounPhrase | None = None
    object: NounPhrase | None = None
    complement: PrepositionalPhrase | None = None
    place: PrepositionalPhrase | None = None
    predicate: Predicate | None = None
    time: tuple[str, str] | None = None
    frequency: tuple[str, str] | None = None


@dataclass(frozen=True)
class FixedClause:
    """A subordinate clause that is given in both languages, without its conjunction."""

    en: str
    de: str


@dataclass(frozen=True)
class Question:
    """A direct question: ``asks`` is "" for yes or no, or what the question word stands for.

    One of subject, object, whose object ("which", "how many"), recipient, place, time, reason.
    """

    clause: Clause
    asks: str = ""


@dataclass(frozen=True)
class Statement:
    """A main clause, perhaps with its time in front, a second clause, or a clause joined to it."""

    clause: Clause
    time_first: bool = False
    conjunction: str = ""
    second: Clause | FixedClause | None = None
    second_first: bool = False


@dataclass(frozen=True)
class Request:
    """An imperative to a person one calls du; ``polite`` is "", "first" or "last"."""

    clause: Clause
    polite: str = ""


@dataclass(frozen=True)
class Existence:
    """*There is*: what there is, where, and whether there is none."""

    thing: NounPhrase
    place: PrepositionalPhrase
    tense: Tense = "present"
    negated: bool = False


@dataclass(frozen=True)
class Light:
    """*Let there be light*, somewhere."""

    place: PrepositionalPhrase


Sentence = Statement | Question | Request | Existence | Light
