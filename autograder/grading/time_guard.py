"""Bounds what the trusted side spends on a student's values: a strange one must not hold up the class.

Time in the sandbox has limits of its own. Here it is about the hidden test that loops over a result, or hands
it to a library that takes for ever.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: CPU seconds of this process for one hidden test; waiting for the student's code is not counted.
JUDGING_SECONDS = 30.0
#: CPU seconds for reading one notebook's code.
READING_SECONDS = 5.0
#: Seconds on top of a submission's own, after which the process that grades it ends.
GRACE_SECONDS = 120.0


class JudgedTooLong(BaseException):
    """A hidden test spent too long on what it got back. Not an Exception, so that no test catches it."""


@contextmanager
def judging(seconds: float = 0.0) -> Iterator[None]:
    """Raise ``JudgedTooLong`` inside when it takes ``seconds`` (or else ``JUDGING_SECONDS``) of CPU time.

    Python code is interrupted at once, a single long call of a library when it is over.
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
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def ends_after(seconds: float) -> Iterator[None]:
    """End this process when it takes ``GRACE_SECONDS`` longer than ``seconds``, whatever it is doing."""
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
