"""Checks that the hidden tests notice generic mutants of the masters' solutions, made with Cosmic Ray's operators.

Each mutant changes one operator, number, condition or loop inside a solution region. A mutant with full points survives. A
survivor shows a missing test, or is equivalent. An equivalent mutant is listed in the question's or the lab's test file::

    EQUIVALENT_MUTANTS = {"normalise_rows: total = N.sum(axis=+1)": "the same axis"}
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import types
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from autograder.course.masters import solution, solution_source
from autograder.course.policy_file import spec
from autograder.errors import UserError
from autograder.grading.time_guard import JudgedTooLong, judging
from autograder.grading.zygotes import cores
from autograder.judging.run import run_test, tests_of
from autograder.sandbox.host.student import Student

#: A mutant that takes more CPU seconds than this counts as noticed.
SECONDS = 10

_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow")
_COMPARISON = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")


@dataclass(frozen=True)
class Mutant:
    """One changed solution: the operator, the changed line, and the full source."""

    question: str
    operator: str
    line: str
    source: str

    @property
    def key(self) -> str:
        """The mutant's name in ``EQUIVALENT_MUTANTS``."""
        return f"{self.question}: {self.line}"


_OPERATORS = (
    *(f"ReplaceBinaryOperator_{a}_{b}" for a in _ARITHMETIC for b in _ARITHMETIC if a != b),
    *(f"ReplaceComparisonOperator_{a}_{b}" for a in _COMPARISON for b in _COMPARISON if a != b),
    *("NumberReplacer", "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ZeroIterationForLoop"),
    *("ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak"),
    *(f"ReplaceUnaryOperator_{pair}" for pair in ("USub_UAdd", "Delete_Not", "Delete_Invert")),
)


def mutants_of(lab: str, question: str) -> list[Mutant]:
    """All distinct mutants of a question's solution, in the order of the source."""
    try:
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator, operator_names
    except ImportError:
        raise UserError(
            "Mutants need the package cosmic-ray: install this project with its extra “dev”."
        ) from None
    source = solution_source(lab, question)
    lines = source.splitlines()
    inside = _solution_lines(lines)
    known = {name.rpartition("/")[2]: name for name in operator_names()}
    found: dict[str, Mutant] = {}
    for short in _OPERATORS:
        if short not in known:
            continue
        for occurrence in range(10_000):
            mutated = mutate_code(source, get_operator(known[short])(), occurrence)
            if mutated is None:
                break
            after = mutated.splitlines()
            changed = [i for i, (a, b) in enumerate(zip(lines, after, strict=False)) if a != b]
            if changed and changed[0] in inside:
                found.setdefault(mutated, Mutant(question, short, after[changed[0]].strip(), mutated))
    return list(found.values())


def _solution_lines(lines: list[str]) -> set[int]:
    inside, found = False, set()
    for number, line in enumerate(lines):
        if "### BEGIN SOLUTION" in line:
            inside = True
        elif "### END SOLUTION" in line:
            inside = False
        elif inside:
            found.add(number)
    return found


def survives(lab: str, mutant: Mutant) -> bool:
    """Whether every hidden test of the question passes on the mutant."""
    namespace = dict(solution(lab))
    try:
        with judging(SECONDS), open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
            exec(compile(mutant.source, f"<mutant of {mutant.question}>", "exec"), namespace)
            student = Student.local_namespace(namespace, mutant.question)
            return all(run_test(test, student).result.passed for test in tests_of(lab)[mutant.question])
    except (Exception, JudgedTooLong):
        return False


def _survives(job: tuple[str, Mutant]) -> bool:
    import warnings

    warnings.simplefilter("ignore")
    sys.modules.setdefault("__mutants__", types.ModuleType("__mutants__"))
    import torch

    torch.set_num_threads(1)
    return survives(*job)


@dataclass(frozen=True)
class MutantAudit:
    """A lab's mutants: their number, the survivors, and the reasons why some of these are equivalent."""

    lab: str
    total: int
    unexplained: tuple[Mutant, ...]
    equivalent: tuple[tuple[Mutant, str], ...]

    @property
    def counted(self) -> int:
        """The number of mutants that a test can notice: all but the equivalent ones."""
        return self.total - len(self.equivalent)

    @property
    def killed(self) -> int:
        return self.counted - len(self.unexplained)


def audit_mutants(lab: str, pool: ProcessPoolExecutor) -> MutantAudit:
    """Run every mutant of a lab (full name)."""
    reasons: dict[str, str] = {}
    for name in tests_of(lab):
        file = importlib.import_module(f"autograder.questions.m{lab}.{name}")
        reasons |= getattr(file, "EQUIVALENT_MUTANTS", {})
    mutants = [mutant for question, _ in spec(lab).questions for mutant in mutants_of(lab, question)]
    alive = pool.map(_survives, [(lab, mutant) for mutant in mutants], chunksize=4)
    survivors = [mutant for mutant, lives in zip(mutants, alive, strict=True) if lives]
    return MutantAudit(
        lab,
        len(mutants),
        tuple(mutant for mutant in survivors if mutant.key not in reasons),
        tuple((mutant, reasons[mutant.key]) for mutant in survivors if mutant.key in reasons),
    )


def mutant_pool() -> ProcessPoolExecutor:
    """A process for each core."""
    return ProcessPoolExecutor(cores())
