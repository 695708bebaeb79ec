"""Writes the course's site: every lab with its demos, the gallery, the slides, and the guide for teaching teams.

``python -m coursekit.demos.site`` writes ``build/site``. Sphinx with MyST-NB makes the pages (``docs/site/conf.py``) from the
sources that this module writes. The result is static: it works on any host and under any path, and loads nothing else.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from html import escape
from pathlib import Path
from string import Template

import nbformat
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_markdown_cell

from coursekit.demos import bundle, slides

ROOT = slides.ROOT
PICTURES = ROOT / "docs" / "img" / "demos"
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)")
#: Page of the guide -> addition to its title.
_GUIDE = {
    "run_a_course": "from the class list to the grades",
    "live_class": "verdicts at once, and what the room misunderstands",
    "hub": "the labs in a browser, with nothing to install",
    "grading": "and how well it was kept on labs that were solved blind",
    "security": "what a submission can and cannot do",
    "write_a_lab": "or make one of an nbgrader notebook",
    "write_a_demo": "and a slide that shows it",
    "translator": "lab 12's model on English and German as people write them",
    "parallel_corpus": "the sentences that lab 12 learns from",
    "mutants": "small changes of a solution that no hidden test notices",
}
#: Page -> heading before it on the guide's first page.
_PARTS = {
    "run_a_course": "Teach",
    "grading": "Rely on it",
    "write_a_lab": "Write your own",
    "translator": "What lies behind",
}


def for_readers(book: NotebookNode, released: NotebookNode, lab: str) -> NotebookNode:
    """A lab as its students get it, with the executed master's figures, and the lab's demos after their text.

    Solutions are empty, as in the released notebook. Output of solutions and tests is left out, a figure's code is folded.
    """
    asked = {_grade_id(cell): cell.source for cell in released.cells if _grade_id(cell)}
    cells: list[NotebookNode] = []
    for cell in book.cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown":
            one_title = _own_links(cell.source).replace("\n# ", "\n## ")  # the acts of lab 12
            cells.append(new_markdown_cell(one_title))
        else:
            cells.append(cell)
            cell.metadata["mystnb"] = {"image": {"alt": slides.alt_text(cell) or "a figure of this cell"}}
            if any("image/png" in one.get("data", {}) for one in cell.outputs):
                cell.metadata["tags"] = ["hide-input"]
        if marks.get("solution") or marks.get("grade"):
            if _grade_id(cell) not in asked:
                raise ValueError(f"{lab}: the released notebook has no cell {_grade_id(cell)}.")
            cells[-1].source = asked[_grade_id(cell)]
            if cell.cell_type == "code":
                cell.outputs = []
        elif cell.cell_type == "code":
            cell.outputs = [
                one
                for one in cell.outputs
                if "application/vnd.coursekit.check+json" not in one.get("data", {})
            ]
    placed = [(slide["notes"], slide["demo"]) for slide in slides.read(lab)["slide"] if "demo" in slide]
    for heading, demo in reversed(placed):
        cells.insert(slides.section(cells, heading)[0] + 1, new_markdown_cell(_live(demo)))
    title, _, text = cells[0].source.partition("\n")
    to_write = "This page is for reading. You write and run in the lab's notebook: [how to open it](index.md#how-to-open-a-lab)."
    cells[0].source = f"{title}\n\n{_opening(lab, [demo for _, demo in placed])}\n{to_write}\n{text}"
    return nbformat.v4.new_notebook(cells=cells, metadata=book.metadata)


def _opening(lab: str, placed: list[str]) -> str:
    """The box at a lab's beginning: its picture, slides and demos."""
    links = [(f"../slides/{lab}.html", "Slides")]
    for name in dict.fromkeys(demo.partition("#")[0] for demo in placed):
        links.append((f"../demos/{name}.html", escape(bundle.meta(name)["title"])))
    address, words = (links[1:] or links)[0]
    return (
        f'<figure class="opening"><a href="{address}"><img src="../slides/{slides.cover(lab)}" alt="{words}"></a><figcaption>'
        + "".join(f'<a href="{address}">{words}</a>' for address, words in links)
        + "</figcaption></figure>\n"
    )


def _grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def _live(demo: str) -> str:
    name, _, at = demo.partition("#")
    title = bundle.meta(name)["title"]
    source = f"../demos/{name}.html{'#' + at if at else ''}"
    return (
        f'<iframe class="demo" loading="lazy" src="{escape(source)}" title="{escape(title)}"></iframe>\n'
        f'<p><a href="{escape(source)}">{escape(title)}: the demo on a page of its own</a></p>'
    )


def _own_links(text: str, here: Path | None = None) -> str:
    """The text without links to files, except those to a page of this site, which show its title instead of its file."""

    def kept(found: re.Match[str]) -> str:
        words, address = found.groups()
        target = address.partition("#")[0]
        if here and (here / target).is_file() and target.removesuffix(".md") in _GUIDE:
            return f"[{'' if words == target else words}]({address})"
        return words

    return _LINK.sub(kept, text)


def home(text: str) -> str:
    """The first page: its text, with the labs as a path."""
    stops = []
    for lab in (path.stem for path in slides.labs()):
        number, name, question = slides.named(lab)
        stops.append(
            f'<li><a href="labs/{lab}.html"><i>{number}</i><span><b>{escape(name)}</b>{escape(question)}</span></a></li>'
        )
    return Template(text).substitute(path="\n".join(stops), demos=len(bundle.names()))


def pictured(folder: str) -> str:
    """All labs as cards that lead to their pages in a folder, each with its picture and question."""
    items = []
    for lab in (path.stem for path in slides.labs()):
        number, name, question = slides.named(lab)
        items.append(
            f'<li><a href="../{folder}/{lab}.html"><img src="../slides/{slides.cover(lab)}" alt="" width="480" height="270">'
            f"<p><b>{number} · {escape(name)}</b></p><p>{escape(question)}</p></a></li>\n"
        )
    return f'```{{raw}} html\n<ul class="gallery">\n{"".join(items)}</ul>\n```\n\n'


def decks() -> str:
    """The page of all decks."""
    return (
        f"# Slides\n\nA short deck for each lab, with its demos inside.\n\n{pictured('slides')}**Keys.** "
        "Space and → go on, through a demo's scenes too. `H` hides a demo's controls, `Q` asks about its scene. `Esc` shows all"
        " slides, `S` opens the presenter's view with the lab's text as notes, `F` fills the screen. A deck whose address ends in"
        " `?print-pdf` prints in landscape.\n"
    )


def gallery() -> str:
    """The page of all demos, each with a picture, title, text and QR code."""
    items = "".join(
        f'<li><a href="{name}.html"><img src="pictures/{name}.webp" alt="" width="480" height="270">'
        f"<p><b>{name[:2]} · {escape(bundle.meta(name)['title'])}</b></p></a><p>{escape(bundle.meta(name)['look'])}</p>"
        f'<details data-page="{name}.html"><summary>QR code</summary></details></li>\n'
        for name in bundle.names()
    )
    return (
        "# Demos\n\nEach is one page that needs nothing else: save it, open it without a network.\n\n```{raw} html\n"
        f'<ul class="gallery">\n{items}</ul>\n<script src="qrcode.js"></script><script src="qr.js"></script>\n```\n\n**Keys.** '
        "Space, ← and → go through the scenes, `Q` asks about the scene that is shown, `P` plays, `H` hides the controls, `F` fills"
        " the screen. Copy the address to share what is shown.\n"
    )


def lay_out(source: Path) -> None:
    """Write Sphinx's sources into a folder."""
    here = ROOT / "docs" / "site"
    for folder in ("labs", "demos", "slides", "guide", "_static"):
        (source / folder).mkdir(parents=True)
    shutil.copy(here / "conf.py", source)
    for name in ("course.css", "scroll.js"):
        shutil.copy(here / name, source / "_static")
    shutil.copy(bundle.WEB / "icon.svg", source)
    (source / "index.md").write_text(home((here / "index.md").read_text(encoding="utf-8")), encoding="utf-8")
    for path in slides.labs():
        released = nbformat.read(ROOT / "notebooks" / path.stem / path.name, as_version=4)
        book = for_readers(nbformat.read(path, as_version=4), released, path.stem)
        nbformat.write(book, source / "labs" / path.name)
    named = "\n".join("{} · {} <{}>".format(*slides.named(lab.stem)[:2], lab.stem) for lab in slides.labs())
    students = (
        (ROOT / "README.md").read_text(encoding="utf-8").split("## For students\n")[1].partition("\n## ")[0]
    )
    (source / "labs" / "index.md").write_text(
        f"# Labs\n\n{pictured('labs')}## How to open a lab\n{students}\n```{{toctree}}\n:hidden:\n\n{named}\n```\n",
        encoding="utf-8",
    )
    (source / "demos" / "index.md").write_text(gallery(), encoding="utf-8")
    (source / "slides" / "index.md").write_text(decks(), encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "img", source / "guide" / "img", ignore=shutil.ignore_patterns("demos"))
    for name in _GUIDE:
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        (source / "guide" / f"{name}.md").write_text(_own_links(text, ROOT / "docs"), encoding="utf-8")
    listed = "".join(
        (f"\n## {_PARTS[name]}\n\n" if name in _PARTS else "") + f"- []({name}.md): {what}\n"
        for name, what in _GUIDE.items()
    )
    tree = "\n".join(_GUIDE)
    (source / "guide" / "index.md").write_text(
        "# Guide for teaching teams\n\nBegin with [](run_a_course.md); the rest can wait until you need it.\n\n"
        "![What a student gets: a check in the lab at once, then a page of feedback](img/overview.png)\n"
        f"{listed}\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n",
        encoding="utf-8",
    )


def write(out: Path) -> None:
    """Write the site into a folder."""
    from sphinx.cmd.build import build_main

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        lay_out(source)
        if build_main(["-q", "-W", "--keep-going", "-d", str(Path(folder) / "trees"), str(source), str(out)]):
            raise SystemExit("Sphinx could not make the site: correct the errors above.")
    bundle.write(out / "demos")
    shutil.copytree(PICTURES, out / "demos" / "pictures", dirs_exist_ok=True)
    shutil.copy(bundle.WEB / "vendor" / "qrcode.js", out / "demos")
    shutil.copy(ROOT / "docs" / "site" / "qr.js", out / "demos")
    slides.write(out / "slides")


if __name__ == "__main__":
    write(ROOT / "build" / "site")
    print("build/site is made. Open its index.html, or copy the folder to any static host.")
