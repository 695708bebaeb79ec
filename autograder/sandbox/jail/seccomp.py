"""A seccomp filter on system calls, the second line of defence behind the namespaces.

It refuses calls that no notebook needs and that attacks on the kernel start from: making namespaces, mounting, tracing,
kernel keys, BPF, io_uring, sockets other than local ones, memory that is charged to no process (memfd, System V), larger
socket buffers, which the watchdog cannot see, watching other processes' file access (inotify), and resources of the whole
machine (contexts of asynchronous input and output, huge pages). Calls newer than all that Python and its libraries need
are refused as unknown, so that a new kernel adds no hole.

Without namespaces (``reduced``) it also replaces some of their protection: it allows only connected pairs of sockets, and no
call that reaches other processes or files of the same user. ``system_calls.toml`` names every call.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import tomllib
from pathlib import Path
from typing import Any

from . import namespaces as ns

CALLS = tomllib.loads(Path(__file__).with_name("system_calls.toml").read_text(encoding="utf-8"))
#: Machine -> its column in the table, and its number for the kernel.
ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LOAD, _EQUAL, _SET, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_MODE_FILTER = 2


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


def refuse_calls(calls: dict[str, list[int]], error: int, column: int) -> list[bytes]:
    """Refuse these calls with an error; 0: they seem to succeed and do nothing."""
    there = (numbers[column] for numbers in calls.values() if numbers[column] >= 0)
    refused = _instruction(_RETURN, _ERRNO | error)
    return [part for number in there for part in (_instruction(_EQUAL, number, 0, 1), refused)]


def refuse_arguments(rule: dict[str, Any], column: int) -> list[bytes]:
    """Check an argument of the rule's calls; those that the rule does not refuse are allowed."""
    refused = _instruction(_RETURN, _ERRNO | getattr(errno, rule.get("error", "EPERM")))
    checks = [_instruction(_LOAD, _ARGUMENTS_AT + 8 * rule["argument"])]
    if "mask" in rule:
        checks.append(_instruction(_AND, rule["mask"]))
    for value in rule.get("refuse", ()):
        checks += [_instruction(_EQUAL, value, 0, 1), refused]
    if "flags" in rule:
        checks += [_instruction(_SET, rule["flags"], 0, 1), refused]
    if "require" in rule:
        checks += [_instruction(_EQUAL, rule["require"], 1, 0), refused]
    checks.append(_instruction(_RETURN, _ALLOW))
    numbers = [numbers[column] for numbers in rule["calls"].values()]
    return [part for number in numbers for part in (_instruction(_EQUAL, number, 0, len(checks)), *checks)]


def program(reduced: bool) -> list[bytes]:
    """The filter as classic BPF. It assumes a little-endian machine, as both architectures are."""
    column, architecture = ARCHITECTURES[platform.machine()]
    unknown = _instruction(_RETURN, _ERRNO | errno.ENOSYS)
    first, end = CALLS["unused"][column]
    code = [
        _instruction(_LOAD, _ARCHITECTURE_AT),
        _instruction(_EQUAL, architecture, 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER_AT),
        *(_instruction(_AT_LEAST, CALLS["newest"] + 1, 0, 1), unknown),  # also refuses x32's calls
        *(_instruction(_AT_LEAST, first, 0, 2), _instruction(_AT_LEAST, end, 1, 0), unknown),
    ]
    for level in ("always", "reduced") if reduced else ("always",):
        for error, calls in CALLS[level].items():
            code += refuse_calls(calls, getattr(errno, error, 0), column)
    for rule in CALLS["arguments"]:
        code += refuse_arguments(rule, column) if reduced or not rule.get("reduced") else []
    return code


def install(code: list[bytes]) -> None:
    """Install a filter in this process and all that it starts. What the code does not refuse is allowed.

    NO_NEW_PRIVS must be set, or the process have the privilege.
    """
    text = b"".join([*code, _instruction(_RETURN, _ALLOW)])
    buffer = ctypes.create_string_buffer(text, len(text))
    structure = (ctypes.c_uint64 * 2)(len(text) // 8, ctypes.addressof(buffer))
    ns.prctl(ns.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(structure))
