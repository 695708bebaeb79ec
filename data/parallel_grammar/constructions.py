"""Draws whole sentences: one function a construction, and the shares in which they come."""

import random
from collections.abc import Callable
from dataclasses import replace

from parallel_grammar import clauses, phrases
from parallel_grammar.lexicon import frames, nouns, nouns_for, verbs
from parallel_grammar.syntax import (
    Clause,
    Existence,
    FixedClause,
    Light,
    NounPhrase,
    Predicate,
    Question,
    Request,
    Sentence,
    Statement,
)

TIME_FIRST_SHARE = 0.5


def statement(rng: random.Random) -> Sentence:
    """A main clause, its time in front or not."""
    clause = clauses.draw(rng)
    return Statement(clause, time_first=clause.time is not None and rng.random() < TIME_FIRST_SHARE)


def description(rng: random.Random) -> Sentence:
    """*The soup is too hot.*, or the question for it."""
    clause = clauses.predicative(rng)
    return Question(clause) if rng.random() < 0.25 and not clause.negated else Statement(clause)


def work(rng: random.Random) -> Sentence:
    """*My sister is a doctor.*"""
    return Statement(clauses.profession(rng))


def question(rng: random.Random) -> Sentence:
    """A yes-or-no question, or one with a question word that suits the clause."""
    clause = clauses.draw(rng)
    if clause.subject.det == "every":
        clause = replace(clause, subject=replace(clause.subject, det="the"))
    if clause.modal == "may":
        # "Must he not …?" asks about a duty as well as about a ban.
        clause = replace(clause, negated=False)
    if rng.random() < 0.45:
        return Question(clause)
    options = question_options(clause)
    asks = rng.choice(options) if options else "reason"
    clause = replace(clause, frequency=None, negated=clause.negated and asks == "reason")
    if asks == "subject":
        clause = replace(clause, subject=NounPhrase(pronoun="he", gender="m"))
    elif asks == "time":
        clause = replace(clause, time=None)
    elif asks == "place":
        clause = replace(
            clause, place=None, complement=None if clause.verb and clause.verb.goal else clause.complement
        )
    elif asks in ("which", "how many"):
        assert clause.object
        clause = replace(
            clause, object=replace(clause.object, det="", plural=asks == "how many" or clause.object.plural)
        )
    return Question(clause, asks) if clauses.sensible(clause) else question(rng)


def question_options(clause: Clause) -> list[str]:
    """What can be asked about a clause."""
    verb = clause.verb
    assert verb
    options = ["reason"]
    if "person" in verb.subject and not clauses.same_person(NounPhrase(pronoun="he"), clause.object):
        options.append("subject")
    if "stative" not in verb.flags:
        options.append("time")
    if verb.place or (verb.goal and verb.key not in ("fit", "put_flat", "put_upright")):
        options += ["place", "place"]
    # What one puts somewhere decides between legen and stellen, so it cannot be left out.
    thing = clause.object
    if thing and thing.noun and verb.en != "put":
        tags = nouns()[thing.noun].tags
        if "person" not in tags and "animal" not in tags:
            options.append("what")
        elif "person" in tags:
            options.append("who")
        if not nouns()[thing.noun].mass and "kin" not in tags and verb.case == "accusative":
            options += ["which", "how many"]
    return options


def reported(rng: random.Random) -> Sentence:
    """*The woman says that …*, *I do not know whether …*."""
    verb = rng.choice([entry for entry in verbs().values() if entry.conjunction])
    conjunction = rng.choice(verb.conjunction)
    tense = rng.choice(["present", "present", "past"])
    negated = verb.key == "know_that" and (conjunction == "whether" or rng.random() < 0.2)
    main = Clause(phrases.subject(rng, verb), verb, tense, negated=negated)  # type: ignore[arg-type]
    if main.subject.det in ("every", "many", "a"):
        main = replace(main, subject=replace(main.subject, det="the"))
    # English moves the tense of what was said back; the past alone reads well under a past.
    allowed = ("past", "modal") if tense == "past" else ()
    inner = (
        clauses.predicative(rng, tense=tense) if rng.random() < 0.25 else clauses.draw(rng, allowed=allowed)
    )
    if odd_report(main, conjunction, inner):
        return reported(rng)
    return Statement(main, conjunction=conjunction, second=inner)


def odd_report(main: Clause, conjunction: str, inner: Clause) -> bool:
    """Whether one asks about oneself, names somebody twice, or asks whether something is not so."""
    one, other = main.subject, inner.subject
    same_name = bool(one.name) and one.name == other.name
    asks_oneself = (
        conjunction == "whether" and bool(one.pronoun) and one.pronoun == other.pronoun in ("I", "you", "we")
    )
    return same_name or asks_oneself or (conjunction == "whether" and inner.negated)


def actor(rng: random.Random) -> tuple[NounPhrase, NounPhrase]:
    """Somebody, and the pronoun that takes up the same person."""
    chance = rng.random()
    if chance < 0.45:
        word = phrases.pronoun(rng)
        return word, word
    if chance < 0.6:
        somebody = phrases.name(rng)
    elif chance < 0.7:
        somebody = phrases.together(rng)
    else:
        noun = rng.choice([noun for noun in nouns_for(("person",)) if noun.gender != "n"])
        somebody = phrases.noun_phrase(rng, [noun], "definite", 0.0)
    if somebody.person == "3p":
        return somebody, NounPhrase(pronoun="they")
    gender = phrases.gender_of(somebody)
    return somebody, NounPhrase(pronoun="he" if gender == "m" else "she", gender=gender)


def _activity(rng: random.Random, kind: str, subject: NounPhrase, allowed: tuple[str, ...]) -> Clause:
    verb = verbs()[rng.choice(frames()["activities"][kind])]
    clause = clauses.draw(rng, verb, allowed, subject)
    return replace(clause, time=None, frequency=None)


def condition(rng: random.Random) -> Sentence:
    """*If I have time, I visit my aunt.*"""
    chance = rng.random()
    subject = phrases.pronoun(rng)
    conjunction, tense = "if", "present"
    if chance < 0.35:
        entry = rng.choice(frames()["condition"])
        second: Clause | FixedClause = FixedClause(entry["en"], entry["de"])
        kind = "usual"
    elif chance < 0.65:
        second = Clause(subject, verbs()["have"], "present", object=NounPhrase("time"))
        kind = "with_time"
    elif chance < 0.8:
        second = Clause(subject, None, "present", predicate=Predicate("sick"))
        kind = "when_ill"
    else:
        conjunction, tense = "when", "past"
        somebody, subject = actor(rng)
        second = Clause(somebody, None, "past", predicate=Predicate("young"))
        kind = "when_young"
    main = _positive(rng, kind, subject, (tense,))
    first = rng.random() < 0.7 or conjunction == "when"
    return Statement(main, conjunction=conjunction, second=second, second_first=first)


def _positive(rng: random.Random, kind: str, subject: NounPhrase, allowed: tuple[str, ...]) -> Clause:
    while True:
        clause = _activity(rng, kind, subject, allowed)
        if not clause.negated:
            return clause


def reason(rng: random.Random) -> Sentence:
    """*She is sad because she lost her key.*"""
    somebody, again = actor(rng)
    adjective = rng.choice(list(frames()["reasons"]))
    verb = verbs()[rng.choice(frames()["reasons"][adjective])]
    cause = clauses.draw(rng, verb, ("past",), again)
    while cause.negated:
        cause = clauses.draw(rng, verb, ("past",), again)
    tense = rng.choice(["present", "past"])
    main = Clause(somebody, None, tense, predicate=Predicate(adjective, rng.choice(["", "", "very"])))  # type: ignore[arg-type]
    return Statement(main, conjunction="because", second=replace(cause, time=None))


def obstacle(rng: random.Random) -> Sentence:
    """*He did not work because he was tired.*, *He worked although he was tired.*"""
    somebody, again = actor(rng)
    tense = rng.choice(["present", "past"])
    main = replace(_activity(rng, "effort", somebody, (tense, "modal")), place=None)
    adjective = rng.choice(["tired", "sick", "tired", "sick", "lazy", "sad", "nervous"])
    degree = rng.choice(["", "too"] if main.negated else ["", "very"])
    if adjective == "sad":
        degree = ""
    conjunction = "because" if main.negated else "although"
    why = Clause(again, None, tense, predicate=Predicate(adjective, degree))  # type: ignore[arg-type]
    if main.modal in ("may", "should") or (not main.negated and rng.random() < 0.45):
        return obstacle(rng)
    return Statement(main, conjunction=conjunction, second=why)


def contrast(rng: random.Random) -> Sentence:
    """Two clauses with *and* or *but*: *I do not like apples and you like oranges.*"""
    one, other = phrases.pronoun(rng), phrases.pronoun(rng)
    if rng.random() < 0.5:
        one, other = phrases.name(rng), phrases.noun_phrase(rng, nouns_for(("person",)), "definite", 0.1)
    if one.pronoun and one.pronoun == other.pronoun:
        return contrast(rng)
    if rng.random() < 0.4:
        like = verbs()["like"]
        foods = rng.sample(nouns_for(("food", "drink")), 2)
        negated = [rng.random() < 0.4, rng.random() < 0.4]
        first, second = (
            Clause(subject, like, "present", negated=no, object=NounPhrase(noun.key, "", not noun.mass))
            for subject, no, noun in zip((one, other), negated, foods, strict=True)
        )
        return Statement(
            first,
            conjunction="but" if negated[0] != negated[1] and rng.random() < 0.6 else "and",
            second=second,
        )
    tense = rng.choice(["present", "past"])
    first, second = _activity(rng, "usual", one, (tense,)), _activity(rng, "usual", other, (tense,))
    if first.verb == second.verb or (
        first.object and second.object and first.object.noun == second.object.noun
    ):
        return contrast(rng)
    return Statement(first, conjunction="but" if first.negated != second.negated else "and", second=second)


def pairing(rng: random.Random) -> Sentence:
    """Two main clauses, one at least with *be*: *The man is old and the woman reads a book.*"""
    describe = [clauses.predicative, clauses.predicative, clauses.profession]
    first = rng.choice(describe)(rng)
    second = rng.choice([*describe, _usual])(rng)
    if rng.random() < 0.3:
        first, second = second, first
    one, other = first.subject, second.subject
    if (one.pronoun, one.noun, one.name) == (other.pronoun, other.noun, other.name):
        return pairing(rng)
    return Statement(first, conjunction="but" if first.negated != second.negated else "and", second=second)


def _usual(rng: random.Random) -> Clause:
    return _activity(rng, "usual", phrases.pronoun(rng), (rng.choice(["present", "past"]),))


REQUEST_DETERMINERS = {"the": 50, "possessive": 30, "this": 20}


def request(rng: random.Random) -> Sentence:
    """*Open the window.*, *Show me the photos please.*"""
    # The imperative is in the present tense.
    possible = [verb for verb in verbs().values() if verb.imperative and not verb.conjunction]
    verb = (
        rng.choice([entry for entry in possible if entry.recipient])
        if rng.random() < 0.25
        else rng.choice(possible)
    )
    you = NounPhrase(pronoun="you")
    clause = clauses.draw(rng, verb, ("present",), you)
    clause = replace(clause, tense="present", modal="", time=None, frequency=None)
    if clause.recipient:
        clause = replace(clause, recipient=NounPhrase(pronoun=rng.choice(["I", "I", "I", "we", "he", "she"])))
    if clause.object and clause.object.noun and clause.object.det in ("a", "", "many", "every"):
        clause = replace(
            clause, object=replace(clause.object, det=phrases.draw_determiner(rng, REQUEST_DETERMINERS))
        )
    if not clauses.sensible(clause):
        return request(rng)
    polite = "" if clause.negated else rng.choice(["", "", "first", "last"])
    if polite == "last" and not (clause.recipient and clause.recipient.pronoun):
        polite = "first"
    return Request(clause, polite)


def existence(rng: random.Random) -> Sentence:
    """*There is an old church in the village.*"""
    place = rng.choice(nouns_for(("settlement",)))
    thing = rng.choice(nouns_for(("goal", "structure"), ("city", "village", "forest")))
    plural = rng.random() < 0.25
    where = phrases.at_noun(place, NounPhrase(place.key, rng.choice(["the", "the", "this", "our", "my"])))
    negated = rng.random() < 0.25
    det = "a" if not plural else "" if negated else rng.choice(["two", "three", "many"])
    adjective = phrases.draw_adjective(rng, thing.key, 0.45)
    what = NounPhrase(thing.key, det, plural, adjective)
    return Existence(what, where, rng.choice(["present", "present", "past"]), negated)


def light(rng: random.Random) -> Sentence:
    """*Let there be light in the old church.*"""
    noun = rng.choice(
        [noun for noun in nouns_for(("indoor", "outdoor", "settlement", "workplace")) if noun.at[0] == "in"]
    )
    det = rng.choice(["the", "the", "this", "our", "my", "your"])
    return Light(
        phrases.at_noun(noun, NounPhrase(noun.key, det, False, phrases.draw_adjective(rng, noun.key, 0.25)))
    )


SHARES: dict[Callable[[random.Random], Sentence], int] = {
    statement: 36,
    question: 14,
    reported: 10,
    description: 7,
    request: 6,
    condition: 5,
    contrast: 4,
    pairing: 4,
    reason: 4,
    obstacle: 5,
    work: 3,
    existence: 3,
    light: 1,
}


def draw(rng: random.Random) -> Sentence:
    """A sentence of any construction, in the corpus's shares."""
    return rng.choices(list(SHARES), list(SHARES.values()))[0](rng)
