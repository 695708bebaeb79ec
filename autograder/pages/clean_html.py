"""What Formgrader's pages show of a student's own HTML and markdown: what cannot run.

``nbgrader_plugin/settings`` puts these filters in place of nbconvert's. Formgrader's template does not clean written
answers at all, and nbconvert's own cleaning shows ordinary tags (a paragraph, a heading) as text. Formulas are drawn
here, because MathJax comes from the network.
"""

from __future__ import annotations

import itertools
import re
import secrets
from html import escape
from typing import Any
from urllib.parse import unquote

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.ansi import ansi2html, strip_ansi
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath, MathInlineParser

#: What is longer, or has more or deeper elements, is shown as it was typed: its reader would wait for minutes.
_MOST_TEXT, _MOST_ELEMENTS, _DEEPEST = 40_000, 20_000, 100
_ELEMENT = re.compile(
    r"<(/?)(?!(?:br|hr|img|col|p|li|dt|dd|t[rdh])\b)[a-z](?:[^<>]*[^<>/])?(/?)", re.IGNORECASE
)
_PICTURE = re.compile(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*")
_ATTACHED = "attachment:"
#: Characters of markdown that one page sets, and formulas that it draws: ten times a long lab's. The rest is shown as it was typed.
_MOST_OF_A_PAGE, _MOST_FORMULAS = 300_000, 1_000
_LINK = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
#: Code longer than this, or with such runs of blanks, is shown without colours, and output with more of them likewise: who colours
#: it takes the square of the time.
_MOST_CODE, _BLANKS, _MOST_COLOURS = 20_000, re.compile(r"\s{200}"), 2_000
_PYTHON = ("python", "python3", "py")
#: A formula longer than this is shown as it was typed.
_LONGEST_FORMULA = 1000
_LINES = re.compile(r"\s*\\begin\{(?![a-z]?matrix)[a-z]+\*?\}(.*)\\end\{[a-z]+\*?\}\s*", re.DOTALL)
#: Classes of highlighted code, of data frames and of the course's cards; none that Formgrader's own script looks for.
_CLASS = re.compile(r"highlight|hl-[\w-]+|dataframe|ck|good|bad|todo|why|bar|[a-z]{1,2}\d?")


def _attribute(tag: str, name: str, value: str) -> str | None:
    match name:
        case "href":
            allowed = tag == "a" and _LINK.match(value.strip()) is not None
        case "src":
            allowed = tag == "img" and _PICTURE.fullmatch(value) is not None
        case "class":
            allowed = all(_CLASS.fullmatch(word) for word in value.split())
        case "style":
            allowed = tag in ("td", "th", "span")  # colours of a table
        case _:
            allowed = True
    return value if allowed else None


_TEXT = {"href", "src", "class", "style", "alt", "title"}
_cleaner = nh3.Cleaner(
    #: The text in these is none for a reader, as in scripts and styles.
    clean_content_tags={"script", "style", "template", "noscript", "title"},
    attributes={"*": _TEXT | {"colspan", "rowspan", "start", "width", "height", "open"}},
    attribute_filter=_attribute,
    url_schemes={"http", "https", "mailto", "data"},
    filter_style_properties={"color", "background-color", "text-align", "font-weight", "font-style"},
)


class _Cleaned(str):
    """HTML that was cleaned: nbconvert cleans some of it twice, and the formulas in it are ours."""


def clean_html(markup: Any) -> str:
    """HTML without anything that runs, loads from elsewhere or takes part in the page's own script."""
    if isinstance(markup, _Cleaned):
        return markup
    text = markup.decode("utf-8", "replace") if isinstance(markup, bytes) else str(markup)
    if text.count("<") > _MOST_ELEMENTS or _depth(text) > _DEEPEST:
        return _as_typed(text)
    return _Cleaned(_cleaner.clean(text))


def _as_typed(text: str) -> str:
    rest = f"\n[{len(text) - _MOST_TEXT:,} more characters are not shown]" if len(text) > _MOST_TEXT else ""
    return _Cleaned(f"<pre>{escape(text[:_MOST_TEXT])}{rest}</pre>")


def _depth(text: str) -> int:
    """How deep elements stand in each other, at most: an element that is never closed holds all that follow."""
    steps = (-1 if tag[1] else 0 if tag[2] else 1 for tag in _ELEMENT.finditer(text))
    return max(itertools.accumulate(steps), default=0)


class Page:
    """What one page may still set: whoever wrote it, its reader does not wait for minutes."""

    def __init__(self) -> None:
        self.text, self.formulas = _MOST_OF_A_PAGE, _MOST_FORMULAS

    @classmethod
    def of(cls, context: Context) -> Page:
        """The page that a template is making."""
        resources = context.get("resources")
        if not isinstance(resources, dict):
            return cls()
        if not isinstance(resources.get("set so far"), cls):
            resources["set so far"] = cls()
        page: Page = resources["set so far"]
        return page


def coloured_code(source: str, page: Page) -> str:
    """Python as HTML, in colours where that is quick."""
    page.text -= len(source)
    if len(source) > _MOST_CODE or page.text < 0 or _BLANKS.search(source):
        return f'<div class="highlight"><pre>{escape(source)}</pre></div>'
    return str(Highlight2HTML(pygments_lexer="python")(source))  # type: ignore[no-untyped-call]


@pass_context
def highlight_code(context: Context, source: str, metadata: Any = None) -> str:
    """A cell's code, in a template."""
    return coloured_code(source, Page.of(context))


def coloured_output(text: str) -> str:
    """What a cell printed, as HTML: in the terminal's colours, where there are not thousands of them."""
    plain = strip_ansi(text) if text.count("\x1b") > _MOST_COLOURS else text  # type: ignore[no-untyped-call]
    return str(ansi2html(plain))  # type: ignore[no-untyped-call]


def as_it_is(text: str) -> str:
    """The text: nbconvert looks for links to ``files/`` in it, for the square of its brackets, and we allow none."""
    return text


class _Renderer(IPythonRenderer):
    """Keeps formulas out of the cleaning: each leaves a mark that nobody can guess, and is drawn afterwards."""

    def __init__(self, page: Page | None = None, **options: Any) -> None:
        super().__init__(exclude_anchor_links=True, **options)
        self.page = page or Page()
        self.mark = secrets.token_hex(8)
        self.formulas: list[tuple[str, bool]] = []

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that the notebook holds; of any other, what it is called."""
        if url.startswith(_ATTACHED):
            name = url.removeprefix(_ATTACHED)
            kinds = self.attachments.get(name) or self.attachments.get(unquote(name)) or {}
            url = next((f"data:{kind};base64,{data}" for kind, data in kinds.items()), url)
        if _PICTURE.fullmatch(url):
            return str(super().image(text, url, title))
        called = escape(unquote(url.removeprefix(_ATTACHED))[:100])
        return f"<em>[a picture that is not in the notebook: {called}]</em>"

    def block_code(self, code: str, info: str | None = None) -> str:
        """Python in colours, other languages without: some of their readers can be held up for hours."""
        if (info or "").split(maxsplit=1)[:1] in ([name] for name in _PYTHON):
            return coloured_code(code, self.page)
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def _leave(self, tex: str, alone: bool) -> str:
        self.formulas.append((tex, alone))
        return f"{self.mark}-{len(self.formulas) - 1}-"

    def inline_math(self, body: str) -> str:
        return self._leave(body, False)

    def block_math(self, body: str) -> str:
        return self._leave(body, True)

    def latex_environment(self, name: str, body: str) -> str:
        return self._leave(rf"\begin{{{name}}}{body}\end{{{name}}}", True)

    def drawn(self, html: str) -> str:
        """The cleaned page with the formulas where they belong; inside of a tag (a picture's name) as TeX."""
        part = re.compile(rf"<(?:\"[^\"]*\"|'[^']*'|[^>\"'])*>|{self.mark}-(\d+)-")

        def formula(match: re.Match[str]) -> str:
            return self._formula(*self.formulas[int(match[1])]) if match[1] else in_tag.sub(tex, match[0])

        def tex(match: re.Match[str]) -> str:
            return escape(self.formulas[int(match[1])][0])

        in_tag = re.compile(rf"{self.mark}-(\d+)-")
        return part.sub(formula, html)

    def _formula(self, tex: str, alone: bool) -> str:
        """One formula, several lines (``\\begin{align}``) one below the other; as TeX where it cannot be drawn."""
        from coursekit.demos.formulas import svg  # matplotlib: only where there is a formula

        lines = _LINES.fullmatch(tex)
        rows = [row.replace("&", " ") for row in lines[1].split(r"\\") if row.strip()] if lines else [tex]
        self.page.formulas -= len(rows)
        is_drawn = len(tex) <= _LONGEST_FORMULA and self.page.formulas >= 0
        drawn = [svg(row) for row in rows] if is_drawn else [None]
        shown = f"<code>{escape(tex.strip())}</code>" if None in drawn else "<br>".join(map(str, drawn))
        return f'<span class="formula">{shown}</span>' if alone else shown


def _html(source: str, renderer: _Renderer, hard_wrap: bool = False) -> str:
    renderer.page.text -= len(source)
    if len(source) > _MOST_TEXT or renderer.page.text < 0:
        return _as_typed(source)
    try:
        made = MarkdownWithMath(renderer=renderer, inline=MathInlineParser(hard_wrap=hard_wrap)).render(
            source
        )
        return _Cleaned(renderer.drawn(clean_html(made)))
    except Exception:  # markdown that its reader does not get through
        return _as_typed(source)


def cell_html(source: str, attachments: dict[str, Any] | None = None, page: Page | None = None) -> str:
    """A cell's markdown as clean HTML, its formulas drawn, its attached pictures shown."""
    return _html(source, _Renderer(page, escape=False, attachments=attachments))


def comment_html(text: str) -> str:
    """A teacher's comment in markdown as clean HTML: its lines stay lines, and ``List<int>`` is no element."""
    return _html(text, _Renderer(escape=True), hard_wrap=True)


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """A cell's markdown, in a template."""
    return cell_html(source, (context.get("cell") or {}).get("attachments"), Page.of(context))
