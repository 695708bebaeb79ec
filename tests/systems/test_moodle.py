"""Moodle's class from what a real Moodle answered: who is served, what is known of an entry, and what is asked and sent."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.course.policy_file import course_file, use
from autograder.errors import UserError
from autograder.systems.exchange import Attempt, Entry, File, Refused, Update
from autograder.systems.moodle import Moodle
from tests.systems.fake_site import TOKEN, FakeSite, recorded

TEACHER, ANNE, SEAN, RAVI, OTTO, DORA, SUSI, RITA = 3, 4, 5, 15, 18, 19, 24, 28
NEW = Update(7.5, "Good.<br>", "lab.html", b"<p>page</p>")
FILES = "/webservice/pluginfile.php/36"
PAGE = File("lab.html", 9, 1, f"http://127.0.0.1:8081{FILES}/lab.html")
LISTS = ("mod_assign_get_submissions", "mod_assign_list_participants", "mod_assign_get_user_flags")


class FakeMoodle(FakeSite):
    """A site with the recorded answers for an assignment, whose settings tests may change."""

    name = "Moodle"

    def __init__(self) -> None:
        super().__init__()
        enrolled, courses = recorded("core_enrol_get_enrolled_users"), recorded("mod_assign_get_assignments")
        able = {
            "onlyactive": [one for one in enrolled if one["id"] != SUSI],
            "withcapability": [one for one in enrolled if one["id"] == TEACHER],
        }
        self.settings = courses["courses"][0]["assignments"][0]
        self.item = {"cmid": 2, "gradeisoverridden": False, "gradeislocked": False}
        self.answers = {
            "core_course_get_courses_by_field": lambda asked: {"courses": [{"id": 2}] * (asked["value"] == "NLP-2026")},
            "core_enrol_get_enrolled_users": lambda asked: able[asked["options[0][name]"]],
            "mod_assign_get_assignments": courses,
            "mod_assign_get_grades": recorded("a24-mod_assign_get_grades"),
            "mod_assign_get_submission_status": recorded("a24-mod_assign_get_submission_status-rita"),
            "mod_assign_save_grade": None,
            "gradereport_user_get_grade_items": {"usergrades": [{"gradeitems": [{"itemtype": "course"}, self.item]}]},
            "POST /webservice/upload.php": [{"itemid": 100}],
            **{name: recorded(f"a24-{name}") for name in LISTS},
        }  # fmt: skip

    def fields(self, function: str) -> list[dict[str, Any]]:
        """The fields of all calls of a function, without those that every call has."""
        calls = [fields for name, fields, _ in self.asked if name == function]
        always = {"wstoken": TOKEN, "wsfunction": function, "moodlewsrestformat": "json"}
        assert all(call.items() >= always.items() for call in calls)
        return [{key: call[key] for key in call if key not in always} for call in calls]


@pytest.fixture
def site() -> FakeMoodle:
    return FakeMoodle()


def test_who_may_hand_in_and_what_they_handed_in(system, site):
    site.answers["mod_assign_list_participants"].append({"id": TEACHER, "fullname": "Tina", "email": "t@uni"})
    found, notes = system().people()
    attempts = {one.user: one.attempt for one in found}
    assert len(attempts) == len(found) == 23 and not {SUSI, TEACHER} & set(attempts)  # suspended; staff
    assert next(one for one in found if one.user == ANNE).ids == ("amueller@uni.example", "00123")
    place, name = f"http://127.0.0.1:8081{FILES}/assignsubmission_file/submission_files/1", "07_self_attention.ipynb"  # fmt: skip
    file = File(name, 56933, 1795692639, f"{place}/{name}")
    assert attempts[ANNE] == Attempt(0, 1795104192, (file,), has_text=True)
    assert attempts[OTTO].has_text and not attempts[OTTO].files and attempts[DORA] is None
    assert attempts[RITA].open and attempts[RITA].when == 1794297600, "of the attempt before the open one"
    assert notes[0] == "Drafts, which nobody handed in, were not fetched: Dora Draft."
    assert "is open, so the one before it was taken" in notes[1] and "Rita Reopened" in notes[1]
    asked = {"assignid": "1", "groupid": "0", "filter": "", "skip": "0", "limit": "0"}
    assert site.fields("mod_assign_list_participants") == [asked]


def test_blind_marking_brings_no_name(system, site):
    site.answers |= {name: recorded(f"blind-{name}") for name in LISTS}
    people, notes = system("4").people()
    assert people[0].ids == ("participant_50",)
    named = [one[key] for one in recorded("core_enrol_get_enrolled_users") for key in ("lastname", "email")]
    assert not any(name in f"{people}{notes}" for name in named)


def test_a_groups_attempt_is_each_members(system, site):
    site.settings["teamsubmission"] = 1
    [submissions] = site.answers["mod_assign_get_submissions"]["assignments"]
    next(one for one in submissions["submissions"] if one["userid"] == SEAN).update(userid=0, groupid=1)
    for one in site.answers["mod_assign_list_participants"]:
        one["groupid"] = 1 if one["id"] in (ANNE, SEAN) else 9
    attempts = {one.user: one.attempt for one in system().people()[0] if one.attempt is not None}
    assert set(attempts) == {ANNE, SEAN} and attempts[ANNE] == attempts[SEAN]


def test_due_dates_have_overrides_and_extensions(system, site):
    due, own = 1795215540, {"5": recorded("a100-mod_assign_get_participant-override")["duedate"], "4": 0}
    site.answers["mod_assign_get_participant"] = lambda asked: {"duedate": own.get(asked["userid"], due)}
    made = system()
    people = [one for one in made.people()[0] if one.user in (ANNE, SEAN, RAVI, DORA)]
    dates = {ANNE: 0, SEAN: own["5"], RAVI: 1795561140, DORA: due}
    assert made.due == due and made.due_dates(people) == dates
    assert {"assignid": "1", "userid": "5", "embeduser": "0"} in site.fields("mod_assign_get_participant")


def status(comment: str = "", attempt: int = 0, grade: str | None = "14.50000") -> dict[str, Any]:
    """What a teacher gets of somebody's graded attempt."""
    page = {
        "filename": "lab.html",
        "filepath": "/",
        "filesize": 9,
        "timemodified": 1,
        "fileurl": PAGE.address,
    }
    plugins = [
        {"type": "comments", "editorfields": [{"name": "comments", "text": comment}]},
        {"type": "file", "fileareas": [{"area": "feedback_files", "files": [page]}]},
    ]
    facts = {"attemptnumber": attempt, "grade": grade, "timemodified": 7}
    return {"feedback": {"grade": facts, "plugins": plugins}}


def test_an_entry_is_what_a_person_would_see(system, site):
    listed = Entry(14.5, "", (), 1795693899)
    for answer, entry in (
        (status("<p>Well</p>"), Entry(14.5, "<p>Well</p>", (PAGE,), 7)),
        (status(grade="0.00000"), Entry(0.0, "", (PAGE,), 7)),
        (status(grade="-1.00000"), Entry(None, "", (PAGE,), 7)),
        (status(grade=None), Entry(None, "", (PAGE,), 7)),
        (status(attempt=1), listed),  # of another attempt: what the list of grades says counts
        ({}, listed),
    ):
        site.answers["mod_assign_get_submission_status"] = answer
        assert system().entries({ANNE: 0}) == {ANNE: entry}
    asked = {"assignid": "1", "userid": "4", "moodlewssettingraw": "1"}
    assert site.fields("mod_assign_get_submission_status")[0] == asked
    assert site.fields("gradereport_user_get_grade_items")[0] == {"courseid": "2", "userid": "4"}
    site.answers["mod_assign_get_submission_status"] = recorded("a24-mod_assign_get_submission_status-rita")
    assert system().entries({RITA: 0}) == {RITA: Entry(5.0, "", (), 1794384000)}, "an earlier attempt's"
    site.answers["mod_assign_get_grades"] = {"assignments": [], "warnings": []}
    for word in ("", "locked", "overridden"):
        site.item[f"gradeis{word}"] = True
        locked = f"the grade is {word} in the gradebook" if word else ""
        assert system().entries({RITA: 3}) == {RITA: Entry(locked=locked)}


def test_a_marking_workflow_needs_a_state_and_hides_what_is_compared(system, site):
    with pytest.raises(UserError, match="no marking workflow: leave --state out"):
        system(state="released").require_gradable()
    site.settings["markingworkflow"] = 1
    with pytest.raises(UserError, match=r"with --state what the grades are, one of notmarked, .*released"):
        system().require_gradable()
    released, [flags] = system(state="released"), site.answers["mod_assign_get_user_flags"]["assignments"]
    released.require_gradable()
    site.answers["mod_assign_get_submission_status"] = {}
    hidden = Entry(14.5, None, (), 1795693899, is_settled=False)
    assert released.entries({ANNE: 0})[ANNE] == hidden
    next(one for one in flags["userflags"] if one["userid"] == ANNE)["workflowstate"] = "released"
    site.answers["mod_assign_get_submission_status"] = status("Well")
    assert released.entries({ANNE: 0})[ANNE] == Entry(14.5, "Well", (PAGE,), 7)
    released.send(ANNE, 0, NEW, Entry())
    assert site.fields("mod_assign_save_grade")[0]["workflowstate"] == "released"


def test_a_grade_is_sent_with_its_page_beside_other_peoples_files(system, site):
    site.answers[f"POST {FILES}/by%20hand.txt"] = b"a note"
    by_hand = File("by hand.txt", 6, 1, f"https://moodle.uni.edu{FILES}/by hand.txt", "/sub/")
    system().send(ANNE, 2, NEW, Entry(files=(PAGE, by_hand)))
    sent = {
        "assignmentid": "1", "userid": "4", "grade": "7.5", "attemptnumber": "2", "addattempt": "0", "workflowstate": "",
        "applytoall": "0", "plugindata[assignfeedbackcomments_editor][text]": "Good.<br>",
        "plugindata[assignfeedbackcomments_editor][format]": "1",
    }  # fmt: skip
    system().send(ANNE, 2, Update(7.5, "Good.<br>"), Entry(files=(PAGE, by_hand)))
    assert site.fields("mod_assign_save_grade") == [sent | {"plugindata[files_filemanager]": "100"}, sent]
    assert [(fields, files) for name, fields, files in site.asked if name.endswith("upload.php")] == [
        ({"token": TOKEN, "itemid": "0", "filepath": "/"}, {"lab.html": NEW.page}),
        ({"token": TOKEN, "itemid": "100", "filepath": "/sub/"}, {"by hand.txt": b"a note"}),
    ]
    site.answers["POST /webservice/upload.php"] = []
    with pytest.raises(Refused, match=r"did not take the file lab.html: is it larger"):
        system().send(ANNE, 2, NEW, Entry())


def test_what_an_assignment_takes(system, site):
    made = system()
    made.require_gradable()
    assert (made.title, made.most, made.key) == ("07 self-attention", 24.0, f"{site.site} assignment 2")
    assert (made.takes_comments, made.takes_files) == (True, True)
    site.settings.update(grade=-3, configs=[])
    made = system()
    assert (made.takes_comments, made.takes_files) == (False, False)
    with pytest.raises(UserError, match="takes no points"):
        made.require_gradable()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[moodle]", "[x]", "“moodle.site”: field required"),
        ("00 = 2", "00 = 77", "Moodle has 0 of that name; write one of these numbers: “07 self-attention” (2)"),
        ("00 = 2", "01 = 2", "does not say which assignment of Moodle lab 00 is"),
        ("00 = 2", "77 = 2", "line 6: “moodle.assignments.77”: there is no lab “77”"),
        ("NLP-2026", "NLP-1", "course “NLP-1”, and Moodle has 0 of that name"),
        ("https://", "http://", "the token would travel in the clear"),
        ("https://", "https://me:secret@", "no address of a site's front page"),
    ],
)  # fmt: skip
def test_a_mistake_in_course_toml_is_one_sentence(system, old, new, said):
    system()
    file = course_file()
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    use(None)
    with pytest.raises(UserError) as error:
        Moodle("00_warm_up")
    assert said in str(error.value)


def test_a_refusal_says_what_to_do_and_the_token_goes_to_the_site_alone(system, site):
    made = system()
    assert TOKEN not in repr(vars(made))
    site.answers[f"POST {FILES}/x"] = b'{"error":"No access"}'
    for place, said in (("/x", "an address on another site"), (f"{FILES}/x", "to give a file: No access")):
        with pytest.raises(Refused, match=said):
            made.read(File("x", 1, 0, f"https://elsewhere.example{place}"))
    warning = {"warningcode": "1", "message": "No access rights."}
    site.answers["mod_assign_get_grades"] = {"assignments": [], "warnings": [warning]}
    with pytest.raises(Refused, match="refuses to show the assignment: No access rights"):
        made.entries({ANNE: 0})
    invalid = {"exception": "x", "errorcode": "invalidtoken", "message": f"Invalid token {TOKEN}."}
    moved = {"Location": "https://elsewhere.example/"}
    for answer, said in (
        (invalid, "Invalid token …; make a new token"),
        ((301, moved, b""), r"status 301: write the address .*elsewhere"),
        ((503, {}, b""), "status 503: try again later"),
        (b"<html>", "does not answer as Moodle's web services do"),
    ):
        site.answers["core_course_get_courses_by_field"] = answer
        with pytest.raises(UserError, match=said) as refused:
            system()
        assert TOKEN not in str(refused.value)
