"""Stops a check if the student's function never ends, so that no cell stays at ``[*]`` for ever.

On a main thread, an alarm of the operating system stops it, also in a sleep and in C loops that check for signals (regular
expressions, large integers). Elsewhere, as on Windows, another thread raises the error before the next line of Python. Nothing
stops other C loops, not even the kernel's *Interrupt*.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

#: The most seconds of one check. The slowest right answer takes under two seconds.
SECONDS = 20.0
#: A bare ``except:`` in a loop swallows the error once, so it is raised again after this time.
_AGAIN = 1.0


class TookTooLong(BaseException):
    """A check's time is over. Not an ``Exception``, which a student's ``except Exception`` would swallow."""


def within(seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(*arguments)``. Raises ``TookTooLong`` if it takes more than ``seconds``."""
    watch = _alarm if _may_set_an_alarm() else _watchdog
    with watch(seconds):
        return function(*arguments)


def _may_set_an_alarm() -> bool:
    """Whether this is a main thread on a system with alarms, and no other alarm is set."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return False
    return signal.getitimer(signal.ITIMER_REAL)[0] == 0


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(_number: int, frame: FrameType | None) -> None:
        if not _is_debugged(frame):
            raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _watchdog(seconds: float) -> Iterator[None]:
    watched, done = threading.get_ident(), threading.Event()

    def watch() -> None:
        wait = seconds
        while not done.wait(wait):
            if not _is_debugged(sys._current_frames().get(watched)):
                _raise_in(watched)
            wait = _AGAIN

    thread = threading.Thread(target=watch, name="coursekit time limit", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()  # so a pending error is raised here, not in a later cell


def _raise_in(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TookTooLong))


def _is_debugged(frame: FrameType | None) -> bool:
    """Whether a debugger traces the code, in which a person takes the time."""
    while frame is not None:
        if frame.f_trace is not None:
            return True
        frame = frame.f_back
    return False
