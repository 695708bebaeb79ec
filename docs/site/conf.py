"""How Sphinx makes the course's page; ``python -m coursekit.demos.site`` lays out what it reads."""

from __future__ import annotations

import logging
from typing import Any

from coursekit.demos import formulas
from docutils import nodes

logging.getLogger("matplotlib").setLevel(logging.WARNING)  # it says which letter it took from which font

project = "From Bigrams to Translators"
html_title = project
copyright = "the course's authors"
extensions = ["myst_nb"]
nb_execution_mode = "off"
nb_code_prompt_show = "The code of this figure"
nb_code_prompt_hide = "Hide the code"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
highlight_language = "text"  # of a block that names none
suppress_warnings = ["myst.header", "misc.highlighting_failure", "mystnb.unknown_mime_type"]
html_theme = "furo"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#00568a",
        "color-brand-content": "#00568a",
        "color-brand-visited": "#00568a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7cc4f0",
        "color-brand-content": "#7cc4f0",
        "color-brand-visited": "#7cc4f0",
        "color-foreground-primary": "#eceff2",
    },
}
html_favicon = "icon.svg"
html_static_path = ["_static"]
html_css_files = ["course.css"]
html_js_files = [("scroll.js", {"defer": ""})]
html_show_sourcelink = False
html_copy_source = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_math_renderer = "svg"


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(formulas.drawn(node.astext()))
    raise nodes.SkipNode


def _display(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(formulas.block(node.astext()))
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Formulas are drawn when the page is made: no script, nothing from elsewhere."""
    app.add_html_math_renderer("svg", (_inline, None), (_display, None))
