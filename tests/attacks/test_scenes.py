"""What a hidden test expects is never asked of the sandbox, where the student's code can make it up."""

import tomllib
from pathlib import Path

import pytest

from autograder.course.masters import lab_name, solution
from autograder.judging.run import run_question
from autograder.sandbox.host.student import Student

SCENES = tomllib.loads(Path(__file__).with_name("scenes.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCENES)
def test_what_an_answer_makes_up_is_noticed(name):
    scene = SCENES[name]
    lab, question = lab_name(scene["lab"]), scene["question"]
    namespace = dict(solution(lab))
    exec(scene["source"], namespace)
    runs = run_question(lab, question, Student.local_namespace(namespace, question))
    passed = {run.test.name: run.result.passed for run in runs}
    if "only" in scene:
        assert [test for test, right in passed.items() if not right] == scene["only"]
    else:
        asked = [test for test in passed if any(text in test for text in scene["fails"])]
        assert len(asked) >= 2 and not any(passed[test] for test in asked), passed
