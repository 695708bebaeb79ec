"""Lab 13, masked_lm_batch: ids (B, T), V, rng, rate → inputs (B, T) with blanks, targets (B, T) with −100 where nothing is asked."""

import numpy as np
import torch

from autograder.questions.engine import Observed, Question


def word_by_word(ids, V, rng, rate=0.15):
    inputs, targets = ids.copy(), np.full(ids.shape, -100)
    for place in np.argwhere(ids != 0):
        if rng.random() < rate:
            place = tuple(place)
            targets[place], fate = ids[place], rng.random()
            inputs[place] = 1 if fate < 0.8 else rng.integers(2, V) if fate < 0.9 else ids[place]
    return inputs, targets


question = Question(word_by_word)


def padded(rng, B, T, V):
    """Words 2 … V − 1, and padding behind a random length."""
    ids = rng.integers(2, V, size=(B, T))
    ids[np.arange(T) >= rng.integers(T // 2, T, size=B)[:, None]] = 0
    return ids


def batch(student, rng, ids, V, *rate):
    """Inputs and targets as arrays."""
    inputs, targets = student(ids.copy(), V, np.random.default_rng(int(rng.integers(2**62))), *rate)
    return np.asarray(inputs), np.asarray(targets)


def share(of):
    return float(np.mean(of)) if np.size(of) else -1.0


# Shares are compared with those of another draw: each may be off by nearly six standard errors of a difference.


@question.scenario(
    "Targets are the original words at the chosen places, else −100; other inputs stay.", weight=1.25
)
def targets(student, rng):
    ids = padded(rng, 100, 60, 31)
    inputs, targets = batch(student, rng, ids, 31, 0.3)
    asked = targets != -100
    yield Observed("targets are the original words", bool((targets[asked] == ids[asked]).all()))
    yield Observed("inputs stay where nothing is asked", bool((inputs[~asked] == ids[~asked]).all()))
    yield Observed("whole numbers", inputs.dtype.kind in "iu" and targets.dtype.kind in "iu")
    yield Observed("the share of words that is asked about", asked[ids != 0].mean(), atol=0.06)


IS_IT_CHANGED = """
import numpy as np

given = ids.copy()
given.setflags(write=False)
try:
    student_namespace[name](given, 12, np.random.default_rng(seed), 0.6)
    changed = not np.array_equal(given, ids)
except ValueError:  # an array that is read only refuses
    changed = True
"""


@question.scenario("Padding is never asked about and never changed, and ids stays as it was.")
def padding(student, rng):
    ids, seed = padded(rng, 100, 41, 12), int(rng.integers(2**62))
    inputs, targets = batch(student, rng, ids, 12, 0.6)
    yield Observed("padding is asked about", bool((targets[ids == 0] != -100).any()))
    yield Observed("padding is changed", bool((inputs[ids == 0] != 0).any()))
    yield Observed("words are asked about", bool((targets[ids != 0] != -100).any()))
    scene = student.scene(IS_IT_CHANGED, name=student.name, ids=ids, seed=seed)
    yield Observed("ids is changed", bool(scene["changed"]))


@question.scenario("Of the chosen words 80 % become blanks, 10 % random words, 10 % stay.", weight=1.25)
def eighty_ten_ten(student, rng):
    ids = rng.integers(2, 2000, size=(100, 150))
    for rate, margin in ((0.15, 0.07), (0.8, 0.03)):
        inputs, targets = batch(student, rng, ids, 2000, rate)
        asked = targets != -100
        yield Observed("the share that is asked about", asked.mean(), atol=0.03)
        yield Observed("the share of blanks", share(inputs[asked] == 1), atol=margin)
        yield Observed("the share that stays", share((inputs == ids)[asked]), atol=margin)


@question.scenario("Random words are drawn evenly from all words, each for itself.")
def random_words(student, rng):
    for V, margin in ((4, 0.03), (9, 0.0095)):
        inputs, targets = batch(student, rng, np.full((600, 20), 3), V, 0.9)
        shares = np.bincount(inputs[targets != -100], minlength=V) / (targets != -100).sum()
        yield Observed("padding, or no word", bool(shares[0] > 0 or len(shares) > V))
        yield Observed("the shares of 1 and 3", shares[[1, 3]], atol=0.03)
        yield Observed("the shares of other words", np.delete(shares, [0, 1, 3]), atol=margin)
    rows = [row[(row != 1) & (row != 3)] for row in inputs]
    yield Observed(
        "rows with one random word", share([len(set(row)) == 1 for row in rows if len(row) > 2]), atol=0.3
    )


MANY_TIMES = """
import numpy as np

rng = np.random.default_rng(seed)
batches = [student_namespace[name](ids.copy(), 400, rng, rate) for _ in range(times)]
"""


def many(student, rng, shape, rate, times):
    """The inputs and the targets of many small batches of the word 7, (times, …) each."""
    scene = student.scene(
        MANY_TIMES,
        name=student.name,
        ids=np.full(shape, 7),
        rate=rate,
        times=times,
        seed=int(rng.integers(2**62)),
    )
    inputs, targets = zip(*scene["batches"], strict=True)
    return np.array([np.asarray(one) for one in inputs]), np.array([np.asarray(one) for one in targets])


@question.scenario("Each word is chosen for itself: now and then none of a row, or of a batch, is.")
def chosen_for_itself(student, rng):
    _, targets = batch(student, rng, np.full((2000, 6), 5), 50)
    yield Observed("the share that is asked about", (targets != -100).mean(), atol=0.03)
    yield Observed("rows in which nothing is asked", (targets == -100).all(axis=1).mean(), atol=0.1)
    _, targets = many(student, rng, (2, 4), 0.5, 150)
    yield Observed(
        "batches of which half is asked", ((targets != -100).sum(axis=(1, 2)) == 4).mean(), atol=0.3
    )
    _, targets = many(student, rng, (1, 3), 0.2, 150)
    yield Observed("batches in which nothing is asked", (targets == -100).all(axis=(1, 2)).mean(), atol=0.32)


@question.scenario("What becomes of a chosen word does not depend on what became of the others.", weight=0.75)
def its_own_fate(student, rng):
    inputs, targets = many(student, rng, (1, 4), 1.0, 250)
    yield Observed("with rate 1 every word is asked about", bool((targets == 7).all()))
    yield Observed("rows of blanks only", (inputs == 1).all(axis=(1, 2)).mean(), atol=0.24)


@question.scenario("The same state of rng gives the same batch, another state another one.", weight=0.75)
def chance_comes_from_rng(student, rng):
    ids, seed = padded(rng, 30, 40, 25), int(rng.integers(2**40))
    first, again, other = (
        [np.asarray(part) for part in student(ids.copy(), 25, np.random.default_rng(state), 0.5)]
        for state in (seed, seed, seed + 1)
    )
    for name, mine, same, another in zip(("inputs", "targets"), first, again, other, strict=True):
        yield Observed(f"the same {name}", bool((mine == same).all()))
        yield Observed(f"the same {name} from another state", bool((mine == another).all()))


def made(ids, V, rng, rate, blank=0.8, lowest=2, choosable=None):
    chosen = (rng.random(ids.shape) < rate) & (ids != 0 if choosable is None else choosable)
    fate = rng.random(ids.shape)
    words = rng.integers(lowest, V, ids.shape)
    inputs = np.where(chosen & (fate < blank), 1, ids)
    inputs = np.where(chosen & (fate >= blank) & (fate < blank + 0.1), words, inputs)
    return inputs, np.where(chosen, ids, -100)


@question.misconception("every chosen word becomes a blank", costs=2)
def only_blanks(ids, V, rng, rate=0.15):
    """All your chosen words become [MASK]. Only 80 % should: a tenth become random words and a tenth stay, so that the
    model works at words, too, and not only at blanks."""
    return made(ids, V, rng, rate, blank=1.0)


@question.misconception("every word is a target", costs=2, because="the inputs are right")
def targets_everywhere(ids, V, rng, rate=0.15):
    """You ask for every word. A word that is in plain view teaches nothing but copying: the target is −100 wherever a position was
    not chosen."""
    return made(ids, V, rng, rate)[0], ids.copy()


@question.misconception("padding is chosen as well", costs=1.5)
def padding_too(ids, V, rng, rate=0.15):
    """Padding is among your chosen positions. It is no word, so it must neither be asked for nor changed."""
    return made(ids, V, rng, rate, choosable=True)


@question.misconception("the targets are what the inputs became", costs=2)
def targets_after_masking(ids, V, rng, rate=0.15):
    """Your targets were read after the words had been hidden, so the model is asked for [MASK]. The target is the word that stood there
    before."""
    inputs, targets = made(ids, V, rng, rate)
    return inputs, np.where(targets == -100, -100, inputs)


@question.misconception("the same number of blanks in each row", costs=1.5)
def a_fixed_number(ids, V, rng, rate=0.15):
    """Each of your rows has the same number of chosen words. They should be chosen independently of each other, so the number varies, and
    now and then it is zero."""
    ranks = np.where(ids != 0, rng.random(ids.shape), 2).argsort(axis=1).argsort(axis=1)
    chosen = (ranks < np.rint(rate * (ids != 0).sum(axis=1, keepdims=True))) & (ids != 0)
    return made(ids, V, rng, 2.0, choosable=chosen)


@question.misconception("one fate for a whole row", costs=1.5, because="it is seen in a single part")
def one_fate_a_row(ids, V, rng, rate=0.15):
    """In each of your rows all chosen words share one fate: all blanks, or all random words, or all as they were. Draw a number for each word: rng.random(ids.shape)."""
    chosen = (rng.random(ids.shape) < rate) & (ids != 0)
    fate, words = rng.random((len(ids), 1)), rng.integers(2, V, ids.shape)
    inputs = np.where(chosen & (fate < 0.8), 1, ids)
    return np.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs), np.where(chosen, ids, -100)


@question.misconception("random words may be padding or a blank", costs=1.5)
def words_from_zero(ids, V, rng, rate=0.15):
    """Your random words are drawn from 0 on, but 0 is padding and 1 is the blank. Words begin at 2."""
    return made(ids, V, rng, rate, lowest=0)


@question.misconception("a generator of its own", costs=1)
def own_generator(ids, V, rng, rate=0.15):
    """Your batch does not depend on rng: you draw from another generator. Draw from the one that is passed, so that a run can be repeated."""
    return made(ids, V, np.random.default_rng(), rate)


@question.misconception("the rate is ignored", costs=1.5, because="right with the usual rate")
def rate_of_the_paper(ids, V, rng, rate=0.15):
    """You choose 15 % of the words whatever rate is asked for. The number 0.15 is the default only: compare with the argument."""
    return made(ids, V, rng, 0.15)


@question.misconception("a second draw puts words over blanks", costs=1.5)
def two_separate_draws(ids, V, rng, rate=0.15):
    """You draw twice: 80 % become blanks, and then a tenth of all chosen words, blanks among them, become random words. That makes 72, 10 and 18 %. Let one
    number decide: below 0.8, below 0.9, or above."""
    chosen, words = (rng.random(ids.shape) < rate) & (ids != 0), rng.integers(2, V, ids.shape)
    inputs = np.where(chosen & (rng.random(ids.shape) < 0.8), 1, ids)
    return np.where(chosen & (rng.random(ids.shape) < 0.1), words, inputs), np.where(chosen, ids, -100)


@question.alternative
def batch_from_one_draw_in_torch(ids, V, rng, rate=0.15):
    words = torch.tensor(ids)
    draw = torch.tensor(rng.random(ids.shape)) / rate  # below one where it is chosen, and uniform there
    draw[words == 0] = 2
    inputs = words.clone()
    inputs[draw < 0.8] = 1
    swapped = (draw >= 0.8) & (draw < 0.9)
    inputs[swapped] = torch.tensor(rng.integers(2, V, int(swapped.sum())))
    return inputs, words.masked_fill(draw >= 1, -100)
