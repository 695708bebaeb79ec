"""A green answer that returns lists is drawn like one that returns arrays."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from coursekit.notebook.until_written import needs, until_written
from coursekit.notebook.verdict import Mark, Verdict, last_verdicts


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch):
    """Put a function that returns ``value`` into the notebook as a checked answer called ``f``."""

    def put(value: object, passed: bool = True):
        def f(*_):
            return value

        f.__module__ = "__main__"
        monkeypatch.setattr(sys.modules["__main__"], "f", f, raising=False)
        monkeypatch.setitem(last_verdicts, "f", Verdict("f", [Mark("a line", passed, "")]))
        return f

    return put


def f_of_the_notebook():
    return vars(sys.modules["__main__"])["f"]


def test_lists_of_numbers_are_arrays_in_the_cell_and_whatever_is_no_table_of_numbers_stays(answer):
    for value in ([[True, False], [True, True]], [0.25, 0.75], [np.ones(2), np.zeros(2)]):
        answer(value)
        with until_written():
            needs("f")
            seen = [f_of_the_notebook()(), f_of_the_notebook().__name__]
        assert isinstance(seen[0], np.ndarray) and np.array_equal(seen[0], value) and seen[1] == "f"
    for value in ([3, 1, 2], [[1, 2], [3]], ["a", "b"], [("a", 0.5)], [], {"a": [1.0]}, None):
        answer(value)
        with until_written():
            needs("f")
            seen = f_of_the_notebook()()
        assert seen is value


def test_each_of_several_results_is_an_array_and_the_function_is_back_after_an_error_too(answer, capsys):
    function = answer((["a", "b"], [[0.5, 0.5]], 3))
    with until_written():
        needs("f")
        words, table, number = f_of_the_notebook()()
        raise ValueError("no such figure")
    assert words == ["a", "b"] and table.shape == (1, 2) and number == 3
    assert f_of_the_notebook() is function and "no such figure" in capsys.readouterr().out
