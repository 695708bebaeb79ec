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

Arguments are copies: changes that the student's code makes to them show only in ``mutated``, which compares the returned
arguments with those sent. A passed generator does not advance here. An exception of the student's code arrives as
``StudentError``, a result of a type that cannot be sent as ``BadReply``, and the end of the sandbox as ``StudentGone``.
Results are untrusted: check a shape before you compute with it, so that a huge result costs little.

``Student.local_namespace(namespace, name)`` runs a function in this process under the same rules: the master's solution,
a misconception, or plain pytest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from coursekit.checks.words import PLACES

from autograder.sandbox.host.rpc import LocalTransport, Proxy, RpcClient, StudentError, TraceEntry
from autograder.sandbox.wire import Reference, contents_of


@dataclass(frozen=True)
class Gradients:
    """A function's output, and the gradients of ``(output * cotangent).sum()``.

    ``inputs`` has an entry for each positional argument, ``keywords`` for each named argument, ``parameters`` for each
    parameter of a module. An entry is ``None`` if the output does not depend on the value, or it has no gradient.
    """

    output: Any
    inputs: list[Any]
    keywords: dict[str, Any]
    parameters: dict[str, Any]


class _RemoteCallable(Proxy):
    """A callable in the sandbox: a student's function, or an object behind a handle."""

    def __init__(self, rpc: RpcClient, reference: Reference):
        super().__init__(reference)
        self._rpc = rpc
        #: The arguments that the last call changed, such as ``("the first argument", "the argument mask")``.
        self.mutated: tuple[str, ...] = ()

    def _call(self, method: str | None, args: Sequence[Any], kwargs: dict[str, Any], times: int = 1) -> Any:
        self.mutated = ()
        message = ("call", self.reference, method, list(args), kwargs, times)
        sent = contents_of(args, kwargs)
        result, left = self._rpc.request(*message)
        self.mutated = tuple(
            argument_in_words(key) for key, contents in sent.items() if not _equals(left.get(key), contents)
        )
        self._rpc.record("result", result)
        return result

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the sandbox. Returns the value."""
        return self._call(None, args, kwargs)

    def repeat(self, times: int, *args: Any, **kwargs: Any) -> list[Any]:
        """Call it ``times`` times on the same arguments (a generator advances). Returns the results."""
        if times == 1:
            return [self._call(None, args, kwargs)]
        results: list[Any] = self._call(None, args, kwargs, times=times)
        return results

    def gradients(
        self, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, cotangent: Any = None
    ) -> Gradients:
        """Gradients of ``(output * cotangent).sum()`` with respect to every floating-point tensor."""
        message = ("gradients", self.reference, list(args), dict(kwargs or {}), cotangent)
        gradients, _ = self._rpc.request(*message)
        match gradients:
            case {"output": _, "inputs": list(inputs), "keywords": dict(), "parameters": dict()}:
                if len(gradients) == 4 and len(inputs) == len(args):
                    self._rpc.record("result", gradients)
                    return Gradients(**gradients)
        raise self._rpc.crashed("the sandbox sent malformed gradients")


def _equals(left: Any, sent: bytes) -> bool:
    """Whether ``left`` equals the bytes ``sent``. ``left`` may be any value, such as an array."""
    return type(left) is bytes and left == sent


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
        return cls(RpcClient(LocalTransport(namespace, files), Handle), name)

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

    def send_ahead(self, calls: Iterable[tuple[Any, Sequence[Any], Mapping[str, Any]]]) -> None:
        """Send calls ahead, each as (key of its ``once``, args, kwargs), except calls made before."""
        new = ((args, kwargs) for key, args, kwargs in calls if (self.replaced, key) not in self.answered)
        self._rpc.send_ahead(("call", self.reference, None, [*args], {**kwargs}, 1) for args, kwargs in new)

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
