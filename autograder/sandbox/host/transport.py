"""The trusted end of a session's socket: frames with a deadline, and a watchdog that ends the child.

Nothing here waits on the student's code without a limit, and nothing that the child sends is trusted.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.results import STATUSES
from autograder.sandbox import wire
from autograder.sandbox.host.rpc import StudentGone
from autograder.sandbox.jail import namespaces
from autograder.sandbox.jail.folders import Room, owned
from autograder.sandbox.limits import Limits

#: All that a session may send: a test that keeps every result must not fill the harness's memory.
MAX_RECEIVED = 1 << 30
#: Seconds between two checks of the limits, and the longest wait for the socket.
TICK = 0.1
#: Seconds for which it is worth waiting once more.
MIN_OWED = 0.05
#: Seconds of a busy machine that a submission is given back at most: fewer than the process that grades it waits for it.
MAX_GIVEN_BACK = 60.0


@dataclass
class Deadline:
    """When a submission has to be over, by the monotonic clock, and how much it has sent, whatever number of children it takes.

    ``left``: seconds that it may still be given back; ``received``: bytes; ``reserved``: the last seconds, which are kept
    for what comes later.
    """

    at: float = float("inf")
    left: float = 0.0
    received: int = 0
    reserved: float = 0.0

    @property
    def until(self) -> float:
        """When what runs now has to be over."""
        return self.at - self.reserved


#: Looks at a folder in a row in which something moved: two seconds.
MAX_BLURRED = 20
#: Seconds that an interrupted cell may take to stop.
SECONDS_TO_STOP = 2.0
#: What a socket's send buffer may hold, unseen in any process's memory: the kernel's usual limit, and one message more.
SOCKET_BYTES = 2 * 212_992


class Child:
    """A jailed process as the harness sees it from outside: a pidfd, and its memory."""

    def __init__(
        self, pidfd: int, inner_pid: int, group: bool, scratch: str = "", elsewhere: Sequence[str] = ()
    ):
        self.pidfd = pidfd
        self.inner_pid = inner_pid
        self.killed = False
        self.group = group  # without namespaces its process group stands for its descendants
        self.scratch = scratch  # its folder, where no file system of its own has a size
        self.elsewhere = elsewhere  # the other folders in which it can make files
        self._blurred = 0  # the latest looks at it in which something moved
        lines = Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines()
        #: Its process id in this process's namespace.
        self.pid = next((int(line.split()[1]) for line in lines if line.startswith("Pid:")), -1)
        self.baseline = _memory_of(self.pid) or 0

    def kill(self) -> None:
        """End the child and everything in its process namespace (or its process group)."""
        if self.killed:  # its pid may be another process's by now
            return
        self.killed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.group:
                os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def interrupt(self) -> None:
        """Interrupt the code that the child runs, as Jupyter does: it may hear that, or not."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGINT)

    def process_tree(self) -> list[int]:
        """The child and its descendants."""
        return [self.pid] if not self.group and _is_childless(self.pid) else _process_tree(self.pid)

    def deprioritise(self, processes: list[int], max_unthrottled_tasks: int) -> None:
        """Give all tasks but the first the lowest priority when there are more than ``max_unthrottled_tasks``.

        A task is a process or a thread. At that priority all that a submission may start weigh no more than one
        process at the usual priority, so that nobody takes a classmate's CPU time by starting many.
        """
        tasks = [(pid, task) for pid in processes for task in _threads(pid) if task != self.pid]
        for pid, task in tasks if len(tasks) >= max_unthrottled_tasks else ():
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, task, 19)
                if (
                    os.getsid(pid) == pid
                ):  # the scheduler shares CPU time among sessions before it looks at niceness
                    Path(f"/proc/{pid}/autogroup").write_text("19")

    def kept_waiting(self) -> float:
        """Seconds that the child's only thread was ready to run while others had the processors.

        0 where nobody counts them, and with more threads or processes: they may be what keeps the first one waiting.
        """
        if self.process_tree() != [self.pid] or len(_threads(self.pid)) != 1:
            return 0.0
        try:
            return int(Path(f"/proc/{self.pid}/schedstat").read_bytes().split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def memory(self, processes: list[int]) -> int:
        """Bytes that the processes hold beyond what the child held when it was forked, page tables and sockets included.

        Shared pages count once for each process, so this can be too much, never too little.
        """
        return max(0, sum(_memory_of(pid) or 0 for pid in processes) + self._sockets() - self.baseline)

    def exact_memory(self, processes: list[int]) -> int:
        """``memory`` with shared pages divided among their holders, where the kernel tells; slow."""
        return max(0, sum(map(self._exact, processes)) + self._sockets() - self.baseline)

    def _exact(self, pid: int) -> int:
        """A process's part. Where the kernel does not say, in a container, what it was forked with is taken for shared."""
        exact = _proportional_memory(pid)
        if exact is not None:
            return exact
        return max(0, (_memory_of(pid) or 0) - (self.baseline if pid != self.pid else 0))

    def _sockets(self) -> int:
        """The bytes that the buffers of all sockets in the child's own network may hold."""
        if self.group:  # without namespaces its network is everybody's
            return 0
        try:
            first = Path(f"/proc/{self.pid}/net/sockstat").read_text().split("\n", 1)[0]
            return SOCKET_BYTES * int(first.split()[2])
        except (OSError, ValueError, IndexError):
            return 0

    def fills(self, scratch_bytes: int) -> bool:
        """Whether its files take more room than ``scratch_bytes``, or hide how much they take."""
        if not self.scratch:
            return False
        room = Room([self.scratch, *self._elsewhere()], scratch_bytes)
        self._blurred = self._blurred + 1 if room.moved else 0
        return room.taken > scratch_bytes or self._blurred > MAX_BLURRED

    def _elsewhere(self) -> list[str]:
        """Its entries in folders that all users share."""
        try:
            return owned(self.elsewhere, os.stat(self.scratch).st_uid) if self.elsewhere else []
        except OSError:
            return []

    def close(self) -> None:
        """Close the pidfd."""
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1


def _threads(pid: int) -> list[int]:
    """The threads of a process."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


#: What counts as a process's memory in /proc: anonymous and shared pages, and the tables that map them.
_MEMORY_FIELDS = ("RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:")


def _memory_of(pid: int, fields: tuple[str, ...] = _MEMORY_FIELDS) -> int | None:
    """Memory of a process in bytes, or ``None`` when it has gone."""
    try:
        with open(f"/proc/{pid}/status") as status:
            lines = status.read().splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) for line in lines if line.startswith(fields)) * 1024


def _proportional_memory(pid: int) -> int | None:
    """Memory of a process with shared pages divided among their holders; None where that cannot be read."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    fields = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
    pages = sum(int(line.split()[1]) for line in lines if line.startswith(fields)) * 1024
    return pages + (_memory_of(pid, ("VmPTE:",)) or 0)


def _is_childless(pid: int) -> bool:
    """Whether a process certainly has no children: the usual case, which spares a look through all of /proc.

    The first process of a PID namespace has a child whenever there is another process in there. The kernel's list of
    children may leave out one while others end, but it is never empty then.
    """
    try:
        for thread in _threads(pid):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                if children.read(1):
                    return False
    except OSError:  # the thread has ended, or the kernel keeps no such list
        return False
    return True


def _process_tree(root: int) -> list[int]:
    """A process and its descendants. In a PID namespace orphans go to its first process, so none is missed."""
    try:
        parents = namespaces.parents()
    except OSError:
        return [root]
    processes, size = {root}, 0
    while len(processes) > size:
        size = len(processes)
        processes |= {pid for pid, parent in parents.items() if parent in processes}
    return list(processes)


class RemoteTransport:
    """Frames to and from a jailed child.

    ``on_end`` is called once, after the child was killed, with the reason if it is known here, and returns the
    exception to raise from then on.
    """

    def __init__(
        self,
        connection: socket.socket,
        child: Child,
        limits: Limits,
        on_end: Callable[[str | None], StudentGone],
    ):
        self.connection = connection
        self.child = child
        self.limits = limits
        self.on_end = on_end
        #: Seconds that one exchange may take.
        self.timeout = 60.0
        #: Whether an exchange that takes longer is interrupted first, and whether the last one was.
        self.interrupts = False
        self.interrupted: StudentGone | None = None
        #: When all exchanges must be over: the submission's, whatever number of children it takes.
        self.session_deadline = Deadline()
        #: Why the child is gone, once it is.
        self.gone: StudentGone | None = None
        #: The sandbox's own failure: how the child ended is unknown, so no verdict about it counts.
        self.failure: Exception | None = None
        self._deadline: float | None = None
        self._next_check = 0.0
        #: Why the watching thread ended the child between two exchanges, if it did.
        self._overrun: tuple[str, str] | None = None
        #: Seconds of waiting for a processor that have been looked at.
        self._waited = 0.0
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()
        connection.setblocking(False)
        self._poll = select.poll()
        self._awaited = 0
        self._unread = bytearray()

    def exchange(self, request: bytes | None, answer: Callable[[bytes], bytes | None]) -> None:
        """See ``rpc.Transport``. An exchange inside a callback keeps the outer exchange's deadline."""
        if self.gone is not None:
            raise self._ended(None)
        outer = self._deadline
        now = time.monotonic()
        self._next_check = now + TICK
        if outer is None:
            self._deadline = min(now + self.timeout, self.session_deadline.until)
            self.interrupted = None
        try:
            if request is not None:
                self.send(request)
            while (frame := answer(self.receive())) is not None:
                self.send(frame)
        except wire.WireError as error:
            raise self._ended("crashed", str(error)) from None
        except BaseException:
            self.end("crashed")
            raise
        finally:
            self._deadline = outer

    def send_ahead(self, requests: bytes) -> None:
        """See ``rpc.Transport``. A child that reads nothing has the time of one exchange."""
        if self.gone is None:
            self._deadline = min(time.monotonic() + self.timeout, self.session_deadline.until)
            try:
                self.send(requests)
            finally:
                self._deadline = None

    def end(self, reason: str | None) -> StudentGone:
        """Kill the child, unless that has happened, and return why it is gone.

        Where ``on_end`` raises, this and every later exchange raise the same: a ``finally`` that makes one more
        request must not turn the sandbox's failure into the student's.
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
        """Kill the child without asking how it ended, and close its descriptors."""
        self._closed.set()
        self.gone = self.gone or StudentGone("crashed", "the session is closed")
        self.child.kill()
        self.child.close()
        self.connection.close()

    def _ended(self, reason: str | None, detail: str = "") -> StudentGone:
        gone = self.end(reason)
        return StudentGone(gone.reason, detail or gone.detail)

    def send(self, frame: bytes) -> None:
        """Send a frame before the deadline."""
        unsent = memoryview(frame)
        while unsent:
            try:
                unsent = unsent[self.connection.send(unsent) :]
            except BlockingIOError:
                self._wait(select.POLLOUT)
            except OSError:
                raise self._ended(None) from None

    def receive(self) -> bytes:
        """The next frame, before the deadline. Memory is taken as bytes arrive, not as the prefix promises them."""
        data, self._unread = self._unread, bytearray()
        self._receive_until(data, wire.PREFIX.size)
        header, body = wire.frame_lengths(bytes(data[: wire.PREFIX.size]))
        self.session_deadline.received += header + body
        if self.session_deadline.received > MAX_RECEIVED:
            raise wire.WireError("the submission sent too much")
        length = wire.PREFIX.size + header + body
        self._receive_until(data, length)
        if len(data) > length:  # what a child sends unasked comes before the next reply
            self._unread = data[length:]
            del data[length:]
        return bytes(data)

    def _receive_until(self, data: bytearray, length: int) -> None:
        """Receive until there are ``length`` bytes, or a few more: most frames come whole, after one wait."""
        while len(data) < length:
            self._wait(select.POLLIN)
            try:
                part = self.connection.recv(min(max(length - len(data), 1 << 16), 1 << 20))
            except BlockingIOError:
                continue
            except OSError:
                part = b""
            if not part:
                raise self._ended(None)
            data += part

    def _wait(self, event: int) -> None:
        """Wait for ``event``, or for a tick; the limits are checked once a tick, whatever comes."""
        if event != self._awaited:
            self._poll.register(self.connection, event)
            self._awaited = event
        if not self._poll.poll(1000 * TICK) or time.monotonic() > self._next_check:
            self._check_limits()

    def _check_limits(self) -> None:
        """End the child when it is over its time, its memory or its number of processes."""
        now = time.monotonic()
        self._next_check = now + TICK
        if self._deadline is not None and now > self._deadline and not self._was_kept_waiting():
            if not self.interrupts or self.interrupted is not None:
                raise self._ended("timed-out")
            self.interrupted = StudentGone("timed-out", STATUSES["timed-out"].event)
            self._deadline = now + SECONDS_TO_STOP
            self.child.interrupt()
        if (overrun := self._overrun or self._find_overrun()) is not None:
            raise self._ended(*overrun)

    def _was_kept_waiting(self) -> bool:
        """Give the child back the time for which a busy machine kept it waiting; whether there was any."""
        waited = self.child.kept_waiting()
        owed = min(waited - self._waited, self.session_deadline.left)
        if owed < MIN_OWED or self._deadline is None:
            return False
        self._waited = waited
        self._deadline += owed
        self.session_deadline.at += owed
        self.session_deadline.left -= owed
        return True

    def _find_overrun(self) -> tuple[str, str] | None:
        """The reason to end the child, with its detail, when it holds or has started too much."""
        processes = self.child.process_tree()
        if len(processes) > self.limits.processes:  # where the kernel's own limit does not hold
            return "crashed", "it started too many processes"
        self.child.deprioritise(processes, self.limits.max_unthrottled_tasks)
        allowed = self.limits.memory_bytes
        if self.child.memory(processes) > allowed and self.child.exact_memory(processes) > allowed:
            return "out-of-memory", ""
        if self.child.fills(self.limits.scratch_bytes):
            return "out-of-memory", "its files took more room than they may"
        return None

    def _watch(self) -> None:
        """In a thread: keep watch while no exchange does, because the trusted side judges what came back.

        It only kills; how the child ended is asked, and said, by the next exchange.
        """
        while not self._closed.wait(TICK):
            if time.monotonic() > self._next_check + TICK and (overrun := self._find_overrun()) is not None:
                self._overrun = overrun
                self.child.kill()
                return
