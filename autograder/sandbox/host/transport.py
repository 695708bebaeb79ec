"""The trusted end of a session's socket: frames with a deadline, and a watchdog that ends the child.

Nothing here waits on the student's code without a limit, and everything the child sends is bytes to check.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from autograder.sandbox import wire
from autograder.sandbox.host.rpc import StudentGone
from autograder.sandbox.limits import Limits

#: All that a session may send: a test that keeps every result must not fill the harness's memory.
MAX_RECEIVED = 1 << 30
#: How often memory is looked at, and the longest wait for the socket, in seconds.
TICK = 0.1


class Child:
    """A jailed process as the harness sees it from outside: a pidfd, and its memory."""

    def __init__(self, inner_pid: int, pidfd: int | None, group: bool):
        self.inner_pid = inner_pid
        self.pidfd = pidfd
        self.killed = False
        self.group = group  # without namespaces: the processes of its group are its descendants
        self.pid = self._host_pid()
        self.baseline = _memory_of(self.pid) or 0

    def _host_pid(self) -> int:
        """The child's process id in this process's namespace."""
        if self.pidfd is None:
            return self.inner_pid
        for line in Path(f"/proc/self/fdinfo/{self.pidfd}").read_text().splitlines():
            if line.startswith("Pid:"):
                return int(line.split()[1])
        return -1

    def kill(self) -> None:
        """End the child and everything in its process namespace (or its process group)."""
        if self.killed:  # its number may be somebody else's by now
            return
        self.killed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.group:
                os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            if self.pidfd is not None:
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            else:
                os.kill(self.pid, signal.SIGKILL)

    def family(self) -> list[int]:
        """The child and its descendants."""
        return _family(self.pid)

    def step_back(self, family: list[int], most: int) -> None:
        """Have a crowd of more than ``most`` processes and threads, the first one excepted, run behind everybody else.

        As many as a submission may have, at the lowest priority, weigh no more than one: nobody takes a classmate's
        time by being many.
        """
        tasks = [(pid, task) for pid in family for task in _tasks(pid) if task != self.pid]
        for pid, task in tasks if len(tasks) >= most else ():
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, task, 19)
                if os.getsid(pid) == pid:  # a session of its own counts as one, however it behaves
                    Path(f"/proc/{pid}/autogroup").write_text("19")

    def memory(self, family: list[int]) -> int:
        """Bytes that the family holds beyond what the child was born with.

        Shared pages count once for each process, so this can be too much, never too little.
        """
        return max(0, sum(_memory_of(pid) or 0 for pid in family) - self.baseline)

    def exact_memory(self, family: list[int]) -> int:
        """The same with shared pages divided among their holders, where the kernel says so (it is slow)."""
        return max(0, sum(_proportional(pid) for pid in family) - self.baseline)

    def close(self) -> None:
        """Let go of the pidfd."""
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None


def _tasks(pid: int) -> list[int]:
    """The threads of a process."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _memory_of(pid: int) -> int | None:
    """Anonymous and shared memory of a process in bytes, or ``None`` when it has gone."""
    try:
        with open(f"/proc/{pid}/status") as status:
            lines = status.read().splitlines()
    except OSError:
        return None
    fields = ("RssAnon:", "RssShmem:", "VmSwap:")
    return sum(int(line.split()[1]) for line in lines if line.startswith(fields)) * 1024


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return _memory_of(pid) or 0
    fields = ("Pss_Anon:", "Pss_Shmem:", "SwapPss:")
    return sum(int(line.split()[1]) for line in lines if line.startswith(fields)) * 1024


def _family(root: int) -> list[int]:
    """A process and its descendants. In a process namespace orphans go to its first process: none is lost."""
    parents: dict[int, int] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return [root]
    for name in names:
        if name.isdigit():
            try:
                stat = Path(f"/proc/{name}/stat").read_bytes()
            except OSError:
                continue
            parents[int(name)] = int(stat.rpartition(b")")[2].split()[1])
    family, size = {root}, 0
    while len(family) > size:
        size = len(family)
        family |= {pid for pid, parent in parents.items() if parent in family}
    return list(family)


class RemoteTransport:
    """Frames to and from a jailed child.

    ``ended`` is told once, when the child was killed and for what reason if it is known here, and says what
    to raise from then on.
    """

    def __init__(
        self,
        link: socket.socket,
        child: Child,
        budget: Limits,
        ended: Callable[[str | None], StudentGone],
        limits: wire.WireLimits = wire.LIMITS,
    ):
        self.link = link
        self.child = child
        self.budget = budget
        self.ended = ended
        self.limits = limits
        #: How long one exchange may take, and until when all of them (monotonic time).
        self.seconds = 60.0
        self.until = float("inf")
        #: Why there is nobody at the other end any more.
        self.gone: StudentGone | None = None
        #: The sandbox's own failure, when nobody can say how the child ended: no verdict about it counts.
        self.failure: Exception | None = None
        self._deadline: float | None = None
        self._next_look = 0.0
        self._received = 0
        link.setblocking(False)
        self._poll = select.poll()

    def exchange(self, request: bytes, answer: Callable[[bytes], bytes | None]) -> None:
        """See ``conversation.Transport``. An exchange within a callback shares its outer one's deadline."""
        if self.gone is not None:
            raise self._over(None)
        outer = self._deadline
        now = time.monotonic()
        self._next_look = now + TICK
        if outer is None:
            self._deadline = min(now + self.seconds, self.until)
        try:
            frame: bytes | None = request
            while frame is not None:
                self.send(frame)
                frame = answer(self.receive())
        except wire.WireError as error:
            raise self._over("crashed", str(error)) from None
        except BaseException:
            self.end("crashed")
            raise
        finally:
            self._deadline = outer

    def first(self, seconds: float) -> bytes:
        """The frame that the child sends of itself when it is ready."""
        self._deadline = time.monotonic() + seconds
        try:
            return self.receive()
        finally:
            self._deadline = None

    def end(self, reason: str | None) -> StudentGone:
        """Kill the child, for ``reason``, unless that has happened.

        Where ``ended`` fails it raises, and so does all that comes after: a ``finally`` that makes one more request
        must not turn the sandbox's failure into the student's.
        """
        if self.failure is not None:
            raise self.failure
        if self.gone is None:
            self.gone = StudentGone(reason or "crashed")
            self.child.kill()
            try:
                self.gone = self.ended(reason)
            except Exception as failure:
                self.failure = failure
                raise
        return self.gone

    def close(self) -> None:
        """Kill the child without asking how it ended, and let go of it."""
        self.gone = self.gone or StudentGone("crashed", "the session is closed")
        self.child.kill()
        self.child.close()
        self.link.close()

    def _over(self, reason: str | None, detail: str = "") -> StudentGone:
        gone = self.end(reason)
        return StudentGone(gone.reason, detail or gone.detail)

    def send(self, frame: bytes) -> None:
        """Send a frame before the deadline."""
        left = memoryview(frame)
        while left:
            try:
                left = left[self.link.send(left) :]
            except BlockingIOError:
                self._wait(select.POLLOUT)
            except OSError:
                raise self._over(None) from None

    def receive(self) -> bytes:
        """The next frame, before the deadline. Memory is taken as bytes arrive, not as they are promised."""
        data = bytearray()
        self._fill(data, wire.PREFIX.size)
        header, body = wire.frame_lengths(bytes(data), self.limits)
        self._received += header + body
        if self._received > MAX_RECEIVED:
            raise wire.WireError("the submission sent too much")
        self._fill(data, wire.PREFIX.size + header + body)
        return bytes(data)

    def _fill(self, data: bytearray, length: int) -> None:
        while len(data) < length:
            try:
                part = self.link.recv(min(length - len(data), 1 << 20))
            except BlockingIOError:
                self._wait(select.POLLIN)
                continue
            except OSError:
                part = b""
            if not part:
                raise self._over(None)
            data += part
            if time.monotonic() > self._next_look:
                self._look()

    def _wait(self, event: int) -> None:
        self._poll.register(self.link, event)
        if not self._poll.poll(1000 * TICK) or time.monotonic() > self._next_look:
            self._look()

    def _look(self) -> None:
        """End the child when it is over its time, its memory, or its number of processes."""
        now = time.monotonic()
        self._next_look = now + TICK
        if self._deadline is not None and now > self._deadline:
            raise self._over("timed-out")
        family = self.child.family()
        if len(family) > self.budget.processes:  # where the kernel's own limit is not in force
            raise self._over("crashed", "it started too many processes")
        self.child.step_back(family, self.budget.crowd)
        most = self.budget.memory_bytes
        if self.child.memory(family) > most and self.child.exact_memory(family) > most:
            raise self._over("out-of-memory")
