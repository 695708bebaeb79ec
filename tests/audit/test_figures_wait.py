"""A figure claims what the right answer shows, so its cell names the questions behind it."""

from __future__ import annotations

import ast
import dis
from types import CodeType

import pytest

from autograder.course.masters import all_labs, read_master
from autograder.course.policy_file import spec

_READS, _BINDS = ("LOAD_NAME", "LOAD_GLOBAL"), ("STORE_NAME", "STORE_GLOBAL")


def _reads_and_binds(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names a statement takes from before it, and those it binds."""
    reads: set[str] = set()
    binds: set[str] = set()

    def follow(code: CodeType) -> None:
        for step in dis.get_instructions(code):
            if step.opname in _READS and step.argval not in binds:
                reads.add(step.argval)
            elif step.opname in _BINDS:
                binds.add(step.argval)
            elif isinstance(step.argval, CodeType):
                follow(step.argval)

    follow(compile(ast.Module([statement], []), "cell", "exec"))
    return reads, binds


@pytest.mark.parametrize("lab", all_labs())
def test_each_figure_names_the_questions_that_it_comes_from(lab):
    questions, figures = [question for question, _ in spec(lab).questions], 0
    sources = {question: [question] for question in questions}
    for cell in read_master(lab).cells:
        is_answer = cell.metadata.get("nbgrader", {}).get("grade_id") in questions
        if cell.cell_type != "code" or is_answer or cell.source.startswith("check("):
            continue
        for statement in ast.parse(cell.source).body:
            reads, binds = _reads_and_binds(statement)
            needed = sorted({q for name in reads for q in sources.get(name, ())}, key=questions.index)
            if isinstance(statement, ast.With) and "until_written()" in ast.unparse(statement.items[0]):
                figures += 1
                assert ast.unparse(statement.body[0]) == f"needs({', '.join(map(repr, needed))})", (
                    cell.source[:200]
                )
            elif not isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Assign)):
                assert not needed, f"outside of until_written: {cell.source[:60]!r}"
            sources |= {name: needed for name in binds if name not in questions}
    assert figures
