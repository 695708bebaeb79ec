"""A notebook tells which lab it is, and a master where its minutes go."""

from __future__ import annotations

import re

import pytest

from autograder.course.masters import (
    _cell_names,
    all_labs,
    course_header,
    course_root,
    lab_as_written,
    master_path,
    other_lab,
)


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


_LINE = re.compile(r"\*(\d+) minutes: (\d+) for [^*]+?, (\d+) for [^*]+?, (\d+) to read")
_HEADING = re.compile(r"^# #{2,3} (?!Optional)(.*) \((\d+) minutes")


def test_the_minutes_of_each_lab_add_up():
    for lab in all_labs():
        text = master_path(lab).read_text(encoding="utf-8")
        line = _LINE.search(" ".join(text.replace("\n# ", " ").split()))
        assert line, f"lab {lab} does not say where its minutes go"
        total, functions, words, reading = map(int, line.groups())
        assert course_header(lab)["minutes"] == total == functions + words + reading, lab
        questions = [name for name, _ in lab_as_written(lab).questions]
        counted = {True: 0, False: 0}
        for heading in map(_HEADING.match, text.splitlines()):
            if heading:
                counted[any(f"`{name}`" in heading[1] for name in questions)] += int(heading[2])
        assert counted == {True: functions, False: words}, lab
