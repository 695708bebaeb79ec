"""Answers that use what their question forbids are flagged, also in the kit; honest work is not."""

from __future__ import annotations

import pytest
from coursekit.checks.api import forbidden_calls
from coursekit.checks.forbidden_calls import used_in
from torch import softmax

from autograder.course.masters import all_labs, lab_name, read_master
from autograder.course.policy_file import spec
from autograder.grading.off_limits import KIT_PARTS, forbidden_used, is_tool, may_use_kit, no_tools

NAMES = ("torch.nn.functional.softmax", "Tensor.softmax", "str.encode", "torch.nn.Transformer")
HOME = "coursekit.checks.symptoms"
QUESTION = "multi_head_attention"

FOUND = [
    ("import torch\ndef f(x): return torch.nn.functional.softmax(x, -1)", NAMES[0]),
    ("import torch.nn.functional as F\ndef f(x): return F.softmax(x, -1)", NAMES[0]),
    ("from torch.nn import functional\ndef f(x): return functional.softmax(x)", NAMES[0]),
    ("from torch.nn.functional import softmax as s\nf = s", NAMES[0]),
    ("from torch import nn\ndef f(x):\n    F = nn.functional\n    g = F.softmax\n    return g(x)", NAMES[0]),
    ("import torch\ndef f(x): return getattr(torch.nn.functional, 'softmax')(x)", NAMES[0]),
    ("import torch\ndef f(x): return torch.special.softmax(x, -1)", NAMES[0]),
    ("def f(x): return x.softmax(-1)", NAMES[1]),
    ("def f(x): return getattr(x, 'softmax')(-1)", NAMES[1]),
    ("def f(c): return bytes(chr(c), encoding='utf-8')", NAMES[2]),
    ("from torch import nn\nmodel = nn.Transformer(8)", NAMES[3]),
]
HONEST = [
    "import numpy as np\ndef softmax(x):\n    e = np.exp(x)\n    return e / e.sum()\ndef f(x): return softmax(x)",
    "# torch.softmax\ndef f(x):\n    'Like torch.softmax'\n    return {'softmax': x}['softmax']",
    "def f(:",
    "class Layer:\n    def softmax(self, x): return x\ndef f(x): return Layer().softmax(x)",
    "class Layer:\n    softmax = abs\ndef f(x): return Layer.softmax(x)",
    "from types import SimpleNamespace as Box\nbox = Box(softmax=abs)\ndef f(x): return box.softmax(x)",
    "def f(x): return x\nf.softmax = abs\nf.softmax(1)",
    "from scipy.special import softmax\ndef f(softmax): return softmax + 1",
    "from torch import softmax\ndef f(x): return [softmax for softmax in x]",
    "from torch import nn\nmask = nn.Transformer.generate_square_subsequent_mask(3)",
    "import torch\ndef f(x): return torch.exp(x) / bytes([3])[0]",
    "import torch\ndef f(x): return x" + ".a" * 5000,
]


def test_a_forbidden_function_is_found_under_the_names_that_it_is_given_and_honest_code_is_not_accused():
    assert [source for source, name in FOUND if used_in(source, NAMES) != (name,)] == []
    assert [source for source in HONEST if used_in(source, NAMES)] == []


def test_what_the_notebook_imports_elsewhere_is_known_by_its_live_names():
    assert used_in("def f(x): return softmax(x)", NAMES[:1], {"softmax": softmax}) == NAMES[:1]
    assert used_in("def f(x):\n    softmax = x + 1\n    return softmax", NAMES, {"softmax": softmax}) == ()


OWN = "def softmax(x):\n    e = np.exp(x)\n    return e / e.sum()"
READY = "def softmax(x):\n    return special.softmax(x)"
LIBRARY = "from scipy import special"
KEPT = "__graded_softmax__ = globals().get('softmax')"
CELLS = (
    ([LIBRARY, READY, KEPT], True),
    ([LIBRARY, READY, OWN, KEPT], False),
    ([LIBRARY, OWN, KEPT, READY], False),
    ([LIBRARY, READY, KEPT, OWN], True),
    (["from scipy.special import softmax", KEPT], True),
    ([OWN, KEPT, "from scipy.special import softmax"], False),
    (["from scipy.special import *", OWN, KEPT], False),
    ([LIBRARY, "def softmax(x): return helper(x)", KEPT, "helper = special.softmax"], True),
    ([LIBRARY, "if fast:\n    lib = special.softmax\ndef softmax(x): return lib(x)", KEPT], True),
    ([LIBRARY, "if fast:\n    " + OWN.replace("\n", "\n    ") + "\n    print(special.softmax(1))", KEPT], False),
    ([LIBRARY, "result = special.softmax(1)", "def softmax(x):\n    result = x\n    return result", KEPT], False),
    ([LIBRARY, "result = special.softmax(1)", "def softmax(x): return result", KEPT], True),
    ([OWN, "def compare(x):\n    from scipy.special import softmax\n    return softmax(x)", KEPT], False),
    (["!ls\n" + READY, LIBRARY, KEPT], False),
)  # fmt: skip


def test_what_the_answer_reaches_by_name_counts():
    for cells, is_used in CELLS:
        assert bool(forbidden_used("00_warm_up", "softmax", cells)) is is_used, cells


TWINS = {
    "00 softmax": ["torch.nn.Softmin", "torch.distributions.OneHotCategorical", "sklearn.utils.extmath.softmax"],
    "00 logsumexp": ["torch.nn.functional.log_softmax", "torch.logcumsumexp", "numpy.logaddexp2.reduce"],
    "00 cross_entropy": ["torch.distributions.Categorical"],
    "04 utf8_encode": ["codecs.iterencode", "urllib.parse.urlencode", "os.fsencode", "pickle.dumps"],
    "05 cbow_backward": ["torch.func.linearize", "torch.func.hessian", "torch.func.grad", "torch.func.vjp"],
    "06 binary_code": ["numpy.base_repr"],
    "09 LayerNorm": ["torch.nn.GroupNorm", "torch.group_norm", "torch.nn.functional.instance_norm"],
}  # fmt: skip


def test_twins_of_a_forbidden_function_are_on_its_list():
    for question, twin in ((question, twin) for question, names in TWINS.items() for twin in names):
        lab, name = lab_name(question[:2]), question[3:]
        module, _, leaf = twin.partition(".") if "reduce" in twin else twin.rpartition(".")
        cell = f"import {module} as library\ndef {name}(x): return library.{leaf}(x)"
        assert forbidden_used(lab, name, [cell]), twin
        assert used_in(cell, forbidden_calls(lab, name)), twin


#: A lab, and names of the kit.
NO_TOOLS = (
    *(("01", "models.letters.LetterModel"), ("07", "checks.questions.questions_of"), ("08", "checks.symptoms.symptom_of")),
    *(("09", "models.reversing.SmallTransformer"), ("12", "provided.p08_multi_head._anything")),
)  # fmt: skip
TOOLS = (
    *(("07", "figures.heatmap"), ("08", "mine"), ("09", "checks.earlier_labs.mine"), ("02", "checks")),
    *(("08", "provided.p07_self_attention.causal_mask"), ("11", "models.letters.LetterModel.after"), ("05", "data.speech_words.pack")),
)  # fmt: skip


def test_what_computes_right_values_is_no_tool_and_what_every_notebook_uses_is_one():
    for lab, name in NO_TOOLS:
        assert not is_tool(f"coursekit.{name}", lab_name(lab)), name
        assert name.endswith("_anything") or f"coursekit.{name}" in no_tools(lab_name(lab)), name
    assert [name for lab, name in TOOLS if not is_tool(f"coursekit.{name}", lab_name(lab))] == []


def test_an_answer_that_is_the_kits_is_flagged_and_what_no_answer_uses_is_nobodys_business():
    for source in (
        f"from {HOME} import symptom_of as {QUESTION}",
        f"import coursekit\ndef {QUESTION}(*a): return coursekit.checks.symptoms.symptom_of(*a)",
        f"from coursekit.checks import symptoms as c\nhelper = c.symptom_of\n{QUESTION} = helper",
    ):
        assert forbidden_used(lab_name("08"), QUESTION, [source])[-1:] == (KIT_PARTS,), source
    look = f"from {HOME} import symptom_of\nprint(symptom_of)"
    assert forbidden_used(lab_name("08"), QUESTION, [look, f"def {QUESTION}(x): return x"]) == ()


@pytest.mark.parametrize("lab", [lab for lab in all_labs() if lab[:2].isdigit()])
def test_no_lab_of_the_course_is_flagged_for_what_its_own_cells_use(lab):
    cells = [cell.source for cell in read_master(lab).cells if cell.cell_type == "code"]
    cells.append("import coursekit")
    assert may_use_kit(lab, cells)
    assert not any(forbidden_used(lab, question, cells) for question, _ in spec(lab).questions)
