"""Public checks of lab 08: tiny tensors whose numbers say where they came from, and PyTorch's own module."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules import module as everywhere

from coursekit.checks.api import Hint, close, ensure, is_stub, learned, names_beside, public_check
from coursekit.checks.break_it import impostor

_READY_MADE = (
    "torch.nn.MultiheadAttention",
    "torch.nn.modules.activation.MultiheadAttention",
    "torch.nn.functional.multi_head_attention_forward",
)
FORBIDDEN = {"multi_head_attention": _READY_MADE, "MultiHeadAttention": _READY_MADE}


def _words(T: int, D: int) -> Tensor:
    """(1, T, D): column c of word t holds 10 t + c, so that a number says where it came from."""
    return (10 * torch.arange(T)[:, None] + torch.arange(D))[None]


def _tensor(value: Any, what: str) -> Tensor:
    """What the student returned as a tensor: an array and nested lists are welcome, too."""
    ensure(value is not None, "your function returns None: does it end with a return?")
    try:
        return value.detach() if isinstance(value, Tensor) else torch.as_tensor(np.array(value))
    except (TypeError, ValueError):
        raise Hint(f"{what} should be a tensor, but it is a {type(value).__name__}") from None


def _shape(value: Any, expected: tuple[int, ...], what: str, hint: str = "") -> Tensor:
    """``value`` as a tensor of the shape ``expected``, or a hint."""
    tensor = _tensor(value, what)
    shape = tuple(tensor.shape)
    ensure(shape == expected, f"the shape of {what} should be {expected}, but it is {shape}{hint}")
    return tensor


def _pair(result: Any) -> tuple[Any, Any]:
    ensure(result is not None, "your function returns None: does it end with a return?")
    good = isinstance(result, (tuple, list)) and len(result) == 2
    ensure(good, "return two things, the output and the weights: return output, weights")
    return result[0], result[1]


# --------------------------------------------------------------------------------------------- split_heads


@public_check("split_heads")
def two_words_two_heads(split_heads: Any) -> None:
    """Two words of size 4, two heads: the case of the text."""
    heads = split_heads(_words(2, 4), 2)
    heads = _shape(heads, (1, 2, 2, 2), "the result")
    ensure(
        heads[0, 0].tolist() != [[0, 1], [2, 3]],
        "head 0 got word 0, cut in two: split the last axis first, then exchange the axes of words and heads",
    )
    ensure(
        heads[0, 0].tolist() != [[0, 2], [10, 12]],
        "head 0 got every second column; it should get the first ones: the head axis comes before d_h",
    )
    close(
        heads[0, 0],
        [[0, 1], [10, 11]],
        "head 0 should hold columns 0 and 1 of both words: [[0, 1], [10, 11]]",
    )
    close(
        heads[0, 1],
        [[2, 3], [12, 13]],
        "head 1 should hold columns 2 and 3 of both words: [[2, 3], [12, 13]]",
    )


@public_check("split_heads")
def three_heads_of_two(split_heads: Any) -> None:
    """Two sentences of five words of size 6 make three heads of size 2."""
    x = torch.stack([_words(5, 6)[0], 100 + _words(5, 6)[0]])
    heads = split_heads(x, 3)
    heads = _shape(heads, (2, 3, 5, 2), "the result", ": (B, h, T, D / h)")
    _shape(split_heads(x, 1), (2, 1, 5, 6), "the result for a single head", ": also one head has its axis")
    close(
        heads[1, 2, 3], [134, 135], "sentence 1, head 2, word 3 should hold 134 and 135, its last two columns"
    )
    mixed = torch.stack(x.chunk(3, dim=-1)).reshape(2, 3, 5, 2)
    ensure(
        not torch.equal(heads.to(mixed.dtype), mixed),
        "the sentences are mixed up: the heads stand before the batch when you reshape, so stack them along dim=1",
    )
    wanted = torch.stack(x.split(2, dim=-1), dim=1)
    close(
        heads, wanted, "head i of each sentence should hold its columns 2 · i and 2 · i + 1, for every word"
    )


@public_check("split_heads")
def a_transposed_view(split_heads: Any) -> None:
    """It also works on a view: transposed, and of every second sentence."""
    numbers = torch.cat([_words(4, 3) + 100 * sentence for sentence in range(4)])
    view = numbers.transpose(1, 2)[::2]  # (2, 3, 4)
    heads = _shape(split_heads(view, 2), (2, 2, 3, 2), "the result")
    close(heads[0, 1], [[20, 30], [21, 31], [22, 32]], "head 1 of the transposed sentence is wrong")
    close(
        heads,
        torch.stack(view.split(2, dim=-1), dim=1),
        "sentence 1 of the view is wrong: it begins elsewhere in memory than in a tensor of its own",
    )


# --------------------------------------------------------------------------------------------- merge_heads


@public_check("merge_heads")
def heads_side_by_side(merge_heads: Any) -> None:
    """Two heads of two words: side by side again."""
    heads = torch.tensor([[[[0, 1], [10, 11]], [[2, 3], [12, 13]]]])  # (1, 2, 2, 2)
    merged = _tensor(merge_heads(heads), "the result")
    ensure(
        tuple(merged.shape) != (1, 4, 2),
        "the shape of the result is (1, 4, 2): the heads stand one below the other. Each word's heads belong side by side, along the last axis",
    )
    merged = _shape(merged, (1, 2, 4), "the result")
    ensure(
        merged[0, 0].tolist() != [0, 1, 10, 11],
        "word 0 got parts of word 1: exchange the axes of heads and words before you join the last two",
    )
    ensure(merged[0, 0].tolist() != [0, 2, 1, 3], "the heads are interleaved: all of head 0 comes first")
    ensure(merged[0, 0].tolist() != [2, 3, 0, 1], "the last head comes first: begin with head 0")
    close(merged, _words(2, 4), "the result should be [[0, 1, 2, 3], [10, 11, 12, 13]]")


@public_check("merge_heads")
def three_heads_of_five(merge_heads: Any) -> None:
    """Heads, words and sizes that all differ."""
    heads = torch.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    merged = merge_heads(heads)
    merged = _shape(merged, (2, 4, 15), "the result", ": (B, T, h · d_h)")
    close(merged[1, 2, 5:10], heads[1, 1, 2], "columns 5 to 9 should be what head 1 says")
    close(
        merged,
        torch.cat(heads.unbind(1), dim=-1),
        "each word should hold what head 0, 1 and 2 say of it, side by side",
    )
    short = ": sentences of one word keep their axis"
    _shape(merge_heads(heads[:, :, :1]), (2, 1, 15), "the result for sentences of one word", short)


# ------------------------------------------------------------------------------------ multi_head_attention


def _loud(numbers: list[list[float]]) -> Tensor:
    return torch.tensor([numbers], dtype=torch.float32)


def _columns(W: Tensor, h: int) -> list[Tensor]:
    """The matrix of each head: its columns of the large one."""
    return [*W.chunk(h, dim=1)]


def _one_by_one(
    x: Tensor,
    memory: Tensor,
    matrices: tuple[Tensor, ...],
    h: int,
    mask: Tensor | None = None,
    cut: Any = _columns,
) -> tuple[Tensor, Tensor]:
    """Output and weights of heads that are computed one after the other, each with its own matrices."""
    heard, weights = [], []
    for Q, K, V in zip(*(cut(W, h) for W in matrices[:3]), strict=True):
        scores = (x @ Q) @ (memory @ K).mT / Q.shape[1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights.append(scores.softmax(-1))
        heard.append(weights[-1] @ (memory @ V))
    return torch.cat(heard, dim=-1) @ matrices[3], torch.stack(weights, dim=1)


@public_check("multi_head_attention")
def two_heads_two_words(multi_head_attention: Any) -> None:
    """Two heads listen to different words, and what they hear stays apart."""
    x = _loud([[1, 1], [1, -1], [-1, 1]])
    memory = _loud([[5, 0], [0, 7], [1, 1]])  # a head likes a large number in its column
    eye = torch.eye(2)
    matrices = (9 * eye, eye, eye, eye)
    output, weights = _pair(multi_head_attention(x, memory, *matrices, 2))
    weights = _shape(weights, (1, 2, 3, 3), "the weights", ": (B, h, T_q, T_k)")
    output = _shape(output, (1, 3, 2), "the output")
    over_queries = np.allclose(weights.sum(2), 1, atol=1e-3) and not np.allclose(weights.sum(3), 1, atol=1e-3)
    ensure(
        not over_queries, "the weights sum to one over the queries: the softmax runs over the keys, dim=-1"
    )
    ensure(
        not np.allclose(weights, _one_by_one(memory, x, matrices, 2)[1], atol=1e-3),
        "the roles are exchanged: queries are made of x, which listens, and keys and values of the memory",
    )
    ensure(
        not np.allclose(weights, _one_by_one(x, x, matrices, 2)[1], atol=1e-3),
        "x listens to itself, although there is a memory: keys and values are made of the memory",
    )
    close(
        weights[0],
        [[[1, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 0], [1, 0, 0], [0, 1, 0]]],
        "head 0 should hear words 0, 0 and 1, and head 1 words 1, 0 and 1: are the heads cut by split_heads?",
        atol=5e-3,
    )
    own_values = torch.stack([weights[0, i].to(x.dtype) @ x[0, :, i] for i in range(2)], dim=-1)
    ensure(
        not np.allclose(output[0], own_values, atol=1e-2),
        "the weights are right, but what is heard comes from x: the values are made of the memory, memory @ W_V",
    )
    hint = "the weights are right; the heads heard (5, 7), (5, 0) and (0, 7): are they merged by merge_heads?"
    close(output, [[[5, 7], [5, 0], [0, 7]]], hint, atol=1e-2)


@public_check("multi_head_attention")
def the_last_matrix_mixes(multi_head_attention: Any) -> None:
    """The last matrix mixes what the heads bring home."""
    eye, W_O = torch.eye(2), torch.tensor([[0.0, 1.0], [2.0, 10.0]])
    output, _ = _pair(multi_head_attention(_loud([[1, 1]]), _loud([[5, 7]]), eye, eye, eye, W_O, 2))
    output = _shape(output, (1, 1, 2), "the output")
    ensure(output.ravel().tolist() != [5, 7], "W_O is missing: multiply the merged heads by it")
    ensure(
        not np.allclose(output.ravel(), [7, 80], atol=1e-3),
        "W_O was transposed: the merged heads stand on its left, and each row of W_O belongs to one of their columns",
    )
    close(output, [[[14, 75]]], "merged heads (5, 7) times W_O should be (14, 75)", atol=1e-3)


@public_check("multi_head_attention")
def sizes_of_keys_and_values(multi_head_attention: Any) -> None:
    """Keys and values of different sizes, and the root of the head's own size."""
    x = _loud([[1.0, 0, 0]])
    memory = _loud([[1.0, 0, 0], [0, 1, 0]])
    W_Q = torch.eye(3, 8)  # two heads with d_k = 4
    W_K, W_V, W_O = 4 * torch.eye(3, 8), torch.eye(3, 2), torch.eye(2, 3)  # d_v = 1
    output, weights = _pair(multi_head_attention(x, memory, W_Q, W_K, W_V, W_O, 2))
    output = _shape(output, (1, 1, 3), "the output")
    weights = _shape(weights, (1, 2, 1, 2), "the weights")
    first = float(weights[0, 0, 0, 0])
    ensure(
        abs(first - 0.8044) > 1e-3,
        "head 0 gives word 0 the weight 0.804: divide by the root of the head's size, not the model's",
    )
    ensure(
        abs(first - 0.9097) > 1e-3,
        "head 0 gives word 0 the weight 0.910: divide by the root of the head's size, not the model's",
    )
    ensure(
        abs(first - 0.7311) > 1e-3,
        "head 0 gives word 0 the weight 0.731, as if the score 4 were divided by 4 and not by √4: is the root missing, or divided by twice? "
        "scaled_dot_product_attention divides by itself",
    )
    close(
        weights[0, 0, 0],
        [0.88080, 0.11920],
        "head 0 should give word 0 the weight 0.881: the score is 4 / √4",
        atol=1e-4,
    )


def _of_rows(W: Tensor, h: int) -> list[Tensor]:
    """What a reshape cuts a matrix into: its numbers in the order of its rows."""
    return [*W.reshape(h, W.shape[0], -1)]


@public_check("multi_head_attention")
def heads_one_by_one(multi_head_attention: Any) -> None:
    """Random numbers: each of three heads is what it would be alone, in both sentences."""
    torch.manual_seed(0)
    x, memory = torch.randn(2, 4, 6), torch.randn(2, 5, 6)
    matrices = (*torch.randn(2, 6, 6), torch.randn(6, 12), torch.randn(12, 6))
    output, weights = _pair(multi_head_attention(x, memory, *matrices, 3))
    weights = _shape(weights, (2, 3, 4, 5), "the weights", ": (B, h, T_q, T_k)")
    output = _shape(output, (2, 4, 6), "the output")
    expected, maps = _one_by_one(x, memory, matrices, 3)
    ensure(
        not np.allclose(weights, _one_by_one(x, memory, matrices, 3, cut=_of_rows)[1], atol=1e-4),
        "W_Q and W_K are cut by a reshape, which keeps the order of their rows: the matrix of a head is made of columns, so make one product, "
        "x @ W_Q, and cut that by split_heads",
    )
    ensure(
        not np.allclose(weights, maps.transpose(0, 1).reshape(maps.shape), atol=1e-4),
        "the weights of different sentences and heads are mixed up: a reshape does not exchange the heads and the batch; "
        "stack the heads along dim=1",
    )
    close(
        weights,
        maps,
        "the weights differ from those of heads that are computed one by one, head i with the columns i · d_k up to (i + 1) · d_k of W_Q and W_K",
        atol=1e-4,
    )
    close(
        output,
        expected,
        "the weights are right, the output is not: head i hears with the columns i · d_v up to (i + 1) · d_v of W_V, "
        "and the heads of a word, side by side, go through W_O",
        rtol=1e-4,
        atol=1e-3,
    )


@public_check("multi_head_attention")
def masks_get_a_head_axis(multi_head_attention: Any) -> None:
    """A mask for each sentence holds for all its heads."""
    torch.manual_seed(0)
    x, eye = torch.randn(2, 2, 2), torch.eye(2)
    mask = torch.tensor([[[True, True]], [[True, False]]])  # the last word of sentence 1 is padding
    _, weights = _pair(multi_head_attention(x, x, eye, eye, eye, eye, 2, mask))
    weights = _shape(weights, (2, 2, 2, 2), "the weights")
    _, unmasked = _pair(multi_head_attention(x, x, eye, eye, eye, eye, 2))
    ensure(
        not np.allclose(weights, _tensor(unmasked, "the weights")),
        "the mask changes nothing: hand it on to scaled_dot_product_attention",
    )
    ensure(not bool(weights.isnan().any()), "nan: every key was silenced, but True means “may attend”")
    ensure(
        not np.allclose(weights, _tensor(unmasked, "the weights") * mask[:, None]),
        "with a mask the weights no longer sum to one: silence the scores before the softmax, not the weights after it",
    )
    ensure(
        not bool((weights[0, 1, :, 1] == 0).all()),
        "the mask of sentence 1 was applied to head 1 of every sentence: give it an axis for the heads, mask.unsqueeze(-3)",
    )
    close(weights[1, :, :, 1], [[0, 0], [0, 0]], "no head of sentence 1 may listen to its last word")
    causal = torch.tensor([[True, False], [True, True]])
    _, weights = _pair(multi_head_attention(x, x, eye, eye, eye, eye, 2, causal))
    weights = _shape(weights, (2, 2, 2, 2), "the weights")
    hint = (
        "with the causal mask word 0 may listen to itself only: a mask (T_q, T_k) has no axis for the sentences, "
        "so count the new axis from the end, mask.unsqueeze(-3)"
    )
    close(weights[:, :, 0], [[[1, 0], [1, 0]]] * 2, hint)
    memory, eyes = torch.randn(2, 3, 2), (eye, eye, eye, eye)
    unmasked = _one_by_one(x, memory, eyes, 2)[1]
    for mask in (
        torch.tensor([[[True, True, True]], [[True, True, False]]]),
        torch.tensor([[True, False, False], [True, True, False]]),
        torch.tensor([[[True, False, True], [True, True, True]], [[True, True, False], [False, True, True]]]),
    ):
        _, weights = _pair(multi_head_attention(x, memory, *eyes, 2, mask))
        weights = _shape(weights, (2, 2, 2, 3), "the weights")
        ensure(
            not np.allclose(weights, unmasked, atol=1e-5),
            "the mask changes nothing when there is a memory of another length: use it there, too",
        )
        hint = f"with a memory of three words, a mask of shape {tuple(mask.shape)} silences others than it should"
        close(weights, _one_by_one(x, memory, eyes, 2, mask)[1], hint, atol=1e-5)
    _masks_change_nothing_else(multi_head_attention)


def _masks_change_nothing_else(multi_head_attention: Any) -> None:
    """What is right without a mask is right with one: keys and values of different sizes, one sentence, one head."""
    names = ("the output", "the weights")
    for B, h in ((2, 3), (1, 2), (2, 1)):
        x, memory, as_long = (torch.randn(B, length, 6) for length in (3, 4, 3))
        matrices = (*torch.randn(2, 6, 4 * h) / 2, torch.randn(6, 2 * h), torch.randn(2 * h, 6))
        for source, whom in ((x, "itself"), (memory, "a memory"), (as_long, "a memory of its own length")):
            output, weights = map(_tensor, _pair(multi_head_attention(x, source, *matrices, h)), names)
            expected, maps = _one_by_one(x, source, matrices, h)
            if output.shape != expected.shape or weights.shape != maps.shape:
                return  # other checks speak of that
            if not (np.allclose(output, expected, atol=1e-3) and np.allclose(weights, maps, atol=1e-4)):
                return
            mask = torch.ones(B, 3, source.shape[1], dtype=torch.bool)
            mask[-1, 0, -1] = False
            output, weights = map(_tensor, _pair(multi_head_attention(x, source, *matrices, h, mask)), names)
            expected, maps = _one_by_one(x, source, matrices, h, mask)
            hint = (
                f"where a sentence listens to {whom} (B = {B}, h = {h}, d_k = 4, d_v = 2) all is right without a mask, but with a mask of shape "
                f"{tuple(mask.shape)} it is not: whatever a mask silences, the rest is computed in the same way"
            )
            close(weights, maps, hint, atol=1e-4)
            close(output, expected, hint, atol=1e-3)


# -------------------------------------------------------------------------------------- MultiHeadAttention

_LAYERS = ("W_Q", "W_K", "W_V", "W_O")


def _built(MultiHeadAttention: Any, d_model: int, h: int) -> Any:
    """The student's module, with its four layers in place."""
    module = MultiHeadAttention(d_model, h)
    ensure(isinstance(module, nn.Module), "the class should derive from nn.Module, as the stub does")
    for name in _LAYERS:
        layer: Any = getattr(module, name, None)
        ensure(
            layer is not None,
            f"the module has no attribute {name}: self.{name} = nn.Linear(d_model, d_model)",
        )
        good = isinstance(layer, nn.Linear) and tuple(layer.weight.shape) == (d_model, d_model)
        ensure(good, f"{name} should be nn.Linear(d_model, d_model)")
        ensure(layer.bias is not None, f"{name} should have a bias")
    layers = {name: getattr(module, name) for name in _LAYERS}
    twins = [(a, b) for a in _LAYERS for b in _LAYERS if a < b and layers[a] is layers[b]]
    for one, other in twins:
        ensure(False, f"{other} and {one} are one and the same layer: make an nn.Linear for each of the four")
    expected = {f"{name}.{part}" for name in _LAYERS for part in ("weight", "bias")}
    extra = sorted(set(learned(module, expected.__contains__)) - expected)
    ensure(not extra, f"the module learns more than the four layers: {', '.join(extra)}")
    return module


def _twins(MultiHeadAttention: Any, d_model: int, h: int) -> tuple[Any, nn.MultiheadAttention]:
    """The student's module and PyTorch's, with the same weights."""
    torch.manual_seed(0)
    ours, theirs = _built(MultiHeadAttention, d_model, h), nn.MultiheadAttention(d_model, h, batch_first=True)
    _copy(theirs, ours)
    return ours, theirs


def _copy(theirs: nn.MultiheadAttention, ours: Any) -> None:
    """Draw new biases for PyTorch's module, and copy its numbers into the student's."""
    with torch.no_grad():
        nn.init.normal_(theirs.in_proj_bias)
        nn.init.normal_(theirs.out_proj.bias)
        pieces = zip(theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True)
        for name, (weight, bias) in zip(_LAYERS, pieces, strict=False):
            getattr(ours, name).weight.copy_(weight)
            getattr(ours, name).bias.copy_(bias)
        ours.W_O.load_state_dict(theirs.out_proj.state_dict())


def _agree(
    ours: Any, theirs: nn.MultiheadAttention, x: Tensor, memory: Tensor | None, mask: Tensor | None
) -> None:
    """Compare output and weights; ``mask`` is True where attention is allowed."""
    source = x if memory is None else memory
    forbidden, headed = None, None
    if mask is not None:
        mask_of_all = mask.expand(len(x), x.shape[1], source.shape[1])
        forbidden, headed = ~mask_of_all.repeat_interleave(theirs.num_heads, dim=0), mask_of_all[:, None]
    with torch.no_grad():
        output, weights = _pair(ours(x, memory, mask))
        expected, maps = theirs(x, source, source, attn_mask=forbidden, average_attn_weights=False)
    weights = _shape(weights, tuple(maps.shape), "the weights", ": (B, h, T_q, T_k), one map for each head")
    output = _shape(output, tuple(expected.shape), "the output")
    with torch.no_grad():
        again = _tensor(_pair(ours(x, memory, mask))[0], "the output")
    ensure(
        torch.allclose(again, output, rtol=0, atol=0, equal_nan=True),
        "the same words give two different outputs: this module has no dropout, nothing in it is left to chance",
    )
    if headed is not None:
        heard = weights[~headed.expand_as(weights)]
        with torch.no_grad():
            unmasked = theirs(x, source, source, average_attn_weights=False)[1]
        ensure(
            not np.allclose(weights, unmasked),
            "the mask changes nothing"
            + (": hand it on" if memory is None else " when there is a memory: use it there, too"),
        )
        ensure(not bool(weights.isnan().any()), "nan: every key was silenced, but True means “may attend”")
        ensure(
            bool((heard == 0).all()),
            "a masked key gets weight: True means “may attend”, and unsqueeze(-3) the mask",
        )
    with torch.no_grad():
        bare = copy.deepcopy(theirs)
        bare.in_proj_bias.zero_()
        without = bare(x, source, source, attn_mask=forbidden, average_attn_weights=False)[1]
    ensure(
        not np.allclose(weights, without, atol=1e-5),
        "the biases are missing in queries and keys: call the layers, self.W_Q(…), instead of multiplying by their weights",
    )
    hint = "the weights differ from PyTorch's: queries from x, keys from the memory, √ of the head's size, split_heads"
    close(weights, maps, hint, atol=1e-5)
    with torch.no_grad():
        layer = theirs.out_proj
        turned = (expected - layer.bias) @ torch.linalg.inv(layer.weight.T) @ layer.weight + layer.bias
    ensure(
        not np.allclose(output, turned, atol=1e-4),
        "the last layer's matrix was transposed: call the layer, self.W_O(…), which does that by itself",
    )
    with torch.no_grad():
        merged = (expected - layer.bias) @ torch.linalg.inv(layer.weight.T)
    ensure(
        not np.allclose(output, merged, atol=1e-4),
        "W_O is made, but not used: what is returned should go through the last layer, self.W_O(…)",
    )
    ensure(
        not np.allclose(output, x + expected, atol=1e-5),
        "x is added to the output: that sum is made in lab 09, around this layer. Return what the last layer says",
    )
    ensure(
        not np.allclose(output, expected - layer.bias.detach(), atol=1e-5),
        "the bias of the last layer is missing: call the layer, self.W_O(…), instead of multiplying by its matrix",
    )
    close(
        output,
        expected,
        "the weights are right, the output is not: values from the memory, merge_heads, then W_O",
        atol=1e-5,
    )


def _listens_to(ours: Any, theirs: nn.MultiheadAttention, x: Tensor, memory: Tensor) -> None:
    """A hint when x, the listener, and a memory of the same length have changed places."""
    with torch.no_grad():
        output, weights = _pair(ours(x, memory))
        exchanged, itself = (theirs(a, b, b, average_attn_weights=False)[1] for a, b in ((memory, x), (x, x)))
        own_values = theirs(x, memory, x)[0]
    weights = _shape(weights, tuple(itself.shape), "the weights", ": (B, h, T_q, T_k), one map for each head")
    ensure(
        not np.allclose(weights, exchanged, atol=1e-5),
        "the roles are exchanged: queries are made of x, which listens, and keys and values of the memory",
    )
    ensure(
        not np.allclose(weights, itself, atol=1e-5),
        "x listens to itself, although there is a memory: keys and values are made of the memory",
    )
    ensure(
        not np.allclose(_shape(output, tuple(x.shape), "the output"), own_values, atol=1e-5),
        "what is heard comes from x, although there is a memory: the values are made of the memory, self.W_V(memory)",
    )


@public_check("MultiHeadAttention")
def the_four_layers(MultiHeadAttention: Any) -> None:
    """Four linear layers with the names of the text, and nothing else that is learned."""
    _built(MultiHeadAttention, 12, 3)


@public_check("MultiHeadAttention")
def self_attention_as_pytorch(MultiHeadAttention: Any) -> None:
    """Self-attention agrees with PyTorch's module, with and without a mask."""
    ours, theirs = _twins(MultiHeadAttention, 12, 3)
    x = torch.randn(2, 5, 12)
    _agree(ours, theirs, x, None, None)
    _agree(ours, theirs, x, None, torch.ones(5, 5, dtype=torch.bool).tril())


@public_check("MultiHeadAttention")
def cross_attention_as_pytorch(MultiHeadAttention: Any) -> None:
    """Three German words listen to four English ones, as in PyTorch's module."""
    ours, theirs = _twins(MultiHeadAttention, 8, 2)
    x, memory = torch.randn(2, 3, 8), torch.randn(2, 4, 8)
    _listens_to(ours, theirs, x, torch.randn(2, 3, 8))
    _agree(ours, theirs, x, memory, None)
    padding = torch.tensor([[[True] * 4], [[True, True, False, False]]])
    _agree(ours, theirs, x, memory, padding)
    _agree(ours, theirs, x, memory, padding & torch.ones(3, 4, dtype=torch.bool).tril())
    with torch.no_grad():
        for weight in theirs.parameters():
            weight.copy_(torch.randn(weight.shape) / 2)
        _copy(theirs, ours)
        again, expected = _pair(ours(x, memory))[0], theirs(x, memory, memory)[0]
    hint = (
        "when the numbers in the layers have changed, as in training, the output is not right any more: is something kept of an earlier "
        "call, the keys and values of this memory, say?"
    )
    close(again, expected, hint, atol=1e-4)


@public_check("MultiHeadAttention")
def every_layer_learns(MultiHeadAttention: Any) -> None:
    """A gradient reaches each of the four layers."""
    torch.manual_seed(0)
    module = _built(MultiHeadAttention, 6, 3)
    output, _ = _pair(module(torch.randn(1, 4, 6)))
    ensure(isinstance(output, Tensor) and output.requires_grad, "no gradient flows through the output")
    (output * torch.randn(1, 4, 6)).sum().backward()
    for name in _LAYERS:
        gradient = getattr(module, name).weight.grad
        reached = gradient is not None and bool((gradient != 0).any())
        ensure(reached, f"no gradient reaches {name}: is it used, and is nothing detached on the way?")


# ------------------------------------------------------------------------------------------ attention_maps


def _attention_class(attention_maps: Any) -> Any:
    """The student's own MultiHeadAttention, from the notebook that the function lives in."""
    kind: Any = names_beside(attention_maps).get("MultiHeadAttention")
    ensure(kind is not None, "write and run MultiHeadAttention first: this function looks for such layers")
    try:
        heard = kind(4, 2)(torch.randn(1, 3, 4), torch.randn(1, 5, 4))
        works = issubclass(kind, nn.Module) and isinstance(heard, (tuple, list)) and len(heard) == 2
    except Exception as error:
        if is_stub(error):
            raise
        works = False
    ensure(
        works,
        "the model of this check is made of your `MultiHeadAttention`, which is not right yet: mend that first",
    )
    return kind


class _TwoLayers(nn.Module):
    """A small model: x listens to itself, then to a memory. A copy of it counts its runs in the same list."""

    def __init__(self, attention: Any) -> None:
        super().__init__()
        self.first, self.norm = attention(4, 2), nn.LayerNorm(4)
        self.deep = nn.ModuleList([attention(4, 4)])
        runs: list[bool] = []
        self.count: Callable[[bool], None] = runs.append
        self.runs: Callable[[], int] = lambda: len(runs)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        self.count(True)
        return _output(self.deep[0](self.norm(_output(self.first(x))), memory))


def _output(result: Any) -> Tensor:
    """The first part of what a layer of attention returns; a hint where a hook has put something else in its place."""
    ensure(
        isinstance(result, (tuple, list)) and len(result) == 2,
        "with your hooks a layer no longer returns its pair: what a hook returns takes the place of the output, so let it return nothing",
    )
    output: Tensor = result[0]
    return output


def _no_strangers(maps: dict[Any, Any], model: nn.Module) -> None:
    """A hint when there are names that the model does not know."""
    known = dict(model.named_modules())
    ensure(
        all(name in known for name in maps if isinstance(name, str)),
        "there are names of layers that this model does not have: is your dictionary made outside of the function, and holds the maps of "
        "another model? Make a new one in each call",
    )


@public_check("attention_maps")
def both_layers_are_found(attention_maps: Any) -> None:
    """A model with two layers of attention: two maps, under their names."""
    model = _TwoLayers(_attention_class(attention_maps))
    x, memory = torch.randn(1, 3, 4), torch.randn(1, 5, 4)
    maps = attention_maps(model, x, memory)
    ensure(isinstance(maps, dict), "return a dictionary: {name: weights}")
    _no_strangers(maps, model)
    names = sorted(map(str, maps))
    ensure(
        names not in (["deep.0"], [[*dict(model.named_modules())][-1]]),
        f"there is one map only, under the name {''.join(names)}. Does your hook take its name from the loop's variable? When "
        "the hooks run, the loop is over, and all of them find its last name there: give each its own, def hook(…, name=name)",
    )
    ensure(
        names == ["deep.0", "first"],
        f"the names should be first and deep.0, as named_modules() gives them, but they are {names}",
    )
    with torch.no_grad():
        output, expected = model.first(x)
    first = _tensor(maps["first"], "the map of the first layer")
    ensure(
        first.shape != output.shape or not np.allclose(first, output),
        "the map of the first layer is what that layer says, the first part of its output; the weights are the second",
    )
    first = _shape(
        first, (1, 2, 3, 3), "the map of the first layer", ": (B, h, T_q, T_k), as the layer returns it"
    )
    _shape(
        maps["deep.0"],
        (1, 4, 3, 5),
        "the map of the second layer",
        ": (B, h, T_q, T_k), as the layer returns it",
    )
    ensure(model.runs() > 0, "the model did not run: call model(*inputs), once")
    ensure(model.runs() == 1, f"the model ran {model.runs()} times: once is enough")
    close(first, expected, "the map of the first layer is not what that layer computes", atol=1e-5)


@public_check("attention_maps")
def a_layer_is_its_own_model(attention_maps: Any) -> None:
    """A single layer is a model, too: one map, under the name "", whatever was asked before."""
    layer, x = _attention_class(attention_maps)(4, 2), torch.randn(1, 3, 4)
    maps = attention_maps(layer, x)
    ensure(isinstance(maps, dict), "return a dictionary: {name: weights}")
    ensure(
        "" in maps,
        "the model may be a layer of attention itself: named_modules() yields it first, with the name “”",
    )
    _no_strangers(maps, layer)
    others = sorted(str(name) for name in maps if name != "")
    ensure(not others, f"the only name should be “”, but there is {' and '.join(others)}, too")
    _shape(maps[""], (1, 2, 3, 3), "the map of the only layer")


def _other_hooks(model: nn.Module) -> list[Any]:
    """The hooks of all kinds but the usual one, at the model's modules and for all modules everywhere."""
    places = [vars(everywhere), *map(vars, model.modules())]
    kinds = {name for name in vars(nn.Module()) if name.endswith("_hooks")} - {"_forward_hooks"}
    kinds |= {name for name in places[0] if name.startswith("_global_") and name.endswith("_hooks")}
    return [hook for place in places for kind in sorted(kinds) for hook in place.get(kind, {}).values()]


def _what_runs(model: nn.Module) -> list[Any]:
    """What each module runs when it is called."""
    return [part for module in model.modules() for part in (module.forward, type(module).__call__)]


@public_check("attention_maps")
def the_model_is_left_as_it_was(attention_maps: Any) -> None:
    """Afterwards the model is as it was, and the maps are cut off from the gradient."""
    model, inputs = _TwoLayers(_attention_class(attention_maps)), (torch.randn(1, 3, 4), torch.randn(1, 5, 4))
    others, runs = _other_hooks(model), _what_runs(model)
    maps = attention_maps(model, *inputs)
    ensure(isinstance(maps, dict), "return a dictionary: {name: weights}")
    left = sum(len(module._forward_hooks) for module in model.modules())
    ensure(
        all(module.training for module in model.modules()),
        "the model is left in evaluation mode: leave its mode alone, or put it back",
    )
    ensure(
        all(weight.requires_grad for weight in model.parameters()),
        "the model's weights can't learn any more: detach the maps, not the model",
    )
    hooks = "1 hook is" if left == 1 else f"{left} hooks are"
    ensure(left == 0, f"{hooks} left on the model: keep the handles and call remove() on each")
    ensure(
        len(_other_hooks(model)) <= len(others),
        "a hook of another kind (a pre-hook, say, or one for all modules) is left: keep its handle, too, and call remove()",
    )
    ensure(
        _what_runs(model) == runs,
        "the forward of a layer is not what it was: every later run goes through yours. Put the old one back, or use hooks",
    )
    ensure(
        not any(getattr(weights, "requires_grad", False) for weights in maps.values()),
        "the maps still hang on the gradient: .detach()",
    )
    model.eval()
    older = model.first.register_forward_hook(lambda *_: None)
    attention_maps(model, *inputs)
    ensure(
        not any(module.training for module in model.modules()),
        "the model was in evaluation mode and is left in training mode: leave its mode alone, or put back what it was",
    )
    ensure(
        older.id in model.first._forward_hooks,
        "a hook that somebody else had left at the model is gone: remove your own only, by their handles",
    )


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("multi_head_attention")
def gives_the_mask_no_axis(
    right: Any, x: Any, memory: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any, h: Any, mask: Any = None
) -> Any:
    """It gives the mask no axis for the heads, so that head i gets the mask of sentence i.

    One survives: it wants a mask of its own for each sentence.
    """
    if mask is None or mask.ndim < 3:
        return right(x, memory, W_Q, W_K, W_V, W_O, h, mask)
    if len(mask) not in (1, h):
        raise ValueError("the mask does not fit the heads")
    columns = zip(W_Q.chunk(h, 1), W_K.chunk(h, 1), W_V.chunk(h, 1), W_O.chunk(h, 0), strict=True)
    heads = [right(x, memory, *parts, 1, mask[i % len(mask)]) for i, parts in enumerate(columns)]
    return sum(output for output, _ in heads), torch.cat([weights for _, weights in heads], dim=1)


@impostor("multi_head_attention")
def listens_to_itself_only(right: Any, x: Any, memory: Any, *rest: Any) -> Any:
    """It listens to itself, whatever the memory is.

    One survives: your sentence listens to itself.
    """
    return right(x, x, *rest)


@impostor("multi_head_attention")
def divides_by_the_model_size(
    right: Any, x: Any, memory: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any, h: Any, mask: Any = None
) -> Any:
    """It divides the scores by the root of the size of all heads together.

    One survives: with a single head its scores are right.
    """
    return right(x, memory, W_Q / h**0.5, W_K, W_V, W_O, h, mask)


@impostor("multi_head_attention")
def forgets_the_last_matrix(
    right: Any, x: Any, memory: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any, h: Any, mask: Any = None
) -> Any:
    """It does not multiply by W_O.

    One survives: your last matrix changes nothing.
    """
    return right(x, memory, W_Q, W_K, W_V, torch.eye(len(W_O), dtype=W_O.dtype), h, mask)


@impostor("multi_head_attention")
def turns_the_mask_round(
    right: Any, x: Any, memory: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any, h: Any, mask: Any = None
) -> Any:
    """It takes True in the mask for "may not".

    One survives: nothing is masked in your input.
    """
    return right(x, memory, W_Q, W_K, W_V, W_O, h, None if mask is None else ~mask)
