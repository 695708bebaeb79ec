"""What a slip costs that is made in one branch only, or where two features meet, and whether its card is red."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from coursekit.checks.api import judge

from autograder.audit.public_checks import in_a_notebook
from autograder.course.masters import solution
from autograder.testing.run import earned, run_question, student_with_answer


def points_kept(lab: str, question: str, answer: Callable[..., Any]) -> float:
    """The share of the question's points that ``answer`` earns."""
    with np.errstate(all="ignore"):
        runs = run_question(lab, question, student_with_answer(lab, question, answer))
    return earned(1, [(run.test.weight, run.result.passed) for run in runs])


def card_is_red(lab: str, question: str, answer: Callable[..., Any]) -> bool:
    """Whether some public check says that ``answer`` is wrong."""
    alone = answer if inspect.isclass(answer) else in_a_notebook(answer, solution(lab))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return not all(mark.passed for mark in judge(lab, question, alone).marks)


def loses_a_little(lab: str, question: str, slip: Callable[..., Any], *, red: bool = True) -> None:
    """A slip keeps most of its points and not all, and its card is as red as is said."""
    kept = points_kept(lab, question, slip)
    assert 0.6 < kept < 1, f"it keeps {kept:.0%}"
    assert card_is_red(lab, question, slip) is red
