"""A function of an earlier lab comes into a later one with all that it needs, or a line says why not."""

from __future__ import annotations

from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import torch
from coursekit.checks.earlier_labs import definitions, mine, on_tensors, provided

_MASK = "import numpy as np\n\ndef causal_mask(T):\n    return np.tri(T, dtype=bool)"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A folder of labs: call it with a lab's name and its cells to write that lab's notebook."""
    (tmp_path / "12_translator").mkdir()
    monkeypatch.chdir(tmp_path / "12_translator")

    def write(lab, *cells):
        notebook = nbformat.v4.new_notebook()
        for cell in cells:
            source, tags = cell if isinstance(cell, tuple) else (cell, [])
            notebook.cells.append(nbformat.v4.new_code_cell(source, metadata={"tags": tags}))
        (tmp_path / lab).mkdir()
        nbformat.write(notebook, tmp_path / lab / f"{lab}.ipynb")
        return tmp_path / lab / f"{lab}.ipynb"

    return write


@pytest.mark.parametrize(
    ("helpers", "allowed"),
    [
        ("INF = -np.inf", "i - j > INF if j <= i else False"),
        ("if True:\n    def before(j, i):\n        return j <= i", "before(j, i)"),
        ("TABLE = np.zeros((256, 256))\nfor n in range(256):\n    TABLE[n, : n + 1] = 1", "TABLE[i, j] == 1"),
        (
            "from __future__ import annotations\nfrom dataclasses import dataclass\n"
            "@dataclass\nclass Pair:\n    i: int\n    j: int | None = None",
            "Pair(i, j).j <= i",
        ),
        ("%time\nWIDTH = 256", "j <= i < WIDTH"),
    ],
)
def test_helpers_of_any_kind_come_along(course, capsys, helpers, allowed):
    body = f"return np.array([[bool({allowed}) for j in range(T)] for i in range(T)])"
    course("07_self_attention", "import numpy as np", helpers, f"def causal_mask(T):\n    {body}")
    assert np.array_equal(mine("07", "causal_mask")(3), np.tri(3, dtype=bool))
    assert capsys.readouterr().out == "○ causal_mask: your own, from lab 07.\n"


def test_only_what_a_function_needs_is_run(course):
    path = course(
        "07_self_attention",
        _MASK,
        'figure = open("drawn", "w")',
        ('triangle = open("trained", "w")\ndef half(T):\n    return T // 2', ["skip-grading"]),
        "def both(T):\n    return causal_mask(T), half(T)",
    )
    namespace, missing = definitions(path, "both")
    assert namespace["both"](4)[1] == 2 and missing == []
    assert [file for file in path.parents[1].rglob("*") if file.is_file()] == [path]


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("def causal_mask(T):\n    raise NotImplementedError()", "yours is not written yet"),
        ("def causal_mask(T):\n    return [[True]]", "yours does not pass its public checks yet"),
        ("def another(T):\n    return [[True]]", "your notebook of lab 07 does not define it"),
        ("def causal_mask(T):\n    return [[KIND]]", "yours needs KIND, which could not be made from your notebook of lab 07"),
    ],
)  # fmt: skip
def test_the_courses_version_steps_in_and_says_why(course, capsys, cell, why):
    course("07_self_attention", cell)
    assert mine("07", "causal_mask").__module__ == "coursekit.provided.p07_self_attention"
    assert capsys.readouterr().out == f"○ causal_mask: the course's version ({why}).\n"


def test_what_a_notebook_has_of_its_own_from_earlier_labs_is_said_in_one_line(course, capsys):
    sines = "def sinusoidal(T, D, base=1e4):\n    raise NotImplementedError()"
    uses = "from coursekit.checks.earlier_labs import mine\nsinusoidal = mine('06', 'sinusoidal')"
    course("06_positions", sines)
    course("07_self_attention", uses, _MASK + " & (sinusoidal(T, 2)[:, :1] < 2)")
    mine("07", "causal_mask")
    assert capsys.readouterr().out == (
        "○ causal_mask: your own, from lab 07, with the course's sinusoidal (yours is not written yet).\n"
    )


def test_a_lab_is_graded_by_itself_whatever_lies_beside_it(course, monkeypatch):
    course("07_self_attention", _MASK)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert mine("07", "causal_mask").__module__ == "coursekit.provided.p07_self_attention"


def test_a_numpy_function_of_a_student_takes_tensors_and_gives_tensors_of_their_kind(course):
    body = "    weights = np.ones((q.shape[-2], k.shape[-2])) / k.shape[-2]\n    return weights @ v, weights"
    notebook = course("07_self_attention", "import numpy as np", f"def averages(q, k, v):\n{body}")
    names, _ = definitions(notebook, "averages")
    q, v = torch.ones(1, 2), torch.tensor([[1.0, 3.0], [5.0, 7.0]], requires_grad=True)
    output, weights = on_tensors(names["averages"])(q, torch.ones(2, 2), v)
    assert output.tolist() == [[3.0, 5.0]] and output.dtype == torch.float32 and not output.requires_grad
    assert weights.tolist() == [[0.5, 0.5]] and weights.dtype == torch.float32
    own = provided("07", "scaled_dot_product_attention")
    assert on_tensors(own) is own, "the course's own version takes tensors as it is"


@pytest.mark.parametrize(
    ("lab", "source", "asked", "kind"),
    [
        ("00_warm_up", "def softmax(x, axis=-1):\n    return [Fraction(1, 2)] * 2", [1.0, 1.0], np.ndarray),
        ("07_self_attention", "def causal_mask(T):\n    return [[True], [True]]", 2, torch.Tensor),
    ],
)
def test_lists_become_what_the_courses_own_version_returns(course, monkeypatch, lab, source, asked, kind):
    monkeypatch.setattr("coursekit.checks.earlier_labs.judge", lambda *_: SimpleNamespace(passed=True))
    course(lab, "from fractions import Fraction", source)
    function = mine(lab[:2], source[4:].partition("(")[0])
    assert function.__module__.startswith("own_")
    result = function(asked)
    assert isinstance(result, kind) and result.dtype != object
