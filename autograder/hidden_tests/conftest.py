"""Runs the hidden tests under plain pytest against the master's own solutions."""

from typing import Any

import numpy as np
import pytest

from autograder.testing import Student, solution


@pytest.fixture
def student(request: Any) -> Student:
    """The master's solution to the question of the test, behind the same proxy that grading uses."""
    lab = request.module.__name__.rsplit("test_", 1)[1]
    namespace = solution(lab)
    return Student.local_namespace(namespace, request.function.hidden_test.question)


@pytest.fixture
def rng(request: Any) -> np.random.Generator:
    """The test's own seeded generator."""
    return request.function.hidden_test.rng()
