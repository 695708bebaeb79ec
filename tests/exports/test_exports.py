"""Exports carry the final points to the right row of the system's list, and run no formula in anybody's spreadsheet."""

from __future__ import annotations

import csv
import html
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.safe_cells import safe_cell
from autograder.errors import UserError
from autograder.exports import Exported, export
from autograder.exports.canvas import REMARK
from autograder.gradebook.final_points import TeacherMarks
from autograder.results import NOT_GRADED_AGAIN, QuestionResult, TestResult

LAB = "00_warm_up"
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{LAB} (9)"]
WORKSHEET = ["Identifier", "Full name", "Grade", "Maximum grade"]
ADA = ["Lovelace, Ada", "4711", "S1", "ada@uni.edu", "A", ""]


def table(path: Path, separator: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def put(path: Path, rows: list[list[str]], separator: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    return path


@pytest.fixture
def exported(tmp_path, spec, make_result) -> Callable[..., Exported]:
    """``exported(format, students, rows)``: the export of students, or results, with a list of these rows."""

    def made(form, students, rows=None, separator=",", lab=spec, **more):
        roster = put(tmp_path / "list.csv", rows, separator) if rows else None
        results = [make_result(one) if isinstance(one, str) else one for one in students]
        return export(form, results, lab, tmp_path / "out", roster=roster, **more)

    return made


def test_canvas_finds_by_login_whom_the_folders_name_and_the_class_list_says_who_is_missing(
    exported, make_result, course_at
):
    rows = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", LAB, REMARK],
        ["    Points Possible", "", "", "", "", "10", "(read only)"],
        ["lovelace", "", "", "lovelace", "", "6.5", ""],
    ]
    assert table(exported("canvas", [make_result("lovelace", 4, 2.5)]).paths[0]) == rows
    course_at("", "student,username\nada,ada\nzed,zed\n")
    for form in ("canvas", "moodle"):
        made = exported(form, ["ada"])
        assert "On the list, but without a result here: zed." in made.notes


def test_canvas_keeps_its_own_students_its_number_and_what_it_has_for_others(exported, make_result):
    rows = [
        ["\ufeffStudent", *CANVAS[1:]],
        ["", "", "", "", "", "Manual Posting"],
        ["    Points Possible", "", "", "", "", "20,0"],
        ADA,
        ["Bohr, Niels", "4712", "S2", "bohr", "B", ""],
        ["Curie, Marie", "4713", "S3", "mc", "B", "3"],
        ["Points Possible, Ada", "1", "S4", "pp", "A", "3"],
        ["Student, Test", "10", "", "cafe", "A", ""],
    ]
    results = [make_result("lovelaceada_4711", 4, 2.25), "bohr", "strange", "pp"]
    made = exported("canvas", results, rows, ";")
    header, *written = table(made.paths[0], ";")
    assert header == [*CANVAS, REMARK]
    assert [row[:6] for row in written] == [
        ["    Points Possible", "", "", "", "", "20"],
        [*ADA[:5], "12,5"],
        ["Bohr, Niels", "4712", "S2", "bohr", "B", "20"],
        # Canvas takes the other spelling for its own row
        ["Points possible, Ada", "1", "S4", "pp", "A", "20"],
    ]
    said = " ".join(made.notes)
    assert "and so not in canvas-00_warm_up.csv: strange." in said and "every grade is scaled" in said
    assert "without a result here: Curie, Marie." in said and "small p: Points Possible, Ada." in said
    rows[0][5] = "Homework 1 (991)"
    made = exported("canvas", results, rows, ";")
    assert "will offer to make" in " ".join(made.notes)


@pytest.mark.parametrize("cell", ["0", "1,000.00", "1.000", "", "1e999", None])
def test_points_possible_that_nothing_can_be_scaled_to_stay_what_canvas_has(exported, make_result, cell):
    possible = [] if cell is None else [["    Points Possible", "", "", "", "", cell]]
    made = exported("canvas", [make_result("ada@uni.edu", 4, 2.5)], [CANVAS, *possible, ADA])
    assert [row[5] for row in table(made.paths[0])[1:]] == ["", "6.5"]
    [note] = made.notes
    assert "they are of 10 points, and Canvas keeps its own maximum" in note
    assert (f"“{cell}”" if cell else "does not say") in note


def test_moodles_import_finds_by_its_own_words_and_never_by_a_participants_number(exported, make_result):
    """With ID numbers that overlap the participants' all rows would be another's."""
    header = ["First name", "Last name", "ID number", "Email address"]
    rows = [header, ["Niels", "Bohr", "77", "n@u"], ["Ada", "Lovelace", "78", "a@u"]]
    wrong = QuestionResult("softmax", 2.5, 6, misconception="<script>alert(1)</script>")
    ada = make_result("a@u", questions=(QuestionResult("one_hot", 4, 4), wrong))
    made = exported("moodle", ["Ada Lovelace_77", ada], rows)
    columns, row = table(made.paths[0])
    assert columns[:5] == ["Username", "ID number", "Email address", LAB, f"{LAB} feedback"]
    assert row[:4] == ["", "78", "a@u", "6.5"] and "softmax: 2.5 of 6" in row[4]
    assert "&lt;script&gt;" in row[4] and "<script>" not in row[4]
    said = " ".join(made.notes)
    assert "Not found on the list, and so not in moodle-00_warm_up.csv: Ada Lovelace_77." in said
    assert "are of 10 points" in said and "without a result here: Niels Bohr." in said


@pytest.mark.parametrize("typed", ["1,5", "x" * 200_000])
def test_a_worksheets_rows_are_found_by_number_and_name_and_above_the_maximum_is_the_maximum(
    exported, make_result, typed
):
    rows = [
        [*WORKSHEET, "Groups", "Online text"],
        ["Participant 77", "Ada L", "", "15.00", "1,2", ""],
        ["Participant 78", "", "", "15.00", "1,2", typed],  # what one student typed changes nobody's numbers
        ["Participant 79", "Zed Z", "7", "15.00", "1,2", ""],
    ]
    marks = {
        "Ada L_77": TeacherMarks(scores={"why_softmax": 5}, extra_credit={"test_softmax": 3}),
        "Participant_78": TeacherMarks(scores={"why_softmax": 0}),
    }
    results = ["Ada L_77", make_result("Participant_78", 4, 2.5)]
    made = exported("moodle-worksheet", results, rows, marks=marks)
    csv.field_size_limit(1 << 30)
    assert [row[2] for row in table(made.paths[0])[1:]] == ["15", "6.5"]
    assert any("above the maximum: Ada L_77 was given the maximum" in note for note in made.notes)
    assert "On the list, but without a result here: Zed Z." in made.notes


def test_moodle_reads_each_page_of_feedback_as_its_own_participants(exported):
    rows = [["Participant 12", "Ada_Ann O'Hara", "", "10"], ["Participant 34", "Bo Diaz", "", "10"]]
    made = exported("moodle-feedback", ["Ada_Ann O'Hara_12", "Bo Diaz_34"], [WORKSHEET, *rows])
    with zipfile.ZipFile(made.paths[0]) as archive:
        names = archive.namelist()
        read = {tuple(name.split("_", 4)[1:]): archive.read(name).decode() for name in names}
    assert [name.split("_")[0] for name in names] == ["Ada Ann O Hara", "Bo Diaz"]
    of = ("assignfeedback", "file", f"{LAB}.html")
    assert set(read) == {("12", *of), ("34", *of)}
    assert "Bo Diaz_34" in read["34", *of] and "Bo Diaz_34" not in read["12", *of]


OTHERS = [WORKSHEET, ["Participant 77", "Niels Bohr", "", "10"], ["Participant 78", "Ada Lovelace", "", "10"]]
#: Format, rows of the list -> whose results, words of the sentence. Two rows of Canvas's are told apart by login alone.
REFUSED: list[tuple[str, list[list[str]] | None, list[str], str]] = [
    *(
        (form, rows, ["Ada Lovelace_77", "Niels Bohr_78"], words)
        for form in ("moodle-worksheet", "moodle-feedback")
        for rows, words in (
            (OTHERS, r"Row 2 .*“Niels Bohr”.* submission of “Ada Lovelace_77”.* Nothing was written"),
            (None, "numbers are the assignment's own"),
        )
    ),
    ("moodle-worksheet", [["Identifier", "Grade"], ["Participant 77", ""]], ["Ada_77"], "“nameless”"),
    ("moodle", None, ["ada"], "Only a list identifies Moodle's students"),
    ("canvas", [CANVAS, ADA], ["bohrniels_4711"], r"“Lovelace, Ada”.* submission of “bohrniels_4711”"),
    ("canvas", [CANVAS, ADA, ["Bohr, Niels", "12", "", "di", "B", ""]], ["di"], r"Row 2 .*“Lovelace, Ada”.* submission of “di”"),
    ("canvas", None, ["ada_77"], "which student of Canvas's “ada_77” is"),
    ("canvas", [["a", "b"], ["1", "2"]], [], r"no gradebook export of Canvas's.* its columns are “a”, “b”"),
    *(
        ("canvas", [[*CANVAS, f"{other} (222)"], [*ADA, ""]], ["ada@uni.edu"], rf"for the lab, “{LAB} \(9\)” and .*222")
        for other in (LAB, "Warm up")
    ),
    *(
        (form, [header, ["Somebody", "else"]], ["ada"], r"None of the 1 students .* looked for ada .* “Somebody”, “else”")
        for form, header in {
            "canvas": ["Student", "ID"], "moodle": ["Full name", "Email address"], "moodle-worksheet": ["ID", "Bewertung"],
        }.items()
    ),
    ("word", None, [], "no export format “word”: choose one of canvas"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "rows", "students", "words"), REFUSED)
def test_where_a_row_may_be_another_persons_nothing_is_written(
    tmp_path, spec, exported, course_at, form, rows, students, words
):
    course_at("", "student,canvas id\ndi,4711\n" if students == ["di"] else "")
    with pytest.raises(UserError, match=words):
        exported(form, students, rows, lab=replace(spec, title="Warm up"))
    assert not (tmp_path / "out").exists()


def test_a_lab_without_points_and_a_list_that_cannot_be_read_are_refused(tmp_path, spec, exported):
    rows = [WORKSHEET, ["Participant 77", "Ada L", "", "10.00"]]
    none = replace(spec, questions=tuple((name, 0.0) for name, _ in spec.questions), written=())
    with pytest.raises(UserError, match="has no points"):
        exported("moodle-worksheet", ["Ada L_77"], rows, lab=none)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a CSV file"):
        export("canvas", [], spec, tmp_path, roster=tmp_path / "binary.csv")


def test_what_people_entered_is_in_the_exported_points(exported, make_result):
    marks = {
        "ada": TeacherMarks(
            scores={"test_softmax": 5.0, "why_softmax": 4.5},
            comments={"why_softmax": "So <b>it</b> is."},
            extra_credit={"test_one_hot": 0.5},
            late_penalty=2.0,
        )
    }
    words = ("why_softmax: 4.5 of 5", "Your teacher on why_softmax: So <b>it</b> is.", "takes off 2 points")
    results = [make_result("ada", 4, 1), make_result("bo", 4, 1)]
    listed = [["Username", "Email"], ["ada", ""], ["bo", ""]]
    [moodle] = exported("moodle", results, listed, marks=marks).paths
    gradescope, _ = exported("gradescope", results, marks=marks).paths
    for line in words:
        assert html.escape(line) in table(moodle)[1][-2]
        assert line in json.loads(gradescope.read_text())["output"]
    [canvas] = exported("canvas", results, marks=marks).paths
    assert [row[-2:] for row in table(canvas)[1:]] == [["15", "(read only)"], ["12", ""], ["5", ""]]
    bo = make_result("bo", status="missing", questions=())
    [ada, bo] = exported("github", [results[0], bo], marks=marks).paths
    content = json.loads(ada.read_text(encoding="utf-8"))
    assert content["version"] == 1 and content["status"] == "fail" and content["max_score"] == 15.0
    assert sum(test["score"] for test in content["tests"]) == pytest.approx(12)
    assert [test["status"] for test in content["tests"]] == ["pass", "fail", "pass"]
    fields = {"name", "status", "score", "message", "test_code", "filename", "line_no", "duration"}
    assert set(content["tests"][0]) == fields
    assert json.loads(bo.read_text())["status"] == "error", "nothing could run"


def test_gradescopes_results_have_the_documented_fields(tmp_path, exported, make_result):
    tests = (TestResult("Each row sums to one.", False, "Row 2 sums to 1.7."), TestResult("Is finite.", True))
    wrong = QuestionResult("softmax", 2, 6, tests, "over queries", "Use the last axis.", "ValueError: no")
    questions = (QuestionResult("one_hot", 4, 4), wrong)
    result = make_result("ada", questions=questions, notes=("Cell 3 was put back.",))
    [path] = exported("gradescope", [result]).paths
    assert path == tmp_path / "out/gradescope/ada/results.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["score"] == 6.0 and content["stdout_visibility"] == "hidden"
    assert "Cell 3 was put back." in content["output"]
    first, second = content["tests"]
    assert first["status"] == "passed" and (first["score"], first["max_score"]) == (4, 4)
    assert (second["name"], second["number"], second["status"]) == ("softmax", "2", "failed")
    for words in ("✗ not yet: Each row sums to one.", "Row 2 sums to 1.7.", "over queries", "ValueError"):
        assert words in second["output"]


def test_each_row_says_what_its_grade_lacks(exported, make_result, course_at):
    course_at("[labs.00]\ndue = 2026-03-01\ncloses = 2026-03-05\n[extensions]\ndi = 3\n")
    marks = {
        "ada": TeacherMarks(waiting=("why_softmax",)),
        "bo": TeacherMarks(scores={"why_softmax": 1.0}),
        "cy": TeacherMarks(scores={"why_softmax": 1.0}, seconds_late=30 * 86_400, late_penalty=11),
    }
    nothing = make_result("di", status="missing", notebook="", questions=(), score=0.0)
    earlier = make_result("ed", notes=(f"{NOT_GRADED_AGAIN}, in an older version's words.",))
    undated = replace(make_result("bo"), submitted_at="")
    made = exported("canvas", ["ada", undated, "cy", nothing, earlier], marks=marks)
    lacks = {row[0]: row[-1] for row in table(made.paths[0])[2:]}
    assert lacks["ada"] == "not final: why_softmax not read yet (up to 5 points)"
    assert lacks["bo"] == "lateness not counted: nobody knows when it came in"
    assert lacks["cy"] == "no points: handed in after the lab had closed"
    assert lacks["di"] == "nothing handed in: the extension ends on 2026-03-04 at 23:59"
    assert "points from an earlier run" in lacks["ed"]
    header = ["Identifier", "Username", "Grade", "Maximum grade", "Feedback comments"]
    for form in ("gradescope", "github", "moodle-worksheet"):
        [path] = exported(form, ["ada"], [header, ["Participant 1", "ada", "", "15", ""]], marks=marks).paths
        assert "ot final: why_softmax not read yet" in path.read_text(), form


HOSTILE = ["=cmd|'/C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "../../x", 'a"b,c\nd', "＝1"]


@pytest.mark.parametrize("form", ["canvas", "moodle", "moodle-worksheet", "gradescope"])
def test_no_hostile_name_becomes_a_formula_or_leaves_the_folder(tmp_path, exported, form):
    rows, names = None, [*HOSTILE, "\udcff", "\t=1"]
    if form.startswith("moodle"):
        names = HOSTILE  # no CSV holds the others as they are
        rows = [["Username", "Email address", "Identifier", "Grade", "Maximum grade"]]
        rows += [[name, "", "", "", "10"] for name in names]
    made = exported(form, names, rows)
    for path in made.paths:
        assert path.resolve().is_relative_to(tmp_path / "out")
        for row in table(path) if path.suffix == ".csv" else ():
            assert not any(cell.lstrip()[:1] in ("=", "+", "-", "@", "＝") and cell != "-" for cell in row)
    assert {path.name for path in tmp_path.iterdir()} <= {"out", "list.csv"}


@pytest.mark.parametrize("form", ["canvas", "moodle"])
def test_words_by_which_people_are_found_stay_where_no_spreadsheet_could_run_them(exported, course_at, form):
    header = "student,username,ID number,email\n"
    course_at("", f"{header}ben,-ben,-17-3,+ben@u.edu\nemma,@emma,@S2,e@u.edu\nzoe,=SUM(A1),S3,=z|x\n")
    made = exported(form, ["ben", "emma", "zoe"])
    cells = {cell for row in table(made.paths[0]) for cell in row}
    assert {"-ben", "-17-3", "@emma", "@S2", "'=SUM(A1)"} <= cells and "=SUM(A1)" not in cells
    assert ("+ben@u.edu" in cells) == (form == "moodle")
    [kept] = [note for note in made.notes if "without saving it in a spreadsheet first" in note]
    assert all(word in kept for word in ("-ben", "-17-3", "@emma", "@S2")) and "=SUM" not in kept
    [lost] = [note for note in made.notes if "will find nobody by =SUM(A1)" in note]
    assert "-ben" not in lost and ("=z|x" in lost) == (form == "moodle")


@given(st.text())
def test_a_safe_cell_never_starts_a_formula_and_numbers_stay_numbers(text):
    cell = safe_cell(text)
    assert cell.lstrip("\ufeff \t\r\n")[:1] not in ("=", "+", "@", "＝") or cell.startswith("'")
    cell.encode("utf-8")
    for separator in (",", ";", "\t", ';"', "; "):  # wherever a country separates cells
        assert safe_cell(f"Ada{separator}=HYPERLINK(A1)") == f"Ada{separator}'=HYPERLINK(A1)"
    assert safe_cell("-1.5") == "-1.5"
