"""What an earlier lab's check accepts, a later lab's cells can use: lists become arrays or tensors on the way."""

from __future__ import annotations

import nbformat
import numpy as np
import pytest
import torch
from coursekit.checks.earlier_labs import mine

ANSWERS = {
    ("00_warm_up", "one_hot"): (
        "def one_hot(ids, V):\n"
        "    rows = [[1.0 * (i == w) for w in range(V)] for i in np.ravel(ids)]\n"
        "    return rows if np.ndim(ids) else rows[0]",
        ([2, 0], 3),
    ),
    ("00_warm_up", "softmax"): (
        "from fractions import Fraction\n\ndef softmax(x, axis=-1):\n    return [Fraction(1, 2), Fraction(1, 2)]",
        ([1.0, 1.0],),
    ),
    ("07_self_attention", "causal_mask"): (
        "def causal_mask(T):\n    return [[j <= i for j in range(T)] for i in range(T)]",
        (3,),
    ),
}


@pytest.mark.parametrize("place", ANSWERS, ids=lambda place: place[1])
def test_lists_become_what_the_courses_own_version_returns(tmp_path, monkeypatch, place):
    (lab, question), (source, arguments) = place, ANSWERS[place]
    monkeypatch.setattr("coursekit.checks.earlier_labs.judge", lambda *_: type("Green", (), {"passed": True}))
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(part) for part in ("import numpy as np", source)]
    )
    (tmp_path / lab).mkdir()
    (tmp_path / "later").mkdir()
    nbformat.write(notebook, tmp_path / lab / f"{lab}.ipynb")
    monkeypatch.chdir(tmp_path / "later")
    function = mine(lab[:2], question)
    result = function(*arguments)
    assert function.__name__ == question and function.__module__.startswith("own_")
    assert isinstance(result, torch.Tensor if question == "causal_mask" else np.ndarray)
    assert result.dtype != object
