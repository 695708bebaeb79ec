"""The demos' notebooks: one for each demo, which runs by itself, and which reports and bundles know of."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import nbformat
import pytest
from coursekit.demos import bundle, notebooks
from coursekit.demos.widget import show
from nbclient import NotebookClient

from autograder.course.masters import lab_as_written, lab_name
from autograder.course.visible_files import write_kit
from tests.demos.stage import EACH_KIND

NAMES = bundle.names()


def test_every_demo_of_the_course_is_there() -> None:
    assert {f"{lab:02d}" for lab in range(1, 14)} == {name[:2] for name in NAMES}


def test_notebooks_are_as_their_modules_say() -> None:
    for name in NAMES:
        path = notebooks.FOLDER / f"{name}.ipynb"
        assert path.read_text(encoding="utf-8") == nbformat.writes(notebooks.notebook(name)) + "\n", (
            "run python -m coursekit.demos.notebooks"
        )


def test_each_demos_widget_brings_its_own_module() -> None:
    for name in NAMES:
        assert f'modules["{name}.js"]' in show(name)._esm


@pytest.mark.parametrize("name", EACH_KIND)
def test_a_notebook_runs_without_student_code(name: str) -> None:
    book = nbformat.read(notebooks.FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(book)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    client = NotebookClient(book, timeout=600, resources={"metadata": {"path": str(notebooks.FOLDER)}})
    client.execute()
    outputs = book.cells[0].outputs
    assert [output.output_type for output in outputs] == ["execute_result"]
    assert "application/vnd.jupyter.widget-view+json" in outputs[0].data
    shown = [state.get("_esm", "") for state in client.widget_state.values()]
    assert any(f'modules["{name}.js"]' in script for script in shown)


def test_demos_are_left_out_of_what_students_get(tmp_path: Path) -> None:
    write_kit("13_beyond", tmp_path / "coursekit")
    assert (tmp_path / "coursekit" / "figures" / "style.py").is_file()
    assert not (tmp_path / "coursekit" / "demos").exists()


def test_the_reports_demos_and_questions_exist() -> None:
    named = tomllib.loads(
        (Path(notebooks.__file__).parents[2] / "demos" / "questions.toml").read_text(encoding="utf-8")
    )
    for number, by_question in named.items():
        questions = {name for name, _ in lab_as_written(lab_name(number)).questions}
        assert set(by_question) <= {*questions, "all"}
        assert set(by_question.values()) <= set(NAMES)
