"""The gradebook holds what nbgrader would hold, and nbgrader itself reads it back."""

import copy
import dataclasses
import datetime
import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearSolutions, ComputeChecksums, SaveAutoGrades, SaveCells

from autograder.course.lab import LabSpec
from autograder.errors import GradingError
from autograder.gradebook.final_points import TeacherMarks
from autograder.gradebook.writer import GradebookWriter, marks_of
from autograder.results import SubmissionResult
from tests.gradebook.by_hand import dump, enter

LAB = "00_warm_up"
Make = Callable[..., SubmissionResult]


def grades(path: Path, student: str) -> dict[str, dict[str, Any]]:
    """What nbgrader reads for a student: grade_id -> its Grade as a dictionary, with the comment."""
    with Gradebook(f"sqlite:///{path}") as book:
        notebook = book.find_submission_notebook(LAB, LAB, student)
        found = {grade.name: {**grade.to_dict(), "score": grade.score} for grade in notebook.grades}
        for comment in notebook.comments:
            found.setdefault(comment.name, {})["comment"] = comment.comment
        return found


def grade_with_nbgrader(path: Path, spec: LabSpec, result: SubmissionResult) -> None:
    """Put a submission into a gradebook with nbgrader's own preprocessors, outputs standing for scores."""
    url = f"sqlite:///{path}"
    resources = {"nbgrader": {"notebook": LAB, "assignment": LAB, "student": result.student, "db_url": url}}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    master = nbformat.v4.new_notebook(metadata={"kernelspec": kernel}, cells=copy.deepcopy(list(spec.cells)))
    with Gradebook(url) as book:
        book.add_assignment(LAB)
    for step in (ClearSolutions(), ComputeChecksums(), SaveCells()):
        master, resources = step.preprocess(master, resources)
    with Gradebook(url) as book:
        book.add_student(result.student)
        book.update_or_create_submission(LAB, result.student, timestamp=result.submitted_at)
    submitted = nbformat.reads(result.notebook, as_version=4)
    points = {f"test_{question.name}": question.points for question in result.questions}
    for cell in submitted.cells:
        grade_id = cell.metadata.nbgrader["grade_id"]
        if grade_id in points:
            data = {"text/plain": str(points[grade_id])}
            cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
    SaveAutoGrades().preprocess(submitted, resources)


@pytest.fixture(autouse=True)
def programs_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """nbgrader starts the ``alembic`` program, which lies beside this Python."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "gradebook.db"


@pytest.mark.filterwarnings("ignore:Object of type")
def test_the_rows_are_those_that_nbgrader_itself_writes(
    tmp_path: Path, spec: LabSpec, make_result: Make, submit: Callable[..., str]
) -> None:
    half_done = submit(spec, {"one_hot": "def one_hot(x): ..."})
    for name, result in {
        "answered": make_result("ada", 4, 2.5),
        "half": make_result("bo", 4, 0, notebook=half_done),
    }.items():
        ours, theirs = tmp_path / f"ours-{name}.db", tmp_path / f"theirs-{name}.db"
        with GradebookWriter(ours, spec) as writer:
            writer.write(result)
        grade_with_nbgrader(theirs, spec, result)
        assert dump(ours) == dump(theirs)
        with Gradebook(f"sqlite:///{ours}") as nbgrader:
            submission = nbgrader.find_submission(LAB, result.student)
            assert (submission.score, submission.max_score) == (result.score, 15.0)
            assert submission.needs_manual_grade == (name == "answered")
        if name == "half":
            assert ("bo", "why_softmax", "No response.", None) in dump(ours)["comment"]


def test_grading_twice_changes_nothing_and_a_regrade_nothing_that_people_entered(
    book: Path, spec: LabSpec, make_result: Make
) -> None:
    with GradebookWriter(book, spec) as writer:
        writer.write(make_result("ada", 4, 2))
        before = dump(book)
        writer.write(make_result("ada", 4, 2))
    assert dump(book) == before
    enter(book, LAB, "ada", "why_softmax", "Nicely put.", manual_score=4.5)
    enter(book, LAB, "ada", "test_softmax", manual_score=5.0, extra_credit=0.5)
    with Gradebook(f"sqlite:///{book}") as nbgrader:
        nbgrader.find_submission_notebook(LAB, LAB, "ada").late_submission_penalty = 1.5
        nbgrader.grant_extension(LAB, "ada", days=1)
        nbgrader.db.commit()
    with GradebookWriter(book, spec) as writer:
        writer.write(make_result("ada", 0, 6))
        writer.write(make_result("bo", status="missing", questions=(), notebook="", submitted_at=""))
        marks = writer.all_marks()
    scores = {
        name: (grade.get("auto_score"), grade.get("score")) for name, grade in grades(book, "ada").items()
    }
    assert scores["test_softmax"] == (6.0, 5.5), "the person's mark wins over the automatic one"
    assert (scores["test_one_hot"], scores["why_softmax"]) == ((0.0, 0.0), (None, 4.5))
    assert marks_of(marks, "ada") == TeacherMarks(
        scores={"why_softmax": 4.5, "test_softmax": 5.0},
        comments={"why_softmax": "Nicely put."},
        extra_credit={"test_softmax": 0.5},
        waiting=("test_softmax", "why_softmax"),  # a person looks again when the cell was graded again
        late_penalty=1.5,
    )
    nothing = marks_of(marks, "bo")
    assert {*nothing.automatic.values()} == {0.0} and nothing.waiting == ()
    with Gradebook(f"sqlite:///{book}") as nbgrader:
        assert nbgrader.find_submission(LAB, "ada").extension == datetime.timedelta(days=1)


def test_a_failure_halfway_leaves_nothing_of_the_submission(
    book: Path, spec: LabSpec, make_result: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with GradebookWriter(book, spec) as writer:
        writer.write(make_result("ada", 1, 1))
        before = dump(book)

        def breaks(*_: Any) -> None:
            raise RuntimeError("power cut")

        monkeypatch.setattr(writer, "_marks", breaks)
        for student in ("ada", "bo"):
            with pytest.raises(RuntimeError):
                writer.write(make_result(student, 4, 6))
    assert dump(book) == before


def test_a_question_that_comes_later_has_its_rows_and_one_that_goes_stays_where_a_person_marked_it(
    book: Path, spec: LabSpec, make_spec: Callable[..., LabSpec], make_result: Make
) -> None:
    smaller = make_spec((("one_hot", 4.0),), (("why_softmax", 5.0),))
    with GradebookWriter(book, smaller) as writer:
        writer.write(make_result("ada"))
    with GradebookWriter(book, spec):
        pass
    assert grades(book, "ada")["test_softmax"]["auto_score"] is None
    enter(book, LAB, "ada", "test_softmax", manual_score=1.0)
    with pytest.raises(GradingError, match="test_softmax is no longer in lab"):
        GradebookWriter(book, smaller)
    enter(book, LAB, "ada", "test_softmax", manual_score=None)
    with GradebookWriter(book, smaller):
        pass
    assert set(grades(book, "ada")) == {"test_one_hot", "one_hot", "why_softmax"}


def test_a_locked_gradebook_is_a_sentence(book: Path, spec: LabSpec, make_result: Make) -> None:
    with GradebookWriter(book, spec, busy_seconds=0.1) as writer:
        other = sqlite3.connect(book)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(GradingError, match="in use by another program"):
            writer.write(make_result("ada"))
        other.rollback()
        other.close()
        writer.write(make_result("ada"))
    assert grades(book, "ada")["test_one_hot"]["score"] == 4.0


def test_what_cannot_be_written_or_is_no_gradebook_of_this_nbgrader_is_a_sentence(
    tmp_path: Path, book: Path, spec: LabSpec
) -> None:
    broken = LabSpec(spec.name, spec.title, (*spec.questions, ("lookup", 1.0)), spec.written, spec.cells)
    with pytest.raises(GradingError, match="no test cell for lookup"):
        GradebookWriter(book, broken)
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "diary.db").write_bytes(b"Dear diary, " * 500)
    with GradebookWriter(book, spec):
        pass
    with sqlite3.connect(book) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'b6d005d67074'")
    for place, sentence in {
        tmp_path / "file" / "gradebook.db": "could not be made",
        tmp_path / "folder.db": "cannot be written",
        tmp_path / "diary.db": "is damaged",
        book: "nbgrader db upgrade",
    }.items():
        with pytest.raises(GradingError, match=sentence):
            GradebookWriter(place, spec)


def test_an_answer_with_a_forbidden_function_keeps_its_points_and_waits_for_a_person(
    book: Path, spec: LabSpec, make_result: Make
) -> None:
    result = make_result("ada")
    one_hot, softmax = result.questions
    asked = dataclasses.replace(softmax, forbidden=("torch.softmax",))
    flagged = dataclasses.replace(result, questions=(one_hot, asked))
    with GradebookWriter(book, spec) as writer:
        writer.write(flagged)
        saved = grades(book, "ada")
        assert (saved["test_softmax"]["needs_manual_grade"], saved["test_softmax"]["score"]) == (True, 6.0)
        assert "Suggested: 0 of 6 points" in saved["softmax"]["comment"]
        enter(book, LAB, "ada", "test_softmax", manual_score=0.0)
        writer.write(flagged, regraded=())
        saved = grades(book, "ada")
        assert (saved["test_softmax"]["needs_manual_grade"], saved["test_softmax"]["score"]) == (False, 0.0)
        writer.write(result)
        assert "Suggested" not in (grades(book, "ada")["softmax"].get("comment") or "")
