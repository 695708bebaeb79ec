"""What the hidden inputs decide is computed once for a class, and anew under another salt."""

import pytest

from autograder.grading import diagnosis
from autograder.questions.engine.answers import answers_of
from autograder.testing import run

LAB = "07_self_attention"


@pytest.fixture(autouse=True)
def fresh():
    before = run._salt
    run.set_salt("one salt")
    yield
    run.set_salt("no salt at all")
    run.set_salt(before)


def test_a_wrong_answer_is_judged_only_until_it_is_told_from_the_student_s(monkeypatch):
    question, *_ = run.tests_of(LAB)
    wrong, *others = answers_of(LAB)["misconception"][question]
    runs = run.run_question(LAB, question, run.student_with_answer(LAB, question, wrong.function))
    ran = counted(monkeypatch)
    found = diagnosis.diagnose(LAB, question, runs)
    assert found is not None and found.name == wrong.name
    assert len(runs) < len(ran) < len(runs) * (1 + len(others))
    ran.clear()
    assert diagnosis.diagnose(LAB, question, runs) is found
    assert not ran


def counted(monkeypatch):
    """The names of the tests that a misconception runs from now on."""
    ran: list[str] = []

    def counting(test, student):
        ran.append(test.name)
        return run.run_test(test, student)

    monkeypatch.setattr(diagnosis, "run_test", counting)
    return ran
