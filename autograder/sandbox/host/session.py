"""The sandbox API for grading: one ``Zygote`` for many submissions, and a ``Session`` for each.

with Zygote(kit=Path("notebooks/coursekit"), data=[Path("data/names.txt")]) as zygote:
    with zygote.session() as session:
        outcomes = session.run_cells([("softmax", source), ("softmax_check", check_source)])
        student = session.student("softmax")
        student(np.zeros(3))    # StudentGone if it took too long: session.revive(), and go on
        session.stand_after("softmax_check")    # a child that has run the cells up to this one
        session.status          # None, "timed-out", "out-of-memory" or "crashed"
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from autograder.results import STATUSES, CellOutcome
from autograder.sandbox import wire
from autograder.sandbox.host.cells import clean_outputs, part_to_rerun
from autograder.sandbox.host.launcher import SPAWN_SECONDS, SandboxUnavailable, ZygoteProcess
from autograder.sandbox.host.student import (
    MAX_TRACE_BYTES,
    Budget,
    RpcClient,
    Student,
    StudentError,
    StudentGone,
)
from autograder.sandbox.host.transport import MAX_GIVEN_BACK, Child, RemoteTransport
from autograder.sandbox.limits import Limits

__all__ = ["SandboxUnavailable", "Session", "Zygote"]


class Zygote(ZygoteProcess):
    """A ``ZygoteProcess`` that makes sessions."""

    def session(self, limits: Limits | None = None) -> Session:
        """A new session. ``limits`` default to the zygote's. The child is forked at the first use."""
        return Session(self, limits or self.limits)


#: How often all cells run again after one of them ended the child.
RERUNS = 10
#: The most output of all cells of a notebook, in bytes as JSON; later output is dropped.
MAX_OUTPUT = 16 << 20


@dataclass(frozen=True)
class Cell:
    """A cell of the submission: its index among all cells, and the part of its source that runs."""

    index: int
    label: str
    source: str


class Session:
    """One submission in the sandbox: run its cells, then call its functions.

    A cell that takes too long is interrupted, as by Jupyter's *Interrupt*: the names it has bound until then stay. A cell that
    ends the child (memory, a crash, a loop that cannot be interrupted) is replaced by its harmless part, and all cells run
    again. A call that takes too long ends the child; ``revive`` makes a new child that has run the cells. ``status`` is the
    status of the first cell or call that was ended.
    """

    def __init__(self, zygote: Zygote, limits: Limits):
        self.zygote = zygote
        self.limits = limits
        self.status: str | None = None
        #: A sentence about the first cell that was ended, for the notes.
        self.note = ""
        total = self.limits.total_seconds
        self._budget = Budget(time.monotonic() + total, given_back=min(total / 2, MAX_GIVEN_BACK))
        #: The cells that a child runs, and how many of them the current child has run and has to run.
        self._cells: list[Cell] = []
        self._position = self._stand = 0
        self._rpc: RpcClient | None = None
        self._output_left = MAX_OUTPUT
        self._transport: RemoteTransport | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run_cells(self, cells: Sequence[tuple[str, str]]) -> list[CellOutcome]:
        """Run ``(label, source)`` cells in order; an error in one does not keep the next from running.

        Cells for which no time is left do not run. The label becomes the outcome's ``grade_id``.
        """
        self._cells = [Cell(index, label, source) for index, (label, source) in enumerate(cells)]
        outcomes: dict[int, CellOutcome] = {}
        for _ in range(1 + RERUNS):
            self._start()
            self._output_left = MAX_OUTPUT
            if self._advance(len(self._cells), outcomes) or self.is_over:
                break
        if self._position < len(self._cells):
            why = "no time was left for it" if self.is_over else "too many cells before it were stopped"
            self.status = self.status or "timed-out"
            self.note = self.note or f"The cell {self._cells[self._position].label} was not run: {why}."
            self._cells = self._cells[: self._position]
        self._stand = len(self._cells)
        return [
            outcomes.get(index, CellOutcome(label, index, "not-run"))
            for index, (label, _) in enumerate(cells)
        ]

    def stand_after(self, label: str) -> bool:
        """Provide a child that has run the cells up to the cell ``label``, and no more. Returns whether that worked.

        A child that has run fewer cells goes on; one that has run more is replaced.
        """
        places = [place for place, cell in enumerate(self._cells, 1) if cell.label == label]
        return self._stand_at(places[0] if places else len(self._cells))

    def revive(self) -> bool:
        """After a call ended the child, run the same cells in a new one. Returns whether that worked."""
        return self._stand_at(self._stand)

    def _stand_at(self, place: int) -> bool:
        """Run or replace the child so that it has run exactly the first ``place`` cells."""
        self._stand = place
        transport = self._transport
        if transport is not None and transport.failure is not None:
            raise transport.failure
        if transport is None or transport.gone is not None or self._position > place:
            if self.is_over:
                return False
            self._start()
        return self._advance(place)

    def _advance(self, place: int, outcomes: dict[int, CellOutcome] | None = None) -> bool:
        """Let the child run its cells up to ``place``. Returns False if one of them ended it or no time is left.

        In the cells' first run, ``outcomes`` receives their outcomes, and a cell that was ended is shortened for later runs.
        """
        for cell in self._cells[self._position : place]:
            if self.is_over:
                return False
            start = time.monotonic()
            outcome, line, ended = self._run_cell(cell)
            if ended is not None and outcomes is None:
                self._connected()[0].end(ended.reason)  # this child has run part of the cell
                return False
            if ended is not None:
                outcome = self._ended(cell, ended, outcome.outputs if outcome else (), line)
            if outcomes is not None and outcome is not None:
                outcomes.setdefault(cell.index, replace(outcome, seconds=time.monotonic() - start))
            if self._connected()[0].gone is not None:
                return False
            self._position += 1
        return True

    def _ended(self, cell: Cell, ended: StudentGone, made: tuple[Any, ...], line: int) -> CellOutcome:
        """The outcome of a cell that was ended, at ``line`` if known (else 0). Shortens the cell for later runs."""
        why = ended.detail or ended.reason
        self.status = self.status or ended.reason
        self.note = self.note or f"The cell {cell.label} was stopped: {why}."
        rest = part_to_rerun(cell.source, line)
        self._cells[self._position] = replace(cell, source="" if rest == cell.source else rest)
        return CellOutcome(cell.label, cell.index, "error", 0.0, made, f"This cell was stopped: {why}.")

    def _run_cell(self, cell: Cell) -> tuple[CellOutcome | None, int, StudentGone | None]:
        """A cell's outcome, the line at which it was interrupted (0 if unknown), and why it was ended if it was."""
        if not cell.source:
            return None, 0, None
        transport, rpc = self._connected()
        transport.timeout, transport.interrupts = self.limits.cell_seconds, True
        try:
            reply, _ = rpc.request("cell", cell.index, cell.label, cell.source)
        except StudentError as error:  # the student's code broke the cell runner itself
            outcome = CellOutcome(cell.label, cell.index, "error", 0.0, (), f"{error}"[:2000])
            return outcome, 0, transport.interrupted
        except StudentGone as gone:
            return None, 0, gone
        finally:
            transport.interrupts = False
        match reply:
            case {
                "status": ("ok" | "error") as status,
                "outputs": list(outputs),
                "error": str(text),
                "line": int(line),
            }:
                clean = tuple(clean_outputs(outputs, self.limits)) if self._output_left >= 0 else ()
                self._output_left -= len(json.dumps(clean))
                clean = clean if self._output_left >= 0 else ()
                text = wire.clean_text(text, 2000)
                outcome = CellOutcome(cell.label, cell.index, status, 0.0, clean, text)
                return outcome, line, transport.interrupted
        return None, 0, rpc.crashed("the sandbox sent a malformed reply")

    def student(self, name: str) -> Student:
        """The submission's function ``name``, for a hidden test. Get it again after ``revive``."""
        transport, rpc = self._connected()
        transport.timeout = self.limits.call_seconds
        return Student(rpc, name)

    def callables(self, names: list[str]) -> list[str]:
        """The names under which the child has a function or class."""
        transport, rpc = self._connected()
        transport.timeout = self.limits.call_seconds
        found, _ = rpc.request("callables", names)
        return [name for name in names if name in found] if type(found) is list else []

    def start_question(self, reserved: float) -> None:
        """Allow the next question all time except the last ``reserved`` seconds, and a session's full amount of data.

        The previous question's kept values are dropped.
        """
        budget = self._budget
        budget.reserved, budget.received, budget.traced = reserved, 0, MAX_TRACE_BYTES

    @property
    def is_over(self) -> bool:
        """Whether the time is over, not counting the reserved seconds."""
        return time.monotonic() > self._budget.until

    def close(self) -> None:
        """End the child. Without namespaces, wait for it: until then its processes would count as the next submission's."""
        if self._transport is not None:
            child, running = self._transport.child, self._transport.gone is None
            self._transport.close()
            if running and child.group and self.zygote.descriptors():
                with contextlib.suppress(SandboxUnavailable):
                    self.zygote.reap(child)

    def _connected(self) -> tuple[RemoteTransport, RpcClient]:
        """Transport and RPC client of the child, which is started if necessary."""
        if self._transport is None or self._rpc is None:
            self._start()
        assert self._transport is not None and self._rpc is not None
        return self._transport, self._rpc

    def _start(self) -> None:
        self.close()
        connection, child = self.zygote.spawn(self.limits)
        transport = RemoteTransport(connection, child, self.limits, partial(self._on_end, child))
        transport.timeout, greeting = SPAWN_SECONDS, list[bytes]()
        try:
            transport.exchange(None, greeting.append)  # the child sends it without a request
            message = wire.decode(greeting[0])
        except (StudentGone, wire.WireError):
            message = ("failed", "it ended at once")
        if message != ("ready",):
            transport.close()
            self.status = None
            raise SandboxUnavailable(f"a sandbox could not be set up: {message[-1]}")
        transport.budget = self._budget
        self._transport, self._rpc = transport, RpcClient(transport, self._budget)
        self._position = 0

    def _on_end(self, child: Child, reason: str | None) -> StudentGone:
        """Reap a child that was just killed and set the status. Returns the exception with the reason.

        The child is always reaped first, so that it does not compete with the next child.
        """
        usage = self.zygote.reap(child)
        if reason is None:  # the kernel kills for CPU time or memory
            out_of_time = usage["cpu"] >= self.limits.cpu_seconds - 1
            out_of_memory = usage["peak"] > 0.8 * self.limits.memory_bytes
            reason = "timed-out" if out_of_time else "out-of-memory" if out_of_memory else "crashed"
        self.status = self.status or reason
        return StudentGone(reason, STATUSES[reason].event)
