"""How many bits of a hidden input a feedback page may carry, counted over everything that a question's part can say."""

import ast
import inspect
import re
from math import log2

from coursekit.checks import symptoms
from coursekit.checks.api import forbidden_calls

from autograder.course.masters import all_labs, course_root, source_of_import
from autograder.course.policy_file import spec
from autograder.judging import safe_errors
from autograder.questions.engine import as_tests
from autograder.questions.engine.question import questions_of
from autograder.results import STATUSES

PAGE = (course_root() / "docs" / "security.md").read_text(encoding="utf-8")


def _stated(what: str) -> float:
    """The number that the page gives in ``<what>: at most N bits``."""
    found = re.search(rf"{what}: at most (\d+) bits", " ".join(PAGE.split()))
    assert found, what
    return float(found[1])


def test_what_a_page_can_say_carries_no_more_bits_than_the_documentation_states():
    questions = [question for lab in all_labs() for question in questions_of(lab).values()]
    # A sentence of the list, or the keys; inside up to two others: each item, some items; the beginning (2); of many results all
    # or some, of up to three each: right, so wrong, or otherwise.
    constants = [
        node.value
        for node in ast.walk(ast.parse(inspect.getsource(symptoms)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    ]
    wholes = {text for text in constants if text[0].isupper()}
    wholes |= {f"of a single number: {text}" for _, text, _ in symptoms._FUNCTIONS}
    frames = 5 + 2 + 3 ** len(symptoms._ORDINALS)
    # What wrong calls share: nothing, one or two of the things that can be said of some arguments. (Which tests failed is counted there.)
    traits = 13 * (2 ** max(len(inspect.signature(one.reference).parameters) for one in questions) - 1)
    # An error's line, its name, and its message's form, with operators, types and one word in its places.
    fixed, messages = len(safe_errors.COMMON) + 1, 1
    for pattern, form in zip(safe_errors._PATTERNS, safe_errors._FORMS, strict=True):
        places = pattern.groups - form.count("#")
        messages += fixed**places + places * safe_errors.MAX_OWN_WORDS * fixed ** max(places - 1, 0)
    forbidden = [
        forbidden_calls(lab, question)
        for lab in all_labs()
        if not source_of_import(lab)
        for question, _ in spec(lab).questions
    ]
    ways = {
        "The symptom": len(wholes) * sum(frames**depth for depth in range(symptoms.MAX_INSIDE + 1)),
        "What wrong calls share": 1 + traits + traits**2,
        "The error": (safe_errors.MAX_LINES + 1) * (len(safe_errors.NAMES) + 1) * messages,
        "The forbidden function that was seen": max(map(len, forbidden)) + 1,
        "What ended it": len(STATUSES) + 1,
    }
    assert [what for what, number in ways.items() if log2(number) > _stated(what)] == []
    # What a call came to, and of which type a value is that could not be sent.
    sentences = len(as_tests._SENTENCES) + len(as_tests.RULES) * 7
    assert log2(sentences + len(safe_errors.TYPES) + 8) <= _stated("The row of a hidden test")
    found = re.search(r"with ten tests thus carries less than (\d+) bits", " ".join(PAGE.split()))
    assert found
    assert 10 * _stated("The row of a hidden test") + sum(map(_stated, ways)) < float(found[1])


def test_a_sentence_about_values_lies_inside_two_others_at_most():
    nested: object = 1.0
    other: object = 2.0
    for _ in range(6):
        nested, other = {"a": [nested, nested]}, {"a": [other, other]}
    symptom = symptoms.symptom_of(other, nested)
    assert symptom is not None
    assert len(re.findall(r"The keys are right\.|[Ee]ach item:|[Ss]ome items:", symptom.sentence)) <= 2
