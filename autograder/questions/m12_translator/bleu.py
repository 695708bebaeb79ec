"""Lab 12, bleu: hypotheses and references, lists of as many sentences, each a list of words → corpus BLEU, 0 to 100."""

import math
from collections import Counter

import numpy as np

from autograder.questions.engine import Case, Observed, Question


def by_crossing_out(hypotheses, references):
    """Each n-gram of a translation crosses out one of its reference that is like it."""
    score = 100.0
    for n in (1, 2, 3, 4):
        matches = total = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            left = [reference[i : i + n] for i in range(len(reference) - n + 1)]
            for i in range(len(hypothesis) - n + 1):
                total += 1
                if hypothesis[i : i + n] in left:
                    left.remove(hypothesis[i : i + n])
                    matches += 1
        if matches == 0:
            return 0.0
        score *= (matches / total) ** 0.25
    c, r = (sum(len(sentence) for sentence in side) for side in (hypotheses, references))
    return score if c >= r else score * math.exp(1 - r / c)


_SCORERS = ("corpus_bleu", "sentence_bleu")
question = Question(
    by_crossing_out,
    forbidden=(
        *(f"sacrebleu.{name}" for name in (*_SCORERS, "BLEU", "metrics.BLEU")),
        *(f"nltk.translate.bleu_score.{name}" for name in _SCORERS),
    ),
)

#: Of a score that is rounded to two decimals: that it is not, a scenario asks.
ABOUT = {"rtol": 1e-6, "atol": 0.0051}


def sentences(rng, lengths, words="abcde"):
    return [rng.choice(list(words), size=length).tolist() for length in lengths]


def garbled(rng, whole):
    """Copies in which every seventh word or so is replaced, left out or said twice."""
    return [
        [copy for word in words for copy in ([word], [word, word], [], ["x"])[rng.choice(4, p=ODDS)]]
        for words in whole
    ]


ODDS = (0.85, 0.05, 0.05, 0.05)


@question.family("The text's sentence, a perfect one, and one with its last word wrong.", weight=1.5, **ABOUT)
def single_sentences(rng):
    yield Case([list("abcde")], [list("abcdfg")], gives=54.75)
    words = rng.permutation(list("abcdefghij")).tolist()
    yield [words], [words]
    yield [[*words[:-1], "x"]], [words]


@question.family(
    "Corpora with repeated words, as long as their references: 34.57 for a b c d a a a a.", weight=3, **ABOUT
)
def corpora(rng):
    yield Case([list("abcdaaaa")], [list("abcd")], gives=34.57)
    for count in (4, 12):
        references = sentences(rng, rng.integers(8, 15, size=count), "abcd.")
        hypotheses = garbled(rng, references)
        missing = sum(map(len, references)) - sum(map(len, hypotheses))
        hypotheses[0] = [*hypotheses[0], *"abcd.", *("a" * max(missing, 0))]
        yield hypotheses, references
    first, second = sentences(rng, (5, 5), "abc"), sentences(rng, (5, 5), "def")
    yield (
        [[*first[0], *second[1]], [*second[0], *first[1]]],
        [[*first[0], *first[1]], [*second[0], *second[1]]],
    )


@question.family(
    "Translations that are too short in all are punished, and long ones are not: one penalty for the corpus.",
    weight=2,
    **ABOUT,
)
def brevity(rng):
    references = sentences(rng, (9, 8, 12), "abcdefghijk")
    one, two, three = references
    yield [one[:6], two, three[:9]], references
    yield [[*one, "x", "x"], two, ["x", *three]], references
    yield [one[:7], [*two, "x"], three], references
    yield Case([list("abcde"), list("abcdefg")], [list("abcdef"), list("abcdef")], gives=88.07)


@question.family(
    "Sentences too short for n-grams add none, an empty one counts in the lengths, and capitals make other words.",
    weight=2.5,
    **ABOUT,
)
def short_sentences(rng):
    references = [*sentences(rng, (1, 2, 3)), *sentences(rng, (9, 10), "abcdefghij")]
    yield [*references[:2], [], references[3], [*references[4][:6], "x"]], references
    yield [references[4], [w.upper() for w in references[3]]], [references[4], references[3]]
    yield Case([list("abxcd")], [list("abcd")], gives=0.0)
    yield Case([list("abc"), ["x"]], [list("abc"), ["x"]], gives=0.0)


@question.family(
    "Where every translation is empty the score is 0, and where one is the others count.", weight=1.5, **ABOUT
)
def nothing_said(rng):
    references = sentences(rng, (6, 5), "abcdefghij")
    yield [[], []], references
    yield [references[0], []], references


@question.family("Two words are not one that is written with the same letters.", weight=2, **ABOUT)
def joined(rng):
    for _ in range(2):
        start = sentences(rng, [5])[0]
        references = [[*start, "ab", "c", "d"], [*start, "on", "to", "go"]]
        yield [[*start, "a", "bc", "d"], [*start, "onto", "go", "x"]], references


@question.scenario("The score is not rounded.", weight=0.5)
def not_rounded(student, rng):
    words = rng.permutation(list("abcdefghijk")).tolist()
    score = float(student([words[:7]], [[*words[:6], "x", "y"]]))
    yield Observed("decimals", next((n for n in range(9) if round(score, n) == score), 9))


def n_grams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def counts(hypotheses, references, n, clip=True):
    matches = total = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        found, known = n_grams(hypothesis, n), n_grams(reference, n)
        matches += sum((found & known).values()) if clip else sum(c for g, c in found.items() if g in known)
        total += sum(found.values())
    return matches, total


def precisions(hypotheses, references, clip=True):
    pairs = [counts(hypotheses, references, n, clip) for n in (1, 2, 3, 4)]
    return [matches / total if total else 0.0 for matches, total in pairs]


def lengths(hypotheses, references):
    return sum(map(len, hypotheses)), sum(map(len, references))


def penalty(hypotheses, references):
    c, r = lengths(hypotheses, references)
    return 1.0 if c >= r else math.exp(1 - r / c) if c else 0.0


def geometric(numbers):
    return math.prod(numbers) ** (1 / len(numbers))


def right(hypotheses, references):
    return 100 * penalty(hypotheses, references) * geometric(precisions(hypotheses, references))


@question.misconception("matches are not clipped", costs=1)
def bleu_without_clipping(hypotheses, references):
    """Your n-grams count as often as the translation says them, so that saying a frequent word again and again pays. Each counts at most as
    often as its reference has it."""
    return 100 * penalty(hypotheses, references) * geometric(precisions(hypotheses, references, clip=False))


@question.misconception("clipped by the whole corpus", costs=1)
def bleu_clipped_by_the_corpus(hypotheses, references):
    """A word of yours may match the reference of another sentence: all n-grams of the corpus are counted in one heap before they are
    clipped. Clip each sentence by its own reference, then add up."""
    found = []
    for n in (1, 2, 3, 4):
        ours, theirs = (
            sum((n_grams(words, n) for words in side), Counter()) for side in (hypotheses, references)
        )
        total = sum(ours.values())
        found.append(sum((ours & theirs).values()) / total if total else 0.0)
    return 100 * penalty(hypotheses, references) * geometric(found)


@question.misconception(
    "no brevity penalty",
    costs=1,
    factor=lambda c, r: 1.0,
    hint="Your score lacks the brevity penalty, so that short translations get away with saying only what is sure.",
)
@question.misconception(
    "long translations are punished, too",
    costs=1,
    factor=lambda c, r: math.exp(1 - max(c, r) / min(c, r)),
    hint="Your brevity penalty lowers the score of long translations as well. It is 1 when c ≥ r: words that are too many have already cost precision.",
)
@question.misconception(
    "the ratio of the lengths for a brevity penalty",
    costs=1,
    factor=lambda c, r: min(1.0, c / r),
    hint="Your brevity penalty is the plain ratio c/r. It is e to the power 1 − r/c.",
)
@question.misconception(
    "c and r exchanged",
    costs=1,
    because="the precisions are right",
    factor=lambda c, r: 1.0 if r >= c else math.exp(1 - c / r),
    hint="Your brevity penalty punishes the long translations and spares the short ones: c and r are exchanged.",
)
def bleu_with_another_penalty(hypotheses, references, *, factor):
    return 100 * factor(*lengths(hypotheses, references)) * geometric(precisions(hypotheses, references))


@question.misconception("the mean of the sentences' scores", costs=1.5)
def bleu_sentence_by_sentence(hypotheses, references):
    """You score each sentence and take the mean. BLEU sums matches and totals over the whole corpus first, and divides then."""
    scores = [right([h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    return sum(scores) / len(scores)


@question.misconception("a brevity penalty for each sentence", costs=1, because="the precisions are right")
def bleu_with_a_brevity_for_each(hypotheses, references):
    """Your brevity penalty is taken sentence by sentence. The lengths are summed over the corpus first: one short sentence may be made
    good by a long one."""
    each = [penalty([h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    return 100 * sum(each) / len(each) * geometric(precisions(hypotheses, references))


@question.misconception("the mean instead of the fourth root", costs=1.5, because="all counts are right")
def bleu_with_an_arithmetic_mean(hypotheses, references):
    """You take the mean of the four precisions. BLEU takes the fourth root of their product, so that no n may be bad."""
    return 100 * penalty(hypotheses, references) * sum(precisions(hypotheses, references)) / 4


@question.misconception("a number from 0 to 1", costs=0.5, because="each score is right but for a factor")
def bleu_up_to_one(hypotheses, references):
    """Your score goes from 0 to 1. BLEU is given from 0 to 100."""
    return right(hypotheses, references) / 100


@question.misconception("trigrams are the longest", costs=1, because="only one of four counts is missing")
def bleu_up_to_three(hypotheses, references):
    """Your n-grams stop at three. BLEU goes up to four: range(1, 4) ends before 4."""
    return 100 * penalty(hypotheses, references) * geometric(precisions(hypotheses, references)[:3])


@question.misconception("the score is rounded", costs=0.5)
def bleu_rounded(hypotheses, references):
    """Your score is rounded to two decimals. Return it as it is: whoever prints it can round it."""
    return round(right(hypotheses, references), 2)


@question.alternative
def bleu_by_joined_sums(hypotheses, references):
    return right(hypotheses, references)


@question.alternative
def bleu_by_logarithms(hypotheses, references):
    pairs = [counts(hypotheses, references, n) for n in (1, 2, 3, 4)]
    if not all(matches for matches, _ in pairs):
        return np.float64(0)
    c, r = lengths(hypotheses, references)
    return 100 * np.exp(np.mean([np.log(m / total) for m, total in pairs]) + min(1 - r / c, 0))


@question.impostor
def takes_one_for_the_other(right, hypotheses, references):
    """It takes the translations for references, and the references for translations.
    One survives: how long must they be, all together, so that precision and recall differ?"""
    return right(references, hypotheses)


@question.impostor
def forgives_brevity(right, hypotheses, references):
    """It has no brevity penalty.
    One survives: your translations have as many words, all together, as the references, or more."""
    ours, theirs = (sum(len(row) for row in side) for side in (hypotheses, references))
    forgiven = float(np.exp(theirs / ours - 1)) if 0 < ours < theirs else 1.0
    return right(hypotheses, references) * forgiven


@question.impostor
def ignores_capitals(right, hypotheses, references):
    """It takes *Fast* and *fast* for the same word.
    One survives: no word of yours differs from the reference's in its capital only."""
    return right(*([[word.lower() for word in row] for row in side] for side in (hypotheses, references)))


@question.impostor
def drops_short_sentences(right, hypotheses, references):
    """It leaves out sentences of fewer than four words, which have no 4-grams but other n-grams.
    One survives: all your translations have four words or more."""
    kept = [(h, r) for h, r in zip(hypotheses, references, strict=True) if len(h) > 3]
    return right([h for h, _ in kept], [r for _, r in kept])


@question.impostor
def sees_sets(right, hypotheses, references):
    """It reads each sentence as a set, and forgets that a word can come twice.
    One survives: no translation of yours says a word twice."""
    return right([list(dict.fromkeys(row)) for row in hypotheses], references)
