"""Break it to believe it: a weak input lets every impostor pass, the master's counterexample none."""

from __future__ import annotations

import re

import numpy as np
import pytest
from coursekit.checks.break_it import exposed, impostors

from autograder.course.masters import all_labs, master_path, solution, solution_source

LABS = [lab for lab in all_labs() if "def counterexample(" in master_path(lab).read_text(encoding="utf-8")]


@pytest.mark.parametrize("lab", LABS)
def test_the_weak_input_exposes_nobody_and_the_masters_counterexample_all(lab):
    names, ((_, kin),) = solution(lab), impostors(lab).items()
    right = re.search(r"break_it\(counterexample, (\w+)", master_path(lab).read_text(encoding="utf-8"))[1]
    shown = [value for name, value in names.items() if name.startswith("hasty_")]
    assert len(kin) >= 3
    for given, passed in ((names["weak_input"], False), (names["counterexample"](), True)):
        refusal, marks = exposed(given, names[right], kin, *shown)
        assert not refusal and [mark.title for mark in marks if mark.passed != passed] == []
    for mark in marks[-len(kin) :]:
        assert mark.title.endswith(".") and re.fullmatch(r"One survives: .+[.?]", mark.hint)
    assert "BEGIN SOLUTION" in solution_source(lab, "counterexample")


def _double(x):
    return np.asarray(x) * 2


def _square(right, x):
    return np.asarray(x) ** 2


def _spoils(right, x):
    x[:] = 0
    return right(x)


def test_arguments_are_copied_an_error_or_another_shape_gives_one_away_and_without_an_answer_nothing_does():
    def raises(right, x):
        raise ValueError

    x = np.array([2.0, 2.0])
    refusal, marks = exposed(x, _double, [_square, _spoils])
    assert (refusal, [mark.passed for mark in marks]) == ("", [False, True])
    assert x.tolist() == [2, 2]
    marks = exposed((np.ones(2),), _double, [lambda right, x: np.full(1, 2.0), raises])[1]
    assert [mark.passed for mark in marks] == [True, True]
    for arguments, why in (
        (None, "returns None"),
        (("a", "b"), "raises an error on this input (TypeError"),
        ((np.array([np.nan]),), "returns nan"),
    ):
        refusal, marks = exposed(arguments, _double, [_square])
        assert why in refusal and not marks
