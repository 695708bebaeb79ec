"""Prints the course's policy for each lab, as it will be applied."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.cli.say import say
from autograder.course.extensions import granted
from autograder.course.masters import all_labs, lab_as_written
from autograder.course.policy import LatePolicy, Settings
from autograder.course.policy_file import (
    GRADED_LIMITS,
    class_list,
    course_file,
    extension_of,
    extensions_file,
    limits_of,
    settings,
    spec,
    unknown_extensions,
)
from autograder.results import ISOLATION


def show(console: Console) -> list[dict[str, str]]:
    """Print the policy for each lab and return its rows. Raises ``UserError`` with the line of a mistake."""
    policy, labs = settings(), all_labs()
    rows = [_row(policy, lab) for lab in labs]
    table = Table(*(rows[0] if rows else ()), box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*map(escape, row.values()))
    dates = [date for lab in policy.labs.values() for date in (lab.due, lab.closes, *lab.extensions.values())]
    say(
        console,
        "check_course",
        table,
        policy=policy,
        path=course_file(),
        people=class_list(),
        isolation=ISOLATION[policy.isolation],
        unzoned="timezone" not in policy.model_fields_set
        and any(isinstance(date, datetime) and date.tzinfo is None for date in dates),
        dated=any(map(policy.due, labs)),
        nobody=sorted({name for lab in labs for names in unknown_extensions(lab).values() for name in names}),
    )
    return rows


def _row(policy: Settings, lab: str) -> dict[str, str]:
    """A lab's row: column -> text."""
    lab_policy, usual = policy.lab(lab), asdict(GRADED_LIMITS)
    limits = sorted(asdict(limits_of(lab)).items())
    return {
        "lab": lab,
        "points": _points(lab),
        f"due ({policy.timezone})": _local(policy, policy.due(lab)),
        "closes": _local(policy, policy.closes(lab)),
        "late": _rule(lab_policy.late or policy.late),
        "extensions": ", ".join(_extended(lab)),
        "limits that differ": ", ".join(
            f"{name} {value:g}" for name, value in limits if value != usual[name]
        ),
        "forbidden": "; ".join(f"{name}: {', '.join(words)}" for name, words in lab_policy.forbid.items()),
    }


def _local(policy: Settings, when: datetime | None) -> str:
    """A time in the course's time zone."""
    return f"{policy.local(when):%Y-%m-%d %H:%M}" if when else ""


def _extended(lab: str) -> list[str]:
    """The students with an extension (from extensions.csv, course.toml or the class list), each with its end."""
    policy, people = settings(), class_list()
    listed = [person.student for person in people.people if person.extension]
    named = [*policy.extended(lab), *granted(extensions_file(), lab), *listed]
    called = {person.student if (person := people.of_folder(name)) else name for name in named}
    due, longer = policy.due(lab), ((name, extension_of(lab, name)) for name in called)
    return sorted(
        f"{name} ({_local(policy, due + time)})" if due is not None else name
        for name, time in longer
        if time is not None
    )


def _points(lab: str) -> str:
    """The lab's points, with the policy's changes to the master's."""
    written = {**dict(lab_as_written(lab).questions), **dict(lab_as_written(lab).written)}
    now = {**dict(spec(lab).questions), **dict(spec(lab).written)}
    changed = [f"{name} {now[name]:g} for {written[name]:g}" for name in now if now[name] != written[name]]
    return f"{sum(now.values()):g}" + (f" ({', '.join(changed)})" if changed else "")


def _rule(late: LatePolicy | None) -> str:
    if late is None:
        return ""
    description = f"{late.percent_per_day:g}% a day"
    if late.at_most_percent < 100:
        description += f", at most {late.at_most_percent:g}%"
    return description + (f", {late.grace_minutes:g} minutes' grace" if late.grace_minutes else "")
