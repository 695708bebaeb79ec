"""The trusted side of the zygote: launches the process, asks it to fork children, and learns how they ended."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from autograder.errors import UserError
from autograder.results import STRONGEST
from autograder.sandbox.host.transport import Child
from autograder.sandbox.jail import folders, namespaces, visible
from autograder.sandbox.jail.zygote import Control
from autograder.sandbox.limits import Limits

READY_SECONDS = 180.0
SPAWN_SECONDS = 30.0
SECONDS_TO_CLEAR_UP = 5.0
#: A disk may take milliseconds for each folder, and a submission may leave tens of thousands.
SECONDS_TO_REMOVE = 600.0


class SandboxUnavailable(UserError):
    """The sandbox is not available here, or could not be set up. The text says what to do."""


@dataclass(eq=False)
class ZygoteProcess:
    """A process with all imports done that forks a jailed child for each session. It is launched again if it dies.

    ``kit`` is the folder of the package ``coursekit``. Each path in ``data`` appears as ``data/<its name>`` in the working
    folder and beside the kit. ``modules`` are imported once, before any submission, as are NumPy, matplotlib and IPython.
    ``least`` is the least isolation that is accepted (``autograder.results.ISOLATION``); ``isolation`` is the level that
    the ready process has.
    ``private`` are folders that submissions must not read.
    """

    kit: Path
    data: Sequence[Path] = ()
    limits: Limits = field(default_factory=Limits)
    modules: Sequence[str] = ("torch", "coursekit")
    least: str = STRONGEST
    private: Sequence[Path] = ()
    isolation: str = field(default="", init=False)
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _control: Control | None = field(default=None, init=False)
    _ready: bool = field(default=False, init=False)
    _work_folder: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.kit = self.kit.resolve()
        self.data = tuple(path.resolve() for path in self.data)

    def __enter__(self) -> Self:
        self.wait_ready()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def wait_ready(self) -> None:
        """Launch the process unless it runs, and wait until it has imported everything.

        Raises ``SandboxUnavailable``, with the reason in one sentence.
        """
        self.launch()
        if self._ready:
            return
        answer = self._receive(READY_SECONDS)
        if "ready" not in answer:
            self.close()
            raise SandboxUnavailable(answer.get("error", "the sandbox's first process ended at once"))
        self._ready, self.isolation = True, answer["ready"]

    def launch(self) -> None:
        """Launch the process unless it runs, without waiting for its imports."""
        if self._control is not None and (self._process is None or self._process.poll() is None):
            return
        self.close()
        lacking = namespaces.probe()
        if lacking and (self.least == STRONGEST or namespaces.unsupported()):
            raise SandboxUnavailable(lacking)
        for path in (self.kit, *self.data):
            if not path.exists():
                raise SandboxUnavailable(f"{path} does not exist, and submissions need it")
        package = Path(__file__).resolve().parents[1]
        ours, theirs = socket.socketpair()
        # If only root may read the course, submissions get a copy.
        user = outer_uid()
        closed = bool(user) and not all(visible.open_to_all(str(path)) for path in (self.kit, *self.data))
        if self.least != STRONGEST or closed:
            self._work_folder = tempfile.mkdtemp(prefix="submissions-")
        # The program is passed as a descriptor, so that the children's command line shows no path of the harness.
        program = os.open(package / "jail" / "zygote.py", os.O_RDONLY)
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-P", f"/dev/fd/{program}", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            env=visible.ENVIRONMENT,
            cwd="/",
            pass_fds=[program, theirs.fileno()],
            start_new_session=True,
        )
        os.close(program)
        theirs.close()
        self._control, self._ready = Control(ours), False
        self._control.send(
            {
                "harness": str(package),
                "kit": str(self.kit),
                "data": [str(path) for path in self.data],
                "python": visible.python_folders(),
                "hidden": visible.hidden_folders(),
                "limits": asdict(self.limits),
                "modules": list(self.modules),
                "private": [str(path.resolve()) for path in self.private],
                "least": self.least,
                "lacking": lacking or "",
                "outer_uid": user,
                "closed": closed,
                "work_folder": self._work_folder,
                "fonts": font_caches(),
            }
        )

    def clone(self) -> Self:
        """A forked copy of the process; ``wait_ready`` waits for it.

        It ends with this process. If it ends before, its next ``wait_ready`` launches a new process.
        """
        self.launch()
        assert self._control is not None
        copy = type(self)(self.kit, self.data, self.limits, self.modules, self.least, self.private)
        ours, theirs = socket.socketpair()
        try:
            self._control.send({"clone": outer_uid()}, theirs.fileno())
        except OSError:  # the process has ended, and may have reported why
            ours.close()
            answer = self._receive(SPAWN_SECONDS)
            self.close()
            raise SandboxUnavailable(
                answer.get("error", "the sandbox's first process has ended: grade again")
            ) from None
        finally:
            theirs.close()
        copy._control = Control(ours)
        return copy

    def descriptors(self) -> list[int]:
        """The open descriptors that belong to this object."""
        return [] if self._control is None else [self._control.socket.fileno()]

    def close(self) -> None:
        """End the process and all its children."""
        if self._control is not None:
            self._control.socket.close()
            self._control, self._ready = None, False
        if self._process is not None:
            # Without namespaces it ends processes that submissions left running.
            if self._work_folder and self.isolation != STRONGEST:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(SECONDS_TO_CLEAR_UP)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._work_folder:
            folders.remove(self._work_folder, SECONDS_TO_REMOVE)
            self._work_folder = ""

    def spawn(self, limits: Limits) -> tuple[socket.socket, Child]:
        """Fork a jailed child; return the socket to it and the child."""
        self.wait_ready()
        ours, theirs = socket.socketpair()
        with theirs:
            answer = self._ask("pid", {"spawn": asdict(limits)}, theirs.fileno())
        assert self._control is not None
        pidfd, group = self._control.descriptors.pop(0), self.isolation != STRONGEST
        return ours, Child(pidfd, answer.pop("pid"), group, **answer)

    def reap(self, child: Child) -> dict[str, Any]:
        """How a killed child ended: ``{"status": wait status, "cpu": seconds, "peak": bytes more than at the fork}``."""
        return self._ask("status", {"reap": child.inner_pid})

    def _ask(self, key: str, message: dict[str, Any], *descriptors: int) -> dict[str, Any]:
        """The zygote's answer, which has ``key``. If there is none, the process is closed and ``SandboxUnavailable`` raised."""
        answer: dict[str, Any] = {}
        with contextlib.suppress(OSError, SandboxUnavailable):
            assert self._control is not None
            self._control.send(message, *descriptors)
            answer = self._receive(SPAWN_SECONDS)
        if key not in answer:
            self.close()
            raise SandboxUnavailable("the sandbox's first process has ended: grade again")
        return answer

    def _receive(self, seconds: float) -> dict[str, Any]:
        """The zygote's next message; ``{}`` if it has ended."""
        assert self._control is not None
        try:
            return self._control.receive(seconds) or {}
        except TimeoutError:
            raise SandboxUnavailable("the sandbox's first process does not answer") from None


def font_caches() -> dict[str, str]:
    """matplotlib's font caches by file name: making one takes seconds on a machine with many fonts."""
    configured = os.environ.get("MPLCONFIGDIR")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "matplotlib"
    caches: dict[str, str] = {}
    for path in (Path(configured) if configured else cache).glob("fontlist-v*.json"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            caches[path.name] = path.read_text(encoding="utf-8")
    return caches


_uid_counter = itertools.count()
#: User ids for containers that have only 65,536: Debian and others leave these unassigned.
SMALL_UIDS = range(30_000, 60_000)


def outer_uid() -> int:
    """The host user id for a zygote's children if this process is root; 0 if they must keep its own.

    Each call returns another id, because a user's processes share limits and may end each other.
    """
    return unused_uid(Path("/proc/self/uid_map").read_text()) if os.geteuid() == 0 else 0


def unused_uid(uid_map: str) -> int:
    """A new user id that ``uid_map`` (the text of /proc/self/uid_map) allows and nobody uses, or 0 for none."""
    ranges = [(int(first), int(count)) for first, _, count in map(str.split, uid_map.splitlines())]
    number = 100 * (os.getpid() % 100_000) + next(_uid_counter) % 100
    for candidate in (visible.OUTER_UID + number, SMALL_UIDS[number % len(SMALL_UIDS)]):
        if any(first <= candidate < first + count for first, count in ranges):
            return candidate
    return 0
