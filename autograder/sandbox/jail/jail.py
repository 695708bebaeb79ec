"""The jail of a forked child: limits on each process, and namespaces that isolate it (``reduced`` works without them)."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Sequence
from typing import Any

from . import namespaces as ns
from . import rootfs, seccomp
from .visible import INNER_UID

#: Address space beyond the memory limit, for thread arenas and mapped files: its page tables take 32 MiB.
ADDRESS_ROOM = 16 << 30


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
        """After the libraries are imported: close what was open for that."""

    def become_clone(self, outer_uid: int) -> None:
        """In the copy: take the next user id. Limits for each user and the right to send signals depend on it."""
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
        seccomp.install(seccomp.program(reduced=False))


def become_user(uid: int) -> None:
    """Switch to a user id, and to the group id of the same number."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
