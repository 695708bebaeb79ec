"""What ``python -m tests.attacks.fuzz`` does with millions of inputs, with a thousand; and any JSON as a notebook."""

from __future__ import annotations

import itertools
import json
import math
import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from . import fuzz

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
)


@pytest.fixture(scope="module")
def read():
    return fuzz.notebook_reader()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tree=trees, data=st.binary(max_size=400))
def test_any_json_is_repaired_or_refused_and_other_bytes_are_refused(tree, data, read):
    cell = {"cell_type": "code", "source": tree, "metadata": tree}
    for value in (tree, {"cells": tree}, {"cells": [tree, cell]}):
        read(json.dumps(value).encode("utf-8"))
    assert read(data) == "refused"


@pytest.mark.parametrize("much", [1, pytest.param(40, marks=pytest.mark.proof)])
def test_twisted_inputs_in_a_hurry(capsys, much):
    """Which inputs it meets hangs on the seed, not on a change."""
    kinds = {
        "frames": (fuzz.twisted_frames, fuzz.read_frame, 1000 * much),
        "notebooks": (fuzz.twisted_notebooks, fuzz.notebook_reader(), 80 * much),
        "cells": (fuzz.twisted_cells, fuzz.read_cell, 20 * much),
    }
    for what, readers in fuzz.fuzz_class.READERS.items():
        kinds[what] = (*readers, (40 if what in ("zips", "downloads") else 150) * much)
    for what, (twisted, read, count) in kinds.items():
        assert fuzz.run(what, itertools.islice(twisted(random.Random(7)), count), read, math.inf)
    assert not re.search(r"\b0 refused", capsys.readouterr().out)
