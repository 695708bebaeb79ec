"""The jail of a forked child: limits on each process, and what isolates it, with namespaces or without.

Without namespaces, as in a plain container, Landlock or, for root, another user id protects files; without either there is
no jail. The system call filter blocks the network. Each submission's files lie in its own folder, and the processes that
it leaves running are ended.
"""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import folders, landlock, rootfs, seccomp
from . import namespaces as ns
from .visible import DEVICES, INNER_UID, OUTER_UID, SYSTEM_FILES, SYSTEM_FOLDERS

#: Address space beyond the memory limit, for thread arenas and mapped files: its page tables take 32 MiB.
ADDRESS_ROOM = 16 << 30
#: Files in which NumPy, PyTorch and the C library look up facts about the machine.
_ABOUT_THE_MACHINE = (
    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu", "/etc/nsswitch.conf",
)  # fmt: skip
#: Seconds for killed processes to end, and for removing ended submissions' files between two requests.
_SECONDS_TO_END = SECONDS_TO_REMOVE = 5.0


class Jail:
    """Jails forked children. This class sets the limits; a subclass isolates the children."""

    #: The level of isolation, as named in results.
    isolation: str
    #: Files and folders that only permissions keep from children.
    secret: Sequence[str] = ()

    def __init__(self, config: dict[str, Any]):
        self.limits: dict[str, Any] = config["limits"]
        self.outer_uid: int = config["outer_uid"]
        #: The forked copies of this process.
        self.clones: set[int] = set()
        self.measure_baseline()

    def measure_baseline(self) -> None:
        """Record the memory that the libraries take: a child's limit comes on top of it."""
        self.data_size = ns.status_bytes("self", ("VmData:",))
        self.address_space = ns.status_bytes("self", ("VmSize:",))

    def seal(self) -> None:
        """Close, after the libraries are imported, what only the import needs."""

    def become_clone(self, outer_uid: int) -> None:
        """In a forked copy: take another user id. The kernel counts limits and permits signals by user."""
        self.clones = set()
        self.outer_uid = outer_uid
        self.measure_baseline()

    def fork(self) -> tuple[int, dict[str, Any]]:
        """Fork a child. Returns its process id (0 in the child), and its folders for ``Child`` if it has files on a disk."""
        raise NotImplementedError

    def ended(self, child: int) -> None:
        """Note that a child has been reaped."""

    def clear(self) -> None:
        """Remove the files and processes that ended children left behind."""

    def close(self) -> None:
        """Remove everything, at the end of this process."""

    def enter(self) -> None:
        """In the child: give up every privilege and resource that a submission does not need."""
        raise NotImplementedError

    def set_limits(self, tasks_beside: int = 0) -> None:
        """Set the kernel's limits on each process. ``tasks_beside``: the user's tasks that do not belong to the submission."""
        limits = self.limits
        for kind, value in (
            (resource.RLIMIT_CPU, int(limits["cpu_seconds"])),
            (resource.RLIMIT_DATA, self.data_size + int(limits["memory_bytes"])),
            (resource.RLIMIT_AS, self.address_space + int(limits["memory_bytes"]) + ADDRESS_ROOM),
            (resource.RLIMIT_NPROC, int(limits["processes"]) + tasks_beside),
            (resource.RLIMIT_NOFILE, int(limits["open_files"])),
            (resource.RLIMIT_FSIZE, int(limits["file_bytes"])),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MSGQUEUE, 0),
            (resource.RLIMIT_SIGPENDING, 1024),  # timers, which are limited per user
            (resource.RLIMIT_MEMLOCK, 1 << 16),
        ):
            hardest = resource.getrlimit(kind)[1]
            value = value if hardest == resource.RLIM_INFINITY else min(value, hardest)
            resource.setrlimit(kind, (value, value))


class NamespaceJail(Jail):
    """Gives each child its own namespaces, inside those of the zygote (``rootfs.build``)."""

    isolation = "namespaces"

    def __init__(self, config: dict[str, Any]):
        self.pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self.shadowed = config["shadowed"]
        self.filter = seccomp.program(reduced=False)
        super().__init__(config)

    def seal(self) -> None:
        rootfs.seal()

    def fork(self) -> tuple[int, dict[str, Any]]:
        """Fork the first process of a new PID namespace."""
        ns.unshare(ns.CLONE_NEWPID)
        if child := os.fork():
            ns.setns(self.pid_namespace, ns.CLONE_NEWPID)
        return child, {}

    def enter(self) -> None:
        os.setsid()  # a signal to the process group crosses PID namespaces
        ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWNET | ns.CLONE_NEWIPC | ns.CLONE_NEWUTS | ns.CLONE_NEWCGROUP)
        rootfs.mount_scratch(self.limits["scratch_bytes"], self.shadowed)
        socket.sethostname("course")
        uid, gid = os.getuid(), os.getgid()
        if self.outer_uid:
            uid = gid = self.outer_uid
            become_user(uid)
        ns.prctl(ns.PR_SET_DUMPABLE, 1)
        ns.unshare(ns.CLONE_NEWUSER)
        ns.map_user(INNER_UID, uid, gid)
        self.set_limits()
        ns.drop_capabilities()
        ns.prctl(ns.PR_SET_DUMPABLE, 1)
        seccomp.install(self.filter)


def become_user(uid: int) -> None:
    """Switch to a user id, and to the group id of the same number."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def why_no_reduced_jail(outer_uid: int) -> str:
    """Why, without namespaces, files and signals cannot be kept from submissions of this user; "" if they can."""
    if outer_uid or landlock.version() >= landlock.SIGNALS_SINCE:
        return ""
    return "isolation without namespaces needs root, or Landlock as of Linux 6.12"


class ReducedJail(Jail):
    """Isolates children by as many as are available of Landlock, another user id and the system call filter."""

    def __init__(self, config: dict[str, Any]):
        uid, self.landlock = config["outer_uid"], landlock.version()
        parts = {"Landlock": self.landlock, "own user id": uid, "system call filter": True, "limits": True}
        self.isolation = f"reduced ({', '.join(filter(parts.get, parts))})"
        self.folder = config["work_folder"]
        self.filter = seccomp.program(reduced=True)
        self.rules = _rules(config) if self.landlock else []
        # Without Landlock, these must not be readable to other users.
        self.secret = [] if self.landlock else sorted({*config["hidden"], *config["private"]}, key=len)
        # Without Landlock, a submission with its own user id may leave files in folders that all users share.
        may_leave_files = uid >= OUTER_UID and not self.landlock
        self.elsewhere = folders.open_to_everybody() if may_leave_files else []
        #: The folders of running children by process id, of the next child, and what ended children left.
        self.scratch: dict[int, str] = {}
        self.next_scratch = ""
        self.left: list[str] = []
        ns.prctl(ns.PR_SET_CHILD_SUBREAPER, 1)
        super().__init__(config)

    def become_clone(self, outer_uid: int) -> None:
        super().become_clone(outer_uid if self.outer_uid else 0)
        self.scratch, self.left = {}, []
        ns.prctl(ns.PR_SET_CHILD_SUBREAPER, 1)

    def fork(self) -> tuple[int, dict[str, Any]]:
        """Clean up, and fork a child whose folder the previous submission, perhaps of the same user id, cannot guess."""
        self.clear()
        self.next_scratch = f"{self.folder}/{secrets.token_hex(16)}"
        if child := os.fork():
            self.scratch[child] = self.next_scratch
        return child, {"scratch": self.next_scratch, "elsewhere": self.elsewhere}

    def ended(self, child: int) -> None:
        if child in self.scratch:
            self.left.append(self.scratch.pop(child))

    def clear(self, seconds: float = SECONDS_TO_REMOVE) -> None:
        """End what ended submissions left running, and remove their files.

        Removal stops after some seconds, because no other request is served meanwhile; the next call goes on.
        """
        if not self.left:
            return
        self._end_strays()
        if not self.scratch:  # a running submission may own files there
            self.left += set(folders.owned(self.elsewhere, self.outer_uid)) - set(self.left)
        until = time.monotonic() + seconds
        self.left = [path for path in self.left if not folders.remove(path, until - time.monotonic())]

    def close(self) -> None:
        for child in [*self.scratch]:
            self.ended(child)
        self.clear(float("inf"))  # until all are removed, or the harness takes over

    def _end_strays(self) -> None:
        """End the children that this process did not fork: processes that ended submissions left running."""
        known, until = self.clones | set(self.scratch), time.monotonic() + _SECONDS_TO_END
        while (
            strays := {pid for pid, parent in ns.parents().items() if parent == os.getpid()} - known
        ) and time.monotonic() < until:
            for pid in strays:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            for pid in strays:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)

    def enter(self) -> None:
        os.setsid()
        beside = 0 if self.outer_uid else _tasks_of(os.getuid())
        owner = self.outer_uid or -1
        for folder in (self.next_scratch, f"{self.next_scratch}/lab", f"{self.next_scratch}/tmp"):
            os.mkdir(folder, 0o700)
            os.chown(folder, owner, owner)
        if os.path.isdir(f"{self.folder}/course/data"):
            os.symlink(f"{self.folder}/course/data", f"{self.next_scratch}/lab/data")
        ns.prctl(ns.PR_SET_CHILD_SUBREAPER, 1)
        if self.outer_uid:
            become_user(self.outer_uid)
            ns.prctl(ns.PR_SET_DUMPABLE, 1)  # makes its own /proc/self readable
        os.umask(0o077)
        os.chdir(f"{self.next_scratch}/lab")
        os.environ.update(
            HOME=self.next_scratch, TMPDIR=f"{self.next_scratch}/tmp", USER="student", LOGNAME="student"
        )
        tempfile.tempdir = None
        self.set_limits(beside)
        ns.clear_capabilities()
        ns.prctl(ns.PR_SET_NO_NEW_PRIVS, 1)
        if self.landlock:
            about = ((path, landlock.READ) for path in _ABOUT_THE_MACHINE)
            landlock.restrict([*self.rules, *about, (self.next_scratch, landlock.EVERYTHING)])
        seccomp.install(self.filter)


def _rules(config: dict[str, Any]) -> list[tuple[str, int]]:
    """Landlock's rules for the files that every child may read."""
    visible = (path for path in (*SYSTEM_FOLDERS, *SYSTEM_FILES, *config["python"]) if os.path.exists(path))
    rules = [rule for path in visible for rule in landlock.rules_except(path, config["hidden"])]
    rules += [(path, landlock.READ) for path in (os.path.dirname(config["kit"]), *config["data"])]
    return rules + [(f"/dev/{name}", landlock.READ_WRITE_DEVICE) for name in DEVICES]


def copy_course(config: dict[str, Any]) -> None:
    """Copy kit and data to a place that another user can read, and put the copies into the configuration."""
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
    """Let another user read kit and data, and put the libraries' own files below the work folder."""
    home = config["work_folder"]
    course = f"{home}/course"
    if os.path.dirname(config["kit"]) != course:
        copy_course(config)
    os.chmod(home, 0o711)
    os.environ.update(
        HOME=home, TMPDIR=home, MPLCONFIGDIR=f"{course}/.matplotlib", IPYTHONDIR=f"{home}/.ipython"
    )


def _tasks_of(uid: int) -> int:
    """The number of a user's processes and threads: the kernel's limit includes them."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == uid:
                count += len(os.listdir(f"/proc/{name}/task"))
    return count
