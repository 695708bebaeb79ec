"""Exports have the documented shape, carry the final points, and run no formula in anybody's spreadsheet."""

from __future__ import annotations

import csv
import html
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.course.safe_cells import safe_cell
from autograder.errors import GradingError, UserError
from autograder.exports import export
from autograder.exports.canvas import REMARK
from autograder.gradebook.final_points import TeacherMarks
from autograder.results import QuestionResult, SubmissionResult, TestResult

Make = Callable[..., SubmissionResult]
LAB = "00_warm_up"


def table(path: Path, separator: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=separator))


def list_of(path: Path, *names: str) -> Path:
    """A list of Moodle's with these user names."""
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        csv.writer(file).writerows([["Username", "Email address"], *([name, ""] for name in names)])
    return path


def test_canvas_has_its_columns_and_the_points_possible(tmp_path, spec, make_result):
    made = export("canvas", [make_result("lovelace", 4, 2.5), make_result("bo", 1, 1)], spec, tmp_path)
    rows = table(made.paths[0])
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", LAB, REMARK],
        ["    Points Possible", "", "", "", "", "10", "(read only)"],
        ["lovelace", "", "", "lovelace", "", "6.5", ""],
        ["bo", "", "", "bo", "", "2", ""],
    ]
    assert list(made) == list(made.paths)
    with pytest.raises(UserError, match="which student of Canvas's “ada_77” is"):  # or of Moodle's?
        export("canvas", [make_result("ada_77")], spec, tmp_path)


def test_canvas_keeps_its_own_students_and_its_own_assignment_number(tmp_path, spec, make_result):
    roster = tmp_path / "grades.csv"
    roster.write_text(
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,00_warm_up (991),Final Score\n"
        "    Points Possible,,,,,10,(read only)\n"
        '"Lovelace, Ada",4711,S1,ada@uni.edu,A,,\n"Bohr, Niels",4712,S2,bohr,B,,\n"Curie, Marie",4713,S3,mc,B,3,\n',
        encoding="utf-8",
    )
    results = [make_result("lovelaceada_4711", 4, 2.5), make_result("bohr", 0, 1), make_result("stranger")]
    made = export("canvas", results, spec, tmp_path, roster=roster)
    assert table(made.paths[0])[1:] == [
        ["    Points Possible", "", "", "", "", "10", "(read only)"],
        ["Lovelace, Ada", "4711", "S1", "ada@uni.edu", "A", "6.5", ""],
        ["Bohr, Niels", "4712", "S2", "bohr", "B", "1", ""],
    ], "a student without a result keeps the grade Canvas has"
    assert table(made.paths[0])[0][-2] == "00_warm_up (991)"
    assert made.notes == (
        "Not found on the list, and so not in canvas-00_warm_up.csv: stranger.",
        "On the list, but no result here is theirs: Curie, Marie.",
    )
    roster.write_text(roster.read_text().replace("00_warm_up (991)", "Homework 1 (991)"))
    assert "will offer to make" in export("canvas", results, spec, tmp_path, roster=roster).notes[-1]


def test_what_people_entered_is_in_the_exported_points(tmp_path, spec, make_result):
    marks = {
        "ada": TeacherMarks(
            scores={"test_softmax": 5.0, "why_softmax": 4.5},
            comments={"why_softmax": "So <b>it</b> is."},
            extra_credit={"test_one_hot": 0.5},
            late_penalty=2.0,
        )
    }
    words = ("why_softmax: 4.5 of 5", "Your teacher on why_softmax: So <b>it</b> is.", "takes off 2 points")
    ada = list_of(tmp_path / "list.csv", "ada")
    [moodle] = export("moodle", [make_result("ada", 4, 1)], spec, tmp_path, marks=marks, roster=ada)
    [gradescope] = export("gradescope", [make_result("ada", 4, 1)], spec, tmp_path, marks=marks)
    output = json.loads(gradescope.read_text())["output"]
    for line in words:
        assert html.escape(line) in table(moodle)[1][-2] and line in output
    made = export("canvas", [make_result("ada", 4, 1), make_result("bo", 4, 1)], spec, tmp_path, marks=marks)
    rows = table(made.paths[0])
    assert [row[-2] for row in rows[1:]] == ["15", "12", "5"]
    assert rows[3][-1] == "" and rows[2][-1] == "", "a grade that is final lacks nothing"


def test_moodles_import_needs_a_list(tmp_path, spec, make_result):
    wrong = QuestionResult("softmax", 2.5, 6, misconception="<script>alert(1)</script>")
    results = [make_result("ada@uni.edu", questions=(QuestionResult("one_hot", 4, 4), wrong))]
    listed = tmp_path / "list.csv"
    listed.write_text("Email address\nada@uni.edu\n")
    made = export("moodle", results, spec, tmp_path, roster=listed)
    header, row = table(made.paths[0])
    assert header[:5] == ["Username", "ID number", "Email address", LAB, f"{LAB} feedback"]
    assert row[:4] == ["", "", "ada@uni.edu", "6.5"] and "softmax: 2.5 of 6" in row[4]
    assert "&lt;script&gt;" in row[4] and "<script>" not in row[4]
    assert any("are of 10 points" in note for note in made.notes)
    with pytest.raises(UserError, match="Only a list can say whom Moodle means"):
        export("moodle", results, spec, tmp_path)


def test_gradescope_results_have_the_documented_fields(tmp_path, spec, make_result):
    tests = (TestResult("Each row sums to one.", False, "Row 2 sums to 1.7."), TestResult("Is finite.", True))
    wrong = QuestionResult(
        "softmax", 2, 6, tests, "softmax over queries", "Use the last axis.", "ValueError: no"
    )
    result = make_result(
        "ada", questions=(QuestionResult("one_hot", 4, 4), wrong), notes=("Cell 3 was put back.",)
    )
    made = export("gradescope", [result], spec, tmp_path)
    assert made.paths[0] == tmp_path / "gradescope/ada/results.json"
    content = json.loads(made.paths[0].read_text(encoding="utf-8"))
    assert content["score"] == 6.0 and content["execution_time"] == 0.08
    assert content["stdout_visibility"] == "hidden" and content["visibility"] == "visible"
    assert "Cell 3 was put back." in content["output"]
    assert "leaderboard" not in content
    first, second = content["tests"]
    assert first["status"] == "passed" and (first["score"], first["max_score"]) == (4, 4)
    assert (second["name"], second["number"], second["status"]) == ("softmax", "2", "failed")
    for words in (
        "✗ not yet: Each row sums to one.",
        "Row 2 sums to 1.7.",
        "softmax over queries",
        "ValueError",
    ):
        assert words in second["output"]
    assert content["score"] == sum(test["score"] for test in content["tests"])


def test_github_scores_add_up_to_the_final_points(tmp_path, spec, make_result):
    marks = {"ada": TeacherMarks(scores={"why_softmax": 3.0}, late_penalty=1.0)}
    [path] = export("github", [make_result("ada", 4, 2.5)], spec, tmp_path, marks=marks)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["version"] == 1 and content["status"] == "fail" and content["max_score"] == 15.0
    assert sum(test["score"] for test in content["tests"]) == pytest.approx(8.5)
    assert {"name", "status", "score", "message", "test_code", "filename", "line_no", "duration"} == set(
        content["tests"][0]
    )
    assert [test["status"] for test in content["tests"]] == ["pass", "fail", "pass"]
    [path] = export("github", [make_result("bo", status="missing", questions=())], spec, tmp_path)
    assert json.loads(path.read_text())["status"] == "error", "nothing could run"


@pytest.mark.parametrize("form", ["canvas", "moodle", "moodle-worksheet", "gradescope", "github"])
def test_no_hostile_name_becomes_a_formula_or_leaves_the_folder(tmp_path, spec, make_result, form):
    names = [
        "=cmd|'/C calc'!A0",
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        " =1_9",
        "../../x",
        'a"b,c\nd',
        "\udcff",
        "＝1",
    ]
    (tmp_path / "out").mkdir()
    roster = None
    if form.startswith("moodle"):
        names = [
            name for name in names if name not in ("\udcff", "\t=1", " =1_9")
        ]  # no CSV holds these as they are
        roster = list_of(tmp_path / "out" / "list.txt", *names)
        if form == "moodle-worksheet":
            header, *rows = roster.read_text().splitlines()
            roster.write_text(
                "\n".join([f"{header},Identifier,Grade,Maximum grade", *(f"{row},,,10" for row in rows)])
            )
    elif form == "canvas":
        names.remove(" =1_9")
    made = export(form, [make_result(name) for name in names], spec, tmp_path / "out", roster=roster)
    for path in made.paths:
        assert path.resolve().is_relative_to(tmp_path / "out")
        if path.suffix == ".csv":
            for row in table(path):
                assert not any(
                    cell.lstrip()[:1] in ("=", "+", "-", "@", "＝") and cell != "-" for cell in row
                )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize("form", ["canvas", "moodle"])
def test_words_by_which_people_are_found_stay_where_no_spreadsheet_could_run_them(
    tmp_path, spec, make_result, course_at, form
):
    header = "student,username,ID number,email\n"
    course_at("", f"{header}ben,-ben,-17-3,+ben@u.edu\nemma,@emma,@S2,e@u.edu\nzoe,=SUM(A1),S3,=z|x\n")
    made = export(form, [make_result(name) for name in ("ben", "emma", "zoe")], spec, tmp_path)
    cells = {cell for row in table(made.paths[0]) for cell in row}
    assert {"-ben", "-17-3", "@emma", "@S2"} <= cells and "'=SUM(A1)" in cells and "=SUM(A1)" not in cells
    assert ("+ben@u.edu" in cells) == (form == "moodle")
    [kept] = [note for note in made.notes if "save it with no spreadsheet before" in note]
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


def test_what_a_person_can_get_wrong_is_a_sentence(tmp_path, spec, make_result):
    with pytest.raises(GradingError, match="no export format “word”: choose one of canvas"):
        export("word", [], spec, tmp_path)
    with pytest.raises(UserError, match="could not be read"):
        export("canvas", [], spec, tmp_path, roster=tmp_path / "none.csv")
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match=r"no gradebook export of Canvas's.* its columns are “a”, “b”"):
        export("canvas", [], spec, tmp_path, roster=tmp_path / "odd.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a CSV file"):
        export("canvas", [], spec, tmp_path, roster=tmp_path / "binary.csv")
