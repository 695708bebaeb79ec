"""Turns plain values into frames of bytes and back: only frames cross the sandbox's boundary.

A frame is a fixed prefix (magic, header length, body length), a JSON header and a body of raw buffers::

    b"CKW1" | u32 header bytes | u64 body bytes | header | body

The header is ``[tree, lengths]``. ``tree`` holds ``null``, booleans, numbers and short strings as
themselves, and everything else as a list that starts with a tag (``["a", "<f8", [2, 3], "C"]`` is an
array). ``lengths`` says how the body is cut into buffers; the tree uses each buffer once, in order, so a
short header can never multiply a long buffer.

Only values of allowed types are rebuilt. Nothing is unpickled, evaluated or looked up by name. Every length is checked
before memory is allocated for it. A wrong frame raises ``WireError``.

This module runs on both sides of the boundary. It needs only the standard library and NumPy (and PyTorch, imported only
when a tensor is sent).
"""

from __future__ import annotations

import array
import collections
import decimal
import fractions
import itertools
import json
import math
import re
import struct
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

MAGIC = b"CKW1"
PREFIX = struct.Struct("<4sIQ")

#: Strings up to this many characters travel inside the header, longer ones as buffers.
INLINE_STRING = 512
#: The most keys of a decoded dict or set that may share a hash (more are an attack on the hash table).
HASH_COLLISIONS = 64
MAX_DIMENSIONS = 32
#: The bytes of an object beyond those in the frame: a number, text or list; an array; a tensor; a generator. Then the
#: additional bytes for each axis of an array, and for a reference.
PART_BYTES, ARRAY_BYTES, TENSOR_BYTES, GENERATOR_BYTES = 64, 256, 1024, 8192
AXIS_BYTES, REFERENCE_BYTES = 16, 256
#: The most bytes of all objects of one frame.
MAX_HELD_BYTES = 256 << 20

TORCH_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
SCALAR_TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, int, float, complex, str, bytes)},
    **{
        f"numpy.{name}": getattr(np, name)
        for name in ("bool_", *TORCH_DTYPES, "str_", "bytes_")
        if name not in ("bool", "bfloat16")
    },
}
SCALAR_NAMES = {kind: name for name, kind in SCALAR_TYPES.items()}
_SURROGATE = re.compile("[\ud800-\udfff]")
DTYPE = re.compile(r"[<>|][biufcSU][0-9]{1,9}")
#: The kinds of array items that can be sent: numbers and texts.
_KINDS = "biufcSU"
#: The types of objects that an array may hold to be sent as an array of numbers.
_EXACT = (int, float, fractions.Fraction, decimal.Decimal, np.integer, np.floating)
_ITERATORS: tuple[type, ...] = (
    Iterator,
    collections.deque,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)

_dump = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


class WireError(Exception):
    """A value cannot be sent, or a frame does not have the format that ``encode`` writes."""


class OpaqueError(WireError):
    """A frame holds a value of a type that cannot be sent: ``type_name``."""

    def __init__(self, type_name: str):
        super().__init__(f"a value of type {type_name} does not travel")
        self.type_name = type_name


class LIMITS:
    """The limits on one frame."""

    header_bytes = 24 << 20
    total_bytes = 64 << 20
    #: The most objects that a reader may hold: parts of the tree plus lengths of ranges.
    items = 1_000_000
    depth = 48
    integer_bits = 14_000


@dataclass(frozen=True)
class Reference:
    """Refers to an object that stays on its own side: a ``callback``, a ``handle`` or a ``name``."""

    kind: str
    key: int | str


def type_name(value: object) -> str:
    """The name of a value's type, read without running any of the type's code, at most 80 characters."""
    kind = type(value)
    name = type.__dict__["__name__"].__get__(kind)
    module = type.__dict__["__module__"].__get__(kind)
    full = name if module in ("builtins", "__main__") or type(module) is not str else f"{module}.{name}"
    ascii_name = str.__str__(full)[:80].encode("ascii", "replace").decode("ascii")
    return "".join(character if character.isprintable() else "?" for character in ascii_name)


def clean_text(text: str, max_length: int) -> str:
    """The first ``max_length`` characters of an untrusted text; those that UTF-8 cannot encode become “?”."""
    return text[:max_length].encode("utf-8", "replace").decode("utf-8")


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
    """The items of an iterator. Raises ``WireError`` if it does not end."""
    items = list(itertools.islice(values, LIMITS.items + 1))
    if len(items) > LIMITS.items:
        raise WireError("the iterator does not end")
    return items


@dataclass
class Encoder:
    """Builds the header's tree and collects the buffers in the order in which the tree uses them."""

    refer: Callable[[Any], Reference | None] | None
    for_arguments: bool
    in_order: bool

    def __post_init__(self) -> None:
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
        encoder = _ENCODERS.get(kind, Encoder.other)
        return encoder(self, value, depth + 1)

    def integer(self, value: int, depth: int) -> Any:
        bits = value.bit_length()
        if bits < 63:
            return value
        if bits > LIMITS.integer_bits:
            raise WireError("a whole number has too many digits to send")
        return ["I", format(value, "x")]

    def text(self, value: str, depth: int) -> Any:
        if len(value) <= INLINE_STRING and (value.isascii() or not _SURROGATE.search(value)):
            return value
        self.add(value.encode("utf-8", "surrogatepass"))
        return ["S"]

    def binary(self, value: bytes | bytearray, depth: int) -> Any:
        self.add(bytes(value))
        return ["b"]

    def sequence(self, tag: str, values: Collection[Any], depth: int) -> Any:
        if depth > LIMITS.depth:
            raise WireError("the value is nested too deeply, or contains itself")
        if self.items + len(values) > LIMITS.items:
            raise WireError("the value has too many parts to send")
        tree = self.tree
        return [tag, *[tree(value, depth) for value in values]]

    def set_of(self, tag: str, values: Collection[Any], depth: int) -> Any:
        tree = self.sequence(tag, values, depth)
        return [tag, *sorted(tree[1:], key=repr)] if self.in_order else tree

    def array(self, value: np.ndarray, depth: int = 0) -> Any:
        value = value.view(np.ndarray)
        if value.dtype.kind == "O":
            value = _as_floats(value)
        dtype = value.dtype
        if dtype.kind not in _KINDS:
            return self.opaque(
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

    def generator(self, value: np.random.Generator, depth: int) -> Any:
        if type(value.bit_generator) is not np.random.PCG64:  # the one of ``default_rng``
            return self.opaque(type_name(value.bit_generator))
        state = value.bit_generator.state
        numbers = (state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"])
        return self.sequence("g", numbers, depth)

    def opaque(self, name: str) -> Any:
        return ["o", name[:80]]

    def other(self, value: Any, depth: int) -> Any:
        """Encode a value whose type is not in the table: a subclass, a PyTorch type, or a reference."""
        kind = type(value)
        if issubclass(kind, np.generic):  # first, because np.float64 is a float and np.str_ a str
            tree = self.array(np.asarray(value))
            return [*tree[:-1], "number"] if tree[0] == "a" else tree
        if issubclass(kind, np.ndarray):
            return self.array(np.ndarray.view(value, np.ndarray))
        for base, reduce in _REDUCERS:
            if issubclass(kind, base):
                return self.tree(reduce(value), depth - 1)
        if issubclass(kind, np.dtype):
            return ["k", value.str] if DTYPE.fullmatch(value.str) else self.opaque(type_name(value))
        if issubclass(kind, np.random.Generator):
            return self.generator(value, depth)
        if issubclass(kind, type) and value in SCALAR_NAMES:
            return ["k", SCALAR_NAMES[value]]
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "Tensor"):
            tree = self.of_torch(torch, value)
            if tree is not None:
                return tree
        if self.refer is not None:
            reference = self.refer(value)
            if reference is not None:
                return ["ref", reference.kind, reference.key]
        if issubclass(kind, _ITERATORS) and not self.for_arguments:
            return self.sequence("l", drained(value), depth)
        held = None if self.for_arguments else _as_array(value)
        return self.opaque(type_name(value)) if held is None else self.array(held)

    def of_torch(self, torch: Any, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.tensor(torch, value)
        if isinstance(value, torch.dtype):
            known = str(value).removeprefix("torch.") in TORCH_DTYPES
            return ["k", str(value)] if known else self.opaque(type_name(value))
        if isinstance(value, torch.Generator) and value.device.type == "cpu":
            self.add(value.get_state().numpy().tobytes())
            return ["G"]
        return None

    def tensor(self, torch: Any, value: Any) -> Any:
        if type(value) is torch.Tensor:
            plain = value.detach()
        else:  # a subclass may have redefined every method
            with torch._C.DisableTorchFunctionSubclass():
                plain = torch.Tensor.as_subclass(torch.Tensor.detach(value), torch.Tensor)
        name = str(plain.dtype).removeprefix("torch.")
        if plain.layout is not torch.strided or plain.device.type != "cpu" or name not in TORCH_DTYPES:
            return self.opaque(f"{plain.layout} tensor of {plain.dtype} on {plain.device}")
        bits = plain.view(torch.int16) if plain.dtype is torch.bfloat16 else plain
        numbers = self.array(bits.resolve_conj().resolve_neg().numpy())
        return ["T", name, numbers, bool(self.for_arguments and value.requires_grad)]


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


_ENCODERS: dict[type, Callable[[Encoder, Any, int], Any]] = {
    int: Encoder.integer,
    str: Encoder.text,
    bytes: Encoder.binary,
    list: lambda encoder, value, depth: encoder.sequence("l", value, depth),
    tuple: lambda encoder, value, depth: encoder.sequence("t", value, depth),
    dict: lambda encoder, value, depth: encoder.sequence("d", [*itertools.chain(*value.items())], depth),
    set: lambda encoder, value, depth: encoder.set_of("s", value, depth),
    frozenset: lambda encoder, value, depth: encoder.set_of("z", value, depth),
    np.ndarray: Encoder.array,
    np.random.Generator: Encoder.generator,
    complex: lambda encoder, value, depth: ["c", value.real, value.imag],
    range: lambda encoder, value, depth: encoder.sequence("r", _bounds(value), depth),
    slice: lambda encoder, value, depth: encoder.sequence("sl", _bounds(value), depth),
    types.EllipsisType: lambda encoder, value, depth: ["e"],
    Reference: lambda encoder, value, depth: ["ref", value.kind, value.key],
}


def _bounds(value: range | slice) -> tuple[Any, ...]:
    return value.start, value.stop, value.step


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


def decode(
    frame: bytes,
    resolve: Callable[[Reference], Any] | None = None,
    on_held: Callable[[int], None] | None = None,
    tensors_as_arrays: bool = False,
) -> Any:
    """The value that ``frame`` holds. Raises only ``WireError``, whatever the bytes.

    ``resolve`` turns a ``Reference`` into its object; without it, references are refused. ``on_held`` is called with the most
    bytes that the value takes in memory. ``tensors_as_arrays`` makes NumPy arrays of tensors. A value of a type that cannot
    be sent raises ``OpaqueError``.
    """
    try:
        header_bytes, body_bytes = frame_lengths(frame[: PREFIX.size])
        if len(frame) != PREFIX.size + header_bytes + body_bytes:
            raise WireError("the frame's length does not match its prefix")
        decoder = Decoder(frame, header_bytes, resolve, tensors_as_arrays)
        value = decoder.part(decoder.tree, 0)
        if next(decoder.lengths, None) is not None:
            raise WireError("a buffer is not used")
        if on_held is not None:
            on_held(len(frame) + decoder.held)
        return value
    except WireError:
        raise
    except (Exception, RecursionError) as error:
        raise WireError(f"malformed frame ({type(error).__name__})") from None


def frame_lengths(prefix: bytes) -> tuple[int, int]:
    """Header and body length of the frame that starts with ``prefix``. Raises ``WireError`` if over the limits."""
    if len(prefix) != PREFIX.size:
        raise WireError("the frame is cut short")
    magic, header_bytes, body_bytes = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise WireError("this is not a frame")
    if header_bytes > LIMITS.header_bytes or PREFIX.size + header_bytes + body_bytes > LIMITS.total_bytes:
        raise WireError("the frame is too large")
    return header_bytes, body_bytes


class Decoder:
    """Rebuilds the value of one frame, taking the buffers in order."""

    def __init__(
        self,
        frame: bytes,
        header_bytes: int,
        resolve: Callable[[Reference], Any] | None,
        tensors_as_arrays: bool,
    ):
        self.frame = memoryview(frame)
        self.resolve, self.tensors_as_arrays = resolve, tensors_as_arrays
        self.items_left = LIMITS.items
        #: Bytes of the value's objects beyond those of the frame.
        self.held = 0
        self.position = PREFIX.size + header_bytes
        header = bytes(self.frame[PREFIX.size : self.position])
        # Each part of the tree needs one of these characters, so this bounds what JSON can build.
        if header.count(b",") + header.count(b"[") + header.count(b"{") > 4 * LIMITS.items:
            raise WireError("the frame has too many parts")
        content = json.loads(header.decode("ascii"))
        if type(content) is not list or len(content) != 2 or type(content[1]) is not list:
            raise WireError("the header is malformed")
        self.tree, lengths = content
        if not all(type(length) is int and length >= 0 for length in lengths):
            raise WireError("a buffer's length is malformed")
        if sum(lengths) != len(frame) - self.position:
            raise WireError("the buffers do not fill the body")
        self.lengths = iter(lengths)

    def next_buffer(self) -> memoryview:
        length = next(self.lengths, None)
        if length is None:
            raise WireError("a buffer is missing")
        start, self.position = self.position, self.position + length
        return self.frame[start : self.position]

    def part(self, tree: Any, depth: int) -> Any:
        kind = type(tree)
        if kind is not list:
            if kind is dict:
                _malformed("an object in the header")
            return self.text(tree) if kind is str else tree
        if depth > LIMITS.depth:
            raise WireError("the frame is nested too deeply")
        if not tree or type(tree[0]) is not str:
            _malformed("a part without a tag")
        decoder = _DECODERS.get(tree[0])
        if decoder is None:
            _malformed("an unknown tag")
        return decoder(self, tree, depth + 1)

    def spend(self, items: int) -> None:
        """Count items before they are built; one budget for the whole frame."""
        self.items_left -= items
        if self.items_left < 0:
            raise WireError("the value has too many parts")
        self.hold(PART_BYTES * items)

    def hold(self, size: int) -> None:
        """Count bytes of objects before they are built."""
        self.held += size
        if self.held > MAX_HELD_BYTES:
            raise WireError("the value takes too much memory")

    def text(self, text: str) -> str:
        """The text, whose memory is counted: one wide character makes all its characters wide."""
        if not text.isascii():
            self.hold(sys.getsizeof(text))
        return text

    def items(self, tree: list[Any], depth: int) -> list[Any]:
        self.spend(len(tree) - 1)
        part = self.part
        return [each if type(each) in _PLAIN else part(each, depth) for each in tree[1:]]

    def set_of(self, tree: list[Any], depth: int) -> set[Any] | frozenset[Any]:
        """A set, whose table has up to eight places for each item."""
        kind = set if tree[0] == "s" else frozenset
        items = kind(_checked_keys(self.items(tree, depth)))
        self.hold(sys.getsizeof(items))
        return items

    def dictionary(self, tree: list[Any], depth: int) -> dict[Any, Any]:
        parts = self.items(tree, depth)
        if len(parts) % 2:
            _malformed("a dict with a key but no value")
        return dict(zip(_checked_keys(parts[::2]), parts[1::2], strict=True))

    def buffer(self, tree: list[Any], depth: int) -> Any:
        if len(tree) != 1:
            _malformed("a part with too many items")
        buffer = self.next_buffer()
        return bytes(buffer) if tree[0] != "S" else self.text(str(buffer, "utf-8", "surrogatepass"))

    def fixed(self, tree: list[Any], depth: int) -> Any:
        """A value with a fixed number of parts, which ``_FIXED`` lists."""
        count, kinds, size, make = _FIXED[tree[0]]
        parts = self.items(tree, depth)
        if len(parts) != count or not all(type(part) in kinds for part in parts):
            _malformed("the parts of a value")
        self.hold(size)
        value = make(*parts)
        if type(value) is range:
            self.spend(_length(value))  # a reader may turn it into that many numbers
        return value

    def reference(self, tree: list[Any], depth: int) -> Any:
        _, kind, key = tree
        if type(kind) is not str or type(key) not in (int, str) or self.resolve is None:
            _malformed("a reference")
        self.hold(REFERENCE_BYTES)
        return self.resolve(Reference(kind, key))

    def flat_array(self, dtype: np.dtype, shape: Any) -> np.ndarray:
        """A writable flat array of the next buffer, whose length must match dtype and shape."""
        if type(shape) is not list or len(shape) > MAX_DIMENSIONS:
            _malformed("a shape")
        if not all(type(side) is int and 0 <= side <= LIMITS.total_bytes for side in shape):
            _malformed("a shape")
        # An empty array's other sides are limited too: a sum over the empty axis has their product as its size.
        if 0 in shape and math.prod(max(side, 1) for side in shape) > LIMITS.items:
            _malformed("a shape")
        count = math.prod(shape)
        buffer = self.next_buffer()
        if len(buffer) != count * dtype.itemsize:
            _malformed("an array whose buffer does not fit its shape")
        self.hold(ARRAY_BYTES + AXIS_BYTES * len(shape))
        flat = np.frombuffer(buffer, dtype, count).copy() if count else np.empty(0, dtype)
        if dtype.kind == "b":
            return np.asarray(flat.view(np.uint8) != 0)
        if dtype.kind == "U" and count and int(flat.view(dtype.byteorder + "u4").max()) > 0x10FFFF:
            _malformed("an array of strings with a character that does not exist")
        return flat

    def array(self, tree: list[Any], depth: int) -> Any:
        _, code, shape, layout = tree
        dtype = _dtype(code)
        flat = self.flat_array(dtype, shape)
        if layout == "number" and not shape:
            return flat[0]
        if layout == "C" or (layout == "S" and not shape):
            return flat.reshape(shape)
        if layout == "F":
            return flat.reshape(shape, order="F")
        if layout != "S":
            _malformed("an array's layout")
        self.hold(flat.nbytes)  # a strided array holds as many unused numbers again
        strided = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
        strided[...] = flat.reshape(shape)
        return strided

    def tensor(self, tree: list[Any], depth: int) -> Any:
        _, name, array, requires_grad = tree
        if name not in TORCH_DTYPES or type(requires_grad) is not bool:
            _malformed("a tensor")
        self.hold(TENSOR_BYTES)
        numbers, short = self.part(array, depth), name == "bfloat16"
        if str(numbers.dtype) != ("int16" if short else name):
            _malformed("a tensor's type")
        if self.tensors_as_arrays:
            return (numbers.view(np.uint16).astype(np.uint32) << 16).view(np.float32) if short else numbers
        import torch

        tensor = torch.from_numpy(numbers)
        return (tensor.view(torch.bfloat16) if short else tensor).requires_grad_(requires_grad)

    def torch_generator(self, tree: list[Any], depth: int) -> Any:
        import torch

        self.hold(GENERATOR_BYTES)
        generator = torch.Generator()
        state = np.frombuffer(self.buffer(tree, depth), np.uint8)
        if len(state) != generator.get_state().numel():
            _malformed("a generator's state")
        generator.set_state(torch.from_numpy(state.copy()))
        return generator


def _malformed(what: str) -> NoReturn:
    raise WireError(f"malformed frame: {what}")


def _length(value: range) -> int:
    """The range's length, which may be too large for ``len``."""
    return max(0, (value.stop - value.start + value.step - (1 if value.step > 0 else -1)) // value.step)


def _integer(digits: Any) -> int:
    if type(digits) is not str or 4 * len(digits) > LIMITS.integer_bits + 8:
        _malformed("a whole number with too many digits")
    return int(digits, 16)


def _generator(state: int, inc: int, has_uint32: int, uinteger: int) -> np.random.Generator:
    for part, bits in ((state, 128), (inc, 128), (has_uint32, 1), (uinteger, 32)):
        if not 0 <= part < 1 << bits:
            _malformed("a generator's state")
    # The seed only matters to spawn(): derive it from the state, so that runs repeat.
    generator = np.random.PCG64(state & 0xFFFFFFFFFFFFFFFF)
    whole: Any = {"bit_generator": "PCG64", "state": {"state": state, "inc": inc}}
    whole |= {"has_uint32": has_uint32, "uinteger": uinteger}
    generator.state = whole
    return np.random.Generator(generator)


def _opaque(name: str) -> NoReturn:
    if len(name) > 80 or not name.isascii() or not name.isprintable():
        _malformed("a type's name")
    raise OpaqueError(name)


def _type(name: str) -> Any:
    """The type of an array's or tensor's items, or of a number or text."""
    if name in SCALAR_TYPES:
        return SCALAR_TYPES[name]
    if name in (f"torch.{kind}" for kind in TORCH_DTYPES):
        import torch

        return getattr(torch, name.removeprefix("torch."))
    return _dtype(name)


@lru_cache(maxsize=64)
def _dtype(code: Any) -> np.dtype:
    if type(code) is not str or not DTYPE.fullmatch(code):
        _malformed("an array's type")
    dtype = np.dtype(code)
    if dtype.itemsize == 0:
        _malformed("an array's type")
    return dtype


def _checked_keys(keys: list[Any]) -> list[Any]:
    """The keys. Raises ``WireError`` if so many share a hash that building the table would take too long."""
    if len(keys) > HASH_COLLISIONS:
        [(_, most)] = collections.Counter(map(hash, keys)).most_common(1)
        if most > HASH_COLLISIONS:
            _malformed("keys that collide")
    return keys


#: Tag -> the number of parts, their types, the bytes of the value beyond them, and what makes it.
_FIXED: dict[str, tuple[int, tuple[type, ...], int, Callable[..., Any]]] = {
    "c": (2, (float,), 0, complex),
    "r": (3, (int,), 0, range),
    "sl": (3, (int, type(None)), 0, slice),
    "e": (0, (), 0, lambda: ...),
    "g": (4, (int,), GENERATOR_BYTES, _generator),
    "k": (1, (str,), 0, _type),
    "o": (1, (str,), 0, _opaque),
}

#: The types of parts that stand for themselves.
_PLAIN = frozenset((int, float, bool, type(None)))

_DECODERS: dict[str, Callable[[Decoder, list[Any], int], Any]] = {
    **dict.fromkeys(_FIXED, Decoder.fixed),
    "I": lambda decoder, tree, depth: _integer(*tree[1:]),
    "S": Decoder.buffer,
    "b": Decoder.buffer,
    "l": Decoder.items,
    "t": lambda decoder, tree, depth: tuple(decoder.items(tree, depth)),
    "s": Decoder.set_of,
    "z": Decoder.set_of,
    "d": Decoder.dictionary,
    "a": Decoder.array,
    "T": Decoder.tensor,
    "G": Decoder.torch_generator,
    "ref": Decoder.reference,
}


_IMMUTABLE = frozenset({bool, int, float, complex, str, bytes, range, slice, type(None), type(...)})


def contents_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int | str, Any]:
    """The contents of each argument that a call can change: equal before and after if it changes nothing.

    Functions and modules are left out; so are random generators, whose states may differ.
    """
    items: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    return {key: contents for key, value in items if (contents := _contents(value)) is not None}


def _contents(value: Any) -> Any:
    """What ``contents_of`` compares of a value; None for one that is left out, or that nothing can change."""
    if type(value) is np.ndarray and value.dtype.kind in "biufc":  # as exact as a frame, and faster
        return value.dtype, value.shape, value.tobytes()
    if type(value) in _IMMUTABLE or callable(value) or is_random_generator(value):
        return None
    try:
        return encode(value, refer=lambda other: Reference("something else", 0), in_order=True)
    except WireError:  # the harness cannot have sent it in this state
        return b""


def is_random_generator(value: Any) -> bool:
    """Whether ``value`` is a random generator of NumPy or PyTorch."""
    torch = sys.modules.get("torch")
    return isinstance(value, np.random.Generator) or (
        torch is not None and isinstance(value, torch.Generator)
    )
