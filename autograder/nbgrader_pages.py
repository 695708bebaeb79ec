"""What nbgrader's pages (Formgrader, its feedback) show of a student's own HTML and markdown: what cannot run.

``nbgrader_config.py`` puts these filters in place of nbconvert's. Formgrader's template does not clean written
answers at all, and nbconvert's own cleaning shows ordinary tags (a paragraph, a heading) as text.
"""

from __future__ import annotations

import re
from typing import Any

import bleach
from bleach.css_sanitizer import CSSSanitizer
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

_TAGS = frozenset(
    [
        "a",
        "abbr",
        "b",
        "blockquote",
        "br",
        "caption",
        "code",
        "col",
        "colgroup",
        "dd",
        "del",
        "details",
        "div",
        "dl",
        "dt",
        "em",
        "figcaption",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "img",
        "ins",
        "kbd",
        "li",
        "mark",
        "ol",
        "p",
        "pre",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strong",
        "sub",
        "summary",
        "sup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "tt",
        "u",
        "ul",
        "var",
    ]
)
#: Elements whose text is no text for a reader.
_WITH_CONTENT = re.compile(r"<(script|style|template|noscript|title)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_PICTURE = re.compile(r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=\s]*")
_LINK = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
#: Classes of highlighted code, of data frames and of the course's cards; none that Formgrader's own script looks for.
_CLASS = re.compile(r"highlight|hl-[\w-]+|dataframe|ck|good|bad|todo|why|bar|[a-z]{1,2}\d?")


def _attribute(tag: str, name: str, value: str) -> bool:
    match name:
        case "href":
            return tag == "a" and _LINK.match(value.strip()) is not None
        case "src":
            return tag == "img" and _PICTURE.fullmatch(value) is not None
        case "class":
            return all(_CLASS.fullmatch(word) for word in value.split())
        case "style":
            return tag in ("td", "th", "span")  # colours of a table; what the style may say is bounded below
    return name in ("alt", "title", "colspan", "rowspan", "start", "width", "height", "open")


_cleaner = bleach.Cleaner(
    tags=_TAGS,
    attributes=_attribute,
    protocols=["http", "https", "mailto", "data"],
    strip=True,
    css_sanitizer=CSSSanitizer(
        allowed_css_properties=["color", "background-color", "text-align", "font-weight", "font-style"]
    ),
)


def clean_html(markup: Any) -> str:
    """HTML without anything that runs, loads from elsewhere or takes part in the page's own script."""
    text = markup.decode("utf-8", "replace") if isinstance(markup, bytes) else str(markup)
    return _cleaner.clean(_WITH_CONTENT.sub("", text))


@pass_context
def markdown2html(context: Context, source: str) -> str:
    """Markdown as HTML, mathematics left to MathJax, pictures attached to the cell shown, cleaned."""
    cell = context.get("cell") or {}
    renderer = IPythonRenderer(escape=False, attachments=cell.get("attachments", {}))
    return clean_html(MarkdownWithMath(renderer=renderer).render(source))
