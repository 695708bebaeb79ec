"""Sends a notebook to the course's live class (``autograder serve``) and hears what became of it.

Where the live class is, an invitation's link says: given once to ``hand_in``, or in ``COURSE_HAND_IN``. On a hub that variable
is the service's address, and who asks is told by the hub's own token.
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
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlsplit

from coursekit.errors import UserError

#: A notebook larger than this is not sent: the live class does not take it.
MAX_BYTES = 16 << 20
#: Seconds that one request may take, and that a verdict is waited for.
SENDING, PATIENCE = 60.0, 120.0


@dataclass(frozen=True)
class LiveClass:
    """Where notebooks are handed in: its address, with a slash at the end, and the token that says who asks."""

    address: str
    token: str

    @classmethod
    def of_link(cls, link: str) -> LiveClass:
        """The live class of an invitation's link, or on a hub of its address. ``UserError`` when it is neither."""
        parts = urlsplit(link.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError("That is no link to hand in with: copy the whole link of your invitation.")
        address, invitation, token = link.strip().partition("/in/")
        if not invitation:
            token = os.environ.get("JUPYTERHUB_API_TOKEN", "")
        if not token or "/" in token:
            raise UserError(
                "That is not the whole link of your invitation: it ends with /in/ and a long word."
            )
        return cls(address.rstrip("/") + "/", token)


def live_class(link: str = "") -> LiveClass | None:
    """Where to hand in: by this link, by ``COURSE_HAND_IN``, or by the link that was kept (``keep``)."""
    known = link or os.environ.get("COURSE_HAND_IN") or _kept()
    return LiveClass.of_link(known) if known else None


def send(to: LiveClass, lab: str, content: bytes) -> Iterator[dict[str, Any]]:
    """Hand ``content`` in: what the live class says at once, and again at each change until there is a verdict.

    Raises ``UserError`` with its reason when it does not take it.
    """
    if len(content) > MAX_BYTES:
        raise UserError(
            f"The notebook has {len(content) >> 20} MB, and at most {MAX_BYTES >> 20} are taken: clear the outputs of its "
            "cells, save, and hand in again."
        )
    card = _ask(to, f"labs/{quote(lab)}/hand-in", content)
    yield card
    until = time.monotonic() + PATIENCE
    while card.get("state") == "waiting" and time.monotonic() < until:
        card = _ask(to, f"receipts/{quote(str(card.get('receipt')))}?wait=20")
        yield card


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token is shown to the live class and to nobody else, whomever it refers to."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        return None


def _ask(to: LiveClass, path: str, content: bytes | None = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {to.token}", "Accept": "application/json"}
    headers |= {"Content-Type": "application/x-ipynb+json"} if content is not None else {}
    request = urllib.request.Request(to.address + path, content, headers)
    try:
        with urllib.request.build_opener(_NoRedirect()).open(request, timeout=SENDING) as answer:
            value = json.loads(answer.read(1 << 20))
    except urllib.error.HTTPError as error:
        raise UserError(_reason(error)) from None
    except (OSError, HTTPException, ValueError) as error:
        why = getattr(error, "reason", error)
        raise UserError(f"The live class at {to.address} does not answer ({why}).") from None
    if not isinstance(value, dict):
        raise UserError(f"At {to.address} there is no live class.")
    return value


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read(1 << 16))["message"])
    except (OSError, ValueError, KeyError, TypeError):
        if error.code in (301, 302, 303, 307, 308, 401, 403):
            return "The live class does not know you: ask your teacher for a new invitation."
        return f"The live class cannot take it now (error {error.code}): try again in a minute."


def _place() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "coursekit" / "hand_in"


def _kept() -> str:
    try:
        return _place().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError, RuntimeError):
        return ""


def keep(link: str) -> None:
    """Keep the link, which is a password, where only its owner can read it; nowhere where there is no place."""
    try:
        place = _place()
        place.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(
            os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(link.strip() + "\n")
    except (OSError, RuntimeError):
        pass


def colab_notebook() -> bytes | None:
    """The notebook as it stands in Colab, which has no file of it; None elsewhere."""
    if "google.colab" not in sys.modules:
        return None
    ask: Callable[..., Any] = importlib.import_module("google.colab._message").blocking_request
    answer = ask("get_ipynb", request="", timeout_sec=30)
    notebook = answer.get("ipynb") if isinstance(answer, dict) else None
    return json.dumps(notebook).encode() if notebook else None
