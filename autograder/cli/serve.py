"""The commands ``serve`` and ``invite``: run a live class, and invite people to it."""

from __future__ import annotations

import csv
import importlib
import logging
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console

from autograder.cli.say import say
from autograder.course.policy_file import class_list
from autograder.course.safe_cells import safe_cell
from autograder.errors import UserError
from autograder.files import folder_name, say_if_others_may_read
from autograder.grading.zygotes import cores
from autograder.serve.app import run
from autograder.serve.journal import Journal
from autograder.serve.service import Options, Service


def serve(
    console: Console,
    labs: Sequence[str],
    out: Path,
    address: str,
    port: int,
    url: str | None,
    jobs: int | None,
    *,
    hub: bool,
    lti: bool,
) -> None:
    """Serve until Ctrl + C or SIGTERM."""
    logging.basicConfig(format="%(asctime)s %(message)s", force=True)
    if hub:
        on_hub = _extra("autograder.serve.hub", "A service of JupyterHub", "hub")
        prefix, address, port = on_hub.started_by_hub()
        public = f"http://hub{prefix}"
    else:
        public = _public(url or f"http://localhost:{port}")
    part = _extra("autograder.systems.lti", "LTI", "lti").Lti if lti else None
    options = Options(tuple(labs), out, public, jobs or cores(), hub)

    def ready(service: Service) -> None:
        status.stop()
        invited = len(service.journal.everybody_invited())
        say(console, "serve", options=options, lti=lti, invited=0 if hub else invited)

    status = console.status("The graders are warming up …")
    with status:
        run(options, address, port, ready, part)


def _extra(module: str, what: str, extra: str) -> Any:
    """A module whose packages are not always installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UserError(f"{what} needs its package: pip install 'bigrams-to-translators[{extra}]'.") from None


def _public(url: str) -> str:
    """The address that people open, with a final slash."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise UserError(
            f"“{url}” is no address that people can open: give one like https://class.example.org/."
        )
    return url.rstrip("/") + "/"


def invite(
    console: Console, out: Path, again: Sequence[str], team: Sequence[str], url: str, to: Path
) -> None:
    """Invite everybody on the class list who is not invited yet, the ``team``, and people who lost their link (``again``)."""
    people = class_list()
    named = {person.student: person for person in people.people}
    unknown = [name for name in again if name not in named and name not in team]
    if unknown and people:
        raise UserError(
            f"“{unknown[0]}” is not on the class list {people.path}: add a row, then invite them."
        )
    if not named and not team and not again:
        raise UserError(
            "There is nobody to invite: name a class list in course.toml (roster = …), or give names."
        )
    unsuited = [name for name in (*named, *again) if folder_name(name) != name]
    if unsuited:
        raise UserError(
            f"“{unsuited[0]}” cannot be the name of a folder: call this student by another on the class list."
        )
    public = _public(url)
    (out / "live").mkdir(parents=True, exist_ok=True, mode=0o700)
    journal = Journal(out / "live")
    known = journal.everybody_invited()
    rows = []
    for name in dict.fromkeys([*named, *team, *again]):
        if name in known and name not in again:
            continue
        token = journal.invite(name, team=name in team)
        person = named.get(name)
        about = (person.name, person.email) if person else ("", "")
        rows.append((name, *about, "team" if name in team else "student", f"{public}in/{token}"))
    journal.close()
    if rows:
        _append(to, rows)
    say(console, "invite", people=people, rows=rows, to=to)


def _append(path: Path, rows: Sequence[tuple[str, ...]]) -> None:
    """Add rows to the list of invitations, which only its owner may read."""
    try:
        opener = partial(os.open, mode=0o600)
        with open(path, "a", encoding="utf-8", newline="", opener=opener) as file:
            writer = csv.writer(file)
            if file.tell() == 0:
                writer.writerow(("student", "name", "email", "role", "link"))
            writer.writerows([safe_cell(cell) for cell in row] for row in rows)  # students choose their names
        say_if_others_may_read(path)
    except OSError as error:
        raise UserError(f"The invitations cannot be written to {path}: {error.strerror}.") from None
