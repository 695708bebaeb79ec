"""Turns TeX formulas into inline SVG, so that a page needs no network and no script for them."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

#: The type size in which formulas are set, in units of the SVG.
SIZE = 20.0

_KNOWN = (
    (r"\\[td]?frac\s*([0-9A-Za-z])\s*([0-9A-Za-z])(?![}])", r"\\frac{\1}{\2}"),
    (r"\\tfrac", r"\\frac"),
    (r"\\sqrt\s+([A-Za-z])", r"\\sqrt{\1}"),
    (r"\\operatorname\*?\{", r"\\mathrm{"),
    (r"\\(?:textrm|mbox)\{", r"\\text{"),
    (r"\\textit\{", r"\\mathit{"),
    (r"\\(?:textbf|boldsymbol|bm)\{", r"\\mathbf{"),
    (r"\\math(?:sf|rm)\s+([A-Za-z])", r"\1"),
    (r"\\(?:big|Big|bigg)[lr]?(?![a-z])", ""),
    (r"\\[lr]vert(?![a-z])", "|"),
    (r"\\(le|ge|ne)(?![a-z])", r"\\\1q"),
    (r"\\[;,:!]", r"\\,"),
)


def in_one_line(tex: str) -> str:
    """The same formula with each matrix as a list of its rows: ((1, −1), (−1, 1))."""

    def rows(found: re.Match[str]) -> str:
        listed = [
            "(" + ", ".join(cell.strip() for cell in row.split("&")) + ")"
            for row in found.group(1).split(r"\\")
        ]
        return "(" + r",\; ".join(listed) + ")"

    tex = re.sub(r"\\begin\{[pb]?matrix\}(.*?)\\end\{[pb]?matrix\}", rows, tex, flags=re.DOTALL)
    return re.sub(r"\\xrightarrow\{", r"\\;\\rightarrow\\;{", tex)


@lru_cache(maxsize=1024)
def svg(tex: str) -> str | None:
    """A formula as SVG in the surrounding colour, measured in em; None if it cannot be parsed.

    matplotlib parses a large part of TeX's formulas, without tables (``\\begin{…}``).
    """
    import matplotlib
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath, TextToPath

    plain = " ".join(in_one_line(tex).split())
    for pattern, known in _KNOWN:
        plain = re.sub(pattern, known, plain)
    font = FontProperties(family="serif", size=SIZE)
    try:
        with matplotlib.rc_context({"mathtext.fontset": "stix"}):
            wide, high, depth = TextToPath().get_text_width_height_descent(f"${plain}$", font, ismath=True)
            path = TextPath((0, 0), f"${plain}$", prop=font)
    except (ValueError, RuntimeError, KeyError):
        return None
    way = []
    for points, code in path.iter_segments(curves=True, simplify=False):
        pairs = " ".join(f"{x:.1f} {-y:.1f}" for x, y in zip(points[::2], points[1::2], strict=True))
        way.append("Z" if code == path.CLOSEPOLY else {1: "M", 2: "L", 3: "Q", 4: "C"}[int(code)] + pairs)
    return (
        f'<svg class="math" role="img" aria-label="{escape(tex.strip())}" '
        f'viewBox="0 {-(high - depth):.1f} {wide:.1f} {high:.1f}" style="height:{high / SIZE:.2f}em;'
        f'width:{wide / SIZE:.2f}em;vertical-align:{-depth / SIZE:.2f}em"><path fill="currentColor" d="{"".join(way)}"/></svg>'
    )


def drawn(tex: str) -> str:
    """An inline formula as HTML: drawn, or as TeX if it cannot be parsed."""
    return svg(tex) or f"<code>{escape(tex)}</code>"


def block(tex: str) -> str:
    """A displayed formula as HTML; several aligned lines become several formulas."""
    inner = (
        re.sub(r"\\(?:begin|end)\{aligned\}", "", in_one_line(tex))
        .replace("&", "")
        .replace(r"\frac", r"\dfrac")
    )
    lines = [svg(line) for line in inner.split(r"\\")]
    if r"\begin" in inner or not all(lines):
        return f"<pre><code>{escape(tex.strip())}</code></pre>"
    return "".join(f'<div class="formula">{line}</div>' for line in lines)
