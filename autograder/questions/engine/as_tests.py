"""Makes a question's hidden tests from its file: one for each family and scenario, and one for each rule.

A family's test calls the answer on every case, drawn from the course's salt, and fails at the smallest wrong case. The
trace keeps the returned values, from which a misconception is recognised.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from coursekit.checks.compare import Outcome, alike
from coursekit.checks.earlier_labs import full_name
from coursekit.checks.values import extent

from autograder.course.masters import read_master
from autograder.judging import run
from autograder.judging.follow_through import follow_through
from autograder.judging.run import NOT_THE_SAME_AGAIN, Failed
from autograder.questions.engine.draw import Trial, outcome_or_raise, trials_of
from autograder.questions.engine.question import Family, Question, Scenario, questions_of
from autograder.sandbox.host.student import BadReply, Student, StudentError

#: The rules for every answer: name -> (title on the page, share of the points lost by breaking it).
RULES = {
    "arguments": ("The arguments are left as they are.", 0.2),
    "again": ("The same call gives the same result again.", 0.3),
}

#: Kind of difference (``compare.difference``) -> message. It names no size, since a shape could encode a hidden input.
_SENTENCES = {
    "nothing": "your function returns None: does it return its result?",
    "kind": "your function returns another kind of value than the text asks for",
    "results": "your function returns another number of results than the text asks for",
    "length": "a list in what your function returns has the wrong length",
    "keys": "the keys of what your function returns are not the right ones",
    "shape": "the shape of what your function returns is not right",
    "size": "what your function returns is far too large",
    "values": "wrong values in what your function returns",
    "no such error": "your function should raise an error here",
    "unexpected": "your function returned something of an unexpected form",
}
#: The messages of scenarios, which may look at something other than a function's result.
_SCENARIO_SENTENCES = {
    "nothing": "what this test looks at is None",
    "kind": "what this test looks at is another kind of value than it should be",
    "shape": "the shape of what this test looks at is not right",
    "values": "wrong values in what this test looks at",
}


def make_tests(lab: str) -> dict[str, tuple[run.HiddenTest, ...]]:
    """Question -> hidden tests, for a lab (full name)."""
    return {name: tuple(_tests(question)) for name, question in questions_of(lab).items()}


def _tests(question: Question) -> list[run.HiddenTest]:
    def test(
        name: str, title: str, weight: float, run_test: Callable[[Student], None], deducts: float = 0.0
    ) -> run.HiddenTest:
        if question.uses:
            source = f"{master_definitions(question.lab)}\n\n{question.earlier}"
            run_test = follow_through(run_test, source, question.uses)
        return run.HiddenTest(question.name, name, title, run_test, weight, question.lab, deducts)

    tests = [test(part.name, part.title, part.weight, _part_test(question, part)) for part in question.parts]
    if question.families:
        by_rule = {"arguments": _leaves_its_arguments, "again": _does_the_same_again}
        for rule, (title, share) in RULES.items():
            tests.append(test(rule, title, 0.0, by_rule[rule](question), share))
    return tests


def _part_test(question: Question, part: Family | Scenario) -> Callable[[Student], None]:
    """A test of all trials of a part. It reports the smallest wrong one, and errors before wrong values."""

    def run_test(student: Student) -> None:
        trials = trials_of(question, run.salt())
        places = [place for place, trial in enumerate(trials) if trial.part is part]
        # A test that replaces wrong helpers, or of which nothing is known, is alone; else the next ones follow.
        alone = student.wrong is None or not set(question.uses).isdisjoint(student.wrong)
        _send_ahead(question, student, places if alone else range(places[0], len(trials)))
        wrong: list[tuple[int, str]] = []
        raised: StudentError | None = None
        for place in places:
            try:
                kind = trials[place].difference(_outcome(question, place, student))
            except StudentError as error:
                kind = trials[place].difference(_error_outcome(error))
                raised = raised or error if kind else raised
            wrong += [(size_of(trials[place]), kind)] if kind else []
        if not wrong:
            return
        if raised is not None and any(kind in ("error", "no such error") for _, kind in wrong):
            raise raised
        sentences = _SENTENCES | (_SCENARIO_SENTENCES if isinstance(part, Scenario) else {})
        raise Failed(sentences.get(min(wrong)[1], sentences["unexpected"]))

    return run_test


def _outcome(question: Question, place: int, student: Student, again: bool = False) -> Outcome:
    """A trial's outcome, computed once for all tests. The trace gets a scenario's observations. Raises ``StudentError``."""
    trial = trials_of(question, run.salt())[place]

    def make() -> Outcome:
        outcome = outcome_or_raise(trial, student)
        if trial.case is None:
            for seen in outcome.value:
                student.observe(seen.name, seen.value, seen.rtol, seen.atol)
        return outcome

    outcome: Outcome = student.once((place, again), make)
    return outcome


def _send_ahead(question: Question, student: Student, places: Sequence[int], again: bool = False) -> None:
    """Send the calls at these positions in advance, so that the sandbox need not wait between them."""
    trials = trials_of(question, run.salt())
    cases = [(place, trials[place].case) for place in places]
    student.send_ahead(((place, again), case) for place, case in cases if case is not None)


def _error_outcome(error: StudentError) -> Outcome:
    return Outcome(error="BadReply" if isinstance(error, BadReply) else error.type_name)


def outcomes_seen(answered: Mapping[Any, Any]) -> dict[int, Outcome]:
    """Position -> outcome of each trial, from the values that ``Student.once`` keeps. Repeated calls are left out."""
    return {
        place: _error_outcome(outcome) if isinstance(outcome, StudentError) else outcome
        for (_, (place, again)), (_, outcome) in answered.items()
        if not again
    }


def size_of(trial: Trial) -> int:
    """The count of numbers in a call's arguments."""
    return extent([*trial.case.args, *trial.case.kwargs.values()])[0] if trial.case is not None else 1 << 60


def first_of_each_family(trials: Sequence[Trial]) -> list[int]:
    """The position of each family's first call, which is repeated."""
    first: dict[str, int] = {}
    for place, trial in enumerate(trials):
        if isinstance(trial.part, Family):
            first.setdefault(trial.part.name, place)
    return list(first.values())


def _leaves_its_arguments(question: Question) -> Callable[[Student], None]:
    def run_test(student: Student) -> None:
        made = []
        for place, trial in enumerate(trials_of(question, run.salt())):
            if trial.case is None:
                continue
            made.append(outcome := _outcome_or_error(question, place, student))
            if isinstance(outcome, Outcome) and set(outcome.changed) - set(trial.right.changed):
                changed = next(one for one in outcome.changed if one not in trial.right.changed)
                raise Failed(f"your answer changes {changed}: work on a new array")
        _raise_first_if_all(made)

    return run_test


def _does_the_same_again(question: Question) -> Callable[[Student], None]:
    def run_test(student: Student) -> None:
        trials = trials_of(question, run.salt())
        places = first_of_each_family(trials)
        first = [_outcome_or_error(question, place, student) for place in places]
        _send_ahead(question, student, places, again=True)
        again = [_outcome_or_error(question, place, student, again=True) for place in places]
        for one, other, place in zip(first, again, places, strict=True):
            if isinstance(one, Outcome) and isinstance(other, Outcome):
                same = alike(Outcome(one.value), Outcome(other.value), *trials[place].tolerances)
            else:
                same = type(one) is type(other)
            if not same:
                raise Failed(NOT_THE_SAME_AGAIN)
        _raise_first_if_all(first)

    return run_test


def _outcome_or_error(
    question: Question, place: int, student: Student, again: bool = False
) -> Outcome | StudentError:
    try:
        return _outcome(question, place, student, again)
    except StudentError as error:
        return error


def _raise_first_if_all(made: Sequence[Outcome | StudentError]) -> None:
    """Raise the first error if every call ended in an error."""
    errors = [one for one in made if isinstance(one, StudentError)]
    if errors and len(errors) == len(made):
        raise errors[0]


@cache
def master_definitions(lab: str) -> str:
    """The source of the imports, definitions and constants in the master's cells, earlier labs' parts included."""
    kept: list[ast.stmt] = []
    for cell in read_master(lab).cells:
        data = cell.metadata.get("nbgrader", {})
        if (
            cell.cell_type == "code"
            and (data.get("locked") or data.get("solution"))
            and not data.get("grade")
        ):
            kept += _kept_statements(cell.source)
    return "\n".join(dict.fromkeys(map(ast.unparse, kept)))


def _kept_statements(source: str) -> Iterator[ast.stmt]:
    """Yield the statements that need only the kit's data. The sources of earlier labs replace their imports."""
    for statement in ast.parse(source).body:
        yield from (part for module in _earlier_sources(statement) for part in _kept_statements(module))
        if _is_kept(statement):
            yield statement


def _earlier_sources(statement: ast.stmt) -> Iterator[str]:
    """Yield the source of each earlier lab from which a statement imports, also by ``mine("10", "shift_targets")``."""
    for node in ast.walk(statement):
        match node:
            case ast.ImportFrom(module=str(module)) if module.startswith("coursekit.provided."):
                yield inspect.getsource(importlib.import_module(module))
            case ast.Call(func=ast.Name(id="mine"), args=[ast.Constant(value=str(number)), *_]):
                yield inspect.getsource(importlib.import_module(f"coursekit.provided.p{full_name(number)}"))


def _is_kept(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        module = str(statement.module)
        return module.startswith("coursekit.data") or not module.startswith(("coursekit", "__future__"))
    if isinstance(statement, ast.Assign):
        with contextlib.suppress(ValueError):
            ast.literal_eval(statement.value)
            return True
    return isinstance(statement, (ast.Import, ast.FunctionDef, ast.ClassDef))
