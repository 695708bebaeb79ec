"""``hand_in(link)`` sends what was saved to the live class of the link, and the card says what that answers."""

from __future__ import annotations

import json
import sys
import types

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


@pytest.fixture
def link(server, tmp_path, monkeypatch):
    """The link of an invitation to a live class that grades what it received; the lab is saved and started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("COURSE_HAND_IN", "JUPYTERHUB_API_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / f"{LAB}.ipynb").write_text(NOTEBOOK)
    start(LAB)
    server.answers, server.content = [(201, RECEIVED, {})], VERDICT
    return f"{server.address}/in/secret"


def test_the_saved_file_is_sent_as_it_is_and_the_card_shows_receipt_points_and_causes(server, link):
    card = hand_in(link)
    assert server.asked[0] == (f"/labs/{LAB}/hand-in", "Bearer secret", NOTEBOOK.encode())
    assert server.asked[1][0] == "/receipts/00-ABC?wait=20"
    for part in ("attempt 2 of 5", "00-ABC", "4.5 of 6 points", "softmax: 4 of 4 points", "Swap them."):
        assert part in repr(card)
    assert "<b>rows</b>" not in card.markup and "&lt;b&gt;rows" in card.markup


def test_a_link_is_kept_where_only_its_owner_reads_it_once_it_worked(server, link, tmp_path):
    server.answers.insert(0, (403, {"message": "This invitation is over."}, {}))
    assert "This invitation is over." in repr(hand_in(link))
    assert not (tmp_path / "config").exists()
    hand_in(link)
    kept = tmp_path / "config" / "coursekit" / "hand_in"
    assert kept.stat().st_mode & 0o777 == 0o600
    server.content = VERDICT | {"new": False}
    assert "You handed in exactly this before" in repr(hand_in())


def test_pass_or_fail_and_after_closing_have_cards_too(server, link):
    failed = {"state": "graded", "message": "It ran.", "questions": [{"name": "softmax", "passed": False}]}
    closed = {"state": "kept", "message": "You will see."}
    server.answers = [(201, RECEIVED | failed, {}), (201, RECEIVED | closed, {})]
    assert "softmax: not right yet" in repr(hand_in(link))
    words = repr(hand_in(link))
    assert "You will see." in words and "points" not in words


def test_a_live_class_that_is_of_no_help_is_said_to_be_so(server, link, tmp_path, monkeypatch):
    monkeypatch.setattr("coursekit.checks.sending.VERDICT_SECONDS", 0.0)
    words = repr(hand_in(link))
    assert "00-ABC" in words and "being graded" in words
    server.asked.clear()
    server.answers = [(302, {}, {"Location": f"{server.address}/elsewhere"})]
    assert "Nothing was handed in" in repr(hand_in(link))
    assert len(server.asked) == 1, "the token goes to nobody else"
    server.asked.clear()
    assert "does not answer" in repr(hand_in("http://127.0.0.1:9/in/secret"))
    (tmp_path / f"{LAB}.ipynb").write_text(NOTEBOOK + " " * MAX_BYTES)
    assert "clear the outputs" in repr(hand_in(link))
    assert server.asked == []


@pytest.mark.usefixtures("link")
def test_a_link_that_is_none_is_said_to_be_none_and_on_a_hub_the_address_is_enough(monkeypatch):
    for wrong in ("somewhere", "ftp://a/in/b", "http://a.example/in/", "http://a.example/in/b/c"):
        with pytest.raises(UserError, match="invitation"):
            LiveClass.of_link(wrong)
    assert "Nothing was handed in" in repr(hand_in(wrong))
    monkeypatch.setenv("COURSE_HAND_IN", "http://hub.example/services/autograder")
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "mine")
    assert live_class() == LiveClass("http://hub.example/services/autograder/", "mine")


def test_in_colab_the_notebook_on_the_screen_is_sent(server, link, tmp_path, monkeypatch):
    (tmp_path / f"{LAB}.ipynb").unlink()
    for name in ("google", "google.colab", "google.colab._message"):
        monkeypatch.setitem(sys.modules, name, message := types.ModuleType(name))
    message.blocking_request = lambda *_, **__: {"ipynb": {"cells": [], "colab": True}}
    hand_in(link)
    assert json.loads(server.asked[0][2]) == {"cells": [], "colab": True}
