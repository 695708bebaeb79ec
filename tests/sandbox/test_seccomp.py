"""The filter on system calls: what is refused at every level, by name or because nobody needs it yet."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform

import pytest

from autograder.sandbox.jail import namespaces, seccomp

pytestmark = pytest.mark.skipif(namespaces.probe() is not None, reason=str(namespaces.probe()))
#: The same on every architecture.
NEW = {
    "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "cachestat": 451, "fchmodat2": 452,
    "statmount": 457, "listmount": 458, "setxattrat": 463, "removexattrat": 466, "open_tree_attr": 467, "file_getattr": 468,
    "file_setattr": 469, "one that nobody has thought of": 600, "the first of x32": 0x40000000,
}  # fmt: skip
COLUMN = seccomp._ARCHITECTURES.get(platform.machine(), (0, 0))[0]


def errors(setting: seccomp.Setting, *calls: tuple[int, ...]) -> list[int]:
    """The errors that these calls end with behind the filter, each a number and its arguments; 0 for none."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            namespaces.prctl(namespaces.PR_SET_NO_NEW_PRIVS, 1)
            seccomp.install(setting)
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


@pytest.mark.parametrize("setting", seccomp.Setting)
def test_a_call_that_is_newer_than_all_that_is_needed_does_not_exist(setting):
    found = errors(setting, *((number, -1, -1, -1, -1) for number in NEW.values()))
    assert dict(zip(NEW, found, strict=True)) == dict.fromkeys(NEW, errno.ENOSYS)


@pytest.mark.parametrize("setting", seccomp.Setting)
def test_numbers_that_an_architecture_has_not_given_yet_are_no_calls_and_those_around_them_are(setting):
    first, behind = seccomp._NOT_GIVEN[COLUMN]
    # The kernel does not ask about uretprobe and uprobe, which end whoever calls them.
    assert errors(setting, (first + 2,), (behind - 1,)) == [errno.ENOSYS, errno.ENOSYS]
    statx, pidfd_send_signal, faccessat2 = (332, 291)[COLUMN], behind, seccomp._NEWEST
    around = errors(
        setting, (statx, -1, 0, 0, 0, 0), (pidfd_send_signal, -1, 0, 0, 0), (faccessat2, -1, 0, 0, 0)
    )
    assert around == [errno.EFAULT, errno.EBADF, errno.EFAULT]


@pytest.mark.parametrize("setting", seccomp.Setting)
def test_nobody_is_told_what_others_do_with_files(setting, tmp_path):
    names = ("inotify_init1", "inotify_add_watch", "fanotify_init", "name_to_handle_at")
    calls = [(seccomp._FORBIDDEN[name][COLUMN], -1, 0, 0) for name in names]
    folder = os.open(tmp_path, os.O_RDONLY)
    calls += [(seccomp._FCNTL[COLUMN], folder, request, 1) for request in (1024, 1026)]
    assert errors(setting, *calls) == [errno.EPERM] * 6


@pytest.mark.parametrize("setting", seccomp.Setting)
def test_memory_and_messages_of_others_are_not_reached_by_their_number(setting):
    names = ("shmat", "shmctl", "msgsnd", "msgrcv", "msgctl", "semop", "semctl", "semtimedop", "mq_unlink")
    calls = [(seccomp._FORBIDDEN[name][COLUMN], 0, 0, 0, 0) for name in names]
    assert errors(setting, *calls) == [errno.EPERM] * len(names)
