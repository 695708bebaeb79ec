"""Scores a question inside the running kernel, for stock ``nbgrader autograde``: the same hidden tests.

This path has no isolation: it serves teams that must use nbgrader as it is. ``autograder grade`` never
runs it.
"""

from __future__ import annotations

from typing import Any


def score(lab: str, question: str, namespace: dict[str, Any]) -> float:
    """Run the hidden tests of ``question`` on the live namespace, print what failed, return the points."""
    from coursekit.checks import api

    from autograder.course.policy_file import settings, spec
    from autograder.sandbox.host.student import Student
    from autograder.testing.run import earned, run_test, set_salt, tests_of

    set_salt(settings().salt)
    points = dict(spec(lab).questions)[question]
    api.show_last_card()
    student = Student.local_namespace(namespace, question)
    verdicts = []
    for test in tests_of(lab)[question]:
        result = run_test(test, student).result
        verdicts.append((test.weight, result.passed))
        if not result.passed:
            print(f"{result.name} — {result.message}")
    return earned(points, verdicts)
