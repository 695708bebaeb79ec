"""A cell that waits for an answer says in one calm line what it waits for; lists are drawn like arrays."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from coursekit.notebook.until_written import needs, until_written
from coursekit.notebook.verdict import Mark, Verdict, last_verdicts

_UNWRITTEN = "def train_bpe():\n    raise NotImplementedError\n"
_UNWRITTEN_CLASS = "class Block:\n    def __init__(self):\n        raise NotImplementedError\n"
_SLOPE = "def slope():\n    return 1 / 0\nslope()"
_READ = "import json\ndef read():\n    return json.loads('{')\nread()"


@pytest.mark.parametrize(
    ("cell", "line", "traced"),
    [
        (_UNWRITTEN + "(lambda: train_bpe())()", "waits for train_bpe, which is not written yet", False),
        (_UNWRITTEN_CLASS + "Block()", "waits for Block, which is not written yet", False),
        ("print(merges)", "needs “merges” from a cell above", False),
        ("def slope():\n    return mergs\nslope()", "slope uses “mergs”, which is not there yet", False),
        (_SLOPE, "slope raised ZeroDivisionError: division by zero\n", True),
        (_READ, "read raised JSONDecodeError: ", True),
        ("a, b = [1]", "This cell stopped with ValueError: not enough values", True),
        ("import torch\ntorch.zeros(1).sparse_resize_((1,), 1, 0)", "This cell stopped with ", True),
    ],
)
def test_one_line_names_what_is_missing_or_failed_above_its_traceback(cell, line, traced, capsys):
    with until_written():
        exec(compile(cell, "cell", "exec"), {"__name__": "__main__"})
    sentence, _, below = capsys.readouterr().out.partition("Traceback (most recent call last)")
    assert line in sentence and sentence.count("\n") == 1 and bool(below) == traced


def test_interrupting_a_cell_interrupts_it():
    with pytest.raises(KeyboardInterrupt), until_written():
        raise KeyboardInterrupt


@pytest.fixture
def checked(monkeypatch):
    def record(name, *, passed, written=True):
        monkeypatch.setitem(last_verdicts, name, Verdict(name, (Mark("It adds.", passed),), written))

    return record


def test_a_cell_waits_while_a_check_it_needs_is_red_and_names_it(checked, capsys):
    def is_drawn(*questions):
        drawn = False
        with until_written():
            needs(*questions)
            drawn = True
        return drawn

    checked("lookup", passed=True)
    checked("softmax", passed=False)
    assert is_drawn("lookup") and not is_drawn("lookup", "softmax")
    assert capsys.readouterr().out == "○ This cell waits: the check of softmax is not green yet.\n"
    checked("softmax", passed=True)
    checked("one_hot", passed=False, written=False)
    assert is_drawn("lookup", "softmax", "one_hot", "never_checked"), "what was not checked is the cell's"


def test_a_helper_whose_name_a_figure_takes_is_put_back_whatever_it_is(monkeypatch):
    notebook = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    source = (
        "import functools\nhalf = functools.partial(pow, 2)\n@functools.cache\ndef slow(x):\n    return x\n"
        "class Head:\n    def __call__(self):\n        return 1\nhead = Head()\n"
        "class Model:\n    def forward(self):\n        return 1\n    __call__ = forward\nmodel = Model()\n"
        "def cosine(a, b):\n    return 1\n\ndef loss(x):\n    return 2\n\nrate = 3"
    )
    exec(source, vars(notebook))
    before = {name: vars(notebook)[name] for name in ("half", "slow", "head", "cosine")}
    with until_written():
        exec("half, slow, head, model, cosine, rate = 1, 2, 3, None, {}, 4", vars(notebook))
        exec("def loss(x):\n    return 5", vars(notebook))
        raise ZeroDivisionError
    assert {name: vars(notebook)[name] for name in before} == before and notebook.model is None
    assert (notebook.loss(0), notebook.rate) == (5, 4)


def test_lists_of_numbers_are_arrays_in_the_cell_and_all_else_stays(monkeypatch, checked):
    notebook = sys.modules["__main__"]
    checked("f", passed=True)

    def in_a_figure(value):
        """What a cell that needs an answer which returns the value gets from it."""

        def f():
            return value

        f.__module__ = "__main__"
        monkeypatch.setattr(notebook, "f", f, raising=False)
        seen = []
        with until_written():
            needs("f")
            assert notebook.f.__name__ == "f"
            seen.append(notebook.f())
            raise ValueError("no such figure")
        assert notebook.f is f, "it is back after an error, too"
        return seen[0]

    for value in ([[True, False], [True, True]], [0.25, 0.75], [np.ones(2), np.zeros(2)]):
        seen = in_a_figure(value)
        assert isinstance(seen, np.ndarray) and np.array_equal(seen, value)
    for value in ([3, 1, 2], [[1, 2], [3]], ["a", "b"], [("a", 0.5)], [], {"a": [1.0]}, None):
        assert in_a_figure(value) is value
    words, table, number = in_a_figure((["a", "b"], [[0.5, 0.5]], 3))
    assert words == ["a", "b"] and table.shape == (1, 2) and number == 3
