"""Library functions that a question asks to write are found, and honest code is not accused."""

from __future__ import annotations

import time

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


READY_MADE = (
    "str.encode",
    "torch.nn.functional.cross_entropy",
    "torch.optim.Adam",
    "torch.nn.functional.scaled_dot_product_attention",
)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f(c): return bytes(chr(c), "utf-8")', "str.encode"),
        ('def f(c): return bytearray(chr(c), encoding="utf-8")', "str.encode"),
        (
            "import torch\ndef f(x, y): return torch._C._nn.cross_entropy_loss(x, y)",
            "torch.nn.functional.cross_entropy",
        ),
        ("from torch.optim.adam import adam\ndef f(p): adam([p])", "torch.optim.Adam"),
        ("import torch\ndef f(p): torch.optim._functional.adam([p])", "torch.optim.Adam"),
        ("import torch\ndef f(p): torch._fused_adam_([p])", "torch.optim.Adam"),
        (
            "import torch\ndef f(q): return torch._scaled_dot_product_attention_math(q, q, q)",
            "torch.nn.functional.scaled_dot_product_attention",
        ),
        (
            "import torch\ndef f(q): return torch._C._nn._scaled_dot_product_attention(q, q, q)",
            "torch.nn.functional.scaled_dot_product_attention",
        ),
    ],
)
def test_the_ready_made_functions_of_a_librarys_inside_are_found(source, found):
    assert found in used_in(source, READY_MADE)


@pytest.mark.parametrize(
    "source",
    [
        "def f(c): return bytes([c])",
        "def f(c): return bytearray(3) + bytes((c, c))",
        "import torch\ndef f(x): return torch.special.entr(x)",
        "import torch\nclass F(torch.nn.Module):\n    def __init__(self): super().__init__()",
    ],
)
def test_other_functions_of_the_same_kind_are_not_accused(source):
    assert used_in(source, READY_MADE) == ()


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


LENGTH = 199_000


def _filled(line: str, end: str = "") -> str:
    return "\n".join([line] * (LENGTH // (len(line) + 1))) + end


#: Cells that kept the reader busy for ten seconds to six minutes, and their kin.
LONG_TO_READ = {
    "spaces": " " * LENGTH,
    "tabs before a name": "\t" * LENGTH + "x",
    "spaces before a question mark and a comment": " " * LENGTH + "#?",
    "an equals sign after spaces": "x" + " " * LENGTH + "=" + " " * LENGTH,
    "spaces after a magic": "%time" + " -a" * (LENGTH // 3),
    "nested brackets and bad lines": _filled("x = " + "[" * 190 + "]" * 190, "\nx =" * 50),
    "nested calls and bad lines": _filled("f(" * 90 + ")" * 90, "\nx =" * 50),
    "a long chain of attributes": "import torch\ndef scaled_dot_product_attention():\n"
    + _filled(" torch" + ".a" * 2500),
    "quotes that never end, on one line": "?" + "\"f'\\" * 15_000,
    "a line that is asked about, between odd characters": "?\x85" * 30_000 + "\0def f(): " * 6_000,
    "names on end": "a=" * (LENGTH // 2),
}


@pytest.mark.parametrize("kind", LONG_TO_READ)
def test_no_cell_keeps_the_reader_busy(kind):
    from autograder.course.masters import lab_name
    from autograder.grading.forbidden_calls import TooLongToRead, forbidden_used

    began = time.process_time()
    try:
        found = forbidden_used(lab_name("07"), "scaled_dot_product_attention", [LONG_TO_READ[kind]])
    except TooLongToRead:
        found = ()
    assert found == ()
    assert time.process_time() - began < 6


def test_code_that_would_be_read_too_often_is_said_to_be_unread():
    from autograder.course.masters import lab_name
    from autograder.grading.forbidden_calls import TooLongToRead, forbidden_used

    with pytest.raises(TooLongToRead):
        forbidden_used(lab_name("07"), "scaled_dot_product_attention", [_filled("!ls")])


def test_reading_code_says_nothing_on_the_terminal(recwarn):
    from autograder.course.masters import lab_name
    from autograder.grading.forbidden_calls import forbidden_used

    assert (
        forbidden_used(lab_name("07"), "scaled_dot_product_attention", ["x = 1if 2else '\\d'\nx is 3"]) == ()
    )
    assert list(recwarn) == []


HONEST = [
    "import torch\ndef f(x):\n    parts = {'softmax': x.exp()}\n    return parts['softmax'] / parts.get('softmax').sum()",
    "import torch\nclass A(torch.nn.Module):\n    def forward(self, x):\n        return getattr(self, 'scale', 1) * x",
    "import torch\ndef f(x):\n    assert isinstance(x, torch.Tensor)\n    return torch.special.logit(x)",
    "import numpy as np\ndef f(x):\n    print(f'softmax of {x}')\n    return np.exp(x)",
]


@pytest.mark.parametrize("source", HONEST)
def test_honest_code_that_names_or_fetches_something_else_is_not_accused(source):
    assert used_in(source, NAMES) == ()


def test_a_course_may_have_a_hit_cost_the_points_at_once(monkeypatch):
    from autograder.course.policy import Settings

    assert Settings().forbidden == "ask"
    assert Settings(forbidden="zero").forbidden == "zero"
    with pytest.raises(ValueError, match="forbidden"):
        Settings(forbidden="shoot")


def test_a_method_of_ones_own_is_not_the_librarys():
    own = (
        "class Layer:\n    def softmax(self, x):\n        return x\ndef f(x):\n    return Layer().softmax(x)"
    )
    assert used_in(own, ("Tensor.softmax",)) == ()
    assert used_in("def f(x):\n    return x.softmax(-1)", ("Tensor.softmax",)) == ("Tensor.softmax",)


def test_the_mask_that_lies_in_a_forbidden_class_is_no_use_of_it():
    mask = "from torch import nn\nmask = nn.Transformer.generate_square_subsequent_mask(3)"
    assert used_in(mask, ("torch.nn.Transformer",)) == ()
    assert used_in("from torch import nn\nmodel = nn.Transformer(8)", ("torch.nn.Transformer",)) != ()


FUNCTIONAL = "import torch.nn.functional as F\n"


@pytest.mark.parametrize(
    "source",
    [
        FUNCTIONAL + "name = 'softmax'\ndef f(x): return getattr(F, name)(x)",
        FUNCTIONAL
        + "def f(x):\n    for name in ('relu', 'softmax'):\n        x = getattr(F, name)(x)\n    return x",
        FUNCTIONAL + "def get(name): return getattr(F, name)\ndef f(x): return get('softmax')(x)",
        FUNCTIONAL + "def f(x, name='softmax'): return getattr(F, name)(x)",
        FUNCTIONAL + "get = lambda name: vars(F)[name]\ndef f(x): return get('softmax')(x)",
        FUNCTIONAL
        + "class A:\n    def __init__(self, name): self.name = name\n    def go(self, x): return getattr(F, self.name)(x)\nA('softmax')",
        FUNCTIONAL + "def f(x): return F.__dict__.get('softmax')(x)",
        FUNCTIONAL + "def use(home, x): return getattr(home, 'softmax')(x)\ndef f(x): return use(F, x)",
        FUNCTIONAL + "def f(x): return [(G := F), x][1] + G.softmax(x)",
        FUNCTIONAL + "def f(x): return F.relu.__globals__['softmax'](x)",
        "code = 'import torch.nn.functional as F'\nexec(code)\ndef f(x): return F.softmax(x)",
        "def f(x): return __import__('torch').nn.functional.softmax(x)",
        "def f(x): return eval('__import__(\"torch\")').nn.functional.softmax(x)",
        "from sys import modules\ndef f(x): return modules['torch.nn.functional'].softmax(x)",
        "def f(x):\n    import torch.nn.functional as G\n    def g(): return G.softmax(x)\n    return g()",
    ],
)
def test_a_text_that_comes_to_what_fetches_by_it_is_found(source):
    assert "torch.nn.functional.softmax" in used_in(source, NAMES)


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef f(x):\n    'What they call torch.softmax'\n    return getattr(x, 'shape', None)",
        "import torch, re\npattern = re.compile('softmax')\ndef f(x): return 'softmax', pattern, vars(x)",
        "import torch\ndef f(x): return torch.exp(getattr(x, 'softmax_', x)), 'softmax'",
        "import torch\ndef f(self): return 'softmax', self.__dict__['softmax'], [*self.modules()]",
        "def f(x):\n    def g():\n        from scipy.special import softmax\n    softmax = x\n    return softmax",
        "from scipy.special import softmax\ndef f(softmax): return softmax + 1",
        "from scipy.special import softmax\ndef f(x): return [softmax for softmax in x]",
        "from types import SimpleNamespace as Box\nbox = Box(softmax=abs)\ndef f(x): return box.softmax(x)",
        "def f(x): return x\nf.softmax = True",
    ],
)
def test_a_name_has_a_scope_and_a_text_that_nothing_fetches_by_is_a_text(source):
    assert used_in(source, NAMES) == ()


def test_a_variable_is_not_what_the_notebook_imports_under_its_name():
    from torch import softmax

    source = "def f(x):\n    softmax = x + 1\n    return softmax"
    assert used_in(source, NAMES, {"softmax": softmax}) == ()
    assert used_in("def f(x): return softmax(x)", NAMES, {"softmax": softmax})


OWN = "def softmax(x):\n    e = np.exp(x)\n    return e / e.sum()"
READY = "def softmax(x):\n    return special.softmax(x)"
KEPT = "__graded_softmax__ = globals().get('softmax')"


@pytest.mark.parametrize(
    ("cells", "is_used"),
    [
        (["from scipy import special", READY, OWN], False),
        (["from scipy import special", OWN, READY], True),
        (["from scipy import special", OWN, KEPT, READY], False),
        (["from scipy import special", READY, KEPT, OWN], True),
        ([OWN, "from scipy.special import softmax"], True),
        ([OWN, "from scipy.special import *"], True),
        (["from scipy.special import *", OWN], False),
        (["from scipy.special import *\nlibrary = softmax\ndef softmax(x): return library(x)"], True),
        (["from scipy import special", READY, f"try:\n    {OWN.replace(chr(10), chr(10) + '    ')}\nfinally:\n    pass"], False),
        (["from scipy import special", READY, f"if fast:\n    {OWN.replace(chr(10), chr(10) + '    ')}"], True),
        ([OWN, "from scipy import special\nfor x in (1, 2):\n    expected = special.softmax(x)"], False),
        ([OWN + "\nfrom scipy import special\nsoftmax.other = special.softmax"], False),
        (["from scipy import special\ndef softmax(x): return softmax.other(x)\nsoftmax.other = special.softmax"], True),
        (["from scipy import special\ndef choose():\n    global lib\n    lib = special.softmax\nchoose()\ndef softmax(x): return lib(x)"], True),
        (["from scipy import special\nwith open('x') as f:\n    lib = special.softmax\ndef softmax(x): return lib(x)"], True),
        (["from scipy import special\nlib = special.softmax\n%time lib = abs\ndef softmax(x): return lib(x)"], False),
        (["x = softmax\n" * 3 + OWN + "\nx += 1"], False),
    ],
)  # fmt: skip
def test_what_a_name_stands_for_when_it_is_called_counts(cells, is_used):
    from autograder.grading.forbidden_calls import forbidden_used

    assert bool(forbidden_used("00_warm_up", "softmax", cells)) is is_used


def test_twins_of_a_forbidden_function_are_on_its_list():
    from coursekit.checks.api import forbidden_calls

    from autograder.grading.forbidden_calls import forbidden_used

    twins = {
        ("00_warm_up", "softmax"): ["torch.nn.Softmin", "torch.distributions.OneHotCategorical", "sklearn.utils.extmath.softmax"],
        ("00_warm_up", "logsumexp"): ["torch.nn.functional.log_softmax", "torch.logcumsumexp", "numpy.logaddexp2"],
        ("00_warm_up", "cross_entropy"): ["torch.distributions.Categorical"],
        ("04_tokenizer", "utf8_encode"): ["codecs.iterencode", "urllib.parse.urlencode", "os.fsencode", "pickle.dumps"],
        ("05_word2vec", "cbow_backward"): ["torch.func.linearize", "torch.func.hessian", "torch.func.grad", "torch.func.vjp"],
        ("06_positions", "binary_code"): ["numpy.base_repr"],
        ("09_blocks", "LayerNorm"): ["torch.nn.GroupNorm", "torch.group_norm", "torch.nn.functional.instance_norm"],
    }  # fmt: skip
    for (lab, question), names in twins.items():
        for name in names:
            module, _, leaf = name.rpartition(".")
            cell = f"import {module} as library\ndef {question}(x): return library.{leaf}(x)"
            assert forbidden_used(lab, question, [cell]), name
            assert used_in(cell, forbidden_calls(lab, question)), name
