"""A launch makes somebody known, and the points that count reach the learning system's gradebook, whatever is in their way."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jwcrypto.jwk import JWK

from autograder.course.policy_file import class_list, course_file, spec
from autograder.errors import UserError
from autograder.results import QuestionResult, SubmissionResult, TestResult
from autograder.run.recorder import open_gradebook
from autograder.systems import lti_scores
from autograder.systems.lti import place_of, policy_of, private_key
from autograder.systems.lti_scores import LtiClass
from tests.fixtures.live_class import NOTEBOOK, LiveClass, addresses
from tests.systems.fake_platform import AGS, CLAIM, COURSE, DEPLOYMENT, LINK, ROLE, Platform, post

LAB = "00_warm_up"
QUESTION, MOST = spec(LAB).questions[0]
#: All that the tests can give, of all that there is: a person reads the written answers.
WRITTEN = sum(points for _, points in spec(LAB).written)
FULL = spec(LAB).max_score / (spec(LAB).max_score + WRITTEN)


@pytest.fixture(scope="module")
def platform() -> Iterator[Platform]:
    made = Platform()
    yield made
    made.close()


@pytest.fixture
def live(tmp_path: Path, course_at, platform, monkeypatch) -> Iterator[LiveClass]:
    monkeypatch.setenv("COURSE_ROSTER", "")
    monkeypatch.setattr(lti_scores, "LOOK", 0.2)
    course_at(platform.policy)
    platform.scores.clear(), platform.grades.clear(), platform.refuses.clear()
    with addresses(tmp_path / "out", LAB, part=LtiClass) as running:
        platform.live = running
        running.service.part.start()
        yield running
        running.service.part.close()  # while it is answered: the platform asks back for the key
    class_list.cache_clear()


def until(what: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def cookies_after(live: LiveClass, platform: Platform, user: str, **changed: Any) -> dict[str, str]:
    """Somebody's browser after a launch: the headers with which a page of ours asks."""
    session = platform.launch(live, user, **changed).headers["set-cookie"].split(";")[0]
    page = live.ask("/", Cookie=session)
    assert page.status == 200
    xsrf = page.headers["set-cookie"].split(";")[0]
    return {"Cookie": f"{session}; {xsrf}", "X_XSRFToken": xsrf.partition("=")[2]}


def hand_in(live: LiveClass, content: bytes = NOTEBOOK, *, right: bool = True, **headers: str) -> str:
    """Somebody hands in, and has a verdict; who."""
    received = live.ask(f"/labs/{LAB}/hand-in", content, **headers)
    assert received.status == 201, received.body
    attempt = live.service.queue.take()
    assert attempt is not None
    questions = tuple(
        QuestionResult(name, points if right else 0.0, points, (TestResult("Does it.", right),), cause="" if right else "off by one")
        for name, points in spec(LAB).questions
    )  # fmt: skip
    score = sum(question.points for question in questions)
    result = SubmissionResult(attempt.student, LAB, "graded", score, spec(LAB).max_score, 0.1, questions)
    live.service.journal.finish(attempt, result)
    live.service.queue.done(attempt, 0.1)
    live.service._on_verdict(attempt)
    return attempt.student


def test_a_launch_a_hand_in_and_the_points_in_the_gradebook(live, platform):
    """From the page, then better from JupyterLab; what has not changed is not sent again."""
    browser = cookies_after(live, platform, "3")
    assert hand_in(live, right=False, **browser) == "ada"
    until(lambda: platform.grades)
    points, comment, _ = platform.grades["3"]
    assert points == 0 and f"{QUESTION}: 0 of {MOST:g} (off by one)" in comment
    form = {"Cookie": browser["Cookie"], "Content_Type": "application/x-www-form-urlencoded"}
    page = live.ask("/lti/link", f"_xsrf={browser['X_XSRFToken']}".encode(), **form)
    token = page.body.decode().split("/in/")[1].split("&")[0]
    assert hand_in(live, NOTEBOOK + b" ", Authorization=f"Bearer {token}") == "ada"
    until(lambda: platform.grades["3"][0] == pytest.approx(FULL))
    assert f"{QUESTION}: {MOST:g} of {MOST:g}" in platform.grades["3"][1]
    hand_in(live, NOTEBOOK + b"  ", right=False, Authorization=f"Bearer {token}")
    time.sleep(0.5)
    assert len(platform.scores) == 2, "one a score that counts, and none in the second of the one before"


STRANGER = JWK.generate(kty="RSA", size=2048)
AN_HOUR_AGO = int(time.time()) - 3600
REFUSED = {
    "a wrong signature": ({"key": STRANGER}, "not signed by the learning system"),
    "a key that nobody published": ({"key": STRANGER, "kid": "2"}, "does not publish"),
    "an expired token": ({"exp": AN_HOUR_AGO}, "has expired"),
    "a token without an end": ({"exp": None}, "cannot be checked"),
    "another audience": ({"aud": "other"}, "another tool"),
    "another learning system": ({"iss": "https://elsewhere"}, "another learning system"),
    "another deployment": ({DEPLOYMENT: "2"}, "a deployment that course.toml does not name"),
    "another course": ({COURSE: {"id": "3"}}, "belongs to course 3"),
    "another link": ({LINK: {"id": "8"}}, 'writes 00 = "8"'),
    "no place in the course": ({CLAIM + "roles": [ROLE + "Mentor"]}, "neither a student nor a teacher"),
    "a nonce that is not ours": ({"nonce": "abc"}, "used before, or is too old"),
}


def test_a_launch_that_is_not_good_is_refused_in_a_sentence(live, platform):
    for why, (changed, sentence) in REFUSED.items():
        answer = platform.launch(live, "3", **changed)
        assert answer.status in (403, 404) and "set-cookie" not in answer.headers, why
        assert sentence in answer.json["message"] and ". " not in answer.json["message"], why
    elsewhere = live.ask("/lti/login?iss=https://elsewhere&login_hint=1&client_id=tool")
    assert elsewhere.status == 403 and "no learning system" in elsewhere.json["message"]
    form, cookie = platform.form(live, "3")
    assert post(live, form, "").status == 403, "another browser"
    assert not live.service.journal.notes(live.service.part.people)
    assert post(live, form, cookie).status == 302
    again = post(live, form, cookie)
    assert again.status == 403 and "used before" in again.json["message"]


def test_teachers_see_the_room_and_the_learning_systems_class_list_and_are_never_scored(live, platform):
    answer = platform.launch(live, "5")
    assert (answer.status, answer.headers["location"]) == (302, f"/room/{LAB}")
    browser = cookies_after(live, platform, "5")
    assert live.ask(f"/team/{LAB}/state", **browser).status == 200
    student = cookies_after(live, platform, "3")
    assert live.ask(f"/team/{LAB}/state", **student).status == 403
    until(lambda: class_list().people)
    assert [(one.student, one.name) for one in class_list().people] == [("ada", "Ada"), ("bo", "Bo")]
    listed = live.ask(f"/team/{LAB}/state", **browser).json["students"]
    assert [row["student"] for row in listed] == ["ada", "bo"]
    hand_in(live, **browser)
    hand_in(live, NOTEBOOK + b" ", **student)
    until(lambda: platform.grades)
    time.sleep(0.3)
    assert [score["userId"] for score in platform.scores] == ["3"]
    assert place_of(["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"]) == ""


def test_points_that_do_not_arrive_are_named_and_arrive_later_or_at_the_next_start(live, platform):
    browser, other = cookies_after(live, platform, "3"), cookies_after(live, platform, "4")
    until(lambda: class_list().people)  # nothing else is asked for now
    platform.refuses += [503] * 2 + [409]
    hand_in(live, **browser)
    said = "have not reached the learning system: it answers with status"
    until(lambda: f"The points of ada {said} 503" in live.service.trouble)
    until(lambda: "3" in platform.grades and not live.service.trouble)
    platform.refuses += [400] * 3
    hand_in(live, NOTEBOOK + b" ", **other)
    until(lambda: f"The points of bo {said} 400" in live.service.trouble)
    teacher = cookies_after(live, platform, "5")
    assert "points of bo" in live.ask(f"/team/{LAB}/state", **teacher).json["trouble"]
    until(lambda: "4" in platform.grades and not live.service.trouble)
    live.service.part.close()  # what nobody sent before the end is sent at the next start
    live.service.journal.log(
        "prof", "overrule", LAB, "bo", question=QUESTION, points=0.0, why="It is copied."
    )
    time.sleep(0.3)
    assert "copied" not in platform.grades["4"][1]
    live.service.part = LtiClass(live.service)
    live.service.part.start()
    until(lambda: "copied" in platform.grades["4"][1])


def test_what_the_team_decides_and_lateness_count(live, platform, course_at):
    browser = cookies_after(live, platform, "3")
    due = datetime.now(UTC) - timedelta(hours=1)
    course_at(f"{platform.policy}[late]\npercent_per_day = 10\n[labs.00]\ndue = {due:%Y-%m-%dT%H:%M:%S}Z\n")
    hand_in(live, **browser)
    until(lambda: platform.grades)
    assert (
        platform.grades["3"][0] == pytest.approx(0.9 * FULL)
        and "Lateness takes off" in platform.grades["3"][1]
    )
    live.service.journal.log(
        "prof", "overrule", LAB, "ada", question=QUESTION, points=0.0, why="It is copied."
    )
    until(lambda: "It is copied." in platform.grades["3"][1])
    less = (spec(LAB).max_score - MOST) / spec(LAB).max_score
    assert platform.grades["3"][0] == pytest.approx(0.9 * FULL * less, abs=0.001)


def test_what_a_person_enters_for_a_written_answer_is_sent_while_its_attempt_counts(live, platform):
    browser = cookies_after(live, platform, "3")
    hand_in(live, right=False, **browser)
    until(lambda: platform.grades)
    assert "not read yet" in platform.grades["3"][1]
    [attempt], out = live.service.journal.attempts(LAB, "ada"), live.service.options.out
    with open_gradebook(LAB, out) as gradebook:
        gradebook.write(
            replace(live.service.journal.result(attempt), student="ada", submitted_at=attempt.received_at)
        )
    with sqlite3.connect(out / "gradebook.db") as database:
        database.execute("UPDATE grade SET manual_score = 1, needs_manual_grade = 0 WHERE auto_score IS NULL")
        database.execute("UPDATE comment SET manual_comment = 'Well said.'")
    until(lambda: platform.grades["3"][0])
    points, comment, _ = platform.grades["3"]
    read = len(spec(LAB).written)
    assert points == pytest.approx(read / (spec(LAB).max_score + WRITTEN)) and "Well said." in comment
    time.sleep(1.1)  # an attempt's time has whole seconds
    hand_in(live, NOTEBOOK + b" ", **browser)
    until(lambda: platform.grades["3"][0] == pytest.approx(FULL))
    assert "not read yet" in platform.grades["3"][1] and "Well said." not in platform.grades["3"][1]


def test_points_that_a_student_may_not_see_or_the_gradebook_has_no_column_for_are_not_sent(
    live, platform, course_at
):
    hand_in(live, **cookies_after(live, platform, "3", **{AGS + "claim/endpoint": None}))
    until(lambda: "allow grades there" in live.service.trouble)
    browser = cookies_after(live, platform, "4")
    until(lambda: "3" in platform.grades)
    course_at(f'{platform.policy}[live]\nverdicts = "pass or fail"\n')
    hand_in(live, NOTEBOOK + b" ", **browser)
    time.sleep(0.5)
    assert "4" not in platform.grades
    course_at(platform.policy)
    until(lambda: "4" in platform.grades)


def test_the_courses_own_list_says_who_somebody_is_and_nobody_comes_in_as_another(
    live, platform, course_at, tmp_path, monkeypatch
):
    (tmp_path / "roster.csv").write_text(
        "student,name,username,ID number\nlovelace,Ada,ada,S1\nbo,Bo,bdiaz,S2\n"
    )
    monkeypatch.delenv("COURSE_ROSTER")
    course_at(f'roster = "{tmp_path}/roster.csv"\n{platform.policy}')
    assert hand_in(live, **cookies_after(live, platform, "3")) == "lovelace"
    assert platform.launch(live, "4").status == 409, "a user name that resembles a classmate's folder"
    taken = platform.launch(live, "4", **{CLAIM + "ext": {"user_username": "ada"}})
    assert taken.status == 409 and "Somebody else is called lovelace" in taken.json["message"]
    prof = platform.launch(live, "4", **{CLAIM + "ext": {"user_username": "prof"}})
    assert prof.status == 409, "a student who is called as somebody of the team"


def test_our_key_is_made_once_and_is_its_owners_alone(course_at, platform):
    course_at("")
    key, path = private_key(), course_file().with_name(".lti-key.pem")
    assert "PRIVATE KEY" in key and private_key() == key and path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UserError, match=r"write \[lti\]"):
        policy_of()
    for wrong, sentence in (
        (platform.policy.replace("http://127.0.0.1", "http://moodle.uni.edu"), "https://"),
        (platform.policy.replace("00 = 7", "77 = 7"), "there is no lab"),
    ):
        course_at(wrong)
        with pytest.raises(UserError, match=sentence):
            policy_of()
