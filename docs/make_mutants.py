"""Checks that the hidden tests notice mutants of the masters' solutions, and writes the survivors to docs/mutants.md.

    python -m docs.make_mutants           # every lab
    python -m docs.make_mutants 07 09     # these; the other labs' sections stay

Each mutant, made with Cosmic Ray's operators, changes one operator, number, condition or loop inside a solution region. A
mutant with full points survives. A survivor shows a missing test, or is equivalent: then a person replaces "**survives**" in
its row by "equivalent:" and the reason, which later measurements keep. A lab's section is written as soon as it is measured.
"""

from __future__ import annotations

import contextlib
import os
import sys
import types
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from autograder.course.masters import all_labs, lab_name, solution, solution_source
from autograder.course.policy_file import spec
from autograder.files import write_atomically
from autograder.grading.zygotes import cores
from autograder.judging.run import run_test, tests_of
from autograder.judging.time_guard import JudgedTooLong, judging
from autograder.sandbox.host.student import Student

#: A mutant that takes more CPU seconds than this counts as noticed.
SECONDS = 10
TABLE = Path(__file__).parent / "mutants.md"

_ARITHMETIC = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow")
_COMPARISON = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")
_OPERATORS = (
    *(f"ReplaceBinaryOperator_{a}_{b}" for a in _ARITHMETIC for b in _ARITHMETIC if a != b),
    *(f"ReplaceComparisonOperator_{a}_{b}" for a in _COMPARISON for b in _COMPARISON if a != b),
    *("NumberReplacer", "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ZeroIterationForLoop"),
    *("ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak"),
    *(f"ReplaceUnaryOperator_{pair}" for pair in ("USub_UAdd", "Delete_Not", "Delete_Invert")),
)
#: A bar would end a cell of the table.
_BAR = "\\|"
_HEAD = """# Mutants that survive

Each mutant changes one operator, number, condition or loop of a master's solution (`docs/make_mutants.py`). The hidden tests
should notice. One that keeps full points is equivalent, and then its row says why; or it **survives**: a test that is still to
be written, or a reason that is. `make mutants` measures anew and writes this page; `make mutants LABS="07 09"` does so for
these labs. Reasons stay.
"""


@dataclass(frozen=True)
class Mutant:
    """One changed solution: the operator, the changed line, and the full source."""

    question: str
    operator: str
    line: str
    source: str


def mutants_of(lab: str, question: str) -> list[Mutant]:
    """All distinct mutants of a question's solution, in the order of the source."""
    source = solution_source(lab, question)
    lines = source.splitlines()
    inside = _solution_lines(lines)
    known = {name.rpartition("/")[2]: name for name in operator_names()}
    found: dict[str, Mutant] = {}
    for short in (name for name in _OPERATORS if name in known):
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
    warnings.simplefilter("ignore")
    sys.modules.setdefault("__mutants__", types.ModuleType("__mutants__"))
    torch.set_num_threads(1)
    return survives(*job)


def measured(lab: str, pool: ProcessPoolExecutor, before: str) -> str:
    """Run every mutant of a lab (full name). Returns its section: how many are killed, and a row for each that is not.

    Rows of the section ``before`` that give a reason stay.
    """
    mutants = [mutant for question, _ in spec(lab).questions for mutant in mutants_of(lab, question)]
    alive = pool.map(_survives, [(lab, mutant) for mutant in mutants], chunksize=4)
    explained = [line for line in before.splitlines() if "| equivalent: " in line]
    equivalent, others = list[str](), list[str]()
    for mutant in (mutant for mutant, lives in zip(mutants, alive, strict=True) if lives):
        row = f"| `{mutant.question}` | `{mutant.line.replace('|', _BAR)}` |"
        reasoned = [line for line in explained if line.startswith(row)]
        equivalent += reasoned[:1]
        others += [] if reasoned else [f"{row} **survives** ({mutant.operator}) |"]
    killed = len(mutants) - len(equivalent) - len(others)
    said = f"{killed} killed, {len(equivalent)} equivalent, {len(others)} survive."
    lines = [f"## {lab}", "", f"{len(mutants)} mutants: {said}"]
    if equivalent or others:
        lines += ["", "| question | changed line | why |", "|---|---|---|", *equivalent, *others]
    return "\n".join(lines) + "\n"


def sections(page: str) -> dict[str, str]:
    """The page's sections by lab."""
    parts = page.split("\n## ")[1:]
    return {part.split("\n", 1)[0]: f"## {part.rstrip()}\n" for part in parts}


def main() -> None:
    """Measure the labs named on the command line, or all."""
    known = sections(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    labs = [lab_name(lab) for lab in sys.argv[1:]] or all_labs()
    with ProcessPoolExecutor(cores()) as pool:
        for lab in labs:
            known[lab] = measured(lab, pool, known.get(lab, ""))
            print(lab, known[lab].splitlines()[2], flush=True)
            page = [known[name] for name in all_labs() if name in known]
            write_atomically(TABLE, "\n".join([_HEAD, *page]))


if __name__ == "__main__":
    main()
