"""No sentence about a failed test repeats a shape or a size that the student chose: they could spell a hidden input."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch

from autograder.course.masters import all_labs, solution, source_of_import
from autograder.judging import run
from autograder.sandbox.host.rpc import RpcClient
from autograder.sandbox.host.student import Student

#: Sizes that no hidden test asks for.
ODD = (7919, 6833)


def spelt(value: Any, empty: bool) -> Any:
    """The value with each array in it in a shape that spells something: without values, or with an axis more."""
    if isinstance(value, (np.ndarray, torch.Tensor)):
        if empty:
            made = np.zeros((1, 0, *ODD))
            return made if isinstance(value, np.ndarray) else torch.from_numpy(made)
        shape = (7919, *value.shape)
        return np.broadcast_to(value, shape) if isinstance(value, np.ndarray) else value.expand(shape)
    if isinstance(value, (list, tuple)):
        return type(value)(spelt(item, empty) for item in value)
    if isinstance(value, dict):
        return {key: spelt(item, empty) for key, item in value.items()}
    return value


#: The engine's sentences are one list for all labs: one with arrays and one with modules stand for the others.
EACH_LAB = [
    lab if lab[:2] in ("01", "08") else pytest.param(lab, marks=pytest.mark.proof)
    for lab in all_labs()
    if not source_of_import(lab)
]
#: The calls whose results are spelt, first and last, and whether without values.
FROM_THEN_ON = ((1, 10**9, True), (2, 10**9, False))
ONE_CALL = tuple((n, n, True) for n in range(1, 6))


@pytest.mark.parametrize(
    "calls", [FROM_THEN_ON, pytest.param(ONE_CALL, marks=pytest.mark.proof)], ids=["from then on", "one call"]
)
@pytest.mark.parametrize("lab", EACH_LAB)
def test_what_a_test_says_holds_no_size_of_the_students(
    lab: str, calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each hidden test, with right answers up to some call and spelt ones from there on, or at that call alone."""
    for question in run.tests_of(lab):  # what is right is computed through the same wire, and kept
        run.master_runs(lab, question)
    real, state = RpcClient.request, {"call": 0, "from": 0, "to": 0, "empty": True}

    def request(self: RpcClient, *message: Any) -> Any:
        result, contents = real(self, *message)
        state["call"] += 1
        if state["from"] <= state["call"] <= state["to"]:
            result = spelt(result, bool(state["empty"]))
        return result, contents

    monkeypatch.setattr(RpcClient, "request", request)
    monkeypatch.setattr(run, "_master_passes", lambda test: True)
    said = set()
    for question, tests in run.tests_of(lab).items():
        for test in tests:
            for first, last, empty in calls:
                state |= {"call": 0, "from": first, "to": last, "empty": empty}
                done = run.run_test(test, Student.local_namespace(solution(lab), question))
                if re.search(r"7919|6833", done.result.message):
                    said.add((test.name, done.result.message))
    assert sorted(said) == []
