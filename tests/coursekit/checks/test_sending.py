"""``hand_in(link)`` sends what was saved to the live class of the link, and the card says what that answers."""

from __future__ import annotations

import json
import sys
import threading
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from coursekit import hand_in, start
from coursekit.checks.sending import MAX_BYTES, LiveClass, live_class
from coursekit.errors import UserError

LAB = "00_warm_up"
NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
RECEIVED = {"lab": LAB, "receipt": "00-ABC", "received": "1 May, 10:00:00", "attempt": 2, "of": 5, "new": True, "state": "waiting", "seconds": 1, "questions": []}  # fmt: skip
VERDICT = RECEIVED | {"state": "graded", "score": 4.5, "max_score": 6.0, "message": "It ran.", "questions": [
    {"name": "softmax", "passed": True, "points": 4.0, "max_points": 4.0, "cause": "", "hint": ""},
    {"name": "one_hot", "passed": False, "points": 0.5, "max_points": 2.0, "cause": "<b>rows</b> and columns", "hint": "Swap them."}]}  # fmt: skip


class Server:
    """A live class that gives prepared answers, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, Any]]] = [(201, RECEIVED), (200, VERDICT)]
        self.asked: list[tuple[str, str, bytes]] = []
        self.headers: dict[str, str] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.asked.append((self.path, self.headers.get("Authorization", ""), body))
                status, value = outer.answers.pop(0)
                content = json.dumps(value).encode()
                self.send_response(status)
                for name, text in outer.headers.items():
                    self.send_header(name, text)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST

            def log_message(self, *_: object) -> None: ...

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.link = f"http://127.0.0.1:{self.http.server_port}/in/secret"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("COURSE_HAND_IN", "JUPYTERHUB_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / f"{LAB}.ipynb").write_text(NOTEBOOK)
    start(LAB)
    running = Server()
    threading.Thread(target=running.http.serve_forever, args=(0.02,), daemon=True).start()
    yield running
    running.http.shutdown()


def test_the_saved_file_is_sent_as_it_is_and_the_card_shows_receipt_points_and_causes(server):
    card = hand_in(server.link)
    assert server.asked[0] == (f"/labs/{LAB}/hand-in", "Bearer secret", NOTEBOOK.encode())
    assert server.asked[1][0] == "/receipts/00-ABC?wait=20"
    words = repr(card)
    for part in ("attempt 2 of 5", "00-ABC", "4.5 of 6 points", "softmax: 4 of 4 points", "Swap them."):
        assert part in words
    assert "<b>rows</b>" not in card.markup and "&lt;b&gt;rows" in card.markup


def test_a_link_is_kept_where_only_its_owner_reads_it_once_it_worked(server, tmp_path):
    server.answers.insert(0, (403, {"message": "This invitation is over."}))
    assert "This invitation is over." in repr(hand_in(server.link))
    assert not (tmp_path / "config").exists()
    hand_in(server.link)
    kept = tmp_path / "config" / "coursekit" / "hand_in"
    assert kept.stat().st_mode & 0o777 == 0o600
    server.answers = [(200, VERDICT | {"new": False})]
    assert "You handed in exactly this before" in repr(hand_in())


def test_pass_or_fail_and_after_closing_have_cards_too(server):
    failed = {"state": "graded", "message": "It ran.", "questions": [{"name": "softmax", "passed": False}]}
    server.answers = [(201, RECEIVED | failed)]
    assert "softmax: not right yet" in repr(hand_in(server.link))
    server.answers = [(201, RECEIVED | {"state": "kept", "message": "You will see."})]
    words = repr(hand_in(server.link))
    assert "You will see." in words and "points" not in words


def test_a_token_goes_to_nobody_whom_the_live_class_refers_to(server):
    other = Server()
    server.answers, server.headers = [(302, {})], {"Location": other.link}
    assert "Nothing was handed in" in repr(hand_in(server.link))
    assert other.asked == []


def test_a_live_class_that_does_not_answer_or_is_slow_is_said_and_a_notebook_that_is_too_large_is_not_sent(
    server, tmp_path, monkeypatch
):
    monkeypatch.setattr("coursekit.checks.sending.VERDICT_SECONDS", 0.0)
    words = repr(hand_in(server.link))
    assert "00-ABC" in words and "being graded" in words
    server.asked.clear()
    assert "does not answer" in repr(hand_in("http://127.0.0.1:9/in/secret"))
    (tmp_path / f"{LAB}.ipynb").write_text(NOTEBOOK + " " * MAX_BYTES)
    assert "clear the outputs" in repr(hand_in(server.link))
    assert server.asked == []


def test_a_link_that_is_none_is_said_to_be_none_and_on_a_hub_the_address_is_enough(server, monkeypatch):
    for link in ("somewhere", "ftp://a/in/b", "http://a.example/in/", "http://a.example/in/b/c"):
        with pytest.raises(UserError, match="invitation"):
            LiveClass.of_link(link)
    assert "Nothing was handed in" in repr(hand_in(link))
    monkeypatch.setenv("COURSE_HAND_IN", "http://hub.example/services/autograder")
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "mine")
    assert live_class() == LiveClass("http://hub.example/services/autograder/", "mine")


def test_in_colab_the_notebook_on_the_screen_is_sent(server, tmp_path, monkeypatch):
    (tmp_path / f"{LAB}.ipynb").unlink()
    message = types.ModuleType("google.colab._message")
    message.blocking_request = lambda *_, **__: {"ipynb": {"cells": [], "colab": True}}  # type: ignore[attr-defined]
    for name, module in (("google", types.ModuleType("google")), ("google.colab", types.ModuleType("google.colab")), ("google.colab._message", message)):  # fmt: skip
        monkeypatch.setitem(sys.modules, name, module)
    hand_in(server.link)
    assert json.loads(server.asked[0][2]) == {"cells": [], "colab": True}
