"""A check's inputs are as they were after every call, and a card names the argument that an answer changes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from coursekit.checks import api, untouched
from coursekit.checks.api import run_check

from autograder.course.masters import solution


class Check:
    """A public check that does ``asks`` with the answer, and remembers which arguments were changed."""

    def __init__(self, asks):
        self.asks, self.changed, self.sitting = asks, [], self
        self.note_changed, self.is_scenario = self.changed.append, False

    def __call__(self, answer):
        self.asks(answer)


def _changed(answer, *arguments):
    """The arguments that a check's call of ``answer`` changes."""
    check = Check(lambda function: function(*arguments))
    run_check(check, answer)
    return check.changed


def divides(x, y):
    y /= 2
    return x + y


def appends(rows):
    rows[0].append(1)


def counts(table):
    table["new"] = 1


def adds(x):
    x.add_(1)


class Block(torch.nn.Module):
    def forward(self, x):
        x += 1
        return x


def test_a_change_in_place_is_named_and_put_back():
    for answer, arguments, name in (
        (divides, (np.ones(2), np.array([1.0, np.nan])), "y"),
        (appends, ([[1], [2]],), "rows"),
        (counts, ({"old": 1},), "table"),
        (adds, (torch.ones(2),), "x"),
    ):
        before = repr(arguments)
        assert _changed(answer, *arguments) == [name]
        assert repr(arguments) == before


def test_a_class_of_modules_is_watched_in_its_forward_and_what_is_put_back_stays_also_after_an_error():
    x = torch.ones(2)
    check = Check(lambda kind: kind()(x))
    run_check(check, Block)
    assert check.changed == ["x"]

    def fails(x):
        x[0] = 5
        raise KeyError("lost")

    with pytest.raises(KeyError):
        run_check(Check(lambda function: function(x)), fails)
    assert x.tolist() == [1, 1]


def test_an_answer_that_changes_nothing_is_not_stopped():
    def looks(*given):
        return [draws.random() for draws in given if hasattr(draws, "random")]

    values = (np.array([np.nan, 1]), [float("nan")], {"a": [1]}, torch.tensor([float("nan")]), {1})
    assert _changed(looks, *values, np.random.default_rng(0), lambda x: x, "text", None, 3) == []


def test_the_same_array_as_two_arguments_and_a_view_of_one_stay_what_they_are():
    x = np.arange(6.0)
    view = x[::2]
    seen = []
    run_check(
        Check(lambda function: function(x, x, view)), lambda a, b, c: seen.append((a is b, c.base is a))
    )
    assert seen == [(True, True)]


def test_a_slip_in_place_poisons_no_later_check_of_a_right_answer():
    lab, question = "07_self_attention", "scaled_dot_product_attention"
    right = solution(lab)[question]

    def wrong(q, k, v, mask=None):
        q /= np.sqrt(q.shape[-1])
        return right(q, k, v, mask)

    assert api.judge(lab, question, right).passed
    hints = [mark.hint for mark in api.judge(lab, question, wrong).marks if mark.hint]
    assert "our answer changes `q`" in hints[0]
    assert api.judge(lab, question, right).passed


def test_what_comes_back_is_not_put_back_with_the_argument_and_a_wrong_call_raises_its_own_error():
    def doubled(x):
        x *= 2
        return x, [x]

    x, changed = np.array([1.0, 2.0]), []
    result = untouched.leaves_its_arguments(doubled, changed.append)(x)
    assert changed == ["x"] and x.tolist() == [1, 2]
    assert result[0].tolist() == result[1][0].tolist() == [2, 4]
    with pytest.raises(TypeError, match="positional argument"):
        untouched.leaves_its_arguments(adds, lambda name: None)(1, 2)
