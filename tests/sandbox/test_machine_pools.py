"""What a whole machine has one pool of, no submission takes."""

from __future__ import annotations

import ctypes
import errno
import mmap

import pytest

from autograder.sandbox.jail import namespaces, seccomp

from .test_seccomp import COLUMN, errors

pytestmark = pytest.mark.skipif(namespaces.probe() is not None, reason=str(namespaces.probe()))
SETTINGS = pytest.mark.parametrize("setting", seccomp.Setting)


@SETTINGS
def test_no_context_of_asynchronous_input_and_output_is_made(setting):
    context = ctypes.c_ulong(0)
    io_setup = (206, 0)[COLUMN]
    assert errors(setting, (io_setup, 1, ctypes.addressof(context))) == [errno.ENOSYS]


@SETTINGS
def test_huge_pages_are_not_taken_and_ordinary_ones_are(setting):
    number, private = (9, 222)[COLUMN], mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    calls = [(number, 0, 1 << 21, mmap.PROT_READ, private | flag, -1, 0) for flag in (0x40000, 0)]
    assert errors(setting, *calls) == [errno.EPERM, 0]


@SETTINGS
@pytest.mark.parametrize(
    "name", ["shmget", "msgget", "semget", "mq_open", "add_key", "inotify_init1", "userfaultfd"]
)
def test_nothing_is_made_that_has_a_number_on_the_whole_machine(setting, name):
    assert errors(setting, (seccomp._FORBIDDEN[name][COLUMN], 0, 0, 0, 0)) == [errno.EPERM]
