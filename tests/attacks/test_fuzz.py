"""Random input for readers of strangers' bytes: each input becomes a value or is refused, and none takes long.

(What becomes of any notebook and of any name, ``tests/grading/test_repair.py`` and ``tests/test_files.py`` say.)
"""

import io
import time
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from coursekit.checks.compare import value_difference
from coursekit.checks.values import values_match
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.collect import collect
from autograder.course.masters import lab_name, other_lab
from autograder.errors import UserError
from autograder.files import folder_name
from autograder.grading.off_limits import forbidden_used
from autograder.judging.safe_errors import safe_message
from autograder.questions.engine.symptoms import symptom_of
from autograder.sandbox import wire

# Which inputs it meets hangs on chance, not on a change; properties of the readers are tested beside them.
pytestmark = pytest.mark.proof

LAB = lab_name("01")


def many(examples: int) -> settings:
    """So many inputs, however long they take to make."""
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


@contextmanager
def soon() -> Iterator[None]:
    """What stands inside takes at most five seconds of CPU time."""
    began = time.process_time()
    yield
    assert time.process_time() - began < 5


def changed(content: bytes) -> st.SearchStrategy[bytes]:
    """The content with up to six parts replaced by a few bytes, or by none."""

    def edited(spots: list[tuple[int, int, bytes]]) -> bytes:
        data = bytearray(content)
        for at, removed, put in spots:
            data[at : at + removed] = put
        return bytes(data)

    spot = st.tuples(st.integers(0, len(content)), st.sampled_from((0, 1, 8, 60)), st.binary(max_size=8))
    return st.lists(spot, max_size=6).map(edited)


# Frames: what a student's function returns.

_NORMAL = np.random.default_rng(0).normal(size=(3, 4))
#: What is right, and what frames are made from.
_RIGHT = (
    1.5, 3, True, "text", None, b"ab", 2j, _NORMAL, np.ones((2, 3), bool), np.zeros((0, 3)), [1, 2, 3],
    [("a", "b")], {"a": 1}, {("a", "b"): 0.5}, (np.ones(3), np.zeros((2, 2))), torch.ones(2, 3), torch.tensor(1.5),
)  # fmt: skip
_ODD = (
    np.array(["ab", "c"]), -(2**70), float("nan"), (1, (2, (3,))), {1, 2}, frozenset("ab"), range(3, 9, 2), range(10**30, 10**30 + 3), slice(1, None), ...,
    [float(i) for i in range(40)], np.float32(1.5), np.int8(-3), np.str_("s"), np.asfortranarray(_NORMAL), np.full(4, np.inf),
    torch.ones(3, dtype=torch.bfloat16), np.random.default_rng(0), wire.Reference("handle", 0), ("refused", "why"),
    ("value", {"status": "ok", "outputs": [], "error": ""}, (), None), ("error", "ValueError", "no", (("cell", 3, "x"),)),
)  # fmt: skip
_FRAMES = [wire.encode(value, for_arguments=True) for value in (*_RIGHT, *_ODD)]


@many(40_000)
@given(st.sampled_from(_FRAMES).flatmap(changed))
def test_a_frame_is_refused_or_a_value_that_is_compared_with_what_is_right(frame):
    with soon(), suppress(wire.WireError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wire.decode(frame, resolve=lambda reference: reference)
        value = wire.decode(frame)
        for right in _RIGHT:
            symptom_of(value, right), values_match(value, right), values_match(right, value)
            value_difference(value, right)


#: What the readers of code and messages look at, on end and mixed.
_TOKENS = (
    " ", "\t", "\f", "\n", "\\\n", "(", ")", "[", "]", "{", "}", "=", "==", ":=", "?", "!", "%", "%time ", "#", ";", ",", "/", "'", '"',
    "'''", "f'", "\\", "a", "a.", ".a", "torch", "1", "1 ", "x", "and ", " and 1", "not ", "-", "lambda:", "@a\n", "def f():", "class a:",
    "if a:", "import torch as a\n", "return ", "for a in ", "\u2028", "\x85", "\0", "é", "a=", "a,", "*", "**", "coursekit", "mine(",
    "coursekit.a import (", '"# ', '"grade_id": "a"', "import ", "name '", "index ", "shapes ", "dim ", "`", "<", "``", "In [1]: ", ">>> ",
)  # fmt: skip
#: A few tokens, and how many characters of them on end.
_PIECES = st.tuples(
    st.lists(st.sampled_from(_TOKENS), min_size=1, max_size=12), st.sampled_from((1, 50, 1000, 60_000))
)


@many(800)
@given(st.lists(_PIECES, min_size=1, max_size=4))
def test_a_cell_of_tokens_on_end_is_read_in_time(pieces):
    text = "".join("".join(unit) * (length // len("".join(unit)) + 1) for unit, length in pieces)[:199_000]
    with soon():
        other_lab(text.encode("utf-8", "surrogatepass"), LAB)
        safe_message(text, text)
        forbidden_used(lab_name("07"), "scaled_dot_product_attention", [text])


_NAMES = st.lists(st.sampled_from((
    "ada", "_", "-", "/", "\\", "..", ".", " ", ":", "a:b", "LATE_", "_1_2_", "_3_assignsubmission_file_", ".github/", ".ipynb", ".zip",
    f"{LAB}/", f"{LAB}.ipynb", "timestamp.txt", "é", "e\u0301", "\u202e", "\x1b[2J", "<img src=x onerror=a()>", "&", '"', "`", "CON",
    "\0", "\n", "x" * 260, "2026-11-20", " 10:00:00", "T", "Z", "+14:00", "-99:99", "0001", "9999", "٢٠٢٦",
)), min_size=1, max_size=5).map("".join)  # fmt: skip
_KINDS = st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))


def _zipped(files: dict[str, bytes], kind: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, content in files.items():
            archive.writestr("n" + name, content)
    return buffer.getvalue()


def _downloads() -> st.SearchStrategy[bytes]:
    """Downloads of a few students, with odd names and times, a zip in a zip now and then, and bytes changed."""
    notebook = b'{"cells": []}' * 20
    packed = st.builds(_zipped, st.just({f"{LAB}.ipynb": notebook}), _KINDS)
    usual = st.builds("s{}_{}_9_{}.zip".format, st.integers(0, 3), st.integers(0, 3), st.just(LAB))
    own = st.builds("s{}/{}/{}.ipynb".format, st.integers(0, 3), st.just(LAB), st.just(LAB))
    content = st.just(notebook) | packed | _NAMES.map(str.encode)
    files = st.dictionaries(usual | own | _NAMES, content, min_size=1, max_size=6)
    return st.builds(_zipped, files, _KINDS).flatmap(changed)


@many(1600)
@given(_downloads())
def test_a_zip_becomes_notebooks_or_a_sentence_and_nothing_lies_outside_the_folder(data):
    with TemporaryDirectory() as name, soon():
        home = Path(name)
        (home / "in.zip").write_bytes(data)
        try:
            done = collect(home / "in.zip", home / "out" / "submitted", LAB)
            assert len(done.students) == len({folder_name(student) for student in done.students})
        except UserError as error:
            assert str(error)
        assert {path.name for path in home.iterdir()} <= {"in.zip", "out"}
