"""Against what a real Moodle answered: who is served, what is left alone, and what that Moodle does without a word."""

from __future__ import annotations

import json

import pytest

from autograder.course.policy_file import course_file, extension_of, extensions_file, settings, use
from autograder.errors import UserError
from autograder.systems.exchange import File, Refused
from tests.systems.fake_moodle import ANNE, DORA, OTTO, RAVI, RITA, SEAN, SUSI, FakeMoodle, words
from tests.systems.fake_site import LAB, TOKEN, recorded


@pytest.fixture
def site():
    return FakeMoodle()


@pytest.fixture
def pulled(course, site):
    """A small class whose notebooks are here."""
    site.only(ANNE, SEAN, 9)
    course.pull()
    return course


def test_pull_lays_out_the_class_as_grading_reads_it(course, site):
    site.participants[1].append({"id": 27, "fullname": "Leo Lehrer", "email": "lehrer@uni.example"})
    done = course.pull()
    folders = {folder.name for folder in course.submitted.iterdir() if folder.is_dir()}
    assert len(folders) == 23 and folders == set(done.students)
    assert not {words(SUSI), "lehrer@uni.example"} & folders  # suspended; staff
    assert len(done.handed_in) == len(done.fetched) == 19
    times = [course.time(words(user)) for user in (ANNE, 9, RITA)]  # Rita's: of the attempt before
    assert times == ["2026-11-19 16:03:12 UTC", "2026-11-20 23:20:00 UTC", "2026-11-10 08:00:00 UTC"]
    assert not list((course.submitted / words(DORA) / LAB).iterdir())  # a draft
    said = " ".join(done.notes)
    assert "not fetched: Dora Draft" in said and "so the one before it was taken: Rita" in said
    assert f"{words(OTTO)} typed a text into Moodle" in said
    site.only(ANNE, DORA, OTTO, RITA)
    assert course.push() == [] and set(site.entries) == {(ANNE, 0)}
    assert "a new attempt is open" in course.plan()[RITA].why
    assert course.plan()[OTTO].why == "handed in nothing that is graded here"


def test_extensions_and_overrides_are_the_courses_and_the_longer_one_counts(course, site):
    extensions_file().write_text(f"lab,student,days\n00,{words(RAVI)},9\n", encoding="utf-8")
    site.due[ANNE] = 0
    site.only(ANNE, SEAN, 9, RAVI)
    notes = " ".join(course.pull().notes)
    due, longer = settings().due(LAB), extension_of(LAB, words(SEAN))
    assert due is not None and longer is not None
    assert f"{settings().local(due + longer):%Y-%m-%d %H:%M}" == "2026-11-23 23:59"
    assert (extension_of(LAB, words(RAVI)) or longer).days == 9 and extension_of(LAB, words(9)) is None
    assert f"extensions.csv than in Moodle, which counts: {words(RAVI)}" in notes
    assert f"Never due in Moodle, so give them an extension in course.toml: {words(ANNE)}" in notes
    before = extensions_file().read_text(encoding="utf-8")
    course.pull()
    assert extensions_file().read_text(encoding="utf-8") == before
    for due, said in (
        ("", "write `due = 2026-11-20T23:59:00` under [labs.00]"),
        ("due = 2026-11-19", "2026-11-19T23:59:59, which counts"),
    ):
        extensions_file().unlink()
        course.write("2", f"[labs.00]\n{due}")
        assert said in " ".join(course.pull().notes)
        assert extension_of(LAB, words(RAVI)) is not None and extension_of(LAB, words(9)) is None


def test_a_pull_that_is_cut_off_goes_on_where_it_was(course, site):
    site.files_left = 7
    with pytest.raises(UserError, match=r"cannot be reached .* run the same command again"):
        course.pull()
    site.files_left = 99
    here = len(list(course.submitted.rglob("*.ipynb")))
    assert 0 < here == 19 - len(course.pull().fetched)


@pytest.mark.parametrize(
    ("happens", "why", "note"),
    [
        (lambda site: site.enter(ANNE, comment="<p>See me</p>"), "somebody entered this", ""),
        (lambda site: site.overridden.add(ANNE), "the grade is overridden in the gradebook", ""),
        (lambda site: site.assignment().update(grade=2), "above the maximum of 2", ""),
        (
            lambda site: site.submission(ANNE).update(status="new"),
            "nothing is handed in in Moodle",
            "has nothing handed in there any more",
        ),
        (lambda site: site.suspended.add(ANNE), "no active student", "No active students of Moodle any more"),
    ],
)
def test_what_a_person_did_in_moodle_since_is_left_alone_and_said(pulled, site, happens, why, note):
    pulled.push()
    happens(site)
    before = dict(site.entries[ANNE, 0])
    points = (4.0, 40.0) if "maximum" in why else (2.0, 3.0)
    row = pulled.plan(*points)[ANNE]
    assert row.what == "left out" and why in row.why
    assert pulled.push(*points) == [] and site.entries[ANNE, 0] == before
    assert not note or any(note in said and words(ANNE) in said for said in pulled.pull().notes)


def test_the_class_list_names_the_folders_and_two_of_one_name_stay_apart(course, site):
    (course_file().with_name("roster.csv")).write_text(
        "student,email,ID number\nanne,amueller@uni.example,\nx,x@uni.example,\n"
    )
    course.write("2", 'roster = "roster.csv"')
    site.participants[1][1].update(email="twin@uni.example")
    site.participants[1][2].update(email="TWIN@uni.example")
    done = course.pull()
    assert "anne" in done.students and {"twin@uni.example_14", "TWIN@uni.example_9"} <= set(done.students)
    assert "On the class list, but not a student in Moodle: x" in " ".join(done.notes)
    course.write("2")
    assert course.pull().students == done.students, "a folder's name stays"


def test_blind_marking_brings_no_name(course):
    course.write("4")
    done = course.pull()
    assert "participant_50" in done.students
    text = json.dumps(done.notes) + "".join(str(path) for path in course.submitted.rglob("*"))
    people = recorded("core_enrol_get_enrolled_users")
    assert not any(one[name] in text for one in people for name in ("lastname", "email"))


def test_each_member_of_a_group_has_its_notebook_and_a_grade_of_their_own(course, site):
    site.assignment()["teamsubmission"] = 1
    site.submission(SEAN).update(userid=0, groupid=1)
    for one in site.participants[1]:
        one["groupid"] = 1 if one["id"] in (ANNE, SEAN) else 9
    assert set(course.pull().handed_in) == {words(ANNE), words(SEAN)}
    assert course.time(words(ANNE)) == course.time(words(SEAN)) == "2026-11-26 11:31:10 UTC"
    site.enter(SEAN, comment="only a word")
    site.submissions[1]["assignments"][0]["submissions"].append(
        {"userid": SEAN, "groupid": 9, "attemptnumber": 0, "status": "new"}
    )
    assert course.push() == []
    assert [site.entries[user, 0]["grade"] for user in (ANNE, SEAN)] == [11.2, None]


def test_a_new_page_leaves_other_files_and_a_lost_answer_leaves_the_entry_ours(pulled, site):
    site.drops.add("answer")
    with pytest.raises(UserError, match="run the same command again"):
        pulled.push()
    site.drops.clear()
    [(user, _)] = site.entries
    site.entries[user, 0]["files"]["by hand.txt"] = b"a note"
    assert pulled.push(2.0, 3.0) == [] and site.entries[user, 0]["grade"] == 8.0
    assert set(site.entries[user, 0]["files"]) == {f"{LAB}.html", "by hand.txt"}
    assert b"softmax" in site.entries[user, 0]["files"][f"{LAB}.html"]
    site.entries.clear()
    site.drops = {"files"}
    assert ["the feedback page did not" in trouble for trouble in pulled.push()] == [True] * 3


def test_a_marking_workflow_needs_a_state_and_hides_what_is_compared(pulled, site):
    site.assignment()["markingworkflow"] = 1
    with pytest.raises(UserError, match=r"with --state what the grades are, one of notmarked, .*released"):
        pulled.system().require_gradable()
    pulled.system("released").require_gradable()
    assert pulled.push(state="inreview") == [] and site.states[ANNE] == "inreview"
    assert {row.what for row in pulled.plan(state="inreview").values()} == {"as it is"}
    assert pulled.plan(state="released")[SEAN].what == "change"
    site.enter(ANNE, comment="a word that nobody may read yet")
    assert "somebody" in pulled.plan(2.0, 3.0, state="inreview")[ANNE].why
    assert pulled.push(2.0, 3.0, state="released") == [] and site.entries[SEAN, 0]["grade"] == 8.0


def test_an_assignment_without_points_or_comments_or_files_or_students_is_said(pulled, site):
    site.assignment().update(grade=-3)
    with pytest.raises(UserError, match="takes no points"):
        pulled.system().require_gradable()
    site.assignment().update(grade=24, configs=[])
    assert pulled.push() == [] and site.entries[ANNE, 0]["files"] == {}
    assert len([note for note in pulled.notes if "switched off" in note]) == 2
    site.only()
    with pytest.raises(UserError, match=r"no student of “07 self-attention”: .* see all groups"):
        pulled.pull()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[moodle]", "[x]", "“moodle.site”: field required"),
        ("00 = 2", "00 = 77", "Moodle has 0 of that name; write one of these numbers: “07 self-attention” (2)"),
        ("00 = 2", "01 = 2", "does not say which assignment of Moodle lab 00 is"),
        ("00 = 2", "77 = 2", "line 8: “moodle.assignments.77”: there is no lab “77”"),
        ("NLP-2026", "NLP-1", "course “NLP-1”, and Moodle has 0"),
        ("https://", "http://", "the token would travel in the clear"),
        ("https://", "https://me:secret@", "no address of a site's front page"),
    ],
)  # fmt: skip
def test_a_mistake_in_course_toml_is_one_sentence(course, old, new, said):
    file = course_file()
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    use(None)
    with pytest.raises(UserError) as error:
        course.system()
    assert said in str(error.value)


def test_a_refusal_says_what_to_do_and_no_redirect_is_followed(course, site, monkeypatch):
    assert TOKEN not in repr(vars(course.system()))
    with pytest.raises(Refused, match="an address on another site"):
        course.system().read(File("x", 1, 0, "https://elsewhere.example/x"))
    site.redirects = True
    with pytest.raises(UserError, match=r"status 301: write the address .*elsewhere"):
        course.system()
    site.redirects = False
    monkeypatch.setenv("MOODLE_TOKEN", "wrong")
    with pytest.raises(Refused, match=r"Invalid token .*; make a new token") as refused:
        course.system()
    assert "wrong" not in str(refused.value)
