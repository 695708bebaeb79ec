"""Writes a sentence in English: agreement, do-support, modals, the order of words."""

from parallel_grammar.lexicon import VOWELS, Verb, nouns
from parallel_grammar.syntax import (
    Clause,
    Existence,
    FixedClause,
    Light,
    NounPhrase,
    PrepositionalPhrase,
    Question,
    Request,
    Sentence,
    Statement,
)

OBJECT_FORMS = {"I": "me", "you": "you", "he": "him", "she": "her", "it": "it", "we": "us", "they": "them"}
BE = {
    "present": {"1s": "am", "2s": "are", "3s": "is", "1p": "are", "3p": "are"},
    "past": {"1s": "was", "2s": "were", "3s": "was", "1p": "were", "3p": "were"},
}
# The modals that invert and negate by themselves; "want to" and "have to" need do.
MODALS = {
    ("can", "present"): "can",
    ("can", "past"): "could",
    ("must", "present"): "must",
    ("may", "present"): "may",
    ("should", "present"): "should",
}
SEMI_MODALS = {"want": ("want", "wants", "wanted"), "must": ("have", "has", "had")}


def noun_phrase(phrase: NounPhrase, subject: bool = False) -> list[str]:
    """The words of a noun phrase."""
    if phrase.pronoun:
        return [phrase.pronoun if subject else OBJECT_FORMS[phrase.pronoun]]
    if phrase.name:
        words = [phrase.name]
    else:
        noun = nouns()[phrase.noun]
        words = [phrase.adjective] if phrase.adjective else []
        words.append(noun.english_plural if phrase.plural else noun.key)
        if phrase.det == "a":
            words.insert(0, "an" if words[0][0] in VOWELS else "a")
        elif phrase.det:
            words.insert(0, "these" if phrase.det == "this" and phrase.plural else phrase.det)
    if phrase.also:
        words += ["and", *noun_phrase(phrase.also, subject)]
    return words


def prepositional_phrase(phrase: PrepositionalPhrase | None) -> list[str]:
    """The words of a prepositional phrase or of a fixed adverb such as *at home*."""
    if phrase is None:
        return []
    return phrase.en.split() + (noun_phrase(phrase.phrase) if phrase.phrase else [])


def finite(verb: Verb, tense: str, person: str) -> list[str]:
    """The words of a full verb in a simple tense."""
    first, *rest = verb.en.split()
    if tense == "past":
        return [verb.past, *rest]
    return [verb.third if person == "3s" else first, *rest]


def do(tense: str, person: str) -> str:
    """The form of *do* that carries negation and questions."""
    return "did" if tense == "past" else "does" if person == "3s" else "do"


def verb_group(clause: Clause, inverted: bool = False) -> tuple[str, list[str]]:
    """The auxiliary ("" if there is none) and the words after it, *not* excluded."""
    person, tense, verb = clause.subject.person, clause.tense, clause.verb
    needs_do = clause.negated or inverted
    base = verb.en.split() if verb else ["be"]
    if tense == "future":
        return "will", base
    if clause.modal:
        return _modal_group(clause, base, needs_do)
    if verb is None:
        return BE[tense][person], []
    if needs_do:
        return do(tense, person), base
    return "", finite(verb, tense, person)


def _modal_group(clause: Clause, base: list[str], needs_do: bool) -> tuple[str, list[str]]:
    person, tense = clause.subject.person, clause.tense
    auxiliary = MODALS.get((clause.modal, tense))
    # "must not" forbids; German "nicht müssen" is "not have to", "nicht dürfen" is "must not".
    if clause.negated and clause.modal == "may":
        auxiliary = "must"
    if clause.negated and clause.modal == "must":
        auxiliary = None
    if auxiliary:
        return auxiliary, base
    plain, third, past = SEMI_MODALS[clause.modal]
    if needs_do:
        return do(tense, person), [plain, "to", *base]
    return "", [past if tense == "past" else third if person == "3s" else plain, "to", *base]


def predicate(clause: Clause) -> list[str]:
    """What follows *be*."""
    if clause.predicate is None:
        return []
    if clause.predicate.profession:
        return noun_phrase(clause.predicate.profession)
    return [word for word in (clause.predicate.degree, clause.predicate.adjective) if word]


def after_verb(clause: Clause, leave_out: str = "") -> list[str]:
    """Objects, complement and place, in this order; ``leave_out`` is what a question word stands for."""
    words: list[str] = []
    if clause.recipient and leave_out != "recipient":
        words += noun_phrase(clause.recipient)
    if clause.object and leave_out != "object":
        words += noun_phrase(clause.object)
    words += predicate(clause) + prepositional_phrase(clause.complement)
    return words + prepositional_phrase(clause.place)


def _negation(auxiliary: str) -> list[str]:
    return ["cannot"] if auxiliary == "can" else [auxiliary, "not"]


def clause_words(clause: Clause, with_time: bool = True) -> list[str]:
    """A clause in statement order, its time at the end."""
    auxiliary, rest = verb_group(clause)
    words = noun_phrase(clause.subject, subject=True)
    if clause.negated:
        words += _negation(auxiliary)
    elif auxiliary:
        words.append(auxiliary)
    if clause.frequency:
        words.append(clause.frequency[0])
    words += rest + after_verb(clause)
    if clause.time and with_time:
        words += clause.time[0].split()
    return words


QUESTION_WORDS = {"place": ["where"], "time": ["when"], "reason": ["why"], "recipient": ["who"], "": []}


def question_words(question: Question) -> list[str]:
    """A direct question, without its question mark."""
    clause, asks = question.clause, question.asks
    time = clause.time[0].split() if clause.time else []
    if asks == "subject":
        auxiliary, rest = verb_group(clause)
        return ["who", *([auxiliary] if auxiliary else []), *rest, *after_verb(clause), *time]
    if asks in ("what", "who"):
        opening = [asks]
    elif asks in ("which", "how many"):
        assert clause.object
        opening = asks.split() + noun_phrase(clause.object)
    else:
        opening = QUESTION_WORDS[asks]
    leave_out = "object" if asks in ("what", "who", "which", "how many") else asks
    auxiliary, rest = verb_group(clause, inverted=True)
    words = [*opening, auxiliary, *noun_phrase(clause.subject, subject=True)]
    words += ["not"] if clause.negated else []
    words += [clause.frequency[0]] if clause.frequency else []
    return words + rest + after_verb(clause, leave_out) + time


def words(sentence: Sentence) -> list[str]:
    """The words of an English sentence with its commas and its end mark."""
    if isinstance(sentence, Question):
        return [*question_words(sentence), "?"]
    if isinstance(sentence, Request):
        clause = sentence.clause
        assert clause.verb
        body = (["do", "not"] if clause.negated else []) + clause.verb.en.split() + after_verb(clause)
        first = ["please"] if sentence.polite == "first" else []
        last = ["please"] if sentence.polite == "last" else []
        return [*first, *body, *last, "."]
    if isinstance(sentence, Light):
        return ["let", "there", "be", "light", *prepositional_phrase(sentence.place), "."]
    if isinstance(sentence, Existence):
        return [*_existence(sentence), "."]
    return [*_statement(sentence), "."]


def _existence(sentence: Existence) -> list[str]:
    thing = noun_phrase(sentence.thing)
    if sentence.negated:
        thing = ["no", *(thing[1:] if sentence.thing.det == "a" else thing)]
    verb = BE[sentence.tense][sentence.thing.person]
    return ["there", verb, *thing, *prepositional_phrase(sentence.place)]


def _statement(sentence: Statement) -> list[str]:
    main = clause_words(sentence.clause, with_time=not sentence.time_first)
    if sentence.time_first and sentence.clause.time:
        main = sentence.clause.time[0].split() + main
    if sentence.second is None:
        return main
    if isinstance(sentence.second, FixedClause):
        second = sentence.second.en.split()
    else:
        second = clause_words(sentence.second)
    if sentence.second_first:
        return [sentence.conjunction, *second, ",", *main]
    comma = [","] if sentence.conjunction == "but" else []
    return [*main, *comma, sentence.conjunction, *second]
