"""Honest notebooks: what works in JupyterLab works here."""

import base64

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.sandbox.child import shell

from .conftest import CELLS

pytestmark = pytest.mark.xdist_group("sandbox")


def texts(outcome):
    return [
        output.get("text") or output.get("data", {}).get("text/plain") or output["ename"]
        for output in outcome.outputs
    ]


def test_what_notebooks_do_works(session):
    [outcome] = session.run_cells([("a", "sorted(n for n in globals() if not n.startswith('_'))")])
    assert texts(outcome) == ["['In', 'Out', 'exit', 'get_ipython', 'open', 'quit']"], (
        "nothing of the harness"
    )
    outcomes = session.run_cells([(str(number), each["cell"]) for number, each in enumerate(CELLS["honest"])])
    assert {outcome.error for outcome in outcomes} == {""}
    for each, outcome in zip(CELLS["honest"], outcomes, strict=True):
        assert "printed" not in each or texts(outcome) == each["printed"], each["cell"]


def test_an_error_tells_where_in_the_students_own_frames_and_does_not_stop_the_next_cell(session):
    failing = "import numpy as np\ndef mean(x):\n    return np.linalg.norm(x, axis=7)\nmean([1])"
    first, outcome, last = session.run_cells([("a", "x = 1"), ("cell", failing), ("c", "z = x + 1\nz")])
    assert [one.status for one in (first, outcome, last)] == ["ok", "error", "ok"] and texts(last) == ["2"]
    assert (last.grade_id, last.index) == ("c", 2) and session.status is None
    assert outcome.error.startswith("AxisError: axis 7 is out of bounds")
    assert outcome.error.endswith("(line 3: return np.linalg.norm(x, axis=7))")
    trace = outcome.outputs[-1]["traceback"]
    assert trace[:4] == [
        "cell, line 4:",
        "    mean([1])",
        "cell, line 3:",
        "    return np.linalg.norm(x, axis=7)",
    ]
    assert not any("site-packages" in line for line in trace)


def test_a_cell_that_is_not_python_or_asks_for_input_is_an_error(session):
    sources = (
        "def f(:",
        "x = 1\n  y = 2",
        "x = 'abc",
        "!echo 'x",
        "%nomagic",
        "%%nomagic\nx",
        "name = input('name? ')",
    )
    *outcomes, last = session.run_cells([*((source[:5], source) for source in sources), ("last", "1")])
    assert [outcome.status for outcome in outcomes[:3]] == ["error"] * 3 and last.status == "ok"
    assert "input() cannot be answered when a notebook is graded" in outcomes[-1].error


def test_rich_outputs_are_valid_notebook_outputs(session):
    cells = [
        ("html", "from IPython.display import HTML, display\ndisplay(HTML('<b>x</b>'))"),
        ("png", "from IPython.display import Image\nImage(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(100))"),
        ("svg", "from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')"),
        ("check", "from coursekit import check\ncheck('softmax', True)"),
        ("error", "1 / 0"),
        ("surrogate", "print('\\ud800')"),
        (
            "frame",
            "class T:\n    def _repr_mimebundle_(self, **k):\n        return {'text/plain': 't', 'x/y': {'a': 1}}\nT()",
        ),
    ]
    outcomes = session.run_cells(cells)
    outputs = [[nbformat.from_dict(dict(output)) for output in outcome.outputs] for outcome in outcomes]
    cells = [nbformat.v4.new_code_cell("", outputs=each) for each in outputs]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()
    data = [outcome.outputs[0].get("data") for outcome in outcomes]
    assert data[0]["text/html"] == "<b>x</b>"
    assert base64.b64decode(data[1]["image/png"]).startswith(b"\x89PNG")
    assert "<svg" in data[2]["image/svg+xml"]
    assert data[3] == {}, "a type that notebooks need not know"
    assert data[6] == {"text/plain": "t"}


def test_the_same_cells_give_the_same_results_in_every_session(zygote):
    source = (
        "import random, numpy, torch\n"
        "print(random.random(), numpy.random.rand(), torch.rand(1).item(), list({'a', 'b', 'c', 'd'}), hash('x'))"
    )
    printed = []
    for _ in range(2):
        with zygote.session() as session:
            printed.append(texts(session.run_cells([("a", source)])[0]))
    assert printed[0] == printed[1]


PLAIN = ("x = 1", "def f(x):\n    return x % 2\n\n\nf(3)", "await g()", "'''\n%magic in a text\n'''", "")
CHANGED = (
    *("%time f()", "!ls", "f?", "x = !ls", "%%time\nf()", "  x = 1", "\nx = 1", ">>> f()", "In [1]: x", "f(", "x = 1\n  \n"),
    *("{\n...: 1}", "'a\u2028b'", "text = '''\n>>> f()\n'''", "In [1]: x\nf()", "f()\x0c", "def f():\n\\\n    pass"),
)  # fmt: skip


def test_plain_python_is_known_as_such_and_what_ipython_may_change_is_left_to_ipython():
    assert [source for source in PLAIN if not shell.is_plain_python(source)] == []
    for source in PLAIN:
        assert TransformerManager().transform_cell(source) == (
            source if source.endswith("\n") else source + "\n"
        )
    assert [source for source in CHANGED if shell.is_plain_python(source)] == []


def test_a_notebooks_own_transformer_is_obeyed(session):
    added = "def louder(lines):\n    return [line.replace('quiet', 'loud') for line in lines]\n\n\n"
    added += "get_ipython().input_transformers_cleanup.append(louder)"
    _, outcome = session.run_cells([("added", added), ("quiet", "'quiet'")])
    assert texts(outcome) == ["'loud'"]
