"""The filter on system calls: what is refused with and without namespaces, by name or because nobody needs it yet."""

import ctypes
import errno
import json
import mmap
import os
import platform

import pytest

from autograder.sandbox.jail import namespaces, seccomp

pytestmark = [
    pytest.mark.skipif(namespaces.probe() is not None, reason=str(namespaces.probe())),
    pytest.mark.parametrize("reduced", [False, True]),
]
#: The same on every architecture.
NEW = {
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "cachestat": 451, "fchmodat2": 452,
    "statmount": 457, "listmount": 458, "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467, "file_getattr": 468,
    "file_setattr": 469, "one that nobody has thought of": 600, "the first of x32": 0x40000000,
}  # fmt: skip
COLUMN = seccomp.ARCHITECTURES.get(platform.machine(), (0, 0))[0]


def errors(reduced: bool, *calls: tuple[int, ...]) -> list[int]:
    """The errors that these calls end with behind the filter, each a number and its arguments; 0 for none."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            namespaces.prctl(namespaces.PR_SET_NO_NEW_PRIVS, 1)
            seccomp.install(seccomp.program(reduced))
            found = []
            for call in calls:
                ctypes.set_errno(0)
                done = namespaces.libc.syscall(*map(ctypes.c_long, call))
                found.append(ctypes.get_errno() if done < 0 else 0)
            os.write(writer, json.dumps(found).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        return json.loads(answer.read())


def test_a_call_that_is_newer_than_all_that_is_needed_does_not_exist(reduced):
    found = errors(reduced, *((number, -1, -1, -1, -1) for number in NEW.values()))
    assert dict(zip(NEW, found, strict=True)) == dict.fromkeys(NEW, errno.ENOSYS)


def test_numbers_that_an_architecture_has_not_given_yet_are_no_calls_and_those_around_them_are(reduced):
    first, behind = seccomp.CALLS["unused"][COLUMN]
    # The kernel does not ask about uretprobe and uprobe, which end whoever calls them.
    assert errors(reduced, (first + 2,), (behind - 1,)) == [errno.ENOSYS, errno.ENOSYS]
    statx, pidfd_send_signal, faccessat2 = (332, 291)[COLUMN], behind, seccomp.CALLS["newest"]
    around = errors(
        reduced, (statx, -1, 0, 0, 0, 0), (pidfd_send_signal, -1, 0, 0, 0), (faccessat2, -1, 0, 0, 0)
    )
    assert around == [errno.EFAULT, errno.EBADF, errno.EFAULT]


def test_each_call_by_name_is_refused_so_nothing_of_others_and_of_the_machines_pools_is_reached(reduced):
    """Among them what has a number on the whole machine, what tells of others' files, and contexts of asynchronous input."""
    tables = [*seccomp.CALLS["always"].items(), *(seccomp.CALLS["reduced"].items() if reduced else ())]
    for error, table in tables:
        numbers = {name: pair[COLUMN] for name, pair in table.items() if pair[COLUMN] >= 0}
        found = errors(reduced, *((number, -1, 0, 0, 0, 0) for number in numbers.values()))
        assert dict(zip(numbers, found, strict=True)) == dict.fromkeys(numbers, getattr(errno, error, 0))


def test_arguments_that_concern_others_are_refused_and_ordinary_ones_are_not(reduced, tmp_path):
    folder, private = os.open(tmp_path, os.O_RDONLY), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    rules = seccomp.CALLS["arguments"]
    number = {name: pair[COLUMN] for rule in rules for name, pair in rule["calls"].items()}
    lease, notify, get_flags, huge_pages = 1024, 1026, 1, 0x40000
    set_attributes, datagrams, subreaper, name_of_thread, limit_of_files = 0x40086602, 2, 36, 16, 7
    found = errors(
        reduced,
        *((number["fcntl"], folder, request, 1) for request in (lease, notify, get_flags)),
        *((number["mmap"], 0, 1 << 21, mmap.PROT_READ, private | huge, -1, 0) for huge in (huge_pages, 0)),
        *((number["socket"], family, 1, 0) for family in (2, 1)),
        (number["clone"], namespaces.CLONE_NEWUSER | 17, 0, 0, 0, 0),
        (number["prlimit64"], 0, limit_of_files, 0, 0),
        (number["prctl"], name_of_thread, 0, 0, 0),
        (number["prlimit64"], os.getppid(), limit_of_files, 0, 0),
        (number["ioctl"], folder, set_attributes, 0),
        (number["socketpair"], 1, datagrams, 0, 0),
        (number["prctl"], subreaper, 0, 0, 0),
    )
    assert found == [
        *(errno.EPERM, errno.EPERM, 0, errno.EPERM, 0),
        *(errno.EAFNOSUPPORT, errno.EAFNOSUPPORT if reduced else 0, errno.EPERM, 0, errno.EFAULT),
        *([errno.EPERM] * 4 if reduced else (0, errno.EFAULT, errno.EFAULT, 0)),
    ]
