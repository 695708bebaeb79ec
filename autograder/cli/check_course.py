"""Shows the course's policy lab by lab, as it will be applied."""

from __future__ import annotations

from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.course.masters import all_labs, lab_as_written
from autograder.course.policy import LatePolicy
from autograder.course.policy_file import GRADED_LIMITS, course_file, limits_of, settings, spec


def show(console: Console) -> None:
    """Print what holds for each lab. ``UserError`` names the line of a mistake."""
    policy = settings()
    path = course_file()
    console.print(f"{policy.name}: {path if path.exists() else 'no course.toml, so defaults'}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("lab", "points", "due (UTC)", "late", "extensions", "limits that differ", "forbidden"):
        table.add_column(heading)
    for lab in all_labs():
        own = policy.lab(lab)
        usual = asdict(GRADED_LIMITS)
        differ = [
            f"{name} {value:g}"
            for name, value in sorted(asdict(limits_of(lab)).items())
            if value != usual[name]
        ]
        due = policy.due(lab)
        table.add_row(
            lab,
            _points(lab),
            f"{due:%Y-%m-%d %H:%M}" if due else "",
            _rule(own.late or policy.late),
            escape(", ".join(sorted({*own.extensions, *policy.extensions}))),
            ", ".join(differ),
            escape("; ".join(f"{name}: {', '.join(words)}" for name, words in own.forbid.items())),
        )
    console.print(table)


def _points(lab: str) -> str:
    """The lab's points, and what the policy makes of the master's."""
    written = {**dict(lab_as_written(lab).questions), **dict(lab_as_written(lab).written)}
    now = {**dict(spec(lab).questions), **dict(spec(lab).written)}
    changed = [f"{name} {now[name]:g} for {written[name]:g}" for name in now if now[name] != written[name]]
    return f"{sum(now.values()):g}" + (f" ({', '.join(changed)})" if changed else "")


def _rule(late: LatePolicy | None) -> str:
    if late is None:
        return ""
    words = f"{late.percent_per_day:g}% a day"
    if late.at_most_percent < 100:
        words += f", at most {late.at_most_percent:g}%"
    return words + (f", {late.grace_minutes:g} minutes' grace" if late.grace_minutes else "")
