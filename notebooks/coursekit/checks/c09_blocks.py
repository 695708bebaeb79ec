"""Public checks of lab 09: worked numbers, names of parts, and agreement with PyTorch's own layers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from coursekit.checks.api import Hint, close, ensure, learned, public_check
from coursekit.checks.break_it import impostor

_NORMS = (
    "torch.nn.LayerNorm",
    "torch.nn.modules.normalization.LayerNorm",
    "torch.nn.functional.layer_norm",
    "torch.layer_norm",
    "torch.native_layer_norm",
    "torch.nn.GroupNorm",
    "torch.nn.functional.group_norm",
    "torch.nn.InstanceNorm1d",
    "torch.nn.functional.instance_norm",
    "torch.nn.BatchNorm1d",
    "torch.nn.functional.batch_norm",
)
_LAYERS = tuple(
    f"torch.nn.{home}{name}"
    for home in ("", "modules.transformer.")
    for name in ("TransformerEncoderLayer", "TransformerDecoderLayer")
)
FORBIDDEN = {"LayerNorm": _NORMS, "EncoderBlock": _LAYERS, "DecoderBlock": _LAYERS}


def _module(made: Any) -> nn.Module:
    ensure(isinstance(made, nn.Module), "it should be a class that inherits from nn.Module")
    module: nn.Module = made
    return module


def _tensor(value: Any, what: str = "the result") -> torch.Tensor:
    ensure(value is not None, "forward returns None: does it end with a return?")
    ensure(not isinstance(value, (tuple, list)), f"{what} should be one tensor, not several things")
    ensure(isinstance(value, torch.Tensor), f"{what} should be a tensor, but it is a {type(value).__name__}")
    double: torch.Tensor = value.double()
    return double


def _has(module: nn.Module, *parts: str) -> None:
    """A hint when a part is missing or nothing in it can be learned."""
    for part in parts:
        ensure(
            hasattr(module, part), f"the part “{part}” is missing: name it as in the text, self.{part} = …"
        )
        value = getattr(module, part)
        ensure(
            isinstance(value, nn.Module) or (isinstance(value, nn.Parameter) and value.requires_grad),
            f"“{part}” is not learned: it should be a module, or a tensor wrapped in nn.Parameter",
        )


def _learned(module: nn.Module, expected: dict[str, tuple[int, ...]]) -> None:
    """A hint when the learned numbers have other names or shapes than ``expected``."""
    found = learned(module, expected.__contains__)
    shapes = {name: tuple(value.shape) for name, value in found.items()}
    for name, shape in expected.items():
        ensure(name in shapes, f"there should be learned numbers called “{name}”, but there are none")
        ensure(shapes[name] == shape, f"“{name}” should have shape {shape}, but it has shape {shapes[name]}")
    more = sorted(set(shapes) - set(expected))
    ensure(not more, f"“{more[0] if more else ''}” is learned as well, but the text asks for nothing more")


def _reached(result: Any, inputs: dict[str, torch.Tensor]) -> None:
    """A hint when no gradient comes from the result to one of the tensors."""
    y = _tensor(result)
    for name, tensor in inputs.items():
        ensure(tensor.requires_grad, f"{name} is not learned: it should be an nn.Parameter")
    draw = torch.Generator().manual_seed(3)
    total = (y * torch.randn(y.shape, generator=draw, dtype=y.dtype)).sum()
    gradients: Any = [None] * len(inputs)
    if total.requires_grad:
        gradients = torch.autograd.grad(total, list(inputs.values()), allow_unused=True)
    for name, gradient in zip(inputs, gradients, strict=True):
        ensure(
            gradient is not None and bool((gradient != 0).any()),
            f"no gradient reaches {name}: is there a detach(), a .data or a no_grad() on the way?",
        )


# --------------------------------------------------------------------------------------------------- LayerNorm


@public_check("LayerNorm")
def the_case_by_hand(LayerNorm: Any) -> None:
    """(1, 3, 5, 7) becomes (−1.342, −0.447, 0.447, 1.342), and so does (10001, 10003, 10005, 10007)."""
    norm = _module(LayerNorm(4))
    row = _tensor(norm(torch.tensor([[1.0, 3, 5, 7], [0, 0, 0, 8]]))).detach()
    ensure(
        row.shape == (2, 4), f"the result should have the shape of the input, (2, 4), not {tuple(row.shape)}"
    )
    ensure(
        not np.allclose(row[0], [1, 1, 1, -1], atol=1e-2),
        "you normalise over the words: each word by itself, so the mean runs over the last axis",
    )
    ensure(
        not np.allclose(row[0], [-3, -1, 1, 3], atol=1e-2),
        "the mean is gone, but the size is as before: divide by the root of the variance",
    )
    ensure(
        not np.allclose(row[0], [-1.1619, -0.3873, 0.3873, 1.1619], atol=1e-3),
        "your variance divides by d − 1: it should divide by d (unbiased=False)",
    )
    ensure(
        not np.allclose(row[0], [-0.6, -0.2, 0.2, 0.6], atol=1e-3),
        "you divide by the variance: divide by its square root",
    )
    ensure(not np.allclose(row[0], np.array([1, 3, 5, 7]) / np.sqrt(5), atol=1e-2), "subtract the mean first")
    close(
        row,
        [[-1.34164, -0.44721, 0.44721, 1.34164], [-0.57735, -0.57735, -0.57735, 1.73205]],
        "the first row should be −1.342, −0.447, 0.447, 1.342, each word normalised by itself",
        atol=1e-4,
    )
    close(
        _tensor(norm(torch.tensor([10001.0, 10003, 10005, 10007]))),
        [-1.34164, -0.44721, 0.44721, 1.34164],
        "10000 added to each entry should change nothing, also in single precision: for the variance, subtract the mean "
        "first, then square",
        atol=1e-2,
    )
    sentences = torch.tensor([[[1.0, 0], [3, 0], [5, 0], [7, 8]], [[2, 9], [2, 4], [0, 1], [1, 7]]])
    sentences = sentences.transpose(1, 2)  # two sentences of two words, of four numbers each
    alone = [[_tensor(norm(word)).detach().numpy() for word in sentence] for sentence in sentences]
    together = _tensor(norm(sentences)).detach()
    ensure(
        together.shape == (2, 2, 4),
        f"the result should have the shape of the input, (2, 2, 4), not {tuple(together.shape)}",
    )
    close(
        together,
        alone,
        "in a batch of sentences, (2, 2, 4), a word should become what it becomes alone: however many axes there are, the "
        "mean and the variance run over the last one, dim=-1",
        atol=1e-4,
    )


@public_check("LayerNorm")
def what_is_learned(LayerNorm: Any) -> None:
    """weight and bias are learned, begin as ones and zeros, and are used."""
    norm = _module(LayerNorm(4))
    _has(norm, "weight", "bias")
    _learned(norm, {"weight": (4,), "bias": (4,)})
    close(norm.weight, [1, 1, 1, 1], "the weight should begin as ones")
    close(norm.bias, [0, 0, 0, 0], "the bias should begin as zeros")
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 2, 3, 4]))  # type: ignore[operator]
        norm.bias.copy_(torch.tensor([0.0, 0, 0, 10]))  # type: ignore[operator]
    row = _tensor(norm(torch.tensor([1.0, 3, 5, 7])))
    close(
        row,
        [-1.34164, -0.89443, 1.34164, 15.36656],
        "with weight (1, 2, 3, 4) and bias (0, 0, 0, 10) the result is wrong: normalise, times weight, plus bias",
        atol=1e-4,
    )
    norm = _module(_randomised(LayerNorm(4, 0.5)))
    words = _words(3, 2, 2, 4).transpose(1, 2)
    close(
        _tensor(norm(words)),
        [[[_tensor(norm(word)).detach().numpy() for word in row] for row in table] for table in words],
        "with another weight, bias and eps a word in a batch, (3, 2, 2, 4), should become what it becomes alone",
        atol=1e-4,
    )


@public_check("LayerNorm")
def it_can_learn(LayerNorm: Any) -> None:
    """Gradients reach the weight and the bias, and know that mean and variance depend on x."""
    norm = _module(LayerNorm(4)).double()
    x = torch.tensor([1.0, 3, 5, 7], dtype=torch.double, requires_grad=True)
    _reached(norm(x), {"the weight": norm.weight, "the bias": norm.bias, "x": x})  # type: ignore[dict-item]
    (gradient,) = torch.autograd.grad(_tensor(norm(x))[3], x)
    close(
        gradient.sum(),
        0.0,
        "a larger x has the same result, so the gradients of an entry sum to 0; yours don't: is the mean detached?",
    )
    close(
        gradient @ x,
        0.0,
        "twice the x has the same result, but your gradient doesn't know it: is the variance detached?",
        atol=1e-4,
    )


@public_check("LayerNorm")
def equal_entries(LayerNorm: Any) -> None:
    """A vector of equal entries becomes zeros, eps stands inside the root, and x stays as it is."""
    row = _tensor(LayerNorm(3)(torch.full((2, 3), 5.0)))
    ensure(bool(torch.isfinite(row).all()), "a vector of equal entries gives 0/0: add eps to the variance")
    close(row, np.zeros((2, 3)), "a vector of equal entries should become zeros", atol=1e-2)
    x = torch.tensor([[1.0, 3, 5, 7]])
    LayerNorm(4)(x)
    close(x, [[1, 3, 5, 7]], "x itself has changed: make a new tensor, x - …, not x -= …")
    row = _tensor(LayerNorm(2, eps=3.0)(torch.tensor([-1.0, 1.0])))
    ensure(not np.allclose(row.detach(), [-0.25, 0.25]), "add eps to the variance, inside the root")
    ensure(
        not np.allclose(row.detach(), [-1, 1], atol=1e-3),
        "(−1, 1) with eps = 3 should give ∓1/√(1 + 3) = ∓0.5: is the argument eps used?",
    )
    close(
        row,
        [-0.5, 0.5],
        "(−1, 1) with eps = 3 should give ∓1/√(1 + 3) = ∓0.5: the argument eps is added to the variance, inside the root",
    )


# ------------------------------------------------------------------------------------------------- FeedForward


@public_check("FeedForward")
def battery_and_ran(FeedForward: Any) -> None:
    """Lab 03's features: (1, 0, 1) becomes (1, −1), then (1, 0), then the votes."""
    layer = _module(FeedForward(3, 2))
    _has(layer, "linear1", "linear2")
    _learned(
        layer,
        {"linear1.weight": (2, 3), "linear1.bias": (2,), "linear2.weight": (3, 2), "linear2.bias": (3,)},
    )
    wide = _module(FeedForward(3, 200))  # so wide that a dropout drops something in one of two calls
    first, second = (_tensor(wide(torch.ones(3))).detach() for _ in range(2))
    ensure(
        first.shape != second.shape or np.allclose(first, second),
        "two calls give two results: there is a dropout inside; in this lab it acts in the block",
    )
    with torch.no_grad():
        layer.linear1.weight.copy_(torch.tensor([[1.0, -1, 1], [-1, 1, 1]]))  # type: ignore
        layer.linear1.bias.copy_(torch.tensor([-1.0, -1]))  # type: ignore
        layer.linear2.weight.copy_(torch.tensor([[4.0, 7], [-5, 7], [0, 7]]))  # type: ignore
        layer.linear2.bias.copy_(torch.tensor([0.0, 0, 1]))  # type: ignore
    votes = _tensor(layer(torch.tensor([1.0, 0, 1]))).detach()
    ensure(not np.allclose(votes, [-3, -12, -6]), "no ReLU acts in the middle: −1 should become 0 there")
    ensure(
        not np.allclose(votes, [4, 0, 1]), "the votes may be negative: there is one ReLU, in the middle only"
    )
    said = ", ".join(f"{vote:.4g}" for vote in votes.flatten()[:3].tolist())
    ensure(
        not np.allclose(votes, [5, -5, 2]),
        "x itself is added in your layer: the sum comes later, in residual",
    )
    ensure(
        not np.allclose(votes, [0, 0, 0]),
        "the ReLU comes last, behind linear2: it belongs between the layers",
    )
    ensure(
        not np.allclose(votes, [3.93, -5.07, 0.93], atol=1e-3),
        "a hundredth of −1 comes through the middle: that is a leaky ReLU; here it is max(0, ·)",
    )
    ensure(
        not np.allclose(votes, [2.2547, -5.3173, -0.1106], atol=1e-3),
        "there is a GELU in the middle; here it is a ReLU, max(0, ·)",
    )
    close(votes, [4, -5, 1], f"the votes should be 4, −5, 1, but they are {said}")
    louder = _tensor(layer(torch.tensor([2.0, 0, 2])))
    close(
        louder,
        [12, -15, 1],
        "for x = (2, 0, 2) the middle is (3, −1), then (3, 0), and the votes are 12, −15, 1: the ReLU keeps a positive "
        "number as it is",
    )


@public_check("FeedForward")
def both_layers_learn(FeedForward: Any) -> None:
    """Gradients reach both layers and x."""
    torch.manual_seed(0)
    layer, x = _module(FeedForward(4, 30)), torch.randn(2, 3, 4, requires_grad=True)
    _reached(layer(x), {"x": x, **dict(layer.named_parameters())})


@public_check("FeedForward")
def each_word_by_itself(FeedForward: Any) -> None:
    """Batches of sentences, and each word by itself."""
    torch.manual_seed(0)
    layer = _module(FeedForward(4, 10))
    x = torch.randn(2, 3, 4)
    y = _tensor(layer(x))
    ensure(
        y.shape == x.shape, f"the result should have the shape of the input, (2, 3, 4), not {tuple(y.shape)}"
    )
    close(
        _tensor(layer(x[1, 2])),
        y[1, 2].detach(),
        "a word alone should give what it gives in a batch",
        atol=1e-5,
    )
    alone = _tensor(layer(x[1]))
    ensure(
        alone.shape == (3, 4),
        f"for a sentence without a batch, (3, 4), the result should have that shape, not {tuple(alone.shape)}",
    )
    close(alone, y[1].detach(), "a sentence alone should give what it gives in a batch", atol=1e-5)
    close(
        _tensor(layer(torch.stack([x, -x]))),
        torch.stack([y, _tensor(layer(-x))]).detach(),
        "with one more leading axis, (2, 2, 3, 4), a word should give what it gives in a batch",
        atol=1e-5,
    )


# ---------------------------------------------------------------------------------------------------- residual


@public_check("residual")
def add_and_norm(residual: Any) -> None:
    """(1, 2) and a sublayer that says (10, 20): the sum is (11, 22), and the norm comes last."""
    x = torch.tensor([[1.0, 2.0]])
    plain = residual(x, lambda y: 10 * y, lambda y: y)
    ensure(plain is not None, "your function returns None: does it end with a return?")
    plain = _tensor(plain)
    ensure(not np.allclose(plain, [[10, 20]]), "you return only what the sublayer says: add x")
    close(plain, [[11, 22]], "without a norm the result should be (11, 22)")
    close(x, [[1, 2]], "the sum is right, but x itself has changed: write x + …, not x += …")
    normed = _tensor(residual(x, lambda y: 10 * y, lambda y: y * y))
    wrong = {
        (11, 42): "the norm acts on the sublayer's input: that is pre-LN; here it acts on the sum",
        (101, 402): "the norm acts on what the sublayer says only: it should act on the sum",
        (11, 24): "the norm acts on x only: it should act on the sum",
        (11, 22): "the norm is not used",
    }
    for result, hint in wrong.items():
        ensure(not np.allclose(normed.detach(), [result]), hint)
    close(normed, [[121, 484]], "with a norm that squares, the result should be (121, 484): norm of the sum")
    try:
        residual(x, lambda y: y, lambda y: y)
    except Hint:  # it changes x
        raise Hint(
            "a sublayer may hand x itself back, as nn.Identity does; then your function changes x: make a new tensor of the "
            "sum, said + x, not said += x"
        ) from None


@public_check("residual")
def a_silent_sublayer(residual: Any) -> None:
    """A sublayer that says nothing lets x pass; both functions are called once, the sublayer on x."""
    x, seen, normed = torch.tensor([[3.0, -1.0, 4.0]]), [], []

    def silent(y: torch.Tensor) -> torch.Tensor:
        seen.append(y.clone())
        return torch.zeros_like(y)

    def norm(y: torch.Tensor) -> torch.Tensor:
        normed.append(y.clone())
        return y

    passed = _tensor(residual(x, silent, norm))
    ensure(not np.allclose(passed, [[6, -2, 8]]), "x stands twice in your sum")
    ensure(not np.allclose(passed, [[1.5, -0.5, 2]]), "you take the mean of the two: it should be their sum")
    close(passed, [[3, -1, 4]], "a silent sublayer should let x pass")
    ensure(len(seen) == 1, f"the sublayer was called {len(seen)} times; once is enough")
    ensure(len(normed) == 1, f"the norm was called {len(normed)} times; once is enough, on the sum")
    close(seen[0], [[3, -1, 4]], "the sublayer should be given x itself")
    x.requires_grad_()
    _reached(residual(x, lambda y: 0 * y.detach(), lambda y: y), {"x, on the way around the sublayer": x})


# ------------------------------------------------------------------------------------- EncoderBlock, DecoderBlock


def _randomised(module: nn.Module) -> nn.Module:
    """All learned numbers random, in double precision, so that nothing hides behind ones and zeros."""
    draw = torch.Generator().manual_seed(4)
    module.double()
    with torch.no_grad():
        for value in module.parameters():
            value.copy_(torch.randn(value.shape, generator=draw, dtype=torch.float64) / 2)
    return module.eval()


def _copy_attention(ours: Any, theirs: Any) -> None:
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.W_Q.bias, ours.W_K.bias, ours.W_V.bias]))
    theirs.out_proj.load_state_dict(ours.W_O.state_dict())


def _copy_rest(ours: Any, theirs: Any, norms: int) -> None:
    theirs.linear1.load_state_dict(ours.feed_forward.linear1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.linear2.state_dict())
    for number in range(1, norms + 1):
        getattr(theirs, f"norm{number}").load_state_dict(getattr(ours, f"norm{number}").state_dict())


_ATTENTION: dict[str, tuple[int, ...]] = {
    f"W_{letter}.{kind}": (6, 6) if kind == "weight" else (6,)
    for letter in "QKVO"
    for kind in ("weight", "bias")
}
_FEED_FORWARD: dict[str, tuple[int, ...]] = {
    "linear1.weight": (10, 6),
    "linear1.bias": (10,),
    "linear2.weight": (6, 10),
    "linear2.bias": (6,),
}


def _parts(attentions: tuple[str, ...], norms: int) -> dict[str, tuple[int, ...]]:
    expected = {f"{name}.{key}": shape for name in attentions for key, shape in _ATTENTION.items()}
    expected |= {f"feed_forward.{key}": shape for key, shape in _FEED_FORWARD.items()}
    return expected | {f"norm{n}.{kind}": (6,) for n in range(1, norms + 1) for kind in ("weight", "bias")}


def _said(value: Any) -> torch.Tensor:
    """The one tensor that a block returns."""
    ensure(
        not isinstance(value, (tuple, list)),
        "the result should be one tensor, the words for the next block, not several things",
    )
    return _tensor(value)


def _encoder(EncoderBlock: Any, dropout: float = 0.0) -> Any:
    block = _module(EncoderBlock(6, 2, 10, dropout))
    _has(block, "attention", "feed_forward", "norm1", "norm2")
    _learned(block, _parts(("attention",), 2))
    return _randomised(block)


def _words(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(9), dtype=torch.float64)


def _only_norms(block: Any, result: Any, x: torch.Tensor, count: int, when: str) -> None:
    """A hint unless the words went through norm1, norm2, … in this order, and through nothing else."""
    y = _said(result).detach()
    shape = tuple(x.shape)
    ensure(y.shape == x.shape, f"the result should have the shape of x, {shape}, not {tuple(y.shape)}")
    ensure(
        not torch.allclose(y, y[:, :1].expand_as(y)),
        f"{when} all words come out the same: a sum is missing; to what a sublayer says, add what went into it",
    )
    names = [f"norm{number}" for number in range(1, count + 1)]
    for length in range(count + 1):
        for order in itertools.product(names, repeat=length):
            z = x
            for name in order:
                z = getattr(block, name)(z)
            if torch.allclose(y, z, atol=1e-5):
                said = ", ".join(order) or "no norm at all"
                hint = f"{when} the words should go through {', '.join(names)}, in this order, but here it was {said}"
                ensure(list(order) == names, hint)
                return
    raise Hint(f"{when} only the norms should be left, but something else is: what is added to what?")


def _usual_eps(block: nn.Module, count: int) -> None:
    """A hint when a norm of the block is right for loud words, but not for words so quiet that its eps shows."""
    numbers, x = dict(block.named_parameters(remove_duplicate=False)), _words(2, 6)
    for number in range(1, count + 1):
        norm = getattr(block, f"norm{number}")
        weight, bias = (numbers[f"norm{number}.{kind}"].detach() for kind in ("weight", "bias"))
        loud, quiet = (
            torch.allclose(
                _tensor(norm(size * x)).detach(),
                nn.functional.layer_norm(size * x, (6,), weight, bias),
                rtol=1e-3,
                atol=1e-3,
            )
            for size in (100.0, 0.003)
        )
        ensure(
            quiet or not loud,
            f"norm{number} treats very quiet words otherwise than LayerNorm(d_model) does: leave its eps as usual",
        )


def _inputs_of(part: nn.Module, run: Callable[[], Any]) -> list[torch.Tensor]:
    """The words (x first, then a memory) that go into ``part`` while ``run`` runs."""
    seen: list[torch.Tensor] = []

    def note(module: nn.Module, positional: tuple[Any, ...], named: dict[str, Any]) -> None:
        everything = [*positional, named.get("x"), named.get("memory")]
        seen.extend(one for one in everything if isinstance(one, torch.Tensor) and one.is_floating_point())

    handle = part.register_forward_pre_hook(note, with_kwargs=True)
    try:
        run()
    finally:
        handle.remove()
    return seen


def _weights(block: nn.Module) -> dict[str, torch.Tensor]:
    """What is learned, but the biases, of which a softmax ignores some."""
    return {name: value for name, value in block.named_parameters() if name.endswith("weight")}


def _no_holes(block: Any, *arguments: torch.Tensor) -> None:
    """A hint when dropout acts on what a sublayer is given."""
    block.train()
    for name, part in block.named_children():
        if name != "feed_forward" and not name.endswith("attention"):
            continue
        for words in _inputs_of(part, lambda: block(*arguments)):
            ensure(
                bool((words != 0).all()),
                f"dropout acts on what {name} is given: it should act on what a sublayer says, and nowhere else",
            )
    block.eval()


def _dropout_as_asked(make: Callable[[float], Any], *arguments: torch.Tensor) -> None:
    """With dropout = 1 only the norms are left; else a hint, as exact as it is sure."""
    block = make(1.0)
    for name, part in block.named_modules():
        inside = name.startswith(("attention.", "self_attention.", "cross_attention.", "feed_forward."))
        if isinstance(part, nn.Dropout) and not inside:
            ensure(
                part.p == 1,
                f"made with dropout = 1, the block has an nn.Dropout with p = {part.p:g}: hand the argument on to it",
            )
    said = _said(block.train()(*arguments)).detach()
    layers = [
        (name, getattr(part, "linear2" if name == "feed_forward" else "W_O"))
        for name, part in block.named_children()
        if name == "feed_forward" or name.endswith("attention")
    ]
    expected, norms = arguments[0], [f"norm{number}" for number in range(1, len(layers) + 1)]
    for name in norms:
        expected = getattr(block, name)(expected)
    for name, layer in () if torch.allclose(said, expected) else layers:
        kept = {key: value.clone() for key, value in layer.state_dict().items()}
        layer.load_state_dict({key: torch.zeros_like(value) for key, value in kept.items()})
        without = _said(block(*arguments)).detach()
        layer.load_state_dict(kept)
        ensure(
            not torch.allclose(without, expected),
            f"with dropout = 1, {name} is still heard, and it alone: dropout should act on what each sublayer says",
        )
    close(
        said,
        expected.detach(),
        "with dropout = 1 everything the sublayers say is dropped, so only "
        f"{', '.join(norms)} should be left: dropout acts on each sublayer's output, before the sum",
    )


def _dropped_once(Block: Any, *arguments: torch.Tensor) -> None:
    """A hint when another share than asked for is dropped: one sublayer speaks loudly, so that signs tell what was dropped."""
    block = _module(Block(64, 4, 8, 0.5))
    names = [
        name for name, _ in block.named_children() if name == "feed_forward" or name.endswith("attention")
    ]
    last = {
        name: getattr(getattr(block, name), "linear2" if name == "feed_forward" else "W_O") for name in names
    }
    block.double().train()
    for loud in names:
        with torch.no_grad():
            for name, layer in last.items():
                layer.weight.zero_()
                layer.bias.fill_(100.0 if name == loud else 0.0)
        share = 1 - (_said(block(*arguments)) > 0).double().mean().item()
        ensure(
            abs(share - 0.5) < 0.1,
            f"with dropout = 0.5, {'more' if share > 0.5 else 'less'} than half of what {loud} says is dropped: "
            "let dropout act on it once",
        )


@public_check("EncoderBlock")
def the_parts_of_the_encoder(EncoderBlock: Any) -> None:
    """Its parts have the right names and sizes, and silent sublayers let the words pass."""
    block = _encoder(EncoderBlock)
    with torch.no_grad():
        for layer in (block.attention.W_O, block.feed_forward.linear2):
            layer.weight.zero_()
            layer.bias.zero_()
    x = _words(2, 3, 6)
    _only_norms(block, block(x), x, 2, "with silent sublayers")
    _usual_eps(block, 2)


@public_check("EncoderBlock")
def first_listen_then_think(EncoderBlock: Any) -> None:
    """The attention is given the block's words, the feed-forward layer what came out of the first Add & Norm."""
    block, x = _encoder(EncoderBlock), _words(2, 3, 6)
    for words in _inputs_of(block.attention, lambda: block(x)):
        ensure(
            words.shape != x.shape or torch.allclose(words, x),
            "the attention comes first: it should be given the block's words as they are",
        )
    for words in _inputs_of(block.feed_forward, lambda: block(x)):
        ensure(
            words.shape != x.shape or not torch.allclose(words, x),
            "the feed-forward layer is given the block's words: give it the result of the first Add & Norm",
        )


@contextmanager
def _not_as_memory(call: str) -> Iterator[None]:
    """A hint for the error that comes of a mask in the memory's place."""
    try:
        yield
    except RuntimeError as error:
        if "Bool" not in str(error):
            raise
        raise Hint(
            f"the mask goes to the attention in second place, where the memory belongs: {call}"
        ) from None


@public_check("EncoderBlock")
def the_same_as_pytorchs_encoder_layer(EncoderBlock: Any) -> None:
    """With the same weights it agrees with PyTorch's encoder layer, with and without a mask."""
    block = _encoder(EncoderBlock)
    theirs = nn.TransformerEncoderLayer(6, 2, 10, dropout=0.0, batch_first=True, dtype=torch.float64)
    _copy_attention(block.attention, theirs.self_attn)
    _copy_rest(block, theirs, 2)
    x = _words(2, 3, 6)
    got = _said(block(x))
    theirs.norm_first = True
    ensure(
        not torch.allclose(got, theirs(x)),
        "this is the pre-LN block: normalise after the sum, not before the sublayer",
    )
    theirs.norm_first = False
    heard = block.norm1(2 * x + theirs.self_attn(x, x, x)[0])
    ensure(
        not torch.allclose(got, block.norm2(2 * heard + _said(block.feed_forward(heard)))),
        "what goes into a sublayer stands twice in your sum: residual adds it already",
    )
    close(
        got,
        theirs(x).detach(),
        "without a mask it differs from nn.TransformerEncoderLayer with the same weights",
    )
    plain = got.detach()
    mask = torch.tensor([[[True, True, False]], [[True, True, True]]])  # the first sentence has one padding
    with _not_as_memory("attention(y, mask=mask)"):
        got = _said(block(x, mask)).detach()
    ensure(
        torch.allclose(plain, _said(block(x)).detach()),
        "after a call with a mask, a call without one says something else than before: keep nothing of an earlier call",
    )
    ensure(
        not torch.allclose(got, plain),
        "the mask changes nothing: pass it on by its name, attention(y, mask=mask); in second place stands the memory",
    )
    ensure(
        bool(torch.isfinite(got).all()),
        "nan comes out with a mask: True means “may attend”, so pass the mask on as it is",
    )
    close(
        got,
        theirs(x, src_key_padding_mask=~mask[:, 0]).detach(),
        "with a mask it differs from nn.TransformerEncoderLayer",
    )
    close(
        _said(block(x[:1], mask[:1])),
        got[:1],
        "with its mask a sentence alone should give what it gives in a batch",
    )
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    for shape, mask in (("(T, T)", causal), ("(B, T, T)", torch.stack([causal, causal.T]))):
        hint = f"a mask (B, 1, T) is obeyed, but one of shape {shape} is not: hand each on to the attention as it is"
        try:
            got = _said(block(x, mask)).detach()
        except (RuntimeError, IndexError):
            raise Hint(hint) from None
        close(got, theirs(x, src_mask=~mask.expand(2, 3, 3).repeat_interleave(2, 0)).detach(), hint)


@public_check("EncoderBlock")
def every_part_of_the_encoder_learns(EncoderBlock: Any) -> None:
    """Gradients reach every part of the block, and its words."""
    block, x = _encoder(EncoderBlock), _words(2, 3, 6).requires_grad_()
    _reached(block(x), {"x": x, **_weights(block)})


@public_check("EncoderBlock")
def dropout_in_training(EncoderBlock: Any) -> None:
    """In training mode dropout silences the sublayers, in evaluation mode it does nothing."""
    block, x = _encoder(EncoderBlock, dropout=1.0), _words(2, 3, 6)
    quiet = _said(block(x)).detach()
    ensure(
        not torch.allclose(quiet, block.norm2(block.norm1(x)).detach()),
        "dropout acts in evaluation mode as well: use an nn.Dropout that is a part of the block",
    )
    loud = _said(block.train()(x)).detach()
    ensure(
        not torch.allclose(loud, quiet),
        "in training mode nothing is dropped: the nn.Dropout should act on what each sublayer says",
    )
    _dropout_as_asked(lambda rate: _encoder(EncoderBlock, dropout=rate), x)
    _no_holes(_encoder(EncoderBlock, dropout=0.9), x)
    _dropped_once(EncoderBlock, _words(3, 10, 64))


def _decoder(DecoderBlock: Any, dropout: float = 0.0) -> Any:
    block = _module(DecoderBlock(6, 2, 10, dropout))
    _has(block, "self_attention", "cross_attention", "feed_forward", "norm1", "norm2", "norm3")
    ensure(
        block.self_attention is not block.cross_attention,
        "self_attention and cross_attention are the same module: make two",
    )
    _learned(block, _parts(("self_attention", "cross_attention"), 3))
    return _randomised(block)


@public_check("DecoderBlock")
def the_parts_of_the_decoder(DecoderBlock: Any) -> None:
    """Its parts have the right names and sizes; with all of it dropped only the three norms are left."""
    x, memory = _words(2, 3, 6), _words(2, 3, 6) + 1
    silent = _decoder(DecoderBlock)
    with torch.no_grad():
        for part in (silent.self_attention.W_O, silent.cross_attention.W_O, silent.feed_forward.linear2):
            part.weight.zero_()
            part.bias.zero_()
    _only_norms(silent, silent(x, memory), x, 3, "with silent sublayers")
    _usual_eps(silent, 3)
    block = _decoder(DecoderBlock, dropout=1.0)
    quiet, loud = (_said(block.train(mode)(x, memory)).detach() for mode in (False, True))
    ensure(
        loud.shape != x.shape or not torch.allclose(loud, quiet),
        "in training mode nothing is dropped: the nn.Dropout should act on what each sublayer says",
    )
    _dropout_as_asked(lambda rate: _decoder(DecoderBlock, dropout=rate), x, memory)
    _no_holes(_decoder(DecoderBlock, dropout=0.9), x, memory)
    _dropped_once(DecoderBlock, _words(3, 10, 64), _words(3, 10, 64))


@public_check("DecoderBlock")
def who_asks_and_who_answers(DecoderBlock: Any) -> None:
    """The decoder asks, the memory answers, and each of the three results is added to what went in."""
    block = _decoder(DecoderBlock)
    x, memory = _words(2, 3, 6), _words(2, 3, 6).flip(1) + 1
    got = _said(block(x, memory)).detach()
    other, fresh = (_said(one(x, memory.flip(-1))).detach() for one in (block, _decoder(DecoderBlock)))
    ensure(
        not torch.allclose(got, other) or torch.allclose(got, fresh),
        "a second call listens to the memory of the first: keep nothing of an earlier call, each has its own memory",
    )
    ensure(
        not torch.allclose(got, other),
        "the memory changes nothing: pass it to the cross-attention, cross_attention(y, memory, …)",
    )
    asked, *answered = _inputs_of(block.cross_attention, lambda: block(x, memory))[:2] or [x + 1]
    ensure(
        not torch.equal(asked, memory),
        "the memory asks in your cross-attention: the queries come from the decoder, keys and values from the memory",
    )
    ensure(
        not torch.equal(asked, x),
        "your cross-attention asks with the block's input: give it the result of the first Add & Norm",
    )
    for source in answered:
        ensure(
            source.shape != memory.shape or torch.equal(source, memory),
            "the memory goes into the cross-attention as it is; yours has changed it before (another norm?)",
        )


def _their_decoder(block: Any) -> nn.TransformerDecoderLayer:
    """PyTorch's decoder layer with the block's weights."""
    theirs = nn.TransformerDecoderLayer(6, 2, 10, dropout=0.0, batch_first=True, dtype=torch.float64)
    _copy_attention(block.self_attention, theirs.self_attn)
    _copy_attention(block.cross_attention, theirs.multihead_attn)
    _copy_rest(block, theirs, 3)
    return theirs


@public_check("DecoderBlock")
def each_mask_in_its_place(DecoderBlock: Any) -> None:
    """self_mask acts on the self-attention, memory_mask on the cross-attention, and neither is made up."""
    block = _decoder(DecoderBlock)
    theirs = _their_decoder(block)
    x, memory = _words(2, 3, 6), _words(2, 3, 6).flip(1) + 1  # of the same length, on purpose
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    plain = _said(block(x, memory)).detach()
    ensure(
        not torch.allclose(plain, theirs(x, memory, tgt_mask=~mask)),
        "your block makes a causal mask when none is given: whoever calls it decides, so use self_mask as it is",
    )
    close(
        plain,
        theirs(x, memory).detach(),
        "already without masks it differs from nn.TransformerDecoderLayer: mend that first",
    )
    for name, call, right, other in (
        ("self_mask", "self_attention(y, mask=self_mask)", {"tgt_mask": ~mask}, {"memory_mask": ~mask}),
        (
            "memory_mask",
            "cross_attention(y, memory, memory_mask)",
            {"memory_mask": ~mask},
            {"tgt_mask": ~mask},
        ),
    ):
        with _not_as_memory(call):
            got = _said(block(x, memory, **{name: mask})).detach()
        wrong = "self_mask belongs to the self-attention, memory_mask to the cross-attention"
        ensure(
            torch.allclose(plain, _said(block(x, memory)).detach()),
            "after a call with a mask, a call without one says something else than before: keep nothing of an earlier call",
        )
        ensure(not torch.allclose(got, plain), f"{name} changes nothing: pass it on, mask={name}")
        ensure(not torch.allclose(got, theirs(x, memory, **other)), f"the masks are exchanged: {wrong}")
        close(
            got,
            theirs(x, memory, **right).detach(),
            f"with {name} alone the result is wrong: True means “may attend”",
        )
    close(
        _said(block(x, memory, mask, mask.T)),
        theirs(x, memory, tgt_mask=~mask, memory_mask=~mask.T).detach(),
        "each mask is obeyed alone, but not both at once, where T = S",
    )


@public_check("DecoderBlock")
def the_same_as_pytorchs_decoder_layer(DecoderBlock: Any) -> None:
    """With the same weights it agrees with PyTorch's decoder layer."""
    block = _decoder(DecoderBlock)
    theirs = _their_decoder(block)
    x, memory = _words(2, 3, 6), _words(2, 5, 6) + 1
    close(
        _said(block(x, memory)),
        theirs(x, memory).detach(),
        "without masks it differs from nn.TransformerDecoderLayer: queries from the decoder, keys and values "
        "from the memory",
    )
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    padding = torch.tensor([[[True, True, True, True, False]], [[True, True, False, False, False]]])
    close(
        _said(block(x, memory, causal, padding)),
        theirs(x, memory, tgt_mask=~causal, memory_key_padding_mask=~padding[:, 0]).detach(),
        "with masks it differs from nn.TransformerDecoderLayer: self_mask for the self-attention, memory_mask "
        "for the cross-attention",
    )
    own = torch.stack([causal, causal.T])
    each = padding.expand(2, 3, 5) & torch.stack([torch.ones(3, 5), torch.ones(3, 5).tril()]).bool()
    for name, mask, theirs_of_it in (("self_mask", own, "tgt_mask"), ("memory_mask", each, "memory_mask")):
        hint = f"a {name} with one table for each sentence, (B, T, {'ST'[name == 'self_mask']}), is not obeyed: hand it on as it is"
        right = theirs(x, memory, **{theirs_of_it: ~mask.repeat_interleave(2, 0)}).detach()
        try:
            got = _said(block(x, memory, **{name: mask})).detach()
        except (RuntimeError, IndexError):
            raise Hint(hint) from None
        close(got, right, hint)
    close(
        _said(block(x, memory, own, each)),
        theirs(
            x,
            memory,
            **{"tgt_mask": ~own.repeat_interleave(2, 0), "memory_mask": ~each.repeat_interleave(2, 0)},
        ).detach(),
        "each mask is obeyed alone, but not both at once where each has a table for each sentence",
    )


@public_check("DecoderBlock")
def every_part_of_the_decoder_learns(DecoderBlock: Any) -> None:
    """Gradients reach every part of the block, its words and the memory."""
    block = _decoder(DecoderBlock)
    x, memory = _words(2, 3, 6).requires_grad_(), (_words(2, 5, 6) + 1).requires_grad_()
    _reached(block(x, memory), {"x": x, "the memory": memory, **_weights(block)})


@public_check("DecoderBlock")
def no_look_ahead(DecoderBlock: Any) -> None:
    """With a causal mask a later word changes nothing before it."""
    block = _decoder(DecoderBlock)
    x, memory = _words(1, 4, 6), _words(1, 2, 6)
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    before = _said(block(x, memory, causal)).detach()
    x[0, 3] += 5
    after = _said(block(x, memory, causal)).detach()
    ensure(not torch.allclose(before[0, 3], after[0, 3]), "a word's own change should change its output")
    close(after[0, :3], before[0, :3], "changing the last word changes earlier outputs: is self_mask used?")


# ------------------------------------------------------------------------------------- Break it to believe it


@impostor("layer_norm")
def normalises_all_together(right: Any, x: Any) -> Any:
    """It takes one mean and one deviation for all words together.

    One survives: give it more than one word.
    """
    return right(x.reshape(-1)).reshape(x.shape)


@impostor("layer_norm")
def divides_by_nothing(right: Any, x: Any) -> Any:
    """It has no ε: for a word whose entries are all equal it divides 0 by 0.

    One survives: what must a word be like for its variance to be 0?
    """
    equal_entries = x.amax(-1, keepdim=True) == x.amin(-1, keepdim=True)
    return torch.where(equal_entries, torch.nan, right(x))


@impostor("layer_norm")
def has_a_large_epsilon(right: Any, x: Any) -> Any:
    """Its ε is a hundred times too large.

    One survives: ε is tiny, so the word must be quiet, too.
    """
    return right(x / 10)


@impostor("layer_norm")
def hears_one_word(right: Any, x: Any) -> Any:
    """It answers for the first word, whichever it is asked for.

    One survives: give it two different words.
    """
    return right(x.reshape(-1, x.shape[-1])[0]).expand_as(x)


@impostor("layer_norm")
def cuts_what_is_loud(right: Any, x: Any) -> Any:
    """It cuts every entry at 2 deviations.

    One survives: can an entry of your words lie further out? With four entries none can.
    """
    return right(x).clamp(-2, 2)
