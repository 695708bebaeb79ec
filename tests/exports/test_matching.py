"""Nobody gets another's grade: numbers and names must agree, in every language, or nothing is written."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.errors import UserError
from autograder.exports import export
from autograder.exports.canvas import REMARK
from autograder.gradebook.final_points import TeacherMarks
from autograder.results import EARLIER_NOTE, SubmissionResult
from tests.exports.test_exports import LAB, table

Make = Callable[..., SubmissionResult]


def put(path: Path, rows: list[list[str]], separator: str = ",", encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    return path


@pytest.mark.parametrize("typed", ["1,5", "x" * 200_000])
def test_what_one_student_typed_changes_nobodys_numbers(tmp_path, spec, make_result, typed):
    rows = [
        ["Identifier", "Full name", "Groups", "Grade", "Maximum grade", "Online text"],
        ["Participant 77", "Ada L", "1,2", "", "10.00", ""],
        ["Participant 78", "Bo B", "1,2", "", "10.00", typed],
    ]
    results = [make_result("Ada L_77", 4, 2.5), make_result("Bo B_78", 4, 2.5)]
    made = export("moodle-worksheet", results, spec, tmp_path, roster=put(tmp_path / "w.csv", rows))
    csv.field_size_limit(1 << 30)
    assert [row[3] for row in table(made.paths[0])[1:]] == ["6.5", "6.5"]


@pytest.mark.parametrize("form", ["moodle-worksheet", "moodle-feedback"])
def test_a_worksheet_whose_numbers_are_other_peoples_is_refused_and_nothing_is_written(
    tmp_path, spec, make_result, form
):
    rows = [
        ["Identifier", "Full name", "Grade"],
        ["Participant 77", "Niels Bohr", ""],
        ["Participant 78", "Ada Lovelace", ""],
    ]
    sheet = put(tmp_path / "w.csv", rows)
    results = [make_result("Ada Lovelace_77"), make_result("Niels Bohr_78")]
    said = r"Row 2 .*“Niels Bohr”.* is of “Ada Lovelace_77”.* nothing was written"
    for roster, words in ((sheet, said), (None, "numbers are the assignment's own")):
        with pytest.raises(UserError, match=words):
            export(form, results, spec, tmp_path, roster=roster)
    assert [path.name for path in tmp_path.iterdir()] == ["w.csv"]


def test_a_participants_number_is_nobodys_id_number_and_a_name_finds_nobody(tmp_path, spec, make_result):
    """With ID numbers that overlap the participants' all rows were another's."""
    rows = [
        ["First name", "Last name", "ID number", "Email address"],
        ["Niels", "Bohr", "77", "n@u"],
        ["Ada", "Lovelace", "78", "a@u"],
    ]
    grades = put(tmp_path / "g.csv", rows)
    results = [make_result("Ada Lovelace_77", 4, 6), make_result("Niels Bohr_78", 0, 0)]
    with pytest.raises(UserError, match="None of the 2 students is on the list"):
        export("moodle", results, spec, tmp_path, roster=grades)
    made = export("moodle", [*results, make_result("a@u", 4, 6)], spec, tmp_path, roster=grades)
    assert [row[:4] for row in table(made.paths[0])[1:]] == [["", "78", "a@u", "10"]]
    assert any("Not found on the list" in note and "Niels Bohr_78" in note for note in made.notes)
    assert any("The grades are of 10 points: let Moodle's grade item" in note for note in made.notes)


@pytest.mark.parametrize("form", ["canvas", "moodle", "moodle-worksheet"])
def test_a_list_on_which_nobody_is_is_an_error_that_says_what_stood_there(tmp_path, spec, make_result, form):
    header = {
        "canvas": ["Student", "ID"],
        "moodle": ["Full name", "Email address"],
        "moodle-worksheet": ["ID", "Bewertung"],
    }
    listed = put(tmp_path / "l.csv", [header[form], ["Somebody", "else"]])
    with pytest.raises(UserError, match=r"None of the 1 students .* looked for ada .* “Somebody”, “else”"):
        export(form, [make_result("ada")], spec, tmp_path, roster=listed)


def test_a_worksheet_without_names_is_matched_by_number_only_for_nameless_folders(
    tmp_path, spec, make_result
):
    sheet = put(tmp_path / "w.csv", [["Identifier", "Grade", "Maximum grade"], ["Participant 77", "", "10"]])
    made = export("moodle-worksheet", [make_result("Participant_77", 4, 6)], spec, tmp_path, roster=sheet)
    assert table(made.paths[0])[1][1] == "10"
    with pytest.raises(UserError, match="“nameless”"):
        export("moodle-worksheet", [make_result("Ada_77")], spec, tmp_path, roster=sheet)


def test_canvass_number_and_name_must_agree_and_its_points_possible_stay(tmp_path, spec, make_result):
    rows = [
        ["Student", "ID", "SIS Login ID", "Section", f"{LAB} (9)"],
        ["    Points Possible", "", "", "", "20,0"],
        ["Lovelace, Ada", "4711", "ada", "A", ""],
    ]
    listed = put(tmp_path / "c.csv", rows, ";")
    made = export("canvas", [make_result("lovelaceada_4711", 4, 2.25)], spec, tmp_path, roster=listed)
    written = table(made.paths[0], ";")
    assert [row[5] for row in written[1:]] == ["20", "12,5"]
    assert any("every grade is scaled" in note for note in made.notes)
    with pytest.raises(UserError, match=r"“Lovelace, Ada”.* is of “bohrniels_4711”"):
        export("canvas", [make_result("bohrniels_4711")], spec, tmp_path, roster=listed)


def test_a_login_and_a_number_that_mean_two_rows_are_refused(tmp_path, spec, make_result, course_at):
    course_at("", "student,canvas id\nada,12\n")
    rows = [["Student", "ID", "SIS Login ID"], ["Lovelace, Ada", "11", "ada"], ["Bohr, Niels", "12", "niels"]]
    with pytest.raises(UserError, match=r"Row 3 .*“Bohr, Niels”.* is of “ada”"):
        export("canvas", [make_result("ada")], spec, tmp_path, roster=put(tmp_path / "c.csv", rows))


def test_each_row_says_what_its_grade_lacks(tmp_path, spec, make_result, course_at):
    course_at("[labs.00]\ndue = 2026-03-01\ncloses = 2026-03-05\n[extensions]\ndi = 3\n")
    undated = dataclasses.replace(make_result("bo"), submitted_at="")
    marks = {
        "ada": TeacherMarks(waiting=("why_softmax",)),
        "bo": TeacherMarks(scores={"why_softmax": 1.0}),
        "cy": TeacherMarks(scores={"why_softmax": 1.0}, seconds_late=30 * 86_400, late_penalty=11),
    }
    nothing = make_result("di", status="missing", notebook="", questions=(), score=0.0)
    earlier = make_result("ed", notes=(EARLIER_NOTE,))
    results = [make_result("ada"), undated, make_result("cy"), nothing, earlier]
    made = export("canvas", results, spec, tmp_path, marks=marks)
    lacks = {row[0]: row[-1] for row in table(made.paths[0])[2:]}
    assert lacks["ada"] == "not final: why_softmax not read yet (up to 5 points)"
    assert lacks["bo"] == "lateness not counted: nobody knows when it came in"
    assert lacks["cy"] == "no points: handed in after the lab had closed"
    assert lacks["di"] == "nothing handed in: the extension ends on 2026-03-04 at 23:59"
    assert "points of an earlier time" in lacks["ed"]
    for form, path in (("gradescope", "results.json"), ("github", "autograding.json")):
        files = {
            p.parent.name: p.read_text()
            for p in export(form, [make_result("ada")], spec, tmp_path, marks=marks)
        }
        assert "ot final: why_softmax not read yet" in files["ada"], path
    listed = put(tmp_path / "l.csv", [["Identifier", "Username", "Grade", "Maximum grade", "Feedback comments"], ["Participant 1", "ada", "", "15", ""]])  # fmt: skip
    [sheet] = export("moodle-worksheet", [make_result("ada")], spec, tmp_path, marks=marks, roster=listed)
    assert "Not final: why_softmax not read yet" in table(sheet)[1][4]


def test_a_grade_above_moodles_maximum_would_be_skipped_so_the_maximum_is_given_and_said(
    tmp_path, spec, make_result
):
    marks = {"ada": TeacherMarks(scores={"why_softmax": 5}, extra_credit={"test_softmax": 3})}
    sheet = put(
        tmp_path / "w.csv",
        [["Identifier", "Username", "Grade", "Maximum grade"], ["Participant 1", "ada", "", "15"]],
    )
    made = export("moodle-worksheet", [make_result("ada")], spec, tmp_path, marks=marks, roster=sheet)
    assert table(made.paths[0])[1][2] == "15"
    assert any("skips a grade above the maximum: ada was given the maximum" in note for note in made.notes)


def test_a_lab_without_points_is_scaled_to_no_maximum(tmp_path, spec, make_result):
    rows = [["Identifier", "Full name", "Grade", "Maximum grade"], ["Participant 77", "Ada L", "", "10.00"]]
    none = dataclasses.replace(spec, questions=tuple((name, 0.0) for name, _ in spec.questions), written=())
    with pytest.raises(UserError, match="has no points"):
        export(
            "moodle-worksheet",
            [make_result("Ada L_77", 4, 2.5)],
            none,
            tmp_path,
            roster=put(tmp_path / "w.csv", rows),
        )


CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{LAB} (9)"]


def test_people_of_the_systems_list_without_a_result_are_named_and_rows_of_the_systems_own_are_no_people(
    tmp_path, spec, make_result
):
    canvas = [
        CANVAS,
        ["", "", "", "", "", "Manual Posting"],
        ["    Points Possible", "", "", "", "", "10"],
        ["Lovelace, Ada", "1", "S1", "ada", "A", ""],
        ["Zed, Zed", "9", "S9", "zed", "A", "7"],
        ["Student, Test", "10", "", "cafe", "A", ""],
    ]
    worksheet = [["Identifier", "Full name", "Grade", "Maximum grade"], ["Participant 1", "Ada", "", "10"], ["Participant 9", "Zed Zed", "7", "10"]]  # fmt: skip
    moodle = [["Username", "Email address"], ["ada", "a@u"], ["zed", "z@u"]]
    for form, rows, student, name in (
        ("canvas", canvas, "ada", "Zed, Zed"),
        ("moodle-worksheet", worksheet, "Ada_1", "Zed Zed"),
        ("moodle-feedback", worksheet, "Ada_1", "Zed Zed"),
        ("moodle", moodle, "ada", "zed"),
    ):
        listed = put(tmp_path / f"{form}.csv", rows)
        made = export(form, [make_result(student)], spec, tmp_path / "out", roster=listed)
        assert f"On the list, but no result here is theirs: {name}." in made.notes, form


def test_people_of_the_class_list_and_of_the_download_without_a_result_are_named(
    tmp_path, spec, make_result, course_at
):
    course_at("", "student,username\nada,ada\nzed,zed\n")
    for form in ("canvas", "moodle"):
        made = export(form, [make_result("ada")], spec, tmp_path)
        assert "On the list, but no result here is theirs: zed." in made.notes
    read = [("ada_1", "ada_1_5_x.ipynb"), ("zed_9", "zed_9_6_x.ipynb")]
    made = export("canvas-feedback", [make_result("ada_1")], spec, tmp_path, download=read)
    assert made.notes == ("In the download, but no result here is theirs: zed_9.",)


def test_two_columns_that_could_be_the_labs_are_refused(tmp_path, spec, make_result):
    for other in (LAB, spec.title):
        rows = [[*CANVAS, f"{other} (222)"], ["Lovelace, Ada", "1", "", "ada", "A", "", ""]]
        with pytest.raises(
            UserError, match=rf"two columns for the lab, “{LAB} \(9\)” and .*222.*: delete the one"
        ):
            export("canvas", [make_result("ada")], spec, tmp_path, roster=put(tmp_path / "c.csv", rows))
    assert [path.name for path in tmp_path.iterdir()] == ["c.csv"]


@pytest.mark.parametrize("cell", ["0", "1,000.00", "1,000", "1.000", "", "-5", "1e999", None])
def test_points_possible_that_nothing_can_be_scaled_to_stay_what_canvas_has(
    tmp_path, spec, make_result, cell
):
    possible = [] if cell is None else [["    Points Possible", "", "", "", "", cell]]
    rows = [CANVAS, *possible, ["Lovelace, Ada", "1", "S1", "ada", "A", ""]]
    listed = put(tmp_path / "c.csv", rows)
    made = export("canvas", [make_result("ada", 4, 2.5)], spec, tmp_path, roster=listed)
    assert [row[5] for row in table(made.paths[0])[1:]] == ["", "6.5"]
    [note] = made.notes
    assert "nothing can be scaled to that: the grades are of 10 points, and Canvas keeps what it has" in note
    assert (f"“{cell}”" if cell else "does not say") in note


def test_a_student_called_points_possible_is_a_student_and_sets_nobodys_points(tmp_path, spec, make_result):
    """Canvas's importer takes every row whose name holds these words for the assignment's own."""
    rows = [
        CANVAS,
        ["Points Possible, Ada", "1", "S1", "ada", "A", "3"],
        ["Points Possible", "2", "S2", "bo", "A", "4"],
        ["    Points Possible", "", "", "", "", "20"],
    ]
    results = [make_result("ada", 4, 2.5), make_result("bo", 1, 1)]
    made = export("canvas", results, spec, tmp_path, roster=put(tmp_path / "c.csv", rows))
    assert table(made.paths[0]) == [
        [*CANVAS, REMARK],
        ["    Points Possible", "", "", "", "", "20", "(read only)"],
        ["Points possible, Ada", "1", "S1", "ada", "A", "13", ""],
        ["Points possible", "2", "S2", "bo", "A", "4", ""],
    ]
    assert any("small p: Points Possible, Ada, Points Possible." in note for note in made.notes)
