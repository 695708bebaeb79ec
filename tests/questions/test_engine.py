"""A question described in one file: how its answers are compared, judged, named and paid, and what its card holds."""

from __future__ import annotations

import doctest
import json
import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from coursekit.checks import compare, encoding, values, words

from autograder.audit import question as of_a_question
from autograder.course.masters import solution, solution_source
from autograder.errors import UserError
from autograder.judging import run
from autograder.judging.run import run_question, student_with_answer
from autograder.questions.engine import Case, Observed, Question, answers, as_tests, card, edits
from autograder.questions.engine.as_tests import RULES
from autograder.questions.engine.diagnosis import diagnose
from autograder.questions.engine.draw import PUBLIC, NoFairInputs, trials_of
from autograder.questions.engine.rubric import points_earned
from autograder.run.preflight import check_lab
from autograder.sandbox.host.student import Student

LAB, POINTS, SALT = "01_markov_bigram", 2.0, "a salt"


class Graded(NamedTuple):
    """The tests that failed, by name with what they say; the title of the misconception; the points of two."""

    failed: dict[str, str]
    title: str | None
    points: float


class Grading:
    """Grading, for questions that are lab 01's for the time of a test."""

    def __init__(self, patch: pytest.MonkeyPatch):
        self._patch = patch

    def _register(self, question, master=None):
        question.lab, questions = LAB, {question.name: question}
        self._patch.setitem(solution(LAB), question.name, master or question.reference)
        for module in (as_tests, answers, of_a_question):
            self._patch.setattr(module, "questions_of", lambda _: questions)
        self.forget(SALT)

    def forget(self, salt):
        """Collect tests and answers anew, and draw from this salt."""
        run.tests_of.cache_clear()
        answers.answers_of.cache_clear()
        run.set_salt("another salt")
        run.set_salt(salt)

    def judge(self, question, function):
        """What grading says of an answer."""
        self._register(question)
        student = Student.local_namespace(solution(LAB) | {question.name: function}, question.name)
        runs = run_question(LAB, question.name, student)
        named = diagnose(LAB, question.name, runs)
        points = points_earned(LAB, question.name, POINTS, runs, named)
        failed = {one.test.name: one.result.message for one in runs if not one.result.passed}
        return Graded(failed, named and named.title, points)

    def audit(self, question, master=None):
        """What the audit finds; the question has no card."""
        self._register(question, master)
        self._patch.setattr(of_a_question, "card_faults", lambda *_: ())
        return of_a_question.audit_question(LAB, question.name, POINTS).sentences


@pytest.fixture
def grading():
    before = run.salt()
    with pytest.MonkeyPatch.context() as patch:
        yield (judge := Grading(patch))
    judge.forget(before)


def _of(reference, draw, **options):
    """A question with one family of inputs."""
    question = Question(reference, name="small")
    question.family("Some.", **options)(draw)
    return question


def means(x, scale=1):
    return np.array([sum(float(number) for number in row) / len(row) * scale for row in x])


def _question():
    """The mean of each row, times a scale: two families, two misconceptions, an alternative."""
    question = Question(means, name="row_means")

    @question.family("Rows of the text and others.", weight=3)
    def rows(rng):
        yield Case(np.array([[1.0, 2.0], [3.0, 5.0]]), gives=[1.5, 4.0])
        yield rng.normal(size=(4, 6))

    @question.family("A scale.", weight=1)
    def scales(rng):
        yield Case(rng.normal(size=(3, 2)), scale=float(rng.uniform(2, 3)))

    @question.misconception("sums", costs=1.5, because="a sum is not far from a mean")
    def sums(x, scale=1):
        """Your rows are summed. A mean divides by how many numbers there are."""
        return x.sum(axis=1) * scale

    @question.misconception("the scale is ignored", costs=0.5)
    def unscaled(x, scale=1):
        """The scale makes no difference. Multiply by it."""
        return x.mean(axis=1)

    @question.alternative
    def in_single_precision(x, scale=1):
        return x.astype(np.float32).mean(axis=1) * np.float32(scale)

    return question


def _means(x, scale=1):
    return x.mean(axis=1) * scale


@pytest.mark.parametrize("module", [compare, edits, encoding, values, words])
def test_the_examples_of_the_docstrings_hold(module):
    tests, flags = vars(module) | {"np": np, "math": math}, doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(module, globs=tests, optionflags=flags)
    assert result.attempted and not result.failed


EQUAL = [
    (torch.tensor([1.0, 2.0]), np.array([1.0, 2.0])),
    (np.float32([0.1, 1e3]), np.array([0.1, 1e3])),
    ([np.ones(2), [0.5]], (np.ones(2), np.array([0.5]))),
    (("a", ["b"]), ["a", ("b",)]),
    (b"\x01\x02", [1, 2]),
    (["a", "b"], np.array(["a", "b"])),
    ({"a": 1}, {"a": np.int64(1)}),
    ([math.nan, math.inf], np.array([math.nan, math.inf])),
    (np.zeros(3), np.array([1e-17, 0, -1e-17])),
    ([], np.zeros((0, 3))),
]
#: A value, the right one, and the word for how they differ.
DIFFERENT = [
    (None, np.ones(2), "nothing"),
    (np.ones((2, 1)), np.ones(2), "shape"),
    (np.array([1, 0]), np.array([True, False]), "kind"),
    ("12", np.array([1, 2]), "kind"),
    (np.array([1.0, 2.0001]), np.array([1.0, 2.0]), "values"),
    (np.zeros(2), np.array([1e-7, 2e-7]), "values"),
    (np.ones(2), np.array([math.inf, 1]), "values"),
    ((np.ones(2),), (np.ones(2), np.ones((1, 1))), "results"),
    ({"a": 1}, {"b": 1}, "keys"),
    (["b", "a"], ["a", "b"], "values"),
]


def test_equal_values_in_another_form_are_right_and_a_wrong_value_is_wrong_in_a_word():
    for value, right in EQUAL:
        assert compare.value_difference(value, right) == "", (value, right)
    for value, right, word in DIFFERENT:
        assert compare.value_difference(value, right) == word, (value, right)


def test_an_error_is_right_where_one_of_its_class_is_asked_for():
    wanted = compare.Outcome(error="LookupError")
    assert compare.difference(compare.Outcome(error="KeyError"), wanted) == ""
    assert compare.difference(compare.Outcome(error="ValueError"), wanted) == "no such error"
    assert compare.difference(compare.Outcome(value=1), wanted) == "no such error"
    assert compare.difference(compare.Outcome(error="KeyError"), compare.Outcome(value=1)) == "error"


def test_a_salt_draws_the_same_inputs_again_and_another_salt_others():
    first, again, other = (trials_of(_question(), salt)[1].case.args[0] for salt in (SALT, SALT, PUBLIC))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_inputs_on_which_right_answers_disagree_are_drawn_again():
    question = _of(lambda x: int(x > 0.5), lambda rng: [float(rng.choice([0.25, 0.5, 0.75]))])
    question.alternative(lambda x: int(x >= 0.5))
    drawn = {trials_of(question, str(salt))[0].case.args[0] for salt in range(30)}
    assert drawn == {0.25, 0.75}


@pytest.mark.parametrize("kind", [np.array, torch.tensor])
def test_inputs_on_which_the_right_value_jumps_are_drawn_again_unless_ties_are_meant(kind):
    def numbers(rng):
        yield kind(rng.permutation([0.5, 1.0, rng.choice([1.0, 2.0])]))

    def ties(exact):
        question = _of(lambda x: int(np.argmax(x)), numbers, exact_ties=exact)
        trials = [trials_of(question, str(salt))[0] for salt in range(20)]
        return sum(sorted(trial.case.args[0])[1] == max(trial.case.args[0]) for trial in trials)

    assert ties(False) == 0 < ties(True)


def test_a_family_without_fair_inputs_fails():
    question = _question()
    question.alternative(lambda x, scale=1: x)
    with pytest.raises(NoFairInputs, match="Rows of the text"):
        trials_of(question, SALT)


@pytest.mark.parametrize(
    ("answer", "failed", "title", "points"),
    [
        (lambda x, scale=1: [sum(row) / len(row) * scale for row in x.tolist()], "", None, 2),
        (lambda x, scale=1: [scale * float(np.float32(row.sum())) for row in x], "rows scales", "sums", 0.5),
        (lambda x, scale=1: x.sum(axis=1) * (scale if scale == 1 else 2), "rows scales", None, 0),
        (lambda x, scale=1: x.mean(axis=1) * scale**2, "scales", None, 1.5),
        (lambda x, scale=1: _means(x, scale) + (scale == 1), "rows", None, 0.5),
        (lambda x, scale=1: 1 / 0, "rows scales arguments again", None, 0),
    ],
)
def test_whoever_has_a_name_pays_its_cost_and_everybody_else_gets_what_holds(
    grading, answer, failed, title, points
):
    graded = grading.judge(_question(), answer)
    assert (set(graded.failed), graded.title, graded.points) == (set(failed.split()), title, points)


def test_an_answer_without_a_name_keeps_no_more_than_the_dearest_slip_that_fails_no_more(grading):
    question = _question()

    @question.misconception("the scale is one more", costs=1.2)
    def one_more(x, scale=1):
        """Your scale is one too many."""
        return x.mean(axis=1) * (scale + (scale != 1))

    assert grading.judge(question, lambda x, scale=1: x.mean(axis=1) * scale**2).points == 0.8


def test_the_smallest_call_that_is_wrong_is_spoken_of(grading):
    graded = grading.judge(_question(), lambda x, scale=1: _means(x, scale) if len(x) > 3 else x)
    assert "shape" in graded.failed["rows"]
    graded = grading.judge(_question(), lambda x, scale=1: x if len(x) > 3 else 2 * _means(x, scale))
    assert "wrong values" in graded.failed["rows"]


def test_one_result_of_several_may_come_in_an_array(grading):
    def numbers(rng):
        yield (rng.normal(size=3),)

    def others(rng):
        yield (rng.normal(size=3),)

    question = _of(lambda x: (x.sum(), x.max()), numbers, only=0)
    question.family("The largest.", only=1)(others)
    assert grading.judge(question, lambda x: np.array([x.sum(), x.max()])).points == 2
    assert grading.judge(question, lambda x: np.array([x.sum(), x.min()])).points == 1


def test_changed_arguments_cost_their_share_and_name_whoever_changes_the_same(grading):
    question = _of(lambda x, y: x + y, lambda rng: [(rng.normal(size=2), rng.normal(size=2))])

    @question.misconception("x is added to", costs=0.5)
    def added_to_x(x, y):
        """You write into x. Make a new array."""
        x += y
        return x.copy()

    def added_to_y(x, y):
        y += x
        return y.copy()

    assert grading.judge(question, added_to_x).title == "x is added to"
    graded = grading.judge(question, added_to_y)
    assert list(graded.failed) == ["arguments"] and graded.title is None
    assert graded.points == 2 - 0.5  # not 2 * (1 - RULES["arguments"][1]): the misconception fails the same


def test_what_is_kept_from_call_to_call_costs_its_share(grading):
    question, calls = _question(), []

    def drifts(x, scale=1):  # not before all has been asked once
        calls.append(x)
        return _means(x, scale) * (len(calls) <= len(trials_of(question, SALT)))

    graded = grading.judge(question, drifts)
    assert list(graded.failed) == ["again"] and graded.points == 2 * (1 - RULES["again"][1])


def test_a_slip_with_parameters_is_several_misconceptions(grading):
    question = _question()

    @question.misconception("minus one", costs=1, added=-1)
    @question.misconception("plus one", costs=1, added=1, hint="Yours is one too many.")
    def off(x, scale=1, *, added):
        """Yours is one too few."""
        return _means(x, scale) + added

    hints = {one.title: one.hint for one in question.misconceptions[2:]}
    assert hints == {"plus one": "Yours is one too many.", "minus one": "Yours is one too few."}
    assert grading.judge(question, lambda x, scale=1: _means(x, scale) + 1).title == "plus one"


def test_a_scenario_sees_what_no_family_asks_and_names_slips_by_it(grading):
    question = _question()

    @question.scenario("Means lie between the smallest and the largest.", weight=4)
    def between(student, rng):
        x = rng.normal(size=(200, 3))
        share = np.asarray(student(x))
        yield Observed("share above zero", np.mean(share > 0), atol=0.01)
        yield Observed("out of bounds", int(((share < x.min(axis=1)) | (share > x.max(axis=1))).sum()))

    @question.misconception("large ones of many", costs=1.5)
    def of_many(x, scale=1):
        """Of many rows yours is the largest number of each. Take the mean."""
        return _means(x, scale) if len(x) < 100 else x.max(axis=1)

    graded = grading.judge(question, lambda x, scale=1: _means(x, scale) if len(x) < 9 else x.max(axis=1))
    assert list(graded.failed) == ["between"] and graded.title == "large ones of many"
    assert grading.judge(question, _means).points == 2
    stumbled = grading.judge(question, lambda x, scale=1: "text" if len(x) > 9 else _means(x, scale))
    assert list(stumbled.failed) == ["between"] and stumbled.title is None


WRONG_ATTENTION = """
def scaled_dot_product_attention(q, k, v, mask=None): return q * 0, k

def additive_attention(q, k, v, W_q, W_k, w, mask=None):
    scores = np.tanh((q @ W_q)[..., :, None, :] + (k @ W_k)[..., None, :, :]) @ w
    size = k.shape[-2]
    keys = np.broadcast_to(np.eye(size), (*k.shape[:-2], size, size))
    return scaled_dot_product_attention(scores * np.sqrt(size), keys, v, mask)
"""
DEAF = """
class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, memory=None, mask=None):
        return x, x
"""
NO_MASK = WRONG_ATTENTION.replace("v, mask)", "v)")
ATTACHED = DEAF + solution_source("08_multi_head", "attention_maps").replace(".detach()", "")


@pytest.mark.parametrize(
    ("lab", "name", "source", "title"),
    [
        ("07_self_attention", "additive_attention", WRONG_ATTENTION, None),
        ("07_self_attention", "additive_attention", NO_MASK, "the mask is ignored in additive attention"),
        # The master's earlier answers come with what labs before provide.
        ("08_multi_head", "attention_maps", ATTACHED, "maps that hang on the gradient"),
    ],
)
def test_a_wrong_answer_is_judged_again_with_the_masters_earlier_answers(lab, name, source, title):
    namespace = dict(solution(lab))
    exec(source, namespace)
    runs = run_question(lab, name, Student.local_namespace(namespace, name))
    named = diagnose(lab, name, runs)
    assert (named and named.title) == title
    assert all(run.result.passed for run in runs) is (title is None)


def _named(lab, question, function):
    found = diagnose(lab, question, run_question(lab, question, student_with_answer(lab, question, function)))
    return found and found.name


def test_right_values_of_a_wrong_type_are_not_taken_for_a_changed_argument():
    lab, question = "10_training", "shift_targets"
    right = solution(lab)[question]

    def of_another_type(sentences, bos, eos, pad):
        return tuple(part.int() for part in right(sentences, bos, eos, pad))

    def that_changes_its_argument(sentences, bos, eos, pad):
        result = right(sentences, bos, eos, pad)
        sentences[0].insert(0, bos)
        return result

    assert _named(lab, question, of_another_type) is None
    assert _named(lab, question, that_changes_its_argument) == "targets_that_append"


def test_an_answer_that_keeps_something_is_named_however_often_it_was_asked_before():
    lab, question, name = "10_training", "adam_step", "adam_that_counts_by_itself"
    loaded = {one.name: one for one in answers.answers_of(lab)["misconception"][question]}[name]
    fresh = {one.name: one for one in answers.fresh_answers(lab, question)["misconception"]}[name]
    one = torch.ones(1, dtype=torch.float64)
    for _ in range(2000):  # by then its correction of the means has faded, and its mistake would be another
        loaded.function(one, one, one, one, 1, 0.1)
    assert _named(lab, question, fresh.function) == name


#: Lab and question.
SMOOTH = ("07_self_attention", "kernel_smooth")


def smooth(x, y, query, sigma):
    return solution(SMOOTH[0])[SMOOTH[1]](x, y, query, sigma)


def test_who_makes_another_slip_on_top_does_not_fare_better_and_a_cost_for_no_slip_is_refused(course_at):
    def not_squared_and_rounded(x, y, query, sigma):
        return smooth(x, y, query, sigma**0.5).round(1)

    runs = run_question(*SMOOTH, student_with_answer(*SMOOTH, not_squared_and_rounded))
    assert diagnose(*SMOOTH, runs) is None and points_earned(*SMOOTH, 3.0, runs, None) <= 2.0
    course_at('[labs.07.rubric.kernel_smooth]\n"σ is not squared" = 3\n')
    assert points_earned(*SMOOTH, 3.0, runs, None) == 0.0
    course_at('[labs.07.rubric.kernel_smooth]\n"σ is squared" = 1\n')
    with pytest.raises(UserError, match="no misconception of “kernel_smooth”"):
        check_lab(SMOOTH[0])


def test_a_rule_that_was_not_tested_is_not_broken():
    def in_place(x, y, query, sigma):
        result = smooth(x, y, query, sigma)
        y *= 2
        return result

    runs = run_question(*SMOOTH, student_with_answer(*SMOOTH, in_place))
    assert points_earned(*SMOOTH, 3.0, runs, None) < 3.0
    unrun = [replace(run, ran=run.result.passed) for run in runs]
    assert points_earned(*SMOOTH, 3.0, unrun, None) == 3.0


def _wrong(name, function, **more):
    """A change that adds a misconception."""

    def add(question):
        function.__name__ = name
        question.misconception(more.pop("title", name), hint="Yours is wrong.", **more)(function)

    return add


def _nothing_drawn(question):
    @question.family("The text alone.")
    def text_alone(rng):
        yield np.ones((1, 2))


def _another_text(question):
    @question.family("The text's numbers.")
    def texts(rng):
        yield Case(np.array([[1.0, 2.0, 4.0]]), gives=[2.3])
        yield Case(np.array([[1.0, 2.0, 4.0]]), gives=[2.34])
        yield rng.normal(size=(2, 2))


def _too_dear(question):
    question.misconceptions[1:] = []
    _wrong("no_scale", lambda x, scale=1: x.mean(axis=1), costs=1.5)(question)


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (lambda question: None, []),
        (_nothing_drawn, ["text_alone draws nothing: its hidden inputs are the card's", "worthless the card's data by heart: it earns 20%"]),
        (_another_text, ["texts: the reference gives [2.33333333], and the text says [2.34]"]),
        (
            _wrong("added_up", lambda x, scale=1: x.sum(axis=1) * scale, costs=1.5, because="as above"),
            ["misconception added_up: it is recognised as sums", "no hidden test tells sums from added_up"],
        ),
        (_wrong("squares", lambda x, scale=1: x.mean(axis=1) * scale**2, costs=0.5, title="sums"), ["two misconceptions have one title"]),
        (_wrong("right", lambda x, scale=1: x.mean(axis=1) * scale, costs=1), ["misconception right: it passes every test"]),
        (_wrong("raises", lambda x, scale=1: 1 / 0, costs=2), ["misconception raises: it is recognised as none"]),
        (_too_dear, ["misconception no_scale: it costs 1.5, and its tests are worth 0.50: say why in because="]),
        (_wrong("zero", lambda x, scale=1: np.zeros(len(x)), costs=3), ["misconception zero: it costs 3 of 2 points"]),
    ],
)  # fmt: skip
def test_the_audit_names_what_is_wrong_with_a_question(grading, change, faults):
    question = _question()
    change(question)
    assert sorted(grading.audit(question)) == sorted(faults)


def test_the_audit_names_a_master_that_fails_and_what_a_memoriser_earns(grading):
    found = grading.audit(_question(), master=lambda x, scale=1: x)
    assert any(fault.startswith("master") for fault in found)
    few = _of(means, lambda rng: [np.full((1, 2), float(n)) for n in rng.permutation(8)], exact_ties=True)
    found = [fault for fault in grading.audit(few) if fault.startswith("worthless")]
    assert found == ["worthless the card's data by heart: it earns 100%"]


def test_the_cards_data_are_values_only_and_come_back_from_json():
    question = _question()
    data = json.loads(json.dumps(card.card_data(question), allow_nan=False))
    of_rows, of_scales = data["parts"][0]["cases"][1], data["parts"][1]["cases"][0]
    (x,), _ = encoding.decode(of_rows["asked"])
    for outcome, value in (of_rows["right"], x.mean(axis=1)), (of_rows["slips"]["0"], x.sum(axis=1)):
        assert compare.value_difference(encoding.decode(outcome["value"]), value) == ""
    assert data["misconceptions"][0] == {"hint": question.misconceptions[0].hint}
    assert list(of_rows["slips"]) == ["0"]  # the other is right here
    assert list(of_scales["slips"]) == ["0", "1"]


def test_what_a_card_encodes_comes_back():
    for value in (
        *(np.zeros((2, 0)), np.where(np.tri(4), 0, -math.inf), np.arange(30) % 7, np.tri(4, dtype=bool)),
        *(np.array([1 + 2j, 1 + 2j, 3]), {("a", 1): {2.5}}, b"\xff", [1 + 2j, None, "é"]),
        *(torch.tensor([[1.5, -2]], dtype=torch.double), torch.tensor([True, False, True])),
    ):
        back = encoding.decode(json.loads(json.dumps(encoding.encode(value), allow_nan=False)))
        assert type(back) is type(value) and compare.value_difference(back, value) == ""
        assert getattr(back, "dtype", None) == getattr(value, "dtype", None)
        assert np.shape(back) == np.shape(value)
