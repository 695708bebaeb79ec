"""Fetches files from the network, completely or not at all, and checks their sha256.

A file has one relative name (``multi30k/train.de.gz``) in the course's cache, in a mirror's folder and below a mirror's
address. Only a file with the right checksum gets its name.
"""

from __future__ import annotations

import hashlib
import os
import time
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError

from coursekit.errors import MissingFile

#: Seconds that a server has for its next bytes; number of attempts; seconds by which the pauses between them grow.
_TIMEOUT, _ATTEMPTS, _PAUSE = 20.0, 4, 0.5


@dataclass(frozen=True)
class Remote:
    """A file on the network: its name in the cache, public address, checksum and size in bytes."""

    name: str
    address: str
    sha256: str
    size: int


def cache_folder() -> Path:
    """The folder of fetched files: ``COURSE_DATA_CACHE``, or ``.cache/bigrams-to-translators`` in the home folder."""
    return Path(os.environ.get("COURSE_DATA_CACHE") or Path.home() / ".cache" / "bigrams-to-translators")


def same_content(file: Path, sha256: str) -> bool:
    """Whether a file exists and its content has this checksum."""
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256


def fetch(remote: Remote) -> Path:
    """The path of the checked file, which comes from the cache, the mirror, or its public address.

    Raises MissingFile.
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
        reason = _download(address, remote, target)
        if not reason:
            return target
        reasons.append(reason)
    raise MissingFile(
        f"{remote.name} could not be fetched ({'; '.join(dict.fromkeys(reasons))}): connect to the network and run this again, "
        f"or set COURSE_DATA_MIRROR to a folder that holds {remote.name}."
    )


def _download(address: str, remote: Remote, target: Path) -> str:
    """Fetch to ``target``. Returns "", or the reason for the failure of the last attempt."""
    request = urllib.request.Request(address, headers={"User-Agent": "coursekit"})
    part, reason = target.with_name(target.name + ".part"), ""
    for attempt in range(_ATTEMPTS):
        time.sleep(_PAUSE * attempt)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
                content = answer.read(remote.size + 1)  # one byte too many shows a wrong size
        except HTTPError as error:
            reason = f"the server answered {error.code}"
            if error.code < 500 and error.code not in (408, 429):
                return reason
        except (OSError, HTTPException) as error:
            reason = _in_words(error)
        else:
            if hashlib.sha256(content).hexdigest() == remote.sha256:
                part.write_bytes(content)
                part.replace(target)
                return ""
            reason = "what arrived has another checksum"
            if len(content) < remote.size:
                reason = "the connection broke off"
    return reason


def _in_words(error: BaseException) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return "the server fell silent"
    if isinstance(cause, ConnectionRefusedError):
        return "the server refused the connection"
    if isinstance(cause, (ConnectionError, HTTPException)):
        return "the connection broke off"
    return "there is no network"
