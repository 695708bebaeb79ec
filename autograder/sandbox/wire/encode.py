"""The encoding half of the wire format: turns a value into a tree of tags and a list of buffers, and these into a frame."""

from __future__ import annotations

import array
import decimal
import fractions
import itertools
import json
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .types import (
    DTYPE,
    INLINE_STRING,
    ITERATORS,
    LIMITS,
    MAGIC,
    PREFIX,
    SCALAR_NAMES,
    TORCH_DTYPES,
    Reference,
    WireError,
    type_name,
)

_dump = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def encode(
    value: object,
    refer: Callable[[Any], Reference | None] | None = None,
    for_arguments: bool = False,
    in_order: bool = False,
) -> bytes:
    """The frame for ``value``.

    ``refer`` may turn a value of another type into a ``Reference``; if it returns ``None``, only the type's name is sent.
    ``for_arguments`` keeps the memory layout of arrays and the ``requires_grad`` flag of tensors. Otherwise arrays arrive
    contiguous, tensors detached, and iterators as lists. ``in_order`` writes equal sets in the same order in every process.
    Raises ``WireError`` if the value is too large or too deep. An iterator's own exception passes through.
    """
    encoder = Encoder(refer, for_arguments, in_order)
    tree = encoder.tree(value, 0)
    header = _dump([tree, [len(buffer) for buffer in encoder.buffers]]).encode("ascii")
    body = sum(map(len, encoder.buffers))
    if len(header) > LIMITS.header_bytes or PREFIX.size + len(header) + body > LIMITS.total_bytes:
        raise WireError("the value is too large to send")
    return b"".join((PREFIX.pack(MAGIC, len(header), body), header, *encoder.buffers))


def drained(values: Iterable[Any]) -> list[Any]:
    """The items of an iterator."""
    items = list(itertools.islice(values, LIMITS.items + 1))
    if len(items) > LIMITS.items:
        raise WireError("the iterator does not end")
    return items


class Encoder:
    """Builds the header's tree and collects the buffers in the order in which the tree uses them."""

    def __init__(
        self,
        refer: Callable[[Any], Reference | None] | None,
        for_arguments: bool,
        in_order: bool,
    ):
        self.refer = refer
        self.for_arguments = for_arguments
        self.in_order = in_order
        self.buffers: list[bytes] = []
        self.items = 0
        self.bytes = 0

    def add(self, buffer: bytes) -> None:
        self.bytes += len(buffer)
        if self.bytes > LIMITS.total_bytes:
            raise WireError("the value is too large to send")
        self.buffers.append(buffer)

    def tree(self, value: Any, depth: int) -> Any:
        kind = type(value)
        self.items += 1
        if value is None or kind is bool or kind is float:
            return value
        encoder = _ENCODERS.get(kind)
        if encoder is not None:
            return encoder(self, value, depth + 1)
        return self.encode_other(value, depth + 1)

    def encode_integer(self, value: int, depth: int) -> Any:
        bits = value.bit_length()
        if bits < 63:
            return value
        if bits > LIMITS.integer_bits:
            raise WireError("a whole number has too many digits to send")
        return ["I", format(value, "x")]

    def encode_text(self, value: str, depth: int) -> Any:
        if len(value) <= INLINE_STRING and (value.isascii() or not _has_surrogates(value)):
            return value
        self.add(value.encode("utf-8", "surrogatepass"))
        return ["S"]

    def encode_binary(self, value: bytes | bytearray, depth: int) -> Any:
        self.add(bytes(value))
        return ["b"]

    def encode_sequence(self, tag: str, values: Iterable[Any], length: int, depth: int) -> Any:
        if depth > LIMITS.depth:
            raise WireError("the value is nested too deeply, or contains itself")
        if self.items + length > LIMITS.items:
            raise WireError("the value has too many parts to send")
        tree = self.tree
        return [tag, *[tree(value, depth) for value in values]]

    def encode_set(self, tag: str, value: set[Any] | frozenset[Any], depth: int) -> Any:
        tree = self.encode_sequence(tag, value, len(value), depth)
        return [tag, *sorted(tree[1:], key=repr)] if self.in_order else tree

    def encode_array(self, value: np.ndarray, depth: int) -> Any:
        value = value.view(np.ndarray)
        if value.dtype.kind == "O":
            value = _as_floats(value)
        dtype = value.dtype
        if dtype.kind not in _KINDS:
            return self.encode_opaque(
                f"numpy.ndarray of {dtype.kind!r}" if dtype.kind != "O" else "array of objects"
            )
        if dtype.itemsize == 0:
            value = value.astype(f"{dtype.kind}1")
            dtype = value.dtype
        flags = value.flags
        layout = "C"
        if self.for_arguments and not flags.c_contiguous:
            layout = "F" if flags.f_contiguous else "S"
        self.add(value.tobytes("F" if layout == "F" else "C"))
        return ["a", dtype.str, list(value.shape), layout]

    def encode_number(self, value: np.generic, depth: int) -> Any:
        tree = self.encode_array(np.asarray(value), depth)
        return [*tree[:-1], "number"] if tree[0] == "a" else tree

    def encode_generator(self, value: np.random.Generator, depth: int) -> Any:
        if type(value.bit_generator) is not np.random.PCG64:  # the one of ``default_rng``
            return self.encode_opaque(type_name(value.bit_generator))
        state = value.bit_generator.state
        parts = (state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"])
        return self.encode_sequence("g", parts, len(parts), depth)

    def encode_opaque(self, name: str) -> Any:
        return ["o", name[:80]]

    def encode_other(self, value: Any, depth: int) -> Any:
        """Encode a value whose type is not in the table: a subclass, a PyTorch type, or a reference."""
        kind = type(value)
        if issubclass(kind, np.generic):  # first, because np.float64 is a float and np.str_ a str
            return self.encode_number(value, depth)
        if issubclass(kind, np.ndarray):
            return self.encode_array(np.ndarray.view(value, np.ndarray), depth)
        for base, reduce in _REDUCERS:
            if issubclass(kind, base):
                return self.tree(reduce(value), depth - 1)
        if issubclass(kind, np.dtype):
            return ["k", value.str] if DTYPE.fullmatch(value.str) else self.encode_opaque(type_name(value))
        if issubclass(kind, np.random.Generator):
            return self.encode_generator(value, depth)
        if issubclass(kind, type) and value in SCALAR_NAMES:
            return ["k", SCALAR_NAMES[value]]
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "Tensor"):
            tree = self.encode_torch(torch, value)
            if tree is not None:
                return tree
        if self.refer is not None:
            reference = self.refer(value)
            if reference is not None:
                return ["ref", reference.kind, reference.key]
        if issubclass(kind, ITERATORS) and not self.for_arguments:
            items = drained(value)
            return self.encode_sequence("l", items, len(items), depth)
        held = None if self.for_arguments else _as_array(value)
        return self.encode_opaque(type_name(value)) if held is None else self.encode_array(held, depth)

    def encode_torch(self, torch: Any, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.encode_tensor(torch, value)
        if isinstance(value, torch.dtype):
            known = str(value).removeprefix("torch.") in TORCH_DTYPES
            return ["k", str(value)] if known else self.encode_opaque(type_name(value))
        if isinstance(value, torch.Generator) and value.device.type == "cpu":
            self.add(value.get_state().numpy().tobytes())
            return ["G"]
        return None

    def encode_tensor(self, torch: Any, value: Any) -> Any:
        if type(value) is torch.Tensor:
            plain = value.detach()
        else:  # a subclass may have redefined every method
            with torch._C.DisableTorchFunctionSubclass():
                plain = torch.Tensor.as_subclass(torch.Tensor.detach(value), torch.Tensor)
        name = str(plain.dtype).removeprefix("torch.")
        if plain.layout is not torch.strided or plain.device.type != "cpu" or name not in TORCH_DTYPES:
            return self.encode_opaque(f"{plain.layout} tensor of {plain.dtype} on {plain.device}")
        bits = plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain
        array = self.encode_array(bits.resolve_conj().resolve_neg().numpy(), 0)
        return ["T", name, array, bool(self.for_arguments and value.requires_grad)]


#: The kinds of array items that can be sent: numbers and texts.
_KINDS = "biufcSU"

#: The types of objects that an array may hold to be sent as an array of numbers.
_EXACT = (int, float, fractions.Fraction, decimal.Decimal, np.integer, np.floating)


def _as_floats(value: np.ndarray) -> np.ndarray:
    """Convert an array of fractions, decimals or Python's own numbers to double precision; leave other arrays unchanged."""
    if not all(isinstance(item, _EXACT) for item in value.flat):
        return value
    try:
        return value.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return value


def _as_array(value: Any) -> np.ndarray | None:
    """The array that a data frame, buffer or student's class converts to; None if it converts to no array of numbers or texts."""
    if not (hasattr(type(value), "__array__") or isinstance(value, (memoryview, array.array))):
        return None
    try:
        found = np.asarray(value)
        found = _as_floats(found) if found.dtype.kind == "O" else found
    except Exception:  # a student's class may raise anything
        return None
    return found if found.dtype.kind in _KINDS else None


def _has_surrogates(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


_ENCODERS: dict[type, Callable[[Encoder, Any, int], Any]] = {
    int: Encoder.encode_integer,
    str: Encoder.encode_text,
    bytes: Encoder.encode_binary,
    list: lambda encoder, value, depth: encoder.encode_sequence("l", value, len(value), depth),
    tuple: lambda encoder, value, depth: encoder.encode_sequence("t", value, len(value), depth),
    dict: lambda encoder, value, depth: encoder.encode_sequence(
        "d", itertools.chain.from_iterable(value.items()), 2 * len(value), depth
    ),
    set: lambda encoder, value, depth: encoder.encode_set("s", value, depth),
    frozenset: lambda encoder, value, depth: encoder.encode_set("z", value, depth),
    np.ndarray: Encoder.encode_array,
    np.random.Generator: Encoder.encode_generator,
    complex: lambda encoder, value, depth: ["c", value.real, value.imag],
    range: lambda encoder, value, depth: encoder.encode_sequence(
        "r", (value.start, value.stop, value.step), 3, depth
    ),
    slice: lambda encoder, value, depth: encoder.encode_sequence(
        "sl", (value.start, value.stop, value.step), 3, depth
    ),
    types.EllipsisType: lambda encoder, value, depth: ["e"],
    Reference: lambda encoder, value, depth: ["ref", value.kind, value.key],
}

#: A subclass of one of these types is sent as the plain value inside it; an exact number, as a float.
_REDUCERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, int.__index__),
    (float, float.__float__),
    (complex, complex.__complex__),
    (fractions.Fraction, fractions.Fraction.__float__),
    (decimal.Decimal, decimal.Decimal.__float__),
    (str, str.__str__),
    (bytes, lambda value: bytes.__getitem__(value, slice(None))),
    (bytearray, bytes),
    (list, lambda value: [*list.__iter__(value)]),
    (tuple, lambda value: (*tuple.__iter__(value),)),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: {*set.__iter__(value)}),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
)
