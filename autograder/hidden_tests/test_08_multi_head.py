"""Hidden tests of lab 08: heads against loops over columns, the module against PyTorch's own.

A slip is paid for once: where an answer builds on the student's own earlier answers, a test that fails is tried
again with right ones in their place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from autograder.testing import (
    Handle,
    as_array,
    expect,
    expect_close,
    expect_equal,
    expect_unchanged,
    follow_through,
    hidden_test,
    part_of_a_scene,
)


def _tensor(rng, *shape):
    return torch.tensor(rng.normal(size=shape))


def _two(result):
    """The two things an attention returns."""
    expect(result is not None, "your function returns None: does it end with a return?")
    expect(
        isinstance(result, (tuple, list)) and len(result) == 2,
        "two things should be returned: output, weights",
    )
    return result


#: Of a result in double precision whose scores, or all of whose steps, were taken in single precision: relative to each number, and
#: to the largest. It is a fifth of what a result in single precision gets anyway, so no mistake can hide behind it.
_ROUNDED = 4e-5


def _expect_near(actual, expected, what, scale=None):
    """Like ``expect_close``, with room for steps in single precision on the way; ``scale`` is the largest number of its kind."""
    largest = float(np.abs(np.asarray(expected.detach() if hasattr(expected, "detach") else expected)).max())
    atol = _ROUNDED / 8 * max(largest, scale or 0.0)
    expect_close(actual, expected, what, rtol=_ROUNDED, atol=atol)


# What a later question may lean on when the student's own is wrong: see ``follow_through``.
_HEADS = """
import torch
from torch import nn


def split_heads(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


def multi_head_attention(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    q, k, v = split_heads(x @ W_Q, h), split_heads(memory @ W_K, h), split_heads(memory @ W_V, h)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.unsqueeze(-3), float("-inf"))
    weights = scores.softmax(-1)
    return merge_heads(weights @ v) @ W_O, weights


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, h):
        super().__init__()
        self.h = h
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, memory=None, mask=None):
        source = x if memory is None else memory
        q, k, v = (split_heads(y, self.h) for y in (self.W_Q(x), self.W_K(source), self.W_V(source)))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(-3), float("-inf"))
        weights = scores.softmax(-1)
        return self.W_O(merge_heads(weights @ v)), weights
"""
_with_right_heads = follow_through(_HEADS, "split_heads", "merge_heads")
_with_right_attention = follow_through(_HEADS, "split_heads", "merge_heads", "multi_head_attention")
_with_right_module = follow_through(_HEADS, "split_heads", "merge_heads", "MultiHeadAttention")


# ---------------------------------------------------------------------------------- split_heads and merge_heads


def _split(x, h):
    """Heads cut from the columns, one number at a time."""
    B, T, D = x.shape
    d_h = D // h
    heads = np.zeros((B, h, T, d_h))
    for b, head, t, column in np.ndindex(B, h, T, d_h):
        heads[b, head, t, column] = x[b, t, head * d_h + column]
    return heads


@hidden_test("split_heads", weight=2)
def test_the_two_words_of_the_text_are_cut(student):
    """Two words of size 4 and two heads, as in the text."""
    x = torch.tensor([[[0.0, 1, 2, 3], [10, 11, 12, 13]]])
    expect_close(student(x, 2), [[[[0, 1], [10, 11]], [[2, 3], [12, 13]]]], "the heads")


@hidden_test("split_heads", weight=2)
def test_heads_are_cut_from_columns(student, rng):
    """Other batches, lengths and numbers of heads; the argument is left alone."""
    for B, T, h, d_h in ((2, 5, 3, 4), (3, 4, 2, 1), (1, 1, 4, 3), (2, 3, 2, 5), (4, 7, 5, 2)):
        x = _tensor(rng, B, T, h * d_h)
        expect_close(student(x, h), _split(x.numpy(), h), "the heads")
        expect_unchanged(student, "work on a new tensor")


@hidden_test("split_heads")
def test_a_single_head_gets_everything(student, rng):
    """A single head gets all columns, and has an axis of its own."""
    for B, T, D in ((2, 3, 5), (1, 4, 6)):
        x = _tensor(rng, B, T, D)
        expect_close(student(x, 1), x[:, None], "the only head")


@hidden_test("split_heads", weight=0.5)
def test_the_paper_splits_512_into_eight_heads_of_64(student, rng):
    """A model of size 512 and eight heads: each gets 64 numbers of every word."""
    x = torch.arange(3 * 512.0).reshape(1, 3, 512)
    expect_close(student(x, 8), _split(x.numpy(), 8), "the eight heads")


@hidden_test("split_heads", weight=1.5)
def test_a_transposed_view_is_cut(student, rng):
    """A transposed view, which is not contiguous in memory."""
    x = _tensor(rng, 2, 6, 5).transpose(1, 2)
    expect_close(student(x, 3), _split(x.numpy(), 3), "the heads of a transposed view")


def _merged(x):
    """Heads side by side, one number at a time."""
    B, h, T, d_h = x.shape
    words = np.zeros((B, T, h * d_h))
    for b, head, t, column in np.ndindex(B, h, T, d_h):
        words[b, t, head * d_h + column] = x[b, head, t, column]
    return words


@hidden_test("merge_heads", weight=2)
def test_heads_are_put_side_by_side(student, rng):
    """Other batches, lengths and numbers of heads; the argument is left alone."""
    for shape in ((2, 3, 5, 4), (3, 2, 4, 1), (1, 4, 1, 3), (2, 3, 1, 4), (4, 5, 7, 2)):
        x = _tensor(rng, *shape)
        expect_close(student(x), _merged(x.numpy()), "the merged heads")
        expect_unchanged(student, "work on a new tensor")


@hidden_test("merge_heads", weight=1.25)
def test_a_single_head_stands_alone(student, rng):
    """What a single head says of the words is the result."""
    for B, T, d_h in ((2, 3, 5), (4, 2, 6)):
        x = _tensor(rng, B, 1, T, d_h)
        expect_close(student(x), x[:, 0], "what the only head says")


@hidden_test("merge_heads")
def test_the_heads_of_a_single_sentence(student, rng):
    """In a batch of one sentence the heads of each word stand side by side."""
    for shape in ((1, 3, 5, 4), (1, 2, 4, 1), (1, 5, 2, 3)):
        x = _tensor(rng, *shape)
        expect_close(student(x), _merged(x.numpy()), "the merged heads of a sentence")


@hidden_test("merge_heads", weight=0.75)
def test_merging_undoes_splitting(student, rng):
    """What was cut into heads comes back, also when the heads are a view."""
    x = _tensor(rng, 2, 7, 12)
    expect_close(student(torch.tensor(_split(x.numpy(), 4))), x, "the sentence, cut and merged again")
    view = _tensor(rng, 2, 4, 3, 5).transpose(1, 2)  # (2, 3, 4, 5), not contiguous
    expect_close(student(view), _merged(view.numpy()), "the merged heads of a view")


# -------------------------------------------------------------------------------------- multi_head_attention


def _softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _multi_head(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """One sentence and one head at a time, each with its own slices of the matrices."""
    x, memory, W_Q, W_K, W_V, W_O = (
        np.asarray(part, dtype=float) for part in (x, memory, W_Q, W_K, W_V, W_O)
    )
    d_k, d_v = W_Q.shape[1] // h, W_V.shape[1] // h
    shape = (len(x), x.shape[1], memory.shape[1])
    allowed = np.broadcast_to(True if mask is None else np.asarray(mask), shape)
    outputs, maps = [], []
    for sentence, source, may in zip(x, memory, allowed, strict=True):
        heard, weights = [], []
        for i in range(h):
            q, k = sentence @ W_Q[:, i * d_k : (i + 1) * d_k], source @ W_K[:, i * d_k : (i + 1) * d_k]
            weights.append(_softmax(np.where(may, q @ k.T / math.sqrt(d_k), -np.inf)))
            heard.append(weights[-1] @ source @ W_V[:, i * d_v : (i + 1) * d_v])
        outputs.append(np.concatenate(heard, axis=1) @ W_O)
        maps.append(weights)
    return np.array(outputs), np.array(maps)


def _expect_heads(student, *arguments):
    output, weights = _two(student(*arguments))
    expected = _multi_head(*arguments)
    _expect_near(weights, expected[1], "the weights (the second result)")
    _expect_near(output, expected[0], "the output (the first result)")


def _expect_output(student, *arguments):
    """The right output, whatever the weights are."""
    output, weights = _two(student(*arguments))
    expected = _multi_head(*arguments)
    _expect_near(output, expected[0], "the output (the first result)")
    if as_array(weights, "the weights").shape != expected[1].shape:
        expect(False, "the weights should have shape (B, h, T_q, T_k)")


def _matrices(rng, d_model, h, d_k, d_v):
    shapes = ((d_model, h * d_k), (d_model, h * d_k), (d_model, h * d_v), (h * d_v, d_model))
    return [_tensor(rng, *shape) for shape in shapes]


@hidden_test("multi_head_attention", weight=1.75)
@_with_right_heads
def test_one_head_is_lab_07(student, rng):
    """With one head and an identity for the last matrix it is the attention of lab 07."""
    x = _tensor(rng, 2, 5, 6)
    W_Q, W_K, W_V, _ = _matrices(rng, 6, 1, 6, 6)
    output, weights = _two(student(x, x, W_Q, W_K, W_V, torch.eye(6, dtype=torch.double), 1))
    expected = _softmax(((x @ W_Q) @ (x @ W_K).transpose(1, 2) / math.sqrt(6)).numpy())
    _expect_near(weights, expected[:, None], "the weights of the only head")
    _expect_near(output, expected @ (x @ W_V).numpy(), "the output")


@hidden_test("multi_head_attention", weight=2.5)
@_with_right_heads
def test_a_sentence_listens_to_itself(student, rng):
    """Self-attention with other sizes and numbers of heads; arguments are left alone."""
    for B, T, d_model, h in ((2, 5, 12, 3), (3, 4, 6, 2), (1, 1, 8, 4)):
        x = _tensor(rng, B, T, d_model)
        _expect_heads(student, x, x, *_matrices(rng, d_model, h, d_model // h, d_model // h), h)
        expect_unchanged(student, "work on a new tensor")


@hidden_test("multi_head_attention", weight=1.5)
@_with_right_heads
def test_a_sentence_listens_to_another(student, rng):
    """Cross-attention: what is heard where the listener and the memory have different lengths."""
    for tq, tk in ((3, 3), (3, 4), (5, 2), (1, 3), (4, 1)):
        x, memory = _tensor(rng, 2, tq, 6), _tensor(rng, 2, tk, 6)
        _expect_output(student, x, memory, *_matrices(rng, 6, 3, 2, 2), 3)


@hidden_test("multi_head_attention")
@_with_right_heads
def test_sizes_of_keys_and_values_differ(student, rng):
    """What is heard with keys and values of different sizes, neither of them d_model / h."""
    x, memory = _tensor(rng, 2, 3, 5), _tensor(rng, 2, 4, 5)
    for d_k, d_v in ((3, 3), (7, 2), (1, 4)):
        _expect_output(student, x, memory, *_matrices(rng, 5, 3, d_k, d_v), 3)


def _masks(rng, B):
    """Masks for three words that listen to four: for all sentences, for each, and with one row for all queries."""
    for shape in ((3, 4), (B, 3, 4), (B, 1, 4)):
        mask = rng.random(shape) < 0.5
        mask[..., 1] |= ~mask.any(axis=-1)
        mask[..., 3] &= mask.sum(axis=-1) < 4
        yield torch.tensor(mask)


@hidden_test("multi_head_attention", weight=2)
@_with_right_heads
def test_who_asks_for_nothing_listens_to_all_alike(student, rng):
    """When all scores are equal, every word of the memory is heard alike, and what is heard is merged and mixed."""
    for tq, tk in ((3, 4), (5, 2)):
        x, memory = _tensor(rng, 2, tq, 6), _tensor(rng, 2, tk, 6)
        W_Q, W_K, W_V, W_O = _matrices(rng, 6, 3, 2, 2)
        _expect_heads(student, x, memory, W_Q, 0 * W_K, W_V, W_O, 3)


@hidden_test("multi_head_attention", weight=2.5)
@_with_right_heads
def test_masks_of_a_sentence_that_listens_to_itself(student, rng):
    """One head, and a mask for each sentence: a sentence that asks for nothing hears its allowed words alike."""
    x = _tensor(rng, 3, 4, 6)
    W_Q, W_K, W_V, W_O = _matrices(rng, 6, 1, 6, 6)
    for shape in ((3, 4, 4), (3, 1, 4)):
        mask = torch.tensor(rng.random(shape) < 0.5)
        mask[..., 1], mask[..., 3] = True, False
        _expect_heads(student, x, x, W_Q, 0 * W_K, W_V, W_O, 1, mask)


@hidden_test("multi_head_attention", weight=2)
@_with_right_heads
def test_a_mask_leaves_the_others_alike(student, rng):
    """When all scores are equal, the words that a mask allows are heard alike, and the others not at all."""
    for B, h in ((2, 3), (3, 3)):
        x, memory = _tensor(rng, B, 3, 6), _tensor(rng, B, 4, 6)
        W_Q, W_K, W_V, W_O = _matrices(rng, 6, h, 2, 2)
        for mask in _masks(rng, B):
            _expect_heads(student, x, memory, W_Q, 0 * W_K, W_V, W_O, h, mask)


@hidden_test("multi_head_attention", weight=3)
@_with_right_heads
def test_masks_hold_for_every_head(student, rng):
    """Masks for all sentences, for each sentence, and with one row for all queries, also when B equals h."""
    for B, h in ((2, 3), (3, 3), (4, 2)):
        x, memory = _tensor(rng, B, 3, 6), _tensor(rng, B, 4, 6)
        matrices = _matrices(rng, 6, h, 2, 2)
        for mask in _masks(rng, B):
            _expect_heads(student, x, memory, *matrices, h, mask)
            expect_unchanged(student, "work on a new tensor")


@hidden_test("multi_head_attention", weight=0.5)
@_with_right_heads
def test_heads_sizes_and_masks_together(student, rng):
    """Keys and values of different sizes, with and without masks, for one head and one sentence too, with a memory and without."""
    for B, h in ((1, 2), (2, 1), (3, 3)):
        x, memory, as_long = (_tensor(rng, B, length, 6) for length in (4, 5, 4))
        for source in (x, memory, as_long):
            matrices = _matrices(rng, 6, h, 4, 2)
            _expect_heads(student, x, source, *matrices, h)
            for shape in ((4, source.shape[1]), (B, 4, source.shape[1]), (B, 1, source.shape[1])):
                mask = torch.tensor(rng.random(shape) < 0.5)
                mask[..., 1], mask[..., 3] = True, False
                _expect_heads(student, x, source, *matrices, h, mask)


# ---------------------------------------------------------------------------------------- MultiHeadAttention

_LAYERS = ("W_Q", "W_K", "W_V", "W_O")


def _build(student, d_model, h, dtype):
    """The student's module in the precision ``dtype``, in evaluation mode."""
    module = student(d_model, h)
    expect(isinstance(module, Handle), "MultiHeadAttention should be a class that derives from nn.Module")
    module.call("double" if dtype is torch.double else "float")
    module.eval()
    return module


def _expect_the_four_layers(module, d_model):
    """What is learned is four layers with their biases, by name and shape, and nothing else."""
    wanted: dict[str, tuple[int, ...]] = {f"{name}.weight": (d_model, d_model) for name in _LAYERS}
    wanted.update({f"{name}.bias": (d_model,) for name in _LAYERS})
    learned = module.parameters(wanted)
    missing = [name for name in wanted if name not in learned]
    expect(not missing, f"of what is learned there is no {', no '.join(missing)} of its own")
    expect_equal(
        learned, wanted, "the names or shapes of what is learned (W_Q, W_K, W_V, W_O, each nn.Linear)"
    )


def _twins(student, rng, d_model, h, dtype=torch.double, biases=False, scale=1.0):
    """The student's module and PyTorch's with the same weights, drawn anew, all biases 0 unless ``biases`` are asked for.

    ``scale`` multiplies the weights of the queries: with 0 every word listens to all alike.
    """
    module = _build(student, d_model, h, dtype)
    theirs = nn.MultiheadAttention(d_model, h, batch_first=True, dtype=dtype)
    draw = torch.Generator().manual_seed(int(rng.integers(2**62)))  # faster than NumPy for a million numbers
    weights = {}
    for name in _LAYERS:
        weight = torch.randn(d_model, d_model, generator=draw, dtype=dtype)
        weights[f"{name}.weight"] = weight / math.sqrt(d_model) * (scale if name == "W_Q" else 1)
        weights[f"{name}.bias"] = biases * torch.randn(d_model, generator=draw, dtype=dtype)
    module.load_state_dict(weights, strict=False)  # a buffer of the student's own may stay as it is
    theirs.load_state_dict(
        {
            "in_proj_weight": torch.cat([weights[f"{name}.weight"] for name in _LAYERS[:3]]),
            "in_proj_bias": torch.cat([weights[f"{name}.bias"] for name in _LAYERS[:3]]),
            "out_proj.weight": weights["W_O.weight"],
            "out_proj.bias": weights["W_O.bias"],
        }
    )
    return module, theirs


def _both(module, theirs, x, memory=None, mask=None):
    """Output and maps of the student's module, and of PyTorch's. ``mask`` (…, T_q, T_k) is True where allowed."""
    source = x if memory is None else memory
    forbidden = None
    if mask is not None:
        forbidden = ~mask.expand(len(x), x.shape[1], source.shape[1]).repeat_interleave(
            theirs.num_heads, dim=0
        )
    with torch.no_grad():
        expected = theirs(x, source, source, attn_mask=forbidden, average_attn_weights=False)
    options = {name: value for name, value in (("memory", memory), ("mask", mask)) if value is not None}
    found = _two(module(x, **options))
    expect_unchanged(module, "work on a new tensor")
    return found, expected


def _expect_maps_of_heads(*arguments):
    """The same map for each head as in PyTorch's module."""
    (_, weights), (_, maps) = _both(*arguments)
    _expect_near(weights, maps, "the weights (the second result)")


def _expect_agreement(*arguments):
    """The same output and the same map for each head as in PyTorch's module."""
    (output, weights), (expected, maps) = _both(*arguments)
    _expect_near(weights, maps, "the weights (the second result)")
    _expect_near(output, expected, "the output (the first result)")


_SIZES = ((2, 5, 12, 3), (3, 4, 4, 2), (2, 4, 6, 1), (1, 3, 10, 5))


@hidden_test("MultiHeadAttention", weight=4)
@_with_right_attention
def test_each_heads_map_agrees_with_pytorch(student, rng):
    """In self-attention the weights of each head equal those of nn.MultiheadAttention."""
    for B, T, d_model, h in _SIZES:
        _expect_maps_of_heads(*_twins(student, rng, d_model, h), _tensor(rng, B, T, d_model))


@hidden_test("MultiHeadAttention", weight=4)
@_with_right_attention
def test_what_is_heard_by_all_alike(student, rng):
    """Where every word listens to all alike, what comes out is the values' mean, through the last layer."""
    for B, T, d_model, h in _SIZES:
        module, theirs = _twins(student, rng, d_model, h, scale=0.0)
        _expect_agreement(module, theirs, _tensor(rng, B, T, d_model))


@hidden_test("MultiHeadAttention", weight=0.75)
@_with_right_attention
def test_the_module_agrees_with_pytorch(student, rng):
    """Self-attention equals nn.MultiheadAttention with the same weights."""
    for B, T, d_model, h in _SIZES:
        _expect_agreement(*_twins(student, rng, d_model, h), _tensor(rng, B, T, d_model))


@hidden_test("MultiHeadAttention", weight=0.75)
@_with_right_attention
def test_the_module_listens_to_a_memory(student, rng):
    """Cross-attention equals nn.MultiheadAttention; the memory may come in second place or by its name."""
    module, theirs = _twins(student, rng, 12, 3)
    for tq, tk in ((3, 4), (5, 2), (1, 3)):
        _expect_agreement(module, theirs, _tensor(rng, 2, tq, 12), _tensor(rng, 2, tk, 12))
    x, memory = _tensor(rng, 2, 3, 12), _tensor(rng, 2, 4, 12)
    _expect_near(
        _two(module(x, memory))[0], theirs(x, memory, memory)[0], "the output, memory in second place"
    )


@hidden_test("MultiHeadAttention")
@_with_right_attention
def test_masks_in_self_attention(student, rng):
    """Causal masks and masks for each sentence silence keys in every head; the others are heard alike by who asks for nothing."""
    for B, h in ((2, 3), (3, 3)):
        module, theirs = _twins(student, rng, 12, h, scale=0.0)
        x, mask = _tensor(rng, B, 4, 12), torch.tensor(rng.random((B, 4, 4)) < 0.5)
        mask[..., 2] = True
        _expect_maps_of_heads(module, theirs, x, None, torch.ones(4, 4, dtype=torch.bool).tril())
        _expect_maps_of_heads(module, theirs, x, None, mask)


@hidden_test("MultiHeadAttention")
@_with_right_attention
def test_masks_with_a_memory(student, rng):
    """Padding masks of the memory, and masks for each sentence, silence keys in every head."""
    for B, h in ((2, 3), (3, 3)):
        module, theirs = _twins(student, rng, 12, h)
        x, memory = _tensor(rng, B, 4, 12), _tensor(rng, B, 5, 12)
        padding = torch.arange(5) < torch.tensor([5, 2, 3][:B])[:, None, None]
        _expect_agreement(module, theirs, x, memory, padding)
        mask = torch.tensor(rng.random((B, 4, 5)) < 0.5)
        mask[..., 2] = True
        _expect_agreement(module, theirs, x, memory, mask)


@hidden_test("MultiHeadAttention", weight=1.5)
@_with_right_attention
def test_the_four_layers_have_biases(student, rng):
    """Four layers are learned, each with a bias that counts, and nothing else."""
    for d_model, h in ((12, 3), (6, 2)):
        module, theirs = _twins(student, rng, d_model, h, biases=True)
        _expect_the_four_layers(module, d_model)
        _expect_agreement(module, theirs, _tensor(rng, 2, 3, d_model))


@hidden_test("MultiHeadAttention", weight=1.5)
@_with_right_attention
def test_training_changes_nothing(student, rng):
    """In training mode nothing is left to chance: the result is the same again, and so are the weights of who hears all alike."""
    module, theirs = _twins(student, rng, 12, 3, scale=0.0)
    module.train()
    x, mask = _tensor(rng, 2, 5, 12), torch.ones(5, 5, dtype=torch.bool).tril()
    (output, weights), (_, maps) = _both(module, theirs, x, None, mask)
    again = _two(module(x, mask=mask))
    same = all(
        np.array_equal(as_array(a), as_array(b)) for a, b in zip((output, weights), again, strict=True)
    )
    student.observe("the same twice", same)
    expect(same, "the same sentence gives two different results in training mode")
    student.observe("the output", output)
    _expect_near(weights, maps, "the weights in training mode")


@hidden_test("MultiHeadAttention", weight=6.5)
@_with_right_attention
def test_all_of_it_at_once(student, rng):
    """In training, with biases, a memory and masks, it is nn.MultiheadAttention."""
    for B, h in ((2, 3), (3, 3)):
        module, theirs = _twins(student, rng, 12, h, biases=True)
        module.train()
        x, memory = _tensor(rng, B, 4, 12), _tensor(rng, B, 5, 12)
        mask = torch.tensor(rng.random((B, 4, 5)) < 0.5)
        mask[..., 2], mask[..., 0, 4] = True, False
        (output, weights), (expected, maps) = _both(module, theirs, x, memory, mask)
        student.observe("the weights", weights)  # the output may be left to chance
        _expect_near(weights, maps, "the weights (the second result)")
        _expect_near(output, expected, "the output (the first result)")


@hidden_test("MultiHeadAttention", weight=0.25)
@_with_right_attention
def test_the_numbers_of_the_paper(student, rng):
    """Size 512, eight heads; three words listen to four: eight maps of three by four, and two for Fiat lux."""
    module, theirs = _twins(student, rng, 512, 8, torch.float)
    english = _tensor(rng, 1, 4, 512).float()
    for length in (3, 2):
        x = _tensor(rng, 1, length, 512).float()
        output, weights = _two(module(x, memory=english))
        shape = as_array(weights, "the weights").shape
        expect(shape == (1, 8, length, 4), "the weights should have shape (1, 8, T_q, T_k)")
        _expect_near(output, theirs(x, english, english)[0], "the output")


_AFTER_A_STEP = """
import torch

module = student_namespace[question](12, 3).double().eval()
with torch.no_grad():
    for state in states:
        module.load_state_dict(state, strict=False)
        output, weights = module(x, memory)
"""


@hidden_test("MultiHeadAttention", weight=2)
@_with_right_attention
def test_it_computes_with_the_numbers_of_now(student, rng):
    """After the layers' numbers have changed, as in training, the same words and memory are heard with the new ones."""
    _build(student, 12, 3, torch.double)  # it is a module
    x, memory = _tensor(rng, 2, 3, 12), _tensor(rng, 2, 4, 12)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.double)
    states = []
    for _ in range(2):
        state = {f"{name}.weight": _tensor(rng, 12, 12) / math.sqrt(12) for name in _LAYERS}
        states.append(state | {f"{name}.bias": torch.zeros(12, dtype=torch.double) for name in _LAYERS})
    theirs.load_state_dict(
        {
            "in_proj_weight": torch.cat([states[1][f"{name}.weight"] for name in _LAYERS[:3]]),
            "in_proj_bias": torch.zeros(36),
            "out_proj.weight": states[1]["W_O.weight"],
            "out_proj.bias": torch.zeros(12),
        }
    )
    scene = student.scene(_AFTER_A_STEP, question=student.name, states=states, x=x, memory=memory)
    with torch.no_grad():
        expected = theirs(x, memory, memory, average_attn_weights=False)
    _expect_near(scene.get("weights"), expected[1], "the weights (the second result)")
    _expect_near(scene.get("output"), expected[0], "the output (the first result)")


@hidden_test("MultiHeadAttention", weight=0.75)
@_with_right_attention
def test_gradients_reach_everything(student, rng):
    """Gradients reach the input, the memory and every weight, and equal those of PyTorch's module."""
    module, theirs = _twins(student, rng, 6, 2)
    x, memory, cotangent = _tensor(rng, 2, 3, 6), _tensor(rng, 2, 4, 6), _tensor(rng, 2, 3, 6)
    found = module.gradients([x, memory], cotangent=[cotangent, torch.zeros(2, 2, 3, 4, dtype=torch.double)])
    inputs = [x.clone().requires_grad_(), memory.clone().requires_grad_()]
    output, _ = theirs(inputs[0], inputs[1], inputs[1])
    (output * cotangent).sum().backward()
    W, b = theirs.in_proj_weight.grad, theirs.in_proj_bias.grad
    expected = {"x": inputs[0].grad, "the memory": inputs[1].grad, "W_O.weight": theirs.out_proj.weight.grad}
    for i, name in enumerate(_LAYERS[:3]):
        expected |= {f"{name}.weight": W[6 * i : 6 * i + 6], f"{name}.bias": b[6 * i : 6 * i + 6]}
    largest = max(float(gradient.abs().max()) for gradient in expected.values())
    actual = {"x": found.inputs[0], "the memory": found.inputs[1], **found.parameters}
    for name, gradient in expected.items():
        expect(actual.get(name) is not None, f"no gradient reaches {name}: is something detached?")
        # The true gradient of W_K.bias is 0, the sum of numbers that are as large as those of the other gradients.
        _expect_near(actual[name], gradient, f"the gradient of {name}", scale=largest)


# -------------------------------------------------------------------------------------------- attention_maps

# The same models stand in the sandbox, around the student's module, and here, around ours: what a map should be is
# computed here, from weights that are drawn here.
_MODELS = """
import torch
from torch import nn

MultiHeadAttention = student_namespace["MultiHeadAttention"]


class Block(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.norm, self.attention, self.linear = nn.LayerNorm(12), MultiHeadAttention(12, h), nn.Linear(12, 12)

    def forward(self, x, memory=None, mask=None):
        heard, self.weights = self.attention(self.norm(x), memory, mask)
        return x + self.linear(heard)


class Shell(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.linear = MultiHeadAttention(12, 3), nn.Linear(12, 12)

    def forward(self, x):
        heard, self.weights = self.attention(x)
        return self.linear(heard)


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.cross = nn.ModuleList([Block(2), Block(3), Block(2)]), Block(4)

    def forward(self, x, memory, mask):
        x = x * loudness()
        for block in self.blocks:
            x = block(x, mask=mask)
        return self.cross(x, memory)


model = {"stack": Stack, "shell": Shell, "layer": lambda: MultiHeadAttention(12, 3)}[kind]().double()
if weights:
    model.load_state_dict(weights, strict=False)  # a layer may have a second name
"""


class _Model:
    """A model in the sandbox, and its twin here that has right attention and the same weights."""

    def __init__(self, student, rng, kind="stack"):
        right: dict[str, Any] = {}
        exec(_HEADS, right)
        self.runs, self.factor = 0, float(rng.uniform(0.5, 2.0))
        here = {
            "student_namespace": right,
            "kind": kind,
            "weights": None,
            "loudness": lambda: self.factor,
        }
        exec(_MODELS, here)
        self.twin = here["model"]
        with torch.no_grad():
            for parameter in self.twin.parameters():
                parameter.copy_(_tensor(rng, *parameter.shape) / math.sqrt(parameter.shape[-1]))
        self.scene = student.scene(_MODELS, kind=kind, weights=self.twin.state_dict(), loudness=self.loudness)

    @part_of_a_scene
    def loudness(self):
        """What a run of the stack multiplies its input with: it is known only here, and so is the number of runs."""
        self.runs += 1
        return self.factor

    def maps(self, *inputs):
        """The maps of each layer of attention, by the layer's name."""
        with torch.no_grad():
            result = self.twin(*inputs)
        blocks = [
            (name, block) for name, block in self.twin.named_modules() if type(block).__name__ == "Block"
        ]
        return {f"{name}.attention": block.weights for name, block in blocks} or {"": result[1]}


def _expect_maps(maps, expected, only=True):
    """The map of each name in ``expected``; with ``only``, there are no others."""
    expect(maps is not None, "your function returns None: does it end with a return?")
    expect(isinstance(maps, dict), "the result should be a dictionary: {name: weights}")
    found = [name for name in map(str, maps) if only or name in expected]
    expect_equal(sorted(found), sorted(expected), "the set of names in the result")
    for name, weights in expected.items():
        _expect_near(maps[name], weights, "a map")


@hidden_test("attention_maps", weight=2)
@_with_right_module
def test_the_map_of_an_only_layer(student, rng):
    """The map of a model's only layer of attention is found, whatever name it comes under."""
    # So many words that the model runs on when a hook has put the weights in the place of the output: other tests see that.
    model, x = _Model(student, rng, "shell"), _tensor(rng, 2, 12, 12)
    maps = student(model.scene["model"], x)
    expect(isinstance(maps, dict) and maps, "the result should be a dictionary with a map")
    model.maps(x)
    _expect_near(maps.get("attention", next(reversed(maps.values()))), model.twin.weights, "the only map")


@hidden_test("attention_maps", weight=1.5)
@_with_right_module
def test_every_layer_is_found_and_mapped(student, rng):
    """Four layers deep inside a model, with masks and a memory: each under its name, with its own map."""
    model = _Model(student, rng)
    inputs = _tensor(rng, 2, 5, 12), _tensor(rng, 2, 3, 12), torch.ones(5, 5, dtype=torch.bool).tril()
    _expect_maps(student(model.scene["model"], *inputs), model.maps(*inputs), only=False)


@hidden_test("attention_maps", weight=2)
@_with_right_module
def test_a_single_layer_is_its_own_model(student, rng):
    """The model may be a single layer of attention, whose name is empty; there is no other map."""
    model, x = _Model(student, rng, "layer"), _tensor(rng, 2, 4, 12)
    _expect_maps(student(model.scene["model"], x), model.maps(x))


# All kinds of hooks, at each module and those that hold everywhere; and what a module runs, its own or its class's.
_AS_IT_WAS = """
from torch.nn.modules import module as everywhere

kinds = [name for name in vars(nn.Module()) if name.endswith("_hooks")]
kinds_everywhere = [name for name in vars(everywhere) if name.startswith("_global_") and name.endswith("_hooks")]


def hooks_that_stand():
    found = [hook for module in model.modules() for kind in kinds for hook in getattr(module, kind).values()]
    return found + [hook for kind in kinds_everywhere for hook in getattr(everywhere, kind).values()]


def what_runs():
    return [part for module in model.modules() for part in (module.forward, type(module).__call__)]


def only_in(some, others):
    return sum(not any(one is other for other in others) for one in some)


hooks, forwards = hooks_that_stand(), what_runs()
"""


@hidden_test("attention_maps", weight=3.5)
@_with_right_module
def test_the_model_is_left_as_it_was(student, rng):
    """Afterwards no hook is left, forward is what it was, the maps are cut off from the gradient, and a second run gives its own maps."""
    model = _Model(student, rng)
    scene = model.scene
    scene.run(_AS_IT_WAS)
    inputs = [(_tensor(rng, 1, 3, 12), _tensor(rng, 1, 2, 12), None) for _ in range(2)]
    for arguments in inputs:
        _expect_maps(student(scene["model"], *arguments), model.maps(*arguments))
    scene.run("left, same = only_in(hooks_that_stand(), hooks), what_runs() == forwards")
    expect(scene.get("left") == 0, "hooks are left on the model: remove each of them")
    expect(scene.get("same") is True, "the forward of a layer is not what it was: put it back")
    scene.run(
        "maps = student_namespace[question](model, x, memory, None)\n"
        "hang = sum(bool(getattr(weights, 'requires_grad', False)) for weights in maps.values())\n"
        "modes = {module.training for module in model.modules()}\n"
        "learn = {weight.requires_grad for weight in model.parameters()}",
        question=student.name,
        x=inputs[0][0],
        memory=inputs[0][1],
    )
    expect(scene.get("hang") == 0, "the maps still hang on the gradient: detach them")
    for name, what in (("modes", "the mode of the model"), ("learn", "what the model can learn")):
        expect_equal(scene.get(name), {True}, f"{what}, which should be as it was,")
    scene.run(
        "model.eval()\n"
        "older = [module.register_forward_hook(lambda *_: None) for module in model.modules()]\n"
        "older += [module.register_forward_pre_hook(lambda *_: None) for module in model.modules()]\n"
        "hooks = hooks_that_stand()\n"
        "student_namespace[question](model, x, memory, None)\n"
        "modes = {module.training for module in model.modules()}\n"
        "gone, left = only_in(hooks, hooks_that_stand()), only_in(hooks_that_stand(), hooks)"
    )
    expect_equal(
        scene.get("modes"), {False}, "the mode of a model in evaluation mode, which should be as it was,"
    )
    expect(scene.get("gone") == 0, "hooks that others had left at the model are gone: remove your own only")
    expect(scene.get("left") == 0, "hooks are left on the model: remove each of them")
    student.record(model.runs)
    expect(model.runs == 4, "the model should run once for each call")
