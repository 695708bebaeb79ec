"""The jail where there are no namespaces, as in a plain container: what can be had instead, and how it is cleared up.

Three levels, named after what keeps files: ``landlock`` (the kernel's list of files), ``user`` (another user's
permissions) and ``limits`` (nothing). Each has the system call filter, which leaves no network, and the limits.
A submission's files lie in a folder of its own, and what it leaves running is ended with it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from . import folders, landlock, seccomp
from . import namespaces as ns
from .visible import DEVICES, OUTER_UID, SYSTEM_FILES, SYSTEM_FOLDERS

PR_SET_CHILD_SUBREAPER = 36
#: What NumPy, PyTorch and the C library look up about the machine.
_ABOUT_THE_MACHINE = (
    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu", "/etc/nsswitch.conf",
)  # fmt: skip
#: Seconds in which a killed process has to end.
_SECONDS_TO_END = 5.0


def level_of(own_user: bool) -> str:
    """What can be had here, by name."""
    if landlock.version() >= (1 if own_user else landlock.SIGNALS_SINCE):
        return "landlock"
    return "user" if own_user else "limits"


class Confinement:
    """What a zygote knows of the jail of its children."""

    def __init__(self, config: dict[str, Any], outer_uid: int):
        self.outer_uid = outer_uid
        self.folder = config["work_folder"]
        self.python = [path for path in config["python"] if os.path.exists(path)]
        self.rules = self._rules(config)
        # Where only permissions keep files, and a user's files are certainly a submission's.
        apart = outer_uid >= OUTER_UID and not landlock.version()
        self.elsewhere = folders.open_to_everybody() if apart else []

    def _rules(self, config: dict[str, Any]) -> list[tuple[str, int]]:
        """What every child may read, as Landlock takes it."""
        if not landlock.version():
            return []
        visible = [*SYSTEM_FOLDERS, *SYSTEM_FILES, *self.python]
        rules = [
            rule
            for path in visible
            if os.path.exists(path)
            for rule in landlock.around(path, config["hidden"])
        ]
        rules += [(path, landlock.READ) for path in (os.path.dirname(config["kit"]), *config["data"])]
        return rules + [(f"/dev/{name}", landlock.READ_WRITE_DEVICE) for name in DEVICES]

    def enter(self, scratch: str) -> None:
        """In the child: everything but the limits and ``lock``. It may hold privileges until then."""
        self._make_scratch(scratch)
        ns.prctl(PR_SET_CHILD_SUBREAPER, 1)
        if self.outer_uid:
            uid = self.outer_uid
            os.chown(scratch, uid, uid)
            for name in os.listdir(scratch):
                os.chown(f"{scratch}/{name}", uid, uid, follow_symlinks=False)
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            ns.prctl(ns.PR_SET_DUMPABLE, 1)  # its own /proc/self
            for path in self.python:
                if not os.access(path, os.R_OK):
                    raise PermissionError(errno.EACCES, f"another user cannot read Python's files in {path}")
        os.umask(0o077)
        os.chdir(f"{scratch}/lab")
        os.environ.update(HOME=scratch, TMPDIR=f"{scratch}/tmp", USER="student", LOGNAME="student")
        tempfile.tempdir = None

    def lock(self, scratch: str) -> None:
        """In the child, last: no privileges, no other files, no other system calls, for good."""
        ns.clear_capabilities()
        ns.prctl(ns.PR_SET_NO_NEW_PRIVS, 1)
        if landlock.version():
            rules = landlock.Ruleset()
            rules.allow_all(self.rules)
            rules.allow_all((path, landlock.READ) for path in _ABOUT_THE_MACHINE)
            rules.allow(scratch, landlock.everything())
            rules.enforce()
        seccomp.install(seccomp.Setting.OWN_USER if self.outer_uid else seccomp.Setting.SAME_USER)

    def _make_scratch(self, scratch: str) -> None:
        os.mkdir(scratch, 0o700)
        for name in ("lab", "tmp"):
            os.mkdir(f"{scratch}/{name}", 0o700)
        if os.path.isdir(f"{self.folder}/course/data"):
            os.symlink(f"{self.folder}/course/data", f"{scratch}/lab/data")

    def left_elsewhere(self) -> list[str]:
        """What submissions have made in folders that all users share."""
        return folders.owned(self.elsewhere, self.outer_uid) if self.elsewhere else []

    def new_scratch(self) -> str:
        """A name that nobody can guess: where permissions alone keep files, the next submission has the same user."""
        return f"{self.folder}/{secrets.token_hex(16)}"


def copy_course(config: dict[str, Any]) -> None:
    """Copy kit and data to where another user can read them, and have the configuration name the copies."""
    course = Path(config["work_folder"]) / "course"
    (course / "data").mkdir(parents=True)
    shutil.copytree(config["kit"], course / "coursekit")
    for source in config["data"]:
        target = course / "data" / os.path.basename(source)
        if os.path.isdir(source):
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    for path in (course, *course.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    config["kit"] = str(course / "coursekit")
    config["data"] = [str(path) for path in (course / "data").iterdir()]


def lay_out(config: dict[str, Any]) -> None:
    """Let another user have kit, data and a place to write."""
    home = config["work_folder"]
    course = f"{home}/course"
    if os.path.dirname(config["kit"]) != course:
        copy_course(config)
    os.chmod(home, 0o711)
    os.environ.update(
        HOME=home, TMPDIR=home, MPLCONFIGDIR=f"{course}/.matplotlib", IPYTHONDIR=f"{home}/.ipython"
    )


def end_strays(known: set[int]) -> None:
    """End this process's children that it did not make itself: what dead submissions left running came to it."""
    until = time.monotonic() + _SECONDS_TO_END
    while (strays := children_of(os.getpid()) - known) and time.monotonic() < until:
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in strays:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def children_of(parent: int) -> set[int]:
    """The processes whose parent is ``parent``."""
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                stat_line = Path(f"/proc/{name}/stat").read_bytes()
                if int(stat_line.rpartition(b")")[2].split()[1]) == parent:
                    found.add(int(name))
    return found


def tasks_of(uid: int) -> int:
    """The processes and threads of a user: the kernel counts a limit on their number from there."""
    count = 0
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count
