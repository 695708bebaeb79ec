"""Draws clauses: a verb, its tense or modal, and what it needs."""

import random
from dataclasses import replace

from parallel_grammar import phrases
from parallel_grammar.lexicon import Adjective, Verb, adjectives, adjectives_for, nouns, nouns_for, verbs
from parallel_grammar.syntax import POSSESSIVES, Clause, NounPhrase, Predicate, PrepositionalPhrase

NEGATED_SHARE = 0.2
TIME_SHARE = 0.34
PLACE_SHARE = 0.4
FREQUENCY_SHARE = 0.14
# (tense, modal) by weight.
TENSES = {
    ("present", ""): 36,
    ("past", ""): 36,
    ("future", ""): 8,
    ("present", "can"): 4,
    ("past", "can"): 3,
    ("present", "must"): 4,
    ("past", "must"): 3,
    ("present", "want"): 3,
    ("past", "want"): 3,
    ("present", "may"): 2,
    ("present", "should"): 3,
}


def draw_tense(rng: random.Random, verb: Verb, allowed: tuple[str, ...] = ()) -> tuple[str, str] | None:
    """A tense and a modal the verb goes with, if any; ``allowed`` narrows to "present", "past", "future", "modal"."""
    weights = dict(TENSES)
    if "stative" in verb.flags:
        weights = {("present", ""): 5, ("past", ""): 3}
    if "present_only" in verb.flags:
        weights = {("present", ""): 1}
    if "past_only" in verb.flags:
        weights = {("past", ""): 1}
    if "no_modals" in verb.flags:
        weights = {key: weight for key, weight in weights.items() if not key[1]}
    if allowed and "past_only" not in verb.flags:
        weights = {
            key: weight
            for key, weight in weights.items()
            if key[0] in allowed and (not key[1] or "modal" in allowed)
        }
    if not weights:
        return None
    return rng.choices(list(weights), list(weights.values()))[0]


def ambiguous_past(clause: Clause) -> bool:
    """Whether the English words would do for present and past alike: *I read*, *they put*."""
    verb = clause.verb
    if verb is None or clause.modal or clause.negated or clause.tense == "future":
        return False
    return verb.past == verb.en.split()[0] and clause.subject.person != "3s"


def same_person(subject: NounPhrase, other: NounPhrase | None) -> bool:
    """Whether German (or English) would need a reflexive: *I see me*."""
    if other is None or not other.pronoun:
        return bool(
            other and other.name and other.name in (subject.name, subject.also.name if subject.also else "")
        )
    groups = [{"I", "we"}, {"you"}, {"he"}, {"she"}, {"they"}]
    return any(subject.pronoun in group and other.pronoun in group for group in groups)


def time_name(tense: str, modal: str) -> str:
    """What the time table calls a tense."""
    if modal:
        return "past modal" if tense == "past" else "modal"
    return tense


def draw_verb(rng: random.Random) -> Verb:
    """Any verb that needs no clause; *put* more often, for what it puts decides how German says it."""
    possible = [entry for entry in verbs().values() if not entry.conjunction]
    return rng.choices(possible, [3 if entry.en == "put" else 1 for entry in possible])[0]


def draw(
    rng: random.Random,
    verb: Verb | None = None,
    allowed: tuple[str, ...] = (),
    subject: NounPhrase | None = None,
) -> Clause:
    """A clause with a full verb that makes sense and is unambiguous in English."""
    while True:
        chosen = verb or draw_verb(rng)
        tense = draw_tense(rng, chosen, allowed)
        if tense is None:
            continue
        clause = _draw_once(rng, chosen, *tense, subject or phrases.subject(rng, chosen))
        if sensible(clause):
            return clause


def sensible(clause: Clause) -> bool:
    """Whether a clause is free of reflexives, repeated nouns and an ambiguous tense."""
    others = [clause.object, clause.recipient, clause.complement.phrase if clause.complement else None]
    if any(same_person(clause.subject, other) for other in others) or same_person(
        clause.object or clause.subject, clause.recipient
    ):
        return False
    if clause.object and clause.recipient:
        # "bring her good coffee" could be coffee for her, or her coffee.
        unclear = clause.recipient.pronoun == "she" and clause.object.det in ("", "her")
        if clause.object.pronoun or unclear:
            return False
    heads = [
        phrase.noun for phrase in (clause.subject, clause.subject.also, *others) if phrase and phrase.noun
    ]
    if clause.place and clause.place.phrase:
        heads.append(clause.place.phrase.noun)
    return len(set(heads)) == len(heads) and not ambiguous_past(clause)


def _draw_once(rng: random.Random, verb: Verb, tense: str, modal: str, subject: NounPhrase) -> Clause:
    habit = (
        tense == "present" and not modal and "stative" not in verb.flags and rng.random() < FREQUENCY_SHARE
    )
    negated = not habit and subject.det not in ("every", "a", "many") and rng.random() < NEGATED_SHARE
    clause = Clause(subject, verb, tense, modal, negated)  # type: ignore[arg-type]
    clause = fill(rng, clause, habit)
    if habit:
        return replace(clause, frequency=phrases.frequency(rng))
    if "stative" not in verb.flags and rng.random() < TIME_SHARE:
        time = phrases.time_for(rng, time_name(tense, modal))
        if not (negated and time[0] == "every day"):
            clause = replace(clause, time=time)
    return clause


def fill(rng: random.Random, clause: Clause, habit: bool = False) -> Clause:
    """Gives a clause the objects, goal and place that its verb asks for."""
    verb = clause.verb
    assert verb
    restrict = "bare" if habit else "negatable" if clause.negated else ""
    changes: dict = {}
    if verb.preposition:
        limited = "definite" if clause.negated else restrict
        english, german, case = verb.preposition
        changes["complement"] = PrepositionalPhrase(
            english, german, case, phrases.object_of(rng, verb, limited)
        )
    elif verb.object:
        changes["object"] = phrases.object_of(rng, verb, "negatable" if habit and verb.goal else restrict)
    if verb.recipient:
        changes["recipient"] = phrases.recipient(rng)
    if verb.goal:
        changes["complement"] = goal_without_a(rng, clause)
    elif "needs_place" in verb.flags or (verb.place and rng.random() < PLACE_SHARE):
        place = phrases.place(rng, verb)
        changes["place"] = _definite(place) if clause.negated and place else place
    return replace(clause, **changes)


def goal_without_a(rng: random.Random, clause: Clause) -> PrepositionalPhrase | None:
    """A goal, definite where the clause is negated."""
    assert clause.verb
    goal = phrases.goal(rng, clause.verb, clause.subject)
    return _definite(goal) if clause.negated and goal else goal


def _definite(phrase: PrepositionalPhrase) -> PrepositionalPhrase:
    if phrase.phrase is None or phrase.phrase.det != "a":
        return phrase
    return replace(phrase, phrase=replace(phrase.phrase, det="the"))


def predicative(
    rng: random.Random, subject: NounPhrase | None = None, tense: str = "", adjective: str = ""
) -> Clause:
    """A clause with *be* and an adjective that suits the subject."""
    described = subject or describable(rng)
    if not adjective:
        adjective = rng.choice(adjectives_of(described)).key
    word = adjectives()[adjective]
    weights = [5, 3 if word.degrees else 0, 2 if word.degrees and word.too else 0]
    degree = rng.choices(["", "very", "too"], weights)[0]
    chosen = tense or rng.choice(["present", "past"])
    negated = rng.random() < 0.15 and described.det not in ("every", "many", "a")
    return Clause(described, None, chosen, negated=negated, predicate=Predicate(adjective, degree))  # type: ignore[arg-type]


PERSON_ADJECTIVES = (
    "tired",
    "hungry",
    "sick",
    "happy",
    "sad",
    "lazy",
    "nervous",
    "clever",
    "strong",
    "friendly",
)


def adjectives_of(subject: NounPhrase) -> tuple[Adjective, ...]:
    """The adjectives that suit a noun, a name or a pronoun."""
    if subject.noun and not subject.also:
        return adjectives_for(subject.noun)
    return tuple(adjectives()[key] for key in PERSON_ADJECTIVES)


def describable(rng: random.Random) -> NounPhrase:
    """A pronoun, a name or a definite noun phrase without an adjective."""
    chance = rng.random()
    if chance < 0.22:
        return phrases.pronoun(rng)
    if chance < 0.28:
        return phrases.name(rng)
    return phrases.noun_phrase(
        rng, [noun for noun in nouns().values() if adjectives_for(noun.key)], "definite", 0.0
    )


MALE_KIN, FEMALE_KIN = ("father", "brother", "man"), ("mother", "sister", "aunt", "woman")


def profession(rng: random.Random) -> Clause:
    """*I am a student*: German has no article, unless an adjective comes in."""
    work = rng.choice(nouns_for(("profession",)))
    subject = phrases.pronoun(rng)
    if rng.random() < 0.35:
        subject = phrases.name(rng)
    elif rng.random() < 0.35:
        head = rng.choice(MALE_KIN + FEMALE_KIN)
        owned = "unowned" not in nouns()[head].tags and rng.random() < 0.8
        subject = NounPhrase(head, rng.choice(POSSESSIVES) if owned else "the")
    plural = subject.person in ("1p", "3p")
    feminine = subject.gender == "f" or subject.noun in FEMALE_KIN
    # The feminine noun takes feminine endings; the grammar has it only without an adjective.
    adjective = "" if feminine else rng.choice(["", "", "", "good", "young", "old", "friendly", "clever"])
    if subject.gender not in ("m", "f") and subject.noun == "" and subject.pronoun == "they":
        adjective = ""
    described = NounPhrase(work.key, "" if plural else "a", plural, adjective)
    tense = rng.choice(["present", "present", "past"])
    negated = rng.random() < 0.2
    return Clause(subject, None, tense, negated=negated, predicate=Predicate(profession=described))  # type: ignore[arg-type]
