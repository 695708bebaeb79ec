"""Figures of the labs: one palette and style for all, readable in print, on a projector, and without colour vision."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np

#: Okabe and Ito's colours, which people with the common kinds of colour blindness can distinguish.
BLUE, ORANGE, GREEN, RED, SKY, PURPLE, YELLOW, INK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#56B4E9",
    "#CC79A7",
    "#F0E442",
    "#1f2933",
)
PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW)
#: For probabilities and weights (one direction) and for signed values.
SEQUENTIAL, DIVERGING = "cividis", "PuOr"

#: The kind of output that holds a figure as a slide shows it, and what asks for it: the build of the labs.
SLIDE, DRAWS_SLIDES = "image/x-slide", "COURSEKIT_DRAWS_SLIDES"
#: Inches of a figure on a slide, beside the slide's title if it is not wide, and its smallest type: 22 of the slide's 720 pixels.
_WIDE, _TALL, _SMALLEST = (9.2, 3.9), (6.4, 4.9), 12
#: No wide figure has more pixels in a row. A small one, of at most 6 inches, has: it fills the slide, too.
MOST_OF_WIDE = 2200

#: Marks a figure that has been described, or need not be.
_DESCRIBED = "described"
_UNSEEN = '<div style="position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)">{}</div>'


def use_style() -> None:
    """Set matplotlib's defaults for the course."""
    import matplotlib as mpl
    from cycler import cycler

    mpl.rcParams.update(
        {
            "figure.figsize": (7.2, 3.6),
            "figure.dpi": 110,
            "savefig.bbox": "tight",
            "figure.constrained_layout.use": True,
            "figure.facecolor": "white",
            "axes.prop_cycle": cycler(color=PALETTE),
            "axes.titlesize": 12,
            "axes.titlelocation": "left",
            "axes.titleweight": "bold",
            "axes.labelsize": 10.5,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": "#8a97a3",
            "axes.grid": False,
            "font.size": 10.5,
            "legend.frameon": False,
            "image.cmap": SEQUENTIAL,
            "lines.linewidth": 2,
        }
    )


def soon_replaced(figure: Any) -> None:
    """Prevent the description of a figure that another will replace: only the last one is described."""
    figure.set_gid(_DESCRIBED)


def in_words(figure: Any) -> str:
    """The description of a figure for people who cannot see it: its titles and axis names."""
    parts = [figure.get_suptitle()]
    for ax in figure.axes:
        names = [f"{side}: {name}" for side, name in (("x", ax.get_xlabel()), ("y", ax.get_ylabel())) if name]
        title = next(filter(None, map(ax.get_title, ("left", "center", "right"))), "")
        parts.append(title + (f" ({', '.join(names)})" if title and names else ", ".join(names)))
    return "Figure: " + "; ".join(" ".join(part.split()) for part in parts if part) + "."


def for_slide(figure: Any) -> str:
    """The figure in a slide's shape, without its title, because the slide has its own; those of several parts are kept."""
    from matplotlib.text import Text

    titles = [title for ax in figure.axes for title in (ax.title, ax._left_title) if title.get_text()]
    if figure.get_suptitle():
        figure.suptitle("")
    elif len(titles) == 1:
        titles[0].set_text("")
    for text in set(figure.findobj(Text)).difference(titles):
        text.set_fontsize(max(_SMALLEST, text.get_fontsize()))
    width, height = figure.get_size_inches()
    most, other = _WIDE if width > 1.4 * height else _TALL
    width = min(width, most)
    figure.set_size_inches(width, width * other / most)
    file = BytesIO()
    dpi = 1.1 * MOST_OF_WIDE / width if most == _WIDE[0] and width <= 6 else 200
    figure.savefig(file, format="webp", dpi=dpi, pil_kwargs={"lossless": True})
    return base64.b64encode(file.getvalue()).decode()


def describe_figures() -> None:
    """Describe every figure of this notebook, as alternative text and as a line for screen readers.

    JupyterLab ignores alternative text, so the line is placed invisibly before the picture.
    """
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if type(shell).__name__ != "ZMQInteractiveShell":
        return
    import matplotlib.pyplot as plt
    from IPython.display import display
    from matplotlib.figure import Figure

    plt.switch_backend(plt.get_backend())  # registers IPython's formatters for figures
    pictures = shell.display_formatter.formatters["image/png"]
    try:
        draw = pictures.lookup_by_type(Figure)
    except KeyError:  # the notebook uses another backend
        return

    def described(figure: Figure) -> Any:
        drawn = draw(figure)
        picture, metadata = drawn if isinstance(drawn, tuple) else (drawn, {})
        words = in_words(figure)
        if figure.get_gid() != _DESCRIBED:
            figure.set_gid(_DESCRIBED)
            page = {"text/html": _UNSEEN.format(html.escape(words)), "text/plain": words}
            display(page | ({SLIDE: for_slide(figure)} if os.environ.get(DRAWS_SLIDES) else {}), raw=True)
        return picture, {**metadata, "alt": words}

    if getattr(draw, "__name__", "") != described.__name__:  # a lab may be started twice
        pictures.for_type(Figure, described)


def bars(
    values: Mapping[str, float], labels: str | Sequence[str], *, size: tuple[float, float], **barh: Any
) -> Any:
    """Draw a figure of horizontal bars, the first at the top, and return its axes.

    ``labels`` are the bars' texts or their format, such as ``"{:.0%}"``; ``size`` is in inches. Further arguments go to ``barh``.
    """
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=size)
    drawn = ax.barh(list(values), list(values.values()), **barh)
    ax.bar_label(drawn, padding=4, **({"fmt": labels} if isinstance(labels, str) else {"labels": labels}))
    ax.invert_yaxis()
    return ax


def heatmap(
    values: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    ax: Any = None,
    title: str = "",
    xlabel: str = "",
    ylabel: str = "",
    numbers: bool | str = False,
    colorbar: str = "",
    **imshow: Any,
) -> Any:
    """Draw a matrix with labelled rows and columns and return its axes.

    ``numbers`` writes each value (a format such as ``".2f"``, or True for ``.2f``) in ink that contrasts;
    ``colorbar`` is the label of the colour scale ("" for none). Further arguments go to ``imshow``.
    """
    import matplotlib.pyplot as plt

    values = np.asarray(values, dtype=float)
    if ax is None:
        height, width = values.shape
        _, ax = plt.subplots(figsize=(min(9, 1.8 + 0.42 * width), min(8, 1.2 + 0.36 * height)))
    image = ax.imshow(values, aspect=imshow.pop("aspect", "equal"), **imshow)
    if columns is not None:
        slanted = max(map(len, columns), default=0) > 3
        turn = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
        ax.set_xticks(range(len(columns)), list(columns), **turn)
    if rows is not None:
        ax.set_yticks(range(len(rows)), list(rows))
    ax.tick_params(length=0)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_title(title)
    ax.spines[:].set_visible(False)
    if numbers:
        form = numbers if isinstance(numbers, str) else ".2f"
        for (i, j), value in np.ndenumerate(values):
            red, green, blue, _ = image.cmap(image.norm(value))
            # imshow leaves −∞ and nan blank, so their text is on white
            light = not np.isfinite(value) or 0.299 * red + 0.587 * green + 0.114 * blue > 0.55
            text = "−∞" if np.isneginf(value) else format(value, form).replace("-", "−")
            ax.text(j, i, text, ha="center", va="center", fontsize=9, color=INK if light else "white")
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label=colorbar, shrink=0.85)
    return ax


def boxed(
    ax: Any, x: float, y: float, text: str, *, pad: float, edge: str = "none", width: float = 0, **style: Any
) -> None:
    """Write a text in the middle of a white box with round corners. ``style`` goes to ``ax.text``."""
    box = {"boxstyle": f"round,pad={pad}", "facecolor": "white", "edgecolor": edge, "linewidth": width}
    ax.text(x, y, text, ha="center", va="center", bbox=box, **style)
