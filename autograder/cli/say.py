"""Prints what a command says, from its template in ``templates``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from autograder.course.lists import summarize_names
from autograder.pages.render import plain, templates_in

#: Stands for the table in a filled template. No value can contain it.
_TABLE = "\x00"


def shown(value: object, most: int = 2000) -> str:
    """A value, which may contain what students wrote, without terminal codes and without markup."""
    return _TABLE if isinstance(value, Table) else escape(plain(str(value), most))


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent / "templates"
    environment = templates_in(folder, finalize=shown, keep_trailing_newline=True)
    environment.filters["names"] = summarize_names
    return environment


def say(console: Console, template: str, table: Table | None = None, **values: object) -> None:
    """Print a template with these values, and the table at its place."""
    text = _environment().get_template(f"{template}.txt").render(table=table, **values)
    before, mark, after = text.partition(_TABLE + "\n")
    console.print(before, end="")
    if mark:
        console.print(table)
        console.print(after, end="")
