"""Grading's door to the sandbox: a ``Zygote`` that stays warm, and a ``Session`` for each submission.

with Zygote(kit=Path("notebooks/coursekit"), data=[Path("data/names.txt")]) as zygote:
    with zygote.session() as session:
        outcomes = session.run_cells([("softmax", source), ("softmax_check", check_source)])
        student = session.student("softmax")
        student(np.zeros(3))
        session.status          # None, "timed-out", "out-of-memory" or "crashed"
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import UserError
from ..results import CellOutcome
from ..student import Conversation, Student, StudentError, StudentGone
from . import namespaces, policy, wire
from .outputs import clean_outputs
from .policy import Limits
from .transport import Child, RemoteTransport

START_SECONDS = 180.0
SPAWN_SECONDS = 30.0


class SandboxUnavailable(UserError):
    """The sandbox cannot be had here, or could not be set up. The text says what to do."""


class Zygote:
    """A warm process that forks a jailed child for each session, and is started again if it should die.

    ``kit`` is the folder of the package ``coursekit``; each of ``data`` appears as ``data/<its name>`` in
    the working folder, and beside the kit; ``modules`` are imported once, before any submission, as are NumPy,
    matplotlib and IPython.
    ``sandbox=False`` is the explicit ``--no-sandbox``: separate processes without any isolation.
    """

    def __init__(
        self,
        kit: Path,
        data: Sequence[Path] = (),
        limits: Limits | None = None,
        modules: Sequence[str] = ("torch", "coursekit"),
        sandbox: bool = True,
        render_figures: bool = False,
    ):
        self.kit = Path(kit).resolve()
        self.data = tuple(Path(path).resolve() for path in data)
        self.limits = limits or Limits()
        self.modules = tuple(modules)
        self.sandbox = sandbox
        self.render_figures = render_figures
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._buffer = b""
        self._workplace = ""

    def __enter__(self) -> Zygote:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the process unless it runs. ``SandboxUnavailable`` says in one sentence why it cannot."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        if self.sandbox and (problem := namespaces.probe()) is not None:
            raise SandboxUnavailable(problem)
        if not hasattr(os, "fork"):
            raise SandboxUnavailable("grading needs Linux or macOS: on Windows use WSL2")
        for path in (self.kit, *self.data):
            if not path.exists():
                raise SandboxUnavailable(f"{path} does not exist, and submissions need it")
        here = Path(__file__).resolve().parent
        ours, theirs = socket.socketpair()
        environment = policy.ENVIRONMENT
        if not self.sandbox:
            self._workplace = self._make_workplace()
            environment = {**environment, "HOME": self._workplace, "TMPDIR": self._workplace}
            environment |= {"MPLCONFIGDIR": self._workplace, "IPYTHONDIR": self._workplace}
        # The program is a descriptor, so that no path of the harness stands in the children's command line.
        program = os.open(here / "zygote.py", os.O_RDONLY)
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-P", f"/dev/fd/{program}", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            env=environment,
            cwd="/",
            pass_fds=[program, theirs.fileno()],
            start_new_session=True,
        )
        os.close(program)
        theirs.close()
        self._control, self._buffer = ours, b""
        self._send(
            {
                "harness": str(here),
                "kit": str(self.kit),
                "data": [str(path) for path in self.data],
                "python": policy.python_folders(),
                "hidden": policy.hidden_folders(),
                "limits": self.limits.as_dict(),
                "modules": list(self.modules),
                "sandbox": self.sandbox,
                "render_figures": self.render_figures,
                "outer_id": outer_id(),
                "workplace": self._workplace,
                "fonts": known_fonts(),
            }
        )
        answer, _ = self._receive(START_SECONDS)
        if "ready" not in answer:
            self.close()
            raise SandboxUnavailable(answer.get("error", "the sandbox's first process ended at once"))

    def _make_workplace(self) -> str:
        folder = tempfile.mkdtemp(prefix="unsandboxed-")
        os.mkdir(f"{folder}/data")
        for path in self.data:
            os.symlink(path, f"{folder}/data/{path.name}")
        return folder

    def session(self, limits: Limits | None = None) -> Session:
        """A fresh session, with limits of its own if need be. The child starts at its first use."""
        return Session(self, limits or self.limits)

    def close(self) -> None:
        """End the process, and with it every child that is left."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._workplace:
            shutil.rmtree(self._workplace, ignore_errors=True)
            self._workplace = ""

    def spawn(self, limits: Limits) -> tuple[socket.socket, Child]:
        """Fork a jailed child; the socket to it and the child itself, ready to serve."""
        self.start()
        ours, theirs = socket.socketpair()
        try:
            self._send({"spawn": limits.as_dict()}, theirs.fileno())
            answer, descriptors = self._receive(SPAWN_SECONDS)
        except (OSError, SandboxUnavailable):
            ours.close()
            self.close()
            raise SandboxUnavailable("the sandbox's first process has gone: try again") from None
        finally:
            theirs.close()
        pidfd = descriptors[0] if descriptors else None
        return ours, Child(int(answer["pid"]), pidfd, group=not self.sandbox)

    def reap(self, child: Child) -> dict[str, Any]:
        """How a killed child ended: ``{"status": wait status, "cpu": seconds, "peak": bytes above birth}``."""
        try:
            self._send({"reap": child.inner_pid})
            answer, _ = self._receive(SPAWN_SECONDS)
        except (OSError, SandboxUnavailable):
            return {"status": 0, "cpu": 0.0, "peak": 0}
        return answer

    def _send(self, message: dict[str, Any], descriptor: int | None = None) -> None:
        assert self._control is not None
        line = json.dumps(message).encode() + b"\n"
        if descriptor is None:
            self._control.sendall(line)
        else:
            socket.send_fds(self._control, [line], [descriptor])

    def _receive(self, seconds: float) -> tuple[dict[str, Any], list[int]]:
        """The zygote's next message with its descriptors; ``{}`` when it has gone."""
        assert self._control is not None
        self._control.settimeout(seconds)
        descriptors: list[int] = []
        while b"\n" not in self._buffer:
            try:
                data, found, _, _ = socket.recv_fds(self._control, 1 << 16, 4)
            except TimeoutError:
                raise SandboxUnavailable("the sandbox's first process does not answer") from None
            descriptors += found
            if not data:
                return {}, descriptors
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        return json.loads(line), descriptors


def known_fonts() -> dict[str, str]:
    """matplotlib's list of the fonts here, by file name: making one takes seconds where there are many."""
    import matplotlib
    from matplotlib.font_manager import FontManager

    path = Path(matplotlib.get_cachedir()) / f"fontlist-v{FontManager.__version__}.json"
    try:
        return {path.name: path.read_text()}
    except OSError:
        return {}


def outer_id() -> int:
    """The unprivileged id that children get when this process is root, or 0 when it must use its own."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return 0
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return 0
    ranges = [(int(first), int(count)) for first, _, count in map(str.split, lines)]
    for candidate in (policy.OUTER_UID + os.getpid() % 100_000, 65_534):
        if any(first <= candidate < first + count for first, count in ranges):
            return candidate
    return 0


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
        self._gone: StudentGone | None = None

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
                outcomes[index] = CellOutcome(label, index, "error", seconds, (), f"The cell was {gone}")
                return index
        return None

    def _run_cell(self, index: int, label: str, source: str) -> CellOutcome:
        conversation = self._live(self.limits.cell_seconds)
        try:
            found, _, _ = conversation.request("cell", index, label, source)
        except StudentError as error:  # the runner itself was broken by the student's code
            return CellOutcome(label, index, "error", 0.0, (), f"{error}"[:2000])
        match found:
            case {
                "status": ("ok" | "error") as status,
                "outputs": list(outputs),
                "error": str(text),
            }:
                clean = clean_outputs(outputs, self.limits)
                return CellOutcome(label, index, status, 0.0, clean, wire.readable(text, 2000))
        raise self._end("crashed")

    def student(self, name: str) -> Student:
        """The submission's function ``name``, for a hidden test."""
        if self._conversation is None:
            self._start()
        conversation = self._live(self.limits.call_seconds)
        return Student(conversation, name)

    def revive(self) -> bool:
        """After a call ended the child: run the cells again in a fresh one. Whether that worked."""
        if self._gone is None:
            return True
        if time.monotonic() > self._until:
            return False
        return self._run(self._cells, {}) is None

    def close(self) -> None:
        """End the child. Never waits on it."""
        if self._transport is not None:
            self._transport.child.kill()
            self._transport.child.close()
            self._transport.link.close()
            self._transport = None
        self._conversation = None

    def _start(self) -> None:
        self.close()
        link, child = self.zygote.spawn(self.limits)
        transport = RemoteTransport(link, child, self.limits.memory_bytes, self._end)
        self._transport, self._gone = transport, None
        self._conversation = Conversation(transport)
        transport.seconds = SPAWN_SECONDS
        transport._deadline = time.monotonic() + SPAWN_SECONDS
        try:
            message = wire.decode(transport.receive())
        except (StudentGone, wire.WireError):
            message = ("failed", "it ended at once")
        transport._deadline = None
        transport.until = self._until
        if message != ("ready",):
            self.close()
            self.status = None
            raise SandboxUnavailable(f"a sandbox could not be set up: {message[-1]}")

    def _live(self, seconds: float) -> Conversation:
        if self._gone is not None or self._conversation is None or self._transport is None:
            gone = self._gone or StudentGone("crashed", "the session is closed")
            raise StudentGone(gone.reason, gone.detail)
        self._transport.seconds = seconds
        return self._conversation

    def _end(self, reason: str | None) -> StudentGone:
        """It is over with the child: kill it, find out why if nobody knows, and remember it."""
        if self._gone is not None:
            return self._gone
        transport = self._transport
        assert transport is not None
        transport.child.kill()
        ended = self.zygote.reap(transport.child)  # also: nothing of it competes with what comes next
        reason = reason or self._why(ended)
        self._gone = StudentGone(reason, _SENTENCES[reason])
        self.status = self.status or reason
        return self._gone

    def _why(self, end: dict[str, Any]) -> str:
        """From how the child ended: SIGKILL that was not ours is the kernel's, for CPU time or memory."""
        limits = self.limits
        if end["cpu"] >= limits.cpu_seconds - 1:
            return "timed-out"
        if end["peak"] > 0.8 * limits.memory_bytes:
            return "out-of-memory"
        return "crashed"


_SENTENCES = {
    "timed-out": "it took too long",
    "out-of-memory": "it took too much memory",
    "crashed": "its process ended",
}
