"""Grading's door to the sandbox: a ``Zygote`` that stays warm, and a ``Session`` for each submission.

with Zygote(kit=Path("notebooks/coursekit"), data=[Path("data/names.txt")]) as zygote:
    with zygote.session() as session:
        outcomes = session.run_cells([("softmax", source), ("softmax_check", check_source)])
        student = session.student("softmax")
        student(np.zeros(3))    # StudentGone when it took too long: session.revive(), and go on
        session.status          # None, "timed-out", "out-of-memory" or "crashed"
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any

from autograder.results import STATUSES, CellOutcome
from autograder.sandbox import wire
from autograder.sandbox.host.launcher import SPAWN_SECONDS, SandboxUnavailable, ZygoteProcess
from autograder.sandbox.host.outputs import clean_outputs
from autograder.sandbox.host.rpc import Conversation, StudentError, StudentGone
from autograder.sandbox.host.student import Handle, Student
from autograder.sandbox.host.transport import Child, RemoteTransport
from autograder.sandbox.limits import Limits

__all__ = ["SandboxUnavailable", "Session", "Zygote"]


class Zygote(ZygoteProcess):
    """See ``ZygoteProcess``; this adds the sessions."""

    def session(self, limits: Limits | None = None) -> Session:
        """A fresh session, with limits of its own if need be. The child starts at its first use."""
        return Session(self, limits or self.limits)


class Session:
    """One submission in the sandbox: run its cells, then call its functions.

    When a cell or a call ends the child (time, memory, a crash), ``status`` says so for good. The child
    that takes its place has run the other cells, so that what works still counts.
    """

    def __init__(self, zygote: Zygote, limits: Limits):
        self.zygote = zygote
        self.limits = limits
        self.status: str | None = None
        #: A sentence about the end, for the notes: what was running and what happened.
        self.note = ""
        self._until = time.monotonic() + self.limits.total_seconds
        self._cells: list[tuple[int, str, str]] = []
        self._conversation: Conversation | None = None
        self._transport: RemoteTransport | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run_cells(self, cells: Sequence[tuple[str, str]], reruns: int = 1) -> list[CellOutcome]:
        """Run ``(label, source)`` cells in order; an error in one does not keep the next from running.

        A cell that ends the child is left out and the others run again in a fresh one, up to ``reruns``
        times; after that only what stands before the cell. The label becomes the outcome's ``grade_id``.
        """
        left = [(index, label, source) for index, (label, source) in enumerate(cells)]
        outcomes: dict[int, CellOutcome] = {}
        while True:
            self._cells = left
            culprit = self._run(left, outcomes)
            if culprit is None:
                break
            position = next(place for place, cell in enumerate(left) if cell[0] == culprit)
            if reruns > 0:
                left = [cell for cell in left if cell[0] != culprit]
            else:
                left = left[:position]
            reruns -= 1
            if time.monotonic() > self._until or reruns < -1:
                self._cells = []
                break
        return [
            outcomes.get(index, CellOutcome(label, index, "not-run"))
            for index, (label, _) in enumerate(cells)
        ]

    def _run(self, cells: list[tuple[int, str, str]], outcomes: dict[int, CellOutcome]) -> int | None:
        """Run cells in a fresh child, and note what they did; the index of the one that ended it, if any."""
        self._start()
        for index, label, source in cells:
            start = time.monotonic()
            try:
                outcome = self._run_cell(index, label, source)
                outcomes[index] = replace(outcome, seconds=time.monotonic() - start)
            except StudentGone as gone:
                self.note = self.note or f"The cell {label} ended the run: {gone.detail or gone.reason}."
                seconds = time.monotonic() - start
                text = f"This cell ended the run: {gone.detail or gone.reason}."
                outcomes[index] = CellOutcome(label, index, "error", seconds, (), text)
                return index
        return None

    def _run_cell(self, index: int, label: str, source: str) -> CellOutcome:
        transport, conversation = self._line()
        transport.seconds = self.limits.cell_seconds
        try:
            found, _, _ = conversation.request("cell", index, label, source)
        except StudentError as error:  # the runner itself was broken by the student's code
            return CellOutcome(label, index, "error", 0.0, (), f"{error}"[:2000])
        match found:
            case {"status": ("ok" | "error") as status, "outputs": list(outputs), "error": str(text)}:
                clean = clean_outputs(outputs, self.limits)
                return CellOutcome(label, index, status, 0.0, clean, wire.readable(text, 2000))
        raise conversation.crashed("the sandbox sent a malformed reply")

    def student(self, name: str) -> Student:
        """The submission's function ``name``, for a hidden test. After ``revive`` ask for it again."""
        transport, conversation = self._line()
        transport.seconds = self.limits.call_seconds
        return Student(conversation, name)

    def revive(self) -> bool:
        """After a call ended the child: run the cells again in a fresh one. Whether that worked."""
        if self._transport is None or self._transport.gone is None:
            return True
        if self._transport.failure is not None:
            raise self._transport.failure
        if time.monotonic() > self._until:
            return False
        return self._run(self._cells, {}) is None

    def close(self) -> None:
        """End the child. Never waits on it."""
        if self._transport is not None:
            self._transport.close()

    def _line(self) -> tuple[RemoteTransport, Conversation]:
        """The line to the child, which is started if there was none yet."""
        if self._transport is None or self._conversation is None:
            self._start()
        assert self._transport is not None and self._conversation is not None
        return self._transport, self._conversation

    def _start(self) -> None:
        self.close()
        link, child = self.zygote.spawn(self.limits)
        transport = RemoteTransport(link, child, self.limits, partial(self._ended, child))
        try:
            message = wire.decode(transport.first(SPAWN_SECONDS))
        except (StudentGone, wire.WireError):
            message = ("failed", "it ended at once")
        if message != ("ready",):
            transport.close()
            self.status = None
            raise SandboxUnavailable(f"a sandbox could not be set up: {message[-1]}")
        transport.until = self._until
        self._transport, self._conversation = transport, Conversation(transport, Handle)

    def _ended(self, child: Child, reason: str | None) -> StudentGone:
        """A child that was just killed: why it ended, if nobody knows, and what follows for the status."""
        ended = self.zygote.reap(child)  # also: nothing of it competes with what comes next
        reason = reason or self._why(ended)
        self.status = self.status or reason
        return StudentGone(reason, STATUSES[reason].event)

    def _why(self, ended: dict[str, Any]) -> str:
        """From what it used: a SIGKILL that is not ours is the kernel's, for CPU time or memory."""
        if ended["cpu"] >= self.limits.cpu_seconds - 1:
            return "timed-out"
        if ended["peak"] > 0.8 * self.limits.memory_bytes:
            return "out-of-memory"
        return "crashed"
