"""Downloads of other systems are read as these name their files, or refused by name: never half read."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.collect import Collected, collect
from autograder.errors import UserError
from tests.collect.test_collect import LAB, submitted, zip_of

FIRST, SECOND = "2026-10-24-17-59-00", "2026-10-25-08-00-00"


def collected(tmp_path: Path, files: dict[str, str], kind: str = "auto") -> tuple[Collected, dict[str, str]]:
    """What ``collect`` says of these files, and student -> content of the notebook."""
    tmp_path.mkdir(exist_ok=True)
    done = collect(zip_of(tmp_path / "all.zip", dict(files)), tmp_path / "submitted", LAB, kind=kind)
    return done, submitted(tmp_path / "submitted")


def attempt(user: str, when: str, file: str = f"{LAB}.ipynb", content: str = "x") -> dict[str, str]:
    """A file of Blackboard's and the receipt of its attempt."""
    start = f"Problem_set 1_{user}_attempt_{when}"
    receipt = f"Name: Some Body ({user})\nAssignment: Problem_set 1\n"
    return {f"{start}.txt": receipt, **({f"{start}_{file}": content} if file else {})}


@pytest.mark.parametrize("around", ["", "gradebook_2026/unpacked/"])
def test_the_last_attempt_of_each_student_on_blackboard_counts(tmp_path, around):
    files = (
        attempt("j_doe", FIRST, content="first")
        | attempt("j_doe", SECOND, "final (2).ipynb", "second")
        | attempt("k_doe", FIRST, content="kim")
        | attempt("li", FIRST, content="li")
    )
    done, notebooks = collected(tmp_path, {around + name: text for name, text in files.items()})
    assert done.kind == "blackboard" and not done.without_time
    assert notebooks == {"j_doe": "second", "k_doe": "kim", "li": "li"}
    assert any("final (2).ipynb, of the last attempt, was taken" in note for note in done.notes)
    time = (tmp_path / "submitted" / "j_doe" / LAB / "timestamp.txt").read_text()
    assert time == "2026-10-25 08:00:00 UTC\n"


def test_blackboards_names_are_read_without_receipts_too(tmp_path):
    files = {
        f"HW_{user}_attempt_{FIRST}_{file}": user
        for user, file in (("ann", f"{LAB}.ipynb"), ("bo", f"x_attempt_{SECOND}_{LAB}.ipynb"))
    }
    assert collected(tmp_path / "1", files)[1] == {"ann": "ann", "bo": "bo"}
    done, notebooks = collected(tmp_path / "2", ALIKE, kind="blackboard")
    assert sorted(notebooks) == ["0_2_ann0", "1_2_ann1", "2_2_ann2"] and done.why == "as you said"


def test_an_attempt_without_notebook_is_said_and_has_a_row(tmp_path):
    files = (
        attempt("ann", FIRST, content="first")
        | attempt("ann", SECOND, "report.pdf")
        | attempt("bo", FIRST, file="")
        | attempt("cy", FIRST)
    )
    done, notebooks = collected(tmp_path, files)
    assert notebooks == {"ann": "first", "cy": "x"} and (tmp_path / "submitted" / "bo" / LAB).is_dir()
    assert f"ann: the last attempt holds no notebook of {LAB}, so an earlier one counts." in done.notes
    assert f"bo handed in no notebook of {LAB}." in done.notes


ILIAS = {
    f"Exercise/Submissions/van_der_Berg_Jan_jberg_4711/20261024175900_{LAB}.ipynb": "first",
    f"Exercise/Submissions/van_der_Berg_Jan_jberg_4711/20261025080000_{LAB}.ipynb": "second",
    f"Exercise/Submissions/Roth_Eva_eroth_4712/20261024120000_{LAB}.ipynb": "eva",
    "Exercise/Submissions/Roth_Eva_eroth_4712/20261024120001_notes.txt": "",
    "Exercise/status.xlsx": "",
}


def test_each_student_of_ilias_is_one(tmp_path, course_at):
    alike = {
        f"L/Abgaben/Roth_Eva_e_roth_1/20261024120000_{LAB}.ipynb": "eva",
        f"L/Abgaben/Roth_Max_m_roth_2/20261024120000_{LAB}.ipynb": "max",
    }
    assert collected(tmp_path / "alike", alike)[1] == {"Roth_Eva_e_roth_1": "eva", "Roth_Max_m_roth_2": "max"}
    course_at('timezone = "Europe/Berlin"\n')
    done, notebooks = collected(tmp_path, ILIAS)
    assert done.kind == "ilias" and notebooks == {"jberg": "second", "eroth": "eva"}
    time = (tmp_path / "submitted" / "jberg" / LAB / "timestamp.txt").read_text()
    assert time == "2026-10-25 07:00:00 UTC\n"
    assert any("ILIAS's names" in note and "Europe/Berlin" in note for note in done.notes)


ALIKE = {f"HW_{number}_2_ann{number}_attempt_{FIRST}_{LAB}.ipynb": "x" for number in range(3)}
REFUSED = [
    ("several assignments, Another/Submissions and Exercise/Submissions", [*ILIAS, *(name.replace("Exercise", "Another") for name in ILIAS)]),
    ("a download of Brightspace, which is not read: put each student's", ["123-456 - Ann Lee - Oct 24, 2026 559 PM/x.ipynb", "124-456 - Bo Li - Oct 4, 2026 1159 AM/x.ipynb"]),
    ("a download of Brightspace", ["123-456 - Ann Lee- Oct 24, 2026 5.59 PM - x.ipynb"]),
    ("a download of Gradescope", ["assignment_1_export/submission_11/x.ipynb", "assignment_1_export/submission_12/x.ipynb"]),
    ("a download of Microsoft Teams", ["Student work/Ann Lee/HW/Version 1/x.ipynb", "Student work/Bo Li/HW/Version 2/x.ipynb"]),
    ("are Blackboard’s and Canvas’s alike: say which system made it with --kind", ALIKE),
    ("2 of 3 files are named as Blackboard does, and the others are not", [*attempt("ann", FIRST), *attempt("bo", FIRST), "somebody.ipynb"]),
]  # fmt: skip


@pytest.mark.parametrize(("said", "files"), REFUSED)
def test_a_download_that_is_not_read_or_not_certain_is_refused(tmp_path, said, files):
    with pytest.raises(UserError, match=said):
        collected(tmp_path, dict.fromkeys(files, "x"))
    assert not (tmp_path / "submitted").exists()


def test_one_students_files_do_not_make_a_download_another_systems(tmp_path):
    files = {f"eve_1_{n}_x_attempt_{FIRST}_{n}.ipynb": "x" for n in range(100, 110)}
    files |= {f"ann_2_20_{LAB}.ipynb": "ann", f"bo_3_30_{LAB}.ipynb": "bo"}
    done, notebooks = collected(tmp_path, files)
    assert done.kind == "canvas" and sorted(notebooks) == ["ann_2", "bo_3", "eve_1"]
