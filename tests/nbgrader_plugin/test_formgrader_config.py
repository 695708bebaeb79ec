"""The configuration beside a graded class opens that class's gradebook, wherever the folder lies."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine, text
from traitlets.config.loader import PyFileConfigLoader

from autograder.course.masters import all_labs
from autograder.errors import UserError
from autograder.nbgrader_plugin.exporter import _places
from autograder.nbgrader_plugin.formgrader import address_of, configure


@pytest.mark.parametrize("name", ["q?mode=x", "p%41y", "a b+c", "ü#x", "50%"])
def test_the_gradebook_that_is_opened_is_the_one_in_the_folder(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    out.mkdir()
    (out / "gradebook.db").touch()
    config = PyFileConfigLoader("nbgrader_config.py", path=str(configure(out))).load_config()
    with create_engine(config.CourseDirectory.db_url).begin() as opened:  # as nbgrader's gradebook does
        opened.execute(text("CREATE TABLE somebody (name TEXT)"))
    assert (out / "gradebook.db").stat().st_size > 0
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_button_grades_into_that_gradebook_and_into_no_other_that_an_address_may_mean(
    tmp_path: Path,
) -> None:
    root = tmp_path / "q?mode=x"
    course = SimpleNamespace(
        root=str(root),
        directory_structure="{nbgrader_step}/{student_id}/{assignment_id}",
        autograded_directory="autograded",
        submitted_directory="submitted",
        db_url=address_of(root / "gradebook.db"),
    )
    assert _places(SimpleNamespace(coursedir=course), all_labs()[0]) == (root, root / "submitted")
    course.db_url = f"sqlite:///{root / 'gradebook.db'}"  # nbgrader's own, which means another file
    with pytest.raises(UserError, match="let db_url be sqlite:"):
        _places(SimpleNamespace(coursedir=course), all_labs()[0])
