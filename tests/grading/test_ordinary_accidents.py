"""A class in which each notebook has an ordinary accident: no point is lost that the answer does not lose, and the cause is told."""

from __future__ import annotations

import nbformat
import pytest

from autograder.course.masters import solved
from autograder.course.policy_file import spec
from autograder.grading.cell_errors import CALLS_UNWRITTEN, DID_NOT_RUN, STILL_THERE
from autograder.pages.feedback import FeedbackWriter
from autograder.results import SubmissionResult
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import hand_in, results_of
from tests.grading.accidents import (
    COUNTS,
    LAB,
    answer,
    delete,
    forget_ids,
    forget_names,
    insert,
    notebook,
    position,
    put,
    stub,
    written_answers,
)

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

CHECK = f"test_{COUNTS}"
#: Short, because three of them run into them.
LIMITS = "cell_seconds = 3\ncall_seconds = 2\nmemory_bytes = 536_870_912\n"
MARKED = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs"
#: Student -> question -> what was done to its answer, and what the cause holds: the student's own error and its line.
STOPPED = {
    "no Python": {
        COUNTS: ([put(COUNTS, lambda code: code + "\n\n\nx = 3 − 1")], "SyntaxError: invalid character '−'", "x = 3 − 1"),
        "sample_name": (
            [put("sample_name", "def sample_name(P, rng):\n    n = 0\n\treturn n")],
            "TabError: inconsistent use of tabs and spaces",
            "return n",
        ),
        "average_nll": ([put("average_nll", lambda code: MARKED.format(code, code))], "SyntaxError", "<<<<<<< HEAD"),
        "second_order": ([put("second_order", lambda code: "import nltk\n" + code)], "No module named 'nltk'", "import nltk"),
    },
    "last cell": {
        COUNTS: ([stub(COUNTS), insert("def bigram_counts(words)\n    return 0")], "SyntaxError", "def bigram_counts(words)"),
    },
}  # fmt: skip
OTHERS = {
    "helper": [
        insert("import nltk", after="setup"),
        put(COUNTS, "def bigram_counts(words):\n    return nltk.bigrams(words)"),
    ],
    "unwritten": [
        put(COUNTS, lambda code: code.replace("\n    N = ", "\n    raise NotImplementedError()\n    N = ")),
        insert("def helper():\n    raise NotImplementedError()", after="setup"),
        put("average_nll", "def average_nll(P, words):\n    return helper()"),
    ],
}
ROWS = "normalise_rows"
HELPER = "def helper(N):\n    return N.sum(axis=1, keepdims=True)\n\n\n"
CLASS = "class Sums:\n    def of(self, N):\n        return helper(N)\n\n\n"
BY = "def normalise_rows(N):\n    s = {}\n    return N / np.where(s, s, 1)"
LOOP = "    import time\n    while True:\n        time.sleep(1)"
#: What costs the question itself: the answer is missing, wrong or never ends.
LOST = {
    "endless": [put(COUNTS, f"def bigram_counts(words):\n{LOOP}")],
    "hoards": [put(COUNTS, "def bigram_counts(words):\n    kept = []\n    while True:\n        kept.append(bytearray(8 << 20))")],
    "exits": [put(COUNTS, "import os\n\n\ndef bigram_counts(words):\n    os._exit(1)")],
    "five slips": [
        stub(COUNTS),
        put("second_order", lambda code: code.replace("    return ", "    result = ")),
        put("average_nll", lambda code: code.replace("return float", "print")),
        put("sample_name", lambda code: code.replace("def sample_name", "def sample_names")),
        delete("transition_matrix"),
    ],
}  # fmt: skip
#: The shape that a test gives is empty but once: then the answer never ends.
AT_TIMES = (
    "import time\n\n\ndef normalise_rows(N):\n    while np.any(N.sum(axis=1) == 0):\n        time.sleep(1)\n"
)
#: What costs ``normalise_rows`` (or the question that stands behind) alone, however others build on it; what is said.
LOST_ONCE = {
    "fixed below": ([put(ROWS, "def normalise_rows(N):\n    return N"), insert(answer(ROWS))], "is defined once more"),
    "endless helper": ([put(ROWS, f"def normalise_rows(N):\n{LOOP}")], "took too long"),
    "endless at times": ([put(ROWS, AT_TIMES + "    return N / N.sum(axis=1, keepdims=True)")], "took too long"),
    "scratch": ([put(ROWS, "def normalise_rows(N):\n    return N"), insert("print(np.pi)")], ""),
    "a parameter more": (
        [
            put(ROWS, "def normalise_rows(axis, N):\n    return np.array(N) / np.sum(N)"),
            *(
                put(name, lambda code: code.replace("normalise_rows(", "normalise_rows(1, "))
                for name in ("transition_matrix", "second_order")
            ),
        ],
        "“second_order” needs an earlier answer that is not right",
    ),
    "a right helper is no excuse": (
        [
            put(ROWS, lambda code: code.replace("(N):", "(N, axis=1):", 1)),
            put("transition_matrix", lambda code: code.replace("normalise_rows(N)", "normalise_rows(N.T, axis=0)")),
        ],
        "",
        "transition_matrix",
    ),
}  # fmt: skip
PRINTS = "import warnings\nwarnings.warn('so it is')\nprint('hello')"
#: What costs nothing, several accidents a notebook where none hides another, and what is said of it ("" where nothing was guessed).
WHOLE = {
    "names used again": (
        [insert(code) for code in ("np.zeros = np.log = None", "INDEX.clear()\nALPHABET *= 0", "len = sum = range = zip = list = 0", "np = None")],
        "",
    ),
    "ends badly": (
        [insert(code) for code in ("import warnings\nwarnings.simplefilter('error')", "np.seterr(all='raise')", "1 / 0", "%reset -f")],
        "",
    ),
    "begins badly": (
        [
            insert(code, after="setup")
            for code in (PRINTS, "np.random.seed(0)", "import nltk", "!pip install nltk", "input('What is your name? ')", "import sys\nsys.exit()")
        ],
        "",
    ),
    "cell's text": (
        [
            put(COUNTS, lambda code: code + "\n    raise NotImplementedError()\n\n\nplt.imshow(np.eye(3))\nassert bigram_counts([]).sum() == 1"),
            put(COUNTS, lambda code: ("from numpy import *\n" + code).replace("    ", "\t").replace("\n", "  \n") + "\n   "),
            put(COUNTS, lambda code: ("%%time\n" + code).replace("\n", "\r\n")),
        ],
        "",
    ),
    "loop below": ([put(COUNTS, lambda code: f"{code}\n\n\nwhile True:\n    pass")], "was stopped"),
    "all ends below": (
        [
            put(COUNTS, lambda code: code + "\nimport itertools\nsum(itertools.repeat(0))"),
            put("average_nll", lambda code: code + "\nimport os\nos._exit(0)"),
        ],
        "",
    ),
    "check cell": (
        [stub(COUNTS), put(CHECK, lambda check: f"{answer(COUNTS)}\n\n{check}"), insert(answer("second_order"), after="second_order")],
        "had been changed and was restored",
    ),
    "cells deleted": (
        [
            delete(COUNTS, CHECK, "test_average_nll"), insert(answer(COUNTS), after="alphabet"),
            delete(written_answers()[0]), insert("In my own words.", kind="markdown"),
        ],
        "bigram_counts", "test_average_nll", written_answers()[0],
    ),
    "cells moved": (
        [
            lambda made: made.cells.append(made.cells.pop(position(made, COUNTS))),
            stub("average_nll"), insert(answer("average_nll"), before="average_nll"),
        ],
        "stood before its answer and was moved", "“average_nll” is defined in cell number",
    ),
    "no names": ([forget_names, lambda made: made.cells.reverse()], "names"),
    "all at the end": (
        [*map(stub, solved(LAB)), insert("\n\n\n".join(solved(LAB).values()))],
        "are defined in cell number",
    ),
    "two halves": ([put(COUNTS, lambda code: "from helpers_of_mine import *"), insert(answer(COUNTS), after=COUNTS)], "is defined in cell number"),
    "helper again": (
        [
            put(COUNTS, lambda code: "def helper():\n    return 1\n\n\n" + code.replace("    N = ", "    helper()\n    N = ", 1)),
            insert("def helper(word):\n    return word", after=CHECK),
        ],
        "",
    ),
    "helper is a number": ([put(ROWS, HELPER + BY.format("helper(N)")), insert("helper = 3")], ""),
    "class patched": ([put(ROWS, HELPER + CLASS + BY.format("Sums().of(N)")), insert("Sums.of = None\ndel helper")], ""),
    "helper below": ([put(ROWS, BY.format("helper(N)")), put(COUNTS, lambda code: HELPER + code), forget_ids], ""),
}  # fmt: skip
#: A file's name -> the notebook, of one who handed in others than ``01_markov_bigram.ipynb`` alone; what is said of it.
BESIDE = {
    "blank and copy": ({f"{LAB}.ipynb": map(stub, [*solved(LAB), *written_answers()]), f"{LAB}-Copy1.ipynb": ()}, "the only one with an answer in it"),
    "two with answers": ({f"{LAB}.ipynb": (), "old.ipynb": [stub(COUNTS)]}, "for it has the right name"),
    "saved as text": ({f"{LAB}.ipynb.txt": ()}, "was graded in its place"),
}  # fmt: skip


@pytest.fixture(scope="module")
def graded(tmp_path_factory, frozen) -> dict[str, SubmissionResult]:
    folder = tmp_path_factory.mktemp("accidents")
    accidents = {name: made for name, (made, *_) in {**WHOLE, **LOST_ONCE}.items()} | OTHERS | LOST
    for name, done in STOPPED.items():
        accidents[name] = [accident for made, *_ in done.values() for accident in made]
    files = {name: {f"{LAB}.ipynb": made} for name, made in accidents.items()}
    for student, notebooks in {**files, **{name: made for name, (made, _) in BESIDE.items()}}.items():
        for file, made in notebooks.items():
            hand_in(folder / "submitted", student, nbformat.writes(notebook(*made)), file=file)
    return results_of(folder, frozen, LIMITS)


def of(result: SubmissionResult, name: str = COUNTS):
    return next(question for question in result.questions if question.name == name)


@pytest.mark.parametrize("student", STOPPED)
def test_the_error_that_kept_an_answer_from_running_is_its_cause(graded, student):
    result = graded[student]
    assert {q.name for q in result.questions if q.points < q.max_points} == set(STOPPED[student])
    for name, (_, error, line) in STOPPED[student].items():
        question = of(result, name)
        assert question.points == 0 and question.did_not_run
        assert error in question.cause and line in question.cause
        assert error in question.error and line in question.error.splitlines()[0]
        assert {test.message for test in question.tests} == {DID_NOT_RUN}


def test_the_error_stands_first_in_the_question_on_the_page(graded, tmp_path):
    result = graded["no Python"]
    page = FeedbackWriter(spec(LAB), tmp_path).page(result)
    [section] = [part for part in page.split("<section")[1:] if COUNTS.replace("_", "_<wbr>") in part]
    said = section[: section.index("</section>")]
    assert "SyntaxError: invalid character" in said and "✗" not in said and "not defined" not in said


def test_a_missing_package_is_the_cause_of_what_uses_it_in_another_cell(graded):
    question = of(graded["helper"])
    assert "No module named 'nltk' (line 1: import nltk)" in question.cause and question.did_not_run


def test_an_answer_that_was_written_is_not_called_unwritten(graded):
    counts, nll = of(graded["unwritten"]), of(graded["unwritten"], "average_nll")
    assert {test.message for test in counts.tests} == {STILL_THERE}
    assert counts.cause.startswith("The line “raise NotImplementedError()”")
    assert {test.message for test in nll.tests} == {CALLS_UNWRITTEN}


def test_after_the_first_time_out_a_question_is_asked_no_more_and_what_passed_before_counts(graded):
    too_long = "your function took too long"
    assert {graded[name].status for name in ("endless", "endless helper", "exits")} == {
        "timed-out",
        "crashed",
    }
    first, *later = (test.message for test in of(graded["endless"]).tests)
    assert first == too_long and {*later} == {f"this was not run: {too_long} in an earlier test"}
    rows = of(graded["endless at times"], ROWS)
    passed = [test.passed for test in rows.tests]
    assert rows.points > 0 and passed.index(False) > 0 and not any(passed[passed.index(False) :])


@pytest.mark.parametrize("student", [*LOST, *OTHERS])
def test_an_answer_that_is_missing_or_wrong_costs_its_own_question_alone(graded, student):
    lost = [q for q in graded[student].questions if q.points < q.max_points]
    slips = {"five slips": {q.name for q in graded[student].questions} - {ROWS}}
    assert {q.name for q in lost} == slips.get(
        student, {COUNTS} | ({"average_nll"} if student == "unwritten" else set())
    )
    assert all(q.cause or q.tests[0].message for q in lost)


@pytest.mark.parametrize("student", LOST_ONCE)
def test_a_wrong_answer_costs_its_points_once_whatever_builds_on_it_or_stands_below(graded, student):
    result, (_, said, *other) = graded[student], LOST_ONCE[student]
    lost = [q for q in result.questions if q.points < q.max_points]
    assert [q.name for q in lost] == (other or [ROWS]) and (lost[0].misconception or lost[0].cause)
    assert said in " ".join(result.choices if "“" in said else result.notes)


@pytest.mark.parametrize("student", {**WHOLE, **BESIDE})
def test_an_answer_that_is_there_has_its_points_and_what_was_guessed_is_said(graded, student):
    result, (_, *said) = graded[student], {**WHOLE, **BESIDE}[student]
    assert result.score == result.max_score, (
        result.notes,
        [q for q in result.questions if q.points < q.max_points],
    )
    assert all(one in " ".join(result.notes) for one in said), result.notes
