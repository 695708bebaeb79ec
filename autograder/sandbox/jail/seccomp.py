"""A seccomp filter on system calls, the second line of defence behind the namespaces.

It refuses calls that no notebook needs and that attacks on the kernel start from: making namespaces, mounting, tracing,
kernel keys, BPF, io_uring, sockets other than local ones, memory that is charged to no process (memfd, System V), larger
socket buffers, which the watchdog cannot see, watching other processes' file access (inotify), and resources of the whole
machine (contexts of asynchronous input and output, huge pages). Calls newer than all that Python and its libraries need
are refused as unknown, so that a new kernel adds no hole.

Without namespaces (``reduced``) it also replaces some of their protection: it allows only connected pairs of sockets, and no
call that reaches other processes or files of the same user.
"""

from __future__ import annotations

import ctypes
import errno
import json
import platform
import struct
from collections.abc import Sequence
from pathlib import Path

from .namespaces import check, libc

#: Treatment -> system calls, each with its numbers on x86_64 and aarch64, -1 if there is no such call.
_CALLS = json.loads(Path(__file__).with_name("system_calls.json").read_text(encoding="utf-8"))
_FORBIDDEN = _CALLS["forbidden"]
#: Libraries have a fallback for these: they fail as on a kernel that lacks them.
_NOT_IMPLEMENTED = _CALLS["not implemented"]
#: Calls that a file's owner may make. They do nothing and report success: libraries make them when they copy a file.
_ON_FILES = _CALLS["on files"]
#: faccessat2, the newest call that the C library uses. Later calls are refused as unknown.
_NEWEST = 439
#: (first, end) of the call numbers left unused when all architectures began to share numbers at 424.
_NOT_GIVEN = ((335, 424), (295, 424))
_FCNTL = (72, 25)
#: F_SETLEASE lets the owner of the kit's files make every other process wait. F_NOTIFY tells when they are read.
_ABOUT_OTHERS = (1024, 1026)
_IOCTL = (16, 29)
#: FS_IOC_SETFLAGS, SETVERSION (for 64 and 32 bits), FSSETXATTR and ENABLE_VERITY: an owner needs no write access for them.
_SET_ATTRIBUTES = (0x40086602, 0x40087602, 0x40046602, 0x40047602, 0x401C5820, 0x40806685)
_CLONE = (56, 220)
_MMAP = (9, 222)
#: MAP_HUGETLB: pages that the administrator reserved and that are charged to no process.
_MAP_HUGETLB = 0x40000
_SOCKET = (41, 198)
_SOCKETPAIR = (53, 199)
_SOCK_STREAM, _SOCK_TYPE_MASK = 1, 0xF
_PRCTL = (157, 167)
_PR_SET_CHILD_SUBREAPER = 36
_AF_UNIX = 1
_SETSOCKOPT = (54, 208)
#: SO_SNDBUF and SO_SNDBUFFORCE: a socket's buffer is kernel memory that is charged to no process.
_SEND_BUFFER = (7, 32)
#: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NAMESPACE_FLAGS = 0x7E020000
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _EQUAL, _SET, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENT_AT = 0, 4, 16

_PR_SET_SECCOMP = 22
_MODE_FILTER = 2


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _refuse_when(number: int, error: int) -> list[bytes]:
    """Refuse a call, or an argument's value; no instructions for -1, a call that the architecture lacks."""
    if number < 0:
        return []
    return [_instruction(_EQUAL, number, 0, 1), _instruction(_RETURN, _ERRNO | error)]


def _refuse_from(first: int, behind: int) -> list[bytes]:
    """Refuse the calls numbered ``first`` to ``behind - 1`` as unknown, so that libraries use others."""
    return [
        _instruction(_AT_LEAST, first, 0, 2),
        _instruction(_AT_LEAST, behind, 1, 0),
        _instruction(_RETURN, _ERRNO | errno.ENOSYS),
    ]


def _look_at(number: int, place: int, *checks: bytes) -> list[bytes]:
    """Check the call's argument at ``place``; what the checks do not refuse is allowed."""
    return [
        _instruction(_EQUAL, number, 0, len(checks) + 2),
        _instruction(_LOAD, _ARGUMENT_AT + 8 * place),
        *checks,
        _instruction(_RETURN, _ALLOW),
    ]


def _refuse_all(values: Sequence[int]) -> list[bytes]:
    return [part for value in values for part in _refuse_when(value, errno.EPERM)]


def _require(value: int, error: int) -> list[bytes]:
    return [_instruction(_EQUAL, value, 1, 0), _instruction(_RETURN, _ERRNO | error)]


def _refuse_flags(flags: int) -> list[bytes]:
    return [_instruction(_SET, flags, 0, 1), _instruction(_RETURN, _ERRNO | errno.EPERM)]


def _without_namespaces(column: int) -> list[bytes]:
    code = _refuse_when(_SOCKET[column], errno.EAFNOSUPPORT)
    is_stream = [_instruction(_AND, _SOCK_TYPE_MASK), *_require(_SOCK_STREAM, errno.EPERM)]
    code += _look_at(_SOCKETPAIR[column], 1, *is_stream)  # other types can send to any name
    # Orphans must go to the zygote, which ends them.
    code += _look_at(_PRCTL[column], 0, *_refuse_all((_PR_SET_CHILD_SUBREAPER,)))
    code += _look_at(_IOCTL[column], 1, *_refuse_all(_SET_ATTRIBUTES))
    for numbers in _ON_FILES.values():
        code += _refuse_when(numbers[column], 0)
    for numbers in _CALLS["on any process"].values():
        code += _refuse_when(numbers[column], errno.EPERM)
    # The first argument is a process id; 0 is the caller.
    for numbers in _CALLS["on a process"].values():
        code += _look_at(numbers[column], 0, *_require(0, errno.EPERM))
    return code


def program(machine: str = "", reduced: bool = False) -> bytes:
    """The filter as classic BPF. It assumes a little-endian machine, as both architectures are."""
    column, architecture = _ARCHITECTURES[machine or platform.machine()]
    code = [
        _instruction(_LOAD, _ARCHITECTURE_AT),
        _instruction(_EQUAL, architecture, 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER_AT),
        _instruction(_AT_LEAST, _NEWEST + 1, 0, 1),  # also refuses x32's calls
        _instruction(_RETURN, _ERRNO | errno.ENOSYS),
        *_refuse_from(*_NOT_GIVEN[column]),
    ]
    for numbers in _FORBIDDEN.values():
        code += _refuse_when(numbers[column], errno.EPERM)
    for numbers in _NOT_IMPLEMENTED.values():
        code += _refuse_when(numbers[column], errno.ENOSYS)
    code += _look_at(_FCNTL[column], 1, *_refuse_all(_ABOUT_OTHERS))
    code += _look_at(_CLONE[column], 0, *_refuse_flags(_NAMESPACE_FLAGS))
    code += _look_at(_MMAP[column], 3, *_refuse_flags(_MAP_HUGETLB))
    code += _without_namespaces(column) if reduced else []
    code += _look_at(_SETSOCKOPT[column], 2, *_refuse_all(_SEND_BUFFER))
    code += _look_at(_SOCKET[column], 0, *_require(_AF_UNIX, errno.EAFNOSUPPORT))
    return b"".join([*code, _instruction(_RETURN, _ALLOW)])


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install(reduced: bool = False) -> None:
    """Install the filter in this process and all that it starts. NO_NEW_PRIVS must be set."""
    code = program(reduced=reduced)
    buffer = ctypes.create_string_buffer(code, len(code))
    structure = _Program(len(code) // 8, ctypes.addressof(buffer))
    result = libc.prctl(
        ctypes.c_int(_PR_SET_SECCOMP), ctypes.c_ulong(_MODE_FILTER), ctypes.byref(structure), 0, 0
    )
    check("seccomp", result)
