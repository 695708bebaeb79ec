"""What a wheel holds: every file of both packages that is not a module is named in pyproject's package data."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from autograder.course.masters import course_root
from autograder.course.visible_files import files_below

ROOT = course_root()
DATA = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]


def _named(folder: Path) -> set[Path]:
    """The files below a package's source folder that the package data name."""
    matches: set[Path] = set()
    for package, patterns in DATA.items():
        if package.split(".")[0] == folder.name:
            here = folder.joinpath(*package.split(".")[1:])
            matches.update(file for pattern in patterns for file in here.glob(pattern))
    return matches


@pytest.mark.parametrize("folder", ["autograder", "notebooks/coursekit"])
def test_a_wheel_holds_every_template_script_and_style(folder):
    files = {file for file in files_below(ROOT / folder) if file.suffix != ".py"}
    assert files, "there are such files"
    assert sorted(files - _named(ROOT / folder)) == []
