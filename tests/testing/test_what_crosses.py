"""What a page says in words comes from this side: no hidden test writes down what the student's side calls itself."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from autograder import hidden_tests
from autograder.sandbox.host.student import Student
from autograder.testing import Failed, expect_close, expect_unchanged
from autograder.testing.expect import SHAPE_WORDS, shape_words
from autograder.testing.safe_errors import safe_name

#: What the student's side says of itself.
UNTRUSTED = {"mutated", "type_name", "message", "frames", "shape", "dtype"}
FILES = sorted(Path(hidden_tests.__path__[0]).glob("test_*.py"))


def _attributes_in_words(tree: ast.AST) -> list[str]:
    """The attributes read inside f-strings, ``format`` and ``str`` of ``expect``'s sentences."""
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.FormattedValue)]
    named = [
        f"line {node.lineno}: {part.attr}"
        for node in texts
        for part in ast.walk(node.value)
        if isinstance(part, ast.Attribute) and part.attr in UNTRUSTED
    ]
    counted = [node.lineno for node in texts if isinstance(node.value, ast.Call) and _counts(node.value)]
    return named + [f"line {line}: a count" for line in counted]


def _counts(call: ast.Call) -> bool:
    """``len(result)`` and the like, but of what is expected."""
    of_ours = [part.id for part in call.args if isinstance(part, ast.Name) and part.id == "expected"]
    return isinstance(call.func, ast.Name) and call.func.id in ("len", "str", "repr", "round") and not of_ours


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_no_hidden_test_writes_down_what_the_students_side_says_of_itself(file):
    assert _attributes_in_words(ast.parse(file.read_text(encoding="utf-8"))) == []


def test_the_search_finds_what_it_is_for():
    assert _attributes_in_words(ast.parse("f'changes {x(student.mutated)}'")) == ["line 1: mutated"]
    assert _attributes_in_words(ast.parse("f'{len(result)} of {len(expected)}'")) == ["line 1: a count"]


@pytest.mark.parametrize("number", ["09", "10", "11", "13"])
def test_changed_arguments_go_through_one_function(number):
    (file,) = (file for file in FILES if file.stem.startswith(f"test_{number}_"))
    text = file.read_text(encoding="utf-8")
    assert "expect_unchanged(" in text and "expect(not student.mutated" not in text


def test_a_changed_argument_is_named_as_the_test_passed_it():
    def careless(zebra, words):
        words[1].append("mole")

    student = Student.local(careless)
    student(np.zeros(2), words=[["a"], ["b"]])
    assert student.mutated == ("the argument words",)
    with pytest.raises(Failed, match=r"^your answer changes the argument words: work on a new array$"):
        expect_unchanged(student)


def test_equal_sets_are_no_change_whatever_their_order():
    student = Student.local(lambda words, more: (words.discard("none"), list(more)), "f")
    student({f"w{i}" for i in range(40)}, more={"a": frozenset("xyz")})
    assert student.mutated == ()


def test_a_name_is_shown_as_it_is_only_where_it_is_allowed():
    assert safe_name("ValueError", {"ValueError"}, "another") == "ValueError"
    assert safe_name("zebra", {"ValueError"}, "another") == "another"


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        ((3,), (3, 4), 0),
        ((1, 3, 4), (3, 4), 1),
        ((3, 3), (3, 4), 2),
        ((3, 5), (3, 4), 3),
        ((9, 1), (3, 4), 4),
    ],
)
def test_a_wrong_shape_is_told_in_one_of_five_sentences(actual, expected, words):
    assert shape_words(actual, expected) == SHAPE_WORDS[words]
    with pytest.raises(Failed) as failed:
        expect_close(np.zeros(actual), np.zeros(expected))
    assert str(failed.value) == f"the result should have shape {expected}, but {SHAPE_WORDS[words]}"
