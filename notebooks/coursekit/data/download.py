"""Fetches files from the network: resumable, checked against their sha256, whole or not at all.

A file has one relative name (``multi30k/train.de.gz``) under which it lies in the course's cache, in a mirror's
folder and below a mirror's address. What arrives is written to ``NAME.part`` beside its place; a transfer that
breaks off goes on from there, in this call or in the next one. Only a file with the right checksum gets its name.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from coursekit.errors import MissingFile

__all__ = ["Remote", "cache_folder", "fetch", "same_content"]

_BLOCK = 1 << 16
Report = Callable[[int], None]


@dataclass(frozen=True)
class Remote:
    """A file on the network: its name in the cache, its public address, its checksum and its size in bytes."""

    name: str
    address: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Patience:
    """How long to wait for the next bytes (seconds), how often to begin again, and the first pause between."""

    timeout: float = 20.0
    attempts: int = 5
    pause: float = 0.5


def cache_folder() -> Path:
    """Where fetched files are kept: ``COURSE_DATA_CACHE``, or ``.cache/bigrams-to-translators`` at home."""
    return Path(os.environ.get("COURSE_DATA_CACHE") or Path.home() / ".cache" / "bigrams-to-translators")


def same_content(file: Path, sha256: str) -> bool:
    """Whether a file is there and has exactly the content with this checksum."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == sha256


def fetch(remote: Remote, *, report: Report | None = None, patience: Patience | None = None) -> Path:
    """The path of the file, with the right content: from the cache, the mirror, or its public address.

    ``report`` is called with the number of bytes that have arrived. Raises MissingFile.
    """
    target = cache_folder() / remote.name
    if same_content(target, remote.sha256):
        return target
    mirror = os.environ.get("COURSE_DATA_MIRROR", "")
    addresses = [remote.address]
    if mirror.startswith(("http://", "https://")):
        addresses.insert(0, f"{mirror.rstrip('/')}/{remote.name}")
    elif mirror and same_content(Path(mirror) / remote.name, remote.sha256):
        return Path(mirror) / remote.name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MissingFile(
            f"{target.parent} cannot be written ({error.strerror}): set COURSE_DATA_CACHE to another folder."
        ) from None
    reasons = []
    for address in addresses:
        reason = _download(address, remote, target, report or (lambda _: None), patience or Patience())
        if not reason:
            return target
        reasons.append(reason)
    raise MissingFile(
        f"{remote.name} could not be fetched ({'; '.join(dict.fromkeys(reasons))}): connect to the network and run this again, "
        f"or set COURSE_DATA_MIRROR to a folder that holds {remote.name}."
    )


def _download(address: str, remote: Remote, target: Path, report: Report, patience: Patience) -> str:
    """Fetch to ``target``; "" when it is there, else why not. A broken transfer is taken up where it broke."""
    part = target.with_name(target.name + ".part")
    reason, pause, spoiled = "", patience.pause, False
    for attempt in range(patience.attempts):
        if attempt:
            time.sleep(pause)
            pause *= 2
        before = _size(part)
        try:
            if before < remote.size:
                _receive(address, part, remote.size, report, patience.timeout)
        except urllib.error.HTTPError as error:
            reason = f"the server answered {error.code}"
            if error.code == 416:  # it has fewer bytes than we: what we hold is of no use
                part.unlink(missing_ok=True)
            elif error.code < 500 and error.code not in (408, 429):
                return reason
            continue
        except (OSError, HTTPException, ValueError) as error:
            reason = _in_words(error)
            if _size(part) == before and isinstance(error, urllib.error.URLError) and attempt >= 1:
                return reason  # nobody there, twice
            continue
        if _size(part) < remote.size:
            reason = "the connection broke off"
            continue
        if same_content(part, remote.sha256):
            part.replace(target)
            return ""
        part.unlink()
        reason = "what arrived has another checksum"
        if spoiled:
            return reason  # from the first byte to the last, twice: the server has another file
        spoiled = True
    return reason


def _receive(address: str, part: Path, size: int, report: Report, timeout: float) -> None:
    """Append to ``part`` what is still missing, or write it anew where the server knows no ranges."""
    have = _size(part)
    request = urllib.request.Request(
        address, headers={"User-Agent": "coursekit", "Accept-Encoding": "identity"}
    )
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        have = have if have and _goes_on(answer, have) else 0
        with part.open("ab" if have else "wb") as stream:
            report(have)
            while have <= size and (block := answer.read1(_BLOCK)):  # a byte too many is enough to know
                stream.write(block)
                have += len(block)
                report(min(have, size))


def _goes_on(answer: HTTPResponse, have: int) -> bool:
    """Whether the answer is the rest of the file from byte ``have`` on, and not the whole file again."""
    sent = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
    if answer.status == 206 and (sent is None or int(sent[1]) != have):
        raise ValueError("the server sent another part than was asked for")
    return answer.status == 206


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def _in_words(error: BaseException) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return "the server fell silent"
    if isinstance(cause, ConnectionRefusedError):
        return "the server refused the connection"
    if isinstance(cause, (ConnectionError, HTTPException)):
        return "the connection broke off"
    if isinstance(cause, ValueError):
        return str(cause)
    return "there is no network"
