"""Which packages are installed where, and that their versions are known ones."""

from __future__ import annotations

import importlib.metadata
import re

import pytest

import autograder
from autograder.course import packages
from autograder.course.masters import course_root
from autograder.errors import UserError


def _names(lines: list[str]) -> set[str]:
    return {re.split(r"[\[=]", line)[0].lower() for line in lines}


def test_a_student_installs_no_package_of_the_harness():
    students, graders = _names(packages.student_packages()), _names(packages.grader_packages())
    assert {"torch", "jupyterlab", "nbgrader", "numpy"} <= students < graders
    assert {"typer", "pydantic", "sqlalchemy", "jupytext"} <= graders - students


def test_every_package_is_pinned_to_the_version_that_is_tested_here():
    for line in packages.grader_packages():
        name, _, version = line.partition("==")
        assert importlib.metadata.version(name.partition("[")[0]).split("+")[0] == version


def test_a_package_that_is_not_locked_is_named(monkeypatch):
    texts = {
        "pyproject.toml": '[project]\ndependencies = ["numpy>=2", "new_one[all]>=1,<2"]',
        "requirements.lock": "numpy==2.4.6\n",
    }
    monkeypatch.setattr(packages, "_text", texts.__getitem__)
    with pytest.raises(UserError, match=r"new_one\[all\]: in pyproject.toml, but not in requirements.lock"):
        packages.student_packages()


def test_the_lock_names_no_registry_and_no_folder():
    lines = (course_root() / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line) for line in lines)


def test_the_version_is_that_of_the_installed_package():
    assert autograder.__version__ == importlib.metadata.version("bigrams-to-translators")
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = autograder.no_such_name
