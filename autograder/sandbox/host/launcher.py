"""The trusted end of the zygote: starts the process, asks it for children, and learns how they ended."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from autograder.errors import UserError
from autograder.sandbox.host.transport import Child
from autograder.sandbox.jail import namespaces, visible
from autograder.sandbox.limits import Limits

START_SECONDS = 180.0
SPAWN_SECONDS = 30.0


class SandboxUnavailable(UserError):
    """The sandbox cannot be had here, or could not be set up. The text says what to do."""


class ZygoteProcess:
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
        self._ready = False
        self._buffer = b""
        self._workplace = ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the process unless it runs. ``SandboxUnavailable`` says in one sentence why it cannot."""
        self.begin()
        if self._ready:
            return
        answer, _ = self._receive(START_SECONDS)
        if "ready" not in answer:
            self.close()
            raise SandboxUnavailable(answer.get("error", "the sandbox's first process ended at once"))
        self._ready = True

    def begin(self) -> None:
        """Have the process start, unless it runs, without waiting until it has imported everything."""
        if self._control is not None and (self._process is None or self._process.poll() is None):
            return
        self.close()
        if self.sandbox and (problem := namespaces.probe()) is not None:
            raise SandboxUnavailable(problem)
        if not hasattr(os, "fork"):
            raise SandboxUnavailable("grading needs Linux or macOS: on Windows use WSL2")
        for path in (self.kit, *self.data):
            if not path.exists():
                raise SandboxUnavailable(f"{path} does not exist, and submissions need it")
        package = Path(__file__).resolve().parents[1]
        ours, theirs = socket.socketpair()
        environment = visible.ENVIRONMENT
        if not self.sandbox:
            self._workplace = self._make_workplace()
            environment = {**environment, "HOME": self._workplace, "TMPDIR": self._workplace}
            environment |= {"MPLCONFIGDIR": self._workplace, "IPYTHONDIR": self._workplace}
        # The program is a descriptor, so that no path of the harness stands in the children's command line.
        program = os.open(package / "jail" / "zygote.py", os.O_RDONLY)
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
        self._control, self._ready, self._buffer = ours, False, b""
        self._send(
            {
                "harness": str(package),
                "kit": str(self.kit),
                "data": [str(path) for path in self.data],
                "python": visible.python_folders(),
                "hidden": visible.hidden_folders(),
                "limits": self.limits.as_dict(),
                "modules": list(self.modules),
                "sandbox": self.sandbox,
                "render_figures": self.render_figures,
                "outer_id": outer_id(),
                "workplace": self._workplace,
                "fonts": known_fonts(),
            }
        )

    def clone(self, modules: Sequence[str] = ()) -> Self:
        """A copy of the process, with further modules imported: its ``start`` waits until it is ready.

        It ends with this process. Should it end before, its next ``start`` makes a process of its own.
        """
        self.begin()
        copy = type(self)(
            self.kit, self.data, self.limits, (*self.modules, *modules), self.sandbox, self.render_figures
        )
        ours, theirs = socket.socketpair()
        try:
            self._send({"clone": list(modules), "outer_id": outer_id()}, theirs.fileno())
        except OSError:  # it has ended, and may have said why
            ours.close()
            answer, _ = self._receive(SPAWN_SECONDS)
            self.close()
            raise SandboxUnavailable(
                answer.get("error", "the sandbox's first process has gone: grade again")
            ) from None
        finally:
            theirs.close()
        copy._control = ours
        return copy

    def descriptors(self) -> list[int]:
        """The open descriptors that belong to this object."""
        return [] if self._control is None else [self._control.fileno()]

    def _make_workplace(self) -> str:
        folder = tempfile.mkdtemp(prefix="unsandboxed-")
        os.mkdir(f"{folder}/data")
        for path in self.data:
            os.symlink(path, f"{folder}/data/{path.name}")
        return folder

    def close(self) -> None:
        """End the process, and with it every child that is left."""
        if self._control is not None:
            self._control.close()
            self._control, self._ready = None, False
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
            if "pid" not in answer:
                raise SandboxUnavailable("it has gone")
        except (OSError, SandboxUnavailable):
            ours.close()
            self.close()
            raise SandboxUnavailable("the sandbox's first process has gone: grade again") from None
        finally:
            theirs.close()
        pidfd = descriptors[0] if descriptors else None
        return ours, Child(int(answer["pid"]), pidfd, group=not self.sandbox)

    def reap(self, child: Child) -> dict[str, Any]:
        """How a killed child ended: ``{"status": wait status, "cpu": seconds, "peak": bytes above birth}``."""
        try:
            self._send({"reap": child.inner_pid})
            answer, _ = self._receive(SPAWN_SECONDS)
        except OSError:
            answer = {}
        if "status" not in answer:
            self.close()
            raise SandboxUnavailable("the sandbox's first process has gone: grade again")
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
    """matplotlib's lists of the fonts here, by file name: making one takes seconds where there are many."""
    named = os.environ.get("MPLCONFIGDIR")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "matplotlib"
    lists: dict[str, str] = {}
    for path in (Path(named) if named else cache).glob("fontlist-v*.json"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            lists[path.name] = path.read_text(encoding="utf-8")
    return lists


_given = itertools.count()


def outer_id() -> int:
    """The unprivileged id that a zygote's children get when this process is root, or 0 when it must use its own.

    Another one at each call, where the range allows.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return 0
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return 0
    ranges = [(int(first), int(count)) for first, _, count in map(str.split, lines)]
    number = 100 * (os.getpid() % 100_000) + next(_given) % 100
    for candidate in (visible.OUTER_UID + number, 65_534):
        if any(first <= candidate < first + count for first, count in ranges):
            return candidate
    return 0
