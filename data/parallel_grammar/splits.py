"""Chooses what is held out, draws the five splits, and keeps them apart."""

import random
from collections import Counter
from dataclasses import dataclass

from parallel_grammar import constructions, coreference
from parallel_grammar.coreference import Combination
from parallel_grammar.lexicon import adjectives_for, frames, nouns, nouns_for, verbs
from parallel_grammar.relations import Relation, lemma, relations, words_in
from parallel_grammar.syntax import Sentence
from parallel_grammar.text import pair

SEED = 20251
SIZES = {
    "train": 44000,
    "valid": 1000,
    "test_sentences": 2000,
    "test_combinations": 2000,
    "test_coreference": 1000,
}
COREFERENCE_SHARE = 0.20
PERSON_OR_THING_SHARE = 0.05
MOST_WORDS = 16
# A test asks for no word form that training shows less often than this.
FEWEST_SIGHTINGS = 8

HELD_OUT_SHARE = 0.09
HELD_OUT_PAIRS_SHARE = 0.15
HELD_OUT_COREFERENCE_ADJECTIVES = 14
# The lectures' own sentence is asked for, not taught.
LECTURE_PAIR = ("animal", "street")

Pair = tuple[str, str]


@dataclass(frozen=True)
class HeldOut:
    """The combinations that training never sees, not even as two words in one sentence.

    ``relations`` are adjective-noun and verb-object, ``pairs`` two nouns that *it* could stand for,
    ``antecedents`` a noun and the adjective that would pick it.
    """

    relations: frozenset[Relation]
    pairs: frozenset[tuple[str, str]]
    antecedents: frozenset[tuple[str, str]]

    def touches(self, english: str) -> bool:
        """Whether two words of any held-out combination stand in the sentence."""
        words = words_in(english)
        return any(first in words and second in words for first, second in self.word_pairs())

    def word_pairs(self) -> set[tuple[str, str]]:
        """Every held-out combination as two words."""
        return {(first, second) for _, first, second in self.relations} | self.pairs | self.antecedents


def _possible() -> list[Relation]:
    found: set[Relation] = set()
    for noun in nouns():
        found |= {("adjective_noun", word.key, noun) for word in adjectives_for(noun)}
    for verb in verbs().values():
        # Only having seen "put the hat" tells that hats are put with legen, so none of it is held out.
        chosen_by_object = verb.en == "put"
        objects = () if chosen_by_object or not verb.object else nouns_for(verb.object, verb.excluded)
        found |= {("verb_object", lemma(verb), noun.key) for noun in objects}
    return sorted(found)


def _protected() -> set[tuple[str, str]]:
    """Word pairs that other promises need in training: the frames of *it* and the lectures' sentences."""
    kept: set[tuple[str, str]] = set()
    for item in coreference.combinations():
        action = lemma(verbs()[frames()["coreference"][item.frame]["verb"]])
        kept |= {(word, noun) for word in (item.adjective, action) for noun in (item.subject, item.object)}
    for frame in frames()["person_or_thing"]:
        for thing, words in frame["adjectives"].items():
            kept |= {(word, thing) for word in (*words, lemma(verbs()[frame["verb"]]))}
    for entry in frames()["lecture"]:
        words = words_in(entry["en"])
        kept |= {(one, other) for one in words for other in words}
    return kept


def choose_held_out(rng: random.Random) -> HeldOut:
    """Draws held-out combinations such that each word keeps at least three quarters of its own."""
    possible = _possible()
    total: dict[tuple[str, str], int] = {}
    for kind, first, second in possible:
        for word in (first, second):
            total[kind, word] = total.get((kind, word), 0) + 1
    taken: dict[tuple[str, str], int] = {}
    protected = _protected()
    chosen: set[Relation] = set()
    candidates = [entry for entry in possible if (entry[1], entry[2]) not in protected]
    rng.shuffle(candidates)
    for kind, first, second in candidates:
        if len(chosen) >= HELD_OUT_SHARE * len(possible):
            break
        if all((taken.get((kind, word), 0) + 1) * 4 <= total[kind, word] for word in (first, second)):
            chosen.add((kind, first, second))
            for word in (first, second):
                taken[kind, word] = taken.get((kind, word), 0) + 1
    pairs, antecedents = _choose_coreference(rng)
    return HeldOut(frozenset(chosen), pairs, antecedents)


def _choose_coreference(rng: random.Random) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
    """Noun pairs (one in seven of a frame) and noun-adjective picks that only the test shows."""
    everything = coreference.combinations()
    pairs = {LECTURE_PAIR}
    for number in range(len(frames()["coreference"])):
        possible = sorted({(item.subject, item.object) for item in everything if item.frame == number})
        pairs |= set(rng.sample(possible, round(HELD_OUT_PAIRS_SHARE * len(possible))))
    return frozenset(pairs), _choose_antecedents(rng, everything)


def _choose_antecedents(rng: random.Random, everything: list[Combination]) -> frozenset[tuple[str, str]]:
    """Nouns, one adjective each, that *it* never stands for together in training."""
    fixed = {word for entry in frames()["lecture"] for word in words_in(entry["en"])}
    picks = sorted({(item.antecedent, item.adjective) for item in everything})
    rng.shuffle(picks)
    chosen: dict[str, str] = {}
    for noun, adjective in picks:
        if noun in chosen or noun in fixed or len(chosen) == HELD_OUT_COREFERENCE_ADJECTIVES:
            continue
        others = {pick[0] for pick in picks if pick[1] == adjective and pick[0] != noun}
        if len(others) >= 4 and _teaches_both_readings(everything, {**chosen, noun: adjective}):
            chosen[noun] = adjective
    return frozenset(chosen.items())


def _teaches_both_readings(everything: list[Combination], chosen: dict[str, str]) -> bool:
    """Whether each two nouns keep both readings when no noun stands in a sentence with its held-out adjective."""
    wanted = {(item.frame, item.subject, item.object, item.about_subject) for item in everything}
    left = {
        (item.frame, item.subject, item.object, item.about_subject)
        for item in everything
        if item.adjective not in (chosen.get(item.subject), chosen.get(item.object))
    }
    return wanted == left


def tokens(text: str) -> list[str]:
    """The words of a sentence, all in small letters."""
    return text.lower().rstrip(".?").replace(",", "").split()


def fits(english: str, german: str) -> bool:
    """Whether both sides have 3 to 16 tokens."""
    sizes = [len(text.replace(",", " ,").split()) + 1 for text in (english, german)]
    return min(sizes) >= 3 and max(sizes) <= MOST_WORDS


class Corpus:
    """Collects pairs into splits; an English sentence is in one split and has one translation."""

    def __init__(self) -> None:
        self.splits: dict[str, list[Pair]] = {name: [] for name in SIZES}
        self.german: dict[str, str] = {}
        self.seen: Counter[str] | None = None

    def count_words(self) -> None:
        """From here on, a pair with a word form that training hardly shows is refused."""
        self.seen = Counter(word for pair in self.splits["train"] for text in pair for word in tokens(text))

    def add(self, split: str, english: str, german: str) -> bool:
        """Adds a pair that is new; False if it is known or too long."""
        if english in self.german:
            if self.german[english] != german:
                raise ValueError(f"Two translations: {english} | {german} | {self.german[english]}")
            return False
        if not fits(english, german):
            return False
        if self.seen is not None and any(
            self.seen[word] < FEWEST_SIGHTINGS for word in tokens(english) + tokens(german)
        ):
            return False
        self.german[english] = german
        self.splits[split].append((english, german))
        return True


def _readings(held_out: HeldOut) -> list[tuple[Combination, Combination]]:
    """Twins of the coreference test: one about the subject, one about the object, the rest alike."""
    everything = coreference.combinations()
    twins = []
    for one in everything:
        for other in everything:
            same = (one.frame, one.subject, one.object) == (other.frame, other.subject, other.object)
            if not same or not one.about_subject or other.about_subject:
                continue
            if (one.subject, one.object) in held_out.pairs or any(
                (item.antecedent, item.adjective) in held_out.antecedents for item in (one, other)
            ):
                twins.append((one, other))
    return twins


def _test_coreference(rng: random.Random, corpus: Corpus, held_out: HeldOut) -> None:
    twins = _readings(held_out)
    for entry in frames()["lecture"][-2:]:
        corpus.add("test_coreference", entry["en"], entry["de"])
    while len(corpus.splits["test_coreference"]) < SIZES["test_coreference"]:
        one, other = rng.choice(twins)
        setting = coreference.draw_setting(rng, frames()["coreference"][one.frame]["verb"])
        both = [pair(coreference.sentence(item, setting)) for item in (one, other)]
        # A reading shared with an earlier twin would leave this one without its partner.
        if not any(english in corpus.german for english, _ in both):
            for english, german in both:
                corpus.add("test_coreference", english, german)


def _test_combinations(rng: random.Random, corpus: Corpus, held_out: HeldOut) -> None:
    rest = {*held_out.pairs, *held_out.antecedents}
    while len(corpus.splits["test_combinations"]) < SIZES["test_combinations"]:
        sentence = constructions.draw(rng)
        english, german = pair(sentence)
        words = words_in(english)
        # "What did he eat?" combines eat with a noun that it does not name.
        shown = {entry for entry in relations(sentence) if entry[1] in words and entry[2] in words}
        elsewhere = any(first in words and second in words for first, second in rest)
        if shown & held_out.relations and not elsewhere:
            corpus.add("test_combinations", english, german)


def _draw(rng: random.Random, combinations: list[Combination]) -> Sentence:
    chance = rng.random()
    if chance < COREFERENCE_SHARE:
        item = rng.choice(combinations)
        return coreference.sentence(
            item, coreference.draw_setting(rng, frames()["coreference"][item.frame]["verb"])
        )
    if chance < COREFERENCE_SHARE + PERSON_OR_THING_SHARE:
        return coreference.person_or_thing(rng)
    return constructions.draw(rng)


def build() -> tuple[dict[str, list[Pair]], HeldOut]:
    """The five splits and what is held out; the same on every call."""
    rng = random.Random(SEED)
    held_out = choose_held_out(rng)
    corpus = Corpus()
    for entry in frames()["lecture"][:-2]:
        corpus.add("train", entry["en"], entry["de"])
    # A frame's share does not depend on how many nouns it has, nor a reading's on how many adjectives.
    groups = [
        [item for item in coreference.combinations() if (item.frame, item.about_subject) == (number, reading)]
        for number in range(len(frames()["coreference"]))
        for reading in (True, False)
    ]
    for split in ("train", "valid", "test_sentences"):
        while len(corpus.splits[split]) < SIZES[split]:
            english, german = pair(_draw(rng, rng.choice(groups)))
            if not held_out.touches(english):
                corpus.add(split, english, german)
        if split == "train":
            rng.shuffle(corpus.splits[split])
            corpus.count_words()
    _test_combinations(rng, corpus, held_out)
    _test_coreference(rng, corpus, held_out)
    return corpus.splits, held_out
