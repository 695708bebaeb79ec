"""Runs the public checks of a function and shows their card to the student.

``questions.py`` makes the checks from data that ``autograder build`` writes. A card explains only the first ✗: a guess
from a later check, whose numbers may be wrong for the same reason, may be false.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import linecache
import os
import sys
import textwrap
import traceback
from dataclasses import replace
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from coursekit.checks import time_limit
from coursekit.checks.forbidden_calls import used_in
from coursekit.checks.questions import CardRun, NotMet, PartCheck, questions_of
from coursekit.notebook import cards
from coursekit.notebook.verdict import Mark, Verdict, is_stub, last_verdicts


class NotYet(Exception):
    """A card's text as an exception, for nbgrader's Validate, which shows errors but no cards."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


_lab: str | None = None
_last_card: cards.Card | None = None


def start(lab: str) -> None:
    """Begin a lab: load its checks, set the figures' style and show how the lab works."""
    global _lab
    _lab = lab
    last_verdicts.clear()
    if "IPython" in sys.modules:  # a program shows nobody a figure: importing matplotlib would only take time
        from coursekit import figures

        figures.use_style()
        figures.describe_figures()
    cards.show(cards.started(lab, list(questions_of(lab))))


def checks_of(lab: str, question: str) -> tuple[PartCheck, ...]:
    """The public checks of a question, in the order of the file."""
    return tuple(questions_of(lab).get(question, ()))


def forbidden_calls(lab: str, question: str) -> tuple[str, ...]:
    """The library functions that an answer to ``question`` must not call, because they do the student's work."""
    return questions_of(lab)[question].forbidden if question in questions_of(lab) else ()


def judge(
    lab: str, question: str, function: Any, errors: list[tuple[str, Exception]] | None = None
) -> Verdict:
    """Run the public checks of ``question`` on ``function`` and return the verdict.

    Each error is appended to ``errors`` as (name of the check, exception).

    The first failed mark has a hint. A later one has a hint only for an error, which needs no guess. No check runs after one
    that takes too long.
    """
    checks = checks_of(lab, question)
    if not checks:
        raise ValueError(f"lab {lab} has no question “{question}”")
    marks: list[Mark] = []
    for public in checks:
        title = " ".join((inspect.getdoc(public) or public.__name__).split())
        try:
            time_limit.within(time_limit.SECONDS, public, function)
            marks.append(Mark(title, True))
        except NotMet:
            marks.append(Mark(title, False))
        except Exception as error:
            if errors is not None:
                errors.append((public.__name__, error))
            unwritten = _unwritten_question(lab, error) if is_stub(error) else question
            if is_stub(error) and unwritten in ("", question):
                return Verdict(question, (), written=False)
            calls = f"it calls your `{unwritten}`, which is not written yet: write that first"
            message = calls if is_stub(error) else _error_in_check(error)
            marks.append(Mark(title, False, "" if message in {mark.hint for mark in marks} else message))
        except SystemExit:
            ended = "your function ends the program: return the result, without exit() or SystemExit"
            marks.append(Mark(title, False, "" if ended in {mark.hint for mark in marks} else ended))
        except time_limit.TookTooLong:
            marks.append(Mark(title, False, _too_long(question, len(checks) - len(marks) - 1)))
            break
    card_run = checks[0].card_run
    marks = card_run.explained(marks, function, _where_it_raised)
    if not isinstance(function, type):
        _add_differing_answers(marks, function, card_run)
    card_run.forget()
    marks += _forbidden_marks(lab, question, function)
    return Verdict(question, tuple(marks))


#: The hint for an answer that gives another result when called again.
ANSWERS_DIFFER = (
    "called again with the same arguments, it gives another result: does it keep something of an earlier call (in a list or array "
    "made outside the function, or in the default of an argument), or draw from a generator of its own?"
)


#: The hint for an answer that overwrites a result that it returned before.
RESULTS_OVERWRITTEN = (
    "a returned result changes when your function is called again: each call writes into the same array or list. Make a new one "
    "inside the function"
)


def _add_differing_answers(marks: list[Mark], answer: Any, card_run: CardRun) -> None:
    """Add a red line if the answer, called again, gives another result or changes an earlier one.

    This line's hint then replaces those about values, which may be false, unless all values are those of one misconception.
    """
    if card_run.hint():
        return
    try:
        if time_limit.within(time_limit.SECONDS, card_run.answers_differ, answer):
            title, why = "The same call gives the same result again.", ANSWERS_DIFFER
            why = card_run.hint(again=True) or why
        elif card_run.overwrites:
            title, why = "A result stays as it is when the function is called again.", RESULTS_OVERWRITTEN
        else:
            return
    except (NotImplementedError, SystemExit, time_limit.TookTooLong):
        return
    red = next((place for place, mark in enumerate(marks) if not mark.passed), None)
    if red is None:
        marks.append(Mark(title, False, why))
    else:
        marks[red:] = [
            replace(mark, hint=why if i == 0 else "") if not mark.passed else mark
            for i, mark in enumerate(marks[red:])
        ]


def _unwritten_question(lab: str, error: BaseException) -> str:
    """The question of the lab whose stub raised the error; "" if none did."""
    frames = traceback.walk_tb(error.__traceback__)
    name = [frame.f_code.co_qualname.split(".")[0] for frame, _ in frames][-1]
    return name if name in questions_of(lab) else ""


def _mend_that_first(verdict: Verdict, function: Any) -> Verdict:
    """The verdict, with one hint in place of all if a red answer uses an earlier one whose card is also red.

    The failures may follow from the earlier answer, so other hints could be false.
    """
    used = _names_used(function)
    red = [name for name, last in last_verdicts.items() if name in used and last.written and not last.passed]
    red = [name for name in red if name != verdict.question]
    if verdict.passed or not verdict.written or not red:
        return verdict
    first = next(i for i, mark in enumerate(verdict.marks) if not mark.passed)
    hint = f"your earlier `{red[0]}` is not right yet: mend that first"
    marks = (replace(mark, hint=hint if i == first else "") for i, mark in enumerate(verdict.marks))
    return replace(verdict, marks=tuple(marks))


def _names_used(answer: Any) -> set[str]:
    """The global names in the code of an answer, and of the notebook's functions and classes that it uses."""
    parts = _with_helpers(answer)
    names = {name for part in parts for code in _codes_of(part) for name in _names_in(code)}
    return names | {one.__qualname__ for part in parts for one in _functions_of(part)}


def _with_helpers(answer: Any) -> list[Any]:
    """An answer and the notebook's functions and classes that it uses, directly or not."""
    found, beside = [answer], names_beside(answer)
    home = beside.get("__name__")
    for part in found:
        for code in _codes_of(part):
            helpers = [beside.get(name) for name in sorted(_names_in(code))]
            found += [
                helper
                for helper in helpers
                if any(one.__globals__.get("__name__") == home for one in _functions_of(helper))
                and not any(helper is known for known in found)
            ]
    return found


def _names_in(code: CodeType) -> set[str]:
    """The notebook's names that code uses: ``softmax``, but not the method in ``x.softmax()``."""
    steps = dis.get_instructions(code)
    names = {str(step.argval) for step in steps if step.opname.endswith(("_GLOBAL", "_GLOBALS", "_NAME"))}
    return names.union(*(_names_in(part) for part in code.co_consts if isinstance(part, CodeType)))


def _codes_of(answer: Any) -> list[CodeType]:
    return [part.__code__ for part in _functions_of(answer)]


#: Libraries whose functions, such as wrappers of decorators and methods of classes, are no part of an answer.
_LIBRARIES = frozenset(["torch", "numpy", "scipy", "matplotlib", *sys.stdlib_module_names])
_MAX_OBJECTS = 1000


def _functions_of(answer: Any) -> list[FunctionType]:
    """The student's functions that make up an answer.

    These are the function itself, without a library's decorator, cache or ``partial``; functions that the notebook's
    decorators wrap; and the methods and stored functions of a class or object.
    """
    found: list[FunctionType] = []
    seen: dict[int, Any] = {}
    waiting = [answer]
    while waiting and len(seen) < _MAX_OBJECTS:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen[id(part)] = part
        if isinstance(part, FunctionType) and not _is_a_librarys(part.__globals__.get("__name__")):
            found.append(part)
        waiting += reversed([held for held in _objects_in(part) if _may_contain_code(held)])
    return found


def _is_a_librarys(module: Any) -> bool:
    return isinstance(module, str) and module.split(".")[0] in _LIBRARIES


#: Wrappers of a class's functions that are not callable themselves.
_CLASS_WRAPPERS = (classmethod, property, functools.cached_property, functools.partialmethod)


def _may_contain_code(part: Any) -> bool:
    return callable(part) or isinstance(part, _CLASS_WRAPPERS)


def _objects_in(part: Any) -> list[Any]:
    """The objects that a function, class or object contains or wraps."""
    if isinstance(part, ModuleType):
        return []
    if isinstance(part, property):
        return [part.fget, part.fset]
    if isinstance(part, (functools.partial, functools.partialmethod)):
        return [part.func, *part.args, *part.keywords.values()]
    if isinstance(part, (classmethod, staticmethod, MethodType)):
        return [part.__func__]
    if isinstance(part, type):
        kinds = [each for each in part.__mro__ if not _is_a_librarys(each.__module__)]
        return [method for each in kinds for method in vars(each).values()]
    inside = [*getattr(part, "__dict__", {}).values()]  # includes ``__wrapped__``
    return [*inside, *(_closed_over(part) if isinstance(part, FunctionType) else [type(part)])]


def _closed_over(function: FunctionType) -> list[Any]:
    """The values in a function's closure, such as the function that a decorator wraps."""
    values = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not bound yet
            values.append(cell.cell_contents)
    return values


def _too_long(question: str, left: int) -> str:
    message = f"`{question}` was stopped in this check after {time_limit.SECONDS:.0f} seconds: does a loop never end?"
    return (
        f"{message} ({left} more {'check was' if left == 1 else 'checks were'} not run)" if left else message
    )


def _forbidden_marks(lab: str, question: str, function: Any) -> list[Mark]:
    names = forbidden_calls(lab, question)
    source = "\n".join(map(_source_of, _with_helpers(function))).strip() if names else ""
    if not source:
        return []
    found = {
        name.rpartition(".")[2]: name for name in reversed(used_in(source, names, names_beside(function)))
    }
    used = ", ".join(reversed(found.values()))  # a function with two names is listed once
    hint = f"this question asks you to write it yourself, so {used} may not be used" if used else ""
    return [Mark("It is your own work: no library function does the job.", not used, hint)]


def _source_of(answer: Any) -> str:
    """The source of a function, or of a class's own methods (``inspect`` finds no source for a notebook's class)."""
    texts: dict[bool, list[str]] = {False: [], True: []}  # functions, and methods
    for part in _functions_of(answer):
        with contextlib.suppress(OSError, TypeError):
            text = textwrap.dedent("".join(inspect.getsourcelines(part.__code__)[0]))
            texts["." in part.__qualname__.rpartition("<locals>.")[2]].append(text)
    methods = textwrap.indent("\n".join(texts[True]), "    ")
    return "\n".join([*texts[False], *(["class _:\n" + methods] if methods else [])])


def names_beside(answer: Any) -> dict[str, Any]:
    """The global names of the notebook that defines an answer: a function, class or object."""
    homes = [part.__globals__ for part in _functions_of(inspect.unwrap(answer))]
    own = (home for home in homes if not str(home.get("__name__")).startswith("coursekit."))
    return next(own, homes[0] if homes else {})


def _error_in_check(error: Exception) -> str:
    """A sentence about an error in the check itself."""
    words = f"{type(error).__name__}: {_shortened(str(error))}"
    return f"the check cannot use what your answer returns ({words}): has it the form that the text asks for?"


def _where_it_raised(error: Exception) -> str:
    """A sentence about a call's error, with the student's line: the last frame outside the kit and libraries."""
    message = f"your function raised {type(error).__name__}: {_shortened(str(error))}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_notebook(f.filename)]
    if frames:
        line = frames[-1].line or linecache.getline(frames[-1].filename, frames[-1].lineno or 0).strip()
        message += f" (line {frames[-1].lineno} of its cell: {line})"
    return message


def _is_notebook(filename: str) -> bool:
    return "ipykernel" in filename or filename.startswith(("<", "/tmp/ipy")) or "ipython-input" in filename


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"


def check(question: str, function: Any) -> cards.Card:
    """Run the public checks of ``question`` and show a card: which hold, which do not, and why.

    In nbgrader's Validate, a card that is not green is raised as ``NotYet``.
    """
    if _lab is None:
        raise ValueError("run the first cell of the lab (start) before you check a function")
    verdict = _mend_that_first(judge(_lab, question, function), function)
    last_verdicts[question] = verdict
    done = sum(last.passed for last in last_verdicts.values())
    global _last_card
    _last_card = cards.checked(verdict, done, len(questions_of(_lab)))
    if os.environ.get("NBGRADER_VALIDATING") and not verdict.passed:
        raise NotYet(_last_card.words)
    return cards.present(_last_card)


def show_last_card() -> None:
    """Display the card of the last check again, for a cell whose last line is not the check."""
    if _last_card is not None and cards.in_notebook():
        cards.show(_last_card)


def state() -> tuple[str, list[str], dict[str, Verdict]]:
    """The started lab, its questions, and the last verdict on each."""
    if _lab is None:
        raise ValueError("run the first cell of the lab (start) first")
    return _lab, list(questions_of(_lab)), last_verdicts


def progress() -> cards.Card:
    """A card with every question of the lab and its state: done, begun or still to do."""
    return cards.present(cards.overview(*state()))
