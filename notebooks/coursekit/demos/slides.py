"""Writes a slide deck for each lab with reveal.js: short texts, the lab's figures and demos, and its text as notes.

The slides are written by hand in ``docs/slides/NN_topic.toml``, with a table ``[[slide]]`` for each slide:

=========  =========================================================================================
title      the slide's statement; with ``text`` at most 25 words
text       one or two softer lines; optional
formula    TeX; optional
figure     words in the lab's code cell that draws the figure
demo       a live demo: its name, and after ``#`` its state, as in its address
notes      words of the lab's heading whose text is used as presenter's notes
=========  =========================================================================================
"""

from __future__ import annotations

import base64
import re
import shutil
import tomllib
from functools import cache
from html import escape
from itertools import takewhile
from pathlib import Path
from string import Template
from typing import Any

import nbformat
from markdown_it import MarkdownIt
from nbformat.notebooknode import NotebookNode
from PIL import Image

from coursekit.demos import bundle, formulas
from coursekit.figures import MOST_OF_WIDE, SLIDE

ROOT = Path(__file__).resolve().parents[3]
TEXTS = ROOT / "docs" / "slides"
_TEMPLATE = Path(__file__).with_name("deck.html")
_VENDORED = ("reveal.css", "reveal.js", "reveal-notes.js")

_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?!\w)", re.DOTALL)
_HEADING = re.compile(r"^#{1,4} +(.+)$", re.MULTILINE)
_QUESTION = re.compile(r"· `\w+` [●○]")
_NAMED = re.compile(r"""(?:set_title|suptitle)\(\s*["']([^"'{}]+)["']|\btitle=["']([^"'{}]+)["']""")


def labs() -> list[Path]:
    """The executed notebooks of all labs, in the course's order."""
    return sorted((ROOT / "solutions").glob("[0-9][0-9]_*/[0-9][0-9]_*.ipynb"))


def read(lab: str) -> dict[str, Any]:
    """A lab's slides from its file."""
    return tomllib.loads((TEXTS / f"{lab}.toml").read_text(encoding="utf-8"))


@cache
def _book(lab: str) -> NotebookNode:
    return nbformat.read(ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4)


def named(lab: str) -> tuple[str, str, str]:
    """A lab's number, name and question."""
    number, _, rest = str(_book(lab).cells[0].source).partition("\n")[0].lstrip("# ").partition(" · ")
    name, _, question = rest.partition(": ")
    return number, name, question[:1].upper() + question[1:]


def cover(lab: str) -> str:
    """The address, in the folder of the decks, of a lab's title picture: its first demo's, or its last figure."""
    demos = [slide["demo"].partition("#")[0] for slide in read(lab)["slide"] if "demo" in slide]
    figures = sum("figure" in slide for slide in read(lab)["slide"])
    return f"../demos/pictures/{demos[0]}.webp" if demos else f"pictures/{lab}/{figures - 1:03}.webp"


# --- parts of a lab for its slides --------------------------------------------------------------------------------


def section(cells: list[NotebookNode], heading: str) -> tuple[int, str]:
    """The position of the cell with a heading that contains these words, and the text up to the next heading.

    A question's text is left out, because it only says what to write.
    """
    for place, cell in enumerate(cells):
        for found in _HEADING.finditer(cell.source) if cell.cell_type == "markdown" else ():
            if heading in found.group(1):
                after = takewhile(
                    lambda one: not one.metadata.get("nbgrader", {}).get("solution"), cells[place + 1 :]
                )
                texts = [
                    cell.source[found.end() :],
                    *(one.source for one in after if one.cell_type == "markdown"),
                ]
                return place, _HEADING.split("\n\n".join(filter(None, map(str.strip, texts))))[0].strip()
    raise ValueError(f"No heading of the lab has the words “{heading}”.")


def figure(cells: list[NotebookNode], words: str) -> tuple[bytes, str]:
    """The figure drawn by the code cell with these words, as a slide shows it, and its description."""
    for cell in cells:
        if cell.cell_type != "code" or words not in cell.source:
            continue
        for output in cell.get("outputs", []):
            if SLIDE in output.get("data", {}):
                return base64.b64decode(output["data"][SLIDE]), alt_text(cell)
    raise ValueError(f"No cell of the lab with the words “{words}” draws a figure.")


def alt_text(cell: NotebookNode) -> str:
    """The titles that the code gives to its figures; "" for none."""
    return "; ".join(a or b for a, b in _NAMED.findall(cell.source))


def notes(text: str) -> str:
    """A lab's text as HTML for the presenter, with drawn formulas."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(formulas.block(found[1]) if found[1] else formulas.drawn(found[2]))
        return f"\x02{len(kept) - 1}\x03"

    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(_FORMULA.sub(keep, text))
    return re.sub("\x02(\\d+)\x03", lambda found: kept[int(found[1])], html)


# --- slides -------------------------------------------------------------------------------------------------------


def _inline(text: str) -> str:
    return notes(text).strip().removeprefix("<p>").removesuffix("</p>")


def _slide(slide: dict[str, str], cells: list[NotebookNode], pictures: Path) -> str:
    """One slide as HTML. Its figure is written beside the deck."""
    told = (
        f'<aside class="notes">{notes(section(cells, slide["notes"])[1])}</aside>' if "notes" in slide else ""
    )
    if "demo" in slide:
        name, _, at = slide["demo"].partition("#")
        named, source = escape(bundle.meta(name)["title"]), f"../demos/{name}.html{'#' + at if at else ''}"
        return (
            f'<section class="live" aria-label="{named}"><iframe data-src="{escape(source)}" title="{named}"></iframe>'
            f'<img src="../demos/pictures/{name}.webp" alt="{named}">{told}</section>'
        )
    shown, kind = f"<h2>{_inline(slide['title'])}</h2>", "said"
    if "formula" in slide:
        shown += formulas.block(slide["formula"])
    if "figure" in slide:
        picture, alt = figure(cells, slide["figure"])
        file = pictures / f"{len(list(pictures.iterdir())):03}.webp"
        file.write_bytes(picture)
        width, height = Image.open(file).size
        kind = "shown tall" if height > 0.6 * width else "shown small" if width > MOST_OF_WIDE else "shown"
        source = f"pictures/{pictures.name}/{file.name}"
        shown += f'<a href="{source}" data-prevent-swipe><img src="{source}" alt="{escape(alt or slide["title"])}"></a>'
    if "text" in slide:
        shown += f"<p>{_inline(slide['text'])}</p>"
    return f'<section class="{kind}">{shown}{told}</section>'


def deck(lab: str, out: Path) -> str:
    """The page of a lab's deck. Its figures are written to ``out/pictures/LAB``."""
    number, name, question = named(lab)
    pictures = out / "pictures" / lab
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    cells = _book(lab).cells
    opening = f'<aside class="notes">{notes(cells[0].source.partition(chr(10))[2])}</aside>'
    first = (
        f'<section class="first"><div><p>Lab {escape(number)}</p><h1>{escape(name)}</h1>'
        f'<p>{escape(question)}</p></div><img src="{cover(lab)}" alt="A picture of this lab">{opening}</section>'
    )
    slides = [_slide(slide, cells, pictures) for slide in read(lab)["slide"]]
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(f"{number} · {name}: {question}"), icon=bundle.icon(), slides="\n".join([first, *slides])
    )


def write(out: Path) -> list[Path]:
    """Write the decks of all labs, with the files that they need, into a folder. The demos' pages are in ``../demos``."""
    out.mkdir(parents=True, exist_ok=True)
    for name in _VENDORED:
        shutil.copy(bundle.WEB / "vendor" / name, out)
    written = []
    for path in labs():
        written.append(out / f"{path.stem}.html")
        written[-1].write_text(deck(path.stem, out), encoding="utf-8")
    return written
