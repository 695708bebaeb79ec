"""Runs a failed hidden test again with the course's answers to *earlier* questions, so that a mistake costs points once.

Later questions often call earlier answers. If an earlier answer is wrong or missing, every test of the later question would
fail, even for a right answer.

The first run uses the student's earlier answers, so that an answer that matches its own helpers loses nothing. The second
run replaces wrong earlier answers by the course's. If only the second run ends in an error, the answer needs something that
only the student's helper has, such as an extra argument. Then the test costs nothing, says ``MEND_FIRST``, and a person
must look at it. If an earlier answer never ends, there is only the second run.

The course's versions run in the student's process, where the student's code can read them. So only the named functions and
the functions that they call are sent, never the answer to the question itself or to a later one.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Sequence

from autograder.errors import UserError
from autograder.results import MEND_FIRST
from autograder.sandbox.host.student import Student, StudentError, StudentGone

# Runs in the sandbox. A method looks names up in the globals of its class's module, as a function does.
_REPLACE = """
answer = student_namespace.get(question)
namespaces = [getattr(getattr(answer, "forward", answer), "__globals__", student_namespace)]
if student_namespace is not namespaces[0]:
    namespaces.append(student_namespace)
originals = [{name: names[name] for name in replaced if name in names} for names in namespaces]
for names in namespaces:
    names.update({name: globals()[name] for name in replaced})


def restore():
    for names, original in zip(namespaces, originals):
        for name in replaced:
            names.pop(name, None)
        names.update(original)
"""


def follow_through(
    test: Callable[[Student], None], source: str, replaced: Sequence[str]
) -> Callable[[Student], None]:
    """A hidden test that runs again if it fails. ``source`` defines the course's versions of the names ``replaced``.

    The test fails with the message of the second run. Afterwards the student's names are restored.
    """
    definitions = definitions_for(source, replaced)

    def run_again(student: Student) -> None:
        first: Exception | None = None
        wrong = [name for name in replaced if student.wrong is None or name in student.wrong]
        if student.endless.isdisjoint(wrong):
            try:
                return test(student)
            except (StudentGone, UserError):
                raise
            except Exception as failure:  # also errors of the test on a returned value
                first = failure
            if not wrong:
                raise first
        scene = student.scene(definitions + _REPLACE, question=student.name, replaced=wrong)
        student.replaced = tuple(wrong)
        try:
            student.start_trace()  # the diagnosis must see the answer without a wrong helper's effects
            test(student)
            student.note = f"with the course's {' and '.join(wrong)} in place of your own"
        except StudentError:
            if first is None or isinstance(first, StudentError):
                raise
            student.note = f"this needs your own {' and '.join(wrong)}, which is not right: {MEND_FIRST}"
        finally:
            student.replaced = ()
            with contextlib.suppress(StudentGone):  # the test's own exception must be raised
                scene.run("restore()")

    return run_again


def definitions_for(source: str, names: Sequence[str]) -> str:
    """The imports of ``source``, the definitions of ``names``, and the definitions that these call."""
    tree = ast.parse(source)
    definitions = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    kept, pending = set(), list(names)
    while pending:
        name = pending.pop()
        if name not in kept:
            kept.add(name)
            pending += [
                n.id for n in ast.walk(definitions[name]) if isinstance(n, ast.Name) and n.id in definitions
            ]
    tree.body = [node for node in tree.body if getattr(node, "name", None) in (None, *kept)]
    return ast.unparse(tree)
