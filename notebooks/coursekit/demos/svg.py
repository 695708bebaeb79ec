"""Draws a demo's picture: inline SVG with large type, for light and dark pages, readable without colour.

A picture is 1200 units wide. Type is 24 units or larger (20 at the very least), so that the last row can read it.
Colours are names (``"blue"``, ``"ink"``, …) that the page's theme turns into shades.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from coursekit.figures import BLUE, GREEN, INK, ORANGE, PURPLE, RED, SKY, YELLOW

WIDTH, HEIGHT = 1200, 620
#: Where the paper begins: a margin around what is drawn.
LEFT, ABOVE = -20, -4
#: The first unit below the title and the line under it.
TOP = 112
LONGEST_TITLE = 62
SMALLEST_TYPE = 20

_LIGHT = (
    f"--d-ink:{INK};--d-soft:#55616b;--d-line:#c3ccd4;--d-faint:#eef1f4;--d-paper:var(--jp-layout-color0,#fff);"
    f"--d-blue:{BLUE};--d-orange:{ORANGE};--d-green:{GREEN};--d-red:{RED};--d-sky:{SKY};--d-purple:{PURPLE};"
    f"--d-yellow:{YELLOW};--d-on:#fff;--d-over:{INK}"
)
_DARK = (
    "--d-ink:#e8ecef;--d-soft:#a9b4be;--d-line:#4a5560;--d-faint:#20272e;--d-paper:var(--jp-layout-color0,#14191e);"
    "--d-blue:#56B4E9;--d-orange:#F0B030;--d-green:#35c79b;--d-red:#ff8a4c;--d-sky:#8fd0f5;--d-purple:#dd9fc4;"
    "--d-on:#0f1419;--d-over:#0f1419"
)
_STYLE = (
    f".ckd{{{_LIGHT};font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif;background:var(--d-paper)}}"
    ".ckd .m{font-family:ui-monospace,'DejaVu Sans Mono',Consolas,monospace}"
    f'body[data-jp-theme-light="false"] .ckd,html[data-theme="dark"] .ckd{{{_DARK}}}'
    "@media (prefers-color-scheme:dark){html:not([data-theme]) body:not([data-jp-theme-light]) .ckd"
    f"{{{_DARK}}}}}"
)
_WHITE_ON = ("blue", "green", "red", "ink")


def shade(colour: str) -> str:
    """The CSS colour of a name."""
    return "none" if colour == "none" else f"var(--d-{colour})"


def on(colour: str, opacity: float = 1) -> str:
    """The name of the ink that reads well on an area of this colour."""
    if opacity < 0.65:
        return "ink"
    if opacity < 0.85:
        return "over"
    return "on" if colour in _WHITE_ON else "over"


def number(value: float) -> str:
    """A coordinate, short."""
    return f"{value:.1f}".removesuffix(".0")


def text_width(text: str, size: float, mono: bool = False, bold: bool = False) -> float:
    """About how wide a text is, on the safe side."""
    return len(text) * size * (0.61 if mono else 0.645 if bold else 0.57)


class Picture:
    """An SVG under construction: draw on it, then ``str()`` it.

    ``title`` states what the picture shows and changes with the settings; ``alt`` says the same to those who
    cannot see the picture, with the numbers that matter; ``note`` is one softer line below the title.
    """

    def __init__(self, title: str, alt: str, *, note: str = "", height: float = HEIGHT):
        if len(title) > LONGEST_TITLE:
            raise ValueError(f"The title has {len(title)} characters, {LONGEST_TITLE} fit: {title}")
        self.title, self.alt, self.height = title, alt, height
        self._parts: list[str] = []
        self._hatches: set[str] = set()
        self.text(0, 44, title, size=min(38, WIDTH / text_width(title, 1, bold=True)), weight=700)
        if note:
            self.text(0, 86, note, colour="soft")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 26,
        anchor: str = "start",
        colour: str = "ink",
        weight: int = 400,
        mono: bool = False,
        turn: float = 0,
        fit: float = 0,
        strike: bool = False,
    ) -> None:
        """Write at a baseline; ``anchor`` is start, middle or end; a text wider than ``fit`` is squeezed."""
        if size < SMALLEST_TYPE:
            raise ValueError(f"Type of size {size} cannot be read from the last row: {text}")
        look = f' font-weight="{weight}"' if weight != 400 else ""
        look += ' class="m"' if mono else ""
        look += f' transform="rotate({number(turn)} {number(x)} {number(y)})"' if turn else ""
        look += ' text-decoration="line-through"' if strike else ""
        if fit and text_width(text, size, mono, weight > 400) > fit:
            look += f' textLength="{number(fit)}" lengthAdjust="spacingAndGlyphs"'
        self._parts.append(
            f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" text-anchor="{anchor}" '
            f'fill="{shade(colour)}" xml:space="preserve"{look}>{escape(text)}</text>'
        )

    def line(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        colour: str = "line",
        width: float = 2,
        dash: str = "",
    ) -> None:
        """A straight line; ``dash`` as in SVG (``"8 6"``)."""
        self.path([(x1, y1), (x2, y2)], colour=colour, width=width, dash=dash)

    def path(
        self,
        points: Sequence[tuple[float, float]] | Any,
        *,
        colour: str = "ink",
        width: float = 3,
        dash: str = "",
        fill: str = "none",
        opacity: float = 1,
        close: bool = False,
    ) -> None:
        """A line through points, or an area when ``fill`` names a colour."""
        way = "L".join(f"{number(x)} {number(y)}" for x, y in points) + ("Z" if close else "")
        self.curve("M" + way, colour=colour, width=width, dash=dash, fill=fill, opacity=opacity)

    def curve(
        self,
        d: str,
        *,
        colour: str = "ink",
        width: float = 3,
        dash: str = "",
        fill: str = "none",
        opacity: float = 1,
    ) -> None:
        """An SVG path as it stands."""
        look = f' stroke-dasharray="{dash}"' if dash else ""
        look += f' fill-opacity="{opacity:.3g}"' if fill != "none" and opacity < 1 else ""
        self._parts.append(
            f'<path d="{d}" fill="{shade(fill)}" stroke="{shade(colour)}" stroke-width="{number(width)}" '
            f'stroke-linejoin="round" stroke-linecap="round"{look}/>'
        )

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "blue",
        opacity: float = 1,
        edge: str = "none",
        edge_width: float = 2,
        radius: float = 4,
        hatch: str = "",
        dash: str = "",
    ) -> None:
        """A box; ``hatch`` names the colour of slanted lines over it, for those who cannot tell the fill."""
        place = (
            f'x="{number(x)}" y="{number(y)}" width="{number(max(width, 0))}" '
            f'height="{number(max(height, 0))}" rx="{number(radius)}"'
        )
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<rect {place} fill="{shade(fill)}" fill-opacity="{opacity:.3g}" stroke="{shade(edge)}" '
            f'stroke-width="{number(edge_width)}"{dashes}/>'
        )
        if hatch:
            self._hatches.add(hatch)
            self._parts.append(f'<rect {place} fill="url(#ID-{hatch})"/>')

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        *,
        fill: str = "orange",
        edge: str = "none",
        width: float = 3,
        opacity: float = 1,
    ) -> None:
        """A disc, or a ring when ``fill`` is ``"none"``."""
        self._parts.append(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{shade(fill)}" '
            f'fill-opacity="{opacity:.3g}" stroke="{shade(edge)}" stroke-width="{number(width)}"/>'
        )

    def arrow(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        colour: str = "ink",
        width: float = 3,
        bend: float = 0,
        head: float = 9,
    ) -> tuple[float, float]:
        """An arrow, bent to its left by ``bend`` units; returns its middle, for a label."""
        across, down = x2 - x1, y2 - y1
        length = max((across**2 + down**2) ** 0.5, 1e-9)
        cx = (x1 + x2) / 2 + down / length * bend
        cy = (y1 + y2) / 2 - across / length * bend
        way = max(((x2 - cx) ** 2 + (y2 - cy) ** 2) ** 0.5, 1e-9)
        dx, dy = (x2 - cx) / way, (y2 - cy) / way
        size = head + 1.6 * width
        bx, by = x2 - dx * size, y2 - dy * size
        self.curve(
            f"M{number(x1)} {number(y1)}Q{number(cx)} {number(cy)} {number(bx)} {number(by)}",
            colour=colour,
            width=width,
        )
        wing = size * 0.55
        self.path(
            [(x2, y2), (bx - dy * wing, by + dx * wing), (bx + dy * wing, by - dx * wing)],
            colour=colour,
            width=1,
            fill=colour,
            close=True,
        )
        return (x1 + 2 * cx + x2) / 4, (y1 + 2 * cy + y2) / 4

    def label(
        self, x: float, y: float, text: str, *, size: float = 24, colour: str = "ink", weight: int = 700
    ) -> None:
        """A text in the middle of (x, y), on a small patch of paper that keeps lines out of it."""
        wide = text_width(text, size, bold=weight > 400) + 16
        self.rect(x - wide / 2, y - size * 0.62, wide, size * 1.2, fill="paper", opacity=0.9)
        self.text(x, y + size * 0.36, text, size=size, anchor="middle", colour=colour, weight=weight)

    def chip(
        self,
        x: float,
        y: float,
        text: str,
        *,
        fill: str = "blue",
        opacity: float = 1,
        edge: str = "none",
        size: float = 28,
        hatch: str = "",
        pad: float = 10,
        mono: bool = True,
    ) -> float:
        """A token in a box whose top left corner is (x, y); returns the box's width."""
        wide = text_width(text, size, mono) + 2 * pad
        self.rect(x, y, wide, size * 1.6, fill=fill, opacity=opacity, edge=edge, radius=6, hatch=hatch)
        self.text(
            x + wide / 2,
            y + size * 1.13,
            text,
            size=size,
            anchor="middle",
            colour=on(fill, opacity),
            mono=mono,
        )
        return wide

    def heat(
        self,
        x: float,
        y: float,
        values: Any,
        *,
        cell: tuple[float, float] = (60, 60),
        rows: Sequence[str] = (),
        columns: Sequence[str] = (),
        colour: str = "blue",
        negative: str = "orange",
        most: float = 1,
        form: str = "",
        size: float = 22,
        label_size: float = 24,
        column_turn: float = 0,
    ) -> None:
        """A table of shaded cells with labels to the left and above; (x, y) is the corner of the cells.

        A cell is as dark as |value| / ``most``; negative ones take another colour; −∞ is hatched and says so.
        ``form`` (such as ``".2f"``) writes the numbers.
        """
        wide, high = cell
        for (i, j), value in np.ndenumerate(np.asarray(values, dtype=float)):
            left, top = x + j * wide, y + i * high
            if np.isneginf(value):
                self.rect(
                    *(left + 1, top + 1, wide - 2, high - 2),
                    fill="faint",
                    hatch="line",
                    edge="line",
                    edge_width=1,
                )
                self.text(left + wide / 2, top + high / 2 + size * 0.36, "−∞", size=size, anchor="middle")
                continue
            strength = min(abs(value) / most, 1)
            name = colour if value >= 0 else negative
            self.rect(
                *(left + 1, top + 1, wide - 2, high - 2),
                fill=name,
                opacity=strength,
                edge="line",
                edge_width=1,
            )
            if form:
                written = format(value, form).replace("-", "−")
                written = written.removeprefix("−") if not written.strip("−0.") else written
                self.text(
                    left + wide / 2,
                    top + high / 2 + size * 0.36,
                    written,
                    size=size,
                    anchor="middle",
                    colour=on(name, strength),
                    fit=wide - 6,
                )
        for i, name in enumerate(rows):
            self.text(x - 12, y + (i + 0.5) * high + label_size * 0.36, name, size=label_size, anchor="end")
        for j, name in enumerate(columns):
            middle = x + (j + 0.5) * wide
            if column_turn:
                self.text(middle + 8, y - 10, name, size=label_size, turn=-column_turn)
            else:
                self.text(middle, y - 12, name, size=label_size, anchor="middle", fit=wide - 4)

    def bars(
        self,
        x: float,
        y: float,
        width: float,
        values: Any,
        names: Sequence[str],
        *,
        row: float = 44,
        most: float = 1,
        colours: Sequence[str] | str = "blue",
        form: str = ".2f",
        size: float = 24,
        hatches: Sequence[str] = (),
    ) -> None:
        """Bars that lie, one below the other, their names to the left of ``x`` and numbers at their ends."""
        for i, (value, name) in enumerate(zip(values, names, strict=True)):
            colour = colours if isinstance(colours, str) else colours[i]
            top = y + i * row
            long = max(float(value) / most, 0) * width
            hatch = hatches[i] if hatches else ""
            self.rect(x, top + row * 0.12, max(long, 2), row * 0.76, fill=colour, radius=3, hatch=hatch)
            base = top + row / 2 + size * 0.36
            self.text(x - 12, base, name, size=size, anchor="end")
            self.text(x + long + 10, base, format(float(value), form), size=size, weight=700)

    def plot(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        across: tuple[float, float],
        up: tuple[float, float],
        xlabel: str = "",
        ylabel: str = "",
        xticks: Sequence[float] = (),
        yticks: Sequence[float] = (),
        form: str = "g",
    ) -> Plot:
        """Axes in a box whose top left corner is (x, y); draw with what comes back."""
        plot = Plot(self, x, y, width, height, across, up)
        self.line(x, y + height, x + width, y + height, colour="soft")
        self.line(x, y, x, y + height, colour="soft")
        for tick in xticks:
            self.line(plot.x(tick), y + height, plot.x(tick), y + height + 8, colour="soft")
            self.text(
                plot.x(tick), y + height + 34, format(tick, form), size=22, anchor="middle", colour="soft"
            )
        for tick in yticks:
            self.line(x - 8, plot.y(tick), x, plot.y(tick), colour="soft")
            self.text(x - 14, plot.y(tick) + 8, format(tick, form), size=22, anchor="end", colour="soft")
        if xlabel:
            self.text(x + width / 2, y + height + 66, xlabel, size=24, anchor="middle", colour="soft")
        if ylabel:
            self.text(x - 56, y + height / 2, ylabel, size=24, anchor="middle", colour="soft", turn=-90)
        return plot

    def raw(self, markup: str) -> None:
        """SVG as it stands, for what has no method here."""
        self._parts.append(markup)

    def __str__(self) -> str:
        body = "".join(self._parts)
        mark = "d" + hashlib.sha256((self.alt + body).encode()).hexdigest()[:10]
        defs = "".join(
            f'<pattern id="ID-{name}" width="10" height="10" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="10" stroke="{shade(name)}" '
            f'stroke-width="4"/></pattern>'
            for name in sorted(self._hatches)
        )
        markup = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="ckd" '
            f'viewBox="{LEFT} {ABOVE} {WIDTH - 2 * LEFT} {number(self.height - 2 * ABOVE)}" '
            f'width="100%" preserveAspectRatio="xMinYMin meet" role="img" aria-labelledby="ID-t ID-a">'
            f'<title id="ID-t">{escape(self.title)}</title><desc id="ID-a">{escape(self.alt)}</desc>'
            f"<style>{_STYLE}</style><defs>{defs}</defs>{body}</svg>"
        )
        return markup.replace('"ID-', f'"{mark}-').replace(" ID-a", f" {mark}-a").replace("#ID-", f"#{mark}-")


class Plot:
    """Axes on a picture: turns values into places and draws with them."""

    def __init__(
        self,
        picture: Picture,
        x: float,
        y: float,
        width: float,
        height: float,
        across: tuple[float, float],
        up: tuple[float, float],
    ):
        self._picture, self._box, self._across, self._up = picture, (x, y, width, height), across, up

    def x(self, value: float) -> float:
        """Where a value stands across."""
        left, _, width, _ = self._box
        return left + (value - self._across[0]) / (self._across[1] - self._across[0]) * width

    def y(self, value: float) -> float:
        """Where a value stands, up."""
        _, top, _, height = self._box
        return top + height - (value - self._up[0]) / (self._up[1] - self._up[0]) * height

    def curve(self, xs: Any, ys: Any, **look: Any) -> None:
        """A line through values; ``look`` goes to ``Picture.path``."""
        self._picture.path([(self.x(a), self.y(b)) for a, b in zip(xs, ys, strict=True)], **look)

    def dots(self, xs: Any, ys: Any, radius: float = 9, **look: Any) -> None:
        """Discs at values; ``look`` goes to ``Picture.circle``."""
        for a, b in zip(xs, ys, strict=True):
            self._picture.circle(self.x(a), self.y(b), radius, **look)
