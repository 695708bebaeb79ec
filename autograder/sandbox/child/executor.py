"""The RPC server in the student's process: calls and differentiates functions at the harness's request.

Requests and replies are frames of ``wire``. A request is ``(operation, ...)``; the reply is one of

- ``("value", result, changed)``: the result, and the positions and names of the arguments that the call changed;
- ``("error", type name, message, frames)``: the student's code raised;
- ``("refused", sentence)``: the result cannot be sent.

During a call the executor may send ``("callback", key, args, kwargs)`` and receives
``("answer", value)`` or ``("raise", type name, message)``.

Nothing here is trusted: a student's code can change all of it, and by that only the values that are sent back.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from importlib import import_module
from types import MappingProxyType, TracebackType
from typing import Any

from .. import wire
from ..wire import Reference, WireError, contents_of
from .call_watch import CallWatch

#: What a callback of the harness may raise in the student's code; anything else arrives as RuntimeError.
RAISABLE: dict[str, type[BaseException]] = {
    kind.__name__: kind
    for kind in (
        *(ArithmeticError, AssertionError, AttributeError, IndexError, KeyError, LookupError),
        *(NotImplementedError, RuntimeError, StopIteration, TypeError, ValueError, ZeroDivisionError),
    )
}

RoundTrip = Callable[[bytes], bytes]


MAX_MESSAGE = 2000
MAX_LINE = 300
MAX_FRAMES = 12
#: Where the errors come from that a name tells: Python and the libraries of the labs.
LIBRARIES = frozenset(("numpy", "torch", "matplotlib", "pandas", "scipy", "regex"))


class UndefinedName(WireError):
    """The student's namespace has no such name."""


class Callback:
    """A proxy of a function that stays in the harness's process: calling it calls back."""

    def __init__(self, call_back: Callable[[int, tuple[Any, ...], dict[str, Any]], Any], key: int):
        self._call_back = call_back
        self.key = key

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call_back(self.key, args, kwargs)

    def __repr__(self) -> str:
        return f"<function given by the test, number {self.key}>"


class Executor:
    """Serves requests on a student's ``namespace``.

    ``cell_label`` names the cell that a code object's file name belongs to, or returns ``None`` for code that
    is not the student's. ``catch`` are the exceptions that count as errors of the student's code. ``settings`` are the
    process's own, where it is the student's alone.
    """

    def __init__(
        self,
        namespace: Mapping[str, Any],
        cell_label: Callable[[str], str | None] = lambda filename: None,
        catch: tuple[type[BaseException], ...] = (BaseException,),
        settings: Settings | None = None,
    ):
        self.namespace = namespace
        self.cell_label = cell_label
        self.catch = catch
        self.operations = dict(_OPERATIONS)
        self.handles: dict[int, Any] = {}
        self.scenes: dict[int, dict[str, Any]] = {}
        self.watch: CallWatch | None = None
        self.settings = settings
        self._round_trip: RoundTrip | None = None

    def handle(self, frame: bytes, round_trip: RoundTrip) -> bytes:
        """The reply to one request. ``round_trip`` sends a callback's frame and returns its answer's."""
        outer, self._round_trip = self._round_trip, round_trip
        try:
            return self._reply(lambda: self._first(frame))
        finally:
            self._round_trip = outer

    def _first(self, frame: bytes) -> Any:
        message = self._decode(frame)
        if self.settings is not None:
            self.settings.before(message[0])
        return message

    def _decode(self, frame: bytes) -> Any:
        return wire.decode(frame, resolve=self._resolve)

    def _reply(self, request: Callable[[], Any]) -> bytes:
        """The reply to a request: a result, or an error in reading or performing it."""
        try:
            operation, *operands = request()
            before = contents_of(*operands[2:4]) if operation == "call" else {}
            result = self.operations[operation](self, *operands)
            after = contents_of(*operands[2:4]) if before else {}
            changed = [key for key in before if after.get(key) != before[key]]
            return wire.encode(("value", result, changed), refer=self._refer_result)
        except UndefinedName as error:
            return wire.encode(("error", "NameError", str(error), ()))
        except WireError as error:
            return wire.encode(("refused", str(error)))
        except self.catch as error:
            return wire.encode(("error", *describe_error(error, self.cell_label)))

    # References ---------------------------------------------------------------------------------------

    def _resolve(self, reference: Reference) -> Any:
        if reference.kind == "handle":
            return self.handles[int(reference.key)]
        if reference.kind == "callback":
            return Callback(self.call_back, int(reference.key))
        if reference.key not in self.namespace:
            raise UndefinedName(f"name '{reference.key}' is not defined")
        return self.namespace[str(reference.key)]

    def _refer_result(self, value: Any) -> Reference | None:
        """A callback refers to the harness's function, a module to a handle that is kept here; nothing else is referred to."""
        if isinstance(value, Callback):
            return Reference("callback", value.key)
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.nn.Module):
            return self.keep(value)
        return None

    def _refer_argument(self, value: Any) -> Reference | None:
        reference = self._refer_result(value)
        if reference is None and not isinstance(value, Iterator):
            raise TypeError(f"this function takes plain values, not {wire.type_name(value)}")
        return reference

    def keep(self, value: Any) -> Reference:
        """Keep ``value`` here, and return the reference by which the harness can use it."""
        key = len(self.handles)
        self.handles[key] = value
        return Reference("handle", key)

    def call_back(self, key: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a callback in the harness's process and return its result, or raise its exception."""
        if self._round_trip is None:
            raise RuntimeError("this function can only be called while the call that received it runs")
        frame = wire.encode(("callback", key, args, kwargs), refer=self._refer_argument)
        answer = self._decode(self._round_trip(frame))
        while answer[0] not in ("answer", "raise"):  # a callback may itself call the student's functions
            answer = self._decode(self._round_trip(self._reply(lambda: answer)))  # noqa: B023
        if answer[0] == "raise":
            raise RAISABLE.get(answer[1], RuntimeError)(answer[2])
        return answer[1]

    # Operations ---------------------------------------------------------------------------------------

    def _call(
        self, target: Any, method: str | None, args: list[Any], kwargs: dict[str, Any], times: int
    ) -> Any:
        function = reduce(getattr, method.split("."), target) if method else target
        results = [_drained(function(*args, **kwargs)) for _ in range(times)]
        return results[0] if times == 1 else results

    def _new_scene(self, source: str, bindings: dict[str, Any]) -> int:
        key = len(self.scenes)
        self.scenes[key] = {"__name__": "scene", "student_namespace": self.namespace, **bindings}
        self._run_scene(key, source)
        return key

    def _run_scene(self, key: int, source: str, bindings: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.scenes[key].update(bindings)
        exec(compile(source, "<scene>", "exec"), self.scenes[key])

    def _scene_value(self, key: int, name: str) -> Any:
        if name not in self.scenes[key]:
            raise UndefinedName(f"name '{name}' is not defined")
        value = _drained(self.scenes[key][name])
        unsupported: list[Any] = []
        wire.encode(value, refer=lambda part: unsupported.append(part))
        return self.keep(value) if unsupported else value

    def _watch(self, names: list[str]) -> bool:
        """From now on note which of the named library functions the student's code calls; False when none is here."""
        self.watch = CallWatch(names, self.cell_label)
        return self.watch.start()

    def _watched(self) -> list[str]:
        """Watch no longer; the names that were called."""
        watch, self.watch = self.watch, None
        return watch.stop() if watch is not None else []


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": Executor._call,
    "gradients": lambda executor, function, *asked: _of_kit("differentiate")(function, *asked, function),
    "scene": Executor._new_scene,
    "scene_run": Executor._run_scene,
    "scene_value": Executor._scene_value,
    "state_dict": lambda executor, target: target.state_dict(),
    "load_state_dict": lambda executor, target, state, strict: (
        target.load_state_dict(state, strict=strict) and None
    ),
    "shapes": lambda executor, *asked: _of_kit("shapes_of")(*asked),
    "mode": lambda executor, target, training: target.train(training) and None,
    "callables": lambda executor, names: [name for name in names if callable(executor.namespace.get(name))],
    "watch": Executor._watch,
    "watched": Executor._watched,
}


class Settings:
    """Settings of the whole process through which one answer's calls would change another's results.

    As the notebook left it; but gradients are recorded, for a cell that only shows something may have ended that.
    """

    def __init__(self) -> None:
        self._kept: dict[str, Any] = {}

    def before(self, operation: str) -> None:
        """A cell finds all as the cell before left it; what comes after the cells, as they left it."""
        if operation == "cell":
            self._kept = {}
            return
        if "torch" in sys.modules:
            sys.modules["torch"].set_grad_enabled(True)
        loaded = {name: sys.modules[name] for name in _SETTINGS if name in sys.modules}
        if not self._kept:
            self._kept = {name: _SETTINGS[name][0](module) for name, module in loaded.items()}
        for name in loaded.keys() & self._kept.keys():
            get, put = _SETTINGS[name]
            if get(loaded[name]) != self._kept[name]:
                put(loaded[name], self._kept[name])


def _put_filters(warnings: Any, filters: list[Any]) -> None:
    warnings.filters[:] = filters
    with warnings.catch_warnings():  # which tells Python that the list has changed
        pass


#: A module -> what reads its setting, and what sets it.
_SETTINGS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], object]]] = {
    "warnings": (lambda warnings: [*warnings.filters], _put_filters),
    "numpy": (lambda numpy: numpy.geterr(), lambda numpy, errors: numpy.seterr(**errors)),
    "torch": (lambda torch: torch.get_default_dtype(), lambda torch, kind: torch.set_default_dtype(kind)),
}


def _drained(value: Any) -> Any:
    """An iterator's items as a list (so that a generator's body has run), anything else as it is."""
    return wire.drained(value) if isinstance(value, Iterator) else value


def _of_kit(name: str) -> Callable[..., Any]:
    """A function that the kit's cards use, too."""
    function: Callable[..., Any] = getattr(import_module("coursekit.checks.local_student"), name)
    return function


def describe_error(
    error: BaseException, cell_label: Callable[[str], str | None]
) -> tuple[str, str, tuple[tuple[str, int, str], ...]]:
    """Type name, message and the student's frames ``(cell, line number, source line)`` of an error.

    An error of the student's own class has the name of the nearest known class it derives from.
    """
    homes = ((base.__name__, str(base.__module__).partition(".")[0]) for base in type(error).__mro__)
    known = (name for name, home in homes if home in sys.stdlib_module_names or home in LIBRARIES)
    frames = student_frames(error.__traceback__, cell_label)
    return next(known, "Exception")[:80], message_of(error), frames


def message_of(error: BaseException) -> str:
    """An error's message; "" if it cannot tell one."""
    try:
        return str(error)[:MAX_MESSAGE]
    except BaseException:  # its __str__ may be the student's code
        return ""


def student_frames(
    traceback: TracebackType | None, cell_label: Callable[[str], str | None]
) -> tuple[tuple[str, int, str], ...]:
    """The innermost ``MAX_FRAMES`` frames of the student's code, outermost first."""
    frames: list[tuple[str, int, str]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        label = cell_label(code.co_filename)
        if label is not None:
            line = linecache.getline(code.co_filename, traceback.tb_lineno)
            frames.append((label, traceback.tb_lineno, line.rstrip()[:MAX_LINE]))
            del frames[:-MAX_FRAMES]
        traceback = traceback.tb_next
    return tuple(frames)
