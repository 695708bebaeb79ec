"""The sandbox API that grading uses: a ``Zygote`` that stays warm, and a ``Session`` for each submission.

with Zygote(kit=Path("notebooks/coursekit"), data=[Path("data/names.txt")]) as zygote:
    with zygote.session() as session:
        outcomes = session.run_cells([("softmax", source), ("softmax_check", check_source)])
        student = session.student("softmax")
        student(np.zeros(3))    # StudentGone when it took too long: session.revive(), and go on
        session.status          # None, "timed-out", "out-of-memory" or "crashed"
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any

from autograder.results import STATUSES, CellOutcome
from autograder.sandbox import wire
from autograder.sandbox.host.launcher import SPAWN_SECONDS, SandboxUnavailable, ZygoteProcess
from autograder.sandbox.host.outputs import OutputBudget
from autograder.sandbox.host.rpc import MAX_TRACE_BYTES, Allowance, RpcClient, StudentError, StudentGone
from autograder.sandbox.host.student import Handle, Student, look_up
from autograder.sandbox.host.transport import MAX_GIVEN_BACK, Child, Deadline, RemoteTransport
from autograder.sandbox.limits import Limits

__all__ = ["SandboxUnavailable", "Session", "Zygote"]


class Zygote(ZygoteProcess):
    """See ``ZygoteProcess``; this adds the sessions."""

    def session(self, limits: Limits | None = None) -> Session:
        """A fresh session; ``limits`` default to the zygote's. The child is forked at its first use."""
        return Session(self, limits or self.limits)


class Session:
    """One submission in the sandbox: run its cells, then call its functions.

    When a cell or a call ends the child (time, memory, a crash), ``status`` says so from then on. The child
    that replaces it runs the other cells, so that what works still counts.
    """

    def __init__(self, zygote: Zygote, limits: Limits):
        self.zygote = zygote
        self.limits = limits
        self.status: str | None = None
        #: A sentence for the notes about the cell that ended the first child.
        self.note = ""
        total = self.limits.total_seconds
        self._deadline = Deadline(time.monotonic() + total, min(total / 2, MAX_GIVEN_BACK))
        self._cells: list[tuple[int, str, str]] = []
        self._after: Callable[[str], None] | None = None
        self._visited: set[int] = set()
        self._rpc: RpcClient | None = None
        self._allowance = Allowance()
        self._outputs = OutputBudget()
        self._transport: RemoteTransport | None = None
        #: Whom ``callables`` has asked, and the answer.
        self._looked_at: RpcClient | None = None
        self._callables: frozenset[str] = frozenset()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run_cells(
        self,
        cells: Sequence[tuple[str, str]],
        reruns: int = 1,
        after: Callable[[str], None] | None = None,
    ) -> list[CellOutcome]:
        """Run ``(label, source)`` cells in order; an error in one does not keep the next from running.

        A cell that ends the child is left out and the others run again in a fresh one, up to ``reruns``
        times; after that only the cells before it do. The label becomes the outcome's ``grade_id``.
        ``after`` is called once with each cell's label when it has run: what it calls then meets the names as they stand there.
        """
        self._after, self._visited = after, set()
        remaining = [(index, label, source) for index, (label, source) in enumerate(cells)]
        outcomes: dict[int, CellOutcome] = {}
        while True:
            self._cells = remaining
            culprit = self._run(remaining, outcomes)
            if culprit is None:
                break
            position = next(i for i, cell in enumerate(remaining) if cell[0] == culprit)
            if reruns > 0:
                remaining = [cell for cell in remaining if cell[0] != culprit]
            else:
                remaining = remaining[:position]
            reruns -= 1
            if time.monotonic() > self._deadline.at or reruns < -1:
                self._cells = []
                break
        return [
            outcomes.get(index, CellOutcome(label, index, "not-run"))
            for index, (label, _) in enumerate(cells)
        ]

    def _run(self, cells: list[tuple[int, str, str]], outcomes: dict[int, CellOutcome]) -> int | None:
        """Run cells in a fresh child and record their outcomes; the index of the one that ended it, if any."""
        self._start()
        self._outputs = OutputBudget()
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
            if self._after is not None and index not in self._visited:
                self._stop_after(index, label, cells)
        return None

    def _stop_after(self, index: int, label: str, cells: list[tuple[int, str, str]]) -> None:
        """Let ``after`` call the student's functions, in a child that has run the cells up to this one and no more."""
        assert self._after is not None
        self._visited.add(index)
        everything, self._cells = self._cells, [cell for cell in cells if cell[0] <= index]
        after, self._after = (
            self._after,
            None,
        )  # a child that has to be replaced meanwhile runs its cells without stops
        after(label)
        self.revive()
        self._after, self._cells = after, everything

    def _run_cell(self, index: int, label: str, source: str) -> CellOutcome:
        transport, rpc = self._connected()
        transport.timeout = self.limits.cell_seconds
        try:
            reply, _, _ = rpc.request("cell", index, label, source)
        except StudentError as error:  # the student's code broke the cell runner itself
            return CellOutcome(label, index, "error", 0.0, (), f"{error}"[:2000])
        match reply:
            case {"status": ("ok" | "error") as status, "outputs": list(outputs), "error": str(text)}:
                clean = self._outputs.clean(outputs, self.limits)
                return CellOutcome(label, index, status, 0.0, clean, wire.clean_text(text, 2000))
        raise rpc.crashed("the sandbox sent a malformed reply")

    def student(self, name: str) -> Student:
        """The submission's function ``name``, for a hidden test. After ``revive`` ask for it again."""
        transport, rpc = self._connected()
        transport.timeout = self.limits.call_seconds
        return Student(rpc, name)

    def callables(self, names: Sequence[str]) -> frozenset[str]:
        """Those of ``names`` that are functions or classes: asked once of each child, at the same ``names``."""
        transport, rpc = self._connected()
        if self._looked_at is not rpc:
            transport.timeout = self.limits.call_seconds
            found = look_up(rpc, names)
            self._callables = frozenset(n for n, (kind, _) in found.items() if kind in ("function", "class"))
            self._looked_at = rpc
        return self._callables

    def forget_traces(self) -> None:
        """Give the submission its allowance again: what was kept of the question before is no longer needed."""
        self._allowance.left = MAX_TRACE_BYTES

    @property
    def is_over(self) -> bool:
        """Whether the time for the whole submission is over."""
        return time.monotonic() > self._deadline.at

    def revive(self) -> bool:
        """After a call ended the child: run the cells again in a fresh one. Whether that worked."""
        if self._transport is None or self._transport.gone is None:
            return True
        if self._transport.failure is not None:
            raise self._transport.failure
        if self.is_over:
            return False
        return self._run(self._cells, {}) is None

    def close(self) -> None:
        """End the child, without waiting for it."""
        if self._transport is not None:
            self._transport.close()

    def _connected(self) -> tuple[RemoteTransport, RpcClient]:
        """Transport and RPC client of the child, which is started if there is none yet."""
        if self._transport is None or self._rpc is None:
            self._start()
        assert self._transport is not None and self._rpc is not None
        return self._transport, self._rpc

    def _start(self) -> None:
        self.close()
        connection, child = self.zygote.spawn(self.limits)
        transport = RemoteTransport(connection, child, self.limits, partial(self._on_end, child))
        try:
            message = wire.decode(transport.receive_greeting(SPAWN_SECONDS))
        except (StudentGone, wire.WireError):
            message = ("failed", "it ended at once")
        if message != ("ready",):
            transport.close()
            self.status = None
            raise SandboxUnavailable(f"a sandbox could not be set up: {message[-1]}")
        transport.session_deadline = self._deadline
        self._transport, self._rpc = transport, RpcClient(transport, Handle, allowance=self._allowance)

    def _on_end(self, child: Child, reason: str | None) -> StudentGone:
        """Reap a child that was just killed, set the status, and return the exception that says why it ended.

        Reaping comes first in any case: nothing of the child may compete with what runs next.
        """
        usage = self.zygote.reap(child)
        reason = reason or self._reason_from_usage(usage)
        self.status = self.status or reason
        return StudentGone(reason, STATUSES[reason].event)

    def _reason_from_usage(self, usage: dict[str, Any]) -> str:
        """Why a child ended that nobody here killed: a SIGKILL by the kernel is for CPU time or memory."""
        if usage["cpu"] >= self.limits.cpu_seconds - 1:
            return "timed-out"
        if usage["peak"] > 0.8 * self.limits.memory_bytes:
            return "out-of-memory"
        return "crashed"
