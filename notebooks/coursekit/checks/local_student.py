"""The ``student`` of a card's scenarios: the answer in this process, with calls, scenes and handles.

The hidden tests' ``student`` can do more. Scenarios use only what both have.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
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
        """The ``output``, and the gradients of ``(output * cotangent).sum()`` for ``inputs``, ``keywords`` and ``parameters``."""
        import torch  # takes seconds, and most labs do not need it

        def is_float(value: Any) -> bool:
            return isinstance(value, torch.Tensor) and value.is_floating_point()

        given = [value.clone().requires_grad_() if is_float(value) else value for value in _bare(list(args))]
        named = {
            name: value.clone().requires_grad_() if is_float(value) else value
            for name, value in _bare(dict(kwargs or {})).items()
        }
        is_module = isinstance(self._target, torch.nn.Module)
        learned = dict(self._target.named_parameters(remove_duplicate=False)) if is_module else {}
        output = _call_students(self._target, *given, **named)
        outputs = list(filter(is_float, output if isinstance(output, (list, tuple)) else [output]))
        weights = cotangent if isinstance(cotangent, (list, tuple)) else [cotangent]
        weights = [torch.ones_like(part) for part in outputs] if cotangent is None else weights
        every = (*given, *named.values(), *learned.values())
        leaves = list({id(one): one for one in every if is_float(one) and one.requires_grad}.values())
        terms = [(o * w).sum() for o, w in zip(outputs, weights, strict=True) if o.requires_grad]
        found = torch.autograd.grad(sum(terms), leaves, allow_unused=True) if terms and leaves else ()
        by = dict(zip(map(id, leaves), found, strict=False))
        return SimpleNamespace(
            output=_wrapped(output),
            inputs=[by.get(id(one)) for one in given],
            keywords={name: by.get(id(one)) for name, one in named.items()},
            parameters={name: by.get(id(one)) for name, one in learned.items()},
        )

    def repeat(self, times: int, *args: Any, **kwargs: Any) -> list[Any]:
        """Call it ``times`` times on the same arguments (a generator advances). Returns the results."""
        return [self(*args, **kwargs) for _ in range(times)]


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
        names: dict[int, list[str]] = {}
        shapes = {}
        for name, value in self._target.named_parameters(remove_duplicate=False):
            if value.requires_grad:
                names.setdefault(id(value), []).append(name)
                shapes[name] = tuple(value.shape)
        liked = frozenset(wanted)
        chosen = (next(filter(liked.__contains__, several), several[0]) for several in names.values())
        return {name: shapes[name] for name in chosen}

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
