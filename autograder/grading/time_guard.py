"""Bounds what the trusted side spends on a student's values: a strange one must not hold up the class, nor fill the machine.

Time in the sandbox has limits of its own. Here it is about the hidden test that loops over a result, or hands
it to a library that takes for ever.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Bytes of addresses that judging a value may take beyond what the process has: the usual tests take a hundredth of it.
JUDGING_BYTES = 4 << 30
#: CPU seconds of this process for one hidden test; waiting for the student's code is not counted.
JUDGING_SECONDS = 30.0
#: CPU seconds for all that is judged of one submission: tests, diagnoses and symptoms.
SUBMISSION_SECONDS = 60.0
#: CPU seconds for reading one notebook's code.
READING_SECONDS = 5.0
#: Seconds on top of a submission's own, after which the process that grades it ends.
GRACE_SECONDS = 120.0


class JudgedTooLong(BaseException):
    """A hidden test spent too long on what it got back. Not an Exception, so that no test catches it."""


@contextmanager
def judging(seconds: float = 0.0) -> Iterator[None]:
    """Raise ``JudgedTooLong`` inside when it takes ``seconds`` (or else ``JUDGING_SECONDS``) of CPU time.

    Python code is interrupted at once, a single long call of a library when it is over. More than ``JUDGING_BYTES`` of memory
    are not given: that is a ``MemoryError`` inside.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise JudgedTooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    # Again after a second, should the first one be lost in a destructor.
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds or JUDGING_SECONDS, 1.0)
    try:
        with _memory_bounded():
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _memory_bounded() -> Iterator[None]:
    """Let this process take ``JUDGING_BYTES`` more of memory and no more, where the kernel says what it has taken."""
    try:
        with open("/proc/self/statm", "rb") as file:
            held = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = held + JUDGING_BYTES
    if any(limit != resource.RLIM_INFINITY and limit <= bound for limit in (soft, hard)):
        yield
        return
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class JudgeClock:
    """The CPU seconds that judging one submission may still take, whatever it returns and however often.

    What is made once for the class inside a test (a reference, an import) counts here too, and is far less.
    """

    def __init__(self) -> None:
        self._left = SUBMISSION_SECONDS

    @contextmanager
    def judging(self) -> Iterator[None]:
        """``judging``, with what is left when that is less. Raises ``JudgedTooLong``."""
        if self._left <= 0:
            raise JudgedTooLong
        began = time.process_time()
        try:
            with judging(min(self._left, JUDGING_SECONDS)):
                yield
        finally:
            self._left -= time.process_time() - began


@contextmanager
def ends_after(seconds: float) -> Iterator[None]:
    """End this process when it takes ``GRACE_SECONDS`` longer than ``seconds``, whatever it is doing."""
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
