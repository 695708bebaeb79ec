"""Sends a notebook to the course's live class (``autograder serve``) and receives the verdict.

An invitation's link, given once to ``hand_in`` or in ``COURSE_HAND_IN``, holds the live class's address and the student's
token. On a hub, the variable holds the address alone, and the hub's own token identifies the student.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from coursekit.errors import UserError

#: A notebook larger than this is not sent, because the live class refuses it.
MAX_BYTES = 16 << 20
#: The most seconds of one request, and of waiting for a verdict.
REQUEST_SECONDS, VERDICT_SECONDS = 60.0, 120.0


@dataclass(frozen=True)
class LiveClass:
    """A live class: its address, which ends in a slash, and the student's token."""

    address: str
    token: str

    @classmethod
    def of_link(cls, link: str) -> LiveClass:
        """The live class of an invitation's link or, on a hub, of an address. Raises ``UserError`` for any other text."""
        parts = urlsplit(link.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError("This is not a link for handing in: copy the whole link of your invitation.")
        address, invitation, token = link.strip().partition("/in/")
        if not invitation:
            token = os.environ.get("JUPYTERHUB_API_TOKEN", "")
        if not token or "/" in token:
            raise UserError(
                "This is not the whole link of your invitation, which ends with /in/ and a long word: copy it again."
            )
        return cls(address.rstrip("/") + "/", token)


def live_class(link: str = "") -> LiveClass | None:
    """The live class of this link, of ``COURSE_HAND_IN``, or of the stored link (``store_link``); None without one."""
    known = link or os.environ.get("COURSE_HAND_IN") or _stored_link()
    return LiveClass.of_link(known) if known else None


def send(to: LiveClass, lab: str, content: bytes) -> Iterator[dict[str, Any]]:
    """Hand ``content`` in. Yields the live class's answer, and a new one after each wait until there is a verdict.

    Raises ``UserError``, with the reason, if the live class refuses it.
    """
    if len(content) > MAX_BYTES:
        raise UserError(
            f"The notebook has {len(content) >> 20} MB, and the live class takes at most {MAX_BYTES >> 20}: clear the outputs "
            "of its cells, save, and hand in again."
        )
    card = _request(to, f"labs/{quote(lab)}/hand-in", content)
    yield card
    until = time.monotonic() + VERDICT_SECONDS
    while card.get("state") == "waiting" and time.monotonic() < until:
        card = _request(to, f"receipts/{quote(str(card.get('receipt')))}?wait=20")
        yield card


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, so that only the live class receives the token."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _request(to: LiveClass, path: str, content: bytes | None = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {to.token}", "Accept": "application/json"}
    headers |= {"Content-Type": "application/x-ipynb+json"} if content is not None else {}
    request = urllib.request.Request(to.address + path, content, headers)
    try:
        with urllib.request.build_opener(_NoRedirect()).open(request, timeout=REQUEST_SECONDS) as answer:
            value = json.loads(answer.read(1 << 20))
    except urllib.error.HTTPError as error:
        raise UserError(_reason(error)) from None
    except (OSError, HTTPException, ValueError) as error:
        why = getattr(error, "reason", error)
        raise UserError(f"The live class at {to.address} does not answer ({why}): try again later.") from None
    if not isinstance(value, dict):
        raise UserError(f"There is no live class at {to.address}: copy the whole link of your invitation.")
    return value


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read(1 << 16))["message"])
    except (OSError, ValueError, KeyError, TypeError):
        if error.code in (301, 302, 303, 307, 308, 401, 403):
            return "The live class does not know you: ask your teacher for a new invitation."
        return f"The live class cannot take the notebook now (error {error.code}): try again in a minute."


def _link_file() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "coursekit" / "hand_in"


def _stored_link() -> str:
    try:
        return _link_file().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError, RuntimeError):
        return ""


def store_link(link: str) -> None:
    """Store the link, which is a password, in a file that only its owner can read. Do nothing if it cannot be written."""
    try:
        stored = _link_file()
        stored.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(
            os.open(stored, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(link.strip() + "\n")
    except (OSError, RuntimeError):
        pass


def colab_notebook() -> bytes | None:
    """The current notebook in Colab, which has no file of it; None elsewhere."""
    if "google.colab" not in sys.modules:
        return None
    ask: Callable[..., Any] = importlib.import_module("google.colab._message").blocking_request
    answer = ask("get_ipynb", request="", timeout_sec=30)
    notebook = answer.get("ipynb") if isinstance(answer, dict) else None
    return json.dumps(notebook).encode() if notebook else None
