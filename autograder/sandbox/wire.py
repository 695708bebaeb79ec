"""Turns plain values into frames of bytes and back: the only thing that crosses the sandbox's wall.

A frame is a fixed prefix (magic, header length, body length), a JSON header and a body of raw buffers::

    b"CKW1" | u32 header bytes | u64 body bytes | header | body

The header is ``[tree, lengths]``. ``tree`` holds ``null``, booleans, numbers and short strings as
themselves, and everything else as a list that starts with a tag (``["a", "<f8", [2, 3], "C"]`` is an
array). ``lengths`` says how the body is cut into buffers; the tree uses each buffer once, in order, so a
short header can never multiply a long buffer.

Values are rebuilt from an allowlist. Nothing is unpickled, evaluated or looked up by name, every length is
checked before memory is taken for it, and whatever is wrong with a frame shows as ``WireError``.

This file runs on both sides of the wall and therefore needs nothing but the standard library and NumPy
(and PyTorch, imported only when a tensor turns up).
"""

from __future__ import annotations

import array
import collections
import itertools
import json
import math
import re
import struct
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

MAGIC = b"CKW1"
PREFIX = struct.Struct("<4sIQ")

#: Strings up to this many characters travel inside the header, longer ones as buffers.
INLINE_STRING = 512
#: Lists of numbers from this length on are packed into a buffer.
PACK_FROM = 32
#: As many keys of a decoded dict or set may share a hash (more is an attack on the hash table).
HASH_COLLISIONS = 64

BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
TORCH_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
SCALAR_TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, int, float, complex, str, bytes)},
    **{
        f"numpy.{name}": getattr(np, name)
        for name in (
            *("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            *("float16", "float32", "float64", "complex64", "complex128", "str_", "bytes_"),
        )
    },
}
_SCALAR_NAMES = {kind: name for name, kind in SCALAR_TYPES.items()}
_DTYPE = re.compile(r"[<>|][biufcSU][0-9]{1,9}")
_MAX_DIMENSIONS = 32
_ITERATORS: tuple[type, ...] = (
    Iterator,
    collections.deque,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)


class WireError(Exception):
    """A value that may not travel, or a frame that is not what ``encode`` writes."""


class OpaqueError(WireError):
    """A frame holds a value of a type that does not travel; ``type_name`` says which."""

    def __init__(self, type_name: str):
        super().__init__(f"a value of type {type_name} does not travel")
        self.type_name = type_name


@dataclass(frozen=True)
class WireLimits:
    """How much one frame may hold."""

    header_bytes: int = 8 << 20
    total_bytes: int = 64 << 20
    items: int = 1_000_000
    depth: int = 48
    integer_bits: int = 14_000


LIMITS = WireLimits()


@dataclass(frozen=True)
class Reference:
    """Stands for something that stays on its own side: a ``callback``, a ``handle`` or a ``name``."""

    kind: str
    key: int | str


@dataclass(frozen=True)
class Opaque:
    """Stands for a value of a type that does not travel."""

    type_name: str


def encode(
    value: object,
    limits: WireLimits = LIMITS,
    refer: Callable[[Any], Reference | None] | None = None,
    for_arguments: bool = False,
) -> bytes:
    """The frame for ``value``.

    ``refer`` may turn a value of another type into a ``Reference``; what it leaves becomes ``Opaque``.
    ``for_arguments`` keeps the memory layout of arrays and the ``requires_grad`` flag of tensors; without
    it arrays arrive contiguous, tensors detached, and iterators as lists. Raises ``WireError`` when the
    value is too large or too deep. An iterator's own exception passes through.
    """
    writer = _Writer(limits, refer, for_arguments)
    tree = writer.tree(value, 0)
    header = _dump([tree, [len(buffer) for buffer in writer.buffers]]).encode("ascii")
    body = sum(map(len, writer.buffers))
    if len(header) > limits.header_bytes or PREFIX.size + len(header) + body > limits.total_bytes:
        raise WireError("the value is too large to send")
    return b"".join((PREFIX.pack(MAGIC, len(header), body), header, *writer.buffers))


def decode(
    frame: bytes,
    limits: WireLimits = LIMITS,
    resolve: Callable[[Reference], Any] | None = None,
    allow_opaque: bool = False,
) -> Any:
    """The value that ``frame`` holds. Raises ``WireError`` and nothing else, whatever the bytes are.

    ``resolve`` turns a ``Reference`` into what it stands for (without it references are refused).
    An ``Opaque`` raises ``OpaqueError`` unless ``allow_opaque``.
    """
    try:
        header_bytes, body_bytes = frame_lengths(frame[: PREFIX.size], limits)
        if len(frame) != PREFIX.size + header_bytes + body_bytes:
            raise WireError("the frame's length does not match its prefix")
        return _Reader(frame, header_bytes, limits, resolve, allow_opaque).value()
    except WireError:
        raise
    except (Exception, RecursionError) as error:
        raise WireError(f"malformed frame ({type(error).__name__})") from None


def frame_lengths(prefix: bytes, limits: WireLimits = LIMITS) -> tuple[int, int]:
    """Header and body length of the frame that starts with ``prefix``; ``WireError`` when over the limits."""
    if len(prefix) != PREFIX.size:
        raise WireError("the frame is cut short")
    magic, header_bytes, body_bytes = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise WireError("this is not a frame")
    if header_bytes > limits.header_bytes or PREFIX.size + header_bytes + body_bytes > limits.total_bytes:
        raise WireError("the frame is too large")
    return header_bytes, body_bytes


def type_name(value: object) -> str:
    """The name of a value's type, read without running any of the type's own code, at most 80 characters."""
    kind = type(value)
    name = type.__dict__["__name__"].__get__(kind)
    module = type.__dict__["__module__"].__get__(kind)
    full = name if module in ("builtins", "__main__") or type(module) is not str else f"{module}.{name}"
    ascii_name = str.__str__(full)[:80].encode("ascii", "replace").decode("ascii")
    return "".join(character if character.isprintable() else "?" for character in ascii_name)


def readable(text: str, most: int) -> str:
    """At most ``most`` characters of a stranger's text, such that it can be written as UTF-8."""
    return text[:most].encode("utf-8", "replace").decode("utf-8")


_dump = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
_load = json.JSONDecoder().decode


class _Writer:
    """Builds the header's tree and collects the buffers in the order in which the tree uses them."""

    def __init__(self, limits: WireLimits, refer: Callable[[Any], Reference | None] | None, arguments: bool):
        self.limits = limits
        self.refer = refer
        self.arguments = arguments
        self.buffers: list[bytes] = []
        self.items = 0
        self.bytes = 0

    def add(self, buffer: bytes) -> None:
        self.bytes += len(buffer)
        if self.bytes > self.limits.total_bytes:
            raise WireError("the value is too large to send")
        self.buffers.append(buffer)

    def tree(self, value: Any, depth: int) -> Any:
        kind = type(value)
        self.items += 1
        if value is None or kind is bool or kind is float:
            return value
        writer = _WRITERS.get(kind)
        if writer is not None:
            return writer(self, value, depth + 1)
        return self.other(value, depth + 1)

    def of_integer(self, value: int, depth: int) -> Any:
        bits = value.bit_length()
        if bits < 63:
            return value
        if bits > self.limits.integer_bits:
            raise WireError("a whole number has too many digits to send")
        return ["I", format(value, "x")]

    def of_text(self, value: str, depth: int) -> Any:
        if len(value) <= INLINE_STRING and (value.isascii() or not _has_surrogates(value)):
            return value
        self.add(value.encode("utf-8", "surrogatepass"))
        return ["S"]

    def of_binary(self, value: bytes | bytearray, depth: int) -> Any:
        self.add(bytes(value))
        return ["b"]

    def sequence(self, tag: str, values: Iterable[Any], length: int, depth: int) -> Any:
        if depth > self.limits.depth:
            raise WireError("the value is nested too deeply, or contains itself")
        if self.items + length > self.limits.items:
            raise WireError("the value has too many parts to send")
        tree = self.tree
        return [tag, *[tree(value, depth) for value in values]]

    def of_list(self, value: list, depth: int) -> Any:
        length = list.__len__(value)
        if length >= PACK_FROM:
            kinds = set(map(type, value))
            if kinds == {float}:
                self.add(array.array("d", value).tobytes())
                return ["pf"]
            if kinds == {int} and min(value) >= -(1 << 63) and max(value) < (1 << 63):
                self.add(array.array("q", value).tobytes())
                return ["pi"]
        return self.sequence("l", list.__iter__(value), length, depth)

    def of_tuple(self, value: tuple, depth: int) -> Any:
        return self.sequence("t", tuple.__iter__(value), tuple.__len__(value), depth)

    def of_set(self, value: set, depth: int) -> Any:
        return self.sequence("s", set.__iter__(value), set.__len__(value), depth)

    def of_frozenset(self, value: frozenset, depth: int) -> Any:
        return self.sequence("z", frozenset.__iter__(value), frozenset.__len__(value), depth)

    def of_dict(self, value: dict, depth: int) -> Any:
        return self.sequence(
            "d", itertools.chain.from_iterable(dict.items(value)), 2 * dict.__len__(value), depth
        )

    def of_plain(self, tag: str, values: Iterable[Any], depth: int) -> Any:
        return [tag, *[self.tree(value, depth) for value in values]]

    def of_array(self, value: np.ndarray, depth: int) -> Any:
        value = value.view(np.ndarray)
        dtype = value.dtype
        if dtype.kind not in "biufcSU":
            return self.of_opaque(
                f"numpy.ndarray of {dtype.kind!r}" if dtype.kind != "O" else "array of objects"
            )
        if dtype.itemsize == 0:
            value = value.astype(f"{dtype.kind}1")
            dtype = value.dtype
        flags = value.flags
        layout = "C"
        if self.arguments and not flags.c_contiguous:
            layout = "F" if flags.f_contiguous else "S"
        self.add(value.tobytes("F" if layout == "F" else "C"))
        return ["a", dtype.str, list(value.shape), layout]

    def of_number(self, value: np.generic, depth: int) -> Any:
        tree = self.of_array(np.asarray(value), depth)
        return ["n", tree[1]] if tree[0] == "a" else tree

    def of_dtype(self, value: np.dtype, depth: int) -> Any:
        return ["y", value.str] if _DTYPE.fullmatch(value.str) else self.of_opaque(type_name(value))

    def of_generator(self, value: np.random.Generator, depth: int) -> Any:
        bits = value.bit_generator
        name = type(bits).__name__
        if name not in BIT_GENERATORS or type(bits).__module__.split(".")[0] != "numpy":
            return self.of_opaque(type_name(bits))
        return ["g", name, self.tree(bits.state, depth)]

    def of_opaque(self, name: str) -> Any:
        return ["o", name[:80]]

    def other(self, value: Any, depth: int) -> Any:
        """A type that is not in the table: a subclass of one, something of PyTorch's, or a reference."""
        kind = type(value)
        if issubclass(kind, np.generic):  # before the rest: np.float64 is a float and np.str_ a str
            return self.of_number(value, depth)
        if issubclass(kind, np.ndarray):
            return self.of_array(np.ndarray.view(value, np.ndarray), depth)
        for base, reduce in _REDUCERS:
            if issubclass(kind, base):
                return self.tree(reduce(value), depth - 1)
        if issubclass(kind, np.dtype):
            return self.of_dtype(value, depth)
        if issubclass(kind, np.random.Generator):
            return self.of_generator(value, depth)
        if issubclass(kind, type) and value in _SCALAR_NAMES:
            return ["k", _SCALAR_NAMES[value]]
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "Tensor"):
            tree = self.of_torch(torch, value)
            if tree is not None:
                return tree
        if self.refer is not None:
            reference = self.refer(value)
            if reference is not None:
                return ["ref", reference.kind, reference.key]
        if issubclass(kind, _ITERATORS) and not self.arguments:
            most = max(0, self.limits.items - self.items)
            drained = list(itertools.islice(value, most + 1))
            if len(drained) > most:
                raise WireError("the iterator does not end")
            return self.of_list(drained, depth)
        return self.of_opaque(type_name(value))

    def of_torch(self, torch: Any, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self.of_tensor(torch, value)
        if isinstance(value, torch.dtype):
            name = str(value).removeprefix("torch.")
            return ["Ty", name] if name in TORCH_DTYPES else self.of_opaque(type_name(value))
        if isinstance(value, torch.Generator) and value.device.type == "cpu":
            self.add(value.get_state().numpy().tobytes())
            return ["G"]
        if isinstance(value, torch.device) and value.type == "cpu":
            return ["D"]
        return None

    def of_tensor(self, torch: Any, value: Any) -> Any:
        if type(value) is torch.Tensor:
            plain = value.detach()
        else:  # a subclass may have redefined every method
            with torch._C.DisableTorchFunctionSubclass():
                plain = torch.Tensor.as_subclass(torch.Tensor.detach(value), torch.Tensor)
        name = str(plain.dtype).removeprefix("torch.")
        if plain.layout is not torch.strided or plain.device.type != "cpu" or name not in TORCH_DTYPES:
            return self.of_opaque(f"{plain.layout} tensor of {plain.dtype} on {plain.device}")
        layout = "C"
        if self.arguments and not plain.is_contiguous():
            layout = "F" if plain.permute(*reversed(range(plain.ndim))).is_contiguous() else "S"
        self.add(tensor_bytes(torch, plain, layout))
        return ["T", name, list(plain.shape), layout, bool(self.arguments and value.requires_grad)]


def tensor_bytes(torch: Any, plain: Any, layout: str = "C") -> bytes:
    """The elements of a plain detached CPU tensor in C or F order."""
    if layout == "F":
        plain = plain.permute(*reversed(range(plain.ndim)))
    if plain.dtype is torch.bfloat16:
        plain = plain.contiguous().view(torch.int16)
    return plain.resolve_conj().resolve_neg().numpy().tobytes()


def _has_surrogates(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


_WRITERS: dict[type, Callable[[_Writer, Any, int], Any]] = {
    int: _Writer.of_integer,
    str: _Writer.of_text,
    bytes: _Writer.of_binary,
    list: _Writer.of_list,
    tuple: _Writer.of_tuple,
    dict: _Writer.of_dict,
    set: _Writer.of_set,
    frozenset: _Writer.of_frozenset,
    np.ndarray: _Writer.of_array,
    np.random.Generator: _Writer.of_generator,
    complex: lambda writer, value, depth: ["c", value.real, value.imag],
    range: lambda writer, value, depth: writer.of_plain("r", (value.start, value.stop, value.step), depth),
    slice: lambda writer, value, depth: writer.of_plain("sl", (value.start, value.stop, value.step), depth),
    types.EllipsisType: lambda writer, value, depth: ["e"],
    Reference: lambda writer, value, depth: ["ref", value.kind, value.key],
    Opaque: lambda writer, value, depth: writer.of_opaque(value.type_name),
}

#: A subclass of one of these travels as the plain value inside it.
_REDUCERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, int.__index__),
    (float, float.__float__),
    (complex, complex.__complex__),
    (str, str.__str__),
    (bytes, lambda value: bytes.__getitem__(value, slice(None))),
    (bytearray, bytes),
    (list, lambda value: [*list.__iter__(value)]),
    (tuple, lambda value: (*tuple.__iter__(value),)),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: {*set.__iter__(value)}),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
)


class _Reader:
    """Rebuilds the value, taking the buffers in order."""

    def __init__(
        self,
        frame: bytes,
        header_bytes: int,
        limits: WireLimits,
        resolve: Callable[[Reference], Any] | None,
        allow_opaque: bool,
    ):
        self.frame = memoryview(frame)
        self.limits = limits
        self.resolve = resolve
        self.allow_opaque = allow_opaque
        self.position = PREFIX.size + header_bytes
        header = bytes(self.frame[PREFIX.size : self.position])
        # Each part of the tree costs at least one of these characters: this bounds what JSON may build.
        if header.count(b",") + header.count(b"[") + header.count(b"{") > 4 * limits.items:
            raise WireError("the frame has too many parts")
        content = _load(header.decode("ascii"))
        if type(content) is not list or len(content) != 2 or type(content[1]) is not list:
            raise WireError("the header is malformed")
        self.tree, lengths = content
        if not all(type(length) is int and length >= 0 for length in lengths):
            raise WireError("a buffer's length is malformed")
        if sum(lengths) != len(frame) - self.position:
            raise WireError("the buffers do not fill the body")
        self.lengths = iter(lengths)

    def value(self) -> Any:
        value = self.build(self.tree, 0)
        if next(self.lengths, None) is not None:
            raise WireError("a buffer is not used")
        return value

    def take(self) -> memoryview:
        length = next(self.lengths, None)
        if length is None:
            raise WireError("a buffer is missing")
        start, self.position = self.position, self.position + length
        return self.frame[start : self.position]

    def build(self, tree: Any, depth: int) -> Any:
        kind = type(tree)
        if kind is not list:
            if kind is dict:
                _malformed("an object in the header")
            return tree
        if depth > self.limits.depth:
            raise WireError("the frame is nested too deeply")
        if not tree or type(tree[0]) is not str:
            _malformed("a part without a tag")
        reader = _READERS.get(tree[0])
        if reader is None:
            _malformed("an unknown tag")
        return reader(self, tree, depth + 1)

    def parts(self, tree: list, depth: int) -> list:
        build = self.build
        return [build(part, depth) for part in tree[1:]]

    def of_integer(self, tree: list, depth: int) -> int:
        _, digits = tree
        if type(digits) is not str or 4 * len(digits) > self.limits.integer_bits + 8:
            _malformed("a whole number with too many digits")
        return int(digits, 16)

    def of_complex(self, tree: list, depth: int) -> complex:
        _, real, imaginary = tree
        if type(real) is not float or type(imaginary) is not float:
            _malformed("a complex number")
        return complex(real, imaginary)

    def of_packed(self, tree: list, depth: int) -> list:
        kind = {"pf": "d", "pi": "q"}[tree[0]]
        buffer = self.take()
        if len(tree) != 1 or len(buffer) % 8:
            _malformed("a packed list")
        return array.array(kind, bytes(buffer)).tolist()

    def of_dict(self, tree: list, depth: int) -> dict:
        parts = self.parts(tree, depth)
        if len(parts) % 2:
            _malformed("a dict with a key too many")
        return dict(zip(_checked_keys(parts[::2]), parts[1::2], strict=True))

    def of_range(self, tree: list, depth: int) -> range:
        value = range(*self.of_integers(tree, depth, 3))
        if len(value) > self.limits.items:
            raise WireError("the range is too long")
        return value

    def of_integers(self, tree: list, depth: int, count: int) -> list[int]:
        parts = self.parts(tree, depth)
        if len(parts) != count or not all(type(part) is int for part in parts):
            _malformed("whole numbers")
        return parts

    def of_slice(self, tree: list, depth: int) -> slice:
        start, stop, step = self.parts(tree, depth)
        if not all(part is None or type(part) is int for part in (start, stop, step)):
            _malformed("a slice")
        return slice(start, stop, step)

    def shape(self, shape: Any) -> tuple[int, ...]:
        if type(shape) is not list or len(shape) > _MAX_DIMENSIONS:
            _malformed("a shape")
        if not all(type(side) is int and 0 <= side <= self.limits.total_bytes for side in shape):
            _malformed("a shape")
        # An empty array may not claim sides whose product, in a sum over the empty axis, fills the memory.
        if 0 in shape and math.prod(max(side, 1) for side in shape) > self.limits.items:
            _malformed("a shape")
        return tuple(shape)

    def elements(self, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """A writable flat array of the next buffer, whose length must be what dtype and shape say."""
        count = math.prod(shape)
        buffer = self.take()
        if len(buffer) != count * dtype.itemsize:
            _malformed("an array whose buffer does not fit its shape")
        flat = np.frombuffer(buffer, dtype, count).copy() if count else np.empty(0, dtype)
        if dtype.kind == "b":
            return flat.view(np.uint8) != 0
        if dtype.kind == "U" and count and int(flat.view(dtype.byteorder + "u4").max()) > 0x10FFFF:
            _malformed("an array of strings with a character that does not exist")
        return flat

    def of_array(self, tree: list, depth: int) -> np.ndarray:
        _, code, shape, layout = tree
        dtype, shape = _dtype(code), self.shape(shape)
        flat = self.elements(dtype, shape)
        if layout == "C" or (layout == "S" and not shape):
            return flat.reshape(shape)
        if layout == "F":
            return flat.reshape(shape, order="F")
        if layout != "S":
            _malformed("an array's layout")
        strided = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
        strided[...] = flat.reshape(shape)
        return strided

    def of_number(self, tree: list, depth: int) -> np.generic:
        _, code = tree
        return self.elements(_dtype(code), ())[0]

    def of_generator(self, tree: list, depth: int) -> np.random.Generator:
        _, name, state = tree
        if name not in BIT_GENERATORS:
            _malformed("a bit generator")
        state = self.build(state, depth)
        _check_generator_state(name, state)
        # The seed is only what spawn() starts from: take it from the state, so that runs repeat.
        seed = sum(state["state"]["state"].tolist()) if name == "SFC64" else _seed_of(name, state)
        bits = getattr(np.random, name)(seed)
        bits.state = state
        return np.random.Generator(bits)

    def of_tensor(self, tree: list, depth: int) -> Any:
        import torch

        _, name, shape, layout, requires_grad = tree
        if name not in TORCH_DTYPES or type(requires_grad) is not bool:
            _malformed("a tensor")
        dtype, shape = getattr(torch, name), self.shape(shape)
        itemsize = torch.empty(0, dtype=dtype).element_size()
        raw = self.elements(np.dtype("u1"), (*shape, itemsize))
        flat = torch.from_numpy(raw).view(dtype) if raw.size else torch.empty(0, dtype=dtype)
        if dtype is torch.bool and raw.size:
            flat = torch.from_numpy(raw != 0)
        if layout == "F":
            tensor = flat.reshape(shape[::-1]).permute(*reversed(range(len(shape))))
        elif layout == "S" and shape:
            tensor = torch.zeros((*shape[:-1], 2 * shape[-1]), dtype=dtype)[..., ::2]
            tensor.copy_(flat.reshape(shape))
        elif layout in ("C", "S"):
            tensor = flat.reshape(shape)
        else:
            _malformed("a tensor's layout")
        return tensor.requires_grad_(True) if requires_grad else tensor

    def of_torch_dtype(self, tree: list, depth: int) -> Any:
        import torch

        _, name = tree
        if name not in TORCH_DTYPES:
            _malformed("a tensor's type")
        return getattr(torch, name)

    def of_torch_generator(self, tree: list, depth: int) -> Any:
        import torch

        generator = torch.Generator()
        state = bytes(self.take())
        if len(tree) != 1 or len(state) != generator.get_state().numel():
            _malformed("a generator's state")
        generator.set_state(torch.from_numpy(np.frombuffer(state, np.uint8).copy()))
        return generator

    def of_torch_device(self, tree: list, depth: int) -> Any:
        import torch

        return torch.device("cpu")

    def of_reference(self, tree: list, depth: int) -> Any:
        _, kind, key = tree
        if type(kind) is not str or type(key) not in (int, str) or self.resolve is None:
            _malformed("a reference")
        return self.resolve(Reference(kind, key))

    def of_opaque(self, tree: list, depth: int) -> Opaque:
        _, name = tree
        if type(name) is not str or len(name) > 80 or not name.isascii() or not name.isprintable():
            _malformed("a type's name")
        if not self.allow_opaque:
            raise OpaqueError(name)
        return Opaque(name)

    def of_scalar_type(self, tree: list, depth: int) -> type:
        _, name = tree
        return SCALAR_TYPES[name]


def _malformed(what: str) -> NoReturn:
    raise WireError(f"malformed frame: {what}")


def _dtype(code: Any) -> np.dtype:
    if type(code) is not str or not _DTYPE.fullmatch(code):
        _malformed("an array's type")
    dtype = np.dtype(code)
    if dtype.itemsize == 0:
        _malformed("an array's type")
    return dtype


def _checked_keys(keys: list) -> list:
    """The keys, unless so many share a hash that building the table would take for ever."""
    if len(keys) > HASH_COLLISIONS:
        [(_, most)] = collections.Counter(map(hash, keys)).most_common(1)
        if most > HASH_COLLISIONS:
            _malformed("keys that collide")
    return keys


def _words(value: Any, count: int, code: str = "<u8") -> bool:
    return type(value) is np.ndarray and value.shape == (count,) and value.dtype == np.dtype(code)


def _natural(value: Any, bits: int) -> bool:
    return type(value) is int and 0 <= value < 1 << bits


def _check_generator_state(name: str, state: Any) -> None:
    """Refuse a state that NumPy's setters would take on trust (``pos`` is an index into C memory)."""
    good = type(state) is dict and state.get("bit_generator") == name and type(state.get("state")) is dict
    inner = state["state"] if good else {}
    if good and name != "MT19937":
        good = state.get("has_uint32") in (0, 1) and _natural(state.get("uinteger"), 32)
    if good and name in ("PCG64", "PCG64DXSM"):
        good = _natural(inner.get("state"), 128) and _natural(inner.get("inc"), 128)
    elif good and name == "MT19937":
        good = _words(inner.get("key"), 624, "<u4") and _natural(inner.get("pos"), 10) and inner["pos"] <= 624
    elif good and name == "SFC64":
        good = _words(inner.get("state"), 4)
    elif good:
        good = _words(inner.get("counter"), 4) and _words(inner.get("key"), 2)
        good = good and _words(state.get("buffer"), 4)
        good = good and _natural(state.get("buffer_pos"), 3) and state["buffer_pos"] <= 4
    if not good:
        _malformed("a generator's state")


def _seed_of(name: str, state: dict) -> int:
    if name == "MT19937":
        return int(state["state"]["key"][0])
    if name == "Philox":
        return int(state["state"]["key"][0])
    return state["state"]["state"] & 0xFFFFFFFFFFFFFFFF


def _exactly(tree: list, value: Any) -> Any:
    if len(tree) != 1:
        _malformed("a part with too much in it")
    return value


_READERS: dict[str, Callable[[_Reader, list, int], Any]] = {
    "I": _Reader.of_integer,
    "c": _Reader.of_complex,
    "S": lambda reader, tree, depth: _exactly(tree, str(reader.take(), "utf-8", "surrogatepass")),
    "b": lambda reader, tree, depth: _exactly(tree, bytes(reader.take())),
    "l": _Reader.parts,
    "t": lambda reader, tree, depth: tuple(reader.parts(tree, depth)),
    "s": lambda reader, tree, depth: set(_checked_keys(reader.parts(tree, depth))),
    "z": lambda reader, tree, depth: frozenset(_checked_keys(reader.parts(tree, depth))),
    "d": _Reader.of_dict,
    "pf": _Reader.of_packed,
    "pi": _Reader.of_packed,
    "r": _Reader.of_range,
    "sl": _Reader.of_slice,
    "e": lambda reader, tree, depth: _exactly(tree, ...),
    "a": _Reader.of_array,
    "n": _Reader.of_number,
    "y": lambda reader, tree, depth: _dtype(tree[1]),
    "k": _Reader.of_scalar_type,
    "g": _Reader.of_generator,
    "T": _Reader.of_tensor,
    "Ty": _Reader.of_torch_dtype,
    "G": _Reader.of_torch_generator,
    "D": _Reader.of_torch_device,
    "ref": _Reader.of_reference,
    "o": _Reader.of_opaque,
}
