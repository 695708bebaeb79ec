"""The decoding half of the wire format: turns untrusted bytes into a value, or raises ``WireError``."""

from __future__ import annotations

import collections
import json
import math
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .types import (
    DTYPE,
    HASH_COLLISIONS,
    LIMITS,
    MAGIC,
    MAX_DIMENSIONS,
    PREFIX,
    SCALAR_TYPES,
    TORCH_DTYPES,
    OpaqueError,
    Reference,
    WireError,
)

#: The bytes of an object beyond those in the frame: a number, text or list; an array; a tensor; a generator. Then the
#: additional bytes for each axis of an array, and for a reference.
PART_BYTES, ARRAY_BYTES, TENSOR_BYTES, GENERATOR_BYTES = 64, 256, 1024, 8192
AXIS_BYTES, REFERENCE_BYTES = 16, 256
#: The most bytes of all objects of one frame.
MAX_HELD_BYTES = 256 << 20


def decode(
    frame: bytes,
    resolve: Callable[[Reference], Any] | None = None,
    on_held: Callable[[int], None] | None = None,
    tensors_as_arrays: bool = False,
) -> Any:
    """The value that ``frame`` holds, its tensors perhaps as NumPy arrays. Raises only ``WireError``, whatever the bytes.

    ``on_held`` is called with the most bytes that the value takes in memory.

    ``resolve`` turns a ``Reference`` into its object (without it references are refused).
    A value of a type that cannot be sent raises ``OpaqueError``.
    """
    try:
        header_bytes, body_bytes = frame_lengths(frame[: PREFIX.size])
        if len(frame) != PREFIX.size + header_bytes + body_bytes:
            raise WireError("the frame's length does not match its prefix")
        decoder = Decoder(frame, header_bytes, resolve, tensors_as_arrays)
        value = decoder.value()
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

    def value(self) -> Any:
        value = self.decode_tree(self.tree, 0)
        if next(self.lengths, None) is not None:
            raise WireError("a buffer is not used")
        return value

    def next_buffer(self) -> memoryview:
        length = next(self.lengths, None)
        if length is None:
            raise WireError("a buffer is missing")
        start, self.position = self.position, self.position + length
        return self.frame[start : self.position]

    def decode_tree(self, tree: Any, depth: int) -> Any:
        kind = type(tree)
        if kind is not list:
            if kind is dict:
                _malformed("an object in the header")
            return self.text(tree) if kind is str else tree
        if depth > LIMITS.depth:
            raise WireError("the frame is nested too deeply")
        if not tree or type(tree[0]) is not str:
            _malformed("a part without a tag")
        decoder = DECODERS.get(tree[0])
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

    def decode_set(self, tree: list[Any], depth: int) -> set[Any] | frozenset[Any]:
        """A set, whose table has up to eight places for each item."""
        kind = set if tree[0] == "s" else frozenset
        items = kind(_checked_keys(self.decode_items(tree, depth)))
        self.hold(sys.getsizeof(items))
        return items

    def decode_buffer(self, tree: list[Any], depth: int) -> Any:
        if len(tree) != 1:
            _malformed("a part with too many items")
        buffer = self.next_buffer()
        return bytes(buffer) if tree[0] != "S" else self.text(str(buffer, "utf-8", "surrogatepass"))

    def decode_items(self, tree: list[Any], depth: int) -> list[Any]:
        self.spend(len(tree) - 1)
        decode = self.decode_tree
        return [decode(part, depth) for part in tree[1:]]

    def decode_integer(self, tree: list[Any], depth: int) -> int:
        _, digits = tree
        if type(digits) is not str or 4 * len(digits) > LIMITS.integer_bits + 8:
            _malformed("a whole number with too many digits")
        return int(digits, 16)

    def decode_dict(self, tree: list[Any], depth: int) -> dict[Any, Any]:
        parts = self.decode_items(tree, depth)
        if len(parts) % 2:
            _malformed("a dict with a key too many")
        return dict(zip(_checked_keys(parts[::2]), parts[1::2], strict=True))

    def decode_fields(self, tree: list[Any], depth: int) -> Any:
        """A value of a few parts, by ``_FIELDS``."""
        count, kinds, make = _FIELDS[tree[0]]
        parts = self.decode_items(tree, depth)
        if len(parts) != count or not all(type(part) in kinds for part in parts):
            _malformed("the parts of a value")
        value = make(*parts)
        if type(value) is range:
            self.spend(_length(value))  # a reader may turn it into that many numbers
        return value

    def checked_shape(self, shape: Any) -> tuple[int, ...]:
        if type(shape) is not list or len(shape) > MAX_DIMENSIONS:
            _malformed("a shape")
        if not all(type(side) is int and 0 <= side <= LIMITS.total_bytes for side in shape):
            _malformed("a shape")
        # An empty array's other sides are limited too: a sum over the empty axis has their product as its size.
        if 0 in shape and math.prod(max(side, 1) for side in shape) > LIMITS.items:
            _malformed("a shape")
        return tuple(shape)

    def array_from_buffer(self, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """A writable flat array of the next buffer, whose length must match dtype and shape."""
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

    def decode_array(self, tree: list[Any], depth: int) -> Any:
        _, code, shape, layout = tree
        dtype, shape = _dtype(code), self.checked_shape(shape)
        flat = self.array_from_buffer(dtype, shape)
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

    def decode_generator(self, tree: list[Any], depth: int) -> np.random.Generator:
        state, inc, has_uint32, uinteger = parts = self.decode_items(tree, depth)
        self.hold(GENERATOR_BYTES)
        for part, bits in zip(parts, (128, 128, 1, 32), strict=True):
            if type(part) is not int or not 0 <= part < 1 << bits:
                _malformed("a generator's state")
        # The seed only matters to spawn(): derive it from the state, so that runs repeat.
        generator = np.random.PCG64(state & 0xFFFFFFFFFFFFFFFF)
        whole: Any = {"bit_generator": "PCG64", "state": {"state": state, "inc": inc}}
        whole |= {"has_uint32": has_uint32, "uinteger": uinteger}
        generator.state = whole
        return np.random.Generator(generator)

    def decode_tensor(self, tree: list[Any], depth: int) -> Any:
        _, name, array, requires_grad = tree
        if name not in TORCH_DTYPES or type(requires_grad) is not bool:
            _malformed("a tensor")
        self.hold(TENSOR_BYTES)
        numbers, short = self.decode_tree(array, depth), name == "bfloat16"
        if str(numbers.dtype) != ("int16" if short else name):
            _malformed("a tensor's type")
        if self.tensors_as_arrays:
            return (numbers.view(np.uint16).astype(np.uint32) << 16).view(np.float32) if short else numbers
        import torch

        tensor = torch.from_numpy(numbers)
        return (tensor.view(torch.bfloat16) if short else tensor).requires_grad_(requires_grad)

    def decode_torch_generator(self, tree: list[Any], depth: int) -> Any:
        import torch

        self.hold(GENERATOR_BYTES)
        generator = torch.Generator()
        state = np.frombuffer(self.decode_buffer(tree, depth), np.uint8)
        if len(state) != generator.get_state().numel():
            _malformed("a generator's state")
        generator.set_state(torch.from_numpy(state.copy()))
        return generator

    def decode_reference(self, tree: list[Any], depth: int) -> Any:
        _, kind, key = tree
        if type(kind) is not str or type(key) not in (int, str) or self.resolve is None:
            _malformed("a reference")
        self.hold(REFERENCE_BYTES)
        return self.resolve(Reference(kind, key))

    def decode_opaque(self, tree: list[Any], depth: int) -> NoReturn:
        _, name = tree
        if type(name) is not str or len(name) > 80 or not name.isascii() or not name.isprintable():
            _malformed("a type's name")
        raise OpaqueError(name)

    def decode_type(self, tree: list[Any], depth: int) -> Any:
        """The type of an array's or tensor's items, or of a number or text."""
        _, name = tree
        self.hold(PART_BYTES)
        if name in SCALAR_TYPES:
            return SCALAR_TYPES[name]
        if name in (f"torch.{kind}" for kind in TORCH_DTYPES):
            import torch

            return getattr(torch, name.removeprefix("torch."))
        return _dtype(name)


def _length(value: range) -> int:
    """The range's length, which may be too large for ``len``."""
    return max(0, (value.stop - value.start + value.step - (1 if value.step > 0 else -1)) // value.step)


def _malformed(what: str) -> NoReturn:
    raise WireError(f"malformed frame: {what}")


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


#: Tag -> the number of parts, their types, and what makes the value.
_FIELDS: dict[str, tuple[int, tuple[type, ...], Callable[..., Any]]] = {
    "c": (2, (float,), complex),
    "r": (3, (int,), range),
    "sl": (3, (int, type(None)), slice),
    "e": (0, (), lambda: ...),
}

DECODERS: dict[str, Callable[[Decoder, list[Any], int], Any]] = {
    **dict.fromkeys(_FIELDS, Decoder.decode_fields),
    "I": Decoder.decode_integer,
    "S": Decoder.decode_buffer,
    "b": Decoder.decode_buffer,
    "l": Decoder.decode_items,
    "t": lambda decoder, tree, depth: tuple(decoder.decode_items(tree, depth)),
    "s": Decoder.decode_set,
    "z": Decoder.decode_set,
    "d": Decoder.decode_dict,
    "a": Decoder.decode_array,
    "k": Decoder.decode_type,
    "g": Decoder.decode_generator,
    "T": Decoder.decode_tensor,
    "G": Decoder.decode_torch_generator,
    "ref": Decoder.decode_reference,
    "o": Decoder.decode_opaque,
}
