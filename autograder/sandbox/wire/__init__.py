"""Turns plain values into frames of bytes and back: only frames cross the sandbox's boundary.

A frame is a fixed prefix (magic, header length, body length), a JSON header and a body of raw buffers::

    b"CKW1" | u32 header bytes | u64 body bytes | header | body

The header is ``[tree, lengths]``. ``tree`` holds ``null``, booleans, numbers and short strings as
themselves, and everything else as a list that starts with a tag (``["a", "<f8", [2, 3], "C"]`` is an
array). ``lengths`` says how the body is cut into buffers; the tree uses each buffer once, in order, so a
short header can never multiply a long buffer.

Only values of allowed types are rebuilt. Nothing is unpickled, evaluated or looked up by name. Every length is checked
before memory is allocated for it. A wrong frame raises ``WireError``.

These modules run on both sides of the boundary. They need only the standard library and NumPy (and PyTorch, imported only
when a tensor is sent).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .decode import Decoder
from .encode import Encoder
from .types import (
    LIMITS,
    MAGIC,
    PREFIX,
    TORCH_DTYPES,
    OpaqueError,
    Reference,
    WireError,
    WireLimits,
    clean_text,
    type_name,
)

__all__ = [
    "LIMITS",
    "MAGIC",
    "PREFIX",
    "TORCH_DTYPES",
    "OpaqueError",
    "Reference",
    "WireError",
    "WireLimits",
    "clean_text",
    "decode",
    "encode",
    "frame_lengths",
    "type_name",
]

_dump = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def encode(
    value: object,
    limits: WireLimits = LIMITS,
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
    encoder = Encoder(limits, refer, for_arguments, in_order)
    tree = encoder.tree(value, 0)
    header = _dump([tree, [len(buffer) for buffer in encoder.buffers]]).encode("ascii")
    body = sum(map(len, encoder.buffers))
    if len(header) > limits.header_bytes or PREFIX.size + len(header) + body > limits.total_bytes:
        raise WireError("the value is too large to send")
    return b"".join((PREFIX.pack(MAGIC, len(header), body), header, *encoder.buffers))


def decode(
    frame: bytes,
    limits: WireLimits = LIMITS,
    resolve: Callable[[Reference], Any] | None = None,
    on_held: Callable[[int], None] | None = None,
) -> Any:
    """The value that ``frame`` holds. Raises only ``WireError``, whatever the bytes.

    ``on_held`` is called with the most bytes that the value takes in memory.

    ``resolve`` turns a ``Reference`` into its object (without it references are refused).
    A value of a type that cannot be sent raises ``OpaqueError``.
    """
    try:
        header_bytes, body_bytes = frame_lengths(frame[: PREFIX.size], limits)
        if len(frame) != PREFIX.size + header_bytes + body_bytes:
            raise WireError("the frame's length does not match its prefix")
        decoder = Decoder(frame, header_bytes, limits, resolve)
        value = decoder.value()
        if on_held is not None:
            on_held(len(frame) + decoder.held)
        return value
    except WireError:
        raise
    except (Exception, RecursionError) as error:
        raise WireError(f"malformed frame ({type(error).__name__})") from None


def frame_lengths(prefix: bytes, limits: WireLimits = LIMITS) -> tuple[int, int]:
    """Header and body length of the frame that starts with ``prefix``. Raises ``WireError`` if over the limits."""
    if len(prefix) != PREFIX.size:
        raise WireError("the frame is cut short")
    magic, header_bytes, body_bytes = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise WireError("this is not a frame")
    if header_bytes > limits.header_bytes or PREFIX.size + header_bytes + body_bytes > limits.total_bytes:
        raise WireError("the frame is too large")
    return header_bytes, body_bytes
