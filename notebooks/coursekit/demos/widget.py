"""Shows a demo that is drawn in the browser in a notebook, in JupyterLab."""

from __future__ import annotations

import anywidget
import traitlets

from coursekit.demos import bundle


class DemoWidget(anywidget.AnyWidget):
    """A demo; ``state`` is what it shows: its scene and the value of each control."""

    state = traitlets.Dict().tag(sync=True)


def show(name: str) -> DemoWidget:
    """The demo of that name as a widget; the last line of its notebook's cell."""
    # JupyterLab showed the demo without ``_css``, so the script brings the style sheet, too
    return DemoWidget(_esm=bundle.widget_module(name), _css=bundle.style())
