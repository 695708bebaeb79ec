"""A question, as its author writes it: reference, families of inputs, scenarios, misconceptions, alternatives."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import numpy as np
from coursekit.checks.compare import Observed

from autograder.errors import UserError
from autograder.sandbox.host.student import Student

_PACKAGE = "autograder.questions."
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, init=False, eq=False)  # hashed by its identity
class Case:
    """One call of the answer, and the result that the lab's text gives for it.

    ``gives`` holds the numbers in the text; the reference must agree to their digits. None in a tuple stands for a result
    that the text leaves out::

        yield Case(QUERIES, KEYS, MINUTES, gives=([[164.049], [149.515]], None))
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    gives: Any = None

    def __init__(self, *args: Any, gives: Any = None, **kwargs: Any):
        for name, value in (("args", args), ("kwargs", kwargs), ("gives", gives)):
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Family:
    """Inputs of one kind. ``inputs`` yields cases, each a ``Case``, a tuple of arguments or a single argument."""

    name: str
    title: str
    weight: float
    inputs: Callable[[np.random.Generator], Iterable[Any]]
    rtol: float | None = None
    atol: float | None = None
    #: The position of the only result that is compared, of several.
    only: int | None = None
    #: Whether a tiny change of the inputs may change the right value, as at a tie.
    exact_ties: bool = False


@dataclass(frozen=True)
class Scenario:
    """A test that is not one call: ``play`` uses the student's answer and yields observations."""

    name: str
    title: str
    weight: float
    play: Callable[[Student, np.random.Generator], Iterable[Observed]]


@dataclass(frozen=True)
class Answer:
    """A known answer to a question: a misconception, with the hint for all that behave like it, or an alternative."""

    question: str
    name: str
    title: str
    function: Callable[..., Any]
    hint: str = ""
    #: The cost of a misconception, in points.
    costs: float = 0.0
    #: The reason why its cost differs from its families' weight by more than a quarter of the points.
    because: str = ""
    #: The reason why the card does not show the hint.
    card: str = ""


@dataclass(eq=False)
class Question:
    """A question, described by decorators in one file. ``reference`` is a slow and obviously right answer.

    The file's name is the question's; its folder's name is the lab's. ``uses`` names the earlier questions that an answer
    calls. A wrong answer is judged again with the master's answers to them. ``earlier`` is code that replaces some of the
    master's answers, for example to give one a parameter that students add::

        question = Question(additive, uses=("scaled_dot_product_attention",))
    """

    reference: Callable[..., Any]
    uses: tuple[str, ...] = ()
    earlier: str = ""
    #: The library functions that an answer may not call, because the question asks to write them.
    forbidden: tuple[str, ...] = ()
    name: str = ""
    lab: str = ""
    families: list[Family] = field(default_factory=list)
    scenarios: list[Scenario] = field(default_factory=list)
    misconceptions: list[Answer] = field(default_factory=list)
    alternatives: list[Callable[..., Any]] = field(default_factory=list)
    #: Wrong functions for a student's counterexample to expose (``coursekit.break_it``).
    impostors: list[Callable[..., Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        module = self.reference.__module__
        folder, _, file = module.removeprefix(_PACKAGE).rpartition(".")
        if module.startswith(_PACKAGE):
            self.lab, self.name = self.lab or folder[1:], self.name or file
        self.name = self.name or self.reference.__name__

    @property
    def parts(self) -> list[Family | Scenario]:
        """The families and scenarios, from which an answer's points are computed."""
        return [*self.families, *self.scenarios]

    def family(
        self,
        title: str,
        weight: float = 1.0,
        *,
        rtol: float | None = None,
        atol: float | None = None,
        only: int | None = None,
        exact_ties: bool = False,
    ) -> Callable[[_Function], _Function]:
        """Mark a generator function as a family of inputs. It draws from ``rng`` and yields each call's arguments.

        The title appears on card and page. Tolerances replace the usual ones (``compare``). ``only`` is the position of the
        only result, of several, that is compared. Inputs are drawn again if a tiny change of them changes the right value.
        ``exact_ties`` allows such inputs; build the ties from repeated or dyadic numbers::

            @question.family("Masks for a sentence and for all.", weight=3)
            def masks(rng):
                for shape in ((4, 5), (3, 4, 5)):
                    yield *qkv(rng), some_mask(rng, *shape)
        """

        def mark(inputs: _Function) -> _Function:
            self.families.append(Family(inputs.__name__, title, weight, inputs, rtol, atol, only, exact_ties))
            return inputs

        return mark

    def scenario(self, title: str, weight: float = 1.0) -> Callable[[_Function], _Function]:
        """Mark a generator function of ``student`` and ``rng`` as a scenario. It yields observations::

        @question.scenario("Each call makes a new mask.")
        def a_new_mask(student, rng):
            scene = student.scene(WRITE_INTO_THE_MASK, name=student.name)
            yield Observed("the next mask", scene["again"])
        """

        def mark(play: _Function) -> _Function:
            self.scenarios.append(Scenario(play.__name__, title, weight, play))
            return play

        return mark

    def misconception(
        self, title: str, *, costs: float, hint: str = "", because: str = "", card: str = "", **fixed: Any
    ) -> Callable[[_Function], _Function]:
        """Mark a wrong answer that students give. Its docstring is the hint; ``costs`` is in points.

        One function can be several misconceptions: ``fixed`` sets its parameters, ``hint`` replaces the docstring::

            @question.misconception("divided by d_k", costs=1, power=1.0)
            @question.misconception("not divided", costs=1, power=0.0, hint="Your scores are the plain dot products. …")
            def scaled_otherwise(q, k, v, mask=None, *, power): ...
        """

        def mark(function: _Function) -> _Function:
            words = " ".join((hint or inspect.getdoc(function) or "").split())
            if not words:
                raise UserError(f"The misconception “{title}” needs a hint: write it as the docstring.")
            name = f"{function.__name__} ({title})" if fixed else function.__name__
            answer = _with_fixed(function, fixed) if fixed else function
            self.misconceptions.append(Answer(self.name, name, title, answer, words, costs, because, card))
            return function

        return mark

    def alternative(self, function: _Function) -> _Function:
        """Mark a right answer in another style. It must keep all points; inputs on which it differs are drawn again::

        @question.alternative
        def with_einsum(q, k, v, mask=None): ...
        """
        self.alternatives.append(function)
        return function

    def impostor(self, function: _Function) -> _Function:
        """Mark a wrong function that calls the student's right one with other arguments or changes its result::

        @question.impostor
        def never_looks_at_the_keys(right, q, k, v, mask=None):
            '''It takes the queries for keys.
            One survives: your queries do as well for keys. Are they the same?'''
            return right(q, q, v, mask)
        """
        self.impostors.append(function)
        return function

    def anew(self) -> Question:
        """The question from a new copy of its file, so that answers have no state of earlier runs."""
        spec = getattr(sys.modules.get(self.reference.__module__), "__spec__", None)
        if not self.reference.__module__.startswith(_PACKAGE) or spec is None or spec.loader is None:
            return self
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        question: Question = module.question
        return question


def _with_fixed(function: Any, fixed: dict[str, Any]) -> Any:
    """The function with these keyword-only arguments fixed."""
    if inspect.isclass(function):
        raise ValueError(f"{function.__name__} is a class: only a function's parameters can be fixed")
    own = function.__globals__, function.__name__, function.__defaults__, function.__closure__
    copied = types.FunctionType(function.__code__, *own)
    copied.__kwdefaults__ = {**(function.__kwdefaults__ or {}), **fixed}
    copied.__module__, copied.__doc__ = function.__module__, function.__doc__
    return copied


@cache
def questions_of(lab: str) -> dict[str, Question]:
    """Name -> question, for a lab's (full name) questions with a file; empty if the lab has no folder.

    ::

        questions_of("07_self_attention")["kernel_smooth"].misconceptions
    """
    try:
        package = importlib.import_module(f"{_PACKAGE}m{lab}")
    except ModuleNotFoundError:
        return {}
    modules = [
        importlib.import_module(f"{package.__name__}.{info.name}")
        for info in pkgutil.iter_modules(package.__path__)
    ]
    found = [getattr(module, "question", None) for module in modules]
    return {question.name: question for question in found if isinstance(question, Question)}
