"""A learning system inside ``requests``: it gives answers by name, and keeps what was asked."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
from tornado.httputil import HTTPFile, parse_body_arguments

TOKEN = "0123456789abcdef0123456789abcdef"


def recorded(name: str) -> Any:
    """An answer in the folder ``data``."""
    return json.loads((Path(__file__).parent / "data" / f"{name}.json").read_text(encoding="utf-8"))


class FakeSite:
    """A site. Tests change its answers."""

    site = "https://system.uni.edu"

    def __init__(self) -> None:
        #: The function of Moodle, or method and path -> an answer: bytes, something as JSON, all of a response, or a function of
        #: the request's fields that gives one of these.
        self.answers: dict[str, Any] = {}
        #: The name, the fields and the files of each request; the headers of the last one.
        self.asked: list[tuple[str, dict[str, Any], dict[str, bytes]]] = []
        self.headers: dict[str, str] = {}
        self._one_at_a_time = threading.Lock()

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:
        """What ``requests`` calls in place of a connection."""
        address, body = urlsplit(request.url or ""), request.body or b""
        assert TOKEN not in address.query
        body = body.encode() if isinstance(body, str) else body
        fields, files = dict[str, list[bytes]](), dict[str, list[HTTPFile]]()
        kind = request.headers.get("Content-Type", "")
        parse_body_arguments(kind, body, fields, files)
        texts = {name: values[-1].decode() for name, values in fields.items()}
        texts |= dict(parse_qsl(address.query)) | (json.loads(body) if kind.endswith("+json") else {})
        assert files.keys() <= {"file"}
        contents = {one.filename: one.body for some in files.values() for one in some}
        name = texts.get("wsfunction") or f"{request.method} {address.path}"
        with self._one_at_a_time:
            self.headers = dict(request.headers)
            self.asked.append((name, texts, contents))
            found = self.answers[name]
            found = found(texts) if callable(found) else found
        status, headers, content = found if isinstance(found, tuple) else (200, {}, found)
        answer = requests.Response()
        answer.status_code, answer.request, answer.url = status, request, str(request.url)
        answer.raw = io.BytesIO(content if isinstance(content, bytes) else json.dumps(content).encode())
        answer.headers.update(headers)
        return answer
