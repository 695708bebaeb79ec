"""Shows a demo that is drawn in the browser in a notebook, in JupyterLab and in Voilà."""

from __future__ import annotations

import anywidget
import traitlets

from coursekit.demos import bundle

#: In a cell the stage has a height of its own; a page and a slide give it theirs.
_CELL = (
    ".cd-cell{width:100%;height:clamp(480px,calc(100vh - 60px),1000px)}"
    "body:has(#jp-main-dock-panel) .cd-cell{height:clamp(480px,calc(100vh - 180px),1000px)}"
)


class DemoWidget(anywidget.AnyWidget):
    """A demo; ``state`` is what it shows: its scene and the value of each control."""

    state = traitlets.Dict().tag(sync=True)


def show(name: str) -> DemoWidget:
    """The demo of that name as a widget; the last line of its notebook's cell."""
    return DemoWidget(_esm=bundle.widget_module(name), _css=bundle.style() + _CELL)
