"""The base class of all request handlers: authentication, host names, security headers."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from tornado.web import HTTPError, RequestHandler

from autograder.course.policy_file import class_list, settings
from autograder.pages.render import TEMPLATES, render
from autograder.serve.journal import digest_of_token
from autograder.serve.service import Service

#: The days that a browser stays signed in.
SESSION_DAYS = 30
#: The pages and answers that one person may request in a minute. A page of all 14 labs makes 29 requests when it opens.
READS_A_MINUTE = 300
COOKIE = "autograder-session"


@dataclass(frozen=True)
class Person:
    """The person who sent a request. Members of the ``team`` may see all students' work."""

    name: str
    team: bool = False

    @property
    def called(self) -> str:
        """The name in the class list, or the user name."""
        known = class_list().find(self.name)
        return known.name if known is not None and known.name else self.name


class Failure(HTTPError):
    """A request fails with a sentence. (``HTTPError`` would put it into the status line, which is ASCII.)"""

    def __init__(self, status: int, sentence: str):
        super().__init__(status)
        self.sentence = sentence


def whole_number(text: str) -> int:
    """The number in a header or address, in ASCII digits. Raises ``Failure`` (400) for anything else."""
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise Failure(400, "The request must have a whole number there")
    return int(text)


def number(value: object, most: float, sentence: str) -> float:
    """A number of a JSON body between 0 and ``most``. Raises ``Failure`` (400) with the sentence for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise Failure(400, sentence)
    return float(value)


class Handler(RequestHandler):
    """One request. A token in the header ``Authorization`` or a signed cookie identifies the person, never both."""

    def initialize(self, service: Service) -> None:
        self.service = service
        self._nonce = secrets.token_urlsafe(12)

    def prepare(self) -> None:
        """Refuse host names of other sites: their pages could otherwise send requests here (DNS rebinding).

        A service of a hub does not check: its cookies are valid for the hub's name only, and it may not know that name.
        """
        if not self.service.options.hub and self.request.host.lower() not in self.service.options.hosts:
            raise Failure(421, "This service has another name")
        person = self.current_user if self.request.method in ("GET", "HEAD") else None
        if person is not None and not self.service.is_below_rate("read", person.name, READS_A_MINUTE):
            raise Failure(429, "You ask for more than a person can read: wait a minute")

    def set_default_headers(self) -> None:
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "same-origin")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.clear_header("Server")

    # Authentication

    @property
    def _bearer(self) -> str | None:
        """A program's token; None for a browser."""
        header = self.request.headers.get("Authorization")
        if header is None:
            return None
        kind, _, token = header.partition(" ")
        return token.strip() if kind.lower() in ("bearer", "token") else ""

    def get_current_user(self) -> Person | None:
        """The person who sent the request; None for a stranger."""
        if self._bearer is not None:
            digest = digest_of_token(self._bearer)
        else:
            cookie = self.get_signed_cookie(COOKIE, max_age_days=SESSION_DAYS)
            digest = cookie.decode("ascii", "replace") if cookie else ""
        invited = self.service.journal.invited(digest) if digest else None
        return Person(*invited) if invited else None

    def person(self, *, team: bool = False) -> Person:
        """The person who sent the request. Raises ``Failure`` for a stranger, and for a student if ``team`` is required."""
        person = self.current_user
        if person is None:
            raise Failure(401, "Nobody is signed in: open your invitation link first")
        if team and not person.team:
            raise Failure(403, "This page is the teaching team's")
        assert isinstance(person, Person)
        return person

    def sign_in(self, digest: str) -> None:
        """Keep the person signed in whose token has this digest."""
        self.set_signed_cookie(
            COOKIE, digest, expires_days=SESSION_DAYS, path=self.service.options.base,
            httponly=True, samesite="Lax", secure=self.service.options.secure,
        )  # fmt: skip

    def check_xsrf_cookie(self) -> None:
        """Accept a program's token, which comes with each request; a browser's request must come from a page of this service."""
        if self._bearer is not None:
            return
        self.check_origin()
        super().check_xsrf_cookie()

    def check_origin(self) -> None:
        """Refuse requests from pages of other sites."""
        origin = self.request.headers.get("Origin")
        host = self.request.host.lower()
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            raise Failure(403, "This request comes from another site")

    def lab(self, name: str) -> str:
        """The lab of an address."""
        if name not in self.service.options.labs:
            raise Failure(404, "There is no such lab here")
        return name

    def json_body(self) -> dict[str, Any]:
        """The JSON object in the body of the request."""
        try:
            value = json.loads(self.request.body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Failure(400, "The request's body is no JSON object")
        return value

    # Answers

    def page(self, template: str, script: str = "", **values: object) -> None:
        """Answer with a page that loads nothing and runs only one of this service's scripts."""
        scripts = f"script-src 'nonce-{self._nonce}'; " if script else ""
        self.set_header(
            "Content-Security-Policy",
            f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; {scripts}connect-src 'self'; frame-src 'self'; form-action 'self'; "
            "base-uri 'none'; frame-ancestors 'none'",
        )
        xsrf = self.xsrf_token.decode() if isinstance(self.xsrf_token, bytes) else str(self.xsrf_token)
        base, person = self.service.options.base, self.current_user
        self.finish(
            render(
                f"live/{template}",
                base=base,
                course=settings().name,
                person=person,
                xsrf=xsrf,
                nonce=self._nonce,
                script=Markup((TEMPLATES / "live" / script).read_text("utf-8") if script else ""),
                **values,
            )
        )

    def answer(self, value: dict[str, Any], status: int = 200) -> None:
        """Answer with JSON."""
        self.set_status(status)
        self.finish(value)

    def write_error(self, status_code: int, **about: Any) -> None:
        """Answer with a sentence, as a page for browsers and as JSON for programs, without the error itself."""
        error = about["exc_info"][1] if "exc_info" in about else None
        known = error.sentence if isinstance(error, Failure) else _IN_WORDS.get(status_code)
        message = (known or "Something went wrong here, which is not your fault").rstrip(".") + "."
        if "text/html" in self.request.headers.get("Accept", ""):
            self.page("message.html.j2", title=message)
        else:
            self.finish({"message": message})


_IN_WORDS = {404: "There is no such page", 403: "This is not for you", 405: "That cannot be done here"}
