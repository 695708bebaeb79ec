"""Refuses to grade a class with tests that are not sound: every hidden test must pass on the master's answer."""

from __future__ import annotations

from autograder.course.masters import solution
from autograder.course.policy_file import settings, spec
from autograder.errors import UserError
from autograder.sandbox.host.student import Student
from autograder.testing.run import run_test, set_salt, tests_of


def check_hidden_tests(lab: str) -> None:
    """Raise ``UserError`` when a question of ``lab`` has no hidden test, or its master fails one."""
    set_salt(settings().salt)
    missing = [question for question, _ in spec(lab).questions if question not in tests_of(lab)]
    if missing:
        raise UserError(f"Lab {lab} has no hidden tests for {', '.join(missing)}: nothing was graded.")
    for question, tests in tests_of(lab).items():
        student = Student.local_namespace(solution(lab), question)
        for test in tests:
            if not run_test(test, student).result.passed:
                raise UserError(
                    f"The master of {lab} fails its own hidden test {test.name}: nothing was graded "
                    f"(see `autograder audit {lab[:2]}`)."
                )
