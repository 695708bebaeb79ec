"""Runs a failed hidden test again with right answers to *earlier* questions, so that a slip costs points once.

A later question often builds on the student's earlier answers. Where one of those is wrong or not written,
every test of the later question would fail, however good the later answer is::

    @hidden_test("multi_head_attention")
    @follow_through("def split_heads(x, h): ...", "split_heads")
    def test_a_sentence_listens_to_itself(student, rng): ...

The first run uses the student's earlier answers, so an answer that fits its own helpers loses nothing. The second one
replaces them by the right ones. Where the answer raises an error with these, because it passes an argument that only
the student's helper has, or relies on the type that it returns (a ``Counter``, say), a third run gives the right ones
the signature and the result type of the student's; and where the additional argument makes logarithms of the result, say, or
shares a distribution among some words only, or returns a part less 1 at one place (the error p − 1), it does so with the right
one; a function that is handed on acts where it did (``drop`` in ``residual(x, sublayer, norm, drop)``). A run that passes ends
it. Where an additional argument does something that is not understood, no misconception is named: the run without it says
nothing about the answer.

The right versions run beside the student's code, which can find them there. So only those are sent that are named, with
what they call: never the answer to the question itself or to a later one.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.errors import UserError
from autograder.sandbox.host.rpc import StudentError, StudentGone
from autograder.testing.expect import Failed

# Runs in the sandbox. A method finds the names in the globals of its class's module, as a function does.
_REPLACE = """
import contextlib
import inspect
import sys

import numpy as np

# Whether an additional argument of the student's did something that its right version could not do.
unexplained = False


# PyTorch draws after this block what it would have drawn without it.
def draws_kept():
    torch = sys.modules.get("torch")
    return torch.random.fork_rng(devices=[]) if torch else contextlib.nullcontext()


# ``right``, to be called with the signature of ``own``: arguments are passed by position, surplus ones are dropped.
def called_as(own, right, unexplained_if_more=False):
    signature, names = inspect.signature(own), list(inspect.signature(right).parameters)

    def call(*args, **kwargs):
        global unexplained
        bound = signature.bind(*args, **kwargs).arguments
        name_of = dict(zip(signature.parameters, names))
        unexplained |= unexplained_if_more and not set(bound) <= set(name_of)
        return right(**{name_of[name]: value for name, value in bound.items() if name in name_of})

    return call


# What an additional argument of the student's may make of a result, as ``log=True`` or ``floor=0`` does.
MADE_OF_A_RESULT = (
    np.log, np.log2, np.log10, np.exp, np.negative, lambda x: -np.log(x), np.transpose, lambda x: np.where(x > 0, x, 0)
)


# The parts of ``found``, made of ``result`` where the same was made of the parts of ``plain``: a part as it is, or with ones added
# or taken off at some places, as in p − 1 at the right word. Whole numbers tell what was done; anything else may come of a wrong value.
def made_of_parts(found, plain, result):
    global unexplained
    made = []
    for part in found:
        marks = [np.subtract(part, one) if np.shape(part) == np.shape(one) else np.nan for one in plain]
        whole = [np.abs(mark - np.round(mark)).max() < 1e-6 and np.abs(mark).max() < 1.5 for mark in marks]
        kin = [i for i in range(len(plain)) if whole[i]]
        which = min(kin, key=lambda i: np.abs(marks[i]).sum(), default=None)
        unexplained |= which is None
        made.append(part if which is None else result[which] + np.round(marks[which]))
    return tuple(made)


# What was made of ``plain``, made of ``result``; ``found`` itself where that is not seen.
def made_alone(found, plain, result):
    for make in MADE_OF_A_RESULT:
        with np.errstate(all="ignore"), contextlib.suppress(Exception):
            made = make(plain)
            same_kind = np.asarray(bare(made)).dtype.kind == np.asarray(bare(found)).dtype.kind  # log(1) is no place in an order
            if same_kind and np.shape(made) == np.shape(found) and np.allclose(made, bare(found), equal_nan=True):
                return make(result)
    return found


# Values to compare: without their gradient, which NumPy refuses.
def bare(value):
    return tuple(map(bare, value)) if type(value) is tuple else value.detach() if hasattr(value, "detach") else value


# What the additional arguments of ``own`` make of its result, made of ``result``; ``result`` itself where that is not seen.
# ``keepdims=True`` keeps an axis of length one, and ``dtype=bool`` makes a mask: the same values in another form.
def made_of(result, own, right, args, kwargs):
    signature = inspect.signature(own)
    bound = signature.bind(*args, **kwargs).arguments
    usual = [*signature.parameters][: len(inspect.signature(right).parameters)]
    if not set(bound) - set(usual):
        return result
    try:
        with np.errstate(all="ignore"), draws_kept():
            given, plain = own(*args, **kwargs), bare(own(**{name: bound[name] for name in usual if name in bound}))
            found = bare(given)
            if type(found) is type(plain) is type(result) is tuple:
                return made_of_parts(found, plain, result)
            if type(found) is tuple:  # the result, with something beside it: its logarithm, say
                is_it = [np.shape(part) == np.shape(plain) and np.allclose(part, plain, equal_nan=True) for part in found]
                made = [made_alone(part, plain, result) for part in given]
                return tuple(result if it else more for more, it in zip(made, is_it)) if any(is_it) else result
            same_size = np.size(plain) == np.size(found) and np.shape(plain) != np.shape(found)
            if isinstance(found, np.ndarray) and (same_size or found.dtype != np.asarray(plain).dtype):
                if np.array_equal(np.reshape(plain, found.shape), found, equal_nan=True):
                    return np.reshape(result, found.shape).astype(found.dtype)
            if np.shape(found) == np.shape(plain) == np.shape(result):  # some shares are left out, the others make one
                kept = np.where(np.asarray(found) != 0, 1.0, 0.0)
                if not kept.all() and np.allclose(found, plain * kept / np.sum(plain * kept)):
                    return result * kept / np.sum(result * kept)
            made = made_alone(found, plain, result)
            return result if made is found else made
    except Exception:
        pass
    return result


def same_tensors(one, other):
    torch = sys.modules.get("torch")
    tensors = torch and isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
    return bool(tensors and one.shape == other.shape and torch.allclose(one, other, equal_nan=True))


# The arguments of a call, an additional function put behind or before one of the usual ones if ``own`` makes the same of
# that: so ``drop`` in ``residual(x, sublayer, norm, drop)`` acts on what the sublayer says.
def with_functions_joined(own, right, args, kwargs):
    global unexplained
    signature = inspect.signature(own)
    bound = dict(signature.bind(*args, **kwargs).arguments)
    names = [*signature.parameters][: len(inspect.signature(right).parameters)]
    usual = {name: bound[name] for name in names if name in bound}
    more = {name: value for name, value in bound.items() if name not in names}
    if not more or not any(map(callable, usual.values())):
        return args, kwargs
    try:
        with draws_kept():
            found = own(*args, **kwargs)
        choices = [usual]
        for extra in filter(callable, more.values()):
            for name, value in usual.items():
                if callable(value):
                    choices.append(usual | {name: lambda *y, f=value, g=extra: g(f(*y))})
                    choices.append(usual | {name: lambda *y, f=value, g=extra: f(g(*y))})
        idle = {name: lambda y: y for name in more if signature.parameters[name].default is inspect.Parameter.empty}
        for choice in choices:
            with contextlib.suppress(Exception), draws_kept():
                if same_tensors(own(**choice, **idle), found):
                    return (), choice | idle
        unexplained = True
    except Exception:
        pass
    return args, kwargs


# ``right`` with the signature of ``own``, and with its result type where that is a subclass of right's.
def adapted_to(own, right):
    if isinstance(right, type):
        methods = [name for name in ("__init__", "forward") if name in vars(own) and name in vars(right)]
        calls = {name: called_as(vars(own)[name], vars(right)[name], unexplained_if_more=True) for name in methods}
        return type(right.__name__, (right,), calls)
    call = called_as(own, right)

    def adapted(*args, **kwargs):
        args, kwargs = with_functions_joined(own, right, args, kwargs)
        result = made_of(call(*args, **kwargs), own, right, args, kwargs)
        with draws_kept():
            kind = type(own(*args, **kwargs))
        if kind is type(result) or not issubclass(kind, type(result)):
            return result
        return kind(*result) if hasattr(kind, "_fields") else kind(result)

    return adapted


answer = student_namespace[question]
namespaces = [getattr(getattr(answer, "forward", answer), "__globals__", student_namespace)]
if student_namespace is not namespaces[0]:
    namespaces.append(student_namespace)
originals = [{name: names[name] for name in replaced if name in names} for names in namespaces]
for names, original in zip(namespaces, originals):
    right = {name: globals()[name] for name in replaced}
    names.update(right | {name: adapted_to(original[name], right[name]) for name in original if adapt})


def restore():
    for names, original in zip(namespaces, originals):
        for name in replaced:
            names.pop(name, None)
        names.update(original)
"""


def follow_through(source: str, *replaced: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator, below ``hidden_test``: ``source`` defines right versions of the names ``replaced``.

    The test fails with the message of the last run; all runs draw the same inputs. Afterwards the student's names are
    back in place.
    """
    definitions = definitions_for(source, replaced)

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run_again(student: Any, **arguments: Any) -> None:
            again = copy.deepcopy(arguments)  # the generator, before the first run draws from it
            try:
                return test(student, **arguments)
            except (StudentGone, UserError):
                raise
            except Exception as failure:  # also of what a test makes of a value that came back
                first = failure
            try:
                run_with_right_answers(student, copy.deepcopy(again), first)
            except StudentError as second:
                run_with_right_answers(student, again, second, adapt=True)

        def run_with_right_answers(
            student: Any, arguments: dict[str, Any], earlier: Exception, adapt: bool = False
        ) -> None:
            """Run the test with right earlier answers; ``adapt`` gives them the form of the student's."""
            bindings = {"question": student.name, "replaced": list(replaced), "adapt": adapt}
            try:
                scene = student.scene(definitions + _REPLACE, **bindings)
            except StudentError:  # the notebook lacks the question, or an earlier answer is no function
                raise earlier from None
            student.start_trace()  # a diagnosis sees the answer itself, not what a wrong helper made of it
            try:
                test(student, **arguments)
            except Failed:
                if adapt and scene["unexplained"]:
                    student.observe("an argument of your own", np.ones(1))
                raise
            finally:
                with contextlib.suppress(StudentGone):  # the test's own exception is the one to raise
                    scene.run("restore()")
            student.note = f"with the course's {' and '.join(replaced)} in place of your own"

        return run_again

    return mark


def definitions_for(source: str, names: tuple[str, ...]) -> str:
    """The part of ``source`` that defines ``names``: its imports, their definitions, and those that they call."""
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
