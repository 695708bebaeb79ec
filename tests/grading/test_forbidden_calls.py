"""Library functions that a question asks to write are found, and honest code is not accused."""

from __future__ import annotations

import pytest
from coursekit.checks.forbidden_calls import used_in

NAMES = ("torch.softmax", "torch.nn.functional.softmax", "Tensor.softmax", "scipy.special.softmax")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ndef f(x): return torch.softmax(x, -1)", "torch.softmax"),
        ("import torch.nn.functional as F\ndef f(x): return F.softmax(x, -1)", "torch.nn.functional.softmax"),
        (
            "from torch.nn import functional as fun\nf = lambda x: fun.softmax(x)",
            "torch.nn.functional.softmax",
        ),
        ("from torch.nn.functional import softmax as s\nf = s", "torch.nn.functional.softmax"),
        ("import torch as t\ndef f(x): return t.nn.functional.softmax(x)", "torch.nn.functional.softmax"),
        ("def f(x): return x.softmax(-1)", "Tensor.softmax"),
        ("from scipy import special\ndef f(x): return special.softmax(x)", "scipy.special.softmax"),
    ],
)
def test_a_forbidden_function_is_found_however_it_is_imported(source, found):
    assert found in used_in(source, NAMES)


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\ndef softmax(x):\n    e = np.exp(x - x.max())\n    return e / e.sum()",
        "def g(x): return softmax(x)",
        "# torch.softmax would do it\n'torch.softmax'",
        "def f(:",
    ],
)
def test_own_work_is_not_accused(source):
    assert used_in(source, NAMES) == ()


def test_a_local_name_is_not_taken_for_a_variable_of_a_demonstration_cell():
    from coursekit.checks.api import forbidden_calls

    from autograder.course.masters import lab_name
    from autograder.course.policy_file import spec
    from autograder.grading.forbidden_calls import forbidden_used

    lab = lab_name("07")
    question = next(name for name, _ in spec(lab).questions if forbidden_calls(lab, name))
    forbidden = next(
        name for name in forbidden_calls(lab, question) if name.count(".") >= 1 and "Tensor" not in name
    )
    module, _, function = forbidden.rpartition(".")
    demo = f"import {module} as library\nresult = library.{function}(1)"
    honest = f"def {question}(q):\n    result = q + 1\n    return result"
    assert forbidden_used(lab, question, [demo, honest]) == ()
    assert forbidden in forbidden_used(lab, question, [demo, f"def {question}(q):\n    return result"])
