"""Tries a failed hidden test again with right answers to *earlier* questions, so that a slip is paid for once.

A later question often builds on the student's own earlier answers. Where one of those is wrong or not written,
every test of the later question would fail, whatever it is worth itself::

    @hidden_test("multi_head_attention")
    @follow_through("def split_heads(x, h): ...", "split_heads")
    def test_a_sentence_listens_to_itself(student, rng): ...

The student's own earlier answers come first, so an answer that fits its own helpers loses nothing. Then the right
ones stand in their place. Where the answer stumbles over these, because it hands on an argument of the student's own, or
relies on what its own helper returns (a ``Counter``, say), the right ones are put behind the signature and the type of
the student's. The best try counts.

The right versions run beside the student's code, which can find them there. So only those go that are named, with what
they need: never the answer to the question itself, or to a later one.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
from collections.abc import Callable
from typing import Any

from autograder.sandbox.host.rpc import StudentError, StudentGone
from autograder.testing.expect import Failed

# Runs in the sandbox. A method finds the names in the globals of its class's module, as a function does.
_REPLACE = """
import inspect


# ``right`` for calls that fit ``own``: arguments go by their place, and more than it takes are left out.
def called_as(own, right):
    theirs, known = inspect.signature(own), list(inspect.signature(right).parameters)

    def call(*arguments, **named):
        given = theirs.bind(*arguments, **named).arguments
        places = dict(zip(theirs.parameters, known))
        return right(**{places[name]: value for name, value in given.items() if name in places})

    return call


# ``right`` in the form of ``own``: called like it, and with its kind of result where that is a special case of right's.
def in_the_form_of(own, right):
    if isinstance(right, type):
        methods = [name for name in ("__init__", "forward") if name in vars(own) and name in vars(right)]
        return type(right.__name__, (right,), {name: called_as(vars(own)[name], vars(right)[name]) for name in methods})
    call = called_as(own, right)

    def as_own(*arguments, **named):
        result = call(*arguments, **named)
        kind = type(own(*arguments, **named))
        if kind is type(result) or not issubclass(kind, type(result)):
            return result
        return kind(*result) if hasattr(kind, "_fields") else kind(result)

    return as_own


answer = student_namespace[question]
homes = [getattr(getattr(answer, "forward", answer), "__globals__", student_namespace)]
if student_namespace is not homes[0]:
    homes.append(student_namespace)
own = [{name: home[name] for name in replaced if name in home} for home in homes]
for home, kept in zip(homes, own):
    right = {name: globals()[name] for name in replaced}
    home.update(right | {name: in_the_form_of(kept[name], right[name]) for name in kept if fit})


def restore():
    for home, kept in zip(homes, own):
        for name in replaced:
            home.pop(name, None)
        home.update(kept)
"""


def follow_through(source: str, *replaced: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator, below ``hidden_test``: ``source`` defines right versions of the names ``replaced``.

    The test fails with what the last try says; all draw the same inputs. Afterwards the student's own names are back
    in place.
    """
    needed = definitions_for(source, replaced)

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def tried_again(student: Any, **named: Any) -> None:
            again = copy.deepcopy(named)  # the generator, before the first try draws from it
            try:
                return test(student, **named)
            except (Failed, StudentError) as failure:
                first = failure
            try:
                with_right_ones(student, copy.deepcopy(again), first)
            except StudentError as second:
                with_right_ones(student, again, second, fit=True)

        def with_right_ones(student: Any, named: dict, earlier: Exception, fit: bool = False) -> None:
            """The test with right earlier answers; to ``fit`` they take the form of the student's own."""
            bindings = {"question": student.name, "replaced": list(replaced), "fit": fit}
            try:
                scene = student.scene(needed + _REPLACE, **bindings)
            except StudentError:  # the question is not in the notebook, or an own answer is no function
                raise earlier from None
            student.start_trace()  # a diagnosis sees the student's answer, not what it made of a wrong helper
            try:
                test(student, **named)
            finally:
                with contextlib.suppress(StudentGone):  # why the test ended is what counts
                    scene.run("restore()")

        return tried_again

    return mark


def definitions_for(source: str, names: tuple[str, ...]) -> str:
    """What of ``source`` defines ``names``: its imports, these definitions, and those that they call."""
    tree = ast.parse(source)
    homes = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    kept, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting += [n.id for n in ast.walk(homes[name]) if isinstance(n, ast.Name) and n.id in homes]
    tree.body = [node for node in tree.body if getattr(node, "name", None) in (None, *kept)]
    return ast.unparse(tree)
