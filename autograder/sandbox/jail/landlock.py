"""Landlock: a process gives up access to all files but those that it names, for good. No privilege is needed.

Landlock restricts opening, running, making and removing files. It does not hide that a file exists, nor its size and time.
From version 6 on (Linux 6.12) it also confines signals and abstract sockets. Standard library only.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable

from . import namespaces as ns

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_ASK_VERSION = 1
_PATH_BENEATH = 1
_O_PATH = getattr(os, "O_PATH", 0)

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
_MAKE_DEVICE = 1 << 6 | 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_TCP = 0b11
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 0b01, 0b10
#: The rights that a file can have; the others are a folder's.
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV

LOOK = READ_DIR
READ = READ_FILE | READ_DIR | EXECUTE
#: The rights to a process's own folder: all but making and controlling devices.
EVERYTHING = ~(_MAKE_DEVICE | _IOCTL_DEV)
READ_WRITE_DEVICE = READ_FILE | WRITE_FILE
#: The first version that confines signals.
SIGNALS_SINCE = 6


def version() -> int:
    """The version that the kernel offers; 0 for none."""
    try:
        return ns.syscall("landlock_create_ruleset", _CREATE_RULESET, None, 0, _ASK_VERSION)
    except (AttributeError, OSError):  # not Linux, or without Landlock
        return 0


def restrict(rules: Iterable[tuple[str, int]]) -> None:
    """Allow each (path, rights), on a file, or on a folder and everything below it, and nothing else from now on.

    That holds for this process and all that it starts. A missing path is ignored. NO_NEW_PRIVS must be set.
    """
    offered = version()
    rights_offered = (1 << 13) - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        rights_offered |= right if offered >= since else 0
    attributes = struct.pack("=QQQ", rights_offered, _TCP, _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS)
    size = 8 if offered < 4 else 16 if offered < SIGNALS_SINCE else 24
    ruleset = ns.syscall("landlock_create_ruleset", _CREATE_RULESET, attributes, size, 0)
    for path, rights in rules:
        try:
            place = os.open(path, _O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        folder = stat.S_ISDIR(os.fstat(place).st_mode)
        if allowed := rights & rights_offered & (-1 if folder else _OF_FILES):
            rule = struct.pack("=Qi", allowed, place)
            ns.syscall(f"landlock_add_rule {path}", _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        os.close(place)
    ns.syscall("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def rules_except(path: str, hidden: Iterable[str]) -> list[tuple[str, int]]:
    """Rules that allow reading ``path`` except the paths ``hidden`` below it, of which only the names can be read.

    A rule covers everything below a folder, so the entries of the folders above a hidden path get rules of their own.
    """
    path = os.path.realpath(path)
    inside = {
        real for one in hidden if (real := os.path.realpath(one)) == path or real.startswith(f"{path}/")
    }
    if path in inside:
        return []
    if not inside:
        return [(path, READ)]
    rules = [(path, LOOK)]  # an import looks for a name in its folder
    for name in os.listdir(path):
        below = f"{path.rstrip('/')}/{name}"
        if not os.path.islink(below):
            rules += rules_except(below, inside)
    return rules
