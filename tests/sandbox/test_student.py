"""What a hidden test can ask of a student's function: the same in this process and in the sandbox."""

import numpy as np
import pytest
import torch

from autograder.sandbox.host.student import BadReply, Student, StudentError, StudentGone

from .conftest import CELLS

pytestmark = pytest.mark.xdist_group("sandbox")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("notebook") / "notebook.py"
    path.write_text(CELLS["library"])
    namespace = {"__name__": "notebook"}
    exec(compile(CELLS["library"], str(path), "exec"), namespace)
    return namespace


@pytest.fixture(params=["in this process", "in the sandbox"])
def student(request, library):
    if request.param == "in this process":
        yield lambda name: Student.local_namespace(library, name)
    else:
        with request.getfixturevalue("zygote").session() as session:
            [outcome] = session.run_cells([("notebook", CELLS["library"])])
            assert outcome.status == "ok", outcome.error
            yield session.student


def test_a_call_returns_the_value_and_changed_arguments_are_named_and_stay_unchanged_here(student):
    x = np.arange(6.0).reshape(2, 3)
    softmax, careless = student("softmax"), student("careless")
    np.testing.assert_allclose(softmax(x, axis=0).sum(0), 1)
    assert softmax.mutated == ()
    x, words, options = np.zeros(3), [["a"], ["b"], ["c"]], {}
    careless(x, words, options=options, names={f"w{i}" for i in range(40)})  # which have another order there
    assert careless.mutated == ("the first argument", "the second argument", "the argument options")
    assert x[0] == 0 and words[1] == ["b"] and options == {}


def test_a_function_argument_is_called_back_here_and_may_call_the_student_in_turn(student):
    seen, softmax = [], student("softmax")

    def step(n):
        seen.append(n)
        return (n - 1 if n else None), 10 * n

    assert student("search")(step, 3) == 60
    assert seen == [3, 2, 1, 0]
    halves = student("search")(lambda x: (None, float(softmax(np.array([x, x]))[0])), 1.0)
    assert halves == 0.5
    assert student("apply")(softmax, np.zeros(2)).tolist() == [0.5, 0.5]


def test_a_function_of_an_earlier_test_cannot_be_called_any_more(student):
    keeper = student("keep_it")
    assert keeper(lambda n: 7 * n) == 7
    keeper.start_trace()  # the next test begins
    with pytest.raises((StudentGone, StudentError), match="not given"):
        keeper(None)


def test_a_wrong_use_of_a_callback_is_the_students_error_and_a_failed_assertion_in_it_is_the_tests(student):
    with pytest.raises(StudentError) as caught:
        student("search")(lambda: None, 3)
    assert caught.value.type_name == "TypeError"
    assert student("patient")(lambda x: x) == "TypeError", "it can be caught there"

    def step():
        raise AssertionError("the state is wrong")

    with pytest.raises(AssertionError, match="the state is wrong"):
        student("patient")(step)


def test_an_error_shows_the_students_own_frames_and_another_type_is_named_even_an_error(student):
    with pytest.raises(StudentError) as caught:
        student("broken")(1)
    assert caught.value.type_name == "NameError"
    [frame] = caught.value.frames
    assert (frame.cell, frame.source.strip()) == ("notebook", "return y / undefined")
    with pytest.raises(StudentError, match="NameError: name 'soft_max' is not defined"):
        student("soft_max")(1)
    with pytest.raises(BadReply, match=r"returned a value of type (notebook\.)?Foo"):
        student("stranger")()
    with pytest.raises(BadReply) as caught:
        student("returns_its_error")()
    assert caught.value.type_name == "ValueError"
    with pytest.raises(TypeError, match="a test cannot pass"):
        student("softmax")(object())


def test_what_one_answer_sets_for_its_process_changes_no_other_answer(zygote):
    with zygote.session() as session:
        [outcome] = session.run_cells([("notebook", CELLS["settings"])])
        assert outcome.status == "ok", outcome.error
        for _ in range(2):
            gradients = session.student("square").gradients([torch.ones(2)])
            assert torch.equal(gradients.inputs[0], torch.full((2,), 2.0))
            assert session.student("careful")() == ("torch.float64", 0.0, -np.inf), "as the notebook left it"
            assert session.student("careless")() == 1
