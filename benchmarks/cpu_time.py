"""Measures the CPU time of a command and of all processes that it starts, by a control group.

A busy machine hardly changes CPU time. The kernel counts for a control group what ``getrusage`` leaves out: processes that
nobody waited for, such as the sandbox's when their namespace ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

#: The most seconds to wait for remaining processes to end.
PATIENCE = 10.0


@dataclass(frozen=True)
class Used:
    """The seconds that a command took: CPU time in user mode and in the kernel, and wall-clock time."""

    user: float
    system: float
    wall: float

    @property
    def cpu(self) -> float:
        """The total CPU time."""
        return self.user + self.system


def cpu_time(words: Sequence[str], *, cwd: Path, environment: Mapping[str, str]) -> Used:
    """Run a command and return the time that it took. Raises ``SystemExit`` with its output if it fails."""
    with _control_group() as group:
        began = time.perf_counter()
        enter_group = f"echo $$ > '{group}/cgroup.procs' && exec \"$@\""
        done = subprocess.run(
            ["/bin/sh", "-c", enter_group, "sh", *words], cwd=cwd, env=dict(environment), capture_output=True, text=True
        )  # fmt: skip
        wall = time.perf_counter() - began
        if done.returncode:
            raise SystemExit(f"{' '.join(words[:5])} failed:\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
        until = time.monotonic() + PATIENCE
        while (group / "cgroup.procs").read_text().strip() and time.monotonic() < until:
            time.sleep(0.02)
        user, system = _seconds(group)
    return Used(user, system, wall)


def _seconds(group: Path) -> tuple[float, float]:
    """The CPU seconds of a control group's processes, in user mode and in the kernel."""
    if (group / "cpu.stat").exists():  # version 2
        numbers = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
        return int(numbers["user_usec"]) / 1e6, int(numbers["system_usec"]) / 1e6
    user, system = (int((group / f"cpuacct.usage_{kind}").read_text()) / 1e9 for kind in ("user", "sys"))
    return user, system


@contextmanager
def _control_group() -> Iterator[Path]:
    """A new control group below this process's own."""
    group = _own_group() / f"benchmark-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        raise SystemExit(
            f"CPU time is counted by a control group, and none can be made here ({error.strerror}): run this as root, "
            "or under `systemd-run --user --scope --property=Delegate=yes`."
        ) from None
    try:
        yield group
    finally:
        with contextlib.suppress(OSError):  # a process is still in it
            group.rmdir()


def _own_group() -> Path:
    """The folder of this process's control group that counts CPU time."""
    groups = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    for _, place, kind, options, *_ in mounts:
        if kind == "cgroup" and "cpuacct" in options.split(","):
            names = next(names for names in groups if "cpuacct" in names.split(","))
            return Path(place) / groups[names].lstrip("/")
    for _, place, kind, *_ in mounts:
        if kind == "cgroup2":
            return Path(place) / groups[""].lstrip("/")
    raise SystemExit(f"CPU time is counted by control groups, which {sys.platform} does not have here.")
