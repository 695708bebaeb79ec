"""A class of 200, each with an ordinary accident: no point is lost that the answer does not lose, and the cause is told."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import nbformat
import pytest

from autograder.audit.simulate import sources_of
from autograder.course.policy_file import spec
from autograder.grading.cell_errors import CALLS_UNWRITTEN, DID_NOT_RUN, STILL_THERE
from autograder.pages.feedback import FeedbackWriter
from autograder.results import QuestionResult, SubmissionResult
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import hand_in, results_of
from tests.grading.accidents import (
    COUNTS,
    LAB,
    SOLVED,
    TEMPLATE,
    Accident,
    delete,
    in_figure,
    insert,
    notebook,
    position,
    put,
    stub,
)

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("accidents"),
]

STUDENTS = 200
CHECK = f"test_{COUNTS}"
#: Short, because some accidents run into them.
LIMITS = "cell_seconds = 3\ncall_seconds = 2\nmemory_bytes = 536_870_912\n"


@dataclass(frozen=True)
class Kind:
    """What is done to a notebook, the questions that lose points by it, and parts of what the result says."""

    accidents: tuple[Accident, ...]
    loses: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    #: The notebook's file, and further files of the hand-in with what was done to them.
    file: str = f"{LAB}.ipynb"
    beside: Mapping[str, tuple[Accident, ...]] = field(default_factory=dict)
    #: Whether grading it waits for a limit: then it happens to one student.
    waits: bool = False


def forget_names(made: nbformat.NotebookNode) -> None:
    """As cells that were copied into a new notebook: no metadata, other ids."""
    for number, cell in enumerate(made.cells):
        cell.metadata, cell.id = nbformat.from_dict({}), f"new-{number}"


def forget_ids(made: nbformat.NotebookNode) -> None:
    """As an older Jupyter writes it, or another program."""
    made.nbformat_minor, made.metadata = 2, nbformat.from_dict({})
    for cell in made.cells:
        del cell["id"]


def became_text(made: nbformat.NotebookNode) -> None:
    """An answer's cell is one of text now."""
    cell = made.cells[position(made, COUNTS)]
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]


def foreign_metadata(made: nbformat.NotebookNode) -> None:
    """As a later nbgrader and another program write it."""
    for cell in made.cells:
        known = cell.metadata.get("nbgrader", {})
        cell.metadata["nbgrader"] = {**known, "schema_version": 99, "points": 10_000}
        cell.metadata["colab"] = {"x": [1, {"y": None}]}


ROWS = "normalise_rows"
HELPER = "def helper(N):\n    return N.sum(axis=1, keepdims=True)\n\n\n"
CLASS = "class Sums:\n    def of(self, N):\n        return helper(N)\n\n\n"
BY = "def normalise_rows(N):\n    s = {}\n    return N / np.where(s, s, 1)"
LOOP = "    import time\n    while True:\n        time.sleep(1)"
#: The shape that a test gives is empty but once: then the answer never ends.
AT_TIMES = (
    "import time\n\n\ndef normalise_rows(N):\n    while np.any(N.sum(axis=1) == 0):\n        time.sleep(1)\n"
    "    return N / N.sum(axis=1, keepdims=True)"
)
EXITS_AT_TIMES = (
    AT_TIMES.replace("while", "if")
    .replace("time.sleep(1)", "os._exit(1)")
    .replace("import time", "import os")
)
MARKED = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs"
#: A student's own errors that keep a cell from running -> the question, what was done, and what the cause holds.
STOPPED = {
    "minus": (COUNTS, lambda code: code + "\n\n\nx = 3 − 1", "SyntaxError: invalid character '−'", "x = 3 − 1"),
    "tab": ("sample_name", "def sample_name(P, rng):\n    n = 0\n\treturn n", "TabError: inconsistent use of tabs and spaces", "return n"),
    "conflict": ("average_nll", lambda code: MARKED.format(code, code), "SyntaxError", "<<<<<<< HEAD"),
    "package": ("second_order", lambda code: "import nltk\n" + code, "No module named 'nltk'", "import nltk"),
}  # fmt: skip
ENDS = {
    "arrays gone": "np.zeros = np.log = None",
    "constants emptied": "INDEX.clear()\nALPHABET *= 0",
    "built-ins": "len = sum = range = zip = list = 0",
    "numpy": "np = None",
    "warnings are errors": "import warnings\nwarnings.simplefilter('error')",
    "numpy's errors": "np.seterr(all='raise')",
    "an error": "1 / 0",
    "reset": "%reset -f",
}
BEGINS = {
    "prints": "import warnings\nwarnings.warn('so it is')\nprint('hello')",
    "seed": "np.random.seed(0)",
    "missing package": "import nltk",
    "installs": "!pip install nltk",
    "asks": "input('What is your name? ')",
    "exits": "import sys\nsys.exit()",
}
KINDS = {
    **{f"ends with {name}": Kind((insert(code),)) for name, code in ENDS.items()},
    **{f"begins with {name}": Kind((insert(code, after="setup"),)) for name, code in BEGINS.items()},
    **{name: Kind((put(question, change),), (question,)) for name, (question, change, *_) in STOPPED.items()},
    "stub's line left": Kind((put(COUNTS, lambda code: code + "\n    raise NotImplementedError()"),)),
    "own tests": Kind((put(COUNTS, lambda code: code + "\n\n\nplt.imshow(np.eye(3))\nassert bigram_counts([]).sum() == 1"),)),
    "tabs": Kind((put(COUNTS, lambda code: ("from math import *\n" + code).replace("    ", "\t").replace("\n", "  \n") + "\n   "),)),
    "line ends": Kind((put(COUNTS, lambda code: ("%%time\n" + code).replace("\n", "\r\n")),)),
    "loop below": Kind((put(COUNTS, lambda code: f"{code}\n\n\nwhile True:\n    pass"),), said=("was stopped",), waits=True),
    "sum below": Kind((put(COUNTS, lambda code: code + "\nimport itertools\nsum(itertools.repeat(0))"),), waits=True),
    "exit below": Kind((put("average_nll", lambda code: code + "\nimport os\nos._exit(0)"),)),
    "in the check's cell": Kind((stub(COUNTS), put(CHECK, lambda check: f"{SOLVED[COUNTS]}\n\n{check}")), said=("had been changed and was restored",)),
    "in a new cell": Kind((stub("second_order"), insert(SOLVED["second_order"], after="second_order"))),
    "cells deleted": Kind((delete(COUNTS, CHECK), insert(SOLVED[COUNTS], after="alphabet")), said=(COUNTS,)),
    "checks deleted": Kind((delete(*TEMPLATE.test_of.values()),), said=("was missing and was restored",)),
    "written answer deleted": Kind((delete(TEMPLATE.by_hand[0]), insert("In my own words.", kind="markdown")), said=(TEMPLATE.by_hand[0],)),
    "cell moved": Kind((lambda made: made.cells.append(made.cells.pop(position(made, COUNTS))),), said=("stood before its answer and was moved",)),
    "above its cell": Kind((stub("average_nll"), insert(SOLVED["average_nll"], before="average_nll")), said=("“average_nll” is defined in cell number",)),
    "names lost, from back to front": Kind(
        (put(COUNTS, lambda code: "ONE = np.ones(1)\n\n\n" + code), forget_names, lambda made: made.cells.reverse()), said=("names", "moved to the front")
    ),
    "all at the end": Kind((*map(stub, SOLVED), insert("\n\n\n".join(SOLVED.values()))), said=("are defined in cell number",)),
    "two halves": Kind((put(COUNTS, "from helpers_of_mine import *"), insert(SOLVED[COUNTS], after=COUNTS)), said=("is defined in cell number",)),
    "helper again": Kind((
        put(COUNTS, lambda code: "def helper():\n    return 1\n\n\n" + code.replace("    N = ", "    helper()\n    N = ", 1)),
        insert("def helper(word):\n    return word", after=CHECK),
    )),
    "helper is a number": Kind((put(ROWS, HELPER + BY.format("helper(N)")), insert("helper = 3"))),
    "class patched": Kind((put(ROWS, HELPER + CLASS + BY.format("Sums().of(N)")), insert("Sums.of = None\ndel helper"))),
    "helper below": Kind((put(ROWS, BY.format("helper(N)")), put(COUNTS, lambda code: HELPER + code), forget_ids)),
    "blank and copy": Kind(tuple(map(stub, [*SOLVED, *TEMPLATE.by_hand])), said=("the only one with an answer in it",), beside={f"{LAB}-Copy1.ipynb": ()}),
    "saved as text": Kind((), said=("was graded in its place",), file=f"{LAB}.ipynb.txt"),
    "two with answers": Kind((), said=("for it has the right name",), beside={"old.ipynb": (stub(COUNTS),)}),
    # What costs its question, because the answer is missing, wrong or never ends, however others build on it.
    "no Python in a new cell": Kind((stub(COUNTS), insert("def bigram_counts(words)\n    return 0")), (COUNTS,), said=("SyntaxError",)),
    "missing package in a helper": Kind((insert("import nltk", after="setup"), put(COUNTS, "def bigram_counts(words):\n    return nltk.bigrams(words)")), (COUNTS,), said=("No module named 'nltk' (line 1: import nltk)",)),
    "unwritten": Kind((put(COUNTS, lambda code: code.replace("\n    N = ", "\n    raise NotImplementedError()\n    N = ")),), (COUNTS,), said=(STILL_THERE, "The line “raise NotImplementedError()”")),
    "unwritten helper": Kind((insert("def helper():\n    raise NotImplementedError()", after="setup"), put("average_nll", "def average_nll(P, words):\n    return helper()")), ("average_nll",), said=(CALLS_UNWRITTEN,)),
    "not begun": Kind((stub(COUNTS),), (COUNTS,)),
    "nothing returned": Kind((put("second_order", lambda code: code.replace("    return ", "    result = ")),), ("second_order",)),
    "printed": Kind((put("average_nll", lambda code: code.replace("return float", "print")),), ("average_nll",)),
    "another name": Kind((put("sample_name", lambda code: code.replace("def sample_name", "def sample_names")),), ("sample_name",)),
    "deleted": Kind((delete("transition_matrix"),), ("transition_matrix",)),
    "no logarithm": Kind((put("average_nll", lambda code: code.replace("np.log(", "(")),), ("average_nll",)),
    "untouched": Kind((*map(stub, SOLVED),), (*SOLVED,)),
    "wrong above right": Kind((stub(COUNTS), insert("def bigram_counts(words):\n    return 0"), insert(SOLVED[COUNTS])), said=("which counts",)),
    "in a text": Kind((stub(COUNTS), insert(SOLVED[COUNTS], kind="markdown")), (COUNTS,)),
    "import in a given cell": Kind((
        put("setup", lambda given: f"{given}\nimport statistics"),
        put(COUNTS, lambda code: code.replace("    N = ", "    statistics.mean([1])\n    N = ", 1)),
    )),
    "no Python in the check's cell": Kind((stub(COUNTS), put(CHECK, "def bigram_counts(words):\n    return 3 − 1")), (COUNTS,), said=("SyntaxError",)),
    "became a text": Kind((became_text,)),
    "name lost": Kind((lambda made: made.cells[position(made, COUNTS)].update(metadata=nbformat.from_dict({})),)),
    "tagged as a figure": Kind((lambda made: made.cells[position(made, COUNTS)].metadata.update(tags=["skip-grading"]),)),
    "helper in a figure's cell": Kind((in_figure("def helper(N):\n    return N\nprint('long')"), put(ROWS, BY.format("helper(N).sum(axis=1, keepdims=True)")))),
    "number in a figure's cell": Kind(
        (in_figure("axes, tiny = 1, 1e-9"), put(ROWS, BY.format("N.sum(axis=1, keepdims=True) + tiny"))),
        (ROWS,),
        said=("“normalise_rows” uses `tiny`, which only a cell makes that does not run",),
    ),
    "foreign metadata": Kind((foreign_metadata,)),
    "endless": Kind((put(COUNTS, f"def bigram_counts(words):\n{LOOP}"),), (COUNTS,), waits=True),
    "endless helper": Kind((put(ROWS, f"def normalise_rows(N):\n{LOOP}"),), (ROWS,), said=("took too long",), waits=True),
    "endless at times": Kind((put(ROWS, AT_TIMES),), (ROWS,), said=("took too long",), waits=True),
    "hoards": Kind((put(COUNTS, "def bigram_counts(words):\n    kept = []\n    while True:\n        kept.append(np.empty(1 << 20))"),), (COUNTS,), waits=True),
    "exits": Kind((put(COUNTS, "import os\n\n\ndef bigram_counts(words):\n    os._exit(1)"),), (COUNTS,)),
    "exits at times": Kind((put(ROWS, EXITS_AT_TIMES),), (ROWS,)),
    "right below": Kind((put(ROWS, "def normalise_rows(N):\n    return N"), insert(SOLVED[ROWS])), (ROWS,), said=("is defined once more",)),
    "scratch": Kind((put(ROWS, "def normalise_rows(N):\n    return N"), insert("print(np.pi)")), (ROWS,)),
    "a parameter more": Kind(
        (
            put(ROWS, "def normalise_rows(axis, N):\n    return np.array(N) / np.sum(N)"),
            *(put(name, lambda code: code.replace("normalise_rows(", "normalise_rows(1, ")) for name in ("transition_matrix", "second_order")),
        ),
        (ROWS,),
        said=("“second_order” needs an earlier answer that is not right",),
    ),
    "a right helper is no excuse": Kind(
        (
            put(ROWS, lambda code: code.replace("(N):", "(N, axis=1):", 1)),
            put("transition_matrix", lambda code: code.replace("normalise_rows(N)", "normalise_rows(N.T, axis=0)")),
        ),
        ("transition_matrix",),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def class_(tmp_path_factory, frozen) -> dict[str, list[SubmissionResult]]:
    """The results by kind. Who has the same accident wrote the other answers in other styles."""
    folder = tmp_path_factory.mktemp("accidents")
    often = [name for name, kind in KINDS.items() if not kind.waits]
    kinds = [*KINDS, *(often[number % len(often)] for number in range(STUDENTS - len(KINDS)))]
    for number, name in enumerate(kinds):
        for file, accidents in {KINDS[name].file: KINDS[name].accidents, **KINDS[name].beside}.items():
            made = notebook(*accidents)
            in_other_styles(made, random.Random(number))
            hand_in(folder / "submitted", f"s{number:03}", nbformat.writes(made), file=file)
    results = results_of(folder, frozen, LIMITS)
    by_kind: dict[str, list[SubmissionResult]] = {name: [] for name in KINDS}
    for name, student in zip(kinds, sorted(results), strict=True):
        by_kind[name].append(results[student])
    return by_kind


def in_other_styles(made: nbformat.NotebookNode, rng: random.Random) -> None:
    """Write what the accidents left of the master's answers in other styles."""
    styles = sources_of(LAB, "alternative")
    names = {source: name for name, source in SOLVED.items() if name in styles}
    for cell in made.cells:
        if cell.source in names:
            cell.source = rng.choice([cell.source, *styles[names[cell.source]]])


def lost(result: SubmissionResult) -> tuple[QuestionResult, ...]:
    return tuple(question for question in result.questions if question.points < question.max_points)


def of(results: list[SubmissionResult], name: str = COUNTS) -> QuestionResult:
    return next(question for question in results[0].questions if question.name == name)


@pytest.mark.parametrize("name", KINDS)
def test_an_accident_costs_what_the_answer_loses_and_is_told(class_, name):
    for result in class_[name]:
        assert tuple(question.name for question in lost(result)) == KINDS[name].loses, result.notes
        assert all(q.misconception or q.generated or q.cause or q.tests[0].message for q in lost(result))
        causes = (words for q in lost(result) for words in (q.cause or "", *(t.message for t in q.tests)))
        told = " ".join((*result.notes, *result.choices, *causes))
        assert [words for words in KINDS[name].said if words not in told] == [], told


@pytest.mark.parametrize("name", STOPPED)
def test_the_error_that_kept_an_answer_from_running_is_its_cause(class_, name):
    asked, _, error, line = STOPPED[name]
    question = of(class_[name], asked)
    assert question.points == 0 and question.did_not_run
    assert error in question.cause and line in question.cause
    assert error in question.error and line in question.error.splitlines()[0]
    assert {test.message for test in question.tests} == {DID_NOT_RUN}


def test_a_slip_that_nobody_foresaw_has_a_sentence_before_its_cause_on_the_page(class_, tmp_path):
    said = "On our inputs your results are those of a right answer that leaves out"
    slip = of(class_["no logarithm"], "average_nll")
    assert slip.misconception is None and slip.generated.startswith(said)
    page = FeedbackWriter(spec(LAB), tmp_path).page(class_["no logarithm"][0])
    assert 0 < page.index(said) < page.index(slip.cause.split("`")[0])


def test_after_the_first_time_out_a_question_is_asked_no_more_and_what_passed_before_counts(class_):
    too_long = "your function took too long"
    statuses = {class_[name][0].status for name in ("endless", "endless helper", "exits")}
    assert statuses == {"timed-out", "crashed"}
    first, *later = (test.message for test in of(class_["endless"]).tests)
    assert first == too_long and {*later} == {f"this was not run: {too_long} in an earlier test"}
    rows = of(class_["endless at times"], ROWS)
    passed = [test.passed for test in rows.tests]
    assert rows.points > 0 and passed.index(False) > 0 and not any(passed[passed.index(False) :])
    exits = of(class_["exits at times"], ROWS)
    assert [test.passed for test in exits.tests[:5]] == [True, True, False, True, True]
