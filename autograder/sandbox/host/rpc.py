"""The RPC client of a student's process: requests, callbacks, errors, and the trace of returned values."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

        answer(self.executor.handle(request, round_trip))

    def end(self, reason: str) -> None:
        """Do nothing: there is no other process."""


class Proxy:
    """Represents an object in the student's process; ``reference`` names it there."""

    def __init__(self, reference: Reference):
        self.reference = reference


def _by_name(value: Any) -> Reference:
    if isinstance(value, Proxy) and value.reference.kind == "name":
        return value.reference
    raise TypeError("this cannot be sent ahead")


def _identity(message: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """What tells a call from others: its function, and which objects its arguments are. None for another request."""
    if message[0] != "call":
        return None
    _, reference, method, args, kwargs, times = message
    return reference, method, times, [*kwargs], [*map(id, (*args, *kwargs.values()))]


@dataclass(eq=False)
class RpcClient:
    """Sends the requests of all proxies of one submission; holds their transport, callbacks and trace."""

    transport: RemoteTransport | LocalTransport
    make_handle: Callable[[RpcClient, Reference], Proxy]
    budget: Budget = field(default_factory=Budget)
    callbacks: dict[int, Callable[..., Any]] = field(default_factory=dict)
    trace: list[TraceEntry] = field(default_factory=list)
    _callback_keys: dict[int, int] = field(default_factory=dict)  # id of a function -> its key
    #: The calls that follow, next first; and the sizes of those already sent ahead.
    _next: deque[tuple[Any, ...]] = field(default_factory=deque)
    _ahead: deque[int] = field(default_factory=deque)
    _kept: bool = True  # whether there was room for the last frame in the trace

    def request(self, *message: Any) -> tuple[Any, dict[Any, Any]]:
        """One request's result and arguments' contents, as sent. Raises ``StudentError`` if the student's code raised."""
        frame = None
        if self._next and _identity(self._next[0]) != _identity(message):
            self._forget_next()
        if self._next:
            self._next.popleft()
        if self._ahead:
            self._ahead.popleft()
            self._send_more()
        else:
            frame = wire.encode(message, refer=self._refer, for_arguments=True)
        replies: list[Any] = []
        failures: list[BaseException] = []

        def answer(frame: bytes) -> bytes | None:
            try:
                # Only a lab whose tests import PyTorch can tell a tensor from an array.
                reply = wire.decode(frame, self._resolve, self.budget.keep, "torch" not in sys.modules)
            except wire.OpaqueError as error:
                reply = ("opaque", error.type_name)
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

    def send_ahead(self, messages: Iterable[tuple[Any, ...]]) -> None:
        """Send calls ahead whose requests follow in this order, so that the sandbox need not wait for each.

        Calls after one that passes a function, or is long, are not sent ahead. The sandbox would take the next request for the
        function's result, or both sides would wait for the other to read.
        """
        if not isinstance(self.transport, LocalTransport) and not self.callbacks:
            self._forget_next()
            self._next.extend(messages)
            self._send_more()

    def _send_more(self) -> None:
        """Send as many of the following calls as the socket can surely buffer."""
        frames: list[bytes] = []
        for message in islice(self._next, len(self._ahead), None):
            try:
                frame = wire.encode(message, refer=_by_name, for_arguments=True)
            except TypeError:
                break
            if sum(self._ahead) + len(frame) > MAX_AHEAD:
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

    def _unpack(self, reply: Any) -> tuple[Any, dict[Any, Any]]:
        """Unpack a reply after checking its form."""
        match reply:
            case ("value", result, dict(contents)):
                return result, contents
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
        if not failures:
            self.record("callback", (args, kwargs), str(key))
        try:
            if failures:
                raise RuntimeError("the test is over")
            answer: tuple[Any, ...] = (
                "answer",
                function(*args, **{str(name): value for name, value in kwargs.items()}),
            )
        except (StudentGone, AssertionError) as error:
            failures.append(error)
            answer = ("raise", "RuntimeError", "the test is over")
        except Exception as error:  # the student called the test's function wrongly
            answer = ("raise", type(error).__name__, str(error)[:200])
        return wire.encode(answer, refer=self._refer, for_arguments=True)

    def _refer(self, value: Any) -> Reference | None:
        if isinstance(value, Proxy):
            return value.reference
        if not callable(value):
            raise TypeError(f"a test cannot pass a value of type {wire.type_name(value)} to a student")
        key = self._callback_keys.setdefault(id(value), len(self.callbacks))
        self.callbacks[key] = value
        return Reference("callback", key)

    def _resolve(self, reference: Reference) -> Any:
        if reference.kind == "handle":
            return self.make_handle(self, reference)
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
