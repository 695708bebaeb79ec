"""The system calls behind the sandbox (namespaces, mounts, privileges), and the reasons why they may fail.

Every wrapper raises ``OSError`` with the call's name. Standard library only; runs on both sides.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import struct
import sys
from pathlib import Path
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 0x2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_SYS_MOUNT_SETATTR = 442  # the same number on every architecture
_SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION = 0x20080522

#: The first kernel with every system call used here (mount_setattr is the newest).
OLDEST_KERNEL = (5, 12)

libc: Any = ctypes.CDLL(None, use_errno=True) if sys.platform != "win32" else None


def check(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def syscall(name: str, number: int, *arguments: int | bytes | None) -> int:
    """A system call that the C library has no function for; ``bytes`` are passed as a pointer."""
    words = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    return check(name, libc.syscall(ctypes.c_long(number), *words))


def unshare(flags: int) -> None:
    """Move this process into new namespaces of the kinds in ``flags``."""
    check("unshare", libc.unshare(ctypes.c_int(flags)))


def setns(descriptor: int, kind: int) -> None:
    """Enter the namespace that ``descriptor`` refers to."""
    check("setns", libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)))


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """mount(2)."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    result = libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    check(f"mount {target}", result)


def bind(source: str, target: str, flags: int) -> None:
    """Bind-mount ``source``, with all mounts below it, at ``target``, and set ``flags`` on all of them."""
    mount(source, target, None, MS_BIND | MS_REC)
    attributes = struct.pack("=4Q", flags, 0, 0, 0)  # the flags of mount(2) have the same values
    place = os.fsencode(target)
    words = (_AT_FDCWD, place, _AT_RECURSIVE, attributes, len(attributes))
    syscall(f"mount_setattr {target}", _SYS_MOUNT_SETATTR, *words)


def unmount(target: str) -> None:
    """Detach the mount at ``target``."""
    check(f"umount {target}", libc.umount2(os.fsencode(target), ctypes.c_int(MNT_DETACH)))


def enter_root(folder: str) -> None:
    """Make ``folder`` (a mount point) the root filesystem, and detach the old one."""
    os.chdir(folder)
    syscall("pivot_root", _SYS_PIVOT_ROOT[platform.machine()], b".", b".")
    unmount(".")
    os.chdir("/")


def prctl(option: int, *values: int) -> int:
    """prctl(2)."""
    words = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0)[:4]]
    return check(f"prctl {option}", libc.prctl(ctypes.c_int(option), *words))


def map_user(inner: int, outer_uid: int, outer_gid: int) -> None:
    """In a new user namespace: map its only id, ``inner``, to the host's ``outer_uid`` and ``outer_gid``."""
    Path("/proc/self/uid_map").write_text(f"{inner} {outer_uid} 1")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/gid_map").write_text(f"{inner} {outer_gid} 1")


def drop_capabilities() -> None:
    """Drop every capability for good, also those that executing a program could give back."""
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in range(last + 1):
        prctl(PR_CAPBSET_DROP, capability)
    clear_capabilities()
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def clear_capabilities() -> None:
    """Drop every capability that this process has."""
    header = struct.pack("=2I", _CAPABILITY_VERSION, 0)
    syscall("capset", _SYS_CAPSET[platform.machine()], header, bytes(24))


def parents() -> dict[int, int]:
    """Process id -> parent's process id, for each process in /proc."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended
            found[int(name)] = int(Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()[1])
    return found


#: The fields of a process's status that count as its memory: anonymous and shared pages, and the tables that map them.
_MEMORY = ("RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:")


def status_bytes(pid: int | str, fields: tuple[str, ...] = _MEMORY, file: str = "status") -> int:
    """The sum of fields of a process's status in /proc in bytes; 0 if it has ended or the file cannot be read."""
    try:
        with open(f"/proc/{pid}/{file}") as status:
            lines = status.read().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(fields)) * 1024


def unsupported() -> str | None:
    """One sentence if this system cannot isolate submissions at all, else None."""
    if sys.platform != "linux":
        return f"the sandbox needs Linux, and this is {platform.system()}: grade on Linux, in WSL2 or in a Linux container"
    if platform.machine() not in _SYS_CAPSET:
        return f"the sandbox needs x86_64 or aarch64, and this machine is {platform.machine()}"
    return None


#: The kernel's switches for user namespaces: file, value that forbids them, and what to do. After the first: for ordinary users.
_SWITCHES = (
    ("/proc/sys/user/max_user_namespaces", "0",
     "user namespaces are switched off: `sudo sysctl user.max_user_namespaces=10000` allows them"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0",
     "user namespaces are forbidden to ordinary users: `sudo sysctl kernel.unprivileged_userns_clone=1` allows them"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
     "AppArmor forbids user namespaces to ordinary users: `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0` allows them"),
)  # fmt: skip


def probe() -> str | None:
    """One sentence about what this system lacks for namespaces, and how to get it; None if nothing is known to lack.

    ``None`` is no promise that namespaces work: only launching a zygote tells.
    """
    if (reason := unsupported()) is not None:
        return reason
    release = platform.release().split("-")[0].split(".")
    if tuple(int(part) for part in release[:2] if part.isdigit()) < OLDEST_KERNEL:
        return (
            f"namespaces need Linux 5.12 or later here, and this is {platform.release()}: update the kernel"
        )
    for file, closed, sentence in _SWITCHES[: 1 if os.geteuid() == 0 else None]:
        with contextlib.suppress(OSError):
            if Path(file).read_text().strip() == closed:
                return sentence
    return None


def explain(error: OSError) -> str:
    """The reason why the sandbox could not be set up, in one sentence that says what to do."""
    problem = probe()
    if problem is not None:
        return problem
    reason = error.strerror or str(error)
    forbidden = error.errno in (errno.EPERM, errno.EACCES)
    markers = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
    in_container = any(map(os.path.exists, markers)) or "KUBERNETES_SERVICE_HOST" in os.environ
    if in_container and (forbidden or error.errno == errno.ENOSYS):
        return (
            f"this container forbids what the sandbox needs ({reason}): start it with --privileged, or with "
            "--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "--security-opt systempaths=unconfined --cap-add SYS_ADMIN"
        )
    if forbidden:
        return f"this system forbids what the sandbox needs ({reason}): ask its administrator, or use a container"
    if error.errno in (errno.ENOSPC, errno.EUSERS):
        return f"too many namespaces are in use ({reason}): `sudo sysctl user.max_user_namespaces=10000`"
    return f"the sandbox could not be set up ({reason})"
