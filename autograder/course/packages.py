"""The packages that a student or a grader installs, in the versions that the course was tested with.

``pyproject.toml`` says which they are, in ranges; ``requirements.lock`` says the versions.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.course.masters import course_root
from autograder.errors import UserError


def student_packages() -> list[str]:
    """What a student installs: the project's own dependencies, each ``name==version``."""
    return _pinned(_project()["dependencies"])


def grader_packages() -> list[str]:
    """What grading needs: a student's packages and those of the extra ``grade``, each ``name==version``."""
    project = _project()
    return _pinned([*project["dependencies"], *project["optional-dependencies"]["grade"]])


def _root() -> Path:
    """The folder that says so: the course's own, or the one that this code lies in."""
    course = course_root()
    return course if (course / "pyproject.toml").is_file() else Path(__file__).resolve().parents[2]


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(_text("pyproject.toml"))["project"]
    return project


def _text(name: str) -> str:
    try:
        return (_root() / name).read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"The course's packages could not be read from {name}: {error.strerror}.") from None


def _pinned(requirements: Iterable[str]) -> list[str]:
    locked = re.findall(r"^([\w.-]+)==(\S+)$", _text("requirements.lock"), re.MULTILINE)
    versions = {_normal(name): version for name, version in locked}
    names = [re.split(r"[<>=!~; ]", requirement, maxsplit=1)[0] for requirement in requirements]
    unlocked = [name for name in names if _project_of(name) not in versions]
    if unlocked:
        raise UserError(
            f"{', '.join(unlocked)}: in pyproject.toml, but not in requirements.lock. Run make lock."
        )
    return [f"{name}=={versions[_project_of(name)]}" for name in names]


def _project_of(name: str) -> str:
    """``bleach`` of ``bleach[css]``."""
    return _normal(name.partition("[")[0])


def _normal(name: str) -> str:
    """A package's name as registries compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()
