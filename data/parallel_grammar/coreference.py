"""Draws the sentences in which *it* must be understood before it can be translated."""

import random
from dataclasses import dataclass, replace

from parallel_grammar import phrases
from parallel_grammar.constructions import actor
from parallel_grammar.lexicon import frames, nouns, verbs
from parallel_grammar.syntax import Clause, NounPhrase, Predicate, Sentence, Statement

# (tense, modal, negated) of the main clause by weight; the reason is present or past with it.
FORMS = {
    ("past", "", True): 5,
    ("present", "", True): 3,
    ("past", "can", True): 3,
    ("present", "can", True): 2,
    ("past", "", False): 3,
    ("present", "", False): 2,
    ("future", "", True): 1,
}
SUBJECT_DETERMINERS = {"the": 60, "possessive": 20, "this": 20}
OBJECT_DETERMINERS = {"the": 80, "this": 20}


@dataclass(frozen=True)
class Combination:
    """Which two nouns meet, which adjective decides, and which noun it speaks of."""

    frame: int
    subject: str
    object: str
    adjective: str
    about_subject: bool

    @property
    def antecedent(self) -> str:
        """The noun that *it* stands for."""
        return self.subject if self.about_subject else self.object


def combinations() -> list[Combination]:
    """Every pair of nouns of different genders with every adjective that decides between them."""
    found = []
    for number, frame in enumerate(frames()["coreference"]):
        for subject in frame["subjects"]:
            for thing, adjectives in frame["objects"].items():
                if nouns()[subject].gender == nouns()[thing].gender:
                    continue
                found += [
                    Combination(number, subject, thing, word, True) for word in frame["subject_adjectives"]
                ]
                found += [Combination(number, subject, thing, word, False) for word in adjectives]
    return found


@dataclass(frozen=True)
class Setting:
    """All of a sentence but the adjective: how its two readings are alike."""

    tense: str
    modal: str
    negated: bool
    subject_determiner: str
    object_determiner: str
    degree: str


def draw_setting(rng: random.Random, verb: str) -> Setting:
    """A tense or modal, negation and determiners; German reads *because … too*, *although … very*."""
    tense, modal, negated = rng.choices(list(FORMS), list(FORMS.values()))[0]
    # What something fits into it fits into or not: no "cannot fit".
    modal = "" if verb == "fit" else modal
    return Setting(
        tense,
        modal,
        negated,
        phrases.draw_determiner(rng, SUBJECT_DETERMINERS),
        phrases.draw_determiner(rng, OBJECT_DETERMINERS),
        "too" if negated else "very",
    )


def sentence(combination: Combination, setting: Setting) -> Sentence:
    """The sentence that a combination and a setting make."""
    verb = verbs()[frames()["coreference"][combination.frame]["verb"]]
    subject = NounPhrase(combination.subject, setting.subject_determiner)
    thing = NounPhrase(combination.object, setting.object_determiner)
    main = Clause(subject, verb, setting.tense, setting.modal, setting.negated)  # type: ignore[arg-type]
    if verb.goal:
        noun = nouns()[combination.object]
        main = replace(main, complement=phrases.to_noun(noun, thing, onto="onto" in verb.flags))
    else:
        main = replace(main, object=thing)
    it = NounPhrase(pronoun="it", gender=nouns()[combination.antecedent].gender)
    tense = "past" if setting.tense == "past" else "present"
    why = Clause(it, None, tense, predicate=Predicate(combination.adjective, setting.degree))  # type: ignore[arg-type]
    return Statement(main, conjunction="because" if setting.negated else "although", second=why)


def person_or_thing(rng: random.Random) -> Sentence:
    """*He did not read the book because it was too long.* or *… because he was too tired.*"""
    frame = rng.choice(frames()["person_or_thing"])
    verb = verbs()[frame["verb"]]
    somebody, again = actor(rng)
    thing = rng.choice(list(frame["adjectives"]))
    tense, modal, negated = rng.choices(list(FORMS), list(FORMS.values()))[0]
    adjective = rng.choice(frame["adjectives"][thing])
    about: NounPhrase = NounPhrase(pronoun="it", gender=nouns()[thing].gender)
    if rng.random() < 0.35 and "person_adjectives" in frame:
        about, adjective = again, rng.choice(frame["person_adjectives"])
    # "buys the coat because it is cheap", but "does not buy it because it is too expensive".
    favourable = adjective == "cheap"
    if favourable:
        negated, modal, tense = False, "", "past" if tense == "past" else "present"
    degree = "very" if favourable else "too" if negated else "very"
    main = Clause(somebody, verb, tense, modal, negated, object=NounPhrase(thing, "the"))  # type: ignore[arg-type]
    why_tense = "past" if tense == "past" else "present"
    why = Clause(about, None, why_tense, predicate=Predicate(adjective, degree))  # type: ignore[arg-type]
    return Statement(main, conjunction="because" if negated or favourable else "although", second=why)
