"""What an answer earns: its misconception's cost, or else the tests that it passes, and never more than a slip it contains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from autograder.errors import UserError
from autograder.judging.run import run_question, student_with_answer
from autograder.questions.engine.diagnosis import diagnose
from autograder.questions.engine.rubric import points_earned
from autograder.run.preflight import check_lab

LAB, QUESTION, POINTS = "07_self_attention", "kernel_smooth", 3.0


def bell(x, y, query, exponent):
    scores = -((query[:, None] - x) ** 2) / exponent
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ y / weights.sum(axis=1)


def sigma_not_squared_and_rounded(x, y, query, sigma):
    return bell(x, y, query, 2 * sigma).round(1)


def in_place(x, y, query, sigma):
    result = bell(x, y, query, 2 * sigma**2)
    y *= 2
    return result


def cost(title: str, points: int) -> str:
    """A policy."""
    return f'[labs.07.rubric.{QUESTION}]\n"{title}" = {points}\n'


def test_who_makes_another_slip_on_top_does_not_fare_better(course_at):
    runs = run_question(LAB, QUESTION, student_with_answer(LAB, QUESTION, sigma_not_squared_and_rounded))
    assert diagnose(LAB, QUESTION, runs) is None and points_earned(LAB, QUESTION, POINTS, runs, None) <= 2.0
    course_at(cost("σ is not squared", 3))
    assert points_earned(LAB, QUESTION, POINTS, runs, None) == 0.0


def test_a_rule_that_was_not_tested_is_not_broken():
    runs = run_question(LAB, QUESTION, student_with_answer(LAB, QUESTION, in_place))
    unrun = [replace(run, ran=run.result.passed) for run in runs]
    assert points_earned(LAB, QUESTION, POINTS, unrun, None) == POINTS


def test_a_cost_for_no_misconception_stops_before_anything_is_graded(course_at):
    course_at(cost("σ is squared", 1))
    with pytest.raises(UserError, match="no misconception of “kernel_smooth”"):
        check_lab(LAB)
