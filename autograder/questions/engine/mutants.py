"""Names a wrong answer that nobody foresaw: it behaves as a right answer with one edit.

The edits of the master's and of the alternatives' code run in a process of their own with limits, once for a question and
salt. A sentence is given where all edits that behave as the answer does say one thing; it changes no points.
"""

from __future__ import annotations

import functools
import inspect
import json
import pickle
import signal
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from autograder.course.masters import course_root, solution, solution_source, use_root
from autograder.questions.engine.as_tests import hidden_tests
from autograder.questions.engine.draw import needs_torch
from autograder.questions.engine.edits import edits_of
from autograder.questions.engine.question import Question, questions_of
from autograder.sandbox.host.rpc import TraceEntry
from autograder.sandbox.host.student import Student
from autograder.testing import run
from autograder.testing.evidence import traces_match

#: So many edits are tried at most, the master's first.
MAX_EDITS = 400
#: CPU seconds for one edit, and for the process that tries all; seconds of the clock, for one that waits; its bytes.
SECONDS, ALL_SECONDS, PATIENCE = 1.0, 20, 40
MAX_BYTES = 8 << 30


@dataclass(frozen=True)
class Seen:
    """What came of a hidden test: whether it passed, what it said, and what the answer returned."""

    passed: bool
    message: str
    trace: tuple[TraceEntry, ...]

    def is_like(self, other: Seen) -> bool:
        """Whether both passed, or both failed for the same reason with the same values."""
        if self.passed or other.passed:
            return self.passed == other.passed
        return self.message == other.message and traces_match(self.trace, other.trace)


@dataclass(frozen=True)
class Profile:
    """What an edited answer does: in words, and in each test. ``of``: whose edit it is, the master's first."""

    of: int
    rank: int
    does: str
    seen: tuple[Seen, ...]


def generated_name(lab: str, question: str, runs: Sequence[run.TestRun]) -> str:
    """What a wrong answer does, in a sentence; "" where no edit behaves so, or several that say different things.

    ::

        generated_name(lab, "padding_mask", runs)
        # "On our inputs your results are those of a right answer that ignores `mask`."
    """
    seen = seen_in(runs)
    if all(entry.kind == "error" for one in seen for entry in one.trace) or all(one.passed for one in seen):
        return ""
    same = [
        profile
        for profile in profiles_of(lab, question, run.salt())
        if all(one.is_like(other) for one, other in zip(seen, profile.seen, strict=True))
    ]
    best = min(((one.of, one.rank) for one in same), default=None)
    said = {one.does for one in same if (one.of, one.rank) == best}
    return (
        f"On our inputs your results are those of a right answer that {said.pop()}." if len(said) == 1 else ""
    )


def seen_in(runs: Sequence[run.TestRun]) -> tuple[Seen, ...]:
    """What the tests of the question's families and scenarios saw, without those of its rules."""
    return tuple(Seen(r.result.passed, r.result.message, r.trace) for r in runs if r.test.weight)


@functools.lru_cache(maxsize=64)
def profiles_of(lab: str, name: str, salt: str) -> tuple[Profile, ...]:
    """What each edit that is wrong does, tried in another process; none where that fails."""
    quick = "import autograder.startup.lean_imports"  # before what it makes quick
    command = [sys.executable, "-c", f"{quick}; from {__name__} import main; main()"]
    given = json.dumps([lab, name, salt]).encode()
    try:
        child = subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return ()
    profiles: tuple[Profile, ...] = pickle.loads(child.stdout)
    return profiles


def main() -> None:
    """Try the edits of the question that standard input names, under limits, and write what they do."""
    import resource  # not everywhere

    signal.signal(signal.SIGVTALRM, _ring)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (ALL_SECONDS, ALL_SECONDS))
    use_root(course_root())
    lab, name, salt = json.load(sys.stdin)
    run.set_salt(salt)
    warnings.simplefilter("ignore")
    sys.stdout.buffer.write(pickle.dumps(tuple(_tried(questions_of(lab)[name]))))


class _TooLong(BaseException):
    """Raised by the alarm; no ``Exception``, so that no edited code catches it."""


def _ring(*_: Any) -> None:
    raise _TooLong


def _tried(question: Question) -> Iterator[Profile]:
    tests = [  # every other answer is the master's here: nothing has to be put in its place
        replace(test, function=getattr(test.function, "__wrapped__", test.function))
        for test in hidden_tests(question.lab)[question.name]
        if test.weight
    ]
    for of, rank, does, function in islice(_edited(question), MAX_EDITS):
        seen = _seen(question, function, tests)
        if seen and not all(one.passed for one in seen):
            yield Profile(of, rank, does, seen)


def _seen(question: Question, function: Any, tests: list[run.HiddenTest]) -> tuple[Seen, ...]:
    """What an edited answer does in each test; nothing where that takes too long."""
    student = Student.local_namespace({**solution(question.lab), question.name: function}, question.name)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, SECONDS)
    try:
        return seen_in([run.run_test(test, student) for test in tests])
    except _TooLong:
        return ()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _edited(question: Question) -> Iterator[tuple[int, int, str, Any]]:
    """The edits of the master and of the alternatives as functions: whose, of which rank, what it does."""
    names = solution(question.lab)
    given = [name for name, value in names.items() if callable(value)]
    sources = [(solution_source(question.lab, question.name), question.name, names)]
    for function in question.alternatives:
        if needs_torch(question.reference) or not needs_torch(function):
            text = textwrap.dedent(inspect.getsource(function))
            sources.append((text, function.__name__, function.__globals__))
    for of, (source, name, names) in enumerate(sources):
        for edit in edits_of(source, name, given):
            namespace = dict(names)
            exec(compile(edit.source, f"<edit of {name}>", "exec"), namespace)
            yield of, edit.rank, edit.does, namespace[name]
