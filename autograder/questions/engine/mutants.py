"""Describes an unknown wrong answer that behaves like a right answer with one edit.

A separate process, with limits, runs edits of the master's and the alternatives' code. All edits run on a small call that the
answer got wrong, those with the same outcome on the next call, and so on. Outcomes are kept for later answers. If the best
remaining edits have one behaviour, the sentence says it. It changes no points.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import pickle
import signal
import socket
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any

from coursekit.checks.compare import Outcome, alike

from autograder.course.masters import course_root, solution, solution_source, use_root
from autograder.judging import run
from autograder.questions.engine.as_tests import size_of
from autograder.questions.engine.draw import Trial, needs_torch, outcome_of, trials_of
from autograder.questions.engine.edits import edits_of
from autograder.questions.engine.question import Question, questions_of
from autograder.sandbox.host.student import Student

#: The most edits that are tried, the master's first.
MAX_EDITS = 400
#: The CPU seconds of one call of an edit: a constant, and a multiple of the master's.
CALL_SECONDS, TIMES_MASTER = 0.1, 20
#: The most CPU seconds and wall-clock seconds of one request to the process, and its most bytes of memory.
REQUEST_CPU_SECONDS, REQUEST_SECONDS, MAX_BYTES = 30, 60, 8 << 30


def sentence_of_edit(lab: str, name: str, seen: Mapping[int, Outcome]) -> str:
    """A sentence about a wrong answer; "" if no edit behaves like it, or if several do with different sentences.

    ``seen`` maps the position of each trial to the answer's outcome. Raises OSError or EOFError if the process fails::

        sentence_of_edit(lab, "padding_mask", outcomes_seen(answered))
        # "On our inputs your results are those of a right answer that ignores `mask`."
    """
    question = questions_of(lab).get(name)
    trials = trials_of(question, run.salt()) if question else ()
    if seen.keys() != set(range(len(trials))):
        return ""
    kinds = {place: trials[place].difference(seen[place]) for place in seen}
    if all(seen[place].error for place, kind in kinds.items() if kind):
        return ""  # it is right, or has only errors
    tried = _edit_outcomes(lab, name)
    in_calls = any(kind and trials[place].case is not None for place, kind in kinds.items())
    left = [n for n, edit in enumerate(tried.edits) if in_calls or edit[1] < 2]  # scenarios alone tell less
    for place in sorted(seen, key=lambda place: _sort_key(trials[place], kinds[place])):
        outcomes = tried.in_trial(place, left)
        left = [n for n in left if _behaves_alike(trials[place], seen[place], kinds[place], outcomes[n])]
    best = min((tried.edits[number][:2] for number in left), default=None)
    behaviours = {tried.edits[number][2] for number in left if tried.edits[number][:2] == best}
    if len(behaviours) != 1:
        return ""
    return f"On our inputs your results are those of a right answer that {behaviours.pop()}."


def _sort_key(trial: Trial, kind: str) -> tuple[bool, bool, int]:
    """The sort key of a trial: calls before scenarios, wrong before right, small before large."""
    return trial.case is None, not kind, size_of(trial)


def _behaves_alike(trial: Trial, seen: Outcome, kind: str, other: Outcome | None) -> bool:
    """Whether an edit behaves like the answer in a trial: both right, or both wrong with the same values."""
    if other is None or trial.difference(other) != kind:
        return False
    return not kind or alike(replace(seen, changed=()), other, *trial.tolerances)


@dataclass
class _EditOutcomes:
    """The outcomes of a question's edits, each computed once for a salt."""

    lab: str
    name: str
    outcomes: dict[tuple[int, int], Outcome | None] = field(default_factory=dict)
    #: Whether the process failed on this question. Then it gets no more requests.
    failed: bool = False

    @functools.cached_property
    def edits(self) -> list[tuple[int, int, str]]:
        """The edits as (answer's number, with 0 for the master; how little the words tell; behaviour)."""
        edits: list[tuple[int, int, str]] = self._ask(None, ())
        return edits

    def in_trial(self, place: int, numbers: Sequence[int]) -> dict[int, Outcome | None]:
        """Number -> outcome of these edits in a trial; None for an edit that cannot be compared."""
        new = [number for number in numbers if (place, number) not in self.outcomes]
        for number, outcome in zip(new, self._ask(place, new) if new else (), strict=True):
            self.outcomes[place, number] = outcome
        return {number: self.outcomes[place, number] for number in numbers}

    def _ask(self, *what: Any) -> Any:
        if self.failed:
            raise EOFError
        self.failed = True
        connection = _process()[1]
        try:
            asked = course_root(), run.salt(), self.lab, self.name, *what
            connection.send_bytes(pickle.dumps(asked))  # ``send`` would share the memory of tensors
            if not connection.poll(REQUEST_SECONDS):
                raise TimeoutError
            answer = pickle.loads(connection.recv_bytes())
        except BaseException:  # a late reply must not answer the next request
            end_process()
            raise
        self.failed = False
        return answer


_edit_outcomes = run.cached_for_salt(_EditOutcomes)


@functools.cache
def _process() -> tuple[subprocess.Popen[bytes], Connection]:
    """The process that runs edits. It ends with this one."""
    ours, theirs = socket.socketpair()
    first = "import autograder.startup.one_thread, autograder.startup.lean_imports"  # before NumPy
    command = [sys.executable, "-P", "-c", f"{first}; from {__name__} import main; main({theirs.fileno()})"]
    null = subprocess.DEVNULL
    with theirs:
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=null, stdout=null, stderr=null)
    return process, Connection(ours.detach())


def end_process() -> None:
    """End the process that runs edits. The next answer starts a new one."""
    if _process.cache_info().currsize:
        process, connection = _process()
        _process.cache_clear()
        connection.close()
        process.kill()
        process.wait()


def main(descriptor: int) -> None:
    """Run edits, within limits, as the process at the other end of a socket requests."""
    import resource  # not on every system

    signal.signal(signal.SIGVTALRM, _raise_too_long)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    warnings.simplefilter("ignore")
    with Connection(descriptor) as connection, contextlib.suppress(EOFError):
        while True:
            root, salt, lab, name, place, numbers = pickle.loads(connection.recv_bytes())
            most = int(time.process_time()) + REQUEST_CPU_SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            use_root(root)
            run.set_salt(salt)
            question, edits = questions_of(lab)[name], _edits(lab, name)
            if place is None:
                answer: list[Any] = [edit[:3] for edit in edits]
            else:
                seconds = _masters_seconds(question, place) * TIMES_MASTER + CALL_SECONDS
                answer = [_outcome(question, place, edits[number][3], seconds) for number in numbers]
            connection.send_bytes(pickle.dumps(answer))


class _TooLong(BaseException):
    """An edit took too long. Not an ``Exception``, which edited code could catch."""


def _raise_too_long(*_: Any) -> None:
    raise _TooLong


@functools.lru_cache
def _masters_seconds(question: Question, place: int) -> float:
    """The master's CPU seconds for a trial, in a second run, so that neither it nor edits are timed for imports."""
    for _ in range(2):
        began = time.process_time()
        _outcome(question, place, solution(question.lab)[question.name], REQUEST_CPU_SECONDS)
    return time.process_time() - began


def _outcome(question: Question, place: int, function: Any, seconds: float) -> Outcome | None:
    """An edit's outcome in a trial; None if it takes too long or cannot be compared."""
    trial = trials_of(question, run.salt())[place]
    names = {**solution(question.lab), question.name: function}
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)
    try:
        student = Student.local_namespace(names, question.name)
        outcome = replace(outcome_of(trial, student), changed=(), known={})
        pickle.dumps(outcome)
        return outcome
    except (Exception, _TooLong):
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@functools.cache
def _edits(lab: str, name: str) -> list[tuple[int, int, str, Any]]:
    return list(islice(_edited(questions_of(lab)[name]), MAX_EDITS))


def _edited(question: Question) -> Iterator[tuple[int, int, str, Any]]:
    """Yield the edits of master and alternatives: (answer's number, rank, behaviour, function)."""
    names = solution(question.lab)
    given = [name for name, value in names.items() if callable(value)]
    sources = [(solution_source(question.lab, question.name), question.name, names)]
    for function in question.alternatives:
        if needs_torch(question.reference) or not needs_torch(function):
            text = textwrap.dedent(inspect.getsource(function))
            sources.append((text, function.__name__, vars(sys.modules[function.__module__])))
    for number, (source, name, names) in enumerate(sources):
        for edit in edits_of(source, name, given, sources[0][0] if number else ""):
            namespace = dict(names)
            with contextlib.suppress(Exception):  # an edit may be invalid Python or fail to define its class
                exec(compile(edit.source, f"<edit of {name}>", "exec"), namespace)
                yield number, edit.rank, edit.behaviour, namespace[name]
