"""Named wrong answers to lab 03 with their hints, and correct answers in other styles."""

from __future__ import annotations

import numpy as np

from autograder.answers import alternative, misconception


def _shares(counts):
    total = counts.sum(axis=2, keepdims=True)
    return np.divide(counts, total, out=np.zeros(counts.shape), where=total > 0)


# ------------------------------------------------------------------------------------------ count_features


@misconception("count_features", title="only the word just before")
def only_neighbours(sentences, V):
    """You count only the word that stands directly before the current one. That is the second-order table of lab 01;
    the point of this one is that every earlier word of the sentence makes a pair, at any distance."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for a, c, n in zip(s, s[1:], s[2:], strict=False):
            counts[a, c, n] += 1
    return _shares(counts)


@misconception("count_features", title="counts instead of shares")
def counts_not_shares(sentences, V):
    """Your table holds counts. A pair that occurs often would shout louder than one that occurs rarely: divide each
    pair by the sum over its next words, so that every voter has one vote."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(1, len(s) - 1):
            for i in range(t):
                counts[s[i], s[t], s[t + 1]] += 1
    return counts


@misconception("count_features", title="the current word counted as earlier")
def current_word_is_earlier(sentences, V):
    """You pair the current position with itself. A word is not earlier than itself: stop one position before the
    current one."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(len(s) - 1):
            for i in range(t + 1):
                counts[s[i], s[t], s[t + 1]] += 1
    return _shares(counts)


@misconception("count_features", title="a repeated word counted once")
def repeated_words_once(sentences, V):
    """A word that stands at two earlier positions makes two pairs. You count each different word only once for a
    position, so the shares come out differently."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(1, len(s) - 1):
            for a in set(s[:t]):
                counts[a, s[t], s[t + 1]] += 1
    return _shares(counts)


@misconception("count_features", title="axes in the wrong order")
def current_before_earlier(sentences, V):
    """The first two axes are swapped. The table is asked as [earlier, current, next]."""
    counts = np.zeros((V, V, V))
    for s in sentences:
        for t in range(1, len(s) - 1):
            for i in range(t):
                counts[s[t], s[i], s[t + 1]] += 1
    return _shares(counts)


@misconception("count_features", title="one long text instead of sentences")
def sentences_run_together(sentences, V):
    """You put all sentences into one row, so words of an earlier sentence vote in the next one. Each sentence starts
    with an empty history."""
    s = [word for sentence in sentences for word in sentence]
    counts = np.zeros((V, V, V))
    for t in range(1, len(s) - 1):
        for i in range(t):
            counts[s[i], s[t], s[t + 1]] += 1
    return _shares(counts)


@misconception("count_features", title="nan where nothing was seen")
def nan_for_unseen_pairs(sentences, V):
    """Pairs that never occurred come out as nan, because you divide zero by zero. They should stay zero: who has seen
    nothing has no vote."""
    counts = counts_not_shares(sentences, V)
    with np.errstate(all="ignore"):
        return counts / counts.sum(axis=2, keepdims=True)


@alternative("count_features")
def features_with_add_at(sentences, V):
    counts = np.zeros((V, V, V), dtype=np.float32)
    for s in map(np.array, sentences):
        if len(s) < 3:
            continue
        i, t = np.triu_indices(len(s) - 1, k=1)
        np.add.at(counts, (s[i], s[t], s[t + 1]), 1)
    return counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)


@alternative("count_features")
def features_in_plain_lists(sentences, V):
    table = [[[0] * V for _ in range(V)] for _ in range(V)]
    for s in sentences:
        for now, current in enumerate(s[:-1]):
            for word in s[:now]:
                table[word][current][s[now + 1]] += 1
    return [[[n / sum(row) if sum(row) else 0 for n in row] for row in plane] for plane in table]


@alternative("count_features")
def features_from_one_hot_sums(sentences, V):
    one = np.eye(V)
    counts = np.zeros((V, V, V))
    for s in sentences:
        seen = np.zeros(V)
        for t in range(len(s) - 1):
            counts += np.einsum("a,c,n->acn", seen, one[s[t]], one[s[t + 1]])
            seen = seen + one[s[t]]
    total = counts.sum(-1)[..., None]
    return np.where(total > 0, counts / np.where(total > 0, total, 1), 0)


# ---------------------------------------------------------------------------------------------- skip_votes


@misconception("skip_votes", title="the votes already added up")
def already_added_up(history, features):
    """You return the total. Keep one row for each voter: the mask that comes next must be able to silence some of
    them."""
    history = np.asarray(history)
    return features[history[:-1], history[-1]].sum(axis=0)


@misconception("skip_votes", title="the current word votes too")
def current_word_votes(history, features):
    """There is one row too many: the current word votes with itself as a pair. Only the words before it are
    voters."""
    history = np.asarray(history)
    return features[history, history[-1]]


@misconception("skip_votes", title="current and earlier word swapped")
def swapped_pair(history, features):
    """You ask the table for [current, earlier]. Its first axis is the earlier word, its second the current one; the two
    pairs are not the same."""
    history = np.asarray(history)
    return features[history[-1], history[:-1]]


@misconception("skip_votes", title="every different word votes once")
def each_word_once(history, features):
    """A word that stands twice in the history has only one row, and the order of the sentence is lost. Every position is
    a voter of its own."""
    return features[np.unique(np.asarray(history)[:-1]), history[-1]]


@misconception("skip_votes", title="the voters from back to front")
def back_to_front(history, features):
    """Your rows start with the word nearest to the current one. They should stand in the order of the sentence, so that a
    mask meets the right voter."""
    history = np.asarray(history)
    return features[history[:-1][::-1], history[-1]]


@misconception("skip_votes", title="each word with its neighbour")
def neighbouring_pairs(history, features):
    """You pair every word with the one right after it. Here the second word of each pair is always the current one, the
    last of the history."""
    history = np.asarray(history)
    return features[history[:-1], history[1:]]


@alternative("skip_votes")
def votes_by_a_loop(history, features):
    *earlier, current = [int(word) for word in history]
    votes = np.zeros((len(earlier), features.shape[2]), dtype=np.float32)
    for row, word in enumerate(earlier):
        votes[row] = features[word][current]
    return votes


@alternative("skip_votes")
def votes_by_one_hot_products(history, features):
    one = np.eye(len(features))
    return np.einsum(
        "ta,c,acn->tn", one[list(history)[:-1]].reshape(-1, len(features)), one[history[-1]], features
    )


@alternative("skip_votes")
def votes_in_a_list_with_whole_numbers_for_none(history, features):
    rows = [features[word, history[-1]] for word in history[:-1]]
    return rows or np.zeros((0, features.shape[2]), dtype=int)


@alternative("skip_votes")
def votes_by_slicing_the_table_first(history, features):
    return np.take(features[:, history[-1], :], np.array(history[:-1], dtype=int), axis=0)


# ---------------------------------------------------------------------------------------------- mask_votes


@misconception("mask_votes", title="the mask the wrong way round")
def mask_inverted(votes, mask):
    """You silence those who may vote and count those who may not. In this course True (or 1) means "may vote", here
    and in every mask to come."""
    return (1 - np.asarray(mask, dtype=float)) @ votes


@misconception("mask_votes", title="a mask of 0 and 1 used as row numbers")
def mask_as_row_numbers(votes, mask):
    """With 0 and 1 in the mask you pick row 0 and row 1, again and again: NumPy reads whole numbers in square brackets as
    row numbers. Multiply each row by its entry of the mask instead."""
    mask = np.asarray(mask)
    if mask.dtype.kind == "f":
        return mask @ votes
    return votes[mask].sum(axis=0)


@misconception("mask_votes", title="every weight above 0 counts in full")
def any_weight_counts_in_full(votes, mask):
    """A voter with half a vote is counted in full. Use the entry of the mask as a factor, and not only as a yes or
    no."""
    return votes[np.asarray(mask, dtype=bool)].sum(axis=0)


@misconception("mask_votes", title="the mean of the votes")
def mean_of_the_votes(votes, mask):
    """You divide the total by the weight of the voters. Votes are added up here; and when nobody may vote there is nothing to
    divide by."""
    mask = np.asarray(mask, dtype=float)
    with np.errstate(all="ignore"):
        return (mask @ votes) / mask.sum()


@misconception("mask_votes", title="masked, but not added up")
def not_added_up(votes, mask):
    """You silence the right voters, but return their rows one by one. The result is one total for each next word: add
    the rows up."""
    return votes * np.asarray(mask, dtype=float)[:, None]


@misconception("mask_votes", title="masks the words instead of the voters")
def masks_the_words(votes, mask):
    """You apply the mask to the columns, the words that are voted for. It has one entry for each voter, and voters are
    rows."""
    return votes @ np.asarray(mask, dtype=float)


@alternative("mask_votes")
def masked_total_by_a_loop(votes, mask):
    total = [0.0] * votes.shape[1]
    for row, weight in zip(votes.tolist(), list(mask), strict=True):
        total = [t + float(weight) * v for t, v in zip(total, row, strict=True)]
    return total


@alternative("mask_votes")
def masked_total_by_broadcasting(votes, mask):
    return (votes * np.array(mask).reshape(-1, 1)).sum(0)


@alternative("mask_votes")
def masked_total_float32(votes, mask):
    return np.dot(votes.astype(np.float32).T, np.asarray(mask, np.float32))


# --------------------------------------------------------------------------------------------- mask_lookup


@misconception("mask_lookup", title="a column instead of a row")
def column_instead_of_row(query, masks):
    """You fetch a column of the table. The mask of a word is its row: the query stands on the left of the
    product."""
    return query @ masks.T


@misconception("mask_lookup", title="only the strongest word is asked")
def only_the_strongest(query, masks):
    """You look for the largest entry of the query and take its row. That works for one-hot queries only; a product mixes the
    masks when a query mixes words, and it can be learned."""
    return masks[np.argmax(query, axis=-1)]


@misconception("mask_lookup", title="masks made hard")
def made_hard(query, masks):
    """You turn the result into 0 and 1. Leave it as the product gives it: masks may hold any weights."""
    return (query @ masks > 0.5).astype(float)


@misconception("mask_lookup", title="one mask for all queries")
def one_mask_for_all(query, masks):
    """You add the masks of all queries into one. Each query, each row, should get a mask of its own."""
    return np.atleast_2d(query).sum(axis=0) @ masks


@misconception("mask_lookup", title="weights rescaled to sum to one")
def query_rescaled(query, masks):
    """You rescale the query before the look-up, so that a mixed query gets another mixture than it asks for. The product needs
    nothing but the query and the table."""
    query = np.asarray(query, dtype=float)
    return np.abs(query) / np.abs(query).sum(axis=-1, keepdims=True) @ masks


@alternative("mask_lookup")
def lookup_by_summing_rows(query, masks):
    return sum(np.asarray(query)[..., word, None] * masks[word] for word in range(len(masks)))


@alternative("mask_lookup")
def lookup_the_lectures_way(query, masks):
    K = masks.T  # the lecture keeps the masks in the columns of K
    return np.dot(query.astype(np.float32), K.T)


# ------------------------------------------------------------------------------------------- pair_features


@misconception("pair_features", title="no ReLU")
def no_relu(x, W):
    """Negative values are still there. A feature is present or it is not: the ReLU replaces everything below zero
    by 0."""
    return x @ W


@misconception("pair_features", title="the sign dropped instead of the value")
def absolute_value(x, W):
    """A value of −1 becomes 1 in your result, so an absent pair looks present. Negative values become 0; they do not just lose
    their sign."""
    return np.abs(x @ W)


@misconception("pair_features", title="cut off at one as well")
def cut_off_at_one(x, W):
    """You cut large values off at 1. The ReLU leaves everything above zero as it is."""
    return np.clip(x @ W, 0, 1)


@misconception("pair_features", title="only present or absent")
def yes_or_no(x, W):
    """You return 1 for every positive value. The ReLU keeps the value itself: a step from 0 to 1 has no slope, and what has no
    slope cannot be learned."""
    return (x @ W > 0).astype(float)


@misconception("pair_features", title="the bias left out")
def bias_left_out(x, W):
    """You leave the last entry of x out of the product. It is the bias: without it one word alone is enough to light a pair."""
    return np.maximum(0, x[..., :-1] @ W[:-1])


@misconception("pair_features", title="negative inputs removed before the product")
def relu_too_early(x, W):
    """You remove negative values of the input. The ReLU works on the product of x and W: first multiply, then cut."""
    return np.maximum(0, x) @ W


@alternative("pair_features")
def features_by_where(x, W):
    z = np.einsum("...d,df->...f", x, W)
    return np.where(z < 0, 0, z)


@alternative("pair_features")
def features_by_half_the_absolute_value(x, W):
    z = np.tensordot(x, W, axes=1)
    return (z + abs(z)) / 2


@alternative("pair_features")
def features_in_torch_float32(x, W):
    import torch

    return (torch.tensor(x, dtype=torch.float32) @ torch.tensor(W.copy(), dtype=torch.float32)).clamp(min=0)


# -------------------------------------------------------------------------------------------- feed_forward


@misconception("feed_forward", title="no ReLU between the matrices")
def two_matrices_without_relu(x, W1, W2):
    """You multiply by both matrices with nothing between them. Two products in a row are one product: without the ReLU the layer
    cannot tell a pair from the sum of two words."""
    return x @ W1 @ W2


@misconception("feed_forward", title="a second ReLU at the end")
def relu_at_the_end_too(x, W1, W2):
    """You cut off negative votes. There is one ReLU, between the matrices; a feature may well vote against a word."""
    return np.maximum(0, np.maximum(0, x @ W1) @ W2)


@misconception("feed_forward", title="the ReLU only at the end")
def relu_only_at_the_end(x, W1, W2):
    """The ReLU comes after both matrices. It belongs between them, on the features, not on the votes."""
    return np.maximum(0, x @ W1 @ W2)


@misconception("feed_forward", title="the features are passed on instead of the votes")
def only_the_features(x, W1, W2):
    """You return the features. One more product is missing, which turns features into votes."""
    return np.maximum(0, x @ W1)


@misconception("feed_forward", title="features as shares")
def softmax_between(x, W1, W2):
    """You turn the features into probabilities between the two matrices. Features do not compete here: a ReLU lets each of them be
    present or absent by itself."""
    z = x @ W1
    z = np.exp(z - z.max(axis=-1, keepdims=True))
    return z / z.sum(axis=-1, keepdims=True) @ W2


@alternative("feed_forward")
def feed_forward_feature_by_feature(x, W1, W2):
    votes = np.zeros((*x.shape[:-1], W2.shape[1]))
    for column, row in zip(W1.T, W2, strict=True):
        strength = x @ column
        votes = votes + np.multiply(strength, strength > 0)[..., None] * row
    return votes


@alternative("feed_forward")
def feed_forward_float32(x, W1, W2):
    x, W1, W2 = (np.asarray(part, dtype=np.float32) for part in (x, W1, W2))
    hidden = x @ W1
    return np.einsum("...f,fv->...v", hidden.clip(min=0), W2)
