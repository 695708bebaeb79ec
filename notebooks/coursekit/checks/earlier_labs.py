"""Imports a student's own functions from earlier labs into a later one, if they pass their public checks.

``mine("07", "scaled_dot_product_attention")`` finds the notebook of lab 07 beside this lab's folder, takes the function
and all that it needs, and runs its public checks. It returns the function if it passes, and the course's own version (with
library functions) otherwise. A printed line says which.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import importlib
import io
import json
import linecache
import os
import symtable
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.checks.api import judge
from coursekit.notebook.progress import say

_KIT = Path(__file__).resolve().parents[1]

#: For each notebook that is being imported: the sources of the functions that it imports itself.
_used_inside: list[list[str]] = []


def mine(lab: str, question: str) -> Callable[..., Any]:
    """The student's own ``question`` of lab ``lab`` (a number) if it passes its checks, else the course's version.

    A printed line says which. While a notebook is being imported, the outer call prints it.
    """
    function, note = _own_function(full_name(lab), question)
    if _used_inside:
        part = f"your own {question} (lab {lab})" if function else f"the course's {question} ({note})"
        if part not in _used_inside[-1]:
            _used_inside[-1].append(part)
    else:
        whose = f"your own, from lab {lab}{note}" if function else f"the course's version ({note})"
        say(f"{question}: {whose}.")
    own = provided(lab, question)
    return (
        own if function is None else _converting(getattr(own, "__annotations__", {}).get("return"), function)
    )


def _converting(kind: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """The student's function with its results converted to the type of the course's version: arrays or tensors."""
    if kind != "Tensor" and kind != "Array" and not str(kind).startswith("npt.NDArray"):
        return function

    @functools.wraps(function)
    def converted(*values: Any, **named: Any) -> Any:
        result = function(*values, **named)
        if kind == "Tensor":
            import torch

            return torch.as_tensor(result)
        array = np.asarray(result)
        return array.astype(float) if array.dtype == object else array

    return converted


def provided(lab: str, question: str) -> Callable[..., Any]:
    """The course's own version of an earlier lab's function."""
    module = importlib.import_module(f"coursekit.provided.p{full_name(lab)}")
    function: Callable[..., Any] = getattr(module, question)
    return function


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A student's NumPy function of labs 00 to 07, adapted to tensors: it gets arrays, and its results become tensors.

    No gradient flows through it. The course's own version is returned as it is.
    """
    import torch

    if str(function.__module__).startswith("coursekit."):
        return function

    def tensors_of(value: Any, dtype: torch.dtype) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)(tensors_of(part, dtype) for part in value)
        tensor = torch.as_tensor(value)
        return tensor.to(dtype) if tensor.is_floating_point() else tensor

    @functools.wraps(function)
    def of_tensors(*values: Any) -> Any:
        first = next(value.dtype for value in values if isinstance(value, torch.Tensor))
        arrays = [value.detach().numpy() if isinstance(value, torch.Tensor) else value for value in values]
        return tensors_of(function(*arrays), first)

    return of_tensors


def full_name(lab: str) -> str:
    """The full name of the earlier lab with this number. Raises ``ValueError`` if it is not in the kit."""
    number = f"{int(lab[:2]):02d}"
    for file in sorted((_KIT / "provided").glob(f"p{number}_*.py")):
        return file.stem[1:]
    raise ValueError(f"there is no lab {number} before this one: give the number of an earlier lab")


def _find_notebook(lab: str) -> Path | None:
    """The student's notebook of an earlier lab, in the folders around this one; None if there is none."""
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        return None  # grading does not use other labs' notebooks
    here = Path.cwd()
    for folder in (
        here.parent / lab,
        here / lab,
        here,
        here.parent.parent / lab,
        *here.parent.glob(f"*/{lab}"),
    ):
        if (folder / f"{lab}.ipynb").is_file():
            return folder / f"{lab}.ipynb"
    return None


def _own_function(lab: str, question: str) -> tuple[Callable[..., Any] | None, str]:
    """The student's function and a note on the earlier functions that it uses, or None and the reason."""
    path, number = _find_notebook(lab), lab[:2]
    if path is None:
        return None, f"no notebook of lab {number} was found beside this one"
    _used_inside.append([])
    try:
        namespace, missing = definitions(path, question)
        with contextlib.redirect_stdout(io.StringIO()):
            function = namespace.get(question)
            verdict = judge(lab, question, function) if callable(function) else None
    except Exception as error:
        return None, f"your notebook of lab {number} could not be read: {type(error).__name__}"
    finally:
        parts = _used_inside.pop()
    if verdict is None:
        return None, f"your notebook of lab {number} does not define it"
    if verdict.passed:
        return function, f", with {' and '.join(parts)}" if parts else ""
    if not verdict.written:
        return None, "yours is not written yet"
    if missing:
        needs = f"yours needs {', '.join(missing)}"
        return None, f"{needs}, which could not be made from your notebook of lab {number}"
    return None, "yours does not pass its public checks yet"


# --------------------------------------------------------------------------- a notebook function with its dependencies


@dataclass(frozen=True)
class _Statement:
    """A cell's top-level statement, with the notebook's names that it binds and uses."""

    node: ast.stmt
    label: str
    binds: frozenset[str]
    uses: frozenset[str]


def definitions(path: Path, *names: str) -> tuple[dict[str, Any], list[str]]:
    """The namespace with the functions ``names`` of a notebook, and the needed names that could not be made.

    Only imports run, and statements that bind a name which these functions use, directly or not. Nothing is trained, drawn
    or checked.
    """
    statements = list(_statements(path))
    needed = set(names)
    while more := {name for one in statements if one.binds & needed for name in one.uses} - needed:
        needed |= more
    module = types.ModuleType(f"own_{path.stem}")
    sys.modules[module.__name__] = module  # dataclasses and type hints look names up there
    flags = _future_flags(statements)
    for one in statements:
        if one.binds & needed or isinstance(one.node, (ast.Import, ast.ImportFrom)):
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                code = compile(ast.Module([one.node], []), one.label, "exec", flags, dont_inherit=True)
                exec(code, vars(module))
    missing = sorted(name for name in needed if name not in vars(module) and not hasattr(builtins, name))
    return vars(module), missing


def _statements(path: Path) -> Iterator[_Statement]:
    """Yield the top-level statements of a notebook's code cells; of cells tagged ``skip-grading``, only definitions."""
    definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell.get("cell_type") != "code":
            continue
        lines = "".join(cell.get("source", "")).splitlines()
        text = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)
        label = f"<{path.stem} cell {number}>"
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        # Lets inspect.getsource find the function's source, which the checks read.
        linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
        long = "skip-grading" in cell.get("metadata", {}).get("tags", ())
        for node in tree.body:
            if isinstance(node, definition) or not long:
                yield _Statement(node, label, *_names(node))


def _names(node: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a top-level statement binds (also by ``name[…] =`` and ``name.… =``), and those that it uses."""
    top = symtable.symtable(ast.unparse(node), "<cell>", "exec")
    binds = {
        symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()
    }
    uses = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    waiting = list(top.get_children())
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        uses |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Attribute, ast.Subscript)) and isinstance(inner.ctx, ast.Store):
            root: ast.expr = inner
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(root, ast.Name):
                binds.add(root.id)
    return frozenset(binds), frozenset(uses)


def _future_flags(statements: list[_Statement]) -> int:
    """The compiler's flags for the notebook's ``from __future__ import …``."""
    import __future__

    imports = (one.node for one in statements if isinstance(one.node, ast.ImportFrom))
    names = {alias.name for node in imports if node.module == "__future__" for alias in node.names}
    return sum(getattr(__future__, name).compiler_flag for name in names if hasattr(__future__, name))
