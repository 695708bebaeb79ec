"""Refuses to grade a class with an unsound lab, or one whose master fails its hidden tests."""

from __future__ import annotations

from autograder.course.masters import solution, source_of_import
from autograder.course.policy_file import course_file, settings
from autograder.course.soundness import require_sound
from autograder.errors import UserError
from autograder.judging.run import run_test, set_salt, tests_of
from autograder.questions.engine.answers import answers_of
from autograder.sandbox.host.student import Student


def check_lab(lab: str) -> None:
    """Raise ``UserError`` if the files of ``lab`` are unsound, its master fails a hidden test, or the policy's rubric
    names an unknown misconception."""
    require_sound([lab])
    set_salt(settings().salt)
    if source_of_import(lab):  # its tests need the notebook around them: `autograder audit` runs both
        return
    for question, costs in settings().lab(lab).rubric.items():
        known = {answer.title for answer in answers_of(lab)["misconception"].get(question, ())}
        if unknown := costs.keys() - known:
            raise UserError(
                f"{course_file().name} sets a cost for “{min(unknown)}”, which is no misconception of “{question}”: "
                f"its file in autograder/questions lists them."
            )
    for question, tests in tests_of(lab).items():
        student = Student.local_namespace(solution(lab), question)
        for test in tests:
            if not run_test(test, student).result.passed:
                raise UserError(
                    f"The master of {lab} fails its own hidden test {test.name}: nothing was graded "
                    f"(see `autograder audit {lab[:2]}`)."
                )
