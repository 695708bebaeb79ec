"""Bounds what the trusted side spends on a student's values: a strange one must not hold up the class, nor fill the machine.

Time in the sandbox has limits of its own. Here it is about the hidden test that loops over a result, or hands
it to a library that takes for ever.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from types import FrameType

#: Bytes of addresses that judging a value may take beyond what the process has: the usual tests take a hundredth of it.
JUDGING_BYTES = 4 << 30
#: CPU seconds of this process for one hidden test; waiting for the student's code is not counted.
JUDGING_SECONDS = 30.0
#: CPU seconds for all that is judged of one submission: tests, diagnoses and symptoms.
SUBMISSION_SECONDS = 60.0
#: CPU seconds for reading one notebook's code.
READING_SECONDS = 5.0
#: CPU seconds after which the clock looks again whether an import is over.
_SOON = 0.01
#: Seconds on top of a submission's own, after which the process that grades it ends.
GRACE_SECONDS = 120.0


class JudgedTooLong(BaseException):
    """A hidden test spent too long on what it got back. Not an Exception, so that no test catches it."""


class HalfImported(BaseException):
    """An import failed in the middle while a value was judged: its parts are there, and it cannot be imported again.

    Whoever is judged next in this process would pay for that, so it has to end. Not an Exception, so that nothing grades on.
    """


@contextmanager
def judging(seconds: float = 0.0) -> Iterator[None]:
    """Raise ``JudgedTooLong`` inside when it takes ``seconds`` (or else ``JUDGING_SECONDS``) of CPU time.

    Python code is interrupted at once, a single long call of a library and an import when they are over. More than
    ``JUDGING_BYTES`` of memory are not given: that is a ``MemoryError`` inside. Where one ends an import, ``HalfImported``
    is raised.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    last, imports = next(reversed(sys.modules)), _imports_under(sys._getframe())

    def stop(number: int, frame: FrameType | None) -> None:
        if _imports_under(frame) > imports:  # half a module would stay with this process for good
            signal.setitimer(signal.ITIMER_VIRTUAL, _SOON, 1.0)
        else:
            raise JudgedTooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        # Again after a second, should the first one be lost in a destructor.
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds or JUDGING_SECONDS, 1.0)
        with _memory_bounded():
            yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        finally:  # where the clock strikes here, it would go on striking
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)
        _refuse_half_imported(last)


def _imports_under(frame: FrameType | None) -> int:
    """The number of import machinery frames on the stack."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename.startswith("<frozen importlib.")
        frame = frame.f_back
    return count


def _refuse_half_imported(last: str) -> None:
    """Raise ``HalfImported`` if parts of a package came after the module ``last``, and the package did not: Python takes only that back."""
    for name in takewhile(last.__ne__, reversed(sys.modules)):
        package = name.rpartition(".")[0]
        if package and package not in sys.modules:
            raise HalfImported(package)


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
    """The CPU seconds that judging one submission may still take (or else ``seconds``), whatever it returns and however often.

    What is made once for the class inside a test (a reference, an import) counts here too, and is far less.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.left = seconds or SUBMISSION_SECONDS
        #: The part that is reserved for later questions.
        self.reserved = 0.0

    @contextmanager
    def judging(self) -> Iterator[None]:
        """``judging``, with what is left when that is less. Raises ``JudgedTooLong``."""
        left = self.left - self.reserved
        if left <= 0:
            raise JudgedTooLong
        began = time.process_time()
        try:
            with judging(min(left, JUDGING_SECONDS)):
                yield
        finally:
            self.left -= time.process_time() - began


@contextmanager
def ends_after(seconds: float) -> Iterator[None]:
    """End this process when it takes ``GRACE_SECONDS`` longer than ``seconds``, whatever it is doing."""
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
