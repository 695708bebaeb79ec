"""Against what Canvas's API documents: who is served, what is left alone, and that lateness counts once."""

from __future__ import annotations

import pytest

from autograder.course.policy_file import extension_of
from autograder.errors import UserError
from autograder.systems.exchange import File
from tests.systems.fake_canvas import ADA, BO, CY, LATE, ME, FakeCanvas
from tests.systems.fake_site import LAB


@pytest.fixture
def site():
    return FakeCanvas()


def test_pull_brings_active_students_their_newest_attempt_and_who_has_longer(course, site):
    site.submissions[BO]["cached_due_date"] = "2026-11-23T22:59:59Z"  # a section's override, say
    done = course.pull()
    assert done.students == ["ada", "bo", "cy"]  # neither Tom, who teaches too, nor Di, whose place ended
    assert done.handed_in == done.fetched == ["ada", "bo"] and course.time("ada") == "2026-11-19 15:00:11 UTC"
    longer = extension_of(LAB, "bo")
    assert longer is not None and longer.days == 3 and extension_of(LAB, "ada") is None


def test_the_token_goes_to_the_site_alone(course, site):
    system = course.system()
    for host, is_own in ((site.site, True), ("https://elsewhere.example", False)):
        system.read(File("x", 1, 0, f"{host}/files/x"))
        assert ("Authorization" in site.headers) == is_own


def test_other_peoples_comments_stay_and_the_excused_are_left_alone(course, site):
    site.comment(ADA, ME, "See me")
    course.pull()
    assert course.push() == [] and site.submissions[CY]["score"] is None
    by_hand, ours = site.submissions[ADA]["submission_comments"]
    assert by_hand["comment"] == "See me" and "one_hot: 4 of 4\nsoftmax: 3 of 6" in ours["comment"]
    sent = len(site.put)
    site.comment(ADA, ME, "Well done")
    site.comment(BO, 2, "A colleague's page", site.file("a.html", 1))
    assert course.push() == [] and len(site.put) == sent
    assert course.push(1.0, 3.0) == [] and [site.submissions[user]["score"] for user in (ADA, BO)] == [8, 8]
    site.submissions[ADA].update(excused=True)
    site.submissions[BO].update(submission_comments=[])
    plan = course.plan(2.0, 3.0)
    assert plan[ADA].why == "the student is excused" and "somebody entered" in plan[BO].why


def test_lateness_counts_once(course, site):
    site.deducts = {ADA: 6}
    course.pull()
    assert course.push() == [] and site.submissions[ADA]["score"] == 14
    assert [user for user, fields in site.put if "submission[late_policy_status]" in fields] == [ADA]
    site.deducts = {ADA: 6}
    course.write("70", "")  # the course takes nothing off: Canvas's own policy holds
    assert course.push(2.0, 3.0) == [] and site.submissions[ADA]["score"] == 4
    assert course.plan(2.0, 3.0)[ADA].what == "as it is"
    course.write("70", LATE)
    assert course.push(2.0, 3.0) == [] and site.submissions[ADA]["score"] == 10


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"grading_type": "pass_fail"}, "takes no points"),
        ({"moderated_grading": True}, "moderated grading"),
        ({"anonymize_students": True}, "graded anonymously"),
        ({"group_category_id": 3}, "one grade for the members of a group"),
        ({"name": "Essay"}, "write one of these numbers: “Essay” (71), “Essay” (70)"),
    ],
)
def test_an_assignment_that_cannot_be_graded_is_one_sentence(course, site, changes, said):
    site.assignment.update(changes)
    course.write('"Essay"' if "name" in changes else "70")
    with pytest.raises(UserError) as error:
        course.system().require_gradable()
    assert said in str(error.value)
