"""Names a wrong answer that nobody foresaw: it behaves as a right answer with one edit.

A process of its own, with limits, calls the edits of the master's and of the alternatives' code: all of them as in a small call
that the answer got wrong, then those that came out alike in the next, until all calls are over. What an edit came to is
kept for the next answer. A sentence is given where the best edits that are left say one thing; it changes no points.
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
from autograder.questions.engine.as_tests import size_of
from autograder.questions.engine.compare import Outcome, alike
from autograder.questions.engine.draw import Ask, asks_of, needs_torch, outcome_of
from autograder.questions.engine.edits import edits_of
from autograder.questions.engine.question import Question, questions_of
from autograder.sandbox.host.student import Student
from autograder.testing import run

#: So many edits are tried at most, the master's first.
MAX_EDITS = 400
#: CPU seconds for one call of an edit, beside so many times the master's; for one request; seconds of the clock, for one that waits; bytes.
SECONDS, TIMES, ALL_SECONDS, PATIENCE = 0.1, 20, 30, 60
MAX_BYTES = 8 << 30


def generated_name(lab: str, name: str, seen: Mapping[int, Outcome]) -> str:
    """What a wrong answer does, in a sentence; "" where no edit behaves so, or several that say different things.

    ``seen`` is what each call of the question came to, by its place. Raises OSError or EOFError where the edits cannot be tried::

        generated_name(lab, "padding_mask", outcomes_seen(answered))
        # "On our inputs your results are those of a right answer that ignores `mask`."
    """
    question = questions_of(lab).get(name)
    asks = asks_of(question, run.salt()) if question else ()
    if seen.keys() != set(range(len(asks))):
        return ""
    words = {place: asks[place].difference(seen[place]) for place in seen}
    if all(seen[place].error for place, word in words.items() if word):
        return ""  # it is right, or errors are all there is
    tried = _tried(lab, name)
    left = list(range(len(tried.edits)))
    for place in sorted(seen, key=lambda place: _order(asks[place], words[place])):
        came = tried.in_call(place, left)
        left = [number for number in left if _same(asks[place], seen[place], words[place], came[number])]
    best = min((tried.edits[number][:2] for number in left), default=None)
    said = {tried.edits[number][2] for number in left if tried.edits[number][:2] == best}
    return (
        f"On our inputs your results are those of a right answer that {said.pop()}." if len(said) == 1 else ""
    )


def _order(ask: Ask, word: str) -> tuple[bool, bool, int]:
    """Calls before scenarios, what is wrong before what is right, the small before the large."""
    return ask.case is None, not word, size_of(ask)


def _same(ask: Ask, seen: Outcome, word: str, other: Outcome | None) -> bool:
    """Whether an edit came out as the answer did: right, or wrong with the same values."""
    if other is None or ask.difference(other) != word:
        return False
    return not word or alike(replace(seen, changed=()), other, *ask.tolerances)


@dataclass
class _Tried:
    """What the edits of a question come to, each called once under a salt."""

    lab: str
    name: str
    came: dict[tuple[int, int], Outcome | None] = field(default_factory=dict)
    #: Whether the process ended over it: then it is asked no more.
    failed: bool = False

    @functools.cached_property
    def edits(self) -> list[tuple[int, int, str]]:
        """Whose edit each is (the master's first), how little it says, and what it does."""
        edits: list[tuple[int, int, str]] = self._ask(None, ())
        return edits

    def in_call(self, place: int, numbers: Sequence[int]) -> dict[int, Outcome | None]:
        """What these edits come to in a call; None for one that cannot be compared."""
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
        except BaseException:  # what it still says must not be taken for its next answer
            end_process()
            raise
        self.failed = False
        return answer


_tried = run.cached_for_salt(_Tried)


@functools.cache
def _process() -> tuple[subprocess.Popen[bytes], Connection]:
    """The process that calls edits; it ends with this one."""
    ours, theirs = socket.socketpair()
    first = "import autograder.startup.one_thread, autograder.startup.lean_imports"  # before NumPy
    command = [sys.executable, "-P", "-c", f"{first}; from {__name__} import main; main({theirs.fileno()})"]
    null = subprocess.DEVNULL
    with theirs:
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=null, stdout=null, stderr=null)
    return process, Connection(ours.detach())


def end_process() -> None:
    """End the process that calls edits; the next answer starts another."""
    if _process.cache_info().currsize:
        process, connection = _process()
        _process.cache_clear()
        connection.close()
        process.kill()
        process.wait()


def main(descriptor: int) -> None:
    """Call edits, under limits, for the process at the other end of a socket."""
    import resource  # not everywhere

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
    """Raised by the alarm; no ``Exception``, so that no edited code catches it."""


def _ring(*_: Any) -> None:
    raise _TooLong


@functools.lru_cache
def _masters_seconds(question: Question, place: int) -> float:
    """What the master's answer takes for a call; it also imports what the edits would be timed for."""
    for _ in range(2):
        began = time.process_time()
        _outcome(question, place, solution(question.lab)[question.name], ALL_SECONDS)
    return time.process_time() - began


def _outcome(question: Question, place: int, function: Any, seconds: float) -> Outcome | None:
    """What a call of an edit comes to; None where that takes too long or cannot be compared."""
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
    """The edits of the master and of the alternatives as functions: whose, of which rank, what it does."""
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
            ):  # an edit may be no Python any more, or a class that cannot be made
                exec(compile(edit.source, f"<edit of {name}>", "exec"), namespace)
                yield of, edit.rank, edit.does, namespace[name]
