"""Describes an unknown wrong answer that behaves like a right answer with one edit.

A separate process, with limits, runs edits of the master's and the alternatives' code: all of them on a small call that the
answer got wrong, those with the same outcome on the next call, and so on. Outcomes are kept for later answers. The sentence
is given if the best remaining edits have the same one; it changes no points.
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

from autograder.course.masters import course_root, solution, solution_source, use_root
from autograder.judging import run
from autograder.questions.engine.as_tests import size_of
from autograder.questions.engine.compare import Outcome, alike
from autograder.questions.engine.draw import Ask, asks_of, needs_torch, outcome_of
from autograder.questions.engine.edits import edits_of
from autograder.questions.engine.question import Question, questions_of
from autograder.sandbox.host.student import Student

#: The most edits that are tried, the master's first.
MAX_EDITS = 400
#: Limits: CPU seconds of one call of an edit, or this multiple of the master's; CPU seconds, and wall-clock seconds, of one request; bytes.
SECONDS, TIMES, ALL_SECONDS, PATIENCE = 0.1, 20, 30, 60
MAX_BYTES = 8 << 30


def generated_name(lab: str, name: str, seen: Mapping[int, Outcome]) -> str:
    """A sentence about a wrong answer; "" if no edit behaves like it, or if several do with different sentences.

    ``seen`` maps the position of each call of the question to its outcome. Raises OSError or EOFError if no edit can be tried::

        generated_name(lab, "padding_mask", outcomes_seen(answered))
        # "On our inputs your results are those of a right answer that ignores `mask`."
    """
    question = questions_of(lab).get(name)
    asks = asks_of(question, run.salt()) if question else ()
    if seen.keys() != set(range(len(asks))):
        return ""
    words = {place: asks[place].difference(seen[place]) for place in seen}
    if all(seen[place].error for place, word in words.items() if word):
        return ""  # it is right, or has only errors
    tried = _tried(lab, name)
    left = list(range(len(tried.edits)))
    for place in sorted(seen, key=lambda place: _order(asks[place], words[place])):
        came = tried.in_call(place, left)
        left = [number for number in left if _same(asks[place], seen[place], words[place], came[number])]
    best = min((tried.edits[number][:2] for number in left), default=None)
    does = {tried.edits[number][2] for number in left if tried.edits[number][:2] == best}
    return (
        f"On our inputs your results are those of a right answer that {does.pop()}." if len(does) == 1 else ""
    )


def _order(ask: Ask, word: str) -> tuple[bool, bool, int]:
    """The sort key of a call: calls before scenarios, wrong before right, small before large."""
    return ask.case is None, not word, size_of(ask)


def _same(ask: Ask, seen: Outcome, word: str, other: Outcome | None) -> bool:
    """Whether an edit has the answer's outcome: right, or wrong with the same values."""
    if other is None or ask.difference(other) != word:
        return False
    return not word or alike(replace(seen, changed=()), other, *ask.tolerances)


@dataclass
class _Tried:
    """The outcomes of a question's edits, each called once for a salt."""

    lab: str
    name: str
    came: dict[tuple[int, int], Outcome | None] = field(default_factory=dict)
    #: Whether the process ended on this question: then it is not tried again.
    failed: bool = False

    @functools.cached_property
    def edits(self) -> list[tuple[int, int, str]]:
        """Each edit as (answer's number, the master's first; how little it tells; behaviour)."""
        edits: list[tuple[int, int, str]] = self._ask(None, ())
        return edits

    def in_call(self, place: int, numbers: Sequence[int]) -> dict[int, Outcome | None]:
        """Number -> outcome of these edits in a call; None for an edit that cannot be compared."""
        new = [number for number in numbers if (place, number) not in self.came]
        for number, outcome in zip(new, self._ask(place, new) if new else (), strict=True):
            self.came[place, number] = outcome
        return {number: self.came[place, number] for number in numbers}

    def _ask(self, *what: Any) -> Any:
        if self.failed:
            raise EOFError
        self.failed = True
        connection = _process()[1]
        try:
            asked = course_root(), run.salt(), self.lab, self.name, *what
            connection.send_bytes(pickle.dumps(asked))  # ``send`` would share the memory of tensors
            if not connection.poll(PATIENCE):
                raise TimeoutError
            answer = pickle.loads(connection.recv_bytes())
        except BaseException:  # a late reply must not be taken for the next one's
            end_process()
            raise
        self.failed = False
        return answer


_tried = run.cached_for_salt(_Tried)


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
    """Run edits, within limits, for the process at the other end of a socket."""
    import resource  # not on every system

    signal.signal(signal.SIGVTALRM, _ring)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    warnings.simplefilter("ignore")
    with Connection(descriptor) as connection, contextlib.suppress(EOFError):
        while True:
            root, salt, lab, name, place, numbers = pickle.loads(connection.recv_bytes())
            most = int(time.process_time()) + ALL_SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            use_root(root)
            run.set_salt(salt)
            question, edits = questions_of(lab)[name], _edits(lab, name)
            if place is None:
                answer: list[Any] = [edit[:3] for edit in edits]
            else:
                seconds = _masters_seconds(question, place) * TIMES + SECONDS
                answer = [_outcome(question, place, edits[number][3], seconds) for number in numbers]
            connection.send_bytes(pickle.dumps(answer))


class _TooLong(BaseException):
    """An edit took too long. No ``Exception``, so that no edited code catches it."""


def _ring(*_: Any) -> None:
    raise _TooLong


@functools.lru_cache
def _masters_seconds(question: Question, place: int) -> float:
    """The seconds of the master's answer for a call. It also loads imports, so that edits are not timed for them."""
    for _ in range(2):
        began = time.process_time()
        _outcome(question, place, solution(question.lab)[question.name], ALL_SECONDS)
    return time.process_time() - began


def _outcome(question: Question, place: int, function: Any, seconds: float) -> Outcome | None:
    """The outcome of an edit's call; None if it takes too long or cannot be compared."""
    ask = asks_of(question, run.salt())[place]
    names = {**solution(question.lab), question.name: function}
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, seconds)
    try:
        student = Student.local_namespace(names, question.name)
        outcome = replace(outcome_of(ask.part, ask.case, ask.seed, student), changed=())
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
    """Yield the edits of master and alternatives: answer's number, rank, behaviour, function."""
    names = solution(question.lab)
    given = [name for name, value in names.items() if callable(value)]
    sources = [(solution_source(question.lab, question.name), question.name, names)]
    for function in question.alternatives:
        if needs_torch(question.reference) or not needs_torch(function):
            text = textwrap.dedent(inspect.getsource(function))
            sources.append((text, function.__name__, vars(sys.modules[function.__module__])))
    for of, (source, name, names) in enumerate(sources):
        for edit in edits_of(source, name, given, sources[0][0]):
            namespace = dict(names)
            with contextlib.suppress(
                Exception
            ):  # an edit may be invalid Python, or a class that cannot be made
                exec(compile(edit.source, f"<edit of {name}>", "exec"), namespace)
                yield of, edit.rank, edit.does, namespace[name]
