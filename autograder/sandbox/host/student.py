"""The student's function as a hidden test sees it: calling it returns plain values.

A hidden test takes ``student`` and treats it as the function of the question::

    def test_each_row_of_the_weights_sums_to_one(student):
        x = np.random.default_rng(0).normal(size=(5, 7))
        weights = student(x, axis=-1)                    # runs in the sandbox, returns an ndarray
        np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-12)
        assert not student.mutated, "your function changes its input"

More of what a test may do::

    student.repeat(2000, P, rng)                # 2000 calls in one go, the same generator advancing
    student(step=lambda prefix: logits[prefix]) # a function: it is called back here, in the test
    student.observe("gap", left - right)        # a value for the diagnosis to compare instead of every result

    block = student(d_model=8, heads=2)         # a class: the nn.Module stays in the sandbox, behind a Handle
    block.load_state_dict(weights); block.eval()
    y = block(x)                                # a tensor
    block.call("encode", x); block.parameters() # {"w.weight": (8, 8), ...}
    g = block.gradients([x], cotangent=v)       # g.output, g.inputs[0], g.parameters["w.weight"]

    scene = student.scene("import torch\\nmodel = torch.nn.Linear(3, 2)\\n"
                          "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)")
    student(scene["model"], scene["optimizer"], batch)
    scene.run("loss = model(batch).sum()", batch=batch); scene["loss"]

Arguments are copies: changes that the student's code makes to them show only in ``mutated``, of which the sandbox tells.
A passed generator does not advance here. An exception of the student's code arrives as ``StudentError``, a result of a
type that cannot be sent as ``BadReply``, and the end of the sandbox as ``StudentGone``. Results are untrusted: check a
shape before you compute with it, so that a huge result costs little.

``Student.local_namespace(namespace, name)`` runs a function in this process under the same rules: the master's solution,
a misconception, or plain pytest.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from io import StringIO
from itertools import islice
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from coursekit.checks.words import PLACES

from autograder.sandbox import wire
from autograder.sandbox.child.executor import Executor
from autograder.sandbox.wire import Reference, WireError

if TYPE_CHECKING:
    from autograder.sandbox.host.transport import RemoteTransport

#: Callbacks that one call may make before it counts as endless.
MAX_CALLBACKS = 200_000
#: The most bytes that this process holds of a submission's values for its diagnosis, in all live traces together.
MAX_TRACE_BYTES = 128 << 20
#: The most bytes of requests sent ahead at a time: the socket buffers them even if nobody reads.
MAX_AHEAD = 32 << 10
#: The most bytes of a reply that is kept: many answers give the same reply, bit by bit.
MAX_READ_ONCE = 4 << 10


class _TooMuch:
    """Replaces all values in a trace after the allowance was spent. It equals nothing, not even itself."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return False


_TOO_MUCH = _TooMuch()


@dataclass
class Budget:
    """What a submission may still spend, over all its children.

    ``deadline``: on the monotonic clock; ``reserved``: the last seconds, kept for later questions; ``given_back``: seconds that
    it may still get back; ``received``: the bytes that it has sent; ``traced``: the bytes left for its traces.
    """

    deadline: float = float("inf")
    reserved: float = 0.0
    given_back: float = 0.0
    received: int = 0
    traced: int = MAX_TRACE_BYTES

    @property
    def until(self) -> float:
        """The time by which the running cell or call must be over."""
        return self.deadline - self.reserved

    def keep(self, size: int) -> None:
        """Spend the bytes in memory of one frame's values, including the frame."""
        self.traced -= size


@dataclass(frozen=True)
class StudentFrame:
    """One frame of the student's own code: the cell's label, the line in it, and the line's text."""

    cell: str
    line: int
    source: str


class StudentError(Exception):
    """The student's code raised an exception. ``frames`` are those of the student's own code, outermost first.

    ``message`` is untrusted and can contain the test's inputs: see ``autograder.judging.safe_errors``.
    """

    def __init__(self, type_name: str, message: str, frames: tuple[StudentFrame, ...] = ()):
        super().__init__(": ".join(part for part in (type_name, message) if part))
        self.type_name = type_name
        self.message = message
        self.frames = frames


class BadReply(StudentError):
    """The student's function returned a value that is not plain data, of type ``type_name``."""

    def __init__(self, type_name: str, sentence: str):
        super().__init__("", sentence)
        self.type_name = type_name


class StudentGone(Exception):
    """The student's process has ended. ``reason`` is ``timed-out``, ``out-of-memory`` or ``crashed``."""

    def __init__(self, reason: str, detail: str = ""):
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class TraceEntry:
    """One piece of evidence: a ``result``, a ``callback``'s arguments, an ``error`` or an ``observation``."""

    kind: str
    name: str
    value: Any
    rtol: float | None = None
    atol: float | None = None


class LocalTransport:
    """Runs the sandbox's executor in this process. Every value still passes through the wire format."""

    def __init__(self, namespace: Mapping[str, Any], files: frozenset[str] = frozenset()):
        labels = {file: Path(file).stem for file in files}
        self.executor = Executor(namespace, labels.get, catch=(Exception, SystemExit))

    def exchange(self, request: bytes | None, answer: Callable[[bytes], bytes | None] | None) -> None:
        """See ``RemoteTransport``. The frame that ends the exchange is the reply. Nothing is sent ahead."""
        assert request is not None and answer is not None

        def round_trip(frame: bytes) -> bytes:
            reply = answer(frame)
            if reply is None:
                raise RuntimeError("a callback's frame was taken for a reply")
            return reply

        with redirect_stderr(StringIO()), np.errstate(all="ignore"):
            reply = self.executor.handle(request, round_trip)
        answer(reply)

    def end(self, reason: str) -> None:
        """Do nothing: there is no other process."""


def _by_name(value: Any) -> Reference:
    if isinstance(value, Student):
        return value.reference
    raise TypeError("this cannot be sent ahead")


class Case(Protocol):
    """The arguments of a call that many answers get. It is hashed by its identity, and nobody changes its arguments."""

    @property
    def args(self) -> Sequence[Any]: ...
    @property
    def kwargs(self) -> dict[str, Any]: ...
    def __hash__(self) -> int: ...


@lru_cache(maxsize=512)
def _frame_of(function: Reference, case: Case) -> bytes | None:
    """The frame that calls a function with a case's arguments; None if one of them is a function."""
    message = ("call", function, None, [*case.args], {**case.kwargs}, 1)
    with suppress(TypeError):
        return wire.encode(message, refer=_by_name, for_arguments=True)
    return None


@lru_cache(maxsize=2048)
def _read_once(frame: bytes, tensors_as_arrays: bool) -> tuple[Any, int, dict[Any, Any]]:
    """The message in a frame without references, which nobody changes; its bytes in memory; and ``RpcClient.known``."""
    held: list[int] = []
    return wire.decode(frame, None, held.append, tensors_as_arrays), held[0], {}


@dataclass(eq=False)
class RpcClient:
    """Sends the requests of all proxies of one submission; holds their transport, callbacks and trace."""

    transport: RemoteTransport | LocalTransport
    budget: Budget = field(default_factory=Budget)
    callbacks: dict[int, Callable[..., Any]] = field(default_factory=dict)
    trace: list[TraceEntry] = field(default_factory=list)
    _callback_keys: dict[int, int] = field(default_factory=dict)  # id of a function -> its key
    #: The calls that follow, next first; and the sizes of those already sent ahead.
    _next: deque[tuple[Reference, Case]] = field(default_factory=deque)
    _ahead: deque[int] = field(default_factory=deque)
    #: What was found out about the last reply: empty at first, and shared by equal short replies to cases.
    known: dict[Any, Any] = field(default_factory=dict)
    _kept: bool = True  # whether there was room for the last frame in the trace

    def request(self, *message: Any, case: Case | None = None) -> tuple[Any, list[int | str]]:
        """One request's result, and the arguments that it changed. ``case`` holds the arguments if the request calls with it.

        Raises ``StudentError`` if the student's code raised.
        """
        call = (message[1], case) if case is not None else None
        if self._next and self._next[0] != call:
            self._forget_next()
        if self._next:
            self._next.popleft()
        if self._ahead:
            self._ahead.popleft()
            self._send_more()
            frame = None
        else:
            frame = _frame_of(*call) if call is not None else None
            frame = frame or wire.encode(message, refer=self._refer, for_arguments=True)
        replies: list[Any] = []
        failures: list[BaseException] = []

        def answer(frame: bytes) -> bytes | None:
            reply = self._read(frame, case is not None)
            self._kept = self.budget.traced >= 0
            if type(reply) is tuple and len(reply) == 4 and reply[0] == "callback":
                return self._call_back(reply, failures)
            replies.append(reply)
            return None

        self._callbacks_left = MAX_CALLBACKS
        try:
            self.transport.exchange(frame, answer)
        except WireError as error:
            raise self.crashed(str(error)) from None
        if failures:
            raise failures[0]
        return self._unpack(replies[0])

    def _read(self, frame: bytes, often: bool) -> Any:
        """The message in a frame. Equal short frames that come ``often`` are read once and give the same object."""
        # Only a lab whose tests import PyTorch can tell a tensor from an array.
        self.known, as_arrays = {}, "torch" not in sys.modules
        try:
            if often and len(frame) <= MAX_READ_ONCE:
                with suppress(WireError):  # it may hold a reference
                    message, held, self.known = _read_once(frame, as_arrays)
                    self.budget.keep(held)
                    return message
            return wire.decode(frame, self._resolve, self.budget.keep, as_arrays)
        except wire.OpaqueError as error:
            return "opaque", error.type_name

    def send_ahead(self, function: Reference, cases: Iterable[Case]) -> None:
        """Send calls ahead whose requests follow in this order, so that the sandbox need not wait for each.

        Calls after one that passes a function, or is long, are not sent ahead. The sandbox would take the next request for the
        function's result, or both sides would wait for the other to read.
        """
        following = deque((function, case) for case in cases)
        if not isinstance(self.transport, LocalTransport) and not self.callbacks and following != self._next:
            self._forget_next()
            self._next = following
            self._send_more()

    def _send_more(self) -> None:
        """Send as many of the following calls as the socket can surely buffer."""
        frames: list[bytes] = []
        for call in islice(self._next, len(self._ahead), None):
            frame = _frame_of(*call)
            if frame is None or sum(self._ahead) + len(frame) > MAX_AHEAD:
                break
            frames.append(frame)
            self._ahead.append(len(frame))
        if frames:
            self.transport.exchange(b"".join(frames), None)

    def _forget_next(self) -> None:
        """Forget the following calls; drop the replies to those already sent."""
        self._next.clear()
        while self._ahead:
            self._ahead.popleft()
            self.transport.exchange(None, lambda frame: None)

    def _unpack(self, reply: Any) -> tuple[Any, list[int | str]]:
        """Unpack a reply after checking its form."""
        match reply:
            case ("value", result, list(changed)) if {type(key) for key in changed} <= {int, str}:
                return result, changed
            case ("error", str(name), str(message), tuple(frames)):
                students = tuple(self._student_frame(frame) for frame in frames[:20])
                self.record("error", wire.clean_text(name, 80))
                raise StudentError(wire.clean_text(name, 80), wire.clean_text(message, 2000), students)
            case ("refused", str(sentence)):
                self.record("error", "BadReply")
                raise BadReply("", wire.clean_text(sentence, 200))
            case ("opaque", str(kind)):
                self.record("error", "BadReply")
                raise BadReply(kind, f"returned a value of type {kind}")
        raise self.crashed("the sandbox sent a malformed reply")

    def _student_frame(self, frame: Any) -> StudentFrame:
        match frame:
            case (str(cell), int(line), str(source)):
                return StudentFrame(wire.clean_text(cell, 100), line, wire.clean_text(source, 300))
        raise self.crashed("the sandbox sent a malformed reply")

    def crashed(self, detail: str) -> StudentGone:
        """End the sandbox, which has sent what the executor never sends. Returns the exception to raise."""
        self.transport.end("crashed")
        return StudentGone("crashed", detail)

    def _call_back(self, message: tuple[Any, ...], failures: list[BaseException]) -> bytes:
        """Run the test's own function for the student.

        The student's code must not catch a test's failure: the failure is added to ``failures`` and raised after the call.
        """
        _, key, args, kwargs = message
        function = self.callbacks.get(key) if type(key) is int else None
        if function is None or type(args) is not tuple or type(kwargs) is not dict:
            raise self.crashed("the sandbox called a function that it was not given")
        self._callbacks_left -= 1
        if self._callbacks_left < 0:
            failures.append(StudentGone("timed-out", "the test's function was called without end"))
        answer: tuple[Any, ...] = ("raise", "RuntimeError", "the test is over")
        if not failures:
            self.record("callback", (args, kwargs), str(key))
            try:
                answer = ("answer", function(*args, **{str(name): value for name, value in kwargs.items()}))
            except (StudentGone, AssertionError) as error:
                failures.append(error)
            except Exception as error:  # the student called the test's function wrongly
                answer = ("raise", type(error).__name__, str(error)[:200])
        return wire.encode(answer, refer=self._refer, for_arguments=True)

    def _refer(self, value: Any) -> Reference | None:
        if isinstance(value, _RemoteCallable):
            return value.reference
        if not callable(value):
            raise TypeError(f"a test cannot pass a value of type {wire.type_name(value)} to a student")
        key = self._callback_keys.setdefault(id(value), len(self.callbacks))
        self.callbacks[key] = value
        return Reference("callback", key)

    def _resolve(self, reference: Reference) -> Any:
        if reference.kind == "handle":
            return Handle(self, reference)
        if reference.kind == "callback" and reference.key in self.callbacks:
            return self.callbacks[int(reference.key)]
        raise WireError("a reference to something that was never passed")

    def record(
        self, kind: str, value: Any, name: str = "", rtol: float | None = None, atol: float | None = None
    ) -> None:
        """Add a value to the trace. After the allowance is spent, one mark replaces all further values."""
        if self._kept:
            self.trace.append(TraceEntry(kind, name, value, rtol, atol))
        elif not self.trace or self.trace[-1].value is not _TOO_MUCH:
            self.trace.append(TraceEntry(kind, name, _TOO_MUCH, rtol, atol))

    def start_trace(self) -> None:
        """Empty the trace, and forget the previous test's callbacks."""
        self.callbacks.clear()
        self._callback_keys.clear()
        self.trace = []


class _RemoteCallable:
    """A callable in the sandbox: a student's function, or an object behind a handle."""

    def __init__(self, rpc: RpcClient, reference: Reference):
        self._rpc = rpc
        self.reference = reference
        #: The arguments that the last call changed, such as ``("the first argument", "the argument mask")``.
        self.mutated: tuple[str, ...] = ()

    def _call(
        self,
        method: str | None,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        times: int = 1,
        case: Case | None = None,
    ) -> Any:
        self.mutated = ()
        message = ("call", self.reference, method, list(args), kwargs, times)
        result, changed = self._rpc.request(*message, case=case)
        self.mutated = tuple(argument_in_words(key) for key in (*range(len(args)), *kwargs) if key in changed)
        self._rpc.record("result", result)
        return result

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the sandbox. Returns the value."""
        return self._call(None, args, kwargs)

    def call_with(self, case: Case) -> Any:
        """Call it with a case's arguments, which are encoded once for all students."""
        return self._call(None, case.args, case.kwargs, case=case)

    @property
    def known(self) -> dict[Any, Any]:
        """See ``RpcClient.known``."""
        return self._rpc.known

    def repeat(self, times: int, *args: Any, **kwargs: Any) -> list[Any]:
        """Call it ``times`` times on the same arguments (a generator advances). Returns the results."""
        if times == 1:
            return [self._call(None, args, kwargs)]
        results: list[Any] = self._call(None, args, kwargs, times=times)
        return results

    def gradients(
        self, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, cotangent: Any = None
    ) -> SimpleNamespace:
        """The ``output``, and gradients of ``(output * cotangent).sum()`` with respect to every floating-point tensor.

        ``inputs`` has an entry for each positional argument, ``keywords`` for each named argument, ``parameters`` for each
        parameter of a module. An entry is ``None`` if the output does not depend on the value, or it has no gradient.
        """
        message = ("gradients", self.reference, list(args), dict(kwargs or {}), cotangent)
        gradients, _ = self._rpc.request(*message)
        match gradients:
            case {"output": _, "inputs": list(inputs), "keywords": dict(), "parameters": dict()}:
                if len(gradients) == 4 and len(inputs) == len(args):
                    self._rpc.record("result", gradients)
                    return SimpleNamespace(**gradients)
        raise self._rpc.crashed("the sandbox sent malformed gradients")


def argument_in_words(key: int | str) -> str:
    """An argument in words: its name if the test passed it by name, else its position."""
    if isinstance(key, str):
        return f"the argument {key}"
    return f"the {PLACES[key]} argument" if key < len(PLACES) else "one of the last arguments"


class Student(_RemoteCallable):
    """A student's function or class, by name, in the sandbox or in this process."""

    def __init__(self, rpc: RpcClient, name: str):
        super().__init__(rpc, Reference("name", name))
        self.name = name
        #: A message beside a passed test: the student's earlier answers that were replaced for it.
        self.note = ""
        #: The other questions with wrong answers; None if unknown.
        self.wrong: Collection[str] | None = None
        #: The wrong answers whose calls never ended.
        self.endless: frozenset[str] = frozenset()
        #: The wrong answers that are replaced by the course's now.
        self.replaced: tuple[str, ...] = ()
        #: ``once``'s key -> trace, and value or error, of earlier calls: several tests make the same call.
        self.answered: dict[Any, tuple[list[TraceEntry], Any]] = {}

    @classmethod
    def local_namespace(cls, namespace: Mapping[str, Any], name: str) -> Student:
        """The function ``name`` of a live namespace (a module's ``vars``, a notebook's ``globals()``)."""
        module = namespace.get("__name__")
        files = frozenset(
            value.__code__.co_filename
            for value in list(namespace.values())
            if isinstance(value, FunctionType) and value.__module__ == module
        )
        return cls(RpcClient(LocalTransport(namespace, files)), name)

    def scene(self, source: str, **bindings: Any) -> Scene:
        """Run the test's ``source`` in the sandbox, in a new namespace with ``bindings``.

        The source finds the student's names as ``student_namespace["name"]``. The student's code can read the source.
        """
        key, _ = self._rpc.request("scene", source, bindings)
        if type(key) is not int:
            raise self._rpc.crashed("the sandbox sent a malformed reply")
        return Scene(self._rpc, key)

    def watch(self, names: Sequence[str]) -> bool:
        """From now on, let the sandbox note which of these library functions the student's own code calls.

        Returns False if none of their libraries is imported, so that there is nothing to note.
        """
        can_see, _ = self._rpc.request("watch", list(names))
        return can_see is True

    def watched(self, names: Sequence[str]) -> tuple[str, ...]:
        """The ``names`` called since ``watch``, as the sandbox reports them. The student's code can hide calls."""
        seen, _ = self._rpc.request("watched")
        return tuple(name for name in names if name in seen) if type(seen) is list else ()

    @property
    def trace(self) -> list[TraceEntry]:
        """The values since ``start_trace``: the observations if the test made any, else all values."""
        trace = self._rpc.trace
        observations = [entry for entry in trace if entry.kind == "observation"]
        return observations or list(trace)

    def start_trace(self) -> None:
        """Empty the trace."""
        self._rpc.start_trace()

    def once(self, key: Any, ask: Callable[[], Any]) -> Any:
        """Call ``ask`` once for each ``key``; later return or raise the same again. The trace gets the outcome each time."""
        key = self.replaced, key
        if key in self.answered:
            self._rpc.trace += self.answered[key][0]
        else:
            begin = len(self._rpc.trace)
            try:
                value = ask()
            except StudentError as error:
                value = error
            self.answered[key] = self._rpc.trace[begin:], value
        if isinstance(value := self.answered[key][1], StudentError):
            raise value
        return value

    def send_ahead(self, calls: Iterable[tuple[Any, Case]]) -> None:
        """Send calls ahead, each as (key of its ``once``, case), except calls made before."""
        new = (case for key, case in calls if (self.replaced, key) not in self.answered)
        self._rpc.send_ahead(self.reference, new)

    def observe(self, name: str, value: Any, rtol: float | None = None, atol: float | None = None) -> None:
        """Record ``value`` as evidence; a diagnosis then compares observations instead of every result.

        For a random function observe a stable value, such as a frequency, with the tolerance it needs.
        """
        self._rpc.record("observation", value, name, rtol, atol)


class Handle(_RemoteCallable):
    """An object that stays in the sandbox: a module, an optimizer, or an instance of the student's class."""

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method (a dotted path is allowed: ``"encoder.forward"``)."""
        return self._call(method, args, kwargs)

    def state_dict(self) -> dict[str, Any]:
        """The module's weights by name."""
        state: dict[str, Any] = self._request("state_dict")
        return state

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Set the module's weights."""
        self._request("load_state_dict", dict(state), strict)

    def parameters(self, wanted: Iterable[str] = ()) -> dict[str, tuple[int, ...]]:
        """The shapes of the module's trainable parameters, by name. If one has several names, prefer a name in ``wanted``.

        A layer may be in a list, for example, before it gets its own name.
        """
        shapes: dict[str, tuple[int, ...]] = self._request("shapes", list(wanted))
        return shapes

    def train(self) -> None:
        """Put the module in training mode."""
        self._request("mode", True)

    def eval(self) -> None:
        """Put the module in evaluation mode."""
        self._request("mode", False)

    def _request(self, operation: str, *operands: Any) -> Any:
        value, _ = self._rpc.request(operation, self.reference, *operands)
        return value

    def __repr__(self) -> str:
        return f"<Handle {self.reference.key}>"


class Scene:
    """A namespace in the sandbox in which the test's source has run."""

    def __init__(self, rpc: RpcClient, key: int):
        self._rpc = rpc
        self._key = key

    def __getitem__(self, name: str) -> Any:
        """The value of ``name``, or a ``Handle`` if it cannot be sent."""
        value, _ = self._rpc.request("scene_value", self._key, name)
        return value

    def run(self, source: str, **bindings: Any) -> None:
        """Run more source in the scene."""
        self._rpc.request("scene_run", self._key, source, bindings)
