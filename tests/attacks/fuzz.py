"""Millions of twisted frames, values, notebooks, cells, zips and names through the readers of strangers' bytes, outside pytest.

``python -m tests.attacks.fuzz --minutes 20 --only frames,zips`` prints how many became a value and how many were refused, the
slowest one, and how the process's memory grew; it ends with status 1 where an input does anything else, and leaves
that input in ``build/fuzz``. Minutes are of CPU time.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import gc
import json
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from coursekit.checks.compare import value_difference

from autograder.audit.simulate import answered
from autograder.course.masters import course_root, lab_name, solved
from autograder.course.other_lab import other_lab
from autograder.errors import Unreadable
from autograder.grading.off_limits import forbidden_used
from autograder.grading.repair import Template, repair
from autograder.grading.symptoms import symptom_of
from autograder.sandbox import wire
from autograder.testing.evidence import values_match
from autograder.testing.safe_errors import safe_message

from . import fuzz_class

LAB = lab_name("01")
#: Seconds of CPU time that no single input may take.
TOO_SLOW = 5.0

_NUMBERS = (
    0, 1, -1, 2, 7, 255, 256, 65535, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30,
)  # fmt: skip
_TEXTS = ("", "a", "<f8", "|O", "|V8", "C", "F", "float32", "PCG64", "name", "\ud800", "\0", "x" * 300, "NaN")


# ------------------------------------------------------------------------------------------------- frames


def frame_seeds() -> list[bytes]:
    """Frames of every kind of value, and of what the executor sends."""
    rng = np.random.default_rng(0)
    values: tuple[Any, ...] = (
        None, True, 3, -(2**70), 1.5, float("nan"), 2j, "text", b"bytes", [1, 2.5, "x"], (1, (2, (3,))),
        {"a": 1, 2: "b", (1, 2): None}, {1, 2}, frozenset("ab"), range(3, 9, 2), slice(1, None), ...,
        [float(i) for i in range(40)], list(range(40)), np.float32(1.5), np.int8(-3), np.str_("s"),
        rng.normal(size=(3, 4)), rng.integers(0, 9, (2, 3, 1)), np.asfortranarray(rng.normal(size=(3, 4))),
        np.array(["ab", "c"]), np.zeros((0, 3)), torch.zeros(2, 3), torch.ones(3, dtype=torch.bfloat16),
        torch.tensor(1), rng, np.random.Generator(np.random.MT19937(1)), wire.Reference("handle", 0),
        ("value", {"status": "ok", "outputs": [], "error": ""}, (), None), ("error", "ValueError", "no", (("cell", 3, "x"),)),
        ("callback", 0, (1, "x"), {"k": 2}), ("refused", "why"),
    )  # fmt: skip
    refer = lambda stranger: wire.Reference("handle", 1)  # noqa: E731
    return [wire.encode(value, refer=refer, for_arguments=True) for value in values]


def read_frame(frame: bytes) -> str:
    """Decode as the harness does; the only two outcomes there may be."""
    try:
        wire.decode(frame, resolve=lambda reference: reference)
    except wire.WireError:
        return "refused"
    return "a value"


def twisted_frames(rng: random.Random) -> Iterator[bytes]:
    """Frames with bytes changed, trees changed below a right prefix, and lengths that lie."""
    seeds = frame_seeds()
    trees = [_header(seed) for seed in seeds]
    while True:
        at = rng.randrange(len(seeds))
        if rng.random() < 0.4:
            yield fuzz_class.changed(seeds[at], rng)
            continue
        header, body = trees[at]
        header = _tree_changed(copy.deepcopy(header), [tree for tree, _ in trees], rng)
        text = json.dumps(header, separators=(",", ":")).encode()
        if rng.random() < 0.2:
            body += rng.randbytes(rng.randrange(40))
        lie = rng.choice(_NUMBERS) if rng.random() < 0.05 else 0
        yield wire.PREFIX.pack(wire.MAGIC, (len(text) + lie) % 2**32, len(body)) + text + body


def _header(frame: bytes) -> tuple[Any, bytes]:
    _, header, _ = wire.PREFIX.unpack(frame[: wire.PREFIX.size])
    end = wire.PREFIX.size + header
    return json.loads(frame[wire.PREFIX.size : end]), frame[end:]


def _tree_changed(tree: Any, others: list[Any], rng: random.Random) -> Any:
    """The tree with one to four of its parts replaced, repeated, removed or wrapped."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places = list(_places(tree))
        if not places:
            return tree
        holder, key = rng.choice(places)
        match rng.randrange(7):
            case 0:
                holder[key] = rng.choice(_NUMBERS)
            case 1:
                holder[key] = rng.choice(_TEXTS)
            case 2:
                holder[key] = copy.deepcopy(rng.choice(others))
            case 3:
                holder[key] = [holder[key]] * rng.choice((1, 2, 30))
            case 4 if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            case 5:
                del holder[key]
            case _:
                holder[key] = rng.choice((None, True, 1e308, -0.0, [], {}, {"a": 1}, float("inf")))
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a tree of lists and dictionaries, as (holder, key)."""
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        for key, value in enumerate(holder) if isinstance(holder, list) else list(holder.items()):
            yield holder, key
            if isinstance(value, (list, dict)):
                waiting.append(value)


# ------------------------------------------------------------------------------------------------- values

_TYPES = ("f8", "f4", "f2", "c8", "c16", "i8", "u8", "u1", "i1", "b1", "U3", "S3", ">f8", "g")
_SHAPES = ((), (0,), (1,), (3,), (4,), (4, 4), (1, 4), (2, 3, 4), (0, 3), (1, 1, 1))
_ODD_NUMBERS = (
    0, 1, -1, 2.5, float("nan"), float("inf"), 1e308, 5e-324, -(2**63), 2**64 - 1, 2**9000, True, 1j, complex("nan"),
)  # fmt: skip
_ODD_OTHERS = (
    None, "", "é", "x" * 600, b"zz", ..., range(10**30, 0), range(10**30, 10**30 + 3), range(5, 0, -1),
    slice(1, None),
)  # fmt: skip
_RIGHT = (
    1.5, 3, True, "text", None, np.arange(12.0).reshape(3, 4), np.eye(4), np.ones((2, 3), bool), [1, 2, 3], ["a", "b"], [("a", "b")],
    {"a": 1}, {("a", "b"): 0.5}, (np.ones(3), np.zeros((2, 2))), torch.ones(2, 3), torch.eye(3, dtype=torch.bool), [[1, 2], [3]], b"ab",
    np.array([1 + 1j, 2]), (3, [1, 2], "x"), torch.tensor(1.5, requires_grad=True),
)  # fmt: skip


def _odd_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(3 if depth > 3 else 9)
    if kind == 0:
        return rng.choice(_ODD_NUMBERS)
    if kind == 1:
        return rng.choice(_ODD_OTHERS)
    if kind == 2:
        with np.errstate(all="ignore"):
            numbers = np.array(
                [rng.choice((0, 1, 0.5, rng.gauss(0, 1), float("nan"), 1e308)) for _ in range(24)]
            )
            return np.resize(numbers, rng.choice(_SHAPES)).astype(rng.choice(_TYPES))
    if kind == 3:
        return torch.from_numpy(np.resize(np.arange(6.0), rng.choice(_SHAPES))).to(
            rng.choice((torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64))
        )
    items = [_odd_value(rng, depth + 1) for _ in range(rng.choice((0, 1, 2, 3, 40)))]
    if kind == 4:
        return tuple(items)
    if kind == 5:
        return {rng.choice(_TEXTS): item for item in items}
    return items if kind < 8 else items[:1] * 5


def twisted_values(rng: random.Random) -> Iterator[bytes]:
    """What a student's function may return, as it comes over the wire."""
    while True:
        with contextlib.suppress(wire.WireError, RecursionError):
            yield wire.encode(_odd_value(rng))


def read_value(data: bytes) -> str:
    """Compare and describe it, beside what is right: a verdict each."""
    try:
        value = wire.decode(data)
    except wire.WireError:
        return "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for right in _RIGHT:
            symptom_of(value, right), values_match(value, right), values_match(right, value)
            value_difference(value, right)
    return "compared"


# ---------------------------------------------------------------------------------------------- notebooks


def notebook_seeds() -> list[dict[str, Any]]:
    """The solved notebook, and small ones cut from it."""
    whole = json.loads(json.dumps(answered(LAB, solved(LAB))))
    graded = [cell for cell in whole["cells"] if "nbgrader" in cell["metadata"]]
    small = [{**whole, "cells": graded[start : start + 3]} for start in range(0, len(graded), 3)]
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": graded[:2]}]}
    return [*small, old, whole]


def notebook_reader() -> Callable[[bytes], str]:
    """Reads a notebook as grading does, and checks what it promises: each test once, after its answer."""
    template = Template.of(LAB)

    def read(raw: bytes) -> str:
        try:
            repaired = repair(raw, template)
        except Unreadable:
            return "refused"
        names = [cell.grade_id for cell in repaired.cells]
        for question, test in template.test_of.items():
            assert names.count(test) == 1, f"{test} stands there {names.count(test)} times"
            answers = [place for place, name in enumerate(names) if name == question]
            assert not answers or max(answers) < names.index(test), f"{question} stands after its test"
        return "a notebook"

    return read


def twisted_notebooks(rng: random.Random) -> Iterator[bytes]:
    """Notebooks with parts or bytes changed; a whole one now and then, small ones mostly."""
    seeds = notebook_seeds()
    texts = [json.dumps(seed).encode() for seed in seeds]
    while True:
        at = len(seeds) - 1 if rng.random() < 0.02 else rng.randrange(len(seeds) - 1)
        if rng.random() < 0.3:
            yield fuzz_class.changed(texts[at], rng)
        else:
            changed = _tree_changed(copy.deepcopy(seeds[at]), seeds[: len(seeds) - 1], rng)
            yield json.dumps(changed).encode("utf-8", "surrogatepass")


# -------------------------------------------------------------------------------------------------- cells

#: What the readers of code and messages look at, on end and mixed.
_TOKENS = (
    " ", "\t", "\f", "\n", "\\\n", "(", ")", "[", "]", "{", "}", "=", "==", ":=", "?", "!", "%", "%time ", "#", ";",
    ",", "/", "'", '"', "'''", "f'", "\\", "a", "a.", ".a", "torch", "1", "1 ", "x", "and ", " and 1", "not ", "-",
    "-a ", "lambda:", "@a\n", "def f():", "class a:", "if a:", "import torch as a\n", "return ", "for a in ",
    "\u2028", "\x85", "\0", "é", "a=", "a,", "*", "**",
    *("coursekit", "coursekit.a import (", "mine(", '"# ', '"grade_id": "a"', "import "),
    *("name '", "index ", "shapes ", "dim ", "`", "<", "``", "In [1]: ", ">>> "),
)  # fmt: skip


def twisted_cells(rng: random.Random) -> Iterator[bytes]:
    """Cells of up to 199,000 characters: one to four pieces, each of a few tokens on end."""
    while True:
        pieces = []
        for _ in range(rng.randint(1, 4)):
            unit = "".join(rng.choice(_TOKENS) for _ in range(rng.choice((1, 1, 2, 3, 12))))
            pieces.append(unit * (rng.choice((1, 50, 1000, 60_000)) // len(unit) + 1))
        yield "".join(pieces)[:199_000].encode("utf-8", "surrogatepass")


def read_cell(raw: bytes) -> str:
    """Read a cell as grading does: which of the kit and which lab it names, for forbidden calls, and a message for its known form."""
    other_lab(raw, LAB)
    text = raw.decode("utf-8", "surrogatepass")
    safe_message(text, text)
    forbidden_used(lab_name("07"), "scaled_dot_product_attention", [text])
    return "read"


# ------------------------------------------------------------------------------------------------ running


def memory() -> float:
    """This process's resident memory in megabytes, rubbish collected."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def run(what: str, inputs: Iterator[bytes], read: Callable[[bytes], str], seconds: float) -> bool:
    """Read inputs for so many seconds of CPU time and print what came of them; whether nothing else than promised did."""
    outcomes: Counter[str] = Counter()
    slowest, after_warm_up, most, shares = 0.0, 0.0, 0.0, 1
    began = ended = time.process_time()
    for number, data in enumerate(inputs):
        start = time.process_time()
        try:
            outcomes[read(data)] += 1
        except BaseException as error:
            folder = course_root() / "build" / "fuzz"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{what}-{number}").write_bytes(data)
            print(f"{what} {number}: {type(error).__name__}: {error}; the input is in {folder}")
            if isinstance(error, KeyboardInterrupt):
                raise
            return False
        ended = time.process_time()
        slowest = max(slowest, ended - start)
        if ended - began > shares * seconds / 20:
            now = memory()
            after_warm_up, most, shares = after_warm_up or now, max(most, now), shares + 1
        if ended - began > seconds:
            break
    said = ", ".join(f"{n:,} {outcome}" for outcome, n in outcomes.most_common())
    print(f"{what}: {outcomes.total():,} in {ended - began:.0f} s: {said}; the slowest took {slowest:.3f} s; "
          f"memory {after_warm_up:.0f} MB after a twentieth, {memory():.0f} MB at the end, {most:.0f} MB at most", flush=True)  # fmt: skip
    return slowest < TOO_SLOW


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="of CPU time for each kind of input")
    parser.add_argument(
        "--only", default="", help="the kinds of input, with commas between; all if not given"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    kinds = {
        "frames": (twisted_frames, read_frame),
        "values": (twisted_values, read_value),
        "notebooks": (twisted_notebooks, notebook_reader()),
        "cells": (twisted_cells, read_cell),
        **fuzz_class.READERS,
    }
    chosen = options.only.split(",") if options.only else list(kinds)
    if unknown := set(chosen) - set(kinds):
        parser.error(f"no such input: {', '.join(sorted(unknown))}; there are {', '.join(kinds)}")
    good = True
    for what in chosen:
        twisted, read = kinds[what]
        good = run(what, twisted(random.Random(options.seed)), read, 60 * options.minutes) and good
    sys.exit(not good)


if __name__ == "__main__":
    main()
