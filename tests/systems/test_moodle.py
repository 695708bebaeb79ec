"""Pull, grade, push, regrade, push against what a real Moodle answered: nobody lost, nothing of anybody's overwritten."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from autograder.cli.app import app
from autograder.course.policy_file import extension_of, settings, use
from autograder.errors import UserError
from autograder.files import timestamp_in
from autograder.systems.exchange import Refused
from tests.systems.fake_moodle import FakeMoodle
from tests.systems.fake_site import LAB, TOKEN, course_in, recorded

ANNE, SEAN, RAVI, MIA, OTTO, DORA, SUSI, RITA = 4, 5, 15, 16, 18, 19, 24, 28


def words(user):
    return next(one["email"] for one in recorded("core_enrol_get_enrolled_users") if one["id"] == user)


@pytest.fixture
def course(tmp_path, spec, make_result):
    with course_in(FakeMoodle(), tmp_path, spec, make_result, "2", "[labs.00]\ndue = 2026-11-20") as made:
        yield made


@pytest.fixture
def moodle(course):
    return course.site


@pytest.fixture
def pulled(course, moodle):
    """A small class whose notebooks are here."""
    moodle.only(ANNE, SEAN, 9)
    course.pull()
    return course


def test_pull_lays_out_the_class_as_grading_reads_it(course, moodle):
    moodle.participants[1].append({"id": 27, "fullname": "Leo Lehrer", "email": "lehrer@uni.example"})
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


def test_extensions_and_overrides_are_the_courses_and_the_longer_one_counts(course, moodle):
    (course.home / "extensions.csv").write_text(f"lab,student,days\n00,{words(RAVI)},9\n", encoding="utf-8")
    moodle.due[ANNE] = 0
    notes = " ".join(course.pull().notes)
    due = settings().due(LAB)
    longer = extension_of(LAB, words(SEAN))
    assert due is not None and longer is not None
    assert f"{settings().local(due + longer):%Y-%m-%d %H:%M}" == "2026-11-23 23:59"
    assert (extension_of(LAB, words(RAVI)) or longer).days == 9 and extension_of(LAB, words(9)) is None
    assert f"extensions.csv than in Moodle, which counts: {words(RAVI)}" in notes
    assert f"Never due in Moodle, so give them an extension in course.toml: {words(ANNE)}" in notes
    before = (course.home / "extensions.csv").read_text(encoding="utf-8")
    course.pull()
    assert (course.home / "extensions.csv").read_text(encoding="utf-8") == before
    for due, said in (
        ("", "write `due = 2026-11-20T23:59:00` under [labs.00]"),
        ("due = 2026-11-19", "2026-11-19T23:59:59, which counts"),
    ):
        (course.home / "extensions.csv").unlink()
        course.write("2", f"[labs.00]\n{due}")
        assert said in " ".join(course.pull().notes)
        assert extension_of(LAB, words(RAVI)) is not None and extension_of(LAB, words(9)) is None


def test_a_pull_that_is_cut_off_goes_on_where_it_was(course, moodle):
    moodle.dies = ("pluginfile", 7)
    with pytest.raises(UserError, match=r"cannot be reached .* run the same command again"):
        course.pull()
    moodle.dies = None
    here = len(list(course.submitted.rglob("*.ipynb")))
    assert 0 < here == 19 - len(course.pull().fetched)
    moodle.submission(ANNE).update(timemodified=1795304192, attemptnumber=1)
    assert course.pull().fetched == (words(ANNE),) and course.time(words(ANNE)) == "2026-11-21 23:36:32 UTC"
    moodle.submission(ANNE)["status"] = "new"
    assert f"{words(ANNE)} has nothing handed in there any more" in " ".join(course.pull().notes)
    moodle.suspended.add(ANNE)
    assert f"No active students of Moodle any more, but still here: {words(ANNE)}" in " ".join(
        course.pull().notes
    )


def test_the_class_list_names_the_folders_and_two_of_one_name_stay_apart(course, moodle):
    (course.home / "roster.csv").write_text(
        "student,email,ID number\nanne,amueller@uni.example,\nx,x@uni.example,\n"
    )
    course.write("2", 'roster = "roster.csv"')
    moodle.participants[1][1].update(email="twin@uni.example")
    moodle.participants[1][2].update(email="TWIN@uni.example")
    done = course.pull()
    assert "anne" in done.students and {"twin@uni.example_14", "TWIN@uni.example_9"} <= set(done.students)
    assert "On the class list, but not a student in Moodle: x" in " ".join(done.notes)


def test_blind_marking_brings_no_name(course):
    course.write("4")
    done = course.pull()
    assert "participant_50" in done.students
    text = json.dumps(done.notes) + "".join(str(path) for path in course.submitted.rglob("*"))
    names = [
        word for one in recorded("core_enrol_get_enrolled_users") for word in (one["lastname"], one["email"])
    ]
    assert not any(name in text for name in names)


def test_each_member_of_a_group_has_its_notebook_and_a_grade_of_their_own(course, moodle):
    moodle.assignment()["teamsubmission"] = 1
    moodle.submission(SEAN).update(userid=0, groupid=1)
    for one in moodle.participants[1]:
        one["groupid"] = 1 if one["id"] in (ANNE, SEAN) else 9
    assert set(course.pull().handed_in) == {words(ANNE), words(SEAN)}
    assert course.time(words(ANNE)) == course.time(words(SEAN)) == "2026-11-26 11:31:10 UTC"
    moodle.enter(SEAN, grade=3.0)
    moodle.submissions[1]["assignments"][0]["submissions"].append(
        {"userid": SEAN, "groupid": 9, "attemptnumber": 0, "status": "new"}
    )
    assert course.push() == []
    assert [moodle.entries[user, 0]["grade"] for user in (ANNE, SEAN)] == [11.2, 3.0]


def test_push_brings_grade_comment_and_page_and_sends_again_only_what_changed(course, moodle):
    course.pull()
    assert course.push() == []
    entry = moodle.entries[ANNE, 0]
    assert entry["grade"] == 11.2  # 7 of the lab's 15 points, of Moodle's 24
    assert "one_hot: 4 of 4<br />softmax: 3 of 6" in entry["comment"]
    assert b"softmax" in entry["files"][f"{LAB}.html"] and len(moodle.entries) == 18
    assert any("every grade is scaled" in note for note in course.notes)
    asked = moodle.asked["mod_assign_save_grade"]
    assert course.push() == [] and moodle.asked["mod_assign_save_grade"] == asked
    entry["files"]["by hand.txt"] = b"a note"
    assert course.push(1.0, 3.0) == [] and moodle.entries[ANNE, 0]["grade"] == 6.4
    assert set(moodle.entries[ANNE, 0]["files"]) == {f"{LAB}.html", "by hand.txt"}
    assert not {(DORA, 0), (OTTO, 0), (RITA, 0)} & set(moodle.entries)


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (lambda moodle: moodle.enter(ANNE, grade=3.0), "somebody entered this grade or comment"),
        (lambda moodle: moodle.enter(ANNE, comment="<p>See me</p>"), "somebody entered this"),
        (lambda moodle: moodle.overridden.add(ANNE), "the grade is overridden in the gradebook"),
        (lambda moodle: moodle.assignment().update(grade=2), "above the maximum of 2"),
        (lambda moodle: moodle.submission(ANNE).update(timemodified=1795404192), "handed in again since"),
        (lambda moodle: moodle.submission(ANNE).update(attemptnumber=1), "handed in again since"),
        (lambda moodle: moodle.submission(ANNE).update(status="draft"), "nothing is handed in in Moodle"),
        (lambda moodle: moodle.suspended.add(ANNE), "no active student"),
        (lambda moodle: moodle.listed[1]["roles"].append({"shortname": "teacher"}), "no active student"),
    ],
)
def test_what_a_person_did_in_moodle_since_is_left_alone_and_said(pulled, moodle, happens, why):
    pulled.push()
    happens(moodle)
    before = {key: dict(entry) for key, entry in moodle.entries.items() if key[0] == ANNE}
    points = (4.0, 40.0) if "maximum" in why else (2.0, 3.0)
    row = pulled.plan(*points)[words(ANNE)]
    assert row.what == "left out" and why in row.why
    assert pulled.push(*points) == []
    assert {key: entry for key, entry in moodle.entries.items() if key[0] == ANNE} == before


def test_an_entry_from_before_the_first_push_is_a_persons_and_is_replaced_only_when_asked(pulled, moodle):
    pulled.graded_at = "2026-11-18 10:00:00 UTC"
    assert pulled.push() == [] and not moodle.entries, "graded before the last pull"
    pulled.graded_at = ""
    moodle.enter(ANNE, grade=5.0, comment="by hand")
    moodle.enter(SEAN, comment="only a word")
    assert [pulled.plan()[words(user)].what for user in (ANNE, SEAN, 9)] == ["left out", "left out", "new"]
    pulled.push(replaced=(words(ANNE),))
    assert moodle.entries[ANNE, 0]["grade"] == 11.2 and moodle.entries[SEAN, 0]["grade"] is None
    with pytest.raises(UserError, match="--replace names nobody, without a result"):
        pulled.plan(replaced=("nobody",))


def test_what_moodle_drops_without_a_word_is_said_and_after_a_lost_answer_the_entry_is_ours(pulled, moodle):
    moodle.drops.add("answer")
    with pytest.raises(UserError, match="run the same command again"):
        pulled.push()
    moodle.drops.clear()
    [(user, _)] = moodle.entries
    assert pulled.push(2.0, 3.0) == [] and moodle.entries[user, 0]["grade"] == 8.0
    for dropped, said in {"grade": "the grade did", "comment": "comment did", "files": "page did"}.items():
        moodle.entries.clear()
        moodle.drops = {dropped}
        troubles = pulled.push()
        assert len(troubles) == 3 and all(said in trouble for trouble in troubles)


def test_a_marking_workflow_needs_a_state_and_hides_what_is_compared(pulled, moodle):
    moodle.assignment()["markingworkflow"] = 1
    with pytest.raises(UserError, match=r"with --state what the grades are, one of notmarked, .*released"):
        pulled.system().require_gradable()
    pulled.system("released").require_gradable()
    assert pulled.push(state="inreview") == [] and moodle.states[ANNE] == "inreview"
    assert {row.what for row in pulled.plan(state="inreview").values()} == {"as it is"}
    assert pulled.plan(state="released")[words(SEAN)].what == "change"
    moodle.enter(ANNE, comment="a word that nobody may read yet")
    assert "somebody" in pulled.plan(2.0, 3.0, state="inreview")[words(ANNE)].why
    assert pulled.push(2.0, 3.0, state="released") == [] and moodle.entries[SEAN, 0]["grade"] == 8.0


def test_an_assignment_without_points_or_comments_or_files_is_said(pulled, moodle):
    moodle.assignment().update(grade=-3)
    with pytest.raises(UserError, match="takes no points"):
        pulled.system().require_gradable()
    moodle.assignment().update(grade=24, configs=[])
    assert pulled.push() == [] and moodle.entries[ANNE, 0]["files"] == {}
    assert [note for note in pulled.notes if "switched off" in note] != []


def test_another_assignments_folder_and_a_token_that_sees_nobody_are_refused(course, moodle):
    course.submitted.mkdir()
    with pytest.raises(UserError, match="run `autograder moodle pull 00` first"):
        course.plan()
    course.pull()
    moodle.only()
    with pytest.raises(UserError, match=r"no student of “07 self-attention”: .* see all groups"):
        course.pull()
    course.write("4")
    with pytest.raises(UserError, match="give another folder with --submitted"):
        course.pull()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[moodle]", "[x]", "“moodle.site”: field required"),
        (
            "00 = 2",
            "00 = 77",
            "Moodle has 0 of that name; write one of these numbers: “07 self-attention” (2)",
        ),
        ("00 = 2", "01 = 2", "does not say which assignment of Moodle lab 00 is"),
        ("00 = 2", "77 = 2", "line 8: “moodle.assignments.77”: there is no lab “77”"),
        ("NLP-2026", "NLP-1", "no course with the short name “NLP-1”"),
        ("http://127.0.0.1", "http://moodle.uni.edu", "the token would travel in the clear"),
        ("http://127.0.0.1", "https://me:secret@127.0.0.1", "no address of a site's front page"),
    ],
)
def test_a_mistake_in_course_toml_is_one_sentence(course, old, new, said):
    file = course.home / "course.toml"
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    use(None)
    with pytest.raises(UserError) as error:
        course.system()
    assert said in str(error.value)


def test_the_token_comes_from_a_file_that_nobody_else_may_read_and_no_refusal_shows_it(
    course, moodle, monkeypatch
):
    monkeypatch.delenv("MOODLE_TOKEN")
    with pytest.raises(UserError, match=r"MOODLE_TOKEN or the file .*moodle-token"):
        course.system()
    file = course.home / ".moodle-token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o644)
    with pytest.raises(UserError, match="chmod 600"):
        course.system()
    file.chmod(0o600)
    assert TOKEN not in repr(vars(course.system()))
    file.write_text("two words")
    with pytest.raises(UserError, match="copy it again"):
        course.system()
    file.write_text("wrong")
    with pytest.raises(Refused, match=r"Invalid token .*; make a new token") as refused:
        course.system()
    file.write_text(TOKEN)
    moodle.redirects = True
    with pytest.raises(UserError, match=r"status 301: write the address .*elsewhere"):
        course.system()
    moodle.close()
    with pytest.raises(UserError, match="cannot be reached") as lost:
        course.system()
    assert "wrong" not in str(refused.value) and TOKEN not in str(lost.value)


def test_the_first_push_of_the_command_only_shows(course, moodle, monkeypatch):
    def results(lab, out):
        folders = [folder for folder in course.submitted.iterdir() if folder.is_dir()]
        return [course.make(one.name, submitted_at=timestamp_in(one / LAB)) for one in folders], {}

    monkeypatch.setattr("autograder.cli.systems.refuse_world_readable", lambda *_: None)  # tmp_path may be
    monkeypatch.setattr("autograder.cli.systems.results_and_marks", results)
    monkeypatch.setattr("autograder.cli.systems.spec", lambda lab: course.spec)
    place = ["--submitted", str(course.submitted)]
    said = CliRunner().invoke(app, ["moodle", "pull", "00", *place])
    assert said.exit_code == 0 and "✓ 23 students, 19 submissions (19 new)" in said.output
    push = ["moodle", "push", "00", *place, "--out", str(course.home)]
    shown = CliRunner().invoke(app, push)
    assert shown.exit_code == 0 and not moodle.entries
    assert "Nothing was sent yet. To send 18 grades" in shown.output
    assert "✓ 18 of 18 arrived in Moodle" in CliRunner().invoke(app, [*push, "--send"]).output
    moodle.enter(ANNE, grade=1.0)
    again = CliRunner().invoke(app, [*push, "--replace", words(ANNE)])
    assert "✓ 1 of 1 arrived" in again.output and "17 are as they are" in again.output
    moodle.drops.add("grade")
    moodle.enter(ANNE, grade=1.0)
    assert CliRunner().invoke(app, [*push, "--replace", words(ANNE)]).exit_code == 1
