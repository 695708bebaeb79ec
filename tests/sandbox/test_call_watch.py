"""The watch sees calls that stand in the student's own code, and no others."""

import functools
import linecache
import sys
from typing import Any

import numpy as np
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


SEEN = (
    ("def f(x): return torch.softmax(x, -1)", "torch.softmax"),
    ("def f(x): return getattr(torch.nn.functional, chr(115) + 'oftmax')(x, dim=-1)", "torch.nn.functional.softmax"),
    ("def f(x): return x.softmax(-1)", "Tensor.softmax"),
    ("def f(x): return torch.nn.LayerNorm(3)", "torch.nn.LayerNorm"),
    ("class Mine(torch.nn.LayerNorm): pass\nlayer = Mine(3)\ndef f(x): return layer(x)", "torch.nn.LayerNorm"),
    ("g = functools.partial(torch.nn.functional.softmax, dim=-1)\ndef f(x): return g(x)", "torch.nn.functional.softmax"),
    ("def f(x): return list(map(lambda y: torch.softmax(y, -1), x))", "torch.softmax"),
    ("def f(x): return 'ä'.encode()", "str.encode"),
)  # fmt: skip
UNSEEN = (
    "attend = torch.nn.MultiheadAttention(3, 1)\ndef f(x): return attend(x, x, x)",  # softmax is inside
    "def f(x): return torch.nn.TransformerEncoderLayer(3, 1)",  # makes LayerNorms of its own
    "def f(x): return torch.log_softmax(x, -1)",  # another function
    "def softmax(x): return x\ndef f(x): return softmax(x)",  # their own
    "class Own:\n    def softmax(self): return 1\ndef f(x): return Own().softmax()",
)


def test_a_call_in_the_students_code_is_seen_however_it_is_reached_and_what_a_library_does_inside_is_not():
    assert [watched(source, X) for source, _ in SEEN] == [[name] for _, name in SEEN]
    assert [source for source in UNSEEN if watched(source, X)] == []
    assert sys.getprofile() is None, "the watch ends"
    assert not CallWatch(("librosa.stft", "tokenizers.Tokenizer"), str).start(), "nobody has imported these"
