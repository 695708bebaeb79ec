"""Bounds the time and memory that the trusted side spends on a student's values.

The sandbox has its own limits. These hold for hidden tests that loop over a strange result or pass it to a library that
takes too long.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from types import FrameType
from typing import TypeVar

_Value = TypeVar("_Value")

#: Bytes of address space that judging may add to the process's own: most tests take a hundredth of it.
JUDGING_BYTES = 4 << 30
#: CPU seconds of this process for judging a question: its tests, its diagnosis and its symptoms. Waiting for the student's
#: code is not counted.
JUDGING_SECONDS = 20.0
#: CPU seconds for reading one notebook's code.
READING_SECONDS = 5.0
#: CPU seconds until the next look whether an import is over.
_SOON = 0.01
#: Seconds beyond a submission's own limit after which the process that grades it ends.
GRACE_SECONDS = 120.0


class JudgedTooLong(BaseException):
    """A hidden test spent too long on a returned value. Not an Exception, so that no test catches it."""


class HalfImported(BaseException):
    """An import stopped in the middle while a value was judged: the module is half loaded and cannot be imported again.

    The process must end, or later submissions would be graded with it. Not an Exception, so that grading stops.
    """


@contextmanager
def judging(seconds: float = 0.0, bound: int = 0) -> Iterator[None]:
    """Raise ``JudgedTooLong`` in the block after ``seconds`` (0: ``JUDGING_SECONDS``) of CPU time.

    Python code is interrupted at once; a long library call or an import, when it is over. Taking more memory than ``bound``
    (0: ``memory_bound``) raises ``MemoryError`` in the block. If that interrupts an import, ``HalfImported`` is
    raised.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    last_module, imports = next(reversed(sys.modules)), _imports_under(sys._getframe())

    def stop(number: int, frame: FrameType | None) -> None:
        if _imports_under(frame) > imports:  # a half-loaded module would stay in this process
            signal.setitimer(signal.ITIMER_VIRTUAL, _SOON, 1.0)
        else:
            raise JudgedTooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        # The signal repeats each second: a destructor may swallow the first one.
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds or JUDGING_SECONDS, 1.0)
        with _memory_bounded(bound or memory_bound()):
            yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        finally:  # stops the timer even if it fires just now
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)
        _refuse_half_imported(last_module)


def _imports_under(frame: FrameType | None) -> int:
    """The number of import machinery frames on the stack."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename.startswith("<frozen importlib.")
        frame = frame.f_back
    return count


def _refuse_half_imported(last_module: str) -> None:
    """Raise ``HalfImported`` if parts of a package were loaded after ``last_module`` but the package itself was not."""
    for name in takewhile(last_module.__ne__, reversed(sys.modules)):
        package = name.rpartition(".")[0]
        if package and package not in sys.modules:
            raise HalfImported(package)


def memory_bound() -> int:
    """The bytes of address space that this process has, and ``JUDGING_BYTES`` more; 0 if the kernel does not tell."""
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * resource.getpagesize() + JUDGING_BYTES
    return 0


@contextmanager
def _memory_bounded(bound: int) -> Iterator[None]:
    """Allow this process ``bound`` bytes of address space (0: as many as before)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if bound and all(limit == resource.RLIM_INFINITY or limit > bound for limit in (soft, hard)):
        resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class JudgeClock:
    """The CPU seconds left for judging one question: ``seconds`` at first (0: ``JUDGING_SECONDS``).

    Right values, which are computed once for the class, and imports count too. They take far less.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.left = seconds or JUDGING_SECONDS
        self._bound = memory_bound()

    @contextmanager
    def judging(self) -> Iterator[None]:
        """``judging`` with half of the time left, so that the next test has some. Raises ``JudgedTooLong``."""
        if self.left <= 0:
            raise JudgedTooLong
        began = time.process_time()
        try:
            with judging(self.left / 2, self._bound):
                yield
        finally:
            self.left -= time.process_time() - began

    def tried(self, judge: Callable[[], _Value], otherwise: _Value) -> _Value:
        """What ``judge`` returns, or ``otherwise`` if it raises an error or takes too long, as with a strange value."""
        try:
            with self.judging():
                return judge()
        except (Exception, JudgedTooLong):
            return otherwise


@contextmanager
def ends_after(seconds: float) -> Iterator[None]:
    """End this process if the block takes ``GRACE_SECONDS`` longer than ``seconds``."""
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
