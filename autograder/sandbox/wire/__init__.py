"""The wire format: plain values as frames of bytes, all that crosses the sandbox's boundary."""

from .codec import decode, encode, frame_lengths
from .types import (
    BIT_GENERATORS,
    LIMITS,
    MAGIC,
    PREFIX,
    TORCH_DTYPES,
    Opaque,
    OpaqueError,
    Reference,
    WireError,
    WireLimits,
    clean_text,
    type_name,
)

__all__ = [
    "BIT_GENERATORS",
    "LIMITS",
    "MAGIC",
    "PREFIX",
    "TORCH_DTYPES",
    "Opaque",
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
