"""The demos' notebooks and pictures: one for each demo, as their modules say; reports and bundles know of them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import nbformat
from coursekit.demos import __main__ as command
from coursekit.demos import bundle
from coursekit.demos.widget import show

from autograder.course.masters import lab_as_written, lab_name
from autograder.course.visible_files import write_kit
from docs.make_pictures import MADE_FROM, made_from

NAMES = bundle.names()


def test_every_lab_has_a_demo_with_a_notebook_that_shows_it() -> None:
    assert {f"{lab:02d}" for lab in range(1, 14)} == {name[:2] for name in NAMES}
    for name in NAMES:
        written = (command.NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
        nbformat.validate(nbformat.reads(written, as_version=4))
        assert written == command.notebook(name), "run python -m coursekit.demos notebooks"
        assert f'modules["{name}.js"]' in show(name)._esm


def test_the_pictures_of_readme_and_gallery_show_what_there_is_today() -> None:
    noted, today = json.loads(MADE_FROM.read_text()), made_from()
    assert [name for name in today if today[name] != noted.get(name)] == [], (
        "run make pictures, and look at them"
    )
    assert [name for name in today if not (MADE_FROM.parent / name).is_file()] == []


def test_demos_are_left_out_of_what_students_get(tmp_path: Path) -> None:
    write_kit("13_beyond", tmp_path / "coursekit")
    assert (tmp_path / "coursekit" / "figures" / "style.py").is_file()
    assert not (tmp_path / "coursekit" / "demos").exists()


def test_the_reports_demos_and_questions_exist() -> None:
    named = tomllib.loads((command.NOTEBOOKS / "questions.toml").read_text(encoding="utf-8"))
    for number, by_question in named.items():
        questions = {name for name, _ in lab_as_written(lab_name(number)).questions}
        assert set(by_question) <= {*questions, "all"}
        assert set(by_question.values()) <= set(NAMES)
