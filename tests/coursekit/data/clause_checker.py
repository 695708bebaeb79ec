"""Takes German clauses apart: where the finite verb stands, what closes the clause, which cases the verb gets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from german_checker import (
    AUXILIARIES,
    CONJUNCTIONS,
    PERSONS,
    Phrase,
    Ungrammatical,
    case_assignment,
    constituent,
    word_list,
)


@dataclass(frozen=True)
class Reading:
    """One way to understand the verb of a clause: ``key`` is "be" or a verb of the word list."""

    key: str
    persons: frozenset[str]
    closing: int  # how many words close the clause besides a final finite verb


def persons_of(forms: list[str], finite: str) -> frozenset[str]:
    """The persons whose form this is."""
    return frozenset(person for person, form in zip(PERSONS, forms, strict=True) if form == finite)


def readings(finite: str, others: list[str], final: bool) -> Iterator[Reading]:
    """How a finite verb can be meant; ``others`` are the clause's words, what closes it last."""
    last = others[-1] if others else ""
    for key, entry in word_list()["verbs"].items():
        particle = entry.get("particle", "")
        for forms in (entry["present"], entry.get("preterite", [""] * 4)):
            written = [particle + form for form in forms] if final else forms
            who = persons_of(written, finite)
            if who and (final or not particle or last == particle):
                yield Reading(key, who, 1 if particle and not final else 0)
    for forms, kind in AUXILIARIES.items():
        who = persons_of(forms.split(), finite)
        if not who:
            continue
        if "sein" in kind or kind == "copula":
            yield Reading("be", who, 0)
        for key, entry in word_list()["verbs"].items():
            perfect = kind == f"perfect {entry.get('auxiliary', 'haben')}" and "preterite" not in entry
            if (perfect and last == entry["participle"]) or (kind == "infinitive" and last == entry["de"]):
                yield Reading(key, who, 1)


def parse(tokens: list[str], ihr_is_pronoun: bool) -> list[Phrase]:
    """The constituents of a stretch of words, none left over."""
    phrases, here = [], 0
    while here < len(tokens):
        phrase = constituent(tokens, here, ihr_is_pronoun)
        if phrase is None:
            raise Ungrammatical(f"cannot read {tokens[here]!r} in {' '.join(tokens)}")
        phrases.append(phrase)
        here = phrase.end
    return phrases


ASKED_FOR = ("was", "wen", "wem", "wie")


def subject_and_objects(words: list[str], nouns: list[Phrase]) -> tuple[list[Phrase], list[Phrase]]:
    """The corpus puts the subject before every object but the one a question asks for."""
    asked = bool(words) and (words[0] in ASKED_FOR or words[0].startswith("welch"))
    return (nouns[1:2], nouns[:1] + nouns[2:]) if asked else (nouns[:1], nouns[1:])


def check_frame(reading: Reading, words: list[str], phrases: list[Phrase], imperative: bool) -> None:
    """The verb has its subject, in agreement, and its objects in their cases; *nicht* stands before no object."""
    nouns = [phrase for phrase in phrases if phrase.kind == "noun phrase"]
    subjects, objects = ([], nouns) if imperative else subject_and_objects(words, nouns)
    entry = word_list()["verbs"].get(reading.key, {})
    if reading.key == "be":
        described = any(phrase.kind == "predicate" for phrase in phrases)
        cases = "" if described else "N"
    else:
        has_object = "object" in entry and "preposition" not in entry
        cases = entry.get("case", "accusative")[0].upper() if has_object else ""
        cases += "D" if "recipient" in entry else ""
    if not case_assignment(subjects, "" if imperative else "N") or not case_assignment(objects, cases):
        raise Ungrammatical(f"{entry.get('de', 'sein')} does not get its cases")
    if not imperative and not reading.persons & set(subjects[0].persons):
        raise Ungrammatical("the subject does not agree with the verb")
    if entry:
        check_prepositions(entry, [phrase for phrase in phrases if phrase.kind == "prepositional"])
    for one, following in pairwise(phrases):
        if one.kind == "nicht" and following.kind in ("noun phrase", "time"):
            raise Ungrammatical("nicht before an object or a time")


def check_prepositions(entry: dict, phrases: list[Phrase]) -> None:
    """What the verb goes with has the verb's case; a goal the accusative (but zu), a place the dative."""
    phrases = list(phrases)
    if "preposition" in entry:
        _, preposition, case = entry["preposition"]
        wanted = [
            p
            for p in phrases
            if p.preposition == preposition and any(s[1] == case[0].upper() for s in p.slots)
        ]
        if not wanted:
            raise Ungrammatical(f"{entry['de']} without {preposition} and the {case}")
        phrases.remove(wanted[-1])
    needed = "A" if "goal" in entry else "D"
    for phrase in phrases:
        if not any(slot[1] == needed for slot in phrase.slots) and phrase.preposition != "zu":
            raise Ungrammatical(f"{phrase.preposition} with the wrong case for {entry['de']}")


def check_clause(candidates: list[tuple[Reading, list[str]]], imperative: bool = False) -> None:
    """One of the candidates (a reading and the words that are not verbs) must be a well-formed clause."""
    problems = ["no verb found"]
    for reading, words in candidates:
        for ihr_is_pronoun in (False, True):
            try:
                check_frame(reading, words, parse(words, ihr_is_pronoun), imperative)
                return
            except Ungrammatical as problem:
                problems.append(str(problem))
    raise Ungrammatical("; ".join(dict.fromkeys(problems)))


def check_subordinate(tokens: list[str]) -> None:
    """Conjunction first, finite verb last, participle or infinitive before it."""
    if tokens == ["wenn", "es", "regnet"] or tokens == ["wenn", "das", "Wetter", "gut", "ist"]:
        return
    if tokens == ["wenn", "die", "Sonne", "scheint"] or (
        tokens[:2] == ["wenn", "es"] and tokens[2:] in WEATHER
    ):
        return
    *others, finite = tokens[1:]
    candidates = [(r, others[: len(others) - r.closing]) for r in readings(finite, others, True)]
    check_clause(candidates)


WEATHER = (["kalt", "ist"], ["warm", "ist"])


def check_verb_first(tokens: list[str], imperative: bool = False) -> None:
    """The finite verb opens the clause, as in questions, requests and after a subordinate clause."""
    finite, *others = tokens
    found = imperatives(finite, others) if imperative else readings(finite, others, False)
    check_clause([(r, others[: len(others) - r.closing]) for r in found], imperative)


def imperatives(form: str, others: list[str]) -> Iterator[Reading]:
    """The verbs of which this is the imperative."""
    for key, entry in word_list()["verbs"].items():
        particle = entry.get("particle", "")
        if entry.get("imperative") == form and (not particle or others[-1:] == [particle]):
            yield Reading(key, frozenset(), 1 if particle else 0)


def check_main(tokens: list[str]) -> None:
    """One constituent, then the finite verb, and at the end what belongs to the verb."""
    if tokens[:3] == ["es", "werde", "Licht"]:
        parse(tokens[3:], False)
        return
    first = constituent(tokens, 0)
    if first is None or first.end >= len(tokens):
        raise Ungrammatical(f"nothing stands before the verb in {' '.join(tokens)}")
    finite, others = tokens[first.end], tokens[first.end + 1 :]
    if finite in ("gibt", "gab") and others[:1] == ["es"]:
        things = parse(others[1:], False)
        if not case_assignment(things, "A") or first.kind != "prepositional":
            raise Ungrammatical("es gibt takes the accusative")
        return
    front = tokens[: first.end]
    check_clause([(r, front + others[: len(others) - r.closing]) for r in readings(finite, others, False)])


def split_coordination(tokens: list[str]) -> list[list[str]]:
    """Two main clauses joined by *und*, if what follows *und* begins as a main clause does."""
    for here, word in enumerate(tokens):
        if word != "und" or here + 1 >= len(tokens):
            continue
        rest = tokens[here + 1 :]
        first = constituent(rest, 0)
        if first is None or first.kind != "noun phrase" or first.end >= len(rest):
            continue
        agreeing = [
            r
            for r in readings(rest[first.end], rest[first.end + 1 :], False)
            if r.persons & set(first.persons)
        ]
        if agreeing and any(list(readings(word, tokens[:here], False)) for word in tokens[:here]):
            try:
                check_main(tokens[:here])
            except Ungrammatical:
                continue
            return [tokens[:here], rest]
    return [tokens]


def decapitalise(german: str) -> str:
    """The sentence with a small first letter, unless it begins with a name."""
    return german if re.match("Anna|Maria|Peter|Thomas", german) else german[0].lower() + german[1:]


def check_sentence(german: str) -> None:
    """Raises Ungrammatical if the sentence breaks a promise of the grammar."""
    mark = german[-1]
    parts = [part.split() for part in decapitalise(german[:-1]).split(", ")]
    if mark == "?":
        word = parts[0][0]
        asks = word in ("wer", "wen", "wem", "was", "wo", "wohin", "wann", "warum", "wie") or word.startswith(
            "welch"
        )
        (check_main if asks else check_verb_first)(parts[0])
        return
    if parts[0][0] in CONJUNCTIONS:
        check_subordinate(parts[0])
        check_verb_first(parts[1])
        return
    opening = parts[0][1:] if parts[0][0] == "bitte" else parts[0]
    if len(parts) == 1 and list(imperatives(opening[0], opening)) and constituent(opening, 0) is None:
        check_verb_first(opening, imperative=True)
        return
    for clause in split_coordination(parts[0]):
        check_main(clause)
    for part in parts[1:]:
        if part[0] == "aber":
            check_main(part[1:])
        else:
            check_subordinate(part)
