"""Judges a question that a test makes as grading judges one of a lab."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from autograder.audit import question as of_a_question
from autograder.course.masters import solution
from autograder.grading import diagnosis
from autograder.grading.rubric import points_earned
from autograder.judging import run
from autograder.questions.engine import answers, as_tests
from autograder.sandbox.host.student import Student

LAB, POINTS, SALT = "01_markov_bigram", 2.0, "a salt"


@dataclass(frozen=True)
class Graded:
    """The tests that failed, by name with what they say; the title of the misconception; the points of two."""

    failed: dict[str, str]
    title: str | None
    points: float


class Grading:
    """Grading, for questions that are lab 01's for the time of a test."""

    def __init__(self, patch: pytest.MonkeyPatch):
        self._patch = patch

    def _register(self, question, master=None):
        question.lab, questions = LAB, {question.name: question}
        self._patch.setitem(solution(LAB), question.name, master or question.reference)
        for module in (as_tests, answers, of_a_question):
            self._patch.setattr(module, "questions_of", lambda _: questions)
        forget()

    def judge(self, question, function):
        """What grading says of an answer."""
        self._register(question)
        student = Student.local_namespace(solution(LAB) | {question.name: function}, question.name)
        runs = run.run_question(LAB, question.name, student)
        named = diagnosis.diagnose(LAB, question.name, runs)
        points = points_earned(LAB, question.name, POINTS, runs, named)
        failed = {one.test.name: one.result.message for one in runs if not one.result.passed}
        return Graded(failed, named and named.title, points)

    def audit(self, question, master=None):
        """What the audit finds; the question has no card."""
        self._register(question, master)
        self._patch.setattr(of_a_question, "card_faults", lambda *_: ())
        return of_a_question.audit_question(LAB, question.name, POINTS).sentences


def forget():
    """Collect tests and answers anew, and draw from the salt of these tests."""
    run.tests_of.cache_clear()
    answers.answers_of.cache_clear()
    run.set_salt("another salt")
    run.set_salt(SALT)


@pytest.fixture
def grading():
    before = run.salt()
    with pytest.MonkeyPatch.context() as patch:
        yield Grading(patch)
    forget()
    run.set_salt(before)
