"""A launch makes somebody known, and the points that count reach the learning system's gradebook, whatever is in their way."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from jwcrypto.jwk import JWK
from requests.adapters import HTTPAdapter

from autograder.course.policy_file import class_list, course_file, spec
from autograder.errors import UserError
from autograder.run.recorder import open_gradebook
from autograder.systems.lti import _LIST, Lti, policy_of, private_key
from tests.fixtures.live_class import NOTEBOOK, addresses
from tests.systems.fake_platform import (
    AGS,
    CLAIM,
    COURSE,
    DEPLOYMENT,
    EXT,
    LINK,
    POLICY,
    ROLE,
    ROLES,
    Platform,
)

LAB = "00_warm_up"
QUESTION, MOST = spec(LAB).questions[0]
#: All that the tests can give, of all that there is: a person reads the written answers.
WRITTEN = sum(points for _, points in spec(LAB).written)
FULL = spec(LAB).max_score / (spec(LAB).max_score + WRITTEN)


@pytest.fixture
def platform(tmp_path, course_at, monkeypatch) -> Iterator[Platform]:
    """The learning system of a running class."""
    monkeypatch.setenv("COURSE_ROSTER", "")
    course_at(POLICY)
    with addresses(tmp_path / "out", LAB, part=Lti) as live:
        made = Platform(live)
        monkeypatch.setattr(HTTPAdapter, "send", made.send)
        yield made
    class_list.cache_clear()


def overrule(platform: Platform, student: str) -> None:
    what = {"question": QUESTION, "points": 0.0, "why": "It is copied."}
    platform.service.journal.log("prof", "overrule", LAB, student, **what)


def test_a_launch_a_hand_in_and_the_points_in_the_gradebook(platform):
    """From the page, then better from JupyterLab; what has not changed is not sent again."""
    live = platform.live

    def hand_in(content: bytes, right: bool, **headers: str) -> None:
        assert live.ask(f"/labs/{LAB}/hand-in", content, **headers).status == 201
        attempt = live.service.queue.take()
        assert attempt is not None and attempt.student == "ada"
        live.judge(attempt, right)
        platform.minute()
        live.service.queue.done(attempt, 0.1)

    browser = platform.browser("3")
    hand_in(NOTEBOOK, False, **browser)
    form = {"Cookie": browser["Cookie"], "Content_Type": "application/x-www-form-urlencoded"}
    page = live.ask("/lti/link", f"_xsrf={browser['X_XSRFToken']}".encode(), **form)
    token = page.body.decode().split("/in/")[1].split("&")[0]
    hand_in(NOTEBOOK + b" ", True, Authorization=f"Bearer {token}")
    hand_in(NOTEBOOK + b"  ", False, Authorization=f"Bearer {token}")
    first, second = platform.scores
    assert first["scoreGiven"] == 0 and f"{QUESTION}: 0 of {MOST:g} (off by one)" in first["comment"]
    assert platform.grades["3"][0] == pytest.approx(FULL) and f"{MOST:g} of {MOST:g}" in second["comment"]
    assert "PUBLIC KEY" in live.ask("/lti/key.pem").body.decode()


STRANGER = JWK.generate(kty="RSA", size=2048)
LEARNERS = ROLE.replace("#", "/Learner#") + "Instructor"
PERSON = "http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"
AN_HOUR_AGO = int(time.time()) - 3600
REFUSED = {
    "a wrong signature": ({"key": STRANGER}, "not signed by the learning system"),
    "a key that nobody published": ({"key": STRANGER, "kid": "2"}, "does not publish"),
    "an expired token": ({"exp": AN_HOUR_AGO}, "has expired"),
    "a token without an end": ({"exp": None}, "cannot be checked"),
    "another audience": ({"aud": "other"}, "another tool"),
    "another audience, too": ({"aud": ["tool", "other"]}, "another tool"),
    "another tool's": ({"azp": "other"}, "another tool"),
    "another message": ({CLAIM + "message_type": "LtiDeepLinkingRequest"}, "not an exercise's"),
    "another version": ({CLAIM + "version": "2.0.0"}, "not an exercise's"),
    "another learning system": ({"iss": "https://elsewhere"}, "another learning system"),
    "another deployment": ({DEPLOYMENT: "2"}, "a deployment that course.toml does not name"),
    "another course": ({COURSE: {"id": "3"}}, "belongs to course 3"),
    "another link": ({LINK: {"id": "8"}}, 'writes 00 = "8"'),
    "a role that is a learner's": ({ROLES: [LEARNERS]}, "neither a student nor a teacher"),
    "a role of the university's": ({ROLES: [PERSON]}, "neither a student nor a teacher"),
    "no place in the course": ({ROLES: [ROLE + "Mentor"]}, "neither a student nor a teacher"),
    "a nonce that is not ours": ({"nonce": "abc"}, "used before, or is too old"),
}


def test_a_launch_that_is_not_good_is_refused_in_a_sentence(platform):
    for why, (changed, sentence) in REFUSED.items():
        answer = platform.launch("3", **changed)
        assert answer.status in (403, 404) and "set-cookie" not in answer.headers, why
        assert sentence in answer.json["message"] and ". " not in answer.json["message"], why
    elsewhere = platform.live.ask("/lti/login?iss=https://elsewhere&login_hint=1&client_id=tool")
    assert elsewhere.status == 403 and "no learning system" in elsewhere.json["message"]
    form, cookie = platform.form("3")
    for other in ("", platform.form("3")[1]):
        refused = platform.post(form, other)
        assert refused.status == 403 and "did not begin this launch" in refused.json["message"]
    assert not platform.known
    assert platform.post(form, cookie).status == 302
    again = platform.post(form, cookie)
    assert again.status == 403 and "used before" in again.json["message"]


def test_teachers_see_the_room_and_the_learning_systems_class_list_and_are_never_scored(platform):
    answer = platform.launch("5", aud=["tool"])
    assert (answer.status, answer.headers["location"]) == (302, f"/room/{LAB}")
    browser, student = platform.browser("5"), platform.browser("3")
    members, platform.answers["GET /members"] = platform.answers["GET /members"], (500, {}, {})
    platform.service.part._try(_LIST)
    assert "class list cannot be used: it answers with status 500." in platform.service.trouble
    platform.answers["GET /members"] = members
    platform.service.part._try(_LIST)
    assert [(one.student, one.name) for one in class_list().people] == [("ada", "Ada"), ("bo", "Bo")]
    listed = platform.live.ask(f"/team/{LAB}/state", **browser).json["students"]
    assert [row["student"] for row in listed] == ["ada", "bo"]
    assert platform.live.ask(f"/team/{LAB}/state", **student).status == 403
    platform.hand_in("prof")
    platform.hand_in("ada", NOTEBOOK + b" ")
    assert [score["userId"] for score in platform.scores] == ["3"]


def test_points_that_do_not_arrive_are_named_and_arrive_later_or_at_the_next_start(platform):
    platform.launch("3"), platform.launch("4")
    said = "have not reached the learning system: it answers with status"
    for student, status in (("ada", 503), ("bo", 400), ("ada", 302)):
        platform.refuses = status
        platform.hand_in(student, NOTEBOOK + f"{student}{status}".encode(), right=status != 503)
        assert f"The points of {student} {said} {status}" in platform.service.trouble
        platform.refuses = 0
        platform.minute()
        assert not platform.service.trouble
    assert set(platform.grades) == {"3", "4"}
    overrule(platform, "bo")
    platform.service.part = Lti(platform.service)  # the next start
    platform.service.part.start()
    end = time.monotonic() + 60
    while "copied" not in platform.grades["4"][1]:
        assert time.monotonic() < end
        time.sleep(0.02)
    platform.service.part.close()
    assert not platform.service.part._thread.is_alive()


def test_what_the_team_decides_and_lateness_count(platform, course_at):
    platform.launch("3")
    due = datetime.now(UTC) - timedelta(hours=1)
    course_at(f"{POLICY}[late]\npercent_per_day = 10\n[labs.00]\ndue = {due:%Y-%m-%dT%H:%M:%S}Z\n")
    platform.hand_in("ada")
    points, comment, _ = platform.grades["3"]
    assert points == pytest.approx(0.9 * FULL) and "Lateness takes off" in comment
    overrule(platform, "ada")
    platform.minute()
    less = (spec(LAB).max_score - MOST) / spec(LAB).max_score
    points, comment, _ = platform.grades["3"]
    assert points == pytest.approx(0.9 * FULL * less, abs=0.001) and "It is copied." in comment


def test_what_a_person_enters_for_a_written_answer_is_sent_while_its_attempt_counts(platform):
    platform.launch("3")
    attempt, out = platform.hand_in("ada", right=False), platform.service.options.out
    assert "not read yet" in platform.grades["3"][1]
    result = platform.service.journal.result(attempt)
    with open_gradebook(LAB, out) as gradebook:
        gradebook.write(replace(result, student="ada", submitted_at=attempt.received_at))
    with sqlite3.connect(out / "gradebook.db") as database:
        database.execute("UPDATE grade SET manual_score = 1, needs_manual_grade = 0 WHERE auto_score IS NULL")
        database.execute("UPDATE comment SET manual_comment = 'Well said.'")
    platform.minute()
    points, comment, _ = platform.grades["3"]
    read = len(spec(LAB).written)
    assert points == pytest.approx(read / (spec(LAB).max_score + WRITTEN)) and "Well said." in comment
    time.sleep(1.1)  # an attempt's time has whole seconds
    platform.hand_in("ada", NOTEBOOK + b" ")
    points, comment, _ = platform.grades["3"]
    assert points == pytest.approx(FULL) and "not read yet" in comment and "Well said." not in comment


def test_points_that_a_student_may_not_see_or_the_gradebook_has_no_column_for_are_not_sent(
    platform, course_at
):
    platform.launch("3", **{AGS: None})
    platform.hand_in("ada")
    assert "allow grades there" in platform.service.trouble
    course_at(f'{POLICY}[live]\nverdicts = "pass or fail"\n')
    platform.launch("4")
    platform.hand_in("bo", NOTEBOOK + b" ")
    assert not platform.grades
    course_at(POLICY)
    platform.minute()
    assert set(platform.grades) == {"3", "4"}


def test_the_courses_own_list_says_who_somebody_is_and_nobody_comes_in_as_another(
    platform, course_at, monkeypatch
):
    monkeypatch.delenv("COURSE_ROSTER")
    course_at(POLICY, "student,name,username,ID number\nlovelace,Ada,ada,S1\nbo,Bo,bdiaz,S2\n")
    platform.launch("3")
    assert platform.known == {"3": "lovelace"}
    platform.service.part._fetch_list()
    assert not platform.service.part.list_path.exists(), "the course has its own list"
    assert platform.launch("4").status == 409, "a user name that resembles a classmate's folder"
    taken = platform.launch("4", **{EXT: {"user_username": "ada"}})
    assert taken.status == 409 and "Somebody else is called lovelace" in taken.json["message"]
    course_at(POLICY, "student,email,ID number\nzoe,zoe@uni.edu,S1\nbo,bo@uni.edu,S2\n")
    platform.launch("4", **{EXT: {}, CLAIM + "lis": {"person_sourcedid": "S1"}})
    assert platform.known["4"] == "bo", "the own mail address"
    prof = platform.launch("5", **{ROLES: [ROLE + "Learner"]})
    assert prof.status == 409, "a student who is called as somebody of the team"


def test_the_learning_systems_list_bars_nobody_and_has_no_tutor(platform):
    """Moodle's: a tutor is a learner there, students enter each other's ID numbers, and privacy may leave only numbers."""
    tutor = platform.launch("6", **{ROLES: [ROLE + "Instructor"]})
    assert tutor.headers["location"] == f"/room/{LAB}"
    learner = {"roles": ["Learner"], "lis_person_sourcedid": "S1"}
    platform.service.part.write_list([{"user_id": user, **learner} for user in ("3", "4", "6")])
    assert [one.student for one in class_list().people] == ["user-3", "user-4"]
    assert platform.launch("3", email=None, **{EXT: {}}).status == 302


def test_our_key_is_made_once_and_is_its_owners_alone(course_at):
    course_at("")
    key, path = private_key(), course_file().with_name(".lti-key.pem")
    assert "PRIVATE KEY" in key and private_key() == key and path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UserError, match=r"write \[lti\]"):
        policy_of()
    for old, new, sentence in (
        ("https://", "http://", "travel in the clear"),
        ("00 = 7", "77 = 7", "there is no lab"),
    ):
        course_at(POLICY.replace(old, new))
        with pytest.raises(UserError, match=sentence):
            policy_of()
