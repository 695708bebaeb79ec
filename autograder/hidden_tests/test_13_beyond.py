"""Hidden tests of lab 13: blanks by their statistics, the rest against loops, in double precision."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.nn import functional as F

from autograder.testing import (
    Handle,
    as_array,
    expect,
    expect_close,
    expect_equal,
    expect_raises,
    expect_unchanged,
    has_a_part,
    hidden_test,
)

_NEGATIVE = "no token number is negative"
_CONTINUOUS = "a continuous draw never hits the border exactly"
EQUIVALENT_MUTANTS = {
    "masked_lm_batch: chosen = (rng.random(ids.shape) < rate) & (ids > PAD)": _NEGATIVE,
    "masked_lm_batch: chosen = (rng.random(ids.shape) <= rate) & (ids != PAD)": _CONTINUOUS,
    "masked_lm_batch: inputs = np.where(chosen & (fate <= 0.8), MASK, ids)": _CONTINUOUS,
    "masked_lm_batch: inputs = np.where(chosen & (fate >= 0.8) & (fate <= 0.9), words, inputs)": _CONTINUOUS,
    "masked_lm_batch: inputs = np.where(chosen & (fate > 0.8) & (fate < 0.9), words, inputs)": _CONTINUOUS,
    "masked_lm_batch: inputs = np.where(chosen & (fate >= 0.8) & (fate > 0.9), words, inputs)": "another tenth",
    "masked_lm_batch: inputs = np.where(chosen & (fate >= 0.8) & (fate >= 0.9), words, inputs)": "another tenth",
    "TinyLM: mask = (ids > PAD)[:, None, :]  # (B, 1, T)": _NEGATIVE,
    "sparse_mask: return (gap % dilation <= 0) & (gap.abs() <= width * dilation)": "a remainder is never negative",
}


def _expect_value_error(student, *arguments, **options):
    expect_raises(
        ValueError,
        lambda: student(*arguments, **options),
        "an argument that makes no sense should raise a ValueError",
    )


# ------------------------------------------------------------------------------------------ masked_lm_batch


def _two(result, shape):
    """Inputs and targets as integer arrays of the right shape."""
    expect(result is not None, "your function returns None: does it end with a return?")
    good = isinstance(result, (tuple, list)) and len(result) == 2
    expect(good, "two things should be returned: inputs, targets")
    arrays = [as_array(part, name) for part, name in zip(result, ("the inputs", "the targets"), strict=True)]
    for array, name in zip(arrays, ("the inputs", "the targets"), strict=True):
        expect(array.shape == shape, f"{name} should have the shape of ids")
    return arrays


def _expect_integers(student, *arrays):
    """The text asks for integer arrays: what comes next takes these numbers for places in a list."""
    kinds = [array.dtype.kind for array in arrays]
    student.observe("what kind of numbers", kinds)
    expect("f" not in kinds, "the inputs and the targets should be integers, not floats")


def _asked(ids, inputs, targets, V):
    """Where something is asked, once the batch is known to be sound there: words only, and the original ones."""
    asked = targets != -100
    expect(asked.any(), "nothing was chosen at all")
    expect(not asked[ids == 0].any(), "a question is asked at a padding position")
    expect((targets[asked] == ids[asked]).all(), "a target is not the original number of its position")
    sound = (inputs[ids != 0] >= 1).all() and (inputs < V).all()
    expect(sound, "a random word is padding, or lies beyond the vocabulary")
    return asked


def _observe(student, ids, inputs, targets):
    """What stays the same whatever is drawn, for a diagnosis: shares within what chance may do, and yes or no."""
    asked, words = targets != -100, ids != 0
    student.observe("ids is changed", bool(student.mutated))
    student.observe("padding is asked about", bool(asked[~words].any()))
    student.observe("targets are the original words", bool((targets[asked] == ids[asked]).all()))
    student.observe("inputs stay where nothing is asked", bool((inputs[~asked] == ids[~asked]).all()))
    student.observe("the share that is asked about", float(asked[words].mean()), atol=0.03)
    if asked.any():
        student.observe("the share of blanks", float((inputs[asked] == 1).mean()), atol=0.03)
        student.observe("the share that stays", float((inputs == ids)[asked].mean()), atol=0.03)


def _padded(rng, B, T, V):
    """Words 2 … V − 1, and padding behind a random length."""
    ids = rng.integers(2, V, size=(B, T))
    ids[np.arange(T) >= rng.integers(T // 2, T + 1, size=B)[:, None]] = 0
    return ids


def _expect_share(found, expected, count, what):
    """``found`` of ``count`` independent cases is a share near ``expected``: five and a half standard errors."""
    margin = 5.5 * math.sqrt(expected * (1 - expected) / count)
    more = "large" if found > expected else "small"
    expect(abs(found - expected) < margin, f"{what} is too {more}: it should be about {expected:.3f}")


def _share_of_one_word(lines, swapped):
    """Of the lines with several random words, the share in which these are all the same."""
    several = [words[there] for words, there in zip(lines, swapped, strict=True) if there.sum() > 1]
    return float(np.mean([(words == words[0]).all() for words in several])) if several else 0.0


def _gen(rng):
    return np.random.default_rng(int(rng.integers(2**62)))


@hidden_test("masked_lm_batch", weight=1)
def test_targets_are_the_original_words(student, rng):
    """At the chosen positions the target is the original word; elsewhere it is −100 and the input stays."""
    ids = _padded(rng, 150, 70, 31)
    inputs, targets = _two(student(ids, 31, _gen(rng), 0.3), ids.shape)
    _observe(student, ids, inputs, targets)
    _expect_integers(student, inputs, targets)
    asked = _asked(ids, inputs, targets, 31)
    _expect_share(asked[ids != 0].mean(), 0.3, (ids != 0).sum(), "the share of chosen words")
    expect((inputs[~asked] == ids[~asked]).all(), "an input was changed where nothing is asked")


@hidden_test("masked_lm_batch", weight=1.5)
def test_padding_is_never_chosen(student, rng):
    """Padding is never asked about and never changed, and ids stays as it was."""
    ids = _padded(rng, 200, 41, 12)
    inputs, targets = _two(student(ids, 12, _gen(rng), 0.6), ids.shape)
    _observe(student, ids, inputs, targets)
    expect_unchanged(student)
    _expect_integers(student, inputs, targets)
    _expect_share((targets != -100)[ids != 0].mean(), 0.6, (ids != 0).sum(), "the share of chosen words")
    expect((targets[ids == 0] == -100).all(), "a question is asked at a padding position")
    expect((inputs[ids == 0] == 0).all(), "padding became something else in the inputs")


@hidden_test("masked_lm_batch", weight=4)
def test_eighty_ten_ten(student, rng):
    """Of the chosen words 80 % become blanks, 10 % random words, 10 % stay, at any rate."""
    V = 2000
    for rate in (0.15, 0.8):
        ids = _padded(rng, 300, 301, V)
        inputs, targets = _two(student(ids, V, _gen(rng), rate), ids.shape)
        _observe(student, ids, inputs, targets)
        asked = _asked(ids, inputs, targets, V)
        n = int(asked.sum())
        _expect_share((inputs[asked] == 1).mean(), 0.8, n, "the share of chosen words that become [MASK]")
        stayed = 0.1 + 0.1 / (V - 2)
        _expect_share((inputs == ids)[asked].mean(), stayed, n, "the share of chosen words that stay")


@hidden_test("masked_lm_batch", weight=1.5)
def test_random_words_are_uniform(student, rng):
    """The random words are drawn evenly from all words, never padding or the blank, never one too many."""
    V = 9
    ids = np.full((400, 300), 4)
    inputs, targets = _two(student(ids, V, _gen(rng), 0.9), ids.shape)
    _observe(student, ids, inputs, targets)
    alike = [_share_of_one_word(lines, (lines != 1) & (lines != 4)) for lines in (inputs, inputs.T)]
    student.observe("rows and columns with one random word", alike, atol=0.1)
    never = [word for word in range(V) if not (inputs == word).any()]
    student.observe("the words that are never drawn", never)
    asked = _asked(ids, inputs, targets, V)
    n = int(asked.sum())
    shares = np.bincount(inputs[asked].astype(int), minlength=V) / n
    _expect_share(shares[1], 0.8, n, "the share of blanks")
    expect(max(alike) < 0.5, "all random words of a row or a column are one and the same")
    for word in (2, 3, 5, 6, 7, 8):
        _expect_share(shares[word], 0.1 / 7, n, "the share of one of the random words")
    _expect_share(shares[4], 0.1 + 0.1 / 7, n, "the share of words that are what they were")


@hidden_test("masked_lm_batch", weight=2)
def test_positions_are_chosen_independently(student, rng):
    """The number of chosen words differs from row to row as that of independent choices does."""
    B, T, rate = 6000, 20, 0.15
    ids = rng.integers(2, 50, size=(B, T))
    inputs, targets = _two(student(ids, 50, _gen(rng)), ids.shape)
    _observe(student, ids, inputs, targets)
    counts = (targets != -100).sum(axis=1)
    words, calls = np.full((2, 4), 5), 400
    small = [_two(one, words.shape)[1] for one in student.repeat(calls, words, 50, _gen(rng), 0.5)]
    half = np.mean([(one != -100).sum() == 4 for one in small])
    student.observe("batches in which just half is chosen", half, atol=0.15)
    words, few = np.full((1, 3), 5), 0.2
    small = [_two(one, words.shape)[1] for one in student.repeat(calls, words, 50, _gen(rng), few)]
    bare = np.mean([(one == -100).all() for one in small])
    student.observe("batches in which nothing is chosen", bare, atol=0.15)
    student.observe("rows in which nothing is chosen", float((counts == 0).mean()), atol=0.02)
    _asked(ids, inputs, targets, 50)
    _expect_share(counts.mean() / T, rate, B * T, "the share of chosen words when no rate is given")
    _expect_share((counts == 0).mean(), (1 - rate) ** T, B, "the share of rows in which nothing is chosen")
    columns = (targets != -100).mean(axis=0)
    for share in columns:
        _expect_share(share, rate, B, "the share of choices at one of the positions")
    _expect_share(
        half, 70 / 256, calls, "the share of small batches in which just half of the words are chosen"
    )
    _expect_share(bare, (1 - few) ** 3, calls, "the share of small batches in which nothing is chosen")


@hidden_test("masked_lm_batch", weight=1)
def test_each_chosen_position_has_its_own_fate(student, rng):
    """What becomes of a chosen word does not depend on what became of the others."""
    ids, calls = np.full((1, 5), 7), 1500
    results = [_two(one, ids.shape) for one in student.repeat(calls, ids, 400, _gen(rng), 1.0)]
    inputs = np.concatenate([one[0] for one in results])
    student.observe("rows of blanks only", (inputs == 1).all(axis=1).mean(), atol=0.07)
    expect(all((one[1] == ids).all() for one in results), "with rate 1 every word should be chosen")
    expect(
        _share_of_one_word(inputs, (inputs != 1) & (inputs != 7)) < 0.5,
        "a row's random words are one and the same",
    )
    _expect_share((inputs == 1).mean(), 0.8, 5 * calls, "the share of chosen words that become [MASK]")
    _expect_share(
        (inputs == 1).all(axis=1).mean(), 0.8**5, calls, "the share of rows in which all become [MASK]"
    )


@hidden_test("masked_lm_batch", weight=2)
def test_chance_comes_from_rng_only(student, rng):
    """The same state of rng gives the same batch, another state another one."""
    ids, seed = _padded(rng, 30, 40, 25), int(rng.integers(2**40))
    first, again, other = (
        np.stack(_two(student(ids, 25, np.random.default_rng(s), 0.5), ids.shape))
        for s in (seed, seed, seed + 1)
    )
    for name, same in (("inputs", 0), ("targets", 1)):
        student.observe(f"the same {name} twice", bool((first[same] == again[same]).all()))
        student.observe(f"the same {name} from another rng", bool((first[same] == other[same]).all()))
    expect(
        ((first[1] == ids) | (first[1] == -100)).all(), "a target is not the original number of its position"
    )
    expect((first == again).all(), "the same rng gives two different batches: draw from rng only")
    expect((first != other).any(), "another rng gives the same batch: draw from rng")


# --------------------------------------------------------------------------------------------------- TinyLM


def _shapes(V, d_model, d_ff, layers, max_length):
    """Names and shapes of everything that is learned."""
    shapes: dict[str, tuple[int, ...]] = {
        "embedding.weight": (V, d_model),
        "position.weight": (max_length, d_model),
        "head.weight": (V, d_model),
        "head.bias": (V,),
    }
    for i in range(layers):
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            shapes[f"blocks.{i}.attention.{name}.weight"] = (d_model, d_model)
            shapes[f"blocks.{i}.attention.{name}.bias"] = (d_model,)
        shapes[f"blocks.{i}.feed_forward.linear1.weight"] = (d_ff, d_model)
        shapes[f"blocks.{i}.feed_forward.linear1.bias"] = (d_ff,)
        shapes[f"blocks.{i}.feed_forward.linear2.weight"] = (d_model, d_ff)
        shapes[f"blocks.{i}.feed_forward.linear2.bias"] = (d_model,)
        for norm in ("norm1", "norm2"):
            shapes[f"blocks.{i}.{norm}.weight"] = shapes[f"blocks.{i}.{norm}.bias"] = (d_model,)
    return shapes


def _reference(weights, ids, heads, layers, causal):
    """The logits, block by block and head by head."""
    T = ids.shape[1]
    x = weights["embedding.weight"][ids] + weights["position.weight"][:T]
    allowed = (ids != 0)[:, None, :].expand(-1, T, -1)
    if causal:
        allowed = allowed & (torch.arange(T)[:, None] >= torch.arange(T))

    def linear(y, name):
        return F.linear(y, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def norm(y, name):
        return F.layer_norm(y, y.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])

    for i in range(layers):
        at = f"blocks.{i}"
        q, k, v = (linear(x, f"{at}.attention.{name}").chunk(heads, dim=-1) for name in ("W_Q", "W_K", "W_V"))
        heard = []
        for a, b, c in zip(q, k, v, strict=True):
            scores = (a @ b.mT / math.sqrt(a.shape[-1])).masked_fill(~allowed, -torch.inf)
            heard.append(scores.softmax(-1) @ c)
        x = norm(x + linear(torch.cat(heard, dim=-1), f"{at}.attention.W_O"), f"{at}.norm1")
        inner = linear(x, f"{at}.feed_forward.linear1").relu()
        x = norm(x + linear(inner, f"{at}.feed_forward.linear2"), f"{at}.norm2")
    return linear(x, "head")


def _build(student, rng, V, d_model, heads, d_ff, layers, max_length, causal, zero=()):
    """The student's model with weights of ours (those that begin with a name in ``zero`` are 0), and those weights."""
    model = student(V, d_model, heads, d_ff, layers, max_length, causal)
    expect(isinstance(model, Handle), "TinyLM should be a class that derives from nn.Module")
    shapes = _shapes(V, d_model, d_ff, layers, max_length)
    weights = {name: torch.tensor(0.6 * rng.normal(size=shape)) for name, shape in shapes.items()}
    for name in weights:
        weights[name] *= not name.startswith(tuple(zero))
    learned = set(model.parameters(shapes))
    expect(learned <= set(shapes), "the model learns more than it should with so many layers")
    if (
        "head.weight" not in learned
    ):  # the embedding's, perhaps: one test says so, the others see what else is wrong
        weights["head.weight"] = weights["embedding.weight"]
    model.call("double")
    model.load_state_dict(weights, strict=False)
    return model, weights


def _ids(rng, B, T, V, blanks=False):
    """Words, with blanks (number 1) among them or none."""
    ids = rng.integers(2, V, size=(B, T))
    if blanks:
        ids[:, 1::2] = 1
    return torch.tensor(ids)


def _logits(model, ids, V):
    """The logits, with 0 at padding: what comes out there is never used, and may be anything."""
    logits = as_array(model(ids), "the logits")
    expect(logits.shape == (*ids.shape, V), "the logits should have shape (B, T, V)")
    words = (ids != 0).numpy()
    expect(np.isfinite(logits[words]).all(), "the logits should be finite numbers")
    return np.where(words[..., None], logits, 0.0)


@hidden_test("TinyLM", weight=1.5)
def test_what_is_learned_has_the_names_of_the_text(student, rng):
    """What is learned is embedding, position, as many blocks as asked for, and head, in the sizes asked for."""
    for V, d, h, ff, n, longest, causal in ((7, 6, 2, 10, 1, 5, False), (11, 12, 3, 5, 3, 8, True)):
        model, _ = _build(student, rng, V, d, h, ff, n, longest, causal)
        shapes = _shapes(V, d, ff, n, longest)
        learned = model.parameters(shapes)
        student.observe("the names of what is learned", sorted(map(str, learned)))
        missing = {name.split(".")[0] for name in shapes if name not in learned}
        expect(not missing, f"of what is learned, parts of {', '.join(sorted(missing))} are missing")
        expect_equal(learned, shapes, "the list of what is learned (embedding, position, blocks, head)")
        ids = _ids(rng, 2, longest, V)
        other, end = ids.clone(), -1 if not causal else 0
        other[:, end] = (ids[:, end] - 1) % (V - 2) + 2  # the next word
        moved = _logits(model, ids, V) != _logits(model, other, V)
        expect(moved.any(axis=(0, 2)).all(), "a token has no influence on the others' logits")


@hidden_test("TinyLM", weight=2)
def test_one_block_of_known_weights(student, rng):
    """Encoders and decoders of one block give the right logits, for full and shorter sentences."""
    for V, d, h, ff, longest, T, causal in (
        (7, 6, 2, 10, 5, 5, False),
        (11, 12, 3, 5, 8, 3, True),
        (5, 4, 1, 6, 4, 1, False),
    ):
        model, weights = _build(student, rng, V, d, h, ff, 1, longest, causal)
        ids = _ids(rng, 2, T, V, blanks=True)
        expect_close(model(ids), _reference(weights, ids, h, 1, causal), "the logits of one block")


@hidden_test("TinyLM", weight=2)
def test_two_blocks_of_known_weights(student, rng):
    """Encoders and decoders of two blocks give the right logits."""
    for V, d, h, ff, longest, T, causal in ((7, 6, 2, 10, 5, 5, True), (11, 12, 3, 5, 8, 3, False)):
        model, weights = _build(student, rng, V, d, h, ff, 2, longest, causal)
        ids = _ids(rng, 3, T, V, blanks=True)
        expect_close(model(ids), _reference(weights, ids, h, 2, causal), "the logits of two blocks")


@hidden_test("TinyLM", weight=1)
def test_the_ranking_of_the_guesses(student, rng):
    """Which tokens are held likely, and in what order, is right."""
    for causal in (False, True):
        model, weights = _build(student, rng, 9, 6, 2, 10, 2, 7, causal)
        ids = _ids(rng, 8, 7, 9, blanks=True)
        expected = _reference(weights, ids, 2, 2, causal).numpy()
        found = _logits(model, ids, 9)
        expect_equal(found.argsort(-1), expected.argsort(-1), "the order of the guesses")


@hidden_test("TinyLM", weight=0.75)
def test_tokens_alone(student, rng):
    """Where all positions are alike, the tokens alone give the right logits."""
    model, weights = _build(student, rng, 9, 6, 2, 10, 2, 7, True, zero=("position",))
    ids = _ids(rng, 3, 6, 9)
    expect_close(model(ids), _reference(weights, ids, 2, 2, True), "the logits without positions")


@hidden_test("TinyLM", weight=0.75)
def test_positions_alone(student, rng):
    """Where all tokens are alike, the positions alone give the right logits."""
    for causal in (False, True):
        model, weights = _build(student, rng, 9, 6, 2, 10, 2, 7, causal, zero=("embedding",))
        ids = _ids(rng, 3, 6, 9)
        expect_close(model(ids), _reference(weights, ids, 2, 2, causal), "the logits of positions alone")


@hidden_test("TinyLM", weight=1)
def test_an_encoder_does_not_hear_padding_behind(student, rng):
    """Padding behind the sentences of an encoder changes none of their logits."""
    _expect_deaf_to_padding(student, rng, causal=False, earlier=True)


@hidden_test("TinyLM", weight=1)
def test_a_decoder_does_not_hear_padding_before(student, rng):
    """What is padding among the tokens before a word changes none of a decoder's logits."""
    _expect_deaf_to_padding(student, rng, causal=True)


def _expect_deaf_to_padding(student, rng, causal, earlier=False):
    model, weights = _build(student, rng, 9, 6, 3, 8, 2, 9, causal)
    ids = _ids(rng, 2, 6, 9)
    if earlier:
        _logits(model, ids, 9)  # what is kept of an earlier batch, its mask for one, may not be used again
    changed = ids.clone()
    ids[:, 2] = changed[:, 2] = 0
    changed[:, 0] = (ids[:, 0] - 1) % 7 + 2  # the next word
    logits = _logits(model, ids, 9)
    moved = np.abs(logits - _logits(model, changed, 9)).max(axis=(0, 2))
    expect((moved[1:2] > 0).all(), "the logits do not depend on the tokens")
    cotangent = torch.tensor(rng.normal(size=logits.shape))
    _expect_it_asks_its_blocks(model.gradients([ids], cotangent=cotangent).parameters)
    weights["embedding.weight"][0] += torch.tensor(rng.normal(size=6))
    model.load_state_dict(weights, strict=False)
    again = _logits(model, ids, 9)
    student.observe("what padding changes", (np.abs(again - logits) > 1e-9).any(axis=2))
    heard = np.abs(again - logits)[(ids != 0).numpy()][
        :, 1:
    ]  # a head may share its weights: they give padding's score
    expect((heard < 1e-9).all(), "the logits of words depend on what stands for padding")


def _expect_it_asks_its_blocks(gradients):
    """Whoever asks no block, or with a weight too small to matter, has nothing that could hear what it should not."""
    expect(has_a_part(gradients, "blocks"), "the logits depend on no weight of the blocks")


@hidden_test("TinyLM", weight=2.25)
def test_padding_is_not_heard(student, rng):
    """With padding behind the sentences, or inside, the logits of all words are those without it."""
    for causal in (False, True):
        model, _ = _build(student, rng, 9, 6, 3, 8, 2, 9, causal)
        ids = _ids(rng, 4, 7, 9)
        _logits(model, ids, 9)
        lengths = rng.integers(1, 7, size=4)
        ids[torch.arange(7) >= torch.tensor(lengths)[:, None]] = 0
        logits = _logits(model, ids, 9)
        kind = "a decoder" if causal else "an encoder"
        for row, length, found in zip(ids, lengths, logits, strict=True):
            bare = _logits(model, row[None, :length], 9)[0]
            expect_close(found[:length], bare, f"the logits of {kind} when padding follows")
        _expect_deaf_to_padding(student, rng, causal, earlier=True)


@hidden_test("TinyLM", weight=1.25)
def test_no_gradient_comes_from_the_future(student, rng):
    """A decoder's guess has a gradient of exactly 0 for every later token and position, and for no earlier one."""
    model, _ = _build(student, rng, 12, 6, 2, 9, 2, 7, True)
    ids = torch.tensor(rng.permutation(np.arange(2, 12))[:7][None])
    for t in (0, 3, 5):
        cotangent = torch.zeros(1, 7, 12, dtype=torch.double)
        cotangent[0, t] = torch.tensor(rng.normal(size=12))
        found = model.gradients([ids], cotangent=cotangent)
        for name in ("blocks.0.feed_forward.linear1.weight", "blocks.1.feed_forward.linear1.weight"):
            expect(found.parameters.get(name) is not None, "a block has no influence on the guesses")
        _expect_it_asks_its_blocks(found.parameters)
        for name in ("position.weight", "embedding.weight"):
            actual = found.parameters.get(name)
            expect(actual is not None, f"no gradient reaches {name}: is something detached?")
            actual = as_array(actual, f"the gradient of {name}")
            places = np.arange(7) if name.startswith("pos") else ids[0].numpy()
            expect(len(actual) > places.max(), f"the gradient of {name} has another shape")
            expect((actual[places[t + 1 :]] == 0).all(), "a guess depends on a token that comes after it")
            expect(
                (actual[places[: t + 1]] != 0).any(axis=1).all(),
                "a guess does not depend on every token up to its own",
            )


# ---------------------------------------------------------------------------------------------- sparse_mask


def _allowed(kind, i, j, width, dilation, n_global):
    near = -width <= i - j <= width
    if kind == "dilated":
        return any(abs(i - j) == step * dilation for step in range(width + 1))
    return {
        "full": True,
        "causal": j <= i,
        "local": near,
        "global": near or min(i, j) < n_global,
    }[kind]


def _expect_mask(student, kind, T, booleans=False, **given):
    options = {"width": 2, "dilation": 2, "n_global": 1, **given}
    expected = np.array([[_allowed(kind, i, j, **options) for j in range(T)] for i in range(T)])
    mask = as_array(student(kind, T, **given), "the mask")
    if booleans:
        expect(mask.dtype.kind == "b", "the mask should hold True and False")
    expect_close(mask, expected, f"the mask of kind {kind}")


@hidden_test("sparse_mask", weight=1)
def test_the_pairs_of_sixteen_positions(student):
    """The counts of the text, for 16 positions: 256, 136, 74, 68 and 100 pairs."""
    for kind, pairs in {"full": 256, "causal": 136, "local": 74, "dilated": 68, "global": 100}.items():
        mask = as_array(student(kind, 16), "the mask")
        expect(mask.shape == (16, 16), "the mask should have shape (T, T)")
        expect_equal(int(mask.sum()), pairs, f"the number of pairs of kind {kind}")


@hidden_test("sparse_mask", weight=3)
def test_full_and_causal_at_other_lengths(student):
    """Full and causal, at odd and even lengths and length one: True or False at each pair."""
    for T in (7, 1, 2, 13):
        _expect_mask(student, "full", T, booleans=True, width=1)
        _expect_mask(student, "causal", T, booleans=True, width=0, n_global=3)


@hidden_test("sparse_mask", weight=2)
def test_windows(student):
    """Local windows of several widths, also of width zero."""
    for T, width in ((11, 4), (9, 1), (5, 0)):
        _expect_mask(student, "local", T, width=width)
    _expect_mask(student, "local", 13)


@hidden_test("sparse_mask", weight=3)
def test_windows_with_gaps(student):
    """Dilated windows of several widths and dilations; a dilation of one is the plain window."""
    for T, width, dilation in ((15, 3, 2), (12, 1, 3), (8, 2, 1), (7, 0, 2)):
        _expect_mask(student, "dilated", T, booleans=True, width=width, dilation=dilation)


@hidden_test("sparse_mask", weight=3)
def test_windows_with_global_positions(student):
    """Global positions have full rows and columns, and the window stays."""
    for T, width, n_global in ((11, 3, 2), (9, 1, 2), (7, 0, 1), (10, 2, 0)):
        _expect_mask(student, "global", T, width=width, n_global=n_global)


@hidden_test("sparse_mask", weight=3.5)
def test_arguments_that_are_larger_than_the_text(student):
    """Windows, gaps and global positions beyond the text, one position, and what a kind does not need: True or False."""
    for options in ({}, {"width": 5, "dilation": 7, "n_global": 9}):
        _expect_mask(student, "full", 4, **options)
    for T, width in ((4, 9), (1, 2)):
        _expect_mask(student, "local", T, booleans=True, width=width)
    for T, width, dilation in ((4, 9, 1), (6, 2, 9), (1, 1, 1)):
        _expect_mask(student, "dilated", T, width=width, dilation=dilation)
    for T, width, n_global in ((6, 1, 8), (1, 0, 1), (4, 4, 1), (5, 9, 0), (3, 7, 2)):
        _expect_mask(student, "global", T, width=width, n_global=n_global)


@hidden_test("sparse_mask", weight=2)
def test_an_unknown_kind_of_mask(student):
    """An unknown kind raises a ValueError, and the known ones do not."""
    _expect_mask(student, "local", 6, booleans=True, width=1)
    for kind in ("diagonal", "Local", "", "hybrid", "windowed"):
        _expect_value_error(student, kind, 6)


# ------------------------------------------------------------------------------------------------- patchify


def _patches(images, p):
    """Patch by patch, with slices."""
    images = np.asarray(images)
    B, H, W, _ = images.shape
    return np.array(
        [
            [images[b, r : r + p, c : c + p].ravel() for r in range(0, H, p) for c in range(0, W, p)]
            for b in range(B)
        ]
    )


@hidden_test("patchify", weight=1)
def test_one_channel_and_square_images(student, rng):
    """Square images with one channel, patches of several sizes; images are left alone."""
    for B, side, p in ((2, 6, 2), (3, 9, 3), (1, 8, 4)):
        images = torch.tensor(rng.normal(size=(B, side, side, 1)))
        expect_close(student(images, p), _patches(images, p), "the patches")
        expect_unchanged(student)


@hidden_test("patchify", weight=1.5)
def test_images_that_are_no_squares(student, rng):
    """Images higher than wide, and wider than high."""
    for B, H, W, p in ((1, 4, 4, 2), (2, 4, 10, 2), (3, 9, 3, 3), (1, 8, 12, 4)):
        images = torch.tensor(rng.normal(size=(B, H, W, 1)))
        expect_close(student(images, p), _patches(images, p), "the patches")


@hidden_test("patchify", weight=2)
def test_colours(student, rng):
    """Several channels keep each pixel's numbers together."""
    for shape, p in (((2, 4, 6, 3), 2), ((3, 6, 3, 2), 3), ((2, 2, 8, 5), 2)):
        images = torch.tensor(rng.normal(size=shape))
        expect_close(student(images, p), _patches(images, p), "the patches")


@hidden_test("patchify", weight=1.5)
def test_views_of_images(student, rng):
    """Images that are transposed views are cut like any others."""
    for view in (
        torch.tensor(rng.normal(size=(2, 3, 6, 4))).permute(0, 3, 2, 1),
        torch.tensor(rng.normal(size=(3, 6, 4, 2))).permute(3, 2, 1, 0),  # not contiguous
    ):
        expect_close(student(view, 2), _patches(view, 2), "the patches of a transposed view")


@hidden_test("patchify", weight=0.5)
def test_the_smallest_and_the_largest_patch(student, rng):
    """Patches of one pixel, and one patch that is the whole image."""
    images = torch.tensor(rng.normal(size=(2, 5, 5, 3)))
    expect_close(student(images, 1), images.reshape(2, 25, 3), "the patches of one pixel")
    expect_close(student(images, 5), images.reshape(2, 1, 75), "the patch that is the whole image")


@hidden_test("patchify", weight=2)
def test_patches_that_do_not_fit(student, rng):
    """A ValueError when the patches do not fill the height or the width, and only then."""
    images = torch.tensor(rng.normal(size=(2, 4, 4, 1)))
    expect_close(student(images, 2), _patches(images, 2), "the patches")
    shapes = (((1, 6, 4, 1), 3), ((1, 4, 6, 1), 3), ((2, 4, 6, 6), 4), ((1, 3, 3, 1), 6), ((1, 2, 8, 1), 4))
    for shape, p in shapes:
        _expect_value_error(student, torch.zeros(shape), p)


# ------------------------------------------------------------------------------------------ mel_spectrogram


def _filters(n_mels, frame, rate):
    top = 2595 * math.log10(1 + rate / 1400)
    corner = [700 * (10 ** (top * k / (n_mels + 1) / 2595) - 1) for k in range(n_mels + 2)]
    table = np.zeros((n_mels, frame // 2 + 1))
    for m in range(n_mels):
        low, centre, high = corner[m : m + 3]
        for b in range(frame // 2 + 1):
            f = b * rate / frame
            if low < f < high:
                table[m, b] = (f - low) / (centre - low) if f <= centre else (high - f) / (high - centre)
    return table


def _mels(signal, rate, frame=256, hop=128, n_mels=20):
    """Frame by frame, with the Fourier transform as a sum of cosines and sines."""
    n = np.arange(frame)
    waves = np.exp(-2j * np.pi * np.outer(np.arange(frame // 2 + 1), n) / frame)
    window, filters, rows = np.sin(np.pi * n / frame) ** 2, _filters(n_mels, frame, rate), []
    for start in range(0, len(signal) - frame + 1, hop):
        power = np.abs(waves @ (window * signal[start : start + frame])) ** 2
        rows.append([math.log(max(float(row @ power), 1e-10)) for row in filters])
    return np.array(rows)


def _close(student, signal, *arguments, what="the spectrogram", **options):
    expect_close(
        student(signal, *arguments, **options),
        _mels(signal, *arguments, **options),
        what,
        rtol=1e-6,
        atol=1e-5,  # of logarithms: room for a spectrum in single precision
    )


def _spectrogram(value, bands, least, frames):
    """The student's spectrogram, once it has its bands and ``least`` to ``frames`` frames."""
    mels = as_array(value, "the spectrogram")
    expect(
        mels.ndim == 2 and mels.shape[1] == bands, f"the spectrogram should have {bands} bands, in columns"
    )
    expect(least <= len(mels), f"the spectrogram should have {frames} frames, and has fewer")
    expect(len(mels) <= frames, f"the spectrogram should have {frames} frames, and has more")
    expect(np.isfinite(mels).all(), "the spectrogram should hold finite numbers")
    return mels


def _melody(rng, frame, hop, frames, n_mels, rate=8000):
    """A signal of tones, each in the middle of a band and as long as a frame."""
    top = 2595 * math.log10(1 + rate / 1400)
    middles = [700 * (10 ** (top * k / (n_mels + 1) / 2595) - 1) for k in range(1, n_mels + 1)]
    n = np.arange(frame + hop * (frames - 1))
    bands = rng.integers(n_mels // 2, n_mels - 1, size=len(n) // frame + 1)
    return 50 * np.sin(2 * np.pi * np.array(middles)[bands[n // frame]] * n / rate)


def _expect_loudest_bands(mels, signal, *arguments):
    """The loudest band of every frame in which one is clearly the loudest."""
    expected = _mels(signal, 8000, *arguments)[: len(mels)]
    ranked = np.sort(expected, axis=1)
    clear = ranked[:, -1] - ranked[:, -2] > 1.5
    expect(np.ptp(mels) > 0, "the spectrogram is the same everywhere")
    expect_equal(mels.argmax(1)[clear], expected.argmax(1)[clear], "the list of the loudest bands")


@hidden_test("mel_spectrogram", weight=2.5)
def test_the_loudest_band_follows_the_tone(student, rng):
    """In each frame of a melody the loudest band is that of the tone."""
    for frames in (6, 9):
        signal = _melody(rng, 256, 128, frames, 20)
        _expect_loudest_bands(_spectrogram(student(signal, 8000), 20, frames - 1, frames), signal)


@hidden_test("mel_spectrogram", weight=1.5)
def test_frames_and_hops_of_other_sizes(student, rng):
    """With other frames and hops, too, every whole frame has a row, and its loudest band is that of the tone."""
    for frame, hop, frames in ((256, 64, 8), (128, 200, 5), (128, 32, 11)):
        signal = _melody(rng, frame, hop, frames, 12)
        mels = _spectrogram(student(signal, 8000, frame, hop, 12), 12, frames, frames)
        _expect_loudest_bands(mels, signal, frame, hop, 12)


@hidden_test("mel_spectrogram", weight=1.5)
def test_the_loudness_is_nearly_right(student, rng):
    """In noise every band's loudness is right within a tenth of its unit or so."""
    signal = rng.normal(size=256 + 128 * 6)
    mels = _spectrogram(student(signal, 8000), 20, 6, 7)
    off = np.abs(mels - _mels(signal, 8000)[: len(mels)])
    expect(np.median(off) < 0.15, "the loudness is not right, not even nearly")


@hidden_test("mel_spectrogram", weight=0.75)
def test_what_is_louder_than_what(student, rng):
    """In noise the bands stand to each other as they should, in whatever unit they are measured."""
    signal = 5 * rng.normal(size=256 + 128 * 5)
    mels = _spectrogram(student(signal, 8000), 20, 5, 6)
    expected = _mels(signal, 8000)[: len(mels)]
    expect(np.std(mels) > 0, "the spectrogram is the same everywhere")
    expect_close(
        (mels - mels.mean()) / mels.std(),
        (expected - expected.mean()) / expected.std(),
        "the bands, measured by their mean and spread,",
        rtol=1e-5,
        atol=1e-5,
    )


@hidden_test("mel_spectrogram", weight=0.75)
def test_noise_with_the_usual_frames(student, rng):
    """Noise of several lengths, with the default frame, hop and bands; the signal is left alone."""
    for N in (1000, 256, 896, 700):
        _close(student, rng.normal(size=N), 8000)
        expect_unchanged(student)


@hidden_test("mel_spectrogram", weight=1)
def test_other_frames_hops_and_bands(student, rng):
    """Other frames, hops (also larger than the frame), numbers of bands and rates."""
    for N, rate, frame, hop, n_mels in (
        (300, 4000, 64, 20, 7),
        (500, 16000, 100, 130, 5),
        (258, 8000, 128, 1, 6),
    ):
        _close(student, 3 * rng.normal(size=N), rate, frame, hop, n_mels)
    _close(student, rng.normal(size=400), 11025, frame=80, hop=40, n_mels=6)


@hidden_test("mel_spectrogram", weight=0.75)
def test_silence_is_the_floor(student, rng):
    """In silence every band is the logarithm of the floor, and noise is far above it."""
    noise = _spectrogram(student(rng.normal(size=300), 8000), 20, 1, 1)
    expect((noise > -10).all(), "noise should lie far above the floor")
    for N in (500, 700):
        frames = (N - 256) // 128 + 1
        mels = _spectrogram(student(np.zeros(N), 8000), 20, max(frames - 1, 1), frames)
        expect_close(mels, np.full((len(mels), 20), math.log(1e-10)), "the spectrogram of silence", rtol=1e-6)


@hidden_test("mel_spectrogram", weight=1)
def test_quiet_signals_and_the_floor(student, rng):
    """Signals so quiet that some bands lie below the floor."""
    for loudness in (3e-7, 1e-6):
        _close(student, loudness * rng.normal(size=600), 8000, what="the spectrogram of a quiet signal")


@hidden_test("mel_spectrogram", weight=0.25)
def test_tones_whole_numbers_and_views(student, rng):
    """Integers, a strided view and a tone whose band is the loudest, in noise: single precision does not reach what leaks out of a bare tone."""
    _close(student, rng.normal(size=1200)[::2], 8000, what="the spectrogram of a view")
    _close(student, rng.integers(-900, 900, size=520), 8000, what="the spectrogram of whole numbers")
    tone = 100 * np.sin(2 * np.pi * 1333 * np.arange(600) / 8000) + 10 * rng.normal(size=600)
    _close(student, tone, 8000, what="the spectrogram of a tone")
