"""The trusted side of a session's socket: frames with a deadline, and a watchdog that ends the child.

Every wait for the student's code has a limit, and data from the child is never trusted.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.results import STATUSES
from autograder.sandbox import wire
from autograder.sandbox.host.student import Budget, StudentGone
from autograder.sandbox.jail.folders import DiskUsage, owned
from autograder.sandbox.jail.namespaces import parents, status_bytes
from autograder.sandbox.limits import Limits

#: The most bytes that a session may send: a test that keeps every result must not fill the harness's memory.
MAX_RECEIVED = 1 << 30
#: Seconds between two checks of the limits, and the longest wait for the socket.
TICK = 0.1
#: The shortest lost time, in seconds, for which a deadline is extended.
MIN_OWED = 0.05
#: The most seconds that a submission gets back on a busy machine: fewer than its grading process waits for it.
MAX_GIVEN_BACK = 60.0


#: The most measurements in a row during which files moved: two seconds.
MAX_BLURRED = 20
#: Seconds that an interrupted cell may take to stop.
SECONDS_TO_STOP = 2.0
#: The most bytes in a socket's send buffer, which count as no process's memory: the kernel's usual limit and one message.
SOCKET_BYTES = 2 * 212_992


@dataclass(eq=False)
class Child:
    """A jailed process seen from outside: its pidfd, memory and files."""

    pidfd: int
    inner_pid: int
    group: bool  # without namespaces: its process group contains its descendants
    scratch: str = ""  # without namespaces: its folder, which has no size limit of its own
    elsewhere: Sequence[str] = ()  # other folders in which it can make files
    killed: bool = False
    _blurred: int = 0  # the latest measurements in a row during which files moved

    def __post_init__(self) -> None:
        lines = Path(f"/proc/self/fdinfo/{self.pidfd}").read_text().splitlines()
        #: Its process id in this process's namespace.
        self.pid = next((int(line.split()[1]) for line in lines if line.startswith("Pid:")), -1)
        self.baseline = status_bytes(self.pid)

    def kill(self) -> None:
        """End the child and everything in its process namespace (or its process group)."""
        if self.killed:  # its process id may belong to another process now
            return
        self.killed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.group:
                os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def interrupt(self) -> None:
        """Interrupt the child's code, as Jupyter does. The code may ignore it."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGINT)

    def process_tree(self) -> list[int]:
        """The child and its descendants."""
        return [self.pid] if not self.group and _is_childless(self.pid) else _process_tree(self.pid)

    def deprioritise(self, processes: list[int], max_unthrottled_tasks: int) -> None:
        """Give all tasks but the first the lowest priority when there are more than ``max_unthrottled_tasks``.

        A task is a process or thread. At that priority all tasks of a submission together weigh no more than one process at
        the usual priority, so that starting many takes no CPU time from other submissions.
        """
        tasks = [(pid, task) for pid in processes for task in _threads(pid) if task != self.pid]
        for pid, task in tasks if len(tasks) >= max_unthrottled_tasks else ():
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, task, 19)
                # The scheduler divides CPU time among sessions before it considers niceness.
                if os.getsid(pid) == pid:
                    Path(f"/proc/{pid}/autogroup").write_text("19")

    def kept_waiting(self) -> float:
        """Seconds that the child's only thread was ready to run but had no processor.

        0 if the kernel does not count them, or with more threads or processes: these may keep the first one waiting.
        """
        if self.process_tree() != [self.pid] or len(_threads(self.pid)) != 1:
            return 0.0
        return _number(f"/proc/{self.pid}/schedstat", 1) / 1e9

    def holds_more(self, allowed: int, processes: list[int]) -> bool:
        """Whether the processes hold more bytes, with page tables and sockets, than ``allowed`` and the child's memory at its fork.

        Shared pages are divided among their holders only where they decide: that is slow.
        """
        # The most bytes in the buffers of all sockets of the child's own network; without namespaces its network is shared.
        sockets = 0 if self.group else SOCKET_BYTES * _number(f"/proc/{self.pid}/net/sockstat", 2)
        allowed += self.baseline - sockets
        return sum(map(status_bytes, processes)) > allowed and sum(map(self._exact, processes)) > allowed

    def _exact(self, pid: int) -> int:
        """A process's share of memory. If a container's kernel does not tell, the memory at its fork counts as shared."""
        pages = status_bytes(pid, ("Pss_Anon:", "Pss_Shmem:", "SwapPss:"), "smaps_rollup")
        if pages:
            return pages + status_bytes(pid, ("VmPTE:",))
        return max(0, status_bytes(pid) - (self.baseline if pid != self.pid else 0))

    def fills(self, scratch_bytes: int) -> bool:
        """Whether the child's files take more than ``scratch_bytes``, or cannot be measured."""
        if not self.scratch:
            return False
        beside: list[str] = []
        with contextlib.suppress(OSError):
            beside = owned(self.elsewhere, os.stat(self.scratch).st_uid)
        usage = DiskUsage([self.scratch, *beside], scratch_bytes)
        self._blurred = self._blurred + 1 if usage.moved else 0
        return usage.taken > scratch_bytes or self._blurred > MAX_BLURRED

    def close(self) -> None:
        """Close the pidfd."""
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1


def _number(file: str, place: int) -> int:
    """The number at this place among the words of a file in /proc; 0 if there is none."""
    try:
        return int(Path(file).read_bytes().split()[place])
    except (OSError, ValueError, IndexError):
        return 0


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _is_childless(pid: int) -> bool:
    """Whether a process certainly has no children. That is the usual case and saves a search through /proc.

    The first process of a PID namespace has a child whenever the namespace has another process. The kernel's list may miss
    a child while others end, but then it is never empty.
    """
    try:
        for thread in _threads(pid):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                if children.read(1):
                    return False
    except OSError:  # the thread has ended, or the kernel keeps no list of children
        return False
    return True


def _process_tree(root: int) -> list[int]:
    """A process and its descendants. A PID namespace's first process adopts orphans, so none is missed."""
    parent_of = parents()
    processes, size = {root}, 0
    while len(processes) > size:
        size = len(processes)
        processes |= {pid for pid, parent in parent_of.items() if parent in processes}
    return list(processes)


@dataclass(eq=False)
class RemoteTransport:
    """Carries frames to and from a jailed child.

    ``on_end`` is called once, after the child was killed, with the reason or None if unknown. It returns the exception to
    raise from then on.
    """

    connection: socket.socket
    child: Child
    limits: Limits
    on_end: Callable[[str | None], StudentGone]
    budget: Budget = field(default_factory=Budget)
    #: Seconds that one exchange may take.
    timeout: float = 60.0
    #: Whether a longer exchange is interrupted first, and whether the last one was.
    interrupts: bool = False
    interrupted: StudentGone | None = None
    #: The exception that says why the child ended; None while it runs.
    gone: StudentGone | None = None
    #: The sandbox's own failure. How the child ended is unknown, so there is no verdict on it.
    failure: Exception | None = None
    _deadline: float | None = None
    #: Until then the thread does not look: most exchanges are short.
    _next_check: float = 0.0
    #: The reason why the watching thread ended the child, and more about it, if it did.
    _overrun: tuple[str, str] | None = None
    #: Seconds of waiting for a processor that are already accounted for.
    _waited: float = 0.0
    _unread: bytearray = field(default_factory=bytearray)
    _closed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.connection.settimeout(TICK)
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def exchange(self, request: bytes | None, answer: Callable[[bytes], bytes | None] | None) -> None:
        """Send ``request`` (None: it was sent ahead). Pass each frame received to ``answer`` and send the frame that it returns.

        Ends when ``answer`` returns ``None``. Without ``answer`` only send: later exchanges, with ``None`` as request, receive
        the replies in this order. An exchange inside a callback keeps the outer exchange's deadline. Raises ``StudentGone``.
        """
        if self.gone is not None:
            raise self._ended(None)
        outer = self._deadline
        now = time.monotonic()
        self._next_check = now + TICK
        if outer is None:
            self._deadline = min(now + self.timeout, self.budget.until)
            self.interrupted = None
        try:
            if request is not None:
                self.send(request)
            while answer is not None and (frame := answer(self.receive())) is not None:
                self.send(frame)
        except wire.WireError as error:
            raise self._ended("crashed", str(error)) from None
        except BaseException:
            self.end("crashed")
            raise
        finally:
            self._deadline = outer

    def end(self, reason: str | None) -> StudentGone:
        """Kill the child if it still runs. Returns the exception that says why it ended.

        If ``on_end`` raises, this and every later exchange raise the same: one more request in a ``finally`` must not turn
        the sandbox's failure into the student's.
        """
        if self.failure is not None:
            raise self.failure
        if self.gone is None:
            self._closed.set()
            reason = self._overrun[0] if self._overrun else reason
            self.gone = StudentGone(reason or "crashed")
            self.child.kill()
            try:
                self.gone = self.on_end(reason)
            except Exception as failure:
                self.failure = failure
                raise
        return self.gone

    def close(self) -> None:
        """Kill the child without finding out how it ended, and close its descriptors."""
        self._closed.set()
        self.gone = self.gone or StudentGone("crashed", "the session is closed")
        self.child.kill()
        self.child.close()
        self.connection.close()

    def _ended(self, reason: str | None, detail: str = "") -> StudentGone:
        gone = self.end(reason)
        return StudentGone(gone.reason, (self._overrun or ("", detail))[1] or gone.detail)

    def send(self, frame: bytes) -> None:
        """Send a frame before the deadline."""
        unsent = memoryview(frame)
        while unsent:
            unsent = unsent[self._attempt(self.connection.send, unsent) or 0 :]

    def receive(self) -> bytes:
        """The next frame, before the deadline. Memory grows with the bytes that arrive, not with the announced length."""
        data, self._unread = self._unread, bytearray()
        self._receive_until(data, wire.PREFIX.size)
        header, body = wire.frame_lengths(bytes(data[: wire.PREFIX.size]))
        self.budget.received += header + body
        if self.budget.received > MAX_RECEIVED:
            raise wire.WireError("the submission sent too much")
        length = wire.PREFIX.size + header + body
        self._receive_until(data, length)
        if len(data) > length:  # data sent unasked would come before the next reply
            self._unread = data[length:]
            del data[length:]
        return bytes(data)

    def _receive_until(self, data: bytearray, length: int) -> None:
        """Receive at least ``length`` bytes. Most frames arrive complete after one wait."""
        while len(data) < length:
            part = self._attempt(self.connection.recv, min(max(length - len(data), 1 << 16), 1 << 20))
            if part is None:
                continue
            if not part:
                raise self._ended(None)
            data += part

    def _attempt(self, move: Callable[[Any], Any], what: Any) -> Any:
        """Send or receive; None after a tick without success. Ends the child after the deadline."""
        if self._deadline is not None and time.monotonic() > self._deadline and not self._was_kept_waiting():
            if not self.interrupts or self.interrupted is not None:
                raise self._ended("timed-out")
            self.interrupted = StudentGone("timed-out", STATUSES["timed-out"].event)
            self._deadline = time.monotonic() + SECONDS_TO_STOP
            self.child.interrupt()
        try:
            return move(what)
        except TimeoutError:
            return None
        except OSError:
            raise self._ended(None) from None

    def _was_kept_waiting(self) -> bool:
        """Extend the deadline by the time for which a busy machine kept the child waiting. Returns whether there was any."""
        waited = self.child.kept_waiting()
        owed = min(waited - self._waited, self.budget.given_back)
        if owed < MIN_OWED or self._deadline is None:
            return False
        self._waited = waited
        self._deadline += owed
        self.budget.deadline += owed
        self.budget.given_back -= owed
        return True

    def _find_overrun(self) -> tuple[str, str] | None:
        """The reason and detail for ending the child if it is over a limit, else None."""
        processes = self.child.process_tree()
        if len(processes) > self.limits.processes:  # the kernel's own limit may not hold
            return "crashed", "it started too many processes"
        self.child.deprioritise(processes, self.limits.max_unthrottled_tasks)
        if self.child.holds_more(self.limits.memory_bytes, processes):
            return "out-of-memory", ""
        if self.child.fills(self.limits.scratch_bytes):
            return "out-of-memory", "its files took more than the allowed space"
        return None

    def _watch(self) -> None:
        """In a thread: end a child that is over its limits, also while the trusted side judges a result.

        The thread only kills. The exchange finds out and reports how the child ended.
        """
        while not self._closed.wait(TICK):
            if time.monotonic() > self._next_check and (overrun := self._find_overrun()) is not None:
                self._overrun = overrun
                self.child.kill()
                return
