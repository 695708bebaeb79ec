"""A learning system on this machine, and a course in it: what the tests of every system need."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from tornado.httputil import HTTPFile, parse_body_arguments

from autograder.cli.systems import system_of
from autograder.course.lab import LabSpec
from autograder.course.policy_file import use
from autograder.files import timestamp_in
from autograder.results import SubmissionResult
from autograder.systems.exchange import System
from autograder.systems.pull import Done, pull
from autograder.systems.push import Row, grades_of, plan, send

LAB = "00_warm_up"
TOKEN = "0123456789abcdef0123456789abcdef"


def recorded(name: str) -> Any:
    """An answer in the folder ``data``."""
    return json.loads((Path(__file__).parent / "data" / f"{name}.json").read_text(encoding="utf-8"))


def handed_in(path: str) -> bytes:
    """A notebook, or a zip that holds one."""
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": path}
    content = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}).encode()
    if path.endswith(".zip"):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("inside.ipynb", content)
        content = packed.getvalue()
    return content


class FakeSite:
    """A site. What a request gets is what ``answer`` says, or no answer where that raises ``ConnectionError``."""

    name = ""

    def __init__(self) -> None:
        #: Of the last request, which is the one that ``answer`` is about.
        self.headers: dict[str, str] = {}
        self._one_at_a_time = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def site(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(
        self, method: str, path: str, fields: dict[str, Any], files: dict[str, bytes]
    ) -> tuple[int, dict[str, str], bytes]:
        raise NotImplementedError

    def _handler(site) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                assert TOKEN not in self.path
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                fields, files = dict[str, list[bytes]](), dict[str, list[HTTPFile]]()
                kind, address = self.headers.get("Content-Type", ""), urlsplit(self.path)
                parse_body_arguments(kind, body, fields, files)
                texts = {name: values[-1].decode() for name, values in fields.items()}
                texts |= dict(parse_qsl(address.query)) | (json.loads(body) if kind.endswith("+json") else {})
                contents = {one.filename: one.body for some in files.values() for one in some}
                try:
                    with site._one_at_a_time:
                        site.headers = dict(self.headers)
                        status, headers, answer = site.answer(self.command, address.path, texts, contents)
                except ConnectionError:
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            do_POST = do_PUT = do_GET

            def log_message(self, *_: Any) -> None: ...

        return Handler


class Course:
    """A course with one lab in a fake system, and a class of made-up results."""

    def __init__(
        self, site: FakeSite, home: Path, spec: LabSpec, make: Callable[..., SubmissionResult]
    ) -> None:
        self.site, self.home, self.spec, self.make = site, home, spec, make
        self.submitted = home / "submitted"
        #: When everybody's graded notebook came in, where it is not the one that lies there.
        self.graded_at = ""

    def write(self, assignment: str, more: str = "") -> None:
        table = self.site.name.lower()
        text = f'[{table}]\nsite = "{self.site.site}"\ncourse = "NLP-2026"\n[{table}.assignments]\n00 = {assignment}\n'
        (self.home / "course.toml").write_text(
            f'timezone = "Europe/Berlin"\n{more}\n{text}', encoding="utf-8"
        )
        use(None)

    def system(self, state: str = "") -> System:
        return system_of(self.site.name, LAB, state)

    def pull(self) -> Done:
        return pull(self.system(), self.submitted, LAB, lambda things, *_: things)

    def plan(self, *points: float, state: str = "", replaced: tuple[str, ...] = ()) -> dict[str, Row]:
        """What a push would do where everybody has these points of 4 and 6; by student."""
        results = [
            self.make(
                folder.name,
                *(points or (4.0, 3.0)),
                submitted_at=self.graded_at or timestamp_in(folder / LAB),
            )
            for folder in self.submitted.iterdir()
            if folder.is_dir()
        ]
        grades = grades_of(self.spec, results, {})
        rows, self.notes = plan(
            self.system(state), self.submitted, LAB, grades, lambda things, *_: things, replaced
        )
        return {row.student: row for row in rows}

    def push(self, *points: float, state: str = "", replaced: tuple[str, ...] = ()) -> list[str]:
        rows = list(self.plan(*points, state=state, replaced=replaced).values())
        return send(self.system(state), self.submitted, LAB, rows, lambda things, *_: things)

    def time(self, student: str) -> str:
        return timestamp_in(self.submitted / student / LAB)


@contextmanager
def course_in(
    site: FakeSite, home: Path, spec: LabSpec, make: Callable[..., SubmissionResult], *written: str
) -> Iterator[Course]:
    """A course whose course.toml names the site. ``written``: the assignment there, and what else the file says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_FILE", str(home / "course.toml"))
        patch.setenv(f"{site.name.upper()}_TOKEN", TOKEN)
        course = Course(site, home, spec, make)
        course.write(*written)
        yield course
    use(None)
    site.close()
