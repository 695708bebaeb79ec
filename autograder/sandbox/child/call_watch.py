"""Notes which of some named library functions the student's own code calls, while it runs.

Only a call that stands in the student's code counts: what a library does inside is its own affair. Like everything on
this side it can be deceived by whoever works for it; it sees what a reader of code cannot, such as a name put together
at run time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

#: Methods of a forbidden class that do its work.
_WORKING_METHODS = ("__init__", "forward", "step", "__call__")

#: Files whose functions only hand a call on.
_WRAPPERS = ("torch/nn/modules/module.py", "torch/optim/optimizer.py", "torch/_prims_common/wrappers.py")


class CallWatch:
    """Watches this thread between ``start`` and ``stop``."""

    def __init__(self, names: Iterable[str], cell_label: Callable[[str], str | None]):
        self.cell_label = cell_label
        self.seen: set[str] = set()
        #: The id of a function of C, or of a function's code -> its name. To compare codes takes as long as many of the calls.
        self.names: dict[int, str] = {}
        #: A method's name -> whose it is, and what to call it.
        self.methods: dict[str, list[tuple[type, str]]] = {}
        self._kept: list[Any] = []  # so that no id is given to another object
        for name in names:
            thing = _object_named(name)
            if isinstance(thing, type):
                for method in _WORKING_METHODS:
                    self._add(name, _code_of(vars(thing).get(method)))
            elif hasattr(thing, "__objclass__"):
                self.methods.setdefault(thing.__name__, []).append((thing.__objclass__, name))
            elif callable(thing):
                self._add(name, _code_of(thing) or thing)
        libraries = (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__))
        self.libraries = tuple({os.path.realpath(path) for path in libraries} | {*libraries})
        self.students: dict[str, bool] = {}

    def _add(self, name: str, thing: Any) -> None:
        if thing is not None:
            self._kept.append(thing)
            self.names[id(thing)] = name

    def start(self) -> bool:
        """Watch from now on. False if none of the names exists here, since nothing has imported its library."""
        if can_see := bool(self.names or self.methods):
            sys.setprofile(self._look)
        return can_see

    def stop(self) -> list[str]:
        """Watch no longer; the names that were called."""
        sys.setprofile(None)
        return sorted(self.seen)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            name = self.names.get(id(argument)) or self._method(argument)
            if name is not None and self._is_students(frame):
                self.seen.add(name)
        elif event == "call":
            name = self.names.get(id(frame.f_code))
            if name is not None and (self._is_students(_caller(frame)) or _is_the_answer_itself(name, frame)):
                self.seen.add(name)

    def _method(self, function: Any) -> str | None:
        for kind, name in self.methods.get(function.__name__, ()):
            if isinstance(getattr(function, "__self__", None), kind):
                return name
        return None

    def _is_students(self, frame: FrameType | None) -> bool:
        """Whether a frame runs code of the notebook, or of a file that the notebook wrote."""
        if frame is None:
            return False
        file = frame.f_code.co_filename
        if file not in self.students:
            self.students[file] = self.cell_label(file) is not None or self._is_written(file)
        return self.students[file]

    def _is_written(self, file: str) -> bool:
        if file.startswith("<"):
            return file == "<string>"
        kit = os.path.dirname(getattr(sys.modules.get("coursekit"), "__file__", None) or "/nowhere/at/all")
        ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        return not os.path.abspath(file).startswith((*self.libraries, kit, ours))


def _code_of(function: Any) -> Any:
    return getattr(getattr(function, "__wrapped__", function), "__code__", None)


def _caller(frame: FrameType) -> FrameType | None:
    """The calling frame, without PyTorch's wrappers, which call every module's ``forward``."""
    caller = frame.f_back
    while caller is not None and caller.f_code.co_filename.endswith(_WRAPPERS):
        caller = caller.f_back
    return caller


def _is_the_answer_itself(name: str, frame: FrameType) -> bool:
    """Whether a function of the kit runs because a hidden test called it as the answer."""
    caller = frame.f_back
    by_test = caller is not None and caller.f_code.co_filename.endswith("sandbox/child/executor.py")
    return by_test and name.startswith("coursekit.")


def _object_named(name: str) -> Any:
    """The object that a forbidden name denotes among the imported modules; None without one."""
    if name.startswith("str."):
        return getattr(str, name.partition(".")[2], None)
    if name.startswith("Tensor."):
        name = f"torch.{name}"
    parts = name.split(".")
    thing = sys.modules.get(parts[0])
    for part in parts[1:]:
        thing = getattr(thing, part, None)
    return thing
