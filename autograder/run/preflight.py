"""Refuses to grade a class with a lab that is not sound, or whose hidden tests do not pass on the master's answer."""

from __future__ import annotations

from autograder.course.masters import solution, source_of_import
from autograder.course.policy_file import settings
from autograder.course.soundness import require_sound
from autograder.errors import UserError
from autograder.sandbox.host.student import Student
from autograder.testing.run import run_test, set_salt, tests_of


def check_lab(lab: str) -> None:
    """Raise ``UserError`` when the files of ``lab`` are not sound, or its master fails one of its hidden tests."""
    require_sound([lab])
    set_salt(settings().salt)
    if source_of_import(lab):  # its tests need the notebook around them: `autograder audit` runs both
        return
    for question, tests in tests_of(lab).items():
        student = Student.local_namespace(solution(lab), question)
        for test in tests:
            if not run_test(test, student).result.passed:
                raise UserError(
                    f"The master of {lab} fails its own hidden test {test.name}: nothing was graded "
                    f"(see `autograder audit {lab[:2]}`)."
                )
