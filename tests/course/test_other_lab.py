"""A notebook tells which lab it is."""

from __future__ import annotations

import pytest

from autograder.course.masters import all_labs, course_root
from autograder.course.other_lab import other_lab


@pytest.mark.parametrize("own", all_labs())
def test_a_notebook_handed_in_for_any_other_lab_is_called_its_own(own):
    raw = (course_root() / "notebooks" / own / f"{own}.ipynb").read_bytes()
    assert {lab: other_lab(raw, lab) for lab in all_labs()} == dict.fromkeys(all_labs(), own) | {own: ""}
