"""Pull, grade, push against what Canvas's API documents: who is served, what is left alone, and that lateness counts once."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from autograder.cli.app import app
from autograder.course.policy_file import extension_of
from autograder.errors import UserError
from autograder.systems.exchange import File
from tests.systems.fake_canvas import ADA, BO, CY, ME, FakeCanvas
from tests.systems.fake_site import LAB, course_in

LATE = "[late]\npercent_per_day = 10\n[labs.00]\ndue = 2026-11-20T22:59:59"


@pytest.fixture
def course(tmp_path, spec, make_result):
    with course_in(FakeCanvas(), tmp_path, spec, make_result, "70", LATE) as made:
        yield made


@pytest.fixture
def canvas(course):
    return course.site


def test_pull_brings_active_students_their_newest_attempt_and_who_has_longer(course, canvas, monkeypatch):
    canvas.submissions[ADA]["body"] = "9999-12-31T23:59:59-10:00"  # no clock shows this in UTC
    canvas.submissions[BO]["cached_due_date"] = "2026-11-23T22:59:59Z"  # a section's override, say
    done = course.pull()
    assert done.students == ("ada", "bo", "cy")  # neither Tom, who teaches too, nor Di, whose place ended
    assert done.handed_in == done.fetched == ("ada", "bo") and course.time("ada") == "2026-11-19 15:00:11 UTC"
    longer = extension_of(LAB, "bo")
    assert longer is not None and longer.days == 3 and extension_of(LAB, "ada") is None
    monkeypatch.setattr("autograder.cli.systems.refuse_world_readable", lambda *_: None)  # tmp_path may be
    said = CliRunner().invoke(app, ["canvas", "pull", "00", "--submitted", str(course.submitted)])
    assert "✓ 3 students, 2 submissions (0 new)" in said.output
    canvas.submissions[ADA].update(attempt=3, submitted_at="2026-11-20T10:00:00Z")
    assert course.pull().fetched == ("ada",) and course.time("ada") == "2026-11-20 10:00:00 UTC"


def test_the_token_goes_to_the_site_alone(course, canvas):
    system = course.system()
    for host, is_own in (("127.0.0.1", True), ("localhost", False)):
        system.read(File("x", 1, 0, f"{canvas.site}/files/x".replace("127.0.0.1", host)))
        assert ("Authorization" in canvas.headers) == is_own


def test_push_brings_grade_comment_and_page_and_sends_again_only_what_changed(course, canvas):
    canvas.comment(ADA, ME, "See me")
    course.pull()
    assert course.push() == []
    one = canvas.submissions[ADA]
    assert one["score"] == 14  # 7 of the lab's 15 points, of Canvas's 30
    by_hand, ours = one["submission_comments"]
    assert by_hand["comment"] == "See me" and "one_hot: 4 of 4\nsoftmax: 3 of 6" in ours["comment"]
    assert ours["attachments"][0]["display_name"] == f"{LAB}.html"
    sent = len(canvas.put)
    canvas.comment(ADA, ME, "Well done")
    canvas.comment(BO, 2, "A colleague's page", canvas.file("a.html", 1))
    assert course.push() == [] and len(canvas.put) == sent
    assert course.push(1.0, 3.0) == []
    assert [canvas.submissions[user]["score"] for user in (ADA, BO)] == [8, 8]
    canvas.submissions[ADA].update(attempt=3, submitted_at="2026-11-20T10:00:00Z")
    assert "handed in again" in course.plan()["ada"].why
    course.pull()
    assert course.push() == [] and one["score"] == 14 and canvas.submissions[CY]["score"] is None


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        ({"score": 3.0}, "somebody entered"),
        ({"submission_comments": []}, "somebody entered"),
        ({"excused": True}, "the student is excused"),
    ],
)
def test_what_a_person_did_in_canvas_is_left_alone_and_said(course, canvas, happens, why):
    course.pull()
    course.push()
    canvas.submissions[ADA].update(happens)
    before = dict(canvas.submissions[ADA])
    assert why in course.plan(2.0, 3.0)["ada"].why
    assert course.push(2.0, 3.0) == [] and canvas.submissions[ADA] == before
    assert canvas.submissions[BO]["score"] == 10
    if not canvas.submissions[ADA]["excused"]:
        assert course.push(2.0, 3.0, replaced=("ada",)) == [] and canvas.submissions[ADA]["score"] == 10


def test_lateness_counts_once(course, canvas):
    canvas.deducts = {ADA: 6}
    course.pull()
    assert course.push() == [] and canvas.submissions[ADA]["score"] == 14
    assert [user for user, fields in canvas.put if "submission[late_policy_status]" in fields] == [ADA]
    canvas.deducts = {ADA: 6}
    course.write("70", "")  # the course takes nothing off: Canvas's own policy holds
    assert course.push(2.0, 3.0) == [] and canvas.submissions[ADA]["score"] == 4
    assert course.plan(2.0, 3.0)["ada"].what == "as it is"
    course.write("70", LATE)
    assert course.push(2.0, 3.0) == [] and canvas.submissions[ADA]["score"] == 10


def test_a_group_is_graded_once_and_only_when_it_is_right_for_all(course, canvas):
    canvas.assignment["group_category_id"] = 3
    for user in (ADA, BO):
        canvas.submissions[user]["group"] = {"id": 9, "name": "Team"}
    course.pull()
    assert course.push() == []
    assert [user for user, fields in canvas.put if "submission[posted_grade]" in fields] == [ADA]
    for user in (ADA, BO):
        assert canvas.submissions[user]["score"] == 14
        assert len(canvas.submissions[user]["submission_comments"]) == 1  # a page of their own
    canvas.submissions[BO]["excused"] = True
    assert "one grade for the group" in course.plan(2.0, 3.0)["ada"].why
    assert course.push(2.0, 3.0) == [] and canvas.submissions[ADA]["score"] == 14


def test_what_does_not_arrive_is_said(course, canvas):
    course.pull()
    for dropped, said in {
        "locked": "period is closed",
        "comment": "the comment and the feedback page did",
    }.items():
        canvas.drops = {dropped}
        assert [said in trouble for trouble in course.push()] == [True, True]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"grading_type": "pass_fail"}, "takes no points"),
        ({"moderated_grading": True}, "moderated grading"),
        ({"anonymize_students": True}, "graded anonymously"),
        ({"name": "Essay"}, "write one of these numbers: “Essay” (71), “Essay” (70)"),
    ],
)
def test_an_assignment_that_cannot_be_graded_is_one_sentence(course, canvas, changes, said):
    canvas.assignment.update(changes)
    course.write('"Essay"' if "name" in changes else "70")
    with pytest.raises(UserError) as error:
        course.system().require_gradable()
    assert said in str(error.value)


def test_a_wrong_token_and_a_dead_line_are_one_sentence_without_the_token(course, canvas, monkeypatch):
    monkeypatch.setenv("CANVAS_TOKEN", "wrong")
    with pytest.raises(UserError, match="does not know the token"):
        course.system()
    canvas.close()
    with pytest.raises(UserError, match=r"cannot be reached .* run the same command again") as error:
        course.system()
    assert "wrong" not in str(error.value)
