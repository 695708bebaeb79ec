"""Answers may use the kit's tools; its checks and models, which compute right values, are flagged."""

from __future__ import annotations

import pytest

from autograder.course.masters import all_labs, lab_name, read_master
from autograder.course.policy_file import spec
from autograder.grading.forbidden_calls import forbidden_used
from autograder.grading.kit_tools import KIT_PARTS, is_tool, may_use_kit, no_tools

HOME = "coursekit.checks.symptoms"
QUESTION = "multi_head_attention"


@pytest.mark.parametrize(
    ("lab", "name"),
    [
        ("01", "coursekit.models.letters.LetterModel"),
        ("07", "coursekit.checks.questions.questions_of"),
        ("08", f"{HOME}.symptom_of"),
        ("09", "coursekit.models.reversing.SmallTransformer"),
        ("12", "coursekit.provided.p08_multi_head._anything"),
    ],
)
def test_what_computes_right_values_is_no_tool(lab, name):
    assert not is_tool(name, lab_name(lab))
    assert name.endswith("_anything") or name in no_tools(lab_name(lab))


@pytest.mark.parametrize(
    ("lab", "name"),
    [
        ("07", "coursekit.figures.heatmap"),
        ("08", "coursekit.mine"),
        ("09", "coursekit.checks.earlier_labs.mine"),
        ("08", "coursekit.provided.p07_self_attention.causal_mask"),
        ("11", "coursekit.models.letters.LetterModel.after"),
        ("05", "coursekit.data.speech_words.pack"),
        ("02", "coursekit.checks"),
    ],
)
def test_what_every_notebook_uses_is_a_tool(lab, name):
    assert is_tool(name, lab_name(lab))


@pytest.mark.parametrize(
    "source",
    [
        f"from {HOME} import symptom_of as {QUESTION}",
        f"import {HOME} as c\ndef {QUESTION}(*a): return c.symptom_of(*a)",
        f"import coursekit\ndef {QUESTION}(*a): return coursekit.checks.symptoms.symptom_of(*a)",
        f"import importlib\nc = importlib.import_module('{HOME}')\ndef {QUESTION}(*a): return c.symptom_of(*a)",
        f"import sys\ndef {QUESTION}(*a): return getattr(sys.modules['{HOME}'], 'symptom_of')(*a)",
        f"from coursekit.checks import symptoms as c\nhelper = c.symptom_of\n{QUESTION} = helper",
    ],
)
def test_an_answer_that_is_the_kits_is_flagged_however_it_comes_there(source):
    assert forbidden_used(lab_name("08"), QUESTION, [source])[-1:] == (KIT_PARTS,)


def test_what_no_answer_uses_is_nobodys_business():
    look = f"from {HOME} import symptom_of\nprint(symptom_of)"
    own = f"def {QUESTION}(x): return x"
    assert forbidden_used(lab_name("08"), QUESTION, [look, own]) == ()


@pytest.mark.parametrize("lab", [lab for lab in all_labs() if lab[:2].isdigit()])
def test_no_lab_of_the_course_is_flagged_for_what_its_own_cells_use(lab):
    cells = [cell.source for cell in read_master(lab).cells if cell.cell_type == "code"]
    cells.append("import coursekit")
    assert may_use_kit(lab, cells)
    for question, _ in spec(lab).questions:
        assert KIT_PARTS not in forbidden_used(lab, question, cells)
