"""Every lab: a class of which each notebook has an ordinary accident, and each answer once is missing, endless or no Python."""

from __future__ import annotations

import nbformat
import pytest

from autograder.course.masters import all_labs, solution_sources
from autograder.course.policy_file import spec
from autograder.grading.repair import Template
from autograder.run.pipeline import run
from tests.grading import accidents
from tests.grading.accidents import answer, delete, forget_ids, forget_names, insert, position, put, stub

#: The grader's rules are one for all labs, and ``test_ordinary_accidents`` breaks each of them in lab 01.
pytestmark = pytest.mark.proof


def whole(questions: list[str], check_of: dict[str, str]) -> dict[str, list[accidents.Accident]]:
    """What costs nothing, in a lab of these questions."""
    first, middle, last = questions[0], questions[len(questions) // 2], questions[-1]
    ends = {
        "names": "np = None\ntorch = None\nlen = sum = range = zip = list = max = min = 0",
        "reset": "%reset -f",
        "settings": "import numpy as np, warnings\nwarnings.simplefilter('error')\nnp.seterr(all='raise')\n1 / 0",
        "functions": "import numpy as np\nnp.zeros = np.exp = np.log = np.sum = None",
        "types": "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)",
    }
    begins = ("print(1)", "import nltk", "!pip install nltk", "input('name')", "import sys\nsys.exit()")
    return {
        **{f"ends with other {name}": [insert(code)] for name, code in ends.items()},
        "begins badly": [insert(code, before=first) for code in begins],
        "a new last cell": [stub(middle), insert(answer(middle))],
        "in the check cell": [stub(middle), put(check_of[middle], lambda c: f"{answer(middle)}\n\n{c}")],
        "in place of the check": [stub(first), put(check_of[first], answer(first))],
        "cells gone": [delete(middle, check_of[middle]), insert(answer(middle))],
        "tabs and line ends": [
            put(middle, lambda c: (c.replace("    ", "\t") + "\n   ").replace("\n", "\r\n")),
            put(last, lambda c: "%%time\n" + c),
        ],
        "no names": [forget_names],
        "no names, from back to front": [forget_names, lambda made: made.cells.reverse()],
        "no ids": [forget_ids],
        "all at the end": [*map(stub, questions), insert("\n\n\n".join(map(answer, questions)))],
        "a loop below": [put(middle, lambda c: f"{c}\n\n\nwhile True:\n    pass")],
        "an exit below": [put(middle, lambda c: c + "\nimport os\nos._exit(0)")],
        "a line left": [put(middle, lambda c: c + "\n    raise NotImplementedError()")],
        "moved": [lambda made: made.cells.append(made.cells.pop(position(made, first)))],
    }


def lost(question: str) -> dict[str, list[accidents.Accident]]:
    """What costs one question, and no other."""
    return {
        f"nothing returned: {question}": [put(question, f"def {question}(*a, **k):\n    return None")],
        f"endless: {question}": [
            put(
                question, f"def {question}(*a, **k):\n    import time\n    while True:\n        time.sleep(1)"
            )
        ],
        f"no Python: {question}": [put(question, lambda c: c + "\n\n\nx = 3 − 1")],
        f"deleted: {question}": [delete(question)],
    }


@pytest.mark.parametrize("lab", all_labs())
def test_an_accident_costs_what_the_answer_loses_and_no_more(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(accidents, "LAB", lab)
    questions = list(solution_sources(lab))
    class_ = dict.fromkeys(whole(questions, Template.of(lab).test_of), "") | {
        name: question for question in questions for name in lost(question)
    }
    made = whole(questions, Template.of(lab).test_of) | {
        name: accident for question in questions for name, accident in lost(question).items()
    }
    for number, done in enumerate(made.values()):
        path = tmp_path / "submitted" / f"s{number:03}" / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(nbformat.writes(accidents.notebook(*done)))
    results = run(lab, tmp_path / "submitted", tmp_path / "out", jobs=2).results
    assert {q for q, _ in spec(lab).questions} == {*questions}
    for result, (name, question) in zip(results, class_.items(), strict=True):
        less = [q.name for q in result.questions if q.points < q.max_points]
        assert less == ([question] if question else []), (name, result.notes)
