"""A notebook tells which lab it is."""

from __future__ import annotations

import pytest

from autograder.course.masters import all_labs, course_root
from autograder.course.other_lab import _cell_names, other_lab


@pytest.mark.parametrize("own", all_labs())
def test_a_notebook_handed_in_for_any_other_lab_is_called_its_own(own):
    raw = (course_root() / "notebooks" / own / f"{own}.ipynb").read_bytes()
    assert {lab: other_lab(raw, lab) for lab in all_labs()} == dict.fromkeys(all_labs(), own) | {own: ""}


def test_an_imported_labs_notebook_is_its_own_beside_a_lab_with_a_cell_of_that_name(monkeypatch, tmp_path):
    headers = {
        "00_warm_up": 'question="softmax"',
        "14_problem": 'nbgrader={"grade": false, "grade_id": "softmax", "solution": true}',
    }
    for lab, header in headers.items():
        (tmp_path / "solutions" / lab).mkdir(parents=True)
        (tmp_path / "solutions" / lab / f"{lab}.py").write_text(f"# %% {header}\n")
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    _cell_names.cache_clear()
    raw = b'{"grade_id": "softmax"}'
    assert [other_lab(raw, lab) for lab in headers] == ["", ""]
    _cell_names.cache_clear()
