"""Shows a demo as a widget in a notebook."""

from __future__ import annotations

import anywidget
import traitlets

from coursekit.demos import bundle


class DemoWidget(anywidget.AnyWidget):
    """A demo. ``state`` is its scene and the value of each control."""

    state = traitlets.Dict().tag(sync=True)


def show(name: str) -> DemoWidget:
    """The demo ``name`` as a widget, for the last line of a notebook's cell."""
    # The script contains the style sheet, because JupyterLab ignored ``_css``.
    return DemoWidget(_esm=bundle.widget_module(name), _css=bundle.style())
