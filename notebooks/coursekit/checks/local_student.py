"""The ``student`` of a card's scenarios: the answer in this process, with calls, scenes and handles.

The hidden tests' ``student`` can do more. Scenarios use only what both have.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from coursekit.checks.values import plain


class Raised(Exception):
    """An error of the student's code, distinct from the scenario's own errors."""

    def __init__(self, error: Exception):
        super().__init__(str(error))
        self.error = error


def _call_students(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as error:
        raise Raised(error) from error


class _Callable:
    """A function or callable object of the student."""

    #: The arguments that a call changed. Only hidden tests see them, so this is empty.
    mutated: tuple[str, ...] = ()

    def __init__(self, target: Any):
        self._target = target

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it. Returns the value."""
        return _wrapped(_call_students(self._target, *_bare(args), **_bare(kwargs)))

    def gradients(
        self, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None, cotangent: Any = None
    ) -> SimpleNamespace:
        """See ``differentiate``."""
        call = partial(_call_students, self._target)
        found = differentiate(call, _bare(list(args)), _bare(dict(kwargs or {})), cotangent, self._target)
        return SimpleNamespace(**found | {"output": _wrapped(found["output"])})

    def repeat(self, times: int, *args: Any, **kwargs: Any) -> list[Any]:
        """Call it ``times`` times on the same arguments (a generator advances). Returns the results."""
        return [self(*args, **kwargs) for _ in range(times)]


def differentiate(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], cotangent: Any, owner: Any
) -> dict[str, Any]:
    """The ``output``, and the gradients of ``(output * cotangent).sum()`` for ``inputs``, ``keywords`` and ``parameters``.

    The cotangent has the output's structure (default: ones). ``parameters`` are those of the module ``owner``, or of the
    module whose method it is. A gradient is ``None`` where the output does not depend on the tensor.
    """
    import torch  # takes seconds, and most labs do not need it

    def with_gradient(value: Any) -> Any:
        is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
        return value.detach().clone().requires_grad_() if is_float else value

    given = [with_gradient(value) for value in args]
    named = {name: with_gradient(value) for name, value in kwargs.items()}
    module = owner if isinstance(owner, torch.nn.Module) else getattr(owner, "__self__", None)
    learned: dict[str, Any] = {}
    if isinstance(module, torch.nn.Module):
        learned = dict(module.named_parameters(remove_duplicate=False))
    output = function(*given, **named)
    outputs = _float_tensors(output)
    weights = _float_tensors(cotangent) if cotangent is not None else [torch.ones_like(o) for o in outputs]
    if len(weights) != len(outputs):
        raise ValueError(f"the function returned {len(outputs)} tensors where {len(weights)} were expected")
    # By id: a parameter may have several names.
    every = {id(value): value for value in (*given, *named.values(), *learned.values())}
    leaves = [value for value in every.values() if isinstance(value, torch.Tensor) and value.requires_grad]
    terms = [(o * w).sum() for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
    found = torch.autograd.grad(sum(terms), leaves, allow_unused=True) if terms and leaves else ()
    by = dict(zip(map(id, leaves), found, strict=False))
    return {
        "output": output,
        "inputs": [by.get(id(value)) for value in given],
        "keywords": {name: by.get(id(value)) for name, value in named.items()},
        "parameters": {name: by.get(id(value)) for name, value in learned.items()},
    }


def _float_tensors(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for part in parts for tensor in _float_tensors(part)]


def shapes_of(module: Any, wanted: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a module's trainable parameters, each once: under a ``wanted`` name where it has several."""
    names: dict[int, list[str]] = {}
    shapes = {}
    for name, value in module.named_parameters(remove_duplicate=False):
        if value.requires_grad:
            names.setdefault(id(value), []).append(name)
            shapes[name] = tuple(value.shape)
    liked = frozenset(wanted)
    chosen = (next(filter(liked.__contains__, several), several[0]) for several in names.values())
    return {name: shapes[name] for name in chosen}


class LocalStudent(_Callable):
    """The answer to a question, with access to the notebook's other names."""

    def __init__(self, answer: Any, name: str):
        super().__init__(answer)
        self.name = name
        unwrapped = inspect.unwrap(answer)
        home = getattr(unwrapped, "__globals__", None) or getattr(
            getattr(unwrapped, "__init__", None), "__globals__", {}
        )
        self._names = {**home, name: answer}

    def scene(self, source: str, **bindings: Any) -> LocalScene:
        """Run ``source`` in a new namespace. In it, ``student_namespace["name"]`` is the student's ``name``."""
        return LocalScene(source, {"student_namespace": self._names, **_bare(bindings)})


class LocalScene:
    """A namespace in which a scenario's source has run."""

    def __init__(self, source: str, names: dict[str, Any]):
        self._names = {"__name__": "scene", **names}
        self.run(source)

    def __getitem__(self, name: str) -> Any:
        return _wrapped(self._names[name])

    def run(self, source: str, **bindings: Any) -> None:
        """Run more source in the scene."""
        self._names.update(_bare(bindings))
        _call_students(exec, compile(source, "<scene>", "exec"), self._names)


class LocalHandle(_Callable):
    """A student's object: a module, an optimizer, or an instance of a class."""

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method (a dotted path is allowed)."""
        target = self._target
        for name in method.split("."):
            target = _call_students(getattr, target, name)
        return _Callable(target)(*args, **kwargs)

    def state_dict(self) -> dict[str, Any]:
        """The module's weights by name."""
        state: dict[str, Any] = self._target.state_dict()
        return state

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Set the module's weights."""
        _call_students(self._target.load_state_dict, dict(state), strict)

    def parameters(self, wanted: Iterable[str] = ()) -> dict[str, tuple[int, ...]]:
        """The shapes of the module's trainable parameters, by name. If one has several names, prefer a name in ``wanted``."""
        return shapes_of(self._target, wanted)

    def train(self) -> None:
        """Put the module in training mode."""
        self._target.train()

    def eval(self) -> None:
        """Put the module in evaluation mode."""
        self._target.eval()


def _bare(value: Any) -> Any:
    """The arguments with handles replaced by their objects."""
    if isinstance(value, _Callable):
        return value._target
    if isinstance(value, dict):
        return {key: _bare(item) for key, item in value.items()}
    return type(value)(map(_bare, value)) if type(value) in (list, tuple) else value


def _wrapped(value: Any) -> Any:
    """A value as the hidden tests see it. An object that is not data, such as a PyTorch module, becomes a handle."""
    seen = plain(value)
    return LocalHandle(value) if seen is value and hasattr(value, "__dict__") else seen
