"""A lab's minutes add up: the header's are those of the introduction, and that counts what the headings say."""

from __future__ import annotations

import re

from autograder.course.masters import all_labs, course_header, lab_as_written, master_path

_LINE = re.compile(r"\*(\d+) minutes: (\d+) for [^*]+?, (\d+) for [^*]+?, (\d+) to read")
_HEADING = re.compile(r"^# #{2,3} (?!Optional)(.*) \((\d+) minutes")


def _parts(lab: str) -> tuple[int, ...]:
    line = _LINE.search(" ".join(master_path(lab).read_text(encoding="utf-8").replace("\n# ", " ").split()))
    assert line, f"lab {lab} does not say where its minutes go"
    return tuple(map(int, line.groups()))


def test_the_minutes_of_each_lab_add_up():
    for lab in all_labs():
        total, functions, words, reading = _parts(lab)
        assert course_header(lab)["minutes"] == total == functions + words + reading, lab
        questions = [name for name, _ in lab_as_written(lab).questions]
        counted = {True: 0, False: 0}
        for line in master_path(lab).read_text(encoding="utf-8").splitlines():
            if heading := _HEADING.match(line):
                counted[any(f"`{name}`" in heading[1] for name in questions)] += int(heading[2])
        assert counted == {True: functions, False: words}, lab
