"""What of the student kit an answer may use: its tools, and whatever the lab's own cells import.

The rest of it (checks, models, names with an underscore) compares with right values and so computes them. Who uses it is
flagged, as for a forbidden function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache

import coursekit

from autograder.course.visible_files import kit_files, kit_folder
from autograder.grading.cell_text import statements
from autograder.grading.repair import Template

#: What a result says was used, whichever part of the kit it was.
KIT_PARTS = "the checks or models of coursekit"
#: Packages and modules all of whose public names are tools.
_TOOLS = frozenset(["data", "errors", "figures", "hardware", "notebook", "provided", *coursekit.__all__])
_FUNCTIONS = frozenset(f"coursekit.checks.earlier_labs.{name}" for name in ("mine", "on_tensors", "provided"))
#: Code without any of these words reaches no module of the kit.
_WAYS_IN = re.compile(r"coursekit|modules|import_module|__import__|__globals__|\b(?:exec|eval|gc)\b")


def may_use_kit(lab: str, cells: Iterable[str]) -> bool:
    """Whether code of the student's own, not the lab's, may reach modules of the kit."""
    given = _given_sources(lab)
    return any(_WAYS_IN.search(cell) is not None for cell in cells if cell.strip() not in given)


def is_tool(path: str, lab: str) -> bool:
    """Whether an answer in ``lab`` may use what has the dotted path, such as ``coursekit.figures.heatmap``."""
    _, *parts = path.split(".")
    if any(part.startswith("_") for part in parts):
        return False
    if not parts or parts[0] in _TOOLS:
        return True
    known = _FUNCTIONS | _imported_by_the_lab(lab)
    return any(f"{path}.".startswith(f"{name}.") or name.startswith(f"{path}.") for name in known)


@cache
def no_tools(lab: str) -> tuple[str, ...]:
    """The functions and classes of the kit that no answer in ``lab`` may use."""
    kit = kit_folder()
    defined = (
        ".".join(("coursekit", *file.relative_to(kit).with_suffix("").parts, node.name))
        for file in kit_files(lab)
        if file.suffix == ".py"
        for node in statements(file.read_text(encoding="utf-8"))
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    )
    return tuple(name for name in defined if not is_tool(name, lab))


@cache
def _given_sources(lab: str) -> frozenset[str]:
    template = Template.of(lab)
    return frozenset(
        source.strip() for source in (*(cell.source for cell in template.cells), *template.test_code.values())
    )


@cache
def _imported_by_the_lab(lab: str) -> frozenset[str]:
    """What the lab's own cells import of the kit, as dotted paths."""
    nodes = (node for source in _given_sources(lab) for part in statements(source) for node in ast.walk(part))
    return frozenset(
        f"{node.module}.{item.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "coursekit"
        for item in node.names
    )
