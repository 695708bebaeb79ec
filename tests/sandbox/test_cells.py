"""Honest notebooks: what works in JupyterLab works here."""

import base64

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.sandbox.child import shell

pytestmark = pytest.mark.xdist_group("sandbox")


def texts(outcome):
    return [
        output.get("text") or output.get("data", {}).get("text/plain") or output["ename"]
        for output in outcome.outputs
    ]


#: Cells, and what each prints; None where that is another thing each time. The first asks for a generator that nobody used yet.
HONEST = (
    ("import random\nrandom.random() == random.Random(0).random()", ["True"]),
    ("!echo hello", ["hello\n"]),
    ("files = !echo a b\nfiles", ["['a b']"]),
    ("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);", ["<Figure size 640x480 with 1 Axes>"]),
    ("%matplotlib widget\n1", ["1"]),
    ("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\nplt.get_fignums()", None),
    ("%%time\nx = 2\nx", None),
    ("%timeit -n1 -r1 1", None),
    ("%autosave 60\n%clear\n1", ["1"]),
    ("%%capture out\nprint(1)", []),
    ("import asyncio\nawait asyncio.sleep(0.001)\n3", ["3"]),
    ("1;", []),
    ("a = 5\na\na + 1", ["6"]),
    ("print(1)\nprint(2)\n3", ["1\n2\n", "3"]),
    ("import sys\nprint('w', file=sys.stderr)", ["w\n"]),
    ("import warnings\nwarnings.warn('careful')", None),
    ("import subprocess\nsubprocess.run(['echo', 'x'], capture_output=True, text=True).stdout", ["'x\\n'"]),
    ("import os\nos.system('echo out')\nNone", ["out\n"]),
    ("import tempfile\nwith tempfile.NamedTemporaryFile('w+') as f:\n    f.write('x')\nNone", []),
    ("import threading\nt = threading.Thread(target=print, args=('t',)); t.start(); t.join()", ["t\n"]),
    ("from concurrent.futures import ThreadPoolExecutor as T\nwith T(4) as t: print(sum(t.map(abs, range(9))))", ["36\n"]),
    ("import multiprocessing as m\nwith m.get_context('fork').Pool(2) as p: print(p.map(abs, [-1]))", ["[1]\n"]),
    ("import torch\nx = torch.randn(50, 50, requires_grad=True)\n(x @ x).sum().backward()\nx.grad.shape", ["torch.Size([50, 50])"]),
    ("import torch\nfrom torch.utils.data import DataLoader\nlen(list(DataLoader(torch.arange(8), batch_size=2)))", ["4"]),
    ("import sqlite3, json, csv, re, collections, dataclasses, typing, functools\n1", ["1"]),
    ("import pathlib\npathlib.Path('data/names.txt').read_text()", ["'emma\\n'"]),
    ("import numpy as np\nnp.savez('x.npz', a=np.ones(2)); np.load('x.npz')['a']", ["array([1., 1.])"]),
    ("import time, os\nos.getlogin if False else os.cpu_count() > 0", ["True"]),
    ("import pickle\nclass A: pass\ntype(pickle.loads(pickle.dumps(A()))).__name__", ["'A'"]),
    ("from IPython.display import clear_output\nprint(1)\nclear_output()\nprint(2)", ["2\n"]),
    ("import ipywidgets\nipywidgets.interact(lambda x: x, x=3);", None),
    ("_ih[-1][:4], get_ipython().__class__.__name__", None),
    ("import logging\nlogging.warning('log')", ["WARNING:root:log\n"]),
    ("open('my_helper.py', 'w').write('x = 7')\nimport my_helper\nmy_helper.x", ["7"]),
    ("from coursekit.time_limit import TookTooLong, within\ntry: within(0.2, lambda: [None for _ in iter(int, 1)])\nexcept TookTooLong: print('stopped')", ["stopped\n"]),
)  # fmt: skip


def test_what_notebooks_do_works(session):
    [outcome] = session.run_cells([("a", "sorted(n for n in globals() if not n.startswith('_'))")])
    assert texts(outcome) == ["['In', 'Out', 'exit', 'get_ipython', 'open', 'quit']"], (
        "nothing of the harness"
    )
    outcomes = session.run_cells([(str(number), source) for number, (source, _) in enumerate(HONEST)])
    assert {
        source: outcome.error for (source, _), outcome in zip(HONEST, outcomes, strict=True) if outcome.error
    } == {}
    for (source, printed), outcome in zip(HONEST, outcomes, strict=True):
        assert outcome.status == "ok" and (printed is None or texts(outcome) == printed), source


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
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(
                "", outputs=[nbformat.from_dict(dict(output)) for output in outcome.outputs]
            )
            for outcome in outcomes
        ]
    )
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


def test_a_function_may_print_whatever_the_last_cell_printed(session):
    shout = "import sys\ndef {0}(x):\n    print(x, file=sys.{0})\n    return x\nprint('the last word', file=sys.{0})"
    outcomes = session.run_cells([(stream, shout.format(stream)) for stream in ("stdout", "stderr")])
    assert [session.student(stream)(number) for stream in ("stdout", "stderr") for number in (1, 2)] == [
        1,
        2,
    ] * 2
    assert [texts(outcome) for outcome in outcomes] == [["the last word\n"]] * 2


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
