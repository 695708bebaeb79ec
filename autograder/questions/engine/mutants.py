"""Names a wrong answer that nobody foresaw: it behaves as a right answer with one edit.

The edits of the master's and of the alternatives' code run in a process of their own with limits, once for a question and
salt. A sentence is given where all edits that behave as the answer does say one thing; it changes no points.
"""

from __future__ import annotations

import functools
import inspect
import json
import pickle
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from autograder.course.masters import solution, solution_source
from autograder.questions.engine.compare import Outcome, alike
from autograder.questions.engine.draw import Ask, answering, asks_of, needs_torch, outcome_of
from autograder.questions.engine.edits import edits_of
from autograder.questions.engine.judge import Observations
from autograder.questions.engine.question import Question, questions_of

#: So many edits are tried at most, the master's first.
MAX_EDITS = 400
#: CPU seconds for one edit, and for the process that tries all; seconds of the clock, for one that waits; its bytes.
SECONDS, ALL_SECONDS, PATIENCE = 1.0, 60, 900
MAX_BYTES = 8 << 30


@dataclass(frozen=True)
class Profile:
    """What an edited answer does: in words, and in each call. ``of``: whose edit it is, the master's first."""

    of: int
    rank: int
    does: str
    outcomes: tuple[Outcome, ...]


def generated_name(question: Question, salt: str, seen: Observations) -> str:
    """What a wrong answer does, in a sentence; "" where no edit behaves so, or several that say different things.

    ::

        generated_name(question, salt, judgement.seen)
        # "On our inputs your results are those of a right answer that ignores `mask`."
    """
    if seen.right or all(outcome.error for outcome in seen.outcomes):
        return ""
    profiles = profiles_of(question.lab, question.name, salt)
    same = [one for one in profiles if _behaves_as(seen, one.outcomes)]
    best = min(((one.of, one.rank) for one in same), default=None)
    said = {one.does for one in same if (one.of, one.rank) == best}
    return (
        f"On our inputs your results are those of a right answer that {said.pop()}." if len(said) == 1 else ""
    )


def _behaves_as(seen: Observations, outcomes: tuple[Outcome, ...]) -> bool:
    for ask, mine, other, word in zip(seen.asks, seen.outcomes, outcomes, seen.wrong, strict=True):
        if ask.difference(other) != word or (word and not alike(mine, other, *ask.tolerances)):
            return False
    return True


@functools.lru_cache(maxsize=64)
def profiles_of(lab: str, name: str, salt: str) -> tuple[Profile, ...]:
    """What each edit that is wrong does, tried in another process; none where that fails."""
    command = [sys.executable, "-c", f"from {__name__} import main; main()"]
    given = json.dumps([lab, name, salt]).encode()
    try:
        child = subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return ()
    profiles: tuple[Profile, ...] = pickle.loads(child.stdout)
    return profiles


def main() -> None:
    """Try the edits of the question that standard input names, under limits, and write what they do."""
    signal.signal(signal.SIGVTALRM, _ring)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (ALL_SECONDS, ALL_SECONDS))
    lab, name, salt = json.load(sys.stdin)
    sys.stdout.buffer.write(pickle.dumps(tuple(_tried(questions_of(lab)[name], salt))))


class _TooLong(BaseException):
    """Raised by the alarm; no ``Exception``, so that no edited code catches it."""


def _ring(*_: Any) -> None:
    raise _TooLong


def _tried(question: Question, salt: str) -> Iterator[Profile]:
    asks = asks_of(question, salt)
    for of, rank, does, function in islice(_edited(question), MAX_EDITS):
        outcomes = _outcomes(question, function, asks)
        if outcomes and any(ask.difference(outcome) for ask, outcome in zip(asks, outcomes, strict=True)):
            yield Profile(of, rank, does, outcomes)


def _outcomes(question: Question, function: Any, asks: tuple[Ask, ...]) -> tuple[Outcome, ...]:
    """What an edited answer does in each call; nothing where that takes too long."""
    student = answering(question, function)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS, SECONDS)
    try:
        return tuple(outcome_of(ask.part, ask.case, ask.seed, student) for ask in asks)
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
