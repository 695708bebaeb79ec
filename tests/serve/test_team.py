"""What the teaching team decides is done, logged, and seen by the student it is about and by nobody else."""

import json
from datetime import timedelta

from autograder.course.policy_file import extension_of, spec
from autograder.judging.run import NOT_WRITTEN
from autograder.results import QuestionResult, TestResult
from autograder.serve.room import seen
from tests.fixtures.live_class import NOTEBOOK, Answer, LiveClass
from tests.serve.conftest import LAB

QUESTION, MOST = spec(LAB).questions[0]
POINTS: dict[str, object] = {
    "do": "overrule", "student": "ada", "question": QUESTION, "points": 1, "why": "Half of it is right.",
}  # fmt: skip


def decide(live: LiveClass, who: str = "prof", **wish: object) -> Answer:
    return live.ask(f"/team/{LAB}/decide", json.dumps(wish).encode(), who)


def row(live: LiveClass, student: str) -> dict:
    rows = live.ask(f"/team/{LAB}/state", who="prof").json["students"]
    return next(row for row in rows if row["student"] == student)


def test_a_regrade_waits_in_the_queue_like_any_other(live):
    receipt = live.hand_in("ada", right=True).receipt
    assert decide(live, do="regrade", receipt=receipt).status == 200
    assert row(live, "ada")["waiting"] == 1 and len(live.service.queue) == 1
    assert decide(live, do="regrade", receipt=receipt).status == 409
    assert live.ask(f"/receipts/{receipt}", who="ada").json["state"] == "waiting"


def test_the_team_sees_why_a_notebook_has_few_points(live):
    error = "Its cell did not run: SyntaxError: invalid syntax (line 3: x = 3 − 1)"
    stopped = QuestionResult(QUESTION, 0.0, MOST, cause=error, did_not_run=True)
    live.hand_in("ada", status="partly-run", questions=(stopped,))
    assert row(live, "ada")["errors"] == [f"Q1: {error}"]
    unwritten = QuestionResult(QUESTION, 0.0, MOST, cause="Not written yet.")
    live.hand_in("bo", questions=(unwritten,))
    assert row(live, "bo")["errors"] == ["Q1: Not written yet"]


def test_an_overruled_question_is_told_to_its_student_only_and_the_last_word_holds(live):
    live.hand_in("ada")
    assert [decide(live, **POINTS | {"points": points}).status for points in (1, 2)] == [200, 200]
    told = live.ask(f"/labs/{LAB}/requests", who="ada").json["overruled"]
    assert [(one["question"], one["points"], one["why"]) for one in told] == [
        (QUESTION, 2.0, "Half of it is right.")
    ]
    assert live.ask(f"/labs/{LAB}/requests", who="bo").json["overruled"] == []
    own = live.ask(f"/labs/{LAB}/attempts", who="ada").json["attempts"][0]
    assert row(live, "ada")["score"] == own["score"] == 2.0, "the sum has it, too"


#: Decisions that make no sense.
SENSELESS: list[dict[str, object]] = [
    *(
        POINTS | wrong
        for wrong in ({"points": 1e9}, {"why": " "}, {"question": "none"}, {"student": "nobody"})
    ),
    {"do": "extend", "student": "ada", "days": -1},
    {"do": "extend", "student": "../ada", "days": 1},
    {"do": "regrade", "receipt": "00-NOTHING"},
    {"do": "answer", "request": 99, "text": "x"},
    {"do": "delete"},
]


def test_a_decision_without_sense_or_of_a_student_is_refused_and_not_logged(live):
    receipt = live.hand_in("ada").receipt
    for wish in SENSELESS:
        assert decide(live, **wish).status in (400, 404), wish
    for wish in (
        {"do": "regrade", "receipt": receipt},
        POINTS,
        {"do": "extend", "student": "ada", "days": 9},
        {"do": "grade"},
    ):
        assert decide(live, "ada", **wish).status == 403
    assert live.service.journal.events("regrade", "overrule", "extension", "answer") == []


def test_an_extension_counts_and_can_be_taken_back(live):
    live.hand_in("ada")
    assert decide(live, do="extend", student="ada", days=2).status == 200
    assert extension_of(LAB, "ada") == timedelta(days=2)
    assert extension_of("01_markov_bigram", "ada") is None
    assert row(live, "ada")["days"] == 2
    decide(live, do="extend", student="ada", days=0)
    assert extension_of(LAB, "ada") is None


def test_a_student_asks_once_and_reads_the_answer(live):
    def ask(who: str, text: str) -> int:
        return live.ask(f"/labs/{LAB}/requests", json.dumps({"text": text}).encode(), who).status

    assert ask("ada", "Please look.") == 409  # nothing was handed in
    live.hand_in("ada")
    assert (ask("ada", " "), ask("ada", "Please look."), ask("ada", "And again.")) == (400, 201, 409)
    request = row(live, "ada")["request"]
    assert request["text"] == "Please look."
    assert decide(live, do="answer", request=request["id"], text="I did: it is wrong.").status == 200
    assert live.ask(f"/labs/{LAB}/requests", who="ada").json["requests"][0]["answer"] == "I did: it is wrong."
    assert live.ask(f"/labs/{LAB}/requests", who="bo").json["requests"] == []
    log = live.ask(f"/team/{LAB}/state", who="prof").json["log"]
    assert log[-1].endswith(": prof answered ada: “I did: it is wrong.”")
    assert ask("ada", "Another thing.") == 201


def test_the_room_counts_last_verdicts_of_the_exercise_the_last_minutes_or_all_and_names_nobody(
    live, monkeypatch
):
    def students(view: str) -> int:
        return seen(LAB, live.service.journal, view)["students"]

    live.hand_in("ada", right=True)
    live.hand_in("bo", right=False, misconception="softmax over the wrong axis")
    shown = seen(LAB, live.service.journal, "all")
    first = shown["questions"][0]
    assert (first["right"], first["of"]) == (1, 2)
    assert first["misconceptions"] == [{"title": "softmax over the wrong axis", "count": 1}]
    assert "ada" not in json.dumps(shown) and '"bo"' not in json.dumps(shown)
    live.hand_in("ada", right=False, content=NOTEBOOK + b"stuck")
    unwritten = QuestionResult(QUESTION, 0.0, MOST, (TestResult("Does it.", False, NOT_WRITTEN),))
    live.hand_in("bo", content=NOTEBOOK + b"not begun", questions=(unwritten,))
    first = seen(LAB, live.service.journal, "all")["questions"][0]
    assert (first["of"], first["right"], first["not_begun"]) == (2, 0, 1)
    assert first["stuck"] == [{"title": "Does it.", "count": 1}]
    assert live.ask(f"/room/{LAB}/exercise", b'{"do": "start", "minutes": 5}', "prof").status == 200
    assert (students("all"), students("exercise")) == (2, 0)
    live.hand_in("bo", content=NOTEBOOK + b"in class")
    assert (students("exercise"), students("now")) == (1, 2)
    monkeypatch.setattr("autograder.serve.room.NOW_SECONDS", 0)
    assert students("now") == 0


def test_a_student_reads_the_feedback_page_of_an_attempt_with_what_the_team_said(live, course_at):
    cell = {"cell_type": "code", "metadata": {}, "source": f"def {QUESTION}(x):\n    return <b>"}
    content = json.dumps({**json.loads(NOTEBOOK), "cells": [cell]}).encode()
    address = f"/receipts/{live.hand_in('ada', content).receipt}/feedback"
    decide(live, **POINTS | {"points": MOST / 2})
    page = live.ask(address, who="ada")
    said = page.body.decode()
    assert "What to change" in said and "return &lt;b&gt;" in said
    assert "script" not in page.headers["content-security-policy"]
    assert "Half of it is right." in said and f"−{MOST / 2:g}" in said
    assert [live.ask(address, who=who).status for who in ("prof", "bo", "")] == [200, 403, 401]
    course_at('[live]\nverdicts = "pass or fail"')
    assert live.ask(address, who="ada").status == 403
