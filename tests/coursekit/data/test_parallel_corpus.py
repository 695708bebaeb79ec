"""The built-in English-German corpus keeps its promises; German is read back by a checker of its own."""

import json
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from coursekit.data import parallel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))

from clause_checker import check_sentence  # noqa: E402
from german_checker import Ungrammatical, word_list  # noqa: E402

# The files are frozen: test_parallel.py compares their checksums in every run.
pytestmark = pytest.mark.proof

HELD_OUT = json.loads((ROOT / "data" / "parallel" / "held_out.json").read_text(encoding="utf-8"))
LECTURES = {
    "I ate an apple.": "Ich habe einen Apfel gegessen.",
    "I am a student.": "Ich bin Student.",
    "The cat jumped on the roof.": "Die Katze ist auf das Dach gesprungen.",
    "Let there be light.": "Es werde Licht.",
    "I do not like apples and you like oranges.": "Ich mag keine Äpfel und du magst Orangen.",
    "You like apples and I do not like oranges.": "Du magst Äpfel und ich mag keine Orangen.",
    "Find my files.": "Finde meine Dateien.",
    "Show me my photos please.": "Zeige mir bitte meine Fotos.",
}
AFTER_START = r"(?:^|because |that |whether |although |if |when |and |but )"
TIRED = "The animal did not cross the street because it was too tired."
WIDE = "The animal did not cross the street because it was too wide."


@pytest.fixture(scope="module")
def splits() -> dict[str, list[tuple[str, str]]]:
    """Every split, as the student kit loads it."""
    return {name: parallel.load(name) for name in parallel.SPLITS}


@pytest.fixture(scope="module")
def pairs(splits) -> list[tuple[str, str]]:
    """All pairs of all splits."""
    return [pair for split in splits.values() for pair in split]


@pytest.fixture(scope="module")
def forms() -> dict[str, set[str]]:
    """For each word of the list, the English forms it takes in the corpus."""
    table: dict[str, set[str]] = {}
    words = word_list()
    for key, entry in words["nouns"].items():
        plural = entry.get("english_plural")
        table.setdefault(key, set()).update({key, plural} if plural else {key, *s_forms(key)})
    for key in words["adjectives"]:
        table.setdefault(key, set()).add(key)
    for key, entry in words["verbs"].items():
        base = entry.get("en", key).split()[0]
        third = entry.get("third")
        table.setdefault(base, set()).update({base, entry["past"], *([third] if third else s_forms(base))})
    return table


def s_forms(word: str) -> set[str]:
    """All regular ways to add an s; those that are no English words do no harm here."""
    return {word + "s", word + "es", re.sub("y$", "ies", word)}


def sentences_with(pairs, forms, combination) -> list[str]:
    """English sentences in which both words of a combination stand, in any form."""
    one, other = (forms[word] for word in combination)
    found = []
    for english, _ in pairs:
        words = {token.lower() for token in parallel.tokenize(english)}
        if words & one and words & other:
            found.append(english)
    return found


def index_words(pairs) -> dict[str, set[int]]:
    """For each English word, the pairs it stands in."""
    table: dict[str, set[int]] = {}
    for number, (english, _) in enumerate(pairs):
        for token in parallel.tokenize(english):
            table.setdefault(token.lower(), set()).add(number)
    return table


def together(index, forms, one, other) -> set[int]:
    """The pairs in which two words stand, in any form."""
    first, second = (set().union(*(index.get(form, set()) for form in forms[word])) for word in (one, other))
    return first & second


def test_every_english_sentence_has_one_translation_and_one_split(pairs):
    seen = Counter(english for english, _ in pairs)
    assert max(seen.values()) == 1 and len(seen) >= 30_000


def test_sentences_have_three_to_sixteen_tokens_and_end_with_a_mark(pairs):
    for english, german in pairs:
        for text in (english, german):
            assert 3 <= len(parallel.tokenize(text)) <= 16
            assert re.fullmatch(r"[A-ZÄÖÜ].*[.?]", text)
        assert english[-1] == german[-1]


def test_all_german_of_the_test_splits_is_grammatical(splits):
    for name in ("valid", "test_sentences", "test_combinations", "test_coreference"):
        for _, german in splits[name]:
            check_sentence(german)


def test_german_of_the_training_split_is_grammatical_wherever_one_looks(splits):
    for _, german in random.Random(5).sample(splits["train"], 6000):
        check_sentence(german)


#: Each breaks one rule.
WRONG = [
    "Der Frau liest das Buch.",  # gender of the article
    "Die Frau liest der Brief.",  # case of the object
    "Die Frau hat einen alter Hut gekauft.",  # adjective ending, mixed
    "Der Mann isst frische Brot.",  # strong
    "Der Mann hilft den Hund.",  # helfen takes the dative
    "Ich sehe den Student.",  # weak masculine
    "Wir spielen mit den Hunde.",  # dative plural
    "Gestern der Mann hat ein Buch gekauft.",  # verb third
    "Der Mann hat gekauft ein Buch.",  # participle not last
    "Er sagt, dass die Frau kauft ein Buch.",  # finite verb not last
    "Er sagt, dass die Frau hat ein Buch gekauft.",
    "Die Frau aufmacht die Tür.",  # particle not apart
    "Wenn es regnet, ich schlafe.",  # verb not right after the clause
    "Die Frau ist ein Buch gekauft.",  # wrong auxiliary
    "Die Frauen liest das Buch.",  # number
    "Du liest nicht das Buch.",  # nicht before a definite object
    "Die Katze ist auf dem Dach gesprungen.",  # goal in the dative
    "Ich schlafe in den Garten.",  # place in the accusative
    "Hat der Mann gelesen das Buch?",
]


def test_the_checker_notices_a_mistake():
    for wrong in WRONG:
        with pytest.raises(Ungrammatical):
            check_sentence(wrong)


def test_kein_and_nicht_stand_for_english_negation(pairs):
    for english, german in pairs:
        negations = len(re.findall(r"\b(?:not|cannot|no)\b", english))
        words = parallel.tokenize(german)
        kein = [word for word in words if word.startswith("kein") and word[4:] in ("", "e", "en", "em", "er")]
        assert negations == len(kein) + words.count("nicht"), (english, german)
        for clause in re.split(r", | und ", german):
            if "nicht" in clause:
                # A last "ein" is the particle of einladen or einschalten.
                assert not re.search(r"\b(?:ein|eine|einen)\b(?!\W?$)", clause), german


def test_english_articles_and_verbs_agree(pairs):
    for english, _ in pairs:
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]", english), english
        assert not re.search(AFTER_START + r"(?:he|she|it) (?:are|were|have|do|am|want)\b", english, re.I), (
            english
        )
        assert not re.search(AFTER_START + r"(?:we|they|you|I) (?:is|has|does|wants)\b", english, re.I), (
            english
        )
        assert not re.search(
            r"\b(?:do|does|did|can|could|must|will|should|may)(?: not)? \w+(?:ed|ought)\b(?! )", english
        )
        assert not re.search(
            r"\b(?:two|three|four|five|many|these) (?:\w+ )?(?:man|woman|child|book|dog|cat)\b", english
        )


def test_the_lectures_sentences_are_in_the_corpus(splits):
    train, coreference = dict(splits["train"]), dict(splits["test_coreference"])
    for english, german in LECTURES.items():
        assert train[english] == german
    assert coreference[TIRED] == "Das Tier hat die Straße nicht überquert, weil es zu müde war."
    assert coreference[WIDE] == "Das Tier hat die Straße nicht überquert, weil sie zu breit war."


def test_held_out_combinations_stand_in_no_sentence_outside_their_test(splits, forms):
    seen = splits["train"] + splits["valid"] + splits["test_sentences"]
    index = index_words(seen)
    held_out = [tuple(pair) for name, found in HELD_OUT.items() if name != "seed" for pair in found]
    assert len(held_out) > 150
    for one, other in held_out:
        assert not together(index, forms, one, other), (one, other)


def test_the_words_of_held_out_combinations_are_all_well_known_apart(splits, forms):
    index = index_words(splits["train"])
    for name in ("adjective_noun", "verb_object", "coreference_nouns", "coreference_noun_adjective"):
        for pair in HELD_OUT[name]:
            for word in pair:
                assert len(set().union(*(index.get(form, set()) for form in forms[word]))) >= 80, word


def test_every_word_of_the_tests_is_in_the_training_split(splits):
    for side in (0, 1):
        known = {token for pair in splits["train"] for token in parallel.tokenize(pair[side])}
        for name in parallel.SPLITS[1:]:
            asked = {token for pair in splits[name] for token in parallel.tokenize(pair[side])}
            assert asked <= known, (name, sorted(asked - known))


def test_every_sentence_of_the_combination_test_holds_a_held_out_combination(splits, forms):
    index = index_words(splits["test_combinations"])
    covered: set[int] = set()
    for name in ("adjective_noun", "verb_object"):
        for one, other in HELD_OUT[name]:
            covered |= together(index, forms, one, other)
    assert len(covered) == len(splits["test_combinations"])


def test_every_coreference_sentence_has_a_twin_with_the_other_reading(splits):
    twins: dict[str, set[str]] = {}
    for english, german in splits["test_coreference"]:
        frame = re.sub(r"\w+\.$", "", english)
        pronoun = re.search(r"(?:weil|obwohl) (er|sie|es) ", german)
        assert pronoun, german
        twins.setdefault(frame, set()).add(pronoun.group(1))
    assert all(len(readings) == 2 for readings in twins.values())


def test_neither_gender_nor_position_gives_the_pronoun_away(splits):
    words = word_list()["nouns"]
    genders = {entry["de"]: entry["gender"] for entry in words.values()}
    pronouns = {"er": "m", "sie": "f", "es": "n"}
    about_subject = Counter()
    chosen = Counter()
    for _, german in splits["test_coreference"]:
        main, why = german.split(", ")
        subject, thing = [genders[word] for word in main.split() if word in genders]
        gender = pronouns[why.split()[1]]
        assert subject != thing and gender in (subject, thing)
        about_subject[gender == subject] += 1
        chosen[gender] += 1
    assert about_subject[True] == about_subject[False]
    assert min(chosen.values()) >= 0.2 * sum(chosen.values())


def test_training_shows_the_same_two_nouns_in_both_readings(splits):
    readings: dict[tuple[str, str], Counter] = {}
    # A person is "he" or "she" in English, and no rival for "it".
    things = [entry for entry in word_list()["nouns"].values() if "person" not in entry["tags"]]
    genders = {entry["de"]: entry["gender"] for entry in things}
    pronouns = {"er": "m", "sie": "f", "es": "n"}
    for english, german in splits["train"]:
        found = re.search(r", (?:weil|obwohl) (er|sie|es) (?:zu|sehr) \w+ (?:war|ist)\.$", german)
        nouns = tuple(word for word in german.split(",")[0].split() if word in genders)
        if found and " it " in english and len(nouns) == 2 and genders[nouns[0]] != genders[nouns[1]]:
            gender = pronouns[found.group(1)]
            readings.setdefault(nouns, Counter())[gender == genders[nouns[0]]] += 1
    often = [seen for seen in readings.values() if sum(seen.values()) >= 10]
    assert len(often) >= 100 and all(len(seen) == 2 for seen in often)
    total = sum(often, Counter())
    assert 0.4 < total[True] / sum(total.values()) < 0.6


def test_the_generator_writes_the_shipped_files_again():
    command = [sys.executable, str(ROOT / "data" / "make_parallel.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
