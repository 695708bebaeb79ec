"""What strangers, and students who try, get from the service: a sentence, and nobody else's anything."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from autograder.errors import UserError
from autograder.results import SubmissionResult
from autograder.serve import hand_in
from autograder.serve.hand_in import LISTED, MAX_BYTES, WAITS_OF_ONE
from autograder.serve.journal import Journal
from autograder.serve.service import A_MINUTE, UPLOADS_OF_ONE, Options
from tests.fixtures.live_class import NOTEBOOK, Answer, LiveClass, addresses

LAB = "00_warm_up"
HAND_IN = f"/labs/{LAB}/hand-in"


@pytest.fixture
def live(tmp_path: Path, course_at) -> Iterator[LiveClass]:
    course_at("")
    with addresses(tmp_path / "out", LAB) as running:
        yield running


def handed_in(live: LiveClass, who: str = "ada", content: bytes = NOTEBOOK) -> dict:
    answer = live.ask(HAND_IN, content, who)
    assert answer.status == 201, answer.body
    return answer.json


def came_in(live: LiveClass, who: str) -> Answer:
    """What a browser gets that opened the invitation and pressed its button."""
    opened = live.ask(f"/in/{live.tokens[who]}", Accept="text/html")
    assert opened.status == 200 and f"<bdi>{who}</bdi>" in opened.body.decode()
    assert ("Are you" in opened.body.decode()) == (who != "prof"), "the team's link says what it opens"
    xsrf = opened.headers["set-cookie"].split(";")[0]
    field = opened.body.decode().split('name="_xsrf" value="')[1].split('"')[0]
    entered = live.ask(f"/in/{live.tokens[who]}", urlencode({"_xsrf": field}).encode(), Cookie=xsrf,
                       Content_Type="application/x-www-form-urlencoded")  # fmt: skip
    assert entered.status == 302
    return entered


def signed_in(live: LiveClass, who: str) -> tuple[str, str]:
    """The cookies of a browser that came in by an invitation, and the token in its page."""
    session = came_in(live, who).headers["set-cookie"].split(";")[0]
    page = live.ask("/", Cookie=session, Accept="text/html")
    assert page.status == 200
    xsrf = page.headers["set-cookie"].split(";")[0]
    return f"{session}; {xsrf}", page.body.decode().split('data-xsrf="')[1].split('"')[0]


def test_a_notebook_is_received_under_a_receipt_that_its_student_can_look_up(live):
    card = handed_in(live)
    assert live.ask(f"/receipts/{card['receipt']}", who="ada").json["state"] == "waiting"
    place = live.service.journal.notebook(LAB, card["receipt"])
    assert place.read_bytes() == NOTEBOOK
    assert not list(live.service.journal.incoming.iterdir())


def test_the_same_notebook_sent_twice_has_one_receipt(live):
    first, again = handed_in(live), live.ask(HAND_IN, NOTEBOOK, "ada")
    assert (again.status, again.json["new"], again.json["receipt"]) == (200, False, first["receipt"])


def test_nobody_gets_anything_without_a_token(live):
    for path in ("/", HAND_IN, f"/labs/{LAB}/attempts", f"/room/{LAB}", f"/room/{LAB}/events", "/receipts/X"):
        body = NOTEBOOK if path == HAND_IN else None
        assert live.ask(path, body).status in (401, 403), path
        assert live.ask(path, body, Authorization="Bearer wrong").status in (401, 403), path
    assert live.service.journal.attempts(LAB) == []


def test_anothers_receipt_and_one_that_is_none_look_the_same(live):
    receipt = handed_in(live, "ada")["receipt"]
    theirs, nobodys = (
        live.ask(f"/receipts/{receipt}", who="bo"),
        live.ask("/receipts/00-AAAAAAAAAA", who="bo"),
    )
    assert (
        (theirs.status, theirs.json)
        == (nobodys.status, nobodys.json)
        == (403, {"message": "This is no receipt of yours."})
    )
    assert live.ask(f"/labs/{LAB}/attempts", who="bo").json["attempts"] == []


def test_a_student_neither_sees_the_teams_pages_nor_starts_an_exercise(live):
    for path in (f"/room/{LAB}", f"/room/{LAB}/events"):
        assert live.ask(path, who="ada").status == 403
    assert live.ask(f"/room/{LAB}/exercise", b'{"do": "start"}', "ada").status == 403
    assert live.service.rooms[LAB].exercise is None


def test_a_page_under_another_name_gets_nothing(live):
    """DNS rebinding: a stranger's name that points here."""
    for host in ("evil.example", f"evil.example:{live.port}", "localhost.evil.example", ""):
        answer = live.ask("/", who="ada", host=host or "evil")
        assert answer.status == 421, host


def test_a_browser_hands_in_with_the_token_of_our_page_and_not_without(live):
    cookies, xsrf = signed_in(live, "ada")
    assert live.ask(HAND_IN, NOTEBOOK, Cookie=cookies).status == 403
    assert live.ask(HAND_IN, NOTEBOOK, Cookie=cookies, X_XSRFToken="x" * 20).status == 403
    foreign = live.ask(HAND_IN, NOTEBOOK, Cookie=cookies, X_XSRFToken=xsrf, Origin="http://evil.example")
    assert foreign.status == 403
    assert live.service.journal.attempts(LAB) == []
    assert live.ask(HAND_IN, NOTEBOOK, Cookie=cookies, X_XSRFToken=xsrf).status == 201


def test_a_session_cannot_be_made_up_and_ends_with_its_invitation(live):
    cookies, _ = signed_in(live, "ada")
    name, _, value = cookies.split(";")[0].partition("=")
    forged = value.strip('"').rsplit("|", 1)[0] + "|" + "0" * 64
    assert live.ask("/", Cookie=f'{name}="{forged}"').status == 401
    assert live.ask("/", Cookie=cookies).status == 200
    live.service.journal.invite("ada")
    assert live.ask("/", Cookie=cookies).status == 401


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(live):
    cookie = came_in(live, "ada").headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie and live.tokens["ada"].lower() not in cookie


def test_opening_a_link_signs_nobody_in_and_a_page_of_another_site_cannot_press_its_button(live):
    link = f"/in/{live.tokens['ada']}"
    assert "autograder-session" not in live.ask(link).headers["set-cookie"]
    pressed = live.ask(link, b"", Origin="https://elsewhere.example")
    assert pressed.status == 403 and "set-cookie" not in pressed.headers
    assert live.ask("/in/no-such-invitation", b"").status == 403


def test_somebodys_link_does_not_take_the_place_of_who_is_signed_in(live):
    cookies, _ = signed_in(live, "ada")
    answer = live.ask(f"/in/{live.tokens['bo']}", Cookie=cookies)
    assert answer.status == 409 and "set-cookie" not in answer.headers


def begun(live: LiveClass, who: str) -> socket.socket:
    """An upload of which one byte came."""
    line = socket.create_connection(("127.0.0.1", live.port), 60)
    head = f"POST {HAND_IN} HTTP/1.1\r\nHost: localhost:{live.port}\r\nAuthorization: Bearer {live.tokens[who]}\r\n"
    line.sendall((head + "Content-Length: 1000\r\n\r\n{").encode())
    return line


def test_silent_connections_keep_nobody_from_an_answer(live):
    """Of strangers without a token, more than the service takes: nothing sent, half a head, half a body."""
    beginnings = [b"", b"GET / HT", b"POST /out HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n{"]
    with contextlib.ExitStack() as lines:
        for number in range(300):
            line = lines.enter_context(socket.create_connection(("127.0.0.1", live.port), 60))
            with contextlib.suppress(OSError):  # it had to make way already
                line.sendall(beginnings[number % 3])
            if number % 100 == 50:
                assert live.ask("/", who="ada").status == 200
        handed_in(live)


def test_who_waits_for_an_answer_does_not_make_way_for_silent_connections(live):
    receipt = handed_in(live)["receipt"]
    answers: list[Answer] = []

    def wait() -> None:
        answers.append(live.ask(f"/receipts/{receipt}?wait=4", who="ada"))

    waiting = threading.Thread(target=wait)
    waiting.start()
    until(lambda: live.service.waits.total() or answers)  # its question has come
    with contextlib.ExitStack() as lines:
        for _ in range(300):
            lines.enter_context(socket.create_connection(("127.0.0.1", live.port), 60))
        waiting.join(60)
    assert [answer.status for answer in answers] == [200]


def test_one_persons_waits_are_bounded(live, make_result):
    journal, receipt = live.service.journal, handed_in(live)["receipt"]
    answers: list[Answer] = []
    waiting = [
        threading.Thread(target=lambda: answers.append(live.ask(f"/receipts/{receipt}?wait=25", who="ada")))
        for _ in range(WAITS_OF_ONE)
    ]
    for one in waiting:
        one.start()
    until(lambda: live.service.waits["ada"] == WAITS_OF_ONE)
    assert live.ask(f"/receipts/{receipt}?wait=25", who="ada").json["state"] == "waiting"
    assert answers == [], "one more is answered at once, before those that wait"
    attempt, result = journal.of_receipt(receipt), make_result("ada", 4, 6)
    journal.finish(attempt, result)
    live.service._told(attempt, result)
    for one in waiting:
        one.join(60)
    assert {answer.status for answer in answers} == {200} and not live.service.waits.total()


def test_slow_uploads_of_one_person_leave_places_for_the_others(live, monkeypatch):
    monkeypatch.setattr(hand_in, "UPLOADS", UPLOADS_OF_ONE + 1)
    with contextlib.ExitStack() as lines:
        for _ in range(UPLOADS_OF_ONE):
            lines.enter_context(begun(live, "ada"))
        until(lambda: live.service.uploads["ada"] == UPLOADS_OF_ONE)
        refused = lines.enter_context(begun(live, "ada"))
        assert refused.recv(1000).startswith(b"HTTP/1.1 429")
        handed_in(live, "bo")
    nothing_is_left(live)
    handed_in(live)


def until(reached: Callable[[], object]) -> None:
    """Wait until something is so: connections are not read in the order in which they came."""
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.01)


def nothing_is_left(live: LiveClass) -> None:
    """No upload has a place any more, and none has left a file."""
    until(lambda: not live.service.uploads.total() and not list(live.service.journal.incoming.iterdir()))


def test_an_upload_that_sends_nothing_more_gives_its_place_up(live, monkeypatch):
    monkeypatch.setattr(hand_in, "STALLED", 0.5)
    with begun(live, "ada") as line:
        assert line.recv(1000) == b""
    nothing_is_left(live)
    handed_in(live)


def test_a_notebook_that_is_too_large_is_refused_before_it_is_sent(live):
    with socket.create_connection(("127.0.0.1", live.port), 60) as line:
        head = f"POST {HAND_IN} HTTP/1.1\r\nHost: localhost:{live.port}\r\nAuthorization: Bearer {live.tokens['ada']}\r\n"
        line.sendall((head + f"Content-Length: {MAX_BYTES + 1}\r\n\r\n").encode())
        assert line.recv(1000).startswith(b"HTTP/1.1 413")
    assert not list(live.service.journal.incoming.iterdir())


def test_a_body_without_a_length_and_without_an_end_is_cut_off(live):
    with socket.create_connection(("127.0.0.1", live.port), 60) as line:
        head = f"POST {HAND_IN} HTTP/1.1\r\nHost: localhost:{live.port}\r\nAuthorization: Bearer {live.tokens['ada']}\r\n"
        line.sendall((head + "Transfer-Encoding: chunked\r\n\r\n").encode())
        sent = 0
        with pytest.raises(OSError):
            while sent < 4 * MAX_BYTES:
                line.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
                sent += 0x10000
    assert sent <= MAX_BYTES + (8 << 20)  # what lay in buffers
    nothing_is_left(live)


def test_a_connection_that_breaks_off_leaves_nothing(live):
    with begun(live, "ada"):
        until(lambda: live.service.uploads["ada"])
    nothing_is_left(live)


def test_what_is_no_notebook_is_not_taken(live):
    for body in (b"", b"PK\x03\x04 a zip", b"<html>", b'{"kernelspec": 1}', b'["cells"]'):
        answer = live.ask(HAND_IN, body, "ada")
        assert answer.status == 422 and "no notebook" in answer.json["message"], body
    assert live.service.journal.attempts(LAB) == []


def test_sending_again_and_again_is_slowed_down_for_who_does_it_only(live):
    statuses = [live.ask(HAND_IN, b"no notebook", "ada").status for _ in range(A_MINUTE + 3)]
    assert statuses[-3:] == [429] * 3
    handed_in(live, "bo")


def test_three_that_wait_are_enough_and_the_answer_says_when(live):
    for number in range(3):
        handed_in(live, content=NOTEBOOK + b" " * number)
    answer = live.ask(HAND_IN, NOTEBOOK + b"    ", "ada")
    assert answer.status == 429 and int(answer.headers["retry-after"]) >= 1
    assert len(live.service.journal.attempts(LAB)) == 3


def test_made_up_names_lead_nowhere(live):
    for path in (
        "/labs/../x/hand-in", "/labs/01_markov_bigram/hand-in", "/labs/99_x/hand-in", "/receipts/..%2f..%2fx",
        "/demos/..%2f..%2fetc.html", "/in/../x", "/%00",
    ):  # fmt: skip
        answer = live.ask(path, NOTEBOOK if "hand-in" in path else None, "ada")
        assert answer.status in (400, 403, 404), path
    assert live.service.journal.attempts(LAB) == []


def test_an_exercise_is_started_with_sense_or_not_at_all(live):
    for body in (
        b"", b"[]", b'{"do": "stop"}', b'{"do": "start", "minutes": -1}', b'{"do": "start", "minutes": "9"}',
        b'{"do": "start", "minutes": 1e999}',
    ):  # fmt: skip
        assert live.ask(f"/room/{LAB}/exercise", body, "prof").status == 400, body
        assert live.service.rooms[LAB].exercise is None, body


def test_an_exercise_is_started_and_stopped_and_survives_a_new_start(live):
    assert live.ask(f"/room/{LAB}/exercise", b'{"do": "start", "minutes": 10}', "prof").status == 200
    assert live.service.rooms[LAB].seen("exercise")["running"]
    from autograder.serve.room import Room

    assert Room.of(LAB, live.service.journal).exercise == live.service.rooms[LAB].exercise
    assert live.ask(f"/room/{LAB}/exercise", b'{"do": "stop"}', "prof").status == 200
    assert not live.service.rooms[LAB].seen("exercise")["running"]


def test_pages_load_nothing_and_run_only_what_is_ours(live):
    page = live.ask("/", who="ada", Accept="text/html")
    policy = page.headers["content-security-policy"]
    assert (
        "default-src 'none'" in policy
        and "frame-ancestors 'none'" in policy
        and "script-src 'nonce-" in policy
    )
    assert "http://" not in page.body.decode().replace(f"http://localhost:{live.port}", "")
    assert page.headers["cache-control"] == "no-store"


def test_of_very_many_attempts_the_newest_are_listed_and_the_one_that_counts(live):
    journal = live.service.journal
    for number in range(LISTED + 5):
        path = journal.incoming / str(number)
        path.write_bytes(NOTEBOOK + b" " * number)
        attempt, _ = journal.receive(LAB, "ada", path, lambda *_: None)
        better = 3.0 if number == 2 else 1.0
        journal.finish(attempt, SubmissionResult("ada", LAB, "graded", better, 20.0, 1.0))
    listed = live.ask(f"/labs/{LAB}/attempts", who="ada").json
    assert [card["number"] for card in listed["attempts"]] == [3, *range(6, LISTED + 6)]
    assert listed["counting"] == listed["attempts"][0]["receipt"]
    assert listed["left_out"] == 4


def test_errors_are_sentences_without_anything_of_the_program(live, monkeypatch):
    monkeypatch.setattr(live.service.journal, "attempts", lambda *_: 1 / 0)
    answer = live.ask(f"/labs/{LAB}/attempts", who="ada")
    assert answer.status == 500
    assert json.loads(answer.body) == {"message": "Something went wrong here, which is not your fault."}


def test_odd_json_is_answered_with_a_sentence_and_no_error_of_ours(live):
    handed_in(live)
    for body in (b'{"text": "\\ud800"}', b"[" * 60_000, b'{"text": NaN}', b"\xff\xfe"):
        assert live.ask(f"/labs/{LAB}/requests", body, "ada").status in (201, 400), body[:20]


def test_what_a_student_writes_cannot_command_the_teams_screen(live):
    handed_in(live)
    assert live.ask(f"/labs/{LAB}/requests", b'{"text": "a\\u202eb\\u001b[31mc\\ud800"}', "ada").status == 201
    [asked] = live.ask(f"/labs/{LAB}/requests", who="ada").json["requests"]
    assert not set(asked["text"]) & set("\u202e\x1b\ud800") and asked["text"].startswith("a")


def many_attempts(live: LiveClass, count: int, make_result) -> list[str]:
    """The receipts of so many attempts of ada's, all graded."""
    journal, receipts = live.service.journal, []
    for number in range(count):
        file = journal.incoming / "upload"
        file.write_bytes(NOTEBOOK + str(number).encode())
        attempt, _ = journal.receive(LAB, "ada", file, lambda earlier: None)
        journal.finish(attempt, make_result("ada", number % 5, 1))
        receipts.append(attempt.receipt)
    return receipts


def test_a_request_reads_the_results_that_it_shows_and_no_others(live, make_result, monkeypatch):
    receipts = many_attempts(live, LISTED + 30, make_result)
    read: list[object] = []
    result = Journal.result
    monkeypatch.setattr(
        Journal, "result", lambda journal, attempt: read.append(attempt) or result(journal, attempt)
    )
    for path, who, most in [
        (f"/labs/{LAB}/attempts", "ada", LISTED + 1),
        (f"/receipts/{receipts[3]}", "ada", 1),
        (f"/team/{LAB}/state", "prof", 0),
    ]:
        read.clear()
        seen: list[str] = []
        live.service.journal._db.set_trace_callback(seen.append)
        assert live.ask(path, who=who).status == 200
        live.service.journal._db.set_trace_callback(None)
        assert len(read) <= most and sum("FROM results" in statement for statement in seen) <= most
    assert live.ask(f"/receipts/{receipts[3]}", who="ada").json["attempt"] == 4


def test_who_asks_more_than_any_page_of_ours_does_is_told_so_and_the_others_are_answered(live, monkeypatch):
    monkeypatch.setattr("autograder.serve.service.READS_A_MINUTE", 20)
    statuses = [live.ask(f"/labs/{LAB}/attempts", who="ada").status for _ in range(23)]
    assert statuses == [200] * 20 + [429] * 3
    refused = live.ask(f"/labs/{LAB}/requests", who="ada")
    assert refused.status == 429 and "wait a minute" in refused.json["message"]
    assert live.ask(f"/labs/{LAB}/attempts", who="bo").status == 200
    assert live.ask(HAND_IN, NOTEBOOK, "ada").status == 201, "handing in has a rate of its own"


def test_a_name_that_no_folder_can_have_is_nobodys(live):
    with pytest.raises(UserError, match="cannot be the name of a folder"):
        live.service.student_of("../../etc")
    assert live.service.student_of("ada") == "ada"


def test_the_name_is_the_one_that_browsers_ask_for(tmp_path):
    for url, host, base in (
        ("https://Live.example.org:443/", "live.example.org", "/"),
        ("http://live.example.org:80/class/", "live.example.org", "/class/"),
        ("https://live.example.org:8443", "live.example.org:8443", "/"),
    ):
        options = Options((LAB,), tmp_path, url, 1)
        assert (options.host, options.base) == (host, base)
