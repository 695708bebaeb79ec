"""What never ends costs its own question: no other's points, and nothing that was made before it."""

from __future__ import annotations

import time

import pytest

from autograder.course.masters import lab_name, solved
from autograder.grading import time_guard
from autograder.grading.budgets import Budgets
from autograder.grading.time_guard import JudgeClock, JudgedTooLong
from autograder.sandbox.host.reruns import before_line, harmless_part
from autograder.sandbox.jail.namespaces import probe
from autograder.sandbox.limits import Limits
from tests.fixtures.frozen_course import hand_in, results_of

LAB = lab_name("01")
#: Short, because the cases run into them; no honest call takes a tenth of them.
LIMITS = "cell_seconds = 2\ncall_seconds = 1\ntotal_seconds = 100\nmemory_bytes = 536_870_912\n"
RIGHT = solved(LAB)
ROWS, COUNTS, NLL = "normalise_rows", "bigram_counts", "average_nll"
LOOP = "    import time\n    while True:\n        time.sleep(1)"  # no CPU time: nobody else is kept waiting
EATS = "    kept = []\n    while True:\n        kept.append(bytearray(8 << 20))"
#: The shape that a test gives is empty but once: then the answer never ends.
ENDLESS_AT_TIMES = (
    "import time\n\n\ndef normalise_rows(N):\n    while np.any(N.sum(axis=1) == 0):\n        time.sleep(1)\n"
)
ENDLESS_AT_TIMES += "    return N / N.sum(axis=1, keepdims=True)"

#: name -> the answers that are not the master's, and the questions that may lose points.
CASES: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "two endless answers": (
        {COUNTS: f"def bigram_counts(words):\n{LOOP}", NLL: f"def average_nll(P, words):\n{LOOP}"},
        (COUNTS, NLL),
    ),
    "an answer that eats memory": ({COUNTS: f"def bigram_counts(words):\n{EATS}"}, (COUNTS,)),
    "an endless answer that two others call": ({ROWS: f"def normalise_rows(N):\n{LOOP}"}, (ROWS,)),
    "an answer that ends its process": (
        {COUNTS: "import os\n\n\ndef bigram_counts(words):\n    os._exit(1)"},
        (COUNTS,),
    ),
    "what ends a cell below its answer": (
        {
            ROWS: RIGHT[ROWS] + "\nwhile True: pass",
            COUNTS: RIGHT[COUNTS] + "\nimport itertools\nsum(itertools.repeat(0))",
            NLL: RIGHT[NLL] + "\nimport os\nos._exit(0)",
        },
        (),
    ),
    "a loop below an answer, and an endless one": (
        {
            COUNTS: f"SIZE = len('abc')\n{RIGHT[COUNTS]}\nwhile True: pass",
            NLL: f"def average_nll(P, words):\n{LOOP}",
        },
        (NLL,),
    ),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory, frozen):
    folder = tmp_path_factory.mktemp("class")
    written = {name: answers for name, (answers, _) in CASES.items()}
    for student, answers in (written | {"endless at times": {ROWS: ENDLESS_AT_TIMES}}).items():
        hand_in(folder / "submitted", student, answers)
    return results_of(folder, frozen, LIMITS)


needs_a_sandbox = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]


@pytest.mark.parametrize("student", [pytest.param(name, marks=needs_a_sandbox) for name in CASES])
def test_only_the_question_itself_loses_points(results, student):
    lost = {q.name: q.cause for q in results[student].questions if q.points < q.max_points}
    assert tuple(lost) == CASES[student][1], lost
    if student != "an answer that eats memory":  # that may be an ordinary MemoryError
        assert results[student].status in ("timed-out", "crashed")


@pytest.mark.parametrize("student", [pytest.param("two endless answers", marks=needs_a_sandbox)])
def test_after_the_first_time_out_a_question_is_asked_no_more(results, student):
    tests = next(q for q in results[student].questions if q.name == COUNTS).tests
    assert tests[0].message == "your function took too long"
    assert {test.message for test in tests[1:]} == {
        "this was not run: your function took too long in an earlier test"
    }


@pytest.mark.parametrize("student", [pytest.param("endless at times", marks=needs_a_sandbox)])
def test_what_was_passed_before_the_time_out_counts(results, student):
    rows = results[student].questions[0]
    first = [test.passed for test in rows.tests].index(False)
    assert rows.points > 0 and first > 0 and not any(test.passed for test in rows.tests[first:])


class Recorder:
    """A session that only notes what is reserved."""

    limits = Limits(total_seconds=40)

    def start_question(self, reserved: float) -> None:
        self.reserved = reserved


def test_each_question_leaves_the_others_what_is_theirs(monkeypatch):
    session, clock, now = Recorder(), JudgeClock(), [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    budgets = Budgets(session, clock, ["one", "two"])
    assert session.reserved == 10.0
    with budgets.of("one"):
        assert session.reserved == 5.0
        now[0] += 3.0
    with budgets.of("two"):
        assert session.reserved == 2.0  # what "one" has left of its own
        now[0] += 20.0
    with budgets.of("one"):
        assert session.reserved == 0.0


def test_no_question_spends_the_others_time_to_be_judged(monkeypatch):
    clock = JudgeClock()
    each = time_guard.SUBMISSION_SECONDS / 8
    budgets = Budgets(Recorder(), clock, ["one", "two"])
    with budgets.of("one"):
        assert clock.reserved == each
        clock.left = each
        with pytest.raises(JudgedTooLong), clock.judging():
            raise AssertionError("nothing of this question is judged any more")
    with budgets.of("two"), clock.judging():
        pass


CELL = "import math\nx = 1; y = f(x)\n\n\n@cache\ndef g():\n    return 1\n\n\nfor i in g():\n    while True:\n        pass"


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        (1, ""),
        (2, "import math\n"),
        (7, "import math\nx = 1; y = f(x)\n\n\n"),
        (12, CELL.partition("for")[0]),
    ],
)
def test_of_an_interrupted_cell_all_runs_again_that_stands_before_the_statement(line, rest):
    assert before_line(CELL, line) == rest


def test_of_statements_in_one_line_any_may_be_the_one():
    assert before_line("é = 1; loop()", 1) == ""
    assert before_line("x = 1\né = 2; loop(\n)", 3) == "x = 1\né = 2; "


@pytest.mark.parametrize(
    ("source", "rest"),
    [
        ("import os\nEPS = 1e-9\nx = f()\nos._exit(0)", "import os\n\nEPS = 1e-09"),
        ("kept = globals().get('f')\ncheck('f', f)", "kept = globals().get('f')"),
        ("class A:\n    pass\n\n\nA()", "class A:\n    pass"),
        *(("%time f()", ""), ("f(", ""), ("# nothing", "")),
    ],
)
def test_of_a_cell_that_ended_its_process_the_harmless_part_runs_again(source, rest):
    assert harmless_part(source) == rest
