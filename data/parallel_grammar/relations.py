"""Which words a sentence combines, and which words stand in it at all: what held-out combinations are about."""

from functools import cache

from parallel_grammar.lexicon import Verb, adjectives, nouns, verbs, with_s
from parallel_grammar.syntax import Clause, FixedClause, NounPhrase, Sentence, Statement

Relation = tuple[str, str, str]  # (kind, adjective or verb, noun)


def lemma(verb: Verb) -> str:
    """The English word that stands for a verb: *turn* for *turn on* and *turn off* alike."""
    return verb.en.split()[0]


def _in_phrase(phrase: NounPhrase | None) -> set[Relation]:
    found: set[Relation] = set()
    while phrase is not None:
        if phrase.adjective:
            found.add(("adjective_noun", phrase.adjective, phrase.noun))
        phrase = phrase.also
    return found


def _in_clause(clause: Clause) -> set[Relation]:
    places = [entry.phrase for entry in (clause.place, clause.complement) if entry and entry.phrase]
    found: set[Relation] = set()
    for phrase in (clause.subject, clause.object, clause.recipient, *places):
        found |= _in_phrase(phrase)
    if clause.predicate and clause.predicate.adjective and clause.subject.noun and not clause.subject.also:
        found.add(("adjective_noun", clause.predicate.adjective, clause.subject.noun))
    if clause.verb:
        prepositional = clause.complement.phrase if clause.complement and clause.verb.preposition else None
        for phrase in (clause.object, prepositional):
            if phrase and phrase.noun:
                found.add(("verb_object", lemma(clause.verb), phrase.noun))
    return found


def relations(sentence: Sentence) -> set[Relation]:
    """The adjective-noun and verb-object combinations of a sentence."""
    if isinstance(sentence, Statement):
        second = sentence.second
        more = _in_clause(second) if second and not isinstance(second, FixedClause) else set()
        return _in_clause(sentence.clause) | more
    clause = getattr(sentence, "clause", None)
    return _in_clause(clause) if isinstance(clause, Clause) else set()


@cache
def lemmas() -> dict[str, frozenset[str]]:
    """For each English word form, the nouns, adjectives and verbs it can be."""
    table: dict[str, set[str]] = {}
    for noun in nouns().values():
        for form in (noun.key, noun.english_plural):
            table.setdefault(form, set()).add(noun.key)
    for adjective in adjectives():
        table.setdefault(adjective, set()).add(adjective)
    for verb in verbs().values():
        base = lemma(verb)
        for form in (base, verb.past, verb.third, with_s(base)):
            table.setdefault(form, set()).add(base)
    return {form: frozenset(found) for form, found in table.items()}


def words_in(english: str) -> set[str]:
    """The lemmas in an English sentence."""
    found: set[str] = set()
    for word in english.rstrip(".?").replace(",", "").split():
        found |= lemmas().get(word, frozenset()) or lemmas().get(word.lower(), frozenset())
    return found
