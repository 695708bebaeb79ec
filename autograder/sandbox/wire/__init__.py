"""The only thing that crosses the sandbox's wall: plain values as frames of bytes, both ways."""

from .codec import (
    decode,
    encode,
    frame_lengths,
)
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
    readable,
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
    "decode",
    "encode",
    "frame_lengths",
    "readable",
    "type_name",
]
