"""Reads German sentences of the corpus back, with nothing but the word list, and says what is wrong in them.

It shares no code with the grammar that wrote them: declension is a table of whole article forms here, and a
clause is taken apart from its words. It knows only the constructions that the corpus promises.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "data" / "parallel"

# Form of the article -> the gender-case slots it can fill: m, f, n, p (plural); N, A, D.
DEFINITE = {
    "der": "mN fD",
    "die": "fN fA pN pA",
    "das": "nN nA",
    "den": "mA pD",
    "dem": "mD nD",
}
EIN_ENDINGS = {"": "mN nN nA", "e": "fN fA pN pA", "en": "mA pD", "em": "mD nD", "er": "fD"}
DER_ENDINGS = {"er": "mN fD", "e": "fN fA pN pA", "es": "nN nA", "en": "mA pD", "em": "mD nD"}
EIN_STEMS = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser")
DER_STEMS = ("dies", "jed", "welch")
# Adjective ending -> slots: after der-words, and with nothing in front. After ein-words it is the first
# of the two, but the second where the ein-word has no ending.
AFTER_DER = {"e": "mN fN fA nN nA", "en": "mA mD fD nD pN pA pD"}
ALONE = {"er": "mN fD", "e": "fN fA pN pA", "es": "nN nA", "en": "mA pD", "em": "mD nD"}
ALL_SLOTS = frozenset(gender + case for gender in "mfnp" for case in "NAD")

PRONOUN_CASES = {
    "ich": "N", "du": "N", "er": "N", "wir": "N", "sie": "NA", "es": "NA", "mich": "A", "dich": "A",
    "ihn": "A", "mir": "D", "dir": "D", "ihm": "D", "ihr": "D", "ihnen": "D", "uns": "AD",
    "wer": "N", "wen": "A", "wem": "D", "was": "A",
}  # fmt: skip
PRONOUN_PERSONS = {
    "ich": ["ich"],
    "du": ["du"],
    "er": ["er"],
    "es": ["er"],
    "sie": ["er", "wir"],
    "wir": ["wir"],
}
PRONOUN_PERSONS["wer"] = ["er"]
NUMBERS = ("zwei", "drei", "vier", "fünf")
CONTRACTED = {"im": ("in", "mD nD"), "am": ("an", "mD nD"), "zum": ("zu", "mD nD"), "zur": ("zu", "fD")}
CONTRACTED |= {"vom": ("von", "mD nD"), "ins": ("in", "nA")}
PREPOSITIONS = {"in": "AD", "an": "AD", "auf": "AD", "zu": "D", "von": "D", "mit": "D", "über": "A"}
FIXED = [
    "zu Hause",
    "nach Hause",
    "nach Berlin",
    "nach Wien",
    "nach München",
    "in Berlin",
    "in Wien",
    "in München",
]
TIMES = ["heute", "gestern", "morgen", "letzte Woche", "nächste Woche", "am Sonntag", "am Abend", "jeden Tag"]
ADVERBS = ["oft", "immer", "manchmal", "bitte", "nicht", "sehr", "zu"]
NAMES = ("Anna", "Maria", "Peter", "Thomas")
CONJUNCTIONS = ("weil", "obwohl", "dass", "ob", "wenn", "als")
WH_ADVERBS = ("wo", "wohin", "wann", "warum")
PERSONS = ("ich", "du", "er", "wir")
AUXILIARIES = {
    "habe hast hat haben": "perfect haben",
    "bin bist ist sind": "perfect sein",
    "war warst war waren": "copula",
    "werde wirst wird werden": "infinitive",
    "kann kannst kann können": "infinitive",
    "konnte konntest konnte konnten": "infinitive",
    "muss musst muss müssen": "infinitive",
    "musste musstest musste mussten": "infinitive",
    "will willst will wollen": "infinitive",
    "wollte wolltest wollte wollten": "infinitive",
    "darf darfst darf dürfen": "infinitive",
    "sollte solltest sollte sollten": "infinitive",
}


class Ungrammatical(Exception):
    """What is wrong in a sentence."""


@cache
def word_list() -> dict:
    """The word list as it lies in the repository."""
    return tomllib.loads((FOLDER / "lexicon.toml").read_text(encoding="utf-8"))


@cache
def noun_slots() -> dict[str, frozenset[str]]:
    """For each German noun form the gender-case slots it can fill."""
    table: dict[str, set[str]] = {}
    for entry in word_list()["nouns"].values():
        singular = {entry["gender"] + case for case in ("N" if "oblique" in entry else "NAD")}
        table.setdefault(entry["de"], set()).update(singular)
        if "oblique" in entry:
            table.setdefault(entry["oblique"], set()).update({"mA", "mD"})
        if plural := entry.get("plural"):
            table.setdefault(plural, set()).update({"pN", "pA"})
            table.setdefault(plural if plural[-1] in "ns" else plural + "n", set()).add("pD")
    return {form: frozenset(slots) for form, slots in table.items()}


@cache
def feminine_professions() -> frozenset[str]:
    """Lehrerin and the like, which stand only after *sein*."""
    return frozenset(entry["feminine"] for entry in word_list()["nouns"].values() if "feminine" in entry)


@cache
def adjective_endings() -> dict[str, str]:
    """Inflected adjective forms and their endings."""
    stems = [entry.get("stem", entry["de"]) for entry in word_list()["adjectives"].values()]
    return {stem + ending: ending for stem in stems for ending in ("e", "en", "er", "es", "em")}


@cache
def predicates() -> frozenset[str]:
    """Adjectives without an ending."""
    return frozenset(entry["de"] for entry in word_list()["adjectives"].values())


@cache
def articles() -> dict[str, tuple[frozenset[str], str]]:
    """Article forms: the slots they can fill, and which adjective endings follow ("der", "ein", "alone")."""
    table = {form: (frozenset(slots.split()), "der") for form, slots in DEFINITE.items()}
    for stem in DER_STEMS:
        table |= {stem + ending: (frozenset(slots.split()), "der") for ending, slots in DER_ENDINGS.items()}
    for stem in EIN_STEMS:
        for ending, slots in EIN_ENDINGS.items():
            table[stem + ending] = (frozenset(slots.split()), "ein" if ending else "alone")
    table |= {number: (frozenset({"pN", "pA", "pD"}), "alone") for number in NUMBERS}
    table |= {"viele": (frozenset({"pN", "pA"}), "alone"), "vielen": (frozenset({"pD"}), "alone")}
    return table


@dataclass(frozen=True)
class Phrase:
    """A constituent: its kind, where it ends, and for noun phrases the slots that are left."""

    kind: str  # "noun phrase", "prepositional", "adverb", "predicate", "profession"
    end: int
    slots: frozenset[str] = frozenset()
    persons: tuple[str, ...] = ()
    noun: str = ""
    preposition: str = ""


def noun_phrase(tokens: list[str], start: int, contracted: frozenset[str] | None = None) -> Phrase | None:
    """Article, adjectives and noun from ``start``, if they are there; agreement is checked."""
    here = start
    slots, follows = ALL_SLOTS, "alone"
    if contracted is not None:
        slots, follows = contracted, "der"
    elif here + 1 < len(tokens) and tokens[here] == "wie" and tokens[here + 1] == "viele":
        slots, here = frozenset({"pN", "pA"}), here + 2
    elif here < len(tokens) and tokens[here] in articles():
        slots, follows = articles()[tokens[here]]
        here += 1
    wanted = slots
    while here < len(tokens) and tokens[here] in adjective_endings():
        ending = adjective_endings()[tokens[here]]
        table = ALONE if follows == "alone" else AFTER_DER
        slots &= frozenset(table.get(ending, "").split())
        here += 1
    if here >= len(tokens) or tokens[here] not in noun_slots():
        return None
    left = slots & noun_slots()[tokens[here]]
    if not left:
        raise Ungrammatical(
            f"no agreement in {' '.join(tokens[start : here + 1])} (article allows {sorted(wanted)})"
        )
    persons = {"wir" if slot[0] == "p" else "er" for slot in left if slot[1] == "N"}
    return Phrase("noun phrase", here + 1, left, tuple(sorted(persons)), tokens[here])


def _person(tokens: list[str], start: int, ihr_is_pronoun: bool = False) -> Phrase | None:
    word = tokens[start]
    if word in NAMES:
        return Phrase("noun phrase", start + 1, frozenset({"xN", "xA", "xD"}), ("er",))
    opens = word in articles() or word in adjective_endings() or word in noun_slots() or word == "wie"
    phrase = noun_phrase(tokens, start) if opens and not (word == "ihr" and ihr_is_pronoun) else None
    if phrase is None and word in PRONOUN_CASES:
        cases = frozenset("x" + case for case in PRONOUN_CASES[word])
        return Phrase("noun phrase", start + 1, cases, tuple(PRONOUN_PERSONS.get(word, ())))
    return phrase


def _joined(tokens: list[str], start: int, ihr_is_pronoun: bool = False) -> Phrase | None:
    first = _person(tokens, start, ihr_is_pronoun)
    if first is None or first.end + 1 >= len(tokens) or tokens[first.end] != "und":
        return first
    second = _person(tokens, first.end + 1)
    if second is None:
        return first
    cases = {slot[1] for slot in first.slots} & {slot[1] for slot in second.slots}
    return Phrase("noun phrase", second.end, frozenset("x" + case for case in cases), ("wir",))


def constituent(tokens: list[str], start: int, ihr_is_pronoun: bool = False) -> Phrase | None:
    """The constituent that starts at ``start``, or None; *ihr* can be an article or a pronoun."""
    for fixed in (*TIMES, *FIXED):
        words = fixed.split()
        if tokens[start : start + len(words)] == words:
            return Phrase("time" if fixed in TIMES else "place", start + len(words))
    word = tokens[start]
    after_zu = tokens[start + 1] if start + 1 < len(tokens) else ""
    if word == "keine" and tokens[start + 1] in feminine_professions():
        return Phrase("predicate", start + 2)
    if word in predicates() or word in feminine_professions():
        return Phrase("predicate", start + 1)
    if word in WH_ADVERBS or (word in ADVERBS and not (word == "zu" and after_zu in articles())):
        return Phrase(word if word == "nicht" else "adverb", start + 1)
    if word in CONTRACTED:
        preposition, slots = CONTRACTED[word]
        phrase = noun_phrase(tokens, start + 1, frozenset(slots.split()))
        return _prepositional(phrase, preposition, tokens, start)
    if word in PREPOSITIONS:
        return _prepositional(_person(tokens, start + 1), word, tokens, start)
    return _joined(tokens, start, ihr_is_pronoun)


def _prepositional(phrase: Phrase | None, preposition: str, tokens: list[str], start: int) -> Phrase:
    if phrase is None:
        raise Ungrammatical(f"{preposition} without a noun in {' '.join(tokens[start:])}")
    slots = frozenset(slot for slot in phrase.slots if slot[1] in PREPOSITIONS[preposition])
    if not slots:
        raise Ungrammatical(f"wrong case after {preposition} in {' '.join(tokens[start : phrase.end])}")
    return Phrase("prepositional", phrase.end, slots, (), phrase.noun, preposition)


def case_assignment(phrases: list[Phrase], cases: str) -> bool:
    """Whether the noun phrases can have exactly these cases, one each."""
    if len(phrases) != len(cases):
        return False
    return any(
        all(
            any(slot[1] == case for slot in phrase.slots) for phrase, case in zip(phrases, order, strict=True)
        )
        for order in set(permutations(cases))
    )
