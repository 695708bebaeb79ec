"""Draws noun phrases, places and times that make sense with a verb."""

import random
from collections.abc import Sequence

from parallel_grammar.lexicon import Noun, Verb, adjectives_for, frames, nouns, nouns_for
from parallel_grammar.syntax import NUMBERS, POSSESSIVES, NounPhrase, PrepositionalPhrase

PLURAL_SHARE = 0.22
ADJECTIVE_SHARE = 0.34
PLACE_ADJECTIVE_SHARE = 0.2

# How often each determiner comes, by what kind of phrase it is in.
SINGULAR = {"the": 38, "a": 30, "possessive": 18, "this": 10, "every": 4}
PLURAL = {"the": 34, "": 18, "possessive": 16, "number": 16, "many": 8, "this": 8}
MASS = {"the": 42, "": 44, "possessive": 8, "this": 6}
KIN = {"the": 22, "possessive": 78}
DEFINITE = {"the": 62, "possessive": 22, "this": 16}
PLACE = {"the": 76, "a": 7, "this": 9, "possessive": 8}


def pick(rng: random.Random, weights: dict[str, int]) -> str:
    """One key, by weight."""
    return rng.choices(list(weights), list(weights.values()))[0]


def draw_determiner(rng: random.Random, weights: dict[str, int]) -> str:
    """An English determiner, or "" for none."""
    kind = pick(rng, weights)
    if kind == "possessive":
        return rng.choice(POSSESSIVES)
    return rng.choice(NUMBERS) if kind == "number" else kind


def noun_phrase(
    rng: random.Random, candidates: Sequence[Noun], restrict: str = "", adjective: float | None = None
) -> NounPhrase:
    """Determiner, perhaps an adjective, and one of ``candidates``.

    ``restrict``: "definite" for what stands under *not*, "negatable" for what may also become *kein*,
    "bare" for what a habit takes, "" for anything.
    """
    noun = rng.choice(candidates)
    plural = bool(noun.plural) and rng.random() < PLURAL_SHARE
    weights = MASS if noun.mass else PLURAL if plural else SINGULAR
    if restrict == "bare":
        plural = bool(noun.plural)
        weights = {"": 1}
    elif "known" in noun.tags:
        weights = {"the": 1}
    elif "kin" in noun.tags:
        weights = KIN
    elif restrict == "definite":
        weights = DEFINITE
    elif restrict == "negatable":
        weights = {
            kind: weight for kind, weight in weights.items() if kind not in ("number", "many", "every")
        }
    if "unowned" in noun.tags:
        # "my woman" would be Frau as "my wife" is.
        weights = {kind: weight for kind, weight in weights.items() if kind != "possessive"}
    share = ADJECTIVE_SHARE if adjective is None else adjective
    return NounPhrase(noun.key, draw_determiner(rng, weights), plural, draw_adjective(rng, noun.key, share))


def draw_adjective(rng: random.Random, noun: str, share: float) -> str:
    """An adjective that suits the noun, in ``share`` of the cases."""
    fitting = adjectives_for(noun)
    return rng.choice(fitting).key if fitting and rng.random() < share else ""


def name(rng: random.Random) -> NounPhrase:
    """Somebody's name."""
    gender = rng.choice(("male", "female"))
    return NounPhrase(name=rng.choice(frames()["names"][gender]), gender="m" if gender == "male" else "f")


PRONOUN_SUBJECTS = {"I": 24, "you": 24, "he": 14, "she": 14, "we": 14, "they": 10}


def pronoun(rng: random.Random) -> NounPhrase:
    """A personal pronoun other than *it*; he and she carry their gender."""
    word = pick(rng, PRONOUN_SUBJECTS)
    return NounPhrase(pronoun=word, gender={"he": "m", "she": "f"}.get(word, ""))


def subject(rng: random.Random, verb: Verb) -> NounPhrase:
    """Somebody or something that can do what the verb says."""
    candidates = nouns_for(verb.subject, verb.not_subject)
    personal = "person" in verb.subject or "little" in verb.subject
    chance = rng.random()
    if personal and chance < 0.46:
        return pronoun(rng)
    if personal and chance < 0.54:
        return name(rng)
    if personal and chance < 0.58:
        return together(rng)
    # What lies or arrives is as often a thing as a person: draw the tag before the noun.
    tag = rng.choice(verb.subject)
    candidates = nouns_for((tag,), verb.not_subject) or candidates
    phrase = noun_phrase(rng, candidates, adjective=0.26)
    if phrase.det == "":
        return NounPhrase(phrase.noun, "the", phrase.plural, phrase.adjective)
    return phrase


def together(rng: random.Random) -> NounPhrase:
    """Two people joined by *and*."""
    if rng.random() < 0.5:
        first = frames()["names"]["female"]
        second = frames()["names"]["male"]
        return NounPhrase(name=rng.choice(first), also=NounPhrase(name=rng.choice(second)))
    people = nouns_for(("person",))
    one, two = rng.sample([noun for noun in people if "kin" not in noun.tags], 2)
    return NounPhrase(one.key, "the", also=NounPhrase(two.key, "the"))


def object_of(rng: random.Random, verb: Verb, restrict: str = "") -> NounPhrase:
    """Something that the verb can be done to: now and then a pronoun, where people are meant."""
    personal = "person" in verb.object
    if personal and restrict != "bare" and "phrasal" not in verb.flags and rng.random() < 0.16:
        return pronoun(rng)
    if personal and restrict != "bare" and rng.random() < 0.06:
        return name(rng)
    tag = rng.choice(verb.object)
    candidates = nouns_for((tag,), verb.excluded) or nouns_for(verb.object, verb.excluded)
    if restrict == "bare":
        candidates = tuple(noun for noun in candidates if "kin" not in noun.tags) or candidates
    return noun_phrase(rng, candidates, restrict)


def recipient(rng: random.Random) -> NounPhrase:
    """Somebody who is given or shown something."""
    chance = rng.random()
    if chance < 0.2:
        return pronoun(rng)
    if chance < 0.3:
        return name(rng)
    phrase = noun_phrase(rng, nouns_for(("person",)), adjective=0.2)
    return NounPhrase(phrase.noun, phrase.det or "the", phrase.plural, phrase.adjective)


def _place_phrase(rng: random.Random, noun: Noun) -> NounPhrase:
    owned = any(tag in noun.tags for tag in ("room", "surface", "container", "vehicle")) or noun.key in (
        "house",
        "garden",
        "village",
        "city",
        "school",
    )
    weights = PLACE if owned else {kind: weight for kind, weight in PLACE.items() if kind != "possessive"}
    return NounPhrase(
        noun.key, draw_determiner(rng, weights), False, draw_adjective(rng, noun.key, PLACE_ADJECTIVE_SHARE)
    )


def at_noun(noun: Noun, phrase: NounPhrase) -> PrepositionalPhrase:
    """Being at a place: the dative."""
    return PrepositionalPhrase(noun.at[0], noun.at[1], "dative", phrase)


def to_noun(noun: Noun, phrase: NounPhrase, onto: bool = False) -> PrepositionalPhrase:
    """Going to a place: the accusative, but the dative after *zu*."""
    english, german = noun.at if onto else noun.to
    return PrepositionalPhrase(english, german, "dative" if german == "zu" else "accusative", phrase)


def place(rng: random.Random, verb: Verb) -> PrepositionalPhrase | None:
    """Where the verb happens, if the verb says where it can."""
    if "home" in verb.flags and not verb.goal and rng.random() < 0.25:
        return PrepositionalPhrase("at home", "zu Hause")
    if "cities" in verb.flags and rng.random() < 0.25:
        return _city(rng, "in", "in")
    candidates = [noun for noun in nouns_for(verb.place, verb.not_place) if noun.at]
    if not candidates:
        return None
    noun = rng.choice(candidates)
    return at_noun(noun, _place_phrase(rng, noun))


def _city(rng: random.Random, english: str, german: str) -> PrepositionalPhrase:
    name_en, name_de = rng.choice(list(frames()["cities"].items()))
    # A city's two names differ, so it is a fixed phrase.
    return PrepositionalPhrase(f"{english} {name_en}", f"{german} {name_de}")


def goal(rng: random.Random, verb: Verb, mover: NounPhrase) -> PrepositionalPhrase | None:
    """Where the movement ends; people fly to cities, birds onto roofs."""
    flies = verb.key == "fly"
    bird = flies and mover.noun == "bird"
    if "home" in verb.flags and rng.random() < 0.15:
        return PrepositionalPhrase("home", "nach Hause")
    if "cities" in verb.flags and not bird and (flies or rng.random() < 0.3):
        return _city(rng, "to", "nach")
    candidates = [noun for noun in nouns_for(verb.goal, verb.excluded) if noun.at or noun.to]
    noun = rng.choice(candidates)
    phrase = _place_phrase(rng, noun)
    if bird:
        return PrepositionalPhrase("onto", "auf", "accusative", phrase)
    return to_noun(noun, phrase, onto="onto" in verb.flags)


def time_for(rng: random.Random, tense: str) -> tuple[str, str]:
    """A time that goes with a tense (or "modal", "past modal")."""
    fitting = [entry for entry in frames()["time"] if tense in entry["tenses"]]
    entry = rng.choice(fitting)
    return entry["en"], entry["de"]


def frequency(rng: random.Random) -> tuple[str, str]:
    """How often something happens."""
    entry = rng.choice(frames()["frequency"])
    return entry["en"], entry["de"]


def gender_of(phrase: NounPhrase) -> str:
    """The German gender of a noun phrase."""
    return phrase.gender or nouns()[phrase.noun].gender
