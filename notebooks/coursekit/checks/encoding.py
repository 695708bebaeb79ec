"""Writes a card's inputs and right results as JSON, and reads them back.

Floating-point numbers have nine digits. Random inputs are stored, because another version of NumPy may draw others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from coursekit.checks.values import as_numbers

DIGITS = 9
#: In an array with at most ten different values, each entry is written as one of these characters, the value's index.
_ALPHABET = "0123456789"
#: The default types of arrays; other types are written by name (``float32``).
_USUAL = {"b": "bool", "i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}


def encode(value: Any) -> Any:
    """Encode a plain value for JSON: arrays and tensors with type and shape, floating-point numbers with nine digits.

    >>> encode((np.array([[True, False]]), 1 / 3))
    {'tuple': [{'array': 'b', 'shape': [1, 2], 'data': [True, False]}, 0.333333333]}
    """
    if hasattr(value, "detach"):
        name = str(value.dtype).rpartition(".")[2]
        return {"tensor": name, "numbers": encode(np.asarray(as_numbers(value)))}
    if isinstance(value, np.ndarray):
        return _encoded(value) if value.dtype.kind in _USUAL else encode(value.tolist())
    if isinstance(value, np.generic):
        if value.dtype.kind not in _USUAL:
            return encode(value.item())
        return {"number": value.dtype.name, "is": _entry(value.item())}
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, complex):
        return {"complex": [encode(value.real), encode(value.imag)]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, (tuple, set, frozenset)):
        items = value if isinstance(value, tuple) else sorted(value, key=repr)
        return {type(value).__name__: [encode(item) for item in items]}
    if isinstance(value, np.random.Generator):
        return {"generator": value.bit_generator.state}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a card cannot hold a value of type {type(value).__name__}")


def _encoded(array: np.ndarray) -> dict[str, Any]:
    entries = [_entry(number) for number in array.ravel().tolist()]
    usual = _USUAL[array.dtype.kind] == array.dtype.name
    head = {"array": array.dtype.kind if usual else array.dtype.name, "shape": list(array.shape)}
    values = list(dict.fromkeys(entries)) if array.dtype.kind != "c" else entries
    if len(values) > len(_ALPHABET) or len(values) == len(entries):
        return head | {"data": entries}
    symbol = dict(zip(values, _ALPHABET, strict=False))
    return head | {"values": values, "data": "".join(symbol[entry] for entry in entries)}


def _entry(number: Any) -> Any:
    """An array's entry for JSON; "inf", "-inf" or "nan" for a number that is not finite."""
    return str(number) if isinstance(number, float) and not math.isfinite(number) else encode(number)


def decode(data: Any) -> Any:
    """The value that was encoded.

    >>> decode(encode((np.array([[True, False]]), {"a": math.inf})))
    (array([[ True, False]]), {'a': inf})
    """
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    if "array" in data:
        return _decoded(data)
    if "number" in data:
        return _decoded({"array": data["number"], "shape": [], "data": [data["is"]]})[()]
    if "tensor" in data:
        import torch

        return torch.from_numpy(_decoded(data["numbers"])).to(getattr(torch, data["tensor"]))
    ((kind, held),) = data.items()
    match kind:
        case "dict":
            return {decode(key): decode(item) for key, item in held}
        case "float":
            return float(held)
        case "bytes":
            return bytes.fromhex(held)
        case "complex":
            return complex(*decode(held))
        case "generator":
            generator = np.random.default_rng(0)
            generator.bit_generator.state = held
            return generator
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](decode(held))


def _decoded(data: dict[str, Any]) -> np.ndarray:
    value_of = dict(zip(_ALPHABET, data.get("values", ()), strict=False))
    entries = [value_of[symbol] for symbol in data["data"]] if value_of else data["data"]
    dtype = np.dtype(_USUAL.get(data["array"], data["array"]))
    if dtype.kind in "fc":
        entries = [float(entry) if isinstance(entry, str) else decode(entry) for entry in entries]
    return np.array(entries, dtype=dtype).reshape(data["shape"])
