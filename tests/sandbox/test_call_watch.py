"""The watch sees calls that stand in the student's own code, and no others."""

from __future__ import annotations

import functools
import linecache
import sys
from typing import Any

import numpy as np
import pytest
import torch

from autograder.sandbox.child.call_watch import CallWatch

NAMES = ("torch.softmax", "torch.nn.functional.softmax", "torch.nn.LayerNorm", "Tensor.softmax", "str.encode")


def watched(source: str, *arguments: Any) -> list[str]:
    """What is seen while the function ``f`` of ``source`` runs; what stands before it is not watched."""
    linecache.cache["<cell f #1>"] = (len(source), None, source.splitlines(True), "<cell f #1>")
    namespace: dict[str, Any] = {"torch": torch, "functools": functools, "np": np}
    exec(compile(source, "<cell f #1>", "exec"), namespace)
    watch = CallWatch(NAMES, lambda file: "f" if file.startswith("<cell ") else None)
    watch.start()
    try:
        namespace["f"](*arguments)
    finally:
        seen = watch.stop()
    return seen


X = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("def f(x): return torch.softmax(x, -1)", "torch.softmax"),
        ("def f(x): return getattr(torch.nn.functional, chr(115) + 'oftmax')(x, dim=-1)", "torch.nn.functional.softmax"),
        ("def f(x): return x.softmax(-1)", "Tensor.softmax"),
        ("def f(x): return getattr(x, chr(115) + 'oftmax')(-1)", "Tensor.softmax"),
        ("def f(x): return torch.nn.LayerNorm(3)", "torch.nn.LayerNorm"),
        ("layer = torch.nn.LayerNorm(3)\ndef f(x): return layer(x)", "torch.nn.LayerNorm"),
        ("class Mine(torch.nn.LayerNorm): pass\nlayer = Mine(3)\ndef f(x): return layer(x)", "torch.nn.LayerNorm"),
        ("g = functools.partial(torch.nn.functional.softmax, dim=-1)\ndef f(x): return g(x)", "torch.nn.functional.softmax"),
        ("def f(x): return list(map(lambda y: torch.softmax(y, -1), x))", "torch.softmax"),
        ("def f(x): return 'ä'.encode()", "str.encode"),
    ],
)  # fmt: skip
def test_a_call_in_the_students_code_is_seen_however_it_is_reached(source, name):
    assert watched(source, X) == [name]


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)",
        "attend = torch.nn.MultiheadAttention(3, 1)\ndef f(x): return attend(x, x, x)",  # softmax is inside
        "def f(x): return torch.nn.TransformerEncoderLayer(3, 1)",  # makes LayerNorms of its own
        "other = torch.nn.Linear(3, 3)\ndef f(x): return other(x)",
    ],
)
def test_what_a_library_does_inside_is_its_own_affair(source):
    assert watched(source, X) == []


def test_the_watch_ends():
    watched("def f(x): return x", X)
    assert sys.getprofile() is None
