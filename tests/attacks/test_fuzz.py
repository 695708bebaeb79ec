"""Random and twisted notebooks and frames: a value, or the one error that each reader promises."""

from __future__ import annotations

import copy
import itertools
import json
import math
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.audit.simulate import answered
from autograder.course.masters import lab_name, solved
from autograder.errors import Unreadable
from autograder.grading.off_limits import forbidden_used
from autograder.grading.repair import Template, parse, repair
from autograder.sandbox import wire
from autograder.testing.safe_errors import safe_message

from . import fuzz

LAB = lab_name("01")
_bounded = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
)


@pytest.fixture(scope="module")
def template():
    return Template.of(LAB)


@pytest.fixture(scope="module")
def notebook():
    return json.loads(json.dumps(answered(LAB, solved(LAB))))


def _repaired_or_refused(raw: bytes, template: Template) -> None:
    try:
        repaired = repair(raw, template)
    except Unreadable as reason:
        assert str(reason)
        return
    names = [cell.grade_id for cell in repaired.cells]
    for question, test in template.test_of.items():
        assert names.count(test) == 1
        counting = [place for place, cell in enumerate(repaired.cells) if question in cell.answers]
        assert max(counting, default=-1) < names.index(test)


@_bounded
@given(st.binary(max_size=400))
def test_bytes_that_are_no_notebook_are_refused_in_a_sentence(data):
    with pytest.raises(Unreadable):
        parse(data)


@_bounded
@given(tree=trees)
def test_any_json_is_repaired_or_refused(tree, template):
    for value in (
        tree,
        {"cells": tree},
        {"cells": [tree, {"cell_type": "code", "source": tree, "metadata": tree}]},
    ):
        _repaired_or_refused(json.dumps(value).encode("utf-8"), template)


@_bounded
@given(data=st.data())
def test_a_notebook_with_parts_replaced_has_each_test_once_after_its_answer(data, template, notebook):
    twisted = copy.deepcopy(notebook)
    cells = twisted["cells"]
    for _ in range(data.draw(st.integers(1, 6))):
        at, other = (data.draw(st.integers(0, len(cells) - 1)) for _ in range(2))
        match data.draw(st.sampled_from(["swap", "double", "drop", "key", "identity"])):
            case "swap":
                cells[at], cells[other] = cells[other], cells[at]
            case "double":
                cells.insert(other, copy.deepcopy(cells[at]))
            case "drop" if len(cells) > 2:
                del cells[at]
            case "key" if isinstance(cells[at], dict):
                cells[at][data.draw(st.sampled_from(["cell_type", "source", "metadata", "id"]))] = data.draw(
                    trees
                )
            case "identity" if isinstance(cells[other], dict):
                cells[at] = {**cells[at], "metadata": cells[other].get("metadata")}
    _repaired_or_refused(json.dumps(twisted).encode("utf-8", "surrogatepass"), template)


@_bounded
@given(st.lists(st.text(max_size=60), max_size=3), st.text(max_size=60))
def test_no_code_and_no_message_breaks_their_readers(cells, message):
    assert isinstance(forbidden_used(lab_name("07"), "scaled_dot_product_attention", cells), tuple)
    assert isinstance(safe_message(message, " ".join(cells)), str)


@_bounded
@given(st.data())
def test_a_frame_with_bytes_changed_inserted_and_cut_gives_a_value_or_a_wire_error(data):
    value = data.draw(trees)
    frame = bytearray(wire.encode(value))
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, max(len(frame) - 1, 0)))
        frame[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        wire.decode(bytes(frame))
    except wire.WireError as error:
        assert str(error)


@pytest.mark.parametrize("much", [1, pytest.param(40, marks=pytest.mark.proof)])
def test_twisted_frames_notebooks_and_cells_in_a_hurry(capsys, much):
    """What ``python -m tests.attacks.fuzz`` does with millions, with a thousand: which it meets hangs on the seed, not on a change."""
    kinds = {
        "frames": (fuzz.twisted_frames, fuzz.read_frame, 1000 * much),
        "notebooks": (fuzz.twisted_notebooks, fuzz.notebook_reader(), 40 * much),
        "cells": (fuzz.twisted_cells, fuzz.read_cell, 20 * much),
    }
    for what, readers in fuzz.fuzz_class.READERS.items():
        kinds[what] = (*readers, (40 if what in ("zips", "downloads") else 150) * much)
    for what, (twisted, read, count) in kinds.items():
        assert fuzz.run(what, itertools.islice(twisted(random.Random(7)), count), read, math.inf)
    assert "0 refused" not in capsys.readouterr().out
