"""A learning system inside ``requests``, and a course in it: what the tests of every system need."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
from tornado.httputil import HTTPFile, parse_body_arguments

from autograder.cli.systems import system_of
from autograder.course.lab import LabSpec
from autograder.files import timestamp_in
from autograder.results import SubmissionResult
from autograder.systems.exchange import System
from autograder.systems.pull import Pull
from autograder.systems.push import Push, Row, grades_of

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
    """A site. A request gets what ``answer`` says, or no answer where that raises ``requests.ConnectionError``."""

    site = "https://system.uni.edu"
    name, course_toml = "", ("", "")

    def __init__(self) -> None:
        #: Of the last request, which is the one that ``answer`` is about.
        self.headers: dict[str, str] = {}
        self.is_dead = False
        #: Users whose grades were sent, those who are refused, and what is lost without a word.
        self.saved, self.refused, self.drops = list[int](), set[int](), set[str]()
        self._one_at_a_time = threading.Lock()

    def answer(
        self, method: str, path: str, fields: dict[str, Any], files: dict[str, bytes]
    ) -> tuple[int, dict[str, str], bytes]:
        raise NotImplementedError

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
        contents = {one.filename: one.body for some in files.values() for one in some}
        with self._one_at_a_time:
            if self.is_dead:
                raise requests.ConnectionError("no line")
            self.headers = dict(request.headers)
            status, headers, content = self.answer(request.method or "", address.path, texts, contents)
        answer = requests.Response()
        answer.status_code, answer.raw, answer.url = status, io.BytesIO(content), str(request.url)
        answer.request = request
        answer.headers.update(headers)
        return answer


@dataclass
class Course:
    """A course with one lab in a fake system, and a class of made-up results."""

    site: Any
    submitted: Path
    put: Callable[[str], None]
    spec: LabSpec
    make: Callable[..., SubmissionResult]
    #: When everybody's graded notebook came in, where it is not the one that lies there.
    graded_at: str = ""
    notes: list[str] = field(default_factory=list)

    def write(self, assignment: str, more: str = "") -> None:
        """Put a course.toml in force that names this assignment of the site."""
        table = self.site.name.lower()
        self.put(
            f'timezone = "Europe/Berlin"\n{more}\n[{table}]\nsite = "{self.site.site}"\ncourse = "NLP-2026"\n'
            f"[{table}.assignments]\n00 = {assignment}\n"
        )

    def system(self, state: str = "") -> System:
        return system_of(self.site.name, LAB, state)

    def pull(self) -> Pull:
        done = Pull(self.system(), self.submitted, LAB, lambda things, *_: things)
        done.run()
        return done

    def results(self, *points: float) -> list[SubmissionResult]:
        """One for each folder, with these points of 4 and 6."""
        folders = [folder for folder in self.submitted.iterdir() if folder.is_dir()]
        return [
            self.make(one.name, *(points or (4.0, 3.0)), submitted_at=self.graded_at or self.time(one.name))
            for one in folders
        ]

    def planned(self, *points: float, state: str = "", replaced: tuple[str, ...] = ()) -> Push:
        """What a push would do."""
        system, grades = self.system(state), grades_of(self.spec, self.results(*points), {})
        push = Push(system, self.submitted, LAB, grades, lambda things, *_: things, replaced)
        self.notes = push.notes
        return push

    def plan(self, *points: float, **how: Any) -> dict[int, Row]:
        return {row.user: row for row in self.planned(*points, **how).rows}

    def push(self, *points: float, **how: Any) -> list[str]:
        return self.planned(*points, **how).send()

    def time(self, student: str) -> str:
        return timestamp_in(self.submitted / student / LAB)
