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

from .decode import decode, frame_lengths
from .encode import drained, encode
from .types import (
    MAGIC,
    PREFIX,
    TORCH_DTYPES,
    OpaqueError,
    Reference,
    WireError,
    clean_text,
    type_name,
)

__all__ = [
    "MAGIC",
    "PREFIX",
    "TORCH_DTYPES",
    "OpaqueError",
    "Reference",
    "WireError",
    "clean_text",
    "decode",
    "drained",
    "encode",
    "frame_lengths",
    "type_name",
]
