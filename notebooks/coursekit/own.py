"""Brings a student's own functions from earlier labs into a later one, where they pass their public checks.

``mine("07", "scaled_dot_product_attention")`` looks for the notebook of lab 07 beside this lab's folder, takes
the function with its helpers from there, runs its public checks and returns it. Where there is none, or it
does not pass yet, the course's own version (through library functions) is returned, and a line says so.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import json
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coursekit.checking import judge
from coursekit.teaching import say

_KIT = Path(__file__).resolve().parent


def mine(lab: str, question: str, *, quiet: bool = False) -> Callable[..., Any]:
    """The student's own ``question`` of lab ``lab`` (a number) when it passes its checks, else the provided one."""
    name = _full_name(lab)
    function, why = _own(name, question)
    if function is not None:
        if not quiet:
            say(f"{question}: your own, from lab {lab}.")
        return function
    if not quiet:
        say(f"{question}: the course's version ({why}).")
    return provided(lab, question)


def provided(lab: str, question: str) -> Callable[..., Any]:
    """The course's own version of an earlier lab's function."""
    module = importlib.import_module(f"coursekit.provided.p{_full_name(lab)}")
    return getattr(module, question)


def _full_name(lab: str) -> str:
    number = f"{int(lab[:2]):02d}"
    for file in sorted((_KIT / "provided").glob(f"p{number}_*.py")):
        return file.stem[1:]
    raise ValueError(f"there is no lab {number} before this one")


def _notebook(lab: str) -> Path | None:
    """The student's notebook of an earlier lab: in a sibling folder of this lab's, or of the bundle's."""
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


def _own(lab: str, question: str) -> tuple[Callable[..., Any] | None, str]:
    """The student's function, or None and why not."""
    path = _notebook(lab)
    if path is None:
        return None, f"no notebook of lab {lab[:2]} was found beside this one"
    try:
        namespace = _definitions(path)
    except Exception as error:
        return None, f"your notebook of lab {lab[:2]} could not be read: {type(error).__name__}"
    function = namespace.get(question)
    if not callable(function):
        return None, f"your notebook of lab {lab[:2]} does not define it"
    with contextlib.redirect_stdout(io.StringIO()):
        verdict = judge(lab, question, function)
    if not verdict.passed:
        return (
            None,
            "yours is not written yet"
            if not verdict.written
            else "yours does not pass its public checks yet",
        )
    return function, ""


def _definitions(path: Path) -> dict[str, Any]:
    """Run only what a notebook defines: imports, functions, classes and constants at its cells' top level."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    namespace: dict[str, Any] = {"__name__": f"own_{path.stem}"}
    for number, cell in enumerate(cells):
        if cell.get("cell_type") != "code":
            continue
        source = "".join(cell.get("source", ""))
        text = "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!")))
        _run_definitions(text, f"<{path.stem} cell {number}>", namespace)
    return namespace


def _run_definitions(source: str, label: str, namespace: dict[str, Any]) -> None:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    # So that inspect.getsource finds the function's text, which the checks read.
    linecache.cache[label] = (len(source), None, source.splitlines(keepends=True), label)
    kept = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    for node in tree.body:
        constant = isinstance(node, ast.Assign) and _is_constant(node.value)
        if isinstance(node, kept) or constant:
            with contextlib.suppress(Exception):
                exec(compile(ast.Module([node], []), label, "exec"), namespace)


def _is_constant(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
