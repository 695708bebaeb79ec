"""Writes a sentence in German: declension, verb-second, the verbal bracket, the order of the middle field."""

from parallel_grammar.lexicon import adjectives, nouns
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

CASES = ("nominative", "accusative", "dative")
PERSON_INDEX = {"1s": 0, "2s": 1, "3s": 2, "1p": 3, "3p": 3}

PRONOUNS = {
    "I": ("ich", "mich", "mir"),
    "you": ("du", "dich", "dir"),
    "he": ("er", "ihn", "ihm"),
    "she": ("sie", "sie", "ihr"),
    "we": ("wir", "uns", "uns"),
    "they": ("sie", "sie", "ihnen"),
}
IT = {"m": ("er", "ihn", "ihm"), "f": ("sie", "sie", "ihr"), "n": ("es", "es", "ihm")}

# Endings in the order nominative, accusative, dative, by gender or "p" for the plural.
DEFINITE = {
    "m": ("der", "den", "dem"),
    "f": ("die", "die", "der"),
    "n": ("das", "das", "dem"),
    "p": ("die", "die", "den"),
}
STRONG = {"m": ("er", "en", "em"), "f": ("e", "e", "er"), "n": ("es", "es", "em"), "p": ("e", "e", "en")}
EIN = {"m": ("", "en", "em"), "f": ("e", "e", "er"), "n": ("", "", "em"), "p": ("e", "e", "en")}
WEAK = {"m": ("e", "en", "en"), "f": ("e", "e", "en"), "n": ("e", "e", "en"), "p": ("en", "en", "en")}

EIN_WORDS = {
    "a": "ein",
    "kein": "kein",
    "my": "mein",
    "your": "dein",
    "his": "sein",
    "her": "ihr",
    "our": "unser",
}
EIN_WORDS["their"] = "ihr"
DER_WORDS = {"this": "dies", "every": "jed", "which": "welch"}
UNINFLECTED = {"two": "zwei", "three": "drei", "four": "vier", "five": "fünf", "how many": "wie viele"}

# Auxiliaries: ich, du, er, wir.
HAVE = ("habe", "hast", "hat", "haben")
BE = {"present": ("bin", "bist", "ist", "sind"), "past": ("war", "warst", "war", "waren")}
WILL = ("werde", "wirst", "wird", "werden")
MODALS = {
    ("can", "present"): ("kann", "kannst", "kann", "können"),
    ("can", "past"): ("konnte", "konntest", "konnte", "konnten"),
    ("must", "present"): ("muss", "musst", "muss", "müssen"),
    ("must", "past"): ("musste", "musstest", "musste", "mussten"),
    ("want", "present"): ("will", "willst", "will", "wollen"),
    ("want", "past"): ("wollte", "wolltest", "wollte", "wollten"),
    ("may", "present"): ("darf", "darfst", "darf", "dürfen"),
    ("should", "present"): ("sollte", "solltest", "sollte", "sollten"),
}
CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
}
DEGREES = {"": "", "very": "sehr", "too": "zu"}
SUBORDINATE = {
    "because": "weil",
    "although": "obwohl",
    "that": "dass",
    "whether": "ob",
    "if": "wenn",
    "when": "als",
}
COORDINATE = {"and": "und", "but": "aber"}


def noun_form(noun: str, plural: bool, case: int) -> str:
    """A noun in a case: -n in the dative plural, the oblique form of weak masculines."""
    entry = nouns()[noun]
    if not plural:
        return entry.oblique if entry.oblique and case > 0 else entry.de
    needs_n = case == 2 and entry.plural[-1] not in "ns"
    return entry.plural + ("n" if needs_n else "")


def determiner(det: str, column: str, case: int) -> tuple[str, str]:
    """A determiner's form and the ending of an adjective after it; ``column`` is m, f, n or p."""
    strong, weak = STRONG[column][case], WEAK[column][case]
    if det == "the":
        return DEFINITE[column][case], weak
    if det in DER_WORDS:
        return DER_WORDS[det] + strong, weak
    if det in EIN_WORDS:
        ending = EIN[column][case]
        # A mixed ending: weak, but strong where ein has no ending of its own.
        return EIN_WORDS[det] + ending, weak if ending else strong
    if det == "many":
        return "viel" + strong, strong
    return UNINFLECTED.get(det, ""), strong


def noun_phrase(phrase: NounPhrase, case: str, negated: bool = False) -> list[str]:
    """The words of a noun phrase in a case; ``negated`` turns *ein* and no article into *kein*."""
    index = CASES.index(case)
    if phrase.pronoun:
        table = IT[phrase.gender] if phrase.pronoun == "it" else PRONOUNS[phrase.pronoun]
        return [table[index]]
    if phrase.name:
        words = [phrase.name]
    else:
        column = "p" if phrase.plural else nouns()[phrase.noun].gender
        det = "kein" if negated and phrase.det in ("a", "") else phrase.det
        article, ending = determiner(det, column, index)
        adjective = [adjectives()[phrase.adjective].stem + ending] if phrase.adjective else []
        words = [*article.split(), *adjective, noun_form(phrase.noun, phrase.plural, index)]
    if phrase.also:
        words += ["und", *noun_phrase(phrase.also, case)]
    return words


def prepositional_phrase(phrase: PrepositionalPhrase | None) -> list[str]:
    """The words of a prepositional phrase, preposition and article contracted where German does."""
    if phrase is None:
        return []
    if phrase.phrase is None:
        return phrase.de.split()
    words = noun_phrase(phrase.phrase, phrase.case) if phrase.case else [phrase.phrase.name]
    contracted = CONTRACTIONS.get((phrase.de, words[0]))
    return [contracted, *words[1:]] if contracted else [phrase.de, *words]


def verbal_bracket(clause: Clause) -> tuple[str, list[str], str]:
    """The finite verb, what closes the main clause, and the verb cluster that closes a subordinate one."""
    index = PERSON_INDEX[clause.subject.person]
    verb = clause.verb
    infinitive = verb.de if verb else "sein"
    if clause.modal or clause.tense == "future":
        form = MODALS[clause.modal, clause.tense][index] if clause.modal else WILL[index]
        return form, [infinitive], f"{infinitive} {form}"
    if verb is None:
        form = BE[clause.tense][index]
        return form, [], form
    if clause.tense == "past" and not verb.preterite:
        form = (BE["present"] if verb.auxiliary == "sein" else HAVE)[index]
        return form, [verb.participle], f"{verb.participle} {form}"
    form = (verb.preterite if clause.tense == "past" else verb.present)[index]
    return form, [verb.particle] if verb.particle else [], verb.particle + form


def predicate(clause: Clause) -> list[str]:
    """What follows *sein*: a bare adjective, or a profession, without article unless an adjective comes in."""
    if clause.predicate is None:
        return []
    profession = clause.predicate.profession
    if profession is None:
        adjective = adjectives()[clause.predicate.adjective].de
        return [word for word in (DEGREES[clause.predicate.degree], adjective) if word]
    if profession.adjective:
        return noun_phrase(profession, "nominative", clause.negated)
    name = profession_name(profession, clause.subject)
    ending = "e" if profession.plural or name.endswith("in") else ""
    return ["kein" + ending, name] if clause.negated else [name]


def profession_name(profession: NounPhrase, subject: NounPhrase) -> str:
    """Lehrer or Lehrerin, as the subject's gender asks for; plurals are left as they are."""
    entry = nouns()[profession.noun]
    if profession.plural:
        return entry.plural
    feminine = subject.gender == "f" or (subject.noun and nouns()[subject.noun].gender == "f")
    return entry.feminine if feminine else entry.de


def middle_field(
    clause: Clause, leave_out: str = "", with_subject: bool = True, with_time: bool = True
) -> list[str]:
    """Everything between the finite verb and the end of the bracket.

    Subject, pronoun or name, time, recipient, definite object, (nicht) place, indefinite object, complement.
    """
    object_case = clause.verb.case if clause.verb else "accusative"
    target = clause.object if leave_out != "object" else None
    takes_kein = clause.negated and target is not None and target.noun != "" and target.det in ("a", "")
    profession = clause.predicate is not None and clause.predicate.profession is not None
    nicht = ["nicht"] if clause.negated and not takes_kein and not profession else []
    object_words = noun_phrase(target, object_case, takes_kein) if target else []
    indefinite = target is not None and target.indefinite
    words = noun_phrase(clause.subject, "nominative") if with_subject else []
    recipient = (
        noun_phrase(clause.recipient, "dative") if clause.recipient and leave_out != "recipient" else []
    )
    if target and (target.pronoun or (target.name and not clause.recipient)):
        words, object_words = words + object_words, []
    if clause.recipient and (clause.recipient.pronoun or clause.recipient.name):
        words, recipient = words + recipient, []
    if clause.time and with_time:
        words += clause.time[1].split()
    if clause.frequency:
        words += [clause.frequency[1]]
    words += recipient
    place = prepositional_phrase(clause.place)
    if indefinite:
        words += (nicht + place + object_words) if place else (object_words + nicht)
    else:
        words += object_words + nicht + place
    return words + prepositional_phrase(clause.complement) + predicate(clause)


def main_clause(
    clause: Clause, first: list[str] | None = None, leave_out: str = "", time_used: bool = False
) -> list[str]:
    """Verb-second: ``first`` in front of the finite verb, or the subject; [] is verb-first."""
    verb, closing, _ = verbal_bracket(clause)
    if first is None:
        return [
            *noun_phrase(clause.subject, "nominative"),
            verb,
            *middle_field(clause, leave_out, with_subject=False, with_time=not time_used),
            *closing,
        ]
    with_subject = leave_out != "subject"
    return [*first, verb, *middle_field(clause, leave_out, with_subject, not time_used), *closing]


def subordinate_clause(clause: Clause) -> list[str]:
    """Verb-final."""
    return middle_field(clause) + verbal_bracket(clause)[2].split()


def question_words(question: Question) -> list[str]:
    """A direct question, without its question mark."""
    clause, asks = question.clause, question.asks
    dative = clause.verb is not None and clause.verb.case == "dative"
    if asks == "subject":
        return main_clause(clause, ["wer"], "subject")
    if asks in ("which", "how many"):
        assert clause.object
        case = "dative" if dative else "accusative"
        opening = noun_phrase(replace_det(clause.object, asks), case)
        return main_clause(clause, opening, "object")
    opening = {
        "": [],
        "what": ["was"],
        "who": ["wem" if dative else "wen"],
        "recipient": ["wem"],
        "place": ["wohin" if clause.verb and clause.verb.goal else "wo"],
        "time": ["wann"],
        "reason": ["warum"],
    }[asks]
    return main_clause(clause, opening, "object" if asks in ("what", "who") else asks)


def replace_det(phrase: NounPhrase, det: str) -> NounPhrase:
    """The same phrase with another determiner."""
    return NounPhrase(phrase.noun, det, phrase.plural, phrase.adjective)


def _request(request: Request) -> list[str]:
    clause = request.clause
    verb = clause.verb
    assert verb
    middle = middle_field(clause, with_subject=False)
    if request.polite == "last":
        # "Zeige mir bitte die Fotos": bitte follows the pronoun.
        cut = 1 if clause.recipient and clause.recipient.pronoun else 0
        middle = [*middle[:cut], "bitte", *middle[cut:]]
    first = ["bitte"] if request.polite == "first" else []
    return [*first, verb.imperative, *middle, *([verb.particle] if verb.particle else [])]


def words(sentence: Sentence) -> list[str]:
    """The words of a German sentence with its commas and its end mark."""
    if isinstance(sentence, Question):
        return [*question_words(sentence), "?"]
    if isinstance(sentence, Request):
        return [*_request(sentence), "."]
    if isinstance(sentence, Light):
        return ["es", "werde", "Licht", *prepositional_phrase(sentence.place), "."]
    if isinstance(sentence, Existence):
        return [*_existence(sentence), "."]
    return [*_statement(sentence), "."]


def _existence(sentence: Existence) -> list[str]:
    verb = "gab" if sentence.tense == "past" else "gibt"
    thing = noun_phrase(sentence.thing, "accusative", sentence.negated)
    return [*prepositional_phrase(sentence.place), verb, "es", *thing]


def _statement(sentence: Statement) -> list[str]:
    clause = sentence.clause
    first = clause.time[1].split() if sentence.time_first and clause.time else None
    if sentence.second is None:
        return main_clause(clause, first, time_used=first is not None)
    if sentence.conjunction in COORDINATE:
        comma = [","] if sentence.conjunction == "but" else []
        assert isinstance(sentence.second, Clause)
        joined = [*comma, COORDINATE[sentence.conjunction], *main_clause(sentence.second)]
        return main_clause(clause, first, time_used=first is not None) + joined
    if isinstance(sentence.second, FixedClause):
        body = sentence.second.de.split()
    else:
        body = subordinate_clause(sentence.second)
    subordinate = [SUBORDINATE[sentence.conjunction], *body]
    if sentence.second_first:
        return [*subordinate, ",", *main_clause(clause, [])]
    return [*main_clause(clause, first, time_used=first is not None), ",", *subordinate]
