"""Cleans students' HTML and markdown for Formgrader's pages, so that nothing in it can run.

``nbgrader_plugin/settings`` replaces nbconvert's filters by these. Formgrader's template does not clean written answers at
all, and nbconvert's own cleaning shows ordinary tags (a paragraph, a heading) as text. Formulas are drawn here, because
MathJax would come from the network.
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

#: Texts that are longer, or have more or deeper elements, are shown as typed: rendering would take minutes.
_MOST_TEXT, _MOST_ELEMENTS, _DEEPEST = 40_000, 20_000, 100
_ELEMENT = re.compile(
    r"<(/?)(?!(?:br|hr|img|col|p|li|dt|dd|t[rdh])\b)[a-z](?:[^<>]*[^<>/])?(/?)", re.IGNORECASE
)
_PICTURE = re.compile(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*")
_ATTACHED = "attachment:"
#: The most characters of markdown and the most formulas that one page renders: ten times a long lab's. The rest is shown as typed.
_MOST_OF_A_PAGE, _MOST_FORMULAS = 300_000, 1_000
_LINK = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
#: Longer code, code with such runs of blanks, and output with more colours are shown without colours: colouring takes
#: quadratic time.
_MOST_CODE, _BLANKS, _MOST_COLOURS = 20_000, re.compile(r"\s{200}"), 2_000
_PYTHON = ("python", "python3", "py")
#: A formula longer than this is shown as typed.
_LONGEST_FORMULA = 1000
_LINES = re.compile(r"\s*\\begin\{(?![a-z]?matrix)[a-z]+\*?\}(.*)\\end\{[a-z]+\*?\}\s*", re.DOTALL)
#: The allowed classes: of highlighted code, data frames and the course's cards. Formgrader's own script uses none of them.
_CLASS = re.compile(r"highlight|hl-[\w-]+|dataframe|ck|good|bad|todo|why|bar|[a-z]{1,2}\d?")


def _attribute(tag: str, name: str, value: str) -> str | None:
    allowed = {
        "href": tag == "a" and _LINK.match(value.strip()),
        "src": tag == "img" and _PICTURE.fullmatch(value),
        "class": name == "class" and all(map(_CLASS.fullmatch, value.split())),
        "style": tag in ("td", "th", "span"),  # colours of a table
    }
    return value if allowed.get(name, True) else None


_TEXT = {"href", "src", "class", "style", "alt", "title"}
_cleaner = nh3.Cleaner(
    #: Elements that are removed with their text, such as scripts and styles.
    clean_content_tags={"script", "style", "template", "noscript", "title"},
    attributes={"*": _TEXT | {"colspan", "rowspan", "start", "width", "height", "open"}},
    attribute_filter=_attribute,
    url_schemes={"http", "https", "mailto", "data"},
    filter_style_properties={"color", "background-color", "text-align", "font-weight", "font-style"},
)


class _Cleaned(str):
    """HTML that is already clean. nbconvert cleans some of it twice, which would remove the drawn formulas."""


def clean_html(markup: Any) -> str:
    """The HTML without anything that runs, loads from elsewhere or affects the page's own script."""
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
    """The greatest depth of nested elements. An unclosed element contains all that follow."""
    steps = (-1 if tag[1] else 0 if tag[2] else 1 for tag in _ELEMENT.finditer(text))
    return max(itertools.accumulate(steps), default=0)


class Page:
    """The budget of markdown and formulas left for one page, so that rendering does not take minutes."""

    def __init__(self) -> None:
        self.text, self.formulas = _MOST_OF_A_PAGE, _MOST_FORMULAS

    @classmethod
    def of(cls, context: Context) -> Page:
        """The budget of the page that a template is rendering."""
        resources = context.get("resources")
        page: Page = resources.setdefault("set so far", cls()) if isinstance(resources, dict) else cls()
        return page


def coloured_code(source: str, page: Page) -> str:
    """Python code as HTML, in colours if that is fast."""
    page.text -= len(source)
    if len(source) > _MOST_CODE or page.text < 0 or _BLANKS.search(source):
        return f'<div class="highlight"><pre>{escape(source)}</pre></div>'
    return str(Highlight2HTML(pygments_lexer="python")(source))  # type: ignore[no-untyped-call]


@pass_context
def highlight_code(context: Context, source: str, metadata: Any = None) -> str:
    """The template filter for a cell's code."""
    return coloured_code(source, Page.of(context))


def coloured_output(text: str) -> str:
    """A cell's printed output as HTML, in the terminal's colours unless there are too many."""
    plain = strip_ansi(text) if text.count("\x1b") > _MOST_COLOURS else text  # type: ignore[no-untyped-call]
    return str(ansi2html(plain))  # type: ignore[no-untyped-call]


def unchanged(text: str) -> str:
    """The text itself. It replaces nbconvert's filter for links to ``files/``, which takes quadratic time; none are allowed."""
    return text


class _Renderer(IPythonRenderer):
    """Protects formulas from the cleaning: a mark that nobody can guess replaces each one until it is drawn."""

    def __init__(self, page: Page | None = None, **options: Any) -> None:
        super().__init__(exclude_anchor_links=True, **options)
        self.page = page or Page()
        self.mark = secrets.token_hex(8)
        self.formulas: list[tuple[str, bool]] = []

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture from the notebook; for any other picture, its description."""
        if url.startswith(_ATTACHED):
            name = url.removeprefix(_ATTACHED)
            kinds = self.attachments.get(name) or self.attachments.get(unquote(name)) or {}
            url = next((f"data:{kind};base64,{data}" for kind, data in kinds.items()), url)
        if _PICTURE.fullmatch(url):
            return str(super().image(text, url, title))
        called = escape(unquote(url.removeprefix(_ATTACHED))[:100])
        return f"<em>[a picture that is not in the notebook: {called}]</em>"

    def block_code(self, code: str, info: str | None = None) -> str:
        """Python in colours, other languages without: some of their highlighters can take hours."""
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
        """The cleaned page with its formulas in place; inside a tag (a picture's name) as TeX."""
        formula = re.compile(rf"{self.mark}-(\d+)-")

        def tex(match: re.Match[str]) -> str:
            return escape(self.formulas[int(match[1])][0])

        def picture(match: re.Match[str]) -> str:
            return self._formula(*self.formulas[int(match[1])])

        parts = re.split(r"(<(?:\"[^\"]*\"|'[^']*'|[^>\"'])*>)", html)  # every second one is a tag
        return "".join(formula.sub(tex if n % 2 else picture, part) for n, part in enumerate(parts))

    def _formula(self, tex: str, alone: bool) -> str:
        """Draw one formula, several lines (``\\begin{align}``) below each other. Returns TeX if it cannot be drawn."""
        from coursekit.demos.formulas import svg  # slow: loads matplotlib

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
    except Exception:  # the renderer may fail on strange markdown
        return _as_typed(source)


def cell_html(source: str, attachments: dict[str, Any] | None = None, page: Page | None = None) -> str:
    """A cell's markdown as clean HTML with drawn formulas and attached pictures."""
    return _html(source, _Renderer(page, escape=False, attachments=attachments))


def comment_html(text: str) -> str:
    """A teacher's comment in markdown as clean HTML. Line breaks stay, and ``List<int>`` is no element."""
    return _html(text, _Renderer(escape=True), hard_wrap=True)


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """The template filter for a cell's markdown."""
    return cell_html(source, (context.get("cell") or {}).get("attachments"), Page.of(context))
