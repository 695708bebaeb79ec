"""Writes a slide deck for each lab: its story, its figures and its demos, live, in one HTML file that needs no network.

``python -m coursekit.demos.slides [07 …] [--out build/slides]``. Text and figures come from the executed notebooks in
``solutions/``; what a lab asks for is named and not answered.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from string import Template

import nbformat
from nbformat.notebooknode import NotebookNode

from coursekit.demos import bundle
from coursekit.demos.formulas import in_one_line, svg

ROOT = Path(__file__).resolve().parents[3]
OUT = ROOT / "build" / "slides"
_TEMPLATE = Path(__file__).with_name("deck.html")

#: What fits on a slide, in lines of about 58 characters.
LINES = 11.0
#: So many lines may stand above a figure.
BESIDE_A_FIGURE = 4.6
#: … and so many below one.
A_CAPTION = 3.3
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z“*`$])")
_FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w])\$([^$\n]+?)\$(?!\w)", re.DOTALL)
_QUESTION = re.compile(r".*· `(\w+)` [●○]")
_HEADING = re.compile(r"^(#{1,4}) +(.+)$")
_NAMED = re.compile(r"""(?:set_title|suptitle)\(\s*["']([^"'{}]+)["']|\btitle=["']([^"'{}]+)["']""")


def labs() -> list[Path]:
    """The executed notebooks of all labs, in the course's order."""
    return sorted((ROOT / "solutions").glob("[0-9][0-9]_*/[0-9][0-9]_*.ipynb"))


# --- text to HTML ------------------------------------------------------------------------------------------------


def inline(text: str) -> str:
    """One paragraph's markdown as HTML: formulas, code, bold, italics."""
    kept: list[str] = []

    def keep(markup: str) -> str:
        kept.append(markup)
        return f"\x00{len(kept) - 1}\x00"

    def formula(found: re.Match[str]) -> str:
        tex = found.group(1) or found.group(2)
        drawn = svg(tex)
        return keep(drawn if drawn else f"<code>{escape(tex)}</code>")

    text = re.sub(r"`([^`]+)`", lambda found: keep(f"<code>{escape(found.group(1))}</code>"), text)
    text = escape(_FORMULA.sub(formula, text), quote=False)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])", r"<em>\1</em>", text)
    while "\x00" in text:
        text = re.sub("\x00(\\d+)\x00", lambda found: kept[int(found.group(1))], text)
    return text


def formula_block(tex: str) -> str:
    """A displayed formula; several aligned lines become several formulas."""
    inner = (
        re.sub(r"\\(?:begin|end)\{aligned\}", "", in_one_line(tex))
        .replace("&", "")
        .replace(r"\frac", r"\dfrac")
    )
    drawn = [svg(line) for line in inner.split(r"\\")]
    if r"\begin" in inner or not all(drawn):
        return f"<pre><code>{escape(tex.strip())}</code></pre>"
    return "".join(f'<div class="formula">{line}</div>' for line in drawn)


def first_sentences(text: str, most: int) -> str:
    """As many whole sentences as fit into ``most`` characters, at least one."""
    sentences = _SENTENCE.split(" ".join(text.split()))
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + len(sentence) + 1 > most:
            break
        kept += " " + sentence
    return kept


def blocks(markdown: str) -> Iterator[tuple[str, str, float]]:
    """The parts of a text worth projecting: (kind, HTML, cost in lines); ``heading`` has its text and no cost.

    Long paragraphs keep their first sentences; notes and boxes are for reading at home and stay out.
    """
    for part in re.split(
        r"\n\s*\n",
        re.sub(r"```.*?```", lambda m: m.group(0).replace("\n\n", "\n"), markdown, flags=re.DOTALL),
    ):
        part = part.strip("\n")
        heading = _HEADING.match(part)
        if heading:
            yield "heading", heading.group(2), 0
            rest = part.split("\n", 1)[1:]
            if rest and rest[0].strip():
                yield from blocks(rest[0])
        elif not part or part.startswith(("> **A note", "<", "|--")):
            continue
        elif part.startswith(">"):
            quoted = first_sentences(re.sub(r"^> ?", "", part, flags=re.MULTILINE), 260)
            yield "quote", f"<blockquote>{inline(quoted)}</blockquote>", 2 + len(quoted) // 56
        elif part.startswith("```"):
            code = "\n".join(part.splitlines()[1:-1])
            size = min(0.86, 60 / max(map(len, code.splitlines()), default=1))
            lines = size * (code.count("\n") + 2)
            yield "code", f'<pre style="font-size:{size:.2f}em"><code>{escape(code)}</code></pre>', lines
        elif part.startswith("$$"):
            yield "formula", formula_block(part.strip("$ \n")), 2.2
        elif part.startswith("|"):
            rows = [
                row.strip().strip("|").split("|")
                for row in part.splitlines()
                if not re.match(r"^\|[\s:|-]+$", row)
            ]
            cells = ["".join(f"<td>{inline(cell.strip())}</td>" for cell in row) for row in rows]
            if len(rows) <= 9:
                yield (
                    "table",
                    f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>",
                    1.15 * len(rows),
                )
        elif re.match(r"(?:[*-]|\d+\.) ", part):
            items = [
                re.sub(r"^(?:[*-]|\d+\.) ", "", item) for item in re.split(r"\n(?=(?:[*-]|\d+\.) )", part)
            ]
            short = [first_sentences(item, 150) for item in items[:6]]
            kind = "ol" if part[0].isdigit() else "ul"
            listed = "".join(f"<li>{inline(item)}</li>" for item in short)
            yield "list", f"<{kind}>{listed}</{kind}>", sum(1 + len(item) // 58 for item in short) * 1.1
        else:
            text = first_sentences(part, 230)
            yield "text", f"<p>{inline(text)}</p>", 1.25 + len(text) // 60


def joined(parts: Iterable[tuple[str, str, float]]) -> Iterator[tuple[str, str, float]]:
    """The same parts, where a sentence that leads on to a list, a table or a formula stays with it."""
    waiting: tuple[str, str, float] | None = None
    for part in parts:
        kind, html, cost = part
        if waiting and kind not in ("text", "heading"):
            yield "text", waiting[1] + html, waiting[2] + cost
            waiting = None
            continue
        if waiting:
            yield waiting
        plain = re.sub("<[^>]+>", "", html).rstrip()
        waiting = part if kind == "text" and not plain.endswith((".", "!", "?", ")", "”")) else None
        if not waiting:
            yield part
    if waiting:
        yield waiting


# --- slides ------------------------------------------------------------------------------------------------------


def slide(body: str, kind: str = "text", label: str = "") -> str:
    """One slide."""
    return (
        f'<section class="{kind}" aria-roledescription="slide" aria-label="{escape(label)}">{body}</section>'
    )


class Story:
    """Collects a lab's slides: text flows into slides, a figure takes one of its own."""

    def __init__(self) -> None:
        self.slides: list[str] = []
        self._heading, self._body, self._cost, self._texts = "", "", 0.0, 0
        self._said = 0.0  # the lines above the last figure
        self._captioned = -1  # the slide whose figure may still get a caption

    def head(self, heading: str) -> None:
        """A new section."""
        self.flush()
        self._heading = re.sub(r"\s*[●○]+.*$", "", heading)

    def add(self, kind: str, html: str, cost: float) -> None:
        """A part of the text; at most three paragraphs between two figures or headings."""
        if not self._heading:
            return
        if kind == "text":
            self._texts += 1
            if self._texts > 3:
                return
        if self._body and self._cost + cost > LINES:
            self.flush(keep=True)
        self._body += html
        self._cost += cost

    def figure(self, png: str, alt: str) -> None:
        """A figure of the notebook."""
        said = self._body if self._cost <= BESIDE_A_FIGURE else ""
        self._said = self._cost if said else 0.0
        if said:
            self._body, self._cost = "", 0.0
        self.flush(keep=True)
        name = alt or re.sub("<[^>]+>", "", self._heading)
        image = f'<figure><img alt="{escape(name)}" src="data:image/png;base64,{png}"></figure>'
        self.slides.append(
            slide(f'<p class="kicker">{inline(self._heading)}</p>{said}{image}', "figure", name)
        )
        self._captioned = len(self.slides) - 1
        self._texts = 0

    def flush(self, keep: bool = False) -> None:
        """End the slide that is being written; ``keep`` goes on under the same heading.

        A line or two after a figure become its caption.
        """
        room = min(A_CAPTION, BESIDE_A_FIGURE - self._said + 1.4)
        if self._body and self._cost <= room and self._captioned == len(self.slides) - 1 >= 0:
            self.slides[-1] = self.slides[-1].removesuffix("</section>") + self._body + "</section>"
            self._captioned = -1
        elif self._body:
            self.slides.append(slide(f"<h2>{inline(self._heading)}</h2>{self._body}", "text", self._heading))
        self._body, self._cost = "", 0.0
        self._texts = self._texts if keep else 0


def story(book: NotebookNode) -> tuple[list[str], list[str]]:
    """The slides of a lab's text and figures, and the names of the functions that it asks for."""
    told, asked = Story(), []
    for cell in book.cells[1:]:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution") or marks.get("grade"):
            continue
        if cell.cell_type == "markdown":
            if ("points" in cell.source[:120] and "ritten" in cell.source[:120]) or cell.source.startswith(
                "**("
            ):
                continue
            for kind, html, cost in joined(blocks(cell.source)):
                if kind == "heading":
                    question = _QUESTION.match(html)
                    if question:  # what follows it explains the task
                        asked.append(question.group(1))
                        break
                    told.head(html)
                else:
                    told.add(kind, html, cost)
        else:
            for png, alt in pictures(cell):
                told.figure(png, alt)
    told.flush()
    return told.slides, asked


def pictures(cell: NotebookNode) -> list[tuple[str, str]]:
    """The figures of a cell as (base64, what the code calls it)."""
    found = [
        output["data"]["image/png"]
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    named = [a or b for a, b in _NAMED.findall(cell.source)]
    return [(png.replace("\n", ""), "; ".join(named)) for png in found]


def demo_slide(name: str) -> str:
    """A demo, live: its own page in a frame, which hands the key back after its last scene."""
    title = escape(bundle.meta(name)["title"])
    page = escape(bundle.page(name), quote=True)
    return slide(f'<iframe title="{title}" loading="lazy" srcdoc="{page}"></iframe>', "live", title)


def opening(book: NotebookNode) -> list[str]:
    """The title slide, and what the lab sets out to do."""
    heading, _, rest = book.cells[0].source.partition("\n")
    number, _, title = heading.lstrip("# ").partition(" · ")
    name, _, question = title.partition(": ")
    first = f'<p class="kicker">From Bigrams to Translators · {escape(number)}</p><h1>{escape(name)}</h1>'
    first += f"<p>{escape(question[:1].upper() + question[1:])}</p>" if question else ""
    told = Story()
    told.head(question[:1].upper() + question[1:] if question else name)
    for kind, html, cost in joined(blocks(rest)):
        if kind != "heading":
            told.add(kind, html, cost)
    told.flush()
    return [slide(first, "title", name), *told.slides]


def deck(path: Path) -> str:
    """The whole page of a lab."""
    book = nbformat.read(path, as_version=4)
    told, asked = story(book)
    demos = [demo_slide(name) for name in bundle.names() if name[:2] == path.stem[:2]]
    listed = "".join(f"<li><code>{escape(name)}</code></li>" for name in asked)
    work = (
        [slide(f"<h2>In the lab you write</h2><ul>{listed}</ul>", "text", "What the lab asks for")]
        if asked
        else []
    )
    title = book.cells[0].source.partition("\n")[0].lstrip("# ")
    slides = [*opening(book), *demos, *told, *work]
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(title), slides="\n".join(slides)
    )


def write(out: Path, chosen: Sequence[str] = ()) -> list[Path]:
    """Write the decks of the labs whose names begin so (of all, by default) and a page that lists them."""
    out.mkdir(parents=True, exist_ok=True)
    written, listed = [], []
    for path in labs():
        target = out / f"{path.stem}.html"
        if not chosen or path.stem.startswith(tuple(chosen)):
            target.write_text(deck(path), encoding="utf-8")
            written.append(target)
        if target.exists():
            listed.append(
                f'<li><a href="{target.name}">{escape(path.stem.replace("_", " · ", 1).replace("_", " "))}</a></li>'
            )
    body = slide(f"<h1>From Bigrams to Translators</h1><ul>{''.join(listed)}</ul>", "title", "All decks")
    page = Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(title="All decks", slides=body)
    (out / "index.html").write_text(page, encoding="utf-8")
    return [*written, out / "index.html"]


def main() -> int:
    """Write the decks that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("labs", nargs="*", help="numbers or names of labs; none: all")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    for path in write(asked.out, asked.labs):
        count = path.read_text(encoding="utf-8").count("<section")
        print(f"{path}  {count} slides, {path.stat().st_size // 1024} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
