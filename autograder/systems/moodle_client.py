"""Asks a Moodle site by its web services (REST, JSON). The token travels in the body of a request, never in an address."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.parse import quote, urlencode

from autograder.errors import UserError
from autograder.grading.submissions import MAX_BYTES
from autograder.systems.exchange import Refused

#: Moodle may take its time over a large course.
SECONDS = 120

#: Moodle writes a file's address with these marks, and escapes the others.
SAFE = "/%?=&"

#: Moodle's error code -> what to do.
_ADVICE = {
    "invalidtoken": "make a new token (Preferences, Security keys) and put it where the old one is",
    "accessexception": "ask the site's administrator for a token of the service “Moodle mobile web service”",
    "servicenotavailable": "ask the site's administrator to switch the service on",
    "enablewsdescription": "ask the site's administrator to switch web services on",
    "userisfilteredout": "clear the filters of the assignment's Submissions page, which hide this student from you",
    "sitemaintenance": "wait until the site is back",
}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would lose what is posted, or bring the token elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class MoodleClient:
    """A site's address (without a slash at the end) and a token. Raises ``UserError`` in one sentence, without the token."""

    site: str
    token: str = field(repr=False)

    def call(self, function: str, **parameters: Any) -> Any:
        """What a web service function answers. ``Refused`` when Moodle says why it does not."""
        fields = {"wstoken": self.token, "wsfunction": function, "moodlewsrestformat": "json"}
        for name, value in parameters.items():
            fields.update(_flat(name, value))
        body = urlencode(fields).encode()
        return self._json(
            self._post("/webservice/rest/server.php", body, "application/x-www-form-urlencoded"), function
        )

    def read(self, address: str) -> bytes:
        """A file's bytes. The address that Moodle gave is looked up on this site: the token goes nowhere else."""
        _, found, path = address.partition("/pluginfile.php/")
        if not found:
            raise Refused(f"Moodle gives a file an address that is none of its own: {address}")
        body = urlencode({"token": self.token}).encode()
        content = self._post(
            f"/webservice/pluginfile.php/{quote(path, safe=SAFE)}", body, "application/x-www-form-urlencoded"
        )
        if content.startswith(b'{"error"'):
            self._json(content, "to give a file")
        return content

    def upload(self, name: str, content: bytes, draft: int = 0, folder: str = "/") -> int:
        """Put a file into a draft area (0: a new one), whose number comes back."""
        boundary = uuid.uuid4().hex
        fields = {"token": self.token, "itemid": str(draft), "filepath": folder}
        parts = [
            f'Content-Disposition: form-data; name="{key}"\r\n\r\n{value}' for key, value in fields.items()
        ]
        quoted = name.replace("\\", "_").replace('"', "_")
        head = f'Content-Disposition: form-data; name="file"; filename="{quoted}"\r\nContent-Type: application/octet-stream\r\n\r\n'
        start = "".join(f"--{boundary}\r\n{part}\r\n" for part in parts) + f"--{boundary}\r\n{head}"
        body = start.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        answer = self._json(
            self._post("/webservice/upload.php", body, f"multipart/form-data; boundary={boundary}"),
            "to take a file",
        )
        try:
            return int(answer[0]["itemid"])
        except (LookupError, TypeError, ValueError):
            raise Refused(
                f"Moodle did not take the file {name}: is it larger than the site allows?"
            ) from None

    def _post(self, place: str, body: bytes, kind: str) -> bytes:
        request = urllib.request.Request(
            self.site + place, data=body, headers={"Content-Type": kind, "User-Agent": "autograder"}
        )
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=SECONDS) as answer:
                content: bytes = answer.read(MAX_BYTES + 1)
        except urllib.error.HTTPError as error:
            target = error.headers.get("Location", "")
            advice = (
                f"write the address that it points to into course.toml, {target}"
                if target
                else "try again later"
            )
            raise UserError(f"{self.site} answers with status {error.code}: {advice}.") from None
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise UserError(
                f"{self.site} cannot be reached ({reason}): what was done before is kept, run the same command again."
            ) from None
        if len(content) > MAX_BYTES:
            raise Refused(f"Moodle gives more than {MAX_BYTES >> 20} MB at once, which is not read.")
        return content

    def _json(self, content: bytes, what: str) -> Any:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise UserError(
                f"{self.site} does not answer as Moodle's web services do: is it the address of Moodle's front page?"
            ) from None
        if isinstance(answer, dict) and (answer.get("exception") or answer.get("error")):
            code = str(answer.get("errorcode", ""))
            message = str(answer.get("message") or answer.get("error")).replace(self.token, "…").rstrip(".")
            advice = _ADVICE.get(code, "")
            raise Refused(f"Moodle refuses {what}: {message}{f'; {advice}' if advice else ''}.")
        return answer


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """A value as PHP reads it from a form: ``name[0][key]``."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}[{key}]", inner)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _flat(f"{name}[{number}]", inner)
    else:
        yield name, str(int(value)) if isinstance(value, bool) else str(value)
