"""Lab 13, ``masked_lm_batch``: wrong answers that students give, with their hints, and right ones in other styles."""

from __future__ import annotations

import numpy as np
import torch

from autograder.testing import alternative, misconception


def _batch(ids, V, rng, rate, blank=0.8, swapped=0.1, lowest=2, choosable=None, words=None):
    chosen = (rng.random(ids.shape) < rate) & (ids != 0 if choosable is None else choosable)
    fate = rng.random(ids.shape)
    words = rng.integers(lowest, V, ids.shape) if words is None else words
    inputs = np.where(chosen & (fate < blank), 1, ids)
    inputs = np.where(chosen & (fate >= blank) & (fate < blank + swapped), words, inputs)
    return inputs, np.where(chosen, ids, -100)


@misconception("masked_lm_batch", title="every chosen word becomes a blank")
def only_blanks(ids, V, rng, rate=0.15):
    """All your chosen words become [MASK]. Only 80 % should: a tenth become random words and a tenth stay, so that the
    model works at words, too, and not only at blanks."""
    return _batch(ids, V, rng, rate, blank=1.0)


@misconception("masked_lm_batch", title="every word is a target")
def targets_everywhere(ids, V, rng, rate=0.15):
    """You ask for every word. A word that is in plain view teaches nothing but copying: the target is −100 wherever a position was
    not chosen."""
    return _batch(ids, V, rng, rate)[0], ids.copy()


@misconception("masked_lm_batch", title="padding is chosen as well")
def padding_too(ids, V, rng, rate=0.15):
    """Padding is among your chosen positions. It is no word, so it must neither be asked for nor changed."""
    return _batch(ids, V, rng, rate, choosable=True)


@misconception("masked_lm_batch", title="the targets are what the inputs became")
def targets_after_masking(ids, V, rng, rate=0.15):
    """Your targets were read after the words had been hidden, so the model is asked for [MASK]. The target is the word that stood there
    before."""
    inputs, targets = _batch(ids, V, rng, rate)
    return inputs, np.where(targets == -100, -100, inputs)


@misconception(
    "masked_lm_batch",
    title="the same number of blanks in each row",
    keeps="every blank is right; only how many there are is not left to chance",
)
def a_fixed_number(ids, V, rng, rate=0.15):
    """Each of your rows has the same number of chosen words. They should be chosen independently of each other, so the number varies, and
    now and then it is zero."""
    ranks = np.where(ids != 0, rng.random(ids.shape), 2).argsort(axis=1).argsort(axis=1)
    chosen = (ranks < np.rint(rate * (ids != 0).sum(axis=1, keepdims=True))) & (ids != 0)
    return _batch(ids, V, rng, 2.0, choosable=chosen)


@misconception(
    "masked_lm_batch",
    title="exactly 80 percent of the chosen words",
    keeps="every share is right; only chance is missing",
)
def exactly_eighty(ids, V, rng, rate=0.15):
    """Of your chosen words always the same share becomes [MASK]: they are shuffled and dealt out. What becomes of a word should be left to chance for each word by itself."""
    chosen = (rng.random(ids.shape) < rate) & (ids != 0)
    places = rng.permutation(np.argwhere(chosen))
    blank, swapped = round(0.8 * len(places)), round(0.9 * len(places))
    inputs = ids.copy()
    inputs[tuple(places[:blank].T)] = 1
    inputs[tuple(places[blank:swapped].T)] = rng.integers(2, V, swapped - blank)
    return inputs, np.where(chosen, ids, -100)


@misconception("masked_lm_batch", title="one fate for a whole row")
def one_fate_a_row(ids, V, rng, rate=0.15):
    """In each of your rows all chosen words share one fate: all blanks, or all random words, or all as they were. Draw a number for each word: rng.random(ids.shape)."""
    chosen = (rng.random(ids.shape) < rate) & (ids != 0)
    fate, words = rng.random((len(ids), 1)), rng.integers(2, V, ids.shape)
    inputs = np.where(chosen & (fate < 0.8), 1, ids)
    return np.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs), np.where(chosen, ids, -100)


@misconception("masked_lm_batch", title="random words may be padding or a blank")
def words_from_zero(ids, V, rng, rate=0.15):
    """Your random words are drawn from 0 on, but 0 is padding and 1 is the blank. Words begin at 2."""
    return _batch(ids, V, rng, rate, lowest=0)


@misconception(
    "masked_lm_batch",
    title="a generator of its own",
    keeps="the distribution is right; only the generator is not the one given",
)
def own_generator(ids, V, rng, rate=0.15):
    """Your batch does not depend on rng: you draw from another generator. Draw from the one that is passed, so that a run can be repeated."""
    return _batch(ids, V, np.random.default_rng(), rate)


@misconception(
    "masked_lm_batch",
    title="a part of chance from another generator",
    keeps="the distribution is right; only a part of chance is not from the generator given",
)
def second_draw_of_its_own(ids, V, rng, rate=0.15):
    """The positions are drawn from rng, but what becomes of them is not: np.random is another generator, with a state that nobody passed.
    Draw everything from rng, so that a run can be repeated."""
    chosen = (rng.random(ids.shape) < rate) & (ids != 0)
    inputs, _ = _batch(ids, V, np.random.default_rng(), 1.0)
    return np.where(chosen, inputs, ids), np.where(chosen, ids, -100)


@misconception(
    "masked_lm_batch", title="the rate is ignored", keeps="right at the usual rate; one argument is not used"
)
def rate_of_the_paper(ids, V, rng, rate=0.15):
    """You choose 15 % of the words whatever rate is asked for. The number 0.15 is the default only: compare with the argument."""
    return _batch(ids, V, rng, 0.15)


@misconception(
    "masked_lm_batch",
    title="the last word is never drawn",
    keeps="right but for one word that is never drawn",
)
def never_the_last_word(ids, V, rng, rate=0.15):
    """The word V − 1 is never among your random words: rng.integers(2, V) already stays below V."""
    return _batch(ids, V - 1, rng, rate)


@misconception("masked_lm_batch", title="a tenth of the rest", keeps="right but for one of three shares")
def a_tenth_of_the_rest(ids, V, rng, rate=0.15):
    """Only 2 % of your chosen words become random words, and 18 % stay: you take a tenth of the fifth that is left. Ten of a hundred chosen
    words is half of what is left; or decide with one number, below 0.8, below 0.9, or above."""
    return _batch(ids, V, rng, rate, swapped=0.02)


@misconception(
    "masked_lm_batch", title="ids is changed in place", keeps="the values are right; the argument is changed"
)
def in_place(ids, V, rng, rate=0.15):
    """Your function writes the blanks into ids itself. After a few epochs the text is full of holes: work on a copy."""
    inputs, targets = _batch(ids, V, rng, rate)
    ids[...] = inputs
    return ids, targets


@misconception(
    "masked_lm_batch",
    title="one draw decides twice",
    keeps="what is chosen is right; what becomes of it is not",
)
def one_draw_twice(ids, V, rng, rate=0.15):
    """One random number decides whether a word is chosen and what becomes of it, without being scaled: it is below the rate, so nearly
    always below 0.8, too. Draw another one for the second decision."""
    draw, words = rng.random(ids.shape), rng.integers(2, V, ids.shape)
    chosen = (draw < rate) & (ids != 0)
    inputs = np.where(chosen & (draw < 0.8), 1, np.where(chosen & (draw < 0.9), words, ids))
    return inputs, np.where(chosen, ids, -100)


@misconception(
    "masked_lm_batch",
    title="no row without a question",
    keeps="right but for the rows in which nothing would be chosen",
)
def a_question_in_each_row(ids, V, rng, rate=0.15):
    """You choose a word by force in each row that has none. The words are chosen independently of each other, so now and then nothing is asked in a row."""
    chosen = (rng.random(ids.shape) < rate) & (ids != 0)
    for row, there in zip(ids, chosen, strict=True):
        if not there.any() and row.any():
            there[rng.choice(np.flatnonzero(row))] = True
    return _batch(ids, V, rng, 2.0, choosable=chosen)


@misconception(
    "masked_lm_batch",
    title="no batch without a question",
    keeps="right but for the batches in which nothing would be chosen",
)
def a_question_in_each_batch(ids, V, rng, rate=0.15):
    """You draw again until something is chosen, so a batch never is without a question (and with rate 0, or padding alone, your loop never ends). The
    positions are chosen independently, so now and then none is."""
    chosen = (rng.random(ids.shape) < rate) & (ids != 0)
    while rate > 0 and ids.any() and not chosen.any():
        chosen = (rng.random(ids.shape) < rate) & (ids != 0)
    return _batch(ids, V, rng, 2.0, choosable=chosen)


@misconception(
    "masked_lm_batch",
    title="the same number of questions in each batch",
    keeps="every blank is right; only how many there are is not left to chance",
)
def a_fixed_number_a_batch(ids, V, rng, rate=0.15):
    """In each batch the rate times its words are chosen, never more nor fewer: you draw that many places. Each position is chosen by itself,
    so the number varies from batch to batch."""
    words = np.flatnonzero(ids)
    chosen = np.zeros(ids.shape, dtype=bool)
    chosen.flat[rng.choice(words, round(rate * len(words)), replace=False)] = True
    return _batch(ids, V, rng, 2.0, choosable=chosen)


@misconception(
    "masked_lm_batch", title="floats for integers", keeps="the values are right; only their kind is not"
)
def float_targets(ids, V, rng, rate=0.15):
    """Your targets are floats, though token numbers are integers: np.ones, np.zeros and np.empty make floats unless a dtype says otherwise. A float is no
    place in a list, nor a target of cross_entropy."""
    inputs, targets = _batch(ids, V, rng, rate)
    return inputs, targets.astype(float)


@misconception(
    "masked_lm_batch",
    title="a random word is never the old one",
    keeps="right but for one word among the random ones",
)
def never_the_old_word(ids, V, rng, rate=0.15):
    """Your random words are never what stood there before. They are drawn from all words alike, so now and then one is the old one (and a loop that waits
    for another word never ends where there is but one)."""
    words = 2 + (ids - 2 + rng.integers(1, V - 2, ids.shape)) % (V - 2)
    return _batch(ids, V, rng, rate, words=words)


@misconception(
    "masked_lm_batch",
    title="one random word for a whole row",
    keeps="every share is right; only the words of a row are the same",
)
def one_word_a_row(ids, V, rng, rate=0.15):
    """All random words of a row are one and the same word. Draw one for each position: rng.integers(2, V, ids.shape)."""
    return _batch(ids, V, rng, rate, words=rng.integers(2, V, (len(ids), 1)))


@misconception(
    "masked_lm_batch",
    title="a second draw puts words over blanks",
    keeps="what is chosen is right; two of three shares are not",
)
def two_separate_draws(ids, V, rng, rate=0.15):
    """You draw twice: 80 % become blanks, and then a tenth of all chosen words, blanks among them, become random words. That makes 72, 10 and 18 %. Let one
    number decide: below 0.8, below 0.9, or above."""
    chosen, words = (rng.random(ids.shape) < rate) & (ids != 0), rng.integers(2, V, ids.shape)
    inputs = np.where(chosen & (rng.random(ids.shape) < 0.8), 1, ids)
    return np.where(chosen & (rng.random(ids.shape) < 0.1), words, inputs), np.where(chosen, ids, -100)


@alternative("masked_lm_batch")
def batch_by_loops(ids, V, rng, rate=0.15):
    inputs, targets = [list(row) for row in ids.tolist()], [[-100] * len(row) for row in ids.tolist()]
    for b, row in enumerate(ids.tolist()):
        for t, word in enumerate(row):
            if word == 0 or rng.uniform() >= rate:
                continue
            targets[b][t] = word
            fate = rng.choice(3, p=[0.8, 0.1, 0.1])
            if fate == 0:
                inputs[b][t] = 1
            elif fate == 1:
                inputs[b][t] = int(rng.integers(V - 2)) + 2
    return inputs, targets


@alternative("masked_lm_batch")
def batch_from_one_draw_in_torch(ids, V, rng, rate=0.15):
    words = torch.tensor(ids)
    draw = torch.tensor(rng.random(ids.shape)) / rate  # below one where it is chosen, and uniform there
    draw[words == 0] = 2
    inputs = words.clone()
    inputs[draw < 0.8] = 1
    swapped = (draw >= 0.8) & (draw < 0.9)
    inputs[swapped] = torch.tensor(rng.integers(2, V, int(swapped.sum())))
    return inputs, words.masked_fill(draw >= 1, -100)
