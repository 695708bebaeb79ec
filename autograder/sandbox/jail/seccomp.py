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
import platform
import struct
from collections.abc import Sequence

from .namespaces import check, libc

#: name: (x86_64, aarch64); -1 where the architecture does not have the call.
_FORBIDDEN = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272), "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51),
    "pivot_root": (155, 41), "mount": (165, 40), "umount2": (166, 39), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "swapon": (167, 224), "swapoff": (168, 225), "quotactl": (179, 60), "acct": (163, 89),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "fanotify_init": (300, 262),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "syslog": (103, 116), "vhangup": (153, 58),
    "vmsplice": (278, 75), "move_pages": (279, 239), "migrate_pages": (256, 238), "personality": (135, 92),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "msgget": (68, 186), "msgctl": (71, 187),
    "msgsnd": (69, 189), "msgrcv": (70, 188), "semget": (64, 190), "semctl": (66, 191), "semop": (65, 193),
    "semtimedop": (220, 192), "mq_open": (240, 180), "mq_unlink": (241, 181), "inotify_init": (253, -1),
    "inotify_init1": (294, 26), "inotify_add_watch": (254, 27), "iopl": (172, -1), "ioperm": (173, -1),
    "modify_ldt": (154, -1), "uselib": (134, -1), "lookup_dcookie": (212, 18), "nfsservctl": (180, 42),
    "_sysctl": (156, -1),
}  # fmt: skip
#: Calls for which libraries have a fallback: they fail as on a kernel that lacks them.
_NOT_IMPLEMENTED = {
    "clone3": (435, 435), "memfd_create": (319, 279), "io_setup": (206, 0), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
}  # fmt: skip
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
#: Calls that a file's owner may make. They do nothing and report success: libraries make them when they copy a file.
_OWNERS = {
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "chown": (92, -1), "fchown": (93, 55),
    "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1),
    "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
}  # fmt: skip
#: Calls on processes of the same user. The first argument is a process id; 0 is the caller.
_ON_A_PROCESS = {
    "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274),
}  # fmt: skip
_ON_ANY_PROCESS = {"setpriority": (141, 140), "ioprio_set": (251, 30)}
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


def _refuse_argument(number: int, place: int, values: Sequence[int]) -> list[bytes]:
    """Refuse the call with one of ``values`` as its argument at ``place``; other values are allowed."""
    code = [
        _instruction(_EQUAL, number, 0, 2 * len(values) + 2),
        _instruction(_LOAD, _ARGUMENT_AT + 8 * place),
    ]
    for value in values:
        code += _refuse_when(value, errno.EPERM)
    return [*code, _instruction(_RETURN, _ALLOW)]


def _require_argument(number: int, place: int, value: int, error: int) -> list[bytes]:
    """Refuse the call unless its argument at ``place`` is ``value``."""
    return [
        _instruction(_EQUAL, number, 0, 4),
        _instruction(_LOAD, _ARGUMENT_AT + 8 * place),
        _instruction(_EQUAL, value, 1, 0),
        _instruction(_RETURN, _ERRNO | error),
        _instruction(_RETURN, _ALLOW),
    ]


def _refuse_flags(number: int, place: int, flags: int) -> list[bytes]:
    """Refuse the call with any of ``flags`` set in its argument at ``place``."""
    return [
        _instruction(_EQUAL, number, 0, 4),
        _instruction(_LOAD, _ARGUMENT_AT + 8 * place),
        _instruction(_SET, flags, 0, 1),
        _instruction(_RETURN, _ERRNO | errno.EPERM),
        _instruction(_RETURN, _ALLOW),
    ]


def _without_namespaces(column: int) -> list[bytes]:
    code = _refuse_when(_SOCKET[column], errno.EAFNOSUPPORT)
    code += [
        _instruction(_EQUAL, _SOCKETPAIR[column], 0, 5),
        _instruction(_LOAD, _ARGUMENT_AT + 8),
        _instruction(_AND, _SOCK_TYPE_MASK),
        _instruction(_EQUAL, _SOCK_STREAM, 1, 0),  # other types can send to any name
        _instruction(_RETURN, _ERRNO | errno.EPERM),
        _instruction(_RETURN, _ALLOW),
    ]
    # Orphans must go to the zygote, which ends them.
    code += _refuse_argument(_PRCTL[column], 0, (_PR_SET_CHILD_SUBREAPER,))
    code += _refuse_argument(_IOCTL[column], 1, _SET_ATTRIBUTES)
    for numbers in _OWNERS.values():
        code += _refuse_when(numbers[column], 0)
    for numbers in _ON_ANY_PROCESS.values():
        code += _refuse_when(numbers[column], errno.EPERM)
    for numbers in _ON_A_PROCESS.values():
        code += _require_argument(numbers[column], 0, 0, errno.EPERM)
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
    code += _refuse_argument(_FCNTL[column], 1, _ABOUT_OTHERS)
    code += _refuse_flags(_CLONE[column], 0, _NAMESPACE_FLAGS)
    code += _refuse_flags(_MMAP[column], 3, _MAP_HUGETLB)
    code += _without_namespaces(column) if reduced else []
    code += _refuse_argument(_SETSOCKOPT[column], 2, _SEND_BUFFER)
    code += _require_argument(_SOCKET[column], 0, _AF_UNIX, errno.EAFNOSUPPORT)
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
