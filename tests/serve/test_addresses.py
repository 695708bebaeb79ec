"""What strangers, and students who try, get from the service: a sentence, and nobody else's anything."""

import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, urlencode

import pytest

from autograder.errors import UserError
from autograder.serve import app
from autograder.serve.hand_in import LISTED, MAX_BYTES, UPLOADS_A_MINUTE
from autograder.serve.room import exercise_of, seen
from autograder.serve.service import Options
from tests.fixtures.live_class import NOTEBOOK, Answer, LiveClass, addresses
from tests.fixtures.waiting import until
from tests.serve.conftest import LAB

HAND_IN = f"/labs/{LAB}/hand-in"


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
    assert page.status == 200 and page.headers["cache-control"] == "no-store"
    for rule in ("default-src 'none'", "frame-ancestors 'none'", "script-src 'nonce-"):
        assert rule in page.headers["content-security-policy"]
    xsrf = page.headers["set-cookie"].split(";")[0]
    return f"{session}; {xsrf}", page.body.decode().split('data-xsrf="')[1].split('"')[0]


def test_a_notebook_has_one_receipt_that_its_student_alone_can_look_up(live):
    card = handed_in(live)
    receipt = f"/receipts/{card['receipt']}"
    assert live.ask(receipt, who="ada").json["state"] == "waiting"
    assert live.service.journal.notebook(LAB, card["receipt"]).read_bytes() == NOTEBOOK
    assert not list(live.service.journal.incoming.iterdir())
    again = live.ask(HAND_IN, NOTEBOOK, "ada")
    assert (again.status, again.json["new"], again.json["receipt"]) == (200, False, card["receipt"])
    for path in (receipt, "/receipts/00-AAAAAAAAAA"):
        answer = live.ask(path, who="bo")
        assert (answer.status, answer.json) == (403, {"message": "This is no receipt of yours."})
    assert live.ask(f"/labs/{LAB}/attempts", who="bo").json["attempts"] == []


def test_nobody_gets_anything_without_a_token_and_no_student_what_is_the_teams(live):
    for path in ("/", HAND_IN, f"/labs/{LAB}/attempts", f"/room/{LAB}", f"/room/{LAB}/events", "/receipts/X",
                 f"/team/{LAB}", f"/team/{LAB}/state"):  # fmt: skip
        body = NOTEBOOK if path == HAND_IN else None
        assert live.ask(path, body).status in (401, 403), path
        assert live.ask(path, body, Authorization="Bearer wrong").status in (401, 403), path
        if "room" in path or "team" in path:
            assert live.ask(path, who="ada").status == 403
    assert live.ask(f"/room/{LAB}/exercise", b'{"do": "start"}', "ada").status == 403
    assert live.service.journal.attempts(LAB) == [] and exercise_of(LAB, live.service.journal) is None


def test_a_page_under_another_name_gets_nothing(live, tmp_path):
    """DNS rebinding: a stranger's name that points here."""
    for host in ("evil.example", f"evil.example:{live.port}", "localhost.evil.example"):
        assert live.ask("/", who="ada", host=host).status == 421, host
    for url, name in (("https://Live.example.org:443/", "live.example.org"), ("http://x.org:8/", "x.org:8")):
        assert Options((LAB,), tmp_path, url, 1).hosts == {name}


def test_a_browser_hands_in_with_the_token_of_our_page_which_loads_nothing_and_not_without(live):
    cookies, xsrf = signed_in(live, "ada")
    assert live.ask(HAND_IN, NOTEBOOK, Cookie=cookies).status == 403
    assert live.ask(HAND_IN, NOTEBOOK, Cookie=cookies, X_XSRFToken="x" * 20).status == 403
    for origin in ("http://evil.example", "http://[", "null", "http://", "//localhost"):
        assert live.ask(HAND_IN, NOTEBOOK, Cookie=cookies, X_XSRFToken=xsrf, Origin=origin).status == 403
    assert live.service.journal.attempts(LAB) == []
    assert live.ask(HAND_IN, NOTEBOOK, Cookie=cookies, X_XSRFToken=xsrf).status == 201


def test_a_session_cannot_be_made_up_and_ends_with_its_invitation(live):
    cookie = came_in(live, "ada").headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie and live.tokens["ada"].lower() not in cookie
    cookies, _ = signed_in(live, "ada")
    link = f"/in/{live.tokens['ada']}"
    assert "autograder-session" not in live.ask(link).headers["set-cookie"], "opening a link signs nobody in"
    pressed = live.ask(link, b"", Origin="https://elsewhere.example")
    assert pressed.status == 403 and "set-cookie" not in pressed.headers
    name, _, value = cookies.split(";")[0].partition("=")
    forged = value.strip('"').rsplit("|", 1)[0] + "|" + "0" * 64
    assert live.ask("/", Cookie=f'{name}="{forged}"').status == 401
    others = live.ask(f"/in/{live.tokens['bo']}", Cookie=cookies)
    assert others.status == 409 and "set-cookie" not in others.headers, "nobody is signed out by a link"
    assert live.ask("/", Cookie=cookies).status == 200
    live.service.journal.invite("ada")
    assert live.ask("/", Cookie=cookies).status == 401


def test_a_question_for_a_verdict_waits_for_it(live, make_result):
    receipt = handed_in(live)["receipt"]
    attempt = live.service.journal.of_receipt(receipt)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(live.ask, f"/receipts/{receipt}?wait=25", who="ada")
        with pytest.raises(TimeoutError):
            waiting.result(0.5)
        live.service.journal.finish(attempt, make_result("ada", 4, 6))
        assert waiting.result(10).json["state"] == "graded"


def sent(live: LiveClass, head: str, body: bytes = b"", who: str = "ada") -> socket.socket:
    """A connection that has sent these lines, ``who``'s token, and the beginning of a body."""
    line = socket.create_connection(("127.0.0.1", live.port), 60)
    lines = f"{head}\r\nHost: localhost:{live.port}\r\nAuthorization: Bearer {live.tokens[who]}\r\n\r\n"
    line.sendall(lines.encode("latin-1", "xmlcharrefreplace") + body)
    return line


def nothing_is_left(live: LiveClass) -> None:
    """No upload has left a file."""
    until(lambda: not list(live.service.journal.incoming.iterdir()))


def test_an_upload_that_is_slow_or_breaks_off_is_ended_and_leaves_no_file(live, monkeypatch, tmp_path):
    begun = f"POST {HAND_IN} HTTP/1.1\r\nContent-Length: 1000", b"{"
    with sent(live, *begun):
        until(lambda: list(live.service.journal.incoming.iterdir()))
        handed_in(live, "bo")
    nothing_is_left(live)
    monkeypatch.setattr(app, "BODY_SECONDS", 0.5)
    with addresses(tmp_path / "impatient", LAB) as other:
        with sent(other, *begun) as line:
            assert line.recv(1000) == b"", "one that sends nothing more is ended"
        nothing_is_left(other)


def test_a_notebook_that_is_too_large_is_refused_before_it_is_sent_or_cut_off(live):
    with sent(live, f"POST {HAND_IN} HTTP/1.1\r\nContent-Length: {MAX_BYTES + 1}") as line:
        assert line.recv(1000).startswith(b"HTTP/1.1 413")
    with sent(live, f"POST {HAND_IN} HTTP/1.1\r\nTransfer-Encoding: chunked") as line:
        came = 0
        with pytest.raises(OSError):
            while came < 4 * MAX_BYTES:
                line.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
                came += 0x10000
    assert came <= MAX_BYTES + (8 << 20)  # what lay in buffers
    nothing_is_left(live)


def test_what_is_no_number_where_one_belongs_is_a_bad_request(live):
    receipt = handed_in(live)["receipt"]
    for number in ("²", "-1", "1e3", "", "9" * 5000):
        with sent(live, f"POST {HAND_IN} HTTP/1.1\r\nContent-Length: {number}") as line:
            assert line.recv(1000).startswith(b"HTTP/1.1 400"), number
        answer = live.ask(f"/receipts/{receipt}?wait={quote(number)}", who="ada")
        assert answer.status == 400 and "whole number" in answer.json["message"], number


def test_what_is_no_notebook_is_not_taken_and_sending_again_and_again_slows_down_who_does_it(live):
    for body in (b"", b"PK\x03\x04 a zip", b"<html>", b'{"kernelspec": 1}', b'["cells"]'):
        answer = live.ask(HAND_IN, body, "ada")
        assert answer.status == 422 and "no notebook" in answer.json["message"], body
    statuses = [live.ask(HAND_IN, b"no notebook", "ada").status for _ in range(UPLOADS_A_MINUTE)]
    assert statuses[-3:] == [429] * 3 and live.service.journal.attempts(LAB) == []
    cards = [handed_in(live, "bo", NOTEBOOK + b" " * number) for number in range(3)]
    assert [(card["state"], card["ahead"], card["seconds"]) for card in cards] == [
        ("waiting", n, n + 1) for n in range(3)
    ]
    answer = live.ask(HAND_IN, NOTEBOOK + b"    ", "bo")
    assert answer.status == 429 and int(answer.headers["retry-after"]) >= 1, "three that wait are enough"
    assert len(live.service.journal.attempts(LAB)) == 3


def test_made_up_names_lead_nowhere(live):
    for path in (
        "/labs/../x/hand-in", "/labs/01_markov_bigram/hand-in", "/labs/99_x/hand-in", "/receipts/..%2f..%2fx",
        "/demos/..%2f..%2fetc.html", "/in/../x", "/%00",
    ):  # fmt: skip
        answer = live.ask(path, NOTEBOOK if "hand-in" in path else None, "ada")
        assert answer.status in (400, 403, 404), path
    assert live.service.journal.attempts(LAB) == []
    with pytest.raises(UserError, match="cannot be the name of a folder"):
        live.service.student_of("../../etc")


def test_an_exercise_is_started_with_sense_stopped_and_survives_a_new_start(live):
    exercise = f"/room/{LAB}/exercise"
    for body in (
        b"", b"[]", b'{"do": "stop"}', b'{"do": "start", "minutes": -1}', b'{"do": "start", "minutes": "9"}',
        b'{"do": "start", "minutes": 1e999}',
    ):  # fmt: skip
        assert live.ask(exercise, body, "prof").status == 400, body
        assert exercise_of(LAB, live.service.journal) is None, body
    assert live.ask(exercise, b'{"do": "start", "minutes": 10}', "prof").status == 200
    journal = live.service.journal
    assert seen(LAB, journal, "exercise")["running"]
    assert live.ask(exercise, b'{"do": "stop"}', "prof").status == 200
    assert not seen(LAB, journal, "exercise")["running"]


def test_of_very_many_attempts_the_newest_are_listed_and_the_one_that_counts(live):
    for number in range(LISTED + 5):
        live.hand_in("ada", NOTEBOOK + b" " * number, right=number == 2)
    listed = live.ask(f"/labs/{LAB}/attempts", who="ada").json
    assert [card["number"] for card in listed["attempts"]] == [3, *range(6, LISTED + 6)]
    assert listed["counting"] == listed["attempts"][0]["receipt"]
    assert listed["left_out"] == 4


def test_odd_json_commands_nobodys_screen_and_errors_are_sentences_without_anything_of_the_program(
    live, monkeypatch
):
    handed_in(live)
    requests = f"/labs/{LAB}/requests"
    for body in (b"[" * 60_000, b'{"text": NaN}', b"\xff\xfe"):
        assert live.ask(requests, body, "ada").status == 400, body[:20]
    assert live.ask(requests, b'{"text": "a\\u202eb\\u001b[31mc\\ud800"}', "ada").status == 201
    [asked] = live.ask(requests, who="ada").json["requests"]
    assert not set(asked["text"]) & set("\u202e\x1b\ud800") and asked["text"].startswith("a")
    monkeypatch.setattr(live.service.journal, "attempts", lambda *_: 1 / 0)
    failed = live.ask(f"/labs/{LAB}/attempts", who="ada")
    assert failed.status == 500
    assert failed.json == {"message": "Something went wrong here, which is not your fault."}


def test_who_asks_more_than_any_page_of_ours_does_is_told_so_and_the_others_are_answered(live, monkeypatch):
    monkeypatch.setattr("autograder.serve.handlers.READS_A_MINUTE", 20)
    statuses = [live.ask(f"/labs/{LAB}/attempts", who="ada").status for _ in range(23)]
    assert statuses == [200] * 20 + [429] * 3
    assert live.ask(f"/labs/{LAB}/attempts", who="bo").status == 200
    assert live.ask(HAND_IN, NOTEBOOK, "ada").status == 201, "handing in has a rate of its own"
