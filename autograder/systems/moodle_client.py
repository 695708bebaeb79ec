"""A client of Moodle's web services (REST, JSON). The token is sent in the body of a request, never in an address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from autograder.errors import UserError
from autograder.systems.exchange import Refused, ask, parsed

#: Characters that Moodle does not escape in a file's address.
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


@dataclass(frozen=True)
class MoodleClient:
    """A site's address, without a final slash, and a token. Errors are ``UserError`` in one sentence, without the token."""

    site: str
    token: str = field(repr=False)

    def call(self, function: str, **parameters: Any) -> Any:
        """The answer of a web service function. Raises ``Refused`` with Moodle's reason if it refuses."""
        fields = {"wstoken": self.token, "wsfunction": function, "moodlewsrestformat": "json"}
        for name, value in parameters.items():
            fields.update(_flat(name, value))
        return self._json(self._post("/webservice/rest/server.php", fields), function)

    def read(self, address: str) -> bytes:
        """A file's bytes. Only addresses on this site are accepted, so that the token goes nowhere else."""
        _, found, path = address.partition("/pluginfile.php/")
        if not found:
            raise Refused(f"Moodle gives a file an address on another site: {address}")
        content = self._post(f"/webservice/pluginfile.php/{quote(path, safe=SAFE)}", {"token": self.token})
        if content.startswith(b'{"error"'):
            self._json(content, "to give a file")
        return content

    def upload(self, name: str, content: bytes, draft: int = 0, folder: str = "/") -> int:
        """Put a file into a draft area (0: a new one). Returns the area's number."""
        fields = {"token": self.token, "itemid": str(draft), "filepath": folder}
        taken = self._post("/webservice/upload.php", fields, files={"file": (name, content)})
        answer = self._json(taken, "to take a file")
        try:
            return int(answer[0]["itemid"])
        except (LookupError, TypeError, ValueError):
            raise Refused(
                f"Moodle did not take the file {name}: is it larger than the site allows?"
            ) from None

    def _post(self, place: str, fields: Mapping[str, str], **more: Any) -> bytes:
        """The answer to a POST request. Redirects are refused: they would lose the data, or send the token elsewhere."""
        answer, content = ask("POST", self.site + place, data=fields, allow_redirects=False, **more)
        if answer.status_code == 200:
            return content
        target = answer.headers.get("Location", "")
        advice = (
            f"write the address that it points to into course.toml, {target}" if target else "try again later"
        )
        raise UserError(f"{self.site} answers with status {answer.status_code}: {advice}.")

    def _json(self, content: bytes, what: str) -> Any:
        answer = parsed(content, self.site, "Moodle")
        if isinstance(answer, dict) and (answer.get("exception") or answer.get("error")):
            code = str(answer.get("errorcode", ""))
            message = str(answer.get("message") or answer.get("error")).replace(self.token, "…").rstrip(".")
            advice = _ADVICE.get(code, "")
            raise Refused(f"Moodle refuses {what}: {message}{f'; {advice}' if advice else ''}.")
        return answer


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the form fields of a value, named for PHP: ``name[0][key]``."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}[{key}]", inner)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _flat(f"{name}[{number}]", inner)
    else:
        yield name, str(int(value)) if isinstance(value, bool) else str(value)
