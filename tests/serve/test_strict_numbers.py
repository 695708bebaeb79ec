"""Headers and addresses that strangers write: what is no number there is refused with a sentence, never a fault."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.fixtures.live_class import LiveClass, addresses

LAB = "00_warm_up"
HAND_IN = f"/labs/{LAB}/hand-in"
NO_NUMBERS = ["²", "٣", "-1", "+5", "1_0", "0x10", "1e3", "", "9" * 5000, "nan"]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveClass]:
    with addresses(Path(tmp_path_factory.mktemp("live")) / "out", LAB) as running:
        yield running


def answer_to(live: LiveClass, head: str) -> bytes:
    """The first bytes of the answer to a request of these lines."""
    with socket.create_connection(("127.0.0.1", live.port), 60) as line:
        lines = f"{head}\r\nHost: localhost:{live.port}\r\nAuthorization: Bearer {live.tokens['ada']}\r\n\r\n"
        line.sendall(lines.encode("latin-1", "xmlcharrefreplace"))
        return line.recv(1000)


@pytest.mark.parametrize("length", NO_NUMBERS)
def test_a_length_that_is_no_number_is_a_bad_request(live, length):
    assert answer_to(live, f"POST {HAND_IN} HTTP/1.1\r\nContent-Length: {length}").startswith(b"HTTP/1.1 400")
    for path in ("/out", "/no/such/page"):
        answer = answer_to(live, f"POST {path} HTTP/1.1\r\nContent-Length: {length}")
        assert answer.startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("wait", NO_NUMBERS)
def test_a_wait_that_is_no_number_is_a_bad_request(live, wait):
    receipt = live.ask(HAND_IN, b'{"cells": []}', "ada").json["receipt"]
    answer = live.ask(f"/receipts/{receipt}?wait={quote(wait)}", who="ada")
    assert answer.status == 400 and "whole number" in answer.json["message"]


@pytest.mark.parametrize(
    "origin", ["http://[", "null", "http://", "//localhost", "http://localhost:99999999"]
)
def test_an_origin_that_is_no_address_is_another_site(live, origin):
    opened = live.ask(f"/in/{live.tokens['ada']}", Accept="text/html")
    cookie = opened.headers["set-cookie"].split(";")[0]
    assert live.ask("/out", json.dumps({}).encode(), Cookie=cookie, Origin=origin).status == 403
