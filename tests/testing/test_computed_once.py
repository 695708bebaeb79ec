"""What the hidden inputs decide is computed once for a class, and anew under another salt."""

from types import SimpleNamespace

import pytest

from autograder.course.policy_file import spec
from autograder.grading import diagnosis
from autograder.questions.engine.answers import answers_of
from autograder.run import local_engine
from autograder.testing import run

LAB = "07_self_attention"


@pytest.fixture(autouse=True)
def fresh():
    before = run._salt
    run.set_salt("one salt")
    yield
    run.set_salt("no salt at all")
    run.set_salt(before)


def test_before_the_workers_are_copied_the_wrong_answers_are_judged_under_the_class_s_salt(monkeypatch):
    monkeypatch.setattr(local_engine, "sys", SimpleNamespace(modules={}))  # other tests import PyTorch
    local_engine.prepare(SimpleNamespace(lab=LAB, settings=SimpleNamespace(salt="the class's salt")))
    ran = counted(monkeypatch)
    run.set_salt("the class's salt")
    for question, _ in spec(LAB).questions:
        assert [list(known.runs()) for known in diagnosis.known_answers(LAB, question)]
    assert not ran
    run.set_salt("an attempt's salt")
    assert diagnosis.known_answers.cache_info().currsize == 0


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
