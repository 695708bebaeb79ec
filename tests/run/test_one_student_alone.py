"""Whatever one student hands in can cost that student alone: at every stage the class goes on."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.collect import collect as gather
from autograder.collect import placing
from autograder.errors import GradingError, UserError
from autograder.files import parse_time
from autograder.grading import submissions
from autograder.results import EARLIER_NOTE, SubmissionResult
from autograder.run import pipeline
from autograder.run.recorder import Recorder
from autograder.run.store import ResultStore
from autograder.run.worker import Attempts
from tests.fixtures.frozen_course import LAB, hand_in

BAD_TIMES = (
    "10:99999999999999999999999999999", "0001-01-01T00:00:00+14:00", "9999-12-31 23:59:59 -14:00", "1e999", "\0",
    "2026-13-45 99:99:99 UTC", "٢٠٢٦", "٢٠٢٦-١١-٢٠ ١٠:٠٠", "T" * 90, "1 1 1 1 1 1 1", "00000000000000000000000001", "nan", "2026-11-20 10:00 XYZT", "10:10:10:10+99:99",
    "02/03/2026 10:00:00", "10.11.2026 10:00", "2026-11-20", "2026-11-20 10:00:00 UTC+3", "2026-11-20 10:00:00 A",
    "2026-11-20 10:00:00 CET", "2026-11-20 10:00:00 +25", "Nov 20 2026 10:00 UTC", "Fri Nov 20 10:00:00 2026 +0000",
)  # fmt: skip
READ_TIMES = (
    "2026-11-20 10:00:00 UTC", "2026-11-20 10:00:00.123456 UTC", "2026-11-20T12:00:00+02:00", "2026-11-20 10:00:00",
    "2026-11-20T02:00:00.365935-08:00", "2026-11-20 10:00Z", "2026-11-20 07:00:00 -03", "2026-11-20 12:00:00 +0200",
)  # fmt: skip
IN_BERLIN = {
    "2026-10-01 20:00:00": "2026-10-01 18:00:00", "2026-10-01 20:00:00.5 CEST": "2026-10-01 18:00:00",
    "2026-12-01 20:00:00 CET": "2026-12-01 19:00:00", "2026-10-01 20:00:00 UTC": "2026-10-01 20:00:00",
    "2026-10-25 02:30:00 CET": "2026-10-25 01:30:00", "2026-10-25 02:30:00 CEST": "2026-10-25 00:30:00",
}  # fmt: skip


def test_a_time_is_read_in_the_courses_zone_where_it_names_none_and_one_that_cannot_be_read_is_none():
    assert [text for text in BAD_TIMES if parse_time(text) is not None] == []
    assert {str(parse_time(text)) for text in READ_TIMES} == {"2026-11-20 10:00:00"}
    assert {text: str(parse_time(text, "Europe/Berlin")) for text in IN_BERLIN} == IN_BERLIN
    assert parse_time("2026-10-01 20:00:00 CET", "Europe/Berlin") is None, "in summer it is CEST there"


def _class(folder: Path, *students: str) -> Path:
    for student in students:
        hand_in(folder, student, "{}")
    return folder


def test_an_error_in_what_one_student_has_or_sent_costs_that_student_alone(tmp_path, monkeypatch):
    def trap(whole, error, whose, *rest):
        if "mallory" in str(whose):
            raise error
        return whole(whose, *rest)

    for module, name, error in (
        (submissions, "_find", PermissionError(13, "Permission denied")),
        (placing, "collect_student", ZeroDivisionError()),
    ):
        monkeypatch.setattr(module, name, partial(trap, getattr(module, name), error))
    place = _class(tmp_path / "all", "ada", "mallory")
    ada, mallory = submissions.find_submissions(place, LAB)
    assert ada.notes == () and "could not be read: Permission denied" in mallory.notes[0]
    done = gather(place, tmp_path / "submitted", LAB)
    assert done.students == ("ada",)
    assert "mallory: what was handed in could not be collected (ZeroDivisionError)." in done.notes


def test_names_that_look_the_same_are_two_students_and_it_is_said(tmp_path):
    _class(tmp_path, "Zo\u00eb", "Zoe\u0308", "bo")
    notes = {s.student: " ".join(s.notes) for s in submissions.find_submissions(tmp_path, LAB)}
    assert "two students" in notes["Zo\u00eb"] and "two students" in notes["Zoe\u0308"]
    assert notes["bo"] == ""


def _result(student: str, **other) -> SubmissionResult:
    return SubmissionResult(student, LAB, "missing", 0.0, 20.0, 0.0, **other)


def test_a_result_that_cannot_be_written_is_a_fault_of_that_student_and_the_others_are_recorded(
    tmp_path, monkeypatch
):
    with ResultStore(tmp_path / "results.db") as store, Recorder(LAB, tmp_path, store) as recorder:
        page = recorder.feedback.page
        monkeypatch.setattr(
            recorder.feedback, "page", lambda result, marks: 1 / 0 if result.student == "eve" and not result.fault else page(result, marks)
        )  # fmt: skip
        for student in ("ada", "eve", "zoe"):
            recorder.record(_result(student))
        assert [fault.student for fault in recorder.faults] == ["eve"]
        assert "ZeroDivisionError" in store.get(LAB, "eve").fault
        assert not store.get(LAB, "ada").fault and not store.get(LAB, "zoe").fault
        _, everybody, _ = recorder.finish()
        assert len(everybody) == 3


def test_where_the_grader_fails_on_a_later_attempt_the_earlier_one_keeps_its_time(tmp_path):
    """An attempt that came in late made the one before, whose points stay, late."""
    early, late = "2026-10-01 10:00:00 UTC", "2026-10-09 10:00:00 UTC"
    class_ = [submissions.Submission(student, None, late) for student in ("ada", "bo", "cy")]
    with ResultStore(tmp_path / "results.db") as store, Recorder(LAB, tmp_path, store) as recorder:
        for student in ("ada", "bo", '"x'):
            recorder.record(replace(_result(student, submitted_at=early), status="graded"))
        recorder.record(_result("cy"))
        recorder.begin(class_, {"ada", "cy"})
        recorder.record(replace(_result("ada", submitted_at=late), fault="a slip of ours"))
        recorder.record(replace(_result("cy", submitted_at=late), fault="a slip of ours"))
        assert store.times(LAB) == {"ada": early, "bo": late, "cy": late, '"x': early}
        assert EARLIER_NOTE in store.get(LAB, "ada").notes
        assert store.get(LAB, "cy").fault, "nothing was handed in before, which is no grade that could stay"
        assert store.forget_others(LAB, {"bo"}) == ['"x', "ada"], "cy had handed in nothing"
        assert list(store.keys(LAB)) == ["bo"] and store.forget_others(LAB, {"bo"}) == []


def test_a_sandbox_that_refuses_one_submission_after_others_went_well_costs_that_one_alone():
    task = SimpleNamespace(submission=submissions.Submission("eve", None))
    attempts = Attempts(SimpleNamespace(lab=LAB))
    assert attempts.failed(task, "cannot", "no room") is None
    with pytest.raises(GradingError):
        attempts.failed(task, "cannot", "no room")
    attempts.any_done = True
    result = attempts.failed(task, "cannot", "no room")
    assert result is not None and result.fault == "no room"


def test_grading_into_the_class_or_a_class_in_what_is_written_is_refused(tmp_path):
    """Its folders would be students."""
    for name in ("class", "autograded", "report/x"):
        _class(tmp_path / name, "ada")
    (tmp_path / "link").symlink_to("class")
    outs = [("class", out) for out in ("class", "class/graded", "class/a/b", "class/../class", "link")]
    for submitted, out in (*outs, ("autograded", ""), ("report/x", "")):
        with pytest.raises(UserError, match="would be taken for students of"):
            pipeline.run(LAB, tmp_path / submitted, tmp_path / out)
    assert [path.name for path in (tmp_path / "class").iterdir()] == ["ada"]
    pipeline._refuse_own_folders(tmp_path / "class", tmp_path)
