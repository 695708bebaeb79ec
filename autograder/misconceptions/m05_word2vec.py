"""Lab 05, word vectors: named wrong answers with their hints, and correct answers in other styles."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from autograder.answers import alternative, misconception
from autograder.masters import master

reference = master("05_word2vec")


# --------------------------------------------------------------------------------------------- context_windows


def _windows(ids, m, context_of):
    riddles = []
    for place, target in enumerate(ids):
        context = context_of(place)
        if len(context):
            riddles.append((context, target))
    return riddles


@misconception("context_windows", title="only the words before the target")
def left_side_only(ids, m):
    """Your contexts hold only the words before the target. That would be the question of lab 01, what comes next; here the
    words after the gap are hints as well: up to m on each side."""
    return _windows(ids, m, lambda place: list(ids[max(0, place - m) : place]))


@misconception("context_windows", title="the target stands in its own context")
def target_in_context(ids, m):
    """The target is among its own hints, so the riddle gives its answer away and nothing is learned. Leave out the
    target's own position."""
    riddles = [(list(ids[max(0, t - m) : t + m + 1]), target) for t, target in enumerate(ids)]
    return riddles if len(ids) > 1 else []


@misconception("context_windows", title="the window reaches around the end")
def wraps_around(ids, m):
    """At the beginning of a sentence your window takes words from its end (or gets lost): a negative index counts from
    the back. Cut the window at 0, max(0, place − m)."""
    count = len(ids)
    near = [d for d in range(-m, m + 1) if d]
    return _windows(
        ids, m, lambda place: [ids[(place + d) % count] for d in near if place + d < count and count > 1]
    )


@misconception("context_windows", title="every word equal to the target is dropped")
def drops_equal_words(ids, m):
    """When the target's word stands in the window a second time, you leave that out as well. It is an honest hint: only the
    target's own position is the gap."""
    return _windows(
        ids, m, lambda place: [i for i in ids[max(0, place - m) : place + m + 1] if i != ids[place]]
    )


@misconception("context_windows", title="only full windows")
def full_windows_only(ids, m):
    """Words near the ends of the sentence are missing as targets: you take only windows with m words on both sides. At the
    ends the window is shorter, and the riddle still counts."""
    return [riddle for riddle in reference.context_windows(ids, m) if len(riddle[0]) == 2 * m]


@misconception("context_windows", title="m words in all instead of m on each side")
def half_the_window(ids, m):
    """Your windows are too narrow: m is the number of words on *each* side, so a full window holds 2m hints."""
    half = (m + 1) // 2
    return _windows(
        ids, m, lambda place: [*ids[max(0, place - half) : place], *ids[place + 1 : place + 1 + m - half]]
    )


@misconception("context_windows", title="the target comes before the context")
def pairs_turned_around(ids, m):
    """Your pairs are (target, context). The rest of the lab expects (context, target), what is given before what is
    asked."""
    return [(target, context) for context, target in reference.context_windows(ids, m)]


@alternative("context_windows")
def by_offsets_in_tuples(ids, m):
    offsets = [*range(-m, 0), *range(1, m + 1)]
    found = tuple(
        (tuple(ids[t + o] for o in offsets if 0 <= t + o < len(ids)), ids[t]) for t in range(len(ids))
    )
    return found if len(ids) > 1 else ()


@alternative("context_windows")
def by_splitting_and_deleting(ids, m):
    riddles = []
    for t in range(len(ids)):
        window = list(ids)[max(t - m, 0) : t + m + 1]
        target = window.pop(min(t, m))
        if window:
            riddles.append([np.array(window), target])
    return riddles


# ------------------------------------------------------------------------------------------------ cbow_forward


def _softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


@misconception("cbow_forward", title="the sum of the hints instead of their mean")
def sum_of_hints(context, W_in, W_out):
    """Your h is the sum of the hints' rows. Then a long context shouts and a short one whispers. Take the mean: divide by the
    number of words in the context."""
    h = W_in[context].sum(axis=0)
    return h, _softmax(W_out @ h)


@misconception("cbow_forward", title="repeated hints count once")
def each_hint_once(context, W_in, W_out):
    """A word that stands in the context twice has one vote in your mean. Nothing in the bag gets lost: it counts as often as it
    stands there."""
    h = W_in[sorted(set(context))].mean(axis=0)
    return h, _softmax(W_out @ h)


@misconception("cbow_forward", title="the two tables are exchanged")
def tables_exchanged(context, W_in, W_out):
    """You take the hints from W_out and the answers from W_in. The rows of W_in are the words as hints, those of W_out the words
    as answers."""
    h = W_out[context].mean(axis=0)
    return h, _softmax(W_in @ h)


@misconception("cbow_forward", title="the scores are no probabilities yet")
def scores_without_softmax(context, W_in, W_out):
    """Your second result holds the scores; some are negative, and they do not add up to one. Softmax turns them into
    probabilities."""
    h = W_in[context].mean(axis=0)
    return h, W_out @ h


@misconception("cbow_forward", title="softmax without the exponential")
def shares_of_scores(context, W_in, W_out):
    """You divide the scores by their sum. Scores may be negative, and then so are your probabilities. Softmax takes the
    exponential of each score first."""
    h = W_in[context].mean(axis=0)
    scores = W_out @ h
    return h, scores / scores.sum()


@misconception("cbow_forward", title="h is brought to length one")
def h_of_length_one(context, W_in, W_out):
    """You bring h to length 1. That belongs to the cosine of Part F. While answering riddles the length matters: hints that agree
    make a long h and a confident answer."""
    h = W_in[context].mean(axis=0)
    h = h / np.linalg.norm(h)
    return h, _softmax(W_out @ h)


@alternative("cbow_forward")
def by_one_hot_products(context, W_in, W_out):
    counts = Counter(context)
    bag = np.array([counts[word] / len(context) for word in range(len(W_in))])
    h = bag @ W_in
    scores = np.einsum("vd,d->v", W_out, h)
    return [h, np.exp(scores - np.logaddexp.reduce(scores))]


@alternative("cbow_forward")
def with_torch_in_float32(context, W_in, W_out):
    import torch

    table = torch.tensor(np.ascontiguousarray(W_in), dtype=torch.float32)
    h = table[list(context)].mean(dim=0)
    return h, torch.softmax(torch.tensor(np.ascontiguousarray(W_out), dtype=torch.float32) @ h, dim=0)


# ----------------------------------------------------------------------------------------------- cbow_backward


def _backward(context, target, W_in, W_out):
    """h, the error and the gradient of h."""
    h, error = reference.cbow_forward(context, W_in, W_out)
    error[target] -= 1
    return h, error, error @ W_out


def _scattered(context, share, shape):
    gradient = np.zeros(shape)
    np.add.at(gradient, context, share)
    return gradient


@misconception("cbow_backward", title="the mean is forgotten on the way back")
def mean_forgotten(context, target, W_in, W_out):
    """Every hint gets the whole gradient of h. But h is a mean: if a hint moves by one, h moves by one C-th only, so each hint
    gets the share 1/C."""
    h, error, dh = _backward(context, target, W_in, W_out)
    return _scattered(context, dh, W_in.shape), np.outer(error, h)


@misconception("cbow_backward", title="a repeated hint gets one share")
def repeated_hint_once(context, target, W_in, W_out):
    """A word that stands in the context twice gets one share instead of two. dW_in[context] += share writes a row that is named
    twice only once; np.add.at adds each time."""
    h, error, dh = _backward(context, target, W_in, W_out)
    dW_in = np.zeros(W_in.shape)
    dW_in[context] += dh / len(context)
    return dW_in, np.outer(error, h)


@misconception("cbow_backward", title="the target is not subtracted")
def target_not_subtracted(context, target, W_in, W_out):
    """Your error is p itself. The right answer should have had probability 1, so its error is p − 1; otherwise every score is pushed
    down, the right one too."""
    h, p = reference.cbow_forward(context, W_in, W_out)
    return _scattered(context, p @ W_out / len(context), W_in.shape), np.outer(p, h)


@misconception("cbow_backward", title="the gradients point the other way")
def sign_reversed(context, target, W_in, W_out):
    """Both your gradients have the opposite sign: right minus said instead of said minus right. A step against *your* gradient would
    raise the loss."""
    h, error, dh = _backward(context, target, W_in, W_out)
    return -_scattered(context, dh / len(context), W_in.shape), -np.outer(error, h)


@misconception("cbow_backward", title="all words get the gradient of the hints")
def all_rows_of_w_in(context, target, W_in, W_out):
    """Every row of your dW_in is filled, also for words that are not in the context. They had no part in h, so the loss does not
    depend on them and their rows are zero."""
    h, error, dh = _backward(context, target, W_in, W_out)
    return np.tile(dh / len(context), (len(W_in), 1)), np.outer(error, h)


@misconception("cbow_backward", title="only the target's row of W_out is corrected")
def only_the_targets_answer(context, target, W_in, W_out):
    """Only the target's row of your dW_out is filled. Softmax makes all answers compete: the wrong ones must give way, each with
    its own probability as error."""
    h, error, dh = _backward(context, target, W_in, W_out)
    dW_out = np.zeros(W_out.shape)
    dW_out[target] = error[target] * h
    return _scattered(context, dh / len(context), W_in.shape), dW_out


@misconception("cbow_backward", title="a step instead of a gradient")
def tables_changed_in_place(context, target, W_in, W_out):
    """Your function takes a step: it changes the tables themselves on the way, so that the second gradient comes from a table that has
    moved already. Compute both gradients first, and leave the step to the training."""
    h, error, _ = _backward(context, target, W_in, W_out)
    dW_out = np.outer(error, h)
    W_out -= 0.1 * dW_out
    dW_in = _scattered(context, error @ W_out / len(context), W_in.shape)
    W_in -= 0.1 * dW_in
    return dW_in, dW_out


@alternative("cbow_backward")
def by_loops(context, target, W_in, W_out):
    V, D = W_in.shape
    h = [sum(W_in[c, d] for c in context) / len(context) for d in range(D)]
    p = _softmax(np.array([sum(W_out[i, d] * h[d] for d in range(D)) for i in range(V)]))
    error = [p[i] - (1 if i == target else 0) for i in range(V)]
    dW_out = [[error[i] * h[d] for d in range(D)] for i in range(V)]
    shares = Counter(context)
    dW_in = [
        [shares[v] / len(context) * sum(error[i] * W_out[i, d] for i in range(V)) for d in range(D)]
        for v in range(V)
    ]
    return dW_in, dW_out


@alternative("cbow_backward")
def by_a_bag_and_outer_products(context, target, W_in, W_out):
    V = len(W_in)
    bag = np.bincount(context, minlength=V) / len(context)
    p = np.exp(W_out @ (bag @ W_in) - np.logaddexp.reduce(W_out @ (bag @ W_in)))
    error = p - np.eye(V)[target]
    return np.outer(bag, W_out.T @ error), np.outer(error, W_in.T @ bag)


@alternative("cbow_backward")
def in_float32(context, target, W_in, W_out):
    W_in, W_out = W_in.astype(np.float32), W_out.astype(np.float32)
    h = W_in[context].mean(axis=0)
    error = _softmax(W_out @ h)
    error[target] -= np.float32(1)
    dW_in = np.zeros_like(W_in)
    for word in context:
        dW_in[word] += (error @ W_out) / np.float32(len(context))
    return dW_in, error[:, None] * h


# -------------------------------------------------------------------------------------- negative_sampling_loss


def _sigmoid(s):
    return np.exp(-np.logaddexp(0, -s))


def _from_errors(h, rows, g):
    return np.einsum("bk,bkd->bd", g, rows), g[:, :, None] * h[:, None, :]


def _scores(h, rows):
    return np.einsum("bkd,bd->bk", rows, h)


def _loss(scores):
    return np.logaddexp(0, -scores[:, 0]) + np.logaddexp(0, scores[:, 1:]).sum(axis=1)


def _errors(scores):
    g = _sigmoid(scores)
    g[:, 0] -= 1
    return g


@misconception("negative_sampling_loss", title="the noise counts as real")
def noise_as_real(h, rows):
    """You reward the noise words for high scores, as if they were real. Then the best the model can do is to say yes to
    everything. For noise the score enters with a minus sign, −ln σ(−s)."""
    scores = _scores(h, rows)
    return (np.logaddexp(0, -scores).sum(axis=1), *_from_errors(h, rows, _sigmoid(scores) - 1))


@misconception("negative_sampling_loss", title="the noise has no gradient")
def noise_without_gradient(h, rows):
    """The noise words are in your loss but not in your gradients. Only pulling, never pushing, makes all vectors the same. Each noise
    word pushes with its error σ(s)."""
    scores = _scores(h, rows)
    g = _errors(scores)
    g[:, 1:] = 0
    return (_loss(scores), *_from_errors(h, rows, g))


@misconception("negative_sampling_loss", title="averaged over the batch")
def averaged_over_the_batch(h, rows):
    """You average over the batch, so that a riddle's gradient shrinks when more riddles stand beside it. Here each riddle has its
    own loss, one number each, and its own gradients."""
    scores = _scores(h, rows)
    dh, drows = _from_errors(h, rows, _errors(scores))
    return np.full(len(h), _loss(scores).mean()), dh / len(h), drows / len(h)


@misconception("negative_sampling_loss", title="averaged over the noise")
def averaged_over_the_noise(h, rows):
    """You average over the noise words; the formula adds them up. With five noise words each of yours pushes only a fifth as hard
    as it should."""
    scores = _scores(h, rows)
    noise = rows.shape[1] - 1
    loss = np.logaddexp(0, -scores[:, 0]) + np.logaddexp(0, scores[:, 1:]).mean(axis=1)
    g = _errors(scores)
    g[:, 1:] /= noise
    return (loss, *_from_errors(h, rows, g))


@misconception("negative_sampling_loss", title="the gradients point the other way")
def gradients_reversed(h, rows):
    """Your gradients have the opposite sign: right minus said. The loss rises in the direction of the gradient, and
    the training steps against it."""
    scores = _scores(h, rows)
    return (_loss(scores), *_from_errors(h, rows, -_errors(scores)))


@misconception("negative_sampling_loss", title="a softmax over the six words")
def softmax_over_the_candidates(h, rows):
    """You let the candidates compete in a softmax, as in Part B. Negative sampling asks each of them by itself, yes or no:
    every score goes through its own sigmoid."""
    scores = _scores(h, rows)
    total = np.logaddexp.reduce(scores, axis=1)
    g = np.exp(scores - total[:, None])
    g[:, 0] -= 1
    return (total - scores[:, 0], *_from_errors(h, rows, g))


@misconception("negative_sampling_loss", title="large scores overflow")
def overflow(h, rows):
    """Large scores make your loss infinite or not a number: σ rounds to 0, and ln 0 is −∞. Use np.logaddexp(0, −s) for −ln σ(s), which
    never leaves the safe range."""
    scores = _scores(h, rows)
    with np.errstate(all="ignore"):
        sigmoid = 1 / (1 + np.exp(-scores))
        loss = -np.log(sigmoid[:, 0]) - np.log(1 - sigmoid[:, 1:]).sum(axis=1)
    g = sigmoid.copy()
    g[:, 0] -= 1
    return (loss, *_from_errors(h, rows, np.where(np.isfinite(loss)[:, None], g, np.nan)))


@alternative("negative_sampling_loss")
def riddle_by_riddle(h, rows):
    losses, dhs, drows = [], [], []
    for vector, table in zip(h.tolist(), rows.tolist(), strict=True):
        loss, dh, d = 0.0, [0.0] * len(vector), []
        for k, row in enumerate(table):
            s = sum(a * b for a, b in zip(row, vector, strict=True))
            signed = -s if k == 0 else s
            loss += max(signed, 0) + math.log1p(math.exp(-abs(s)))
            g = (0.5 + 0.5 * math.tanh(s / 2)) - (k == 0)
            dh = [x + g * y for x, y in zip(dh, row, strict=True)]
            d.append([g * y for y in vector])
        losses.append(loss), dhs.append(dh), drows.append(d)
    return losses, dhs, drows


@alternative("negative_sampling_loss")
def signs_and_clipping_in_float32(h, rows):
    h, rows = h.astype(np.float32), rows.astype(np.float32)
    sign = np.ones(rows.shape[1], dtype=np.float32)
    sign[0] = -1
    signed = np.matmul(rows, h[..., None])[..., 0] * sign
    push = sign / (1 + np.exp(-np.clip(signed, -80, 80)))
    loss = np.maximum(signed, 0) + np.log1p(np.exp(-np.abs(signed)))
    return loss.sum(axis=1), (push[..., None] * rows).sum(axis=1), push[..., None] * h[:, None]


@alternative("negative_sampling_loss")
def with_torch(h, rows):
    import torch

    h, rows = (torch.tensor(np.ascontiguousarray(part)) for part in (h, rows))
    scores = torch.einsum("bkd,bd->bk", rows, h)
    real, noise = scores[:, :1], scores[:, 1:]
    log = torch.nn.functional.logsigmoid
    loss = -(log(real).sum(1) + log(-noise).sum(1))
    g = torch.cat([torch.sigmoid(real) - 1, torch.sigmoid(noise)], dim=1)
    return loss, torch.einsum("bk,bkd->bd", g, rows), torch.einsum("bk,bd->bkd", g, h)


# ----------------------------------------------------------------------------------------------------- nearest


def _unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _ranking(values, words, left_out, k):
    order = [i for i in np.argsort(-np.asarray(values)) if words[i] not in left_out]
    return [(words[i], float(values[i])) for i in order[:k]]


@misconception("nearest", title="the dot product instead of the cosine")
def dot_product(word, vectors, words, k=5):
    """You rank by the dot product, so words with long vectors, the frequent ones, seem near to everything. Divide by both lengths: only
    the direction counts."""
    vectors = np.asarray(vectors)
    return _ranking(vectors @ vectors[list(words).index(word)], words, {word}, k)


@misconception("nearest", title="the straight distance instead of the angle")
def straight_distance(word, vectors, words, k=5):
    """You rank by the straight distance between the points. A short and a long vector in the same direction are then far apart; the
    cosine looks at the direction alone."""
    row = list(words).index(word)
    distances = np.linalg.norm(vectors - vectors[row], axis=1)
    cosines = _unit(vectors) @ _unit(vectors)[row]
    order = [i for i in np.argsort(distances) if i != row]
    return [(words[i], float(cosines[i])) for i in order[:k]]


@misconception("nearest", title="the word is its own neighbour")
def own_neighbour(word, vectors, words, k=5):
    """The first neighbour in your list is the word itself, with cosine 1. That is true, and no news: leave it out."""
    return _ranking(_unit(vectors) @ _unit(vectors)[list(words).index(word)], words, set(), k)


@misconception("nearest", title="the farthest words come first")
def farthest_first(word, vectors, words, k=5):
    """Your list begins with the words that point the other way. np.argsort goes from small to large; you want the largest cosine
    first."""
    unit = _unit(vectors)
    cosines = unit @ unit[list(words).index(word)]
    order = [i for i in np.argsort(cosines) if words[i] != word]
    return [(words[i], float(cosines[i])) for i in order[:k]]


@misconception("nearest", title="opposite directions count as near")
def sign_ignored(word, vectors, words, k=5):
    """You rank by the size of the cosine without its sign. A cosine of −1 is the opposite direction, as far away as it gets."""
    unit = _unit(vectors)
    return _ranking(np.abs(unit @ unit[list(words).index(word)]), words, {word}, k)


@misconception("nearest", title="divided by one length only")
def one_length_only(word, vectors, words, k=5):
    """The order of your words is right, but the numbers are no cosines: they can be larger than 1. Divide by the length of the word's own
    vector as well."""
    vectors = np.asarray(vectors)
    return _ranking(_unit(vectors) @ vectors[list(words).index(word)], words, {word}, k)


@misconception("nearest", title="rounded cosines")
def rounded(word, vectors, words, k=5):
    """Your words are right, and your cosines are rounded. Rounding is for printing: whoever calls the function may still want to compute with
    the numbers. Return them as they are."""
    unit = _unit(vectors)
    found = _ranking(unit @ unit[list(words).index(word)], words, {word}, k)
    return [(other, round(cosine, 3)) for other, cosine in found]


@alternative("nearest")
def by_sorting_pairs_in_plain_python(word, vectors, words, k=5):
    def cosine(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(
            sum(x * x for x in a) * sum(x * x for x in b)
        )

    table = dict(zip(words, np.asarray(vectors).tolist(), strict=True))
    own = table.pop(word)
    ranked = sorted(((cosine(row, own), other) for other, row in table.items()), reverse=True)
    return [[other, near] for near, other in ranked[:k]]


@alternative("nearest")
def with_float32_and_infinity(word, vectors, words, k=5):
    table = np.array(vectors, dtype=np.float32)
    row = list(words).index(word)
    cosines = table @ table[row] / (np.linalg.norm(table, axis=1) * np.linalg.norm(table[row]))
    cosines[row] = -np.inf
    best = cosines.argsort()[::-1][: min(k, len(words) - 1)]
    return [(words[i], cosines[i]) for i in best]


# ----------------------------------------------------------------------------------------------------- analogy


def _answers(a, b, c, vectors, words, k, way, left_out=True):
    words, unit = list(words), _unit(np.asarray(vectors))
    v = way(*(unit[words.index(word)] for word in (a, b, c)))
    return _ranking(unit @ (v / np.linalg.norm(v)), words, {a, b, c} if left_out else set(), k)


@misconception("analogy", title="the way is walked backwards")
def backwards(a, b, c, vectors, words, k=3):
    """You walk the way backwards, a − b + c. From *can* to *could* means subtracting where you start and adding where you
    arrive: b − a."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: x - y + z)


@misconception("analogy", title="the words of the question count as answers")
def question_words_allowed(a, b, c, vectors, words, k=3):
    """Among your answers are words of the question, usually c itself, since the sum has not gone far. They are no news: leave all three
    out."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: y - x + z, left_out=False)


@misconception("analogy", title="vectors of different lengths are added")
def lengths_kept(a, b, c, vectors, words, k=3):
    """You add the vectors as they are, so a frequent word, whose vector is long, drowns the other two. Bring all rows to length 1
    first."""
    words, table = list(words), np.asarray(vectors)
    v = table[words.index(b)] - table[words.index(a)] + table[words.index(c)]
    return _ranking(_unit(table) @ (v / np.linalg.norm(v)), words, {a, b, c}, k)


@misconception("analogy", title="nothing is subtracted")
def nothing_subtracted(a, b, c, vectors, words, k=3):
    """You look for words that are near to all three. The riddle asks for a *way*: what leads from a to b, walked from c, so a is
    subtracted."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: x + y + z)


@misconception("analogy", title="the sum is not divided by its length")
def sum_not_normalised(a, b, c, vectors, words, k=3):
    """Your words come in the right order, but the numbers are no cosines, some are above 1: the sum of three vectors is longer than 1.
    Divide by its length."""
    words, unit = list(words), _unit(np.asarray(vectors))
    v = unit[words.index(b)] - unit[words.index(a)] + unit[words.index(c)]
    return _ranking(unit @ v, words, {a, b, c}, k)


@misconception("analogy", title="only the neighbours of c")
def neighbours_of_c(a, b, c, vectors, words, k=3):
    """Your answers are simply the neighbours of c: the way from a to b is never walked. Add b − a before you look around."""
    return _answers(a, b, c, vectors, words, k, lambda x, y, z: z)


@misconception("analogy", title="rounded cosines of the answers")
def answers_rounded(a, b, c, vectors, words, k=3):
    """Your answers are right, and their cosines are rounded. Rounding is for printing: return the numbers as they are."""
    found = _answers(a, b, c, vectors, words, k, lambda x, y, z: y - x + z)
    return [(word, round(cosine, 3)) for word, cosine in found]


@alternative("analogy")
def with_nearest_on_a_longer_table(a, b, c, vectors, words, k=3):
    table = _unit(np.asarray(vectors, dtype=float))
    index = {word: i for i, word in enumerate(words)}
    table = np.vstack([table, table[index[b]] + table[index[c]] - table[index[a]]])
    found = reference.nearest(" ", table, [*words, " "], len(words))
    return [pair for pair in found if pair[0] not in (a, b, c)][:k]


@alternative("analogy")
def by_scores_in_float32(a, b, c, vectors, words, k=3):
    table = np.asarray(vectors, dtype=np.float32)
    unit = (table.T / np.sqrt((table**2).sum(1))).T
    ia, ib, ic = (list(words).index(word) for word in (a, b, c))
    v = unit[ib] + unit[ic] - unit[ia]
    cosines = np.einsum("vd,d->v", unit, v) / np.sqrt(v @ v)
    cosines[[ia, ib, ic]] = -2
    return tuple((words[i], cosines[i]) for i in np.argsort(cosines)[::-1][: max(0, min(k, len(words) - 3))])
