"""The packages that a student or a grader installs.

``pyproject.toml`` lists them with version ranges; ``requirements.lock`` has the versions of teachers and CI. PyTorch is
the largest by far, and on Linux PyPI's build includes CUDA, so only labs that need PyTorch require it. Its CPU build comes
from the index ``torch_index`` in ``course.toml``, else by a tool that knows PyTorch's own index.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from autograder.course.masters import all_labs, course_root, read_master
from autograder.course.policy_file import settings
from autograder.errors import UserError

IMPORTS_TORCH = re.compile(r"^\s*(?:import|from)\s+torch\b", re.MULTILINE)


def student_requirements(lab: str) -> list[str]:
    """The lines of a student's ``requirements.txt`` for the labs up to ``lab`` (full name), with version ranges."""
    lines = list(_project()["dependencies"])
    if not needs_torch(lab):
        return [line for line in lines if _name(line) != "torch"]
    return [*_torch_index(), *lines]


def grader_requirements() -> list[str]:
    """The lines of a ``requirements.txt`` for grading: a student's packages and the extra ``grade``, as ``name==version``."""
    project = _project()
    named = map(_name, [*project["dependencies"], *project["optional-dependencies"]["grade"]])
    locked = re.findall(r"^([\w.-]+)==(\S+)$", _text("requirements.lock"), re.MULTILINE)
    versions = {_normal(name): version for name, version in locked}
    pinned = {name: versions.get(_normal(name)) for name in named}
    if unlocked := [name for name, version in pinned.items() if version is None]:
        raise UserError(
            f"{', '.join(unlocked)}: in pyproject.toml, but not in requirements.lock. Run make lock."
        )
    return [*_torch_index(), *(f"{name}=={version}" for name, version in pinned.items())]


def conda_torch() -> str:
    """The requirement for conda-forge's CPU build of PyTorch, in a student's range: pip then finds it installed."""
    torch: str = next(line for line in _project()["dependencies"] if _name(line) == "torch")
    return torch.replace("torch", "pytorch-cpu", 1)


def needs_torch(lab: str) -> bool:
    """Whether a lab up to ``lab`` (full name) imports PyTorch."""
    return any(
        IMPORTS_TORCH.search(cell.source)
        for name in all_labs()
        if name <= lab
        for cell in read_master(name).cells
        if cell.cell_type == "code"
    )


def fetches_cuda(lab: str) -> bool:
    """Whether pip by itself fetches PyTorch with CUDA for the labs up to ``lab`` (full name)."""
    return needs_torch(lab) and not settings().torch_index


def _torch_index() -> list[str]:
    """The line that adds the index to pip's; pip prefers a CPU build to the plain build of the same version."""
    return [f"--extra-index-url {settings().torch_index}"] if settings().torch_index else []


def _project() -> dict[str, Any]:
    return dict(tomllib.loads(_text("pyproject.toml"))["project"])


def _text(name: str) -> str:
    """A file beside the course's ``pyproject.toml``, or else beside this package's."""
    course = course_root()
    root = course if (course / "pyproject.toml").is_file() else Path(__file__).resolve().parents[2]
    try:
        return (root / name).read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{name} cannot be read for its packages ({error.strerror}): restore it.") from None


def _name(requirement: str) -> str:
    """``bleach[css]`` of ``bleach[css]>=6``."""
    return re.split(r"[<>=!~; ]", requirement, maxsplit=1)[0]


def _normal(name: str) -> str:
    """A package's name as registries compare names: ``bleach`` of ``Bleach[css]``."""
    return re.sub(r"[-_.]+", "-", name.partition("[")[0]).lower()
