"""Turns values into HTML: one escaping template environment and a few filters for all pages."""

from __future__ import annotations

import base64
import hashlib
import inspect
import os
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

TEMPLATES = Path(__file__).parent / "templates"

#: Terminal colours and other escape sequences, as in tracebacks.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
#: Characters that no page may contain: control characters except tab and newline, and lone surrogates.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
#: Asterisks inside words, next to spaces, or in code are no emphasis: ``a * b * c`` stays unchanged.
_STRONG = re.compile(r"(?<![\w*])\*\*(?=\S)([^*<>]+?)(?<=\S)\*\*(?![\w*])")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=\S)([^*<>]+?)(?<=\S)\*(?![\w*])")
#: Code in a sentence without backticks: calls, names with dots or underscores, True, False, None.
_BARE = re.compile(
    r"`[^`\n]*`|\b(?!e\.g|i\.e)(True|False|None(?! of)|[A-Za-z]\w*(?:\.[A-Za-z_]\w*)+(?:\([^()]*\))?"
    r"|[A-Za-z]\w*_\w+(?:\([^()]*\))?|[a-z]\w*\([^()]+\))(?!\w)"
)
_CODE = re.compile(r"``(.+?)``|`([^`\n]+)`")


def plain(text: str, limit: int = 8000) -> str:
    """The text without terminal codes and control characters, cut in the middle if it is long."""
    clean = _UNPRINTABLE.sub("\ufffd", _TERMINAL.sub("", text).replace("\r\n", "\n"))
    if len(clean) <= limit:
        return clean
    left_out = len(clean) - limit
    return f"{clean[: limit // 2]}\n… {left_out} characters left out …\n{clean[-(limit // 2) :]}"


def sentence(text: str) -> Markup:
    """An escaped sentence, with `code` between backticks set as code."""
    pieces: list[Markup] = []
    clean, end = plain(text, 2000), 0
    for match in _CODE.finditer(clean):
        pieces.append(escape(clean[end : match.start()]))
        pieces.append(Markup("<code>{}</code>").format(match.group(1) or match.group(2)))
        end = match.end()
    return Markup("").join([*pieces, escape(clean[end:])])


def prose(text: str) -> Markup:
    """Escaped paragraphs by the course's authors, with code, *emphasis* and **strong** emphasis."""
    paragraphs = []
    text = _BARE.sub(lambda found: f"`{found[1]}`" if found[1] else found[0], text)
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        html = str(sentence(" ".join(paragraph.split())))
        html = _STRONG.sub(r"<strong>\1</strong>", html)
        html = _EMPHASIS.sub(r"<em>\1</em>", html)
        paragraphs.append(f"<p>{html}</p>")
    return Markup("".join(paragraphs))


def breakable(name: str) -> Markup:
    """A function's name with a possible line break after each ``_``."""
    return Markup("_<wbr>").join(name.split("_"))


def points(value: float) -> str:
    """Points without needless zeros: 4, 2.5, 0.33."""
    return f"{round(value, 2):.2f}".rstrip("0").rstrip(".")


def counted_points(value: float) -> str:
    """The points with their noun: "1 point", "2.5 points"."""
    return f"{points(value)} {'point' if points(value) == '1' else 'points'}"


def share(value: float, maximum: float) -> str:
    """The percentage of the maximum, between 0 and 100, for a bar's width."""
    return f"{100 * min(max(value / maximum, 0.0), 1.0):.4g}" if maximum > 0 else "0"


def duration(seconds: float) -> str:
    """A length of time in words: "3 days", "1 hour 20 minutes", "less than a minute"."""
    units = [("day", 86400), ("hour", 3600), ("minute", 60)]
    parts, rest = [], int(seconds)
    for name, size in units:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return " ".join(parts[:2]) or "less than a minute"


def address_of(page: Path, folder: Path) -> str:
    """The relative, quoted address of a page from a folder; "" if the page does not exist."""
    seen = Path(os.path.relpath(page, folder)).as_posix().encode("utf-8", "surrogateescape")
    return quote(seen) if page.exists() else ""


def sorting_script() -> dict[str, object]:
    """The script that sorts a page's tables, and its hash for the page's content policy."""
    script = (TEMPLATES / "sort.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {"script": Markup(script), "script_hash": f"sha256-{digest}"}


def templates_in(folder: Path, **more: Any) -> Environment:
    """The templates of a folder; ``more`` are jinja2's further options."""
    loader, undefined = FileSystemLoader(folder), StrictUndefined
    return Environment(loader=loader, undefined=undefined, trim_blocks=True, lstrip_blocks=True, **more)


@cache
def _environment() -> Environment:
    environment = templates_in(TEMPLATES, autoescape=True, auto_reload=False)
    for each in (plain, breakable, points, share, sentence, prose, counted_points, duration):
        environment.filters[each.__name__] = each
    environment.globals["style"] = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
    return environment


def render(template: str, **values: object) -> str:
    """Fill one of the templates. Everything that is not Markup is escaped."""
    return _environment().get_template(template).render({"script_hash": "", **values})
