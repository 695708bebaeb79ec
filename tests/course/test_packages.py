"""Which packages are installed where, and that their versions are known ones."""

from __future__ import annotations

import importlib.metadata
import re
from io import StringIO

from packaging.requirements import Requirement
from rich.console import Console

import autograder
from autograder.cli.say import say
from autograder.course import packages
from autograder.course.masters import course_root, lab_name


def _names(lines: list[str]) -> set[str]:
    return {re.split(r"[\[=<>]", line)[0].lower() for line in lines}


def test_a_student_installs_no_package_of_the_harness_and_ranges_that_hold_the_locks_versions():
    asked, pinned = packages.student_requirements(lab_name("13")), packages.grader_requirements()
    students, graders = _names(asked), _names(pinned)
    assert {"torch", "jupyterlab", "nbgrader", "numpy"} <= students < graders
    assert {"typer", "pydantic", "sqlalchemy", "jupytext"} <= graders - students
    versions = dict(line.split("==") for line in pinned)
    for requirement in map(Requirement, asked):
        assert any(part.operator == ">=" for part in requirement.specifier), requirement
        assert requirement.specifier.contains(versions[requirement.name]), requirement


def test_pytorch_and_its_index_are_asked_for_from_the_first_lab_that_uses_it(course_at):
    line = "--extra-index-url https://mirror.example/cpu"
    for number, torch in {"00": False, "07": False, "08": True, "11": True}.items():
        lab = lab_name(number)
        course_at("")
        assert ("torch" in _names(packages.student_requirements(lab))) == torch
        say(said := Console(file=StringIO()), "release", notebook="", fetches_cuda=packages.fetches_cuda(lab))
        assert ("2.5 GB" in said.file.getvalue()) == torch, "a teacher hears how much it is"
        course_at('torch_index = "https://mirror.example/cpu"')
        assert (packages.student_requirements(lab)[0] == line) == torch
        assert not packages.fetches_cuda(lab)
    assert packages.grader_requirements()[0] == line


def test_every_package_is_pinned_to_the_version_that_is_tested_here_and_the_lock_names_no_registry():
    for line in packages.grader_requirements():
        name, _, version = line.partition("==")
        assert importlib.metadata.version(name.partition("[")[0]).split("+")[0] == version
    assert autograder.__version__ == importlib.metadata.version("bigrams-to-translators")
    lines = (course_root() / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line) for line in lines)
