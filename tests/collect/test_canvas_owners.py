"""On Canvas a student's name is what they say it is: whatever it is, it makes their file nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.collect import collect
from autograder.collect.canvas_owners import canvas_names
from autograder.course.policy_file import class_list
from tests.collect.test_collect import LAB, submitted, zip_of

#: Eve's number is 5000 and her file's 9001; what she calls herself looks like Ada's name and number.
NAMES = ["lovelaceada_4711", "lovelaceada_4711_99999999_x", "x_4711", "lovelaceada_LATE_4711"]
LISTED = "student,name,canvas id\nada,Ada Lovelace,4711\nbo,Bo Diaz,4712\n"
EVE = "eve,Eve Mallory,5000\n"


def download(tmp_path: Path, name: str, adas: str = f"{LAB}.ipynb", eves: str = f"{LAB}.ipynb") -> Path:
    files: dict[str, str | bytes] = {
        f"lovelaceada_4711_8000_{adas}": "ada",
        f"diazbo_4712_8001_{LAB}.ipynb": "bo",
        f"{name}_5000_9001_{eves}": "eve",
    }
    return zip_of(tmp_path / "d.zip", files)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_two_readings_is_nobodys_and_named(tmp_path, out, course_at, name):
    """Without a class list, where both are on it, and where another file of one reading is the claimed student's."""
    course_at("")
    for adas, eves in ((f"{LAB}.ipynb", "nb.ipynb"), ("hw.ipynb", f"{LAB}.ipynb")):
        done = collect(download(tmp_path, name, adas, eves), out, LAB, kind="canvas")
        assert submitted(out) == {"lovelaceada_4711": "ada", "diazbo_4712": "bo"}
        assert any(f"{name}_5000_9001_{eves} is not collected" in note for note in done.notes)
    for text in (LISTED + EVE, LISTED):
        course_at("", text)
        again = out / str(len(text))
        done = collect(download(tmp_path, name, "hw.ipynb"), again, LAB, kind="canvas")
        assert submitted(again) == {"ada": "ada", "bo": "bo"}
        assert any(f"{name}_5000_9001_" in note and "is not collected" in note for note in done.notes)
        assert not any("not in this download" in note for note in done.notes), "Eve's is, and was refused"


def test_two_doubtful_files_that_claim_one_student_are_both_refused(tmp_path, out, course_at):
    course_at("", LISTED)
    done = collect(download(tmp_path, "lovelaceada_4711", "2026_hw.ipynb"), out, LAB, kind="canvas")
    assert submitted(out) == {"bo": "bo"}
    assert sum("is not collected" in note for note in done.notes) == 2


def test_a_class_list_that_knows_one_of_two_readings_says_whose_it_is(tmp_path, out, course_at):
    course_at("", LISTED + EVE)
    done = collect(download(tmp_path, "malloryeve", "2026_11_hw.ipynb"), out, LAB, kind="canvas")
    assert submitted(out) == {"ada": "ada", "bo": "bo", "eve": "eve"}
    assert any("2026_11_hw.ipynb" in note and "by the class list it is ada's" in note for note in done.notes)


@pytest.mark.parametrize("name", NAMES)
def test_no_page_goes_back_under_a_name_that_canvas_reads_as_a_classmates(tmp_path, course_at, name):
    course_at("", LISTED + EVE)
    names = canvas_names(download(tmp_path, name), LAB, class_list())
    assert [number for _, number, _ in names] == ["4711", "4712"]
