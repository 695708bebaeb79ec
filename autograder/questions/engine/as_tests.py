"""Makes a question's hidden tests from its file: one for each family and scenario, and one for each rule.

A family's test calls the answer for all its cases, with hidden inputs drawn from the course's salt, and fails at the
smallest wrong case. The returned values are in the trace, from which a misconception is recognised.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from coursekit.checks.earlier_labs import full_name

from autograder.course.masters import read_master
from autograder.judging import run
from autograder.judging.evidence import extent
from autograder.judging.expect import NOT_THE_SAME_AGAIN, Failed
from autograder.judging.follow_through import follow_through
from autograder.questions.engine.compare import Outcome, alike
from autograder.questions.engine.draw import Ask, asks_of, made_of
from autograder.questions.engine.question import Family, Question, Scenario, questions_of
from autograder.sandbox.host.rpc import BadReply, StudentError
from autograder.sandbox.host.student import Student

#: The rules for every answer: name -> (line on the page, share of the points that breaking it costs).
RULES = {
    "arguments": ("The arguments are left as they are.", 0.2),
    "again": ("The same call gives the same result again.", 0.3),
}

#: Kind of difference (``compare.difference``) -> message. It contains no size, since a shape could encode a hidden input.
_SENTENCES = {
    "nothing": "your function returns None: does it return its result?",
    "kind": "your function returns another kind of value than the text asks for",
    "results": "your function returns another number of results than the text asks for",
    "keys": "the keys of what your function returns are not the right ones",
    "shape": "the shape of what your function returns is not right",
    "size": "what your function returns is far too large",
    "values": "wrong values in what your function returns",
    "no such error": "your function should raise an error here",
    "unexpected": "your function returned something of an unexpected form",
}
#: The same of a scenario, which may look at something else than a function's result.
_OF_SCENARIOS = {
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
        name: str, title: str, weight: float, ask: Callable[[Student], None], deducts: float = 0.0
    ) -> run.HiddenTest:
        if question.uses:
            source = f"{masters_definitions(question.lab)}\n\n{question.earlier}"
            ask = follow_through(source, *question.uses)(ask)
        return run.HiddenTest(question.name, name, title, ask, weight, question.lab, deducts)

    tests = [test(part.name, part.title, part.weight, _asking(question, part)) for part in question.parts]
    if question.families:
        by_rule = {"arguments": _leaves_its_arguments, "again": _does_the_same_again}
        for rule, (title, share) in RULES.items():
            tests.append(test(rule, title, 0.0, by_rule[rule](question), share))
    return tests


def _asking(question: Question, part: Family | Scenario) -> Callable[[Student], None]:
    """Run all calls of a part. The smallest wrong call is reported, errors before wrong values."""

    def ask(student: Student) -> None:
        wrong: list[tuple[int, str]] = []
        raised: StudentError | None = None
        _send_ahead(
            question,
            student,
            [i for i, item in enumerate(asks_of(question, run.salt())) if item.part is part],
        )
        for place, item in enumerate(asks_of(question, run.salt())):
            if item.part is part:
                try:
                    word = item.difference(_outcome(question, place, student))
                except StudentError as error:
                    raised, word = raised or error, item.difference(_of_error(error))
                wrong += [(size_of(item), word)] if word else []
        if not wrong:
            return
        if raised is not None and any(word in ("error", "no such error") for _, word in wrong):
            raise raised
        sentences = _SENTENCES | (_OF_SCENARIOS if isinstance(part, Scenario) else {})
        raise Failed(sentences.get(min(wrong)[1], sentences["unexpected"]))

    return ask


def _outcome(question: Question, place: int, student: Student, again: bool = False) -> Outcome:
    """The outcome of a call, made once for all tests. A scenario's observations go into the trace. Raises ``StudentError``."""
    item = asks_of(question, run.salt())[place]

    def make() -> Outcome:
        outcome = made_of(item.part, item.case, item.seed, student)
        if item.case is None:
            for seen in outcome.value:
                student.observe(seen.name, seen.value, seen.rtol, seen.atol)
        return outcome

    outcome: Outcome = student.once((place, again), make)
    return outcome


def _send_ahead(question: Question, student: Student, places: Sequence[int], again: bool = False) -> None:
    """Send the next calls, at these positions, ahead, so that the sandbox need not wait between them."""
    asks = asks_of(question, run.salt())
    cases = [(place, asks[place].case) for place in places]
    student.send_ahead(((place, again), case.args, case.kwargs) for place, case in cases if case is not None)


def _of_error(error: StudentError) -> Outcome:
    return Outcome(error="BadReply" if isinstance(error, BadReply) else error.type_name)


def outcomes_seen(answered: Mapping[Any, Any]) -> dict[int, Outcome]:
    """Position -> outcome of each call, from the values that ``Student.once`` keeps. Repeated calls are left out."""
    return {
        place: _of_error(came) if isinstance(came, StudentError) else came
        for (_, (place, again)), (_, came) in answered.items()
        if not again
    }


def size_of(item: Ask) -> int:
    """The number of numbers in a call's arguments."""
    return extent([*item.case.args, *item.case.kwargs.values()])[0] if item.case is not None else 1 << 60


def first_of_each_family(asks: Sequence[Ask]) -> list[int]:
    """The positions of the first call of each family, which is made again."""
    first: dict[str, int] = {}
    for place, item in enumerate(asks):
        if isinstance(item.part, Family):
            first.setdefault(item.part.name, place)
    return list(first.values())


def _leaves_its_arguments(question: Question) -> Callable[[Student], None]:
    def ask(student: Student) -> None:
        made = []
        for place, item in enumerate(asks_of(question, run.salt())):
            if item.case is None:
                continue
            made.append(outcome := _outcome_or_error(question, place, student))
            if isinstance(outcome, Outcome) and set(outcome.changed) - set(item.right.changed):
                changed = next(one for one in outcome.changed if one not in item.right.changed)
                raise Failed(f"your answer changes {changed}: work on a new array")
        _raise_first_if_all(made)

    return ask


def _does_the_same_again(question: Question) -> Callable[[Student], None]:
    def ask(student: Student) -> None:
        asks = asks_of(question, run.salt())
        places = first_of_each_family(asks)
        first = [_outcome_or_error(question, place, student) for place in places]
        _send_ahead(question, student, places, again=True)
        again = [_outcome_or_error(question, place, student, again=True) for place in places]
        for one, other, place in zip(first, again, places, strict=True):
            if isinstance(one, Outcome) and isinstance(other, Outcome):
                same = alike(Outcome(one.value), Outcome(other.value), *asks[place].tolerances)
            else:
                same = type(one) is type(other)
            if not same:
                raise Failed(NOT_THE_SAME_AGAIN)
        _raise_first_if_all(first)

    return ask


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
def masters_definitions(lab: str) -> str:
    """The imports, definitions and constants of the master's cells, with the earlier labs' parts, as one source."""
    kept: list[ast.stmt] = []
    for cell in read_master(lab).cells:
        data = cell.metadata.get("nbgrader", {})
        if (
            cell.cell_type == "code"
            and (data.get("locked") or data.get("solution"))
            and not data.get("grade")
        ):
            kept += _standing_alone(cell.source)
    return "\n".join(dict.fromkeys(map(ast.unparse, kept)))


def _standing_alone(source: str) -> Iterator[ast.stmt]:
    """The statements that use nothing of the kit but data, with imports from earlier labs replaced by their source."""
    for statement in ast.parse(source).body:
        yield from (part for module in _provided(statement) for part in _standing_alone(module))
        if _stands_alone(statement):
            yield statement


def _provided(statement: ast.stmt) -> Iterator[str]:
    """The sources of the earlier labs' parts that a statement imports, also with ``mine("10", "shift_targets")``."""
    for node in ast.walk(statement):
        match node:
            case ast.ImportFrom(module=str(module)) if module.startswith("coursekit.provided."):
                yield inspect.getsource(importlib.import_module(module))
            case ast.Call(func=ast.Name(id="mine"), args=[ast.Constant(value=str(number)), *_]):
                yield inspect.getsource(importlib.import_module(f"coursekit.provided.p{full_name(number)}"))


def _stands_alone(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        module = str(statement.module)
        return module.startswith("coursekit.data") or not module.startswith(("coursekit", "__future__"))
    if isinstance(statement, ast.Assign):
        with contextlib.suppress(ValueError):
            ast.literal_eval(statement.value)
            return True
    return isinstance(statement, (ast.Import, ast.FunctionDef, ast.ClassDef))
