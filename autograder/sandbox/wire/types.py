"""The limits, allowlists and errors of the wire format."""

from __future__ import annotations

import collections
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

MAGIC = b"CKW1"
PREFIX = struct.Struct("<4sIQ")

#: Strings up to this many characters travel inside the header, longer ones as buffers.
INLINE_STRING = 512
#: The most keys of a decoded dict or set that may share a hash (more are an attack on the hash table).
HASH_COLLISIONS = 64

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
SCALAR_NAMES = {kind: name for name, kind in SCALAR_TYPES.items()}
DTYPE = re.compile(r"[<>|][biufcSU][0-9]{1,9}")
MAX_DIMENSIONS = 32
ITERATORS: tuple[type, ...] = (
    Iterator,
    collections.deque,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)


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
