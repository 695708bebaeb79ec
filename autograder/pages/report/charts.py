"""Draws the report's figures as inline SVG, readable in light and dark and on paper."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

_WIDTH, _HEIGHT = 460, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 38, 44
#: How far a character of middle-set words reaches to each side, at most, with room for wide fonts.
_HALF_A_CHARACTER = 4.2


def histogram_chart(
    counts: Sequence[int],
    edges: Sequence[float],
    *,
    x_label: str,
    y_label: str,
    description: str,
    mean: float | None = None,
) -> Markup:
    """Bars over the given bin edges with their counts, and a dashed line at the mean."""
    plot_width, plot_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    low, high = edges[0], edges[-1]
    most = max([*counts, 1])

    def x_of(value: float) -> float:
        return _LEFT + plot_width * (value - low) / (high - low)

    base = _HEIGHT - _BOTTOM
    parts = [f'<line class="axis" x1="{_LEFT}" y1="{base}" x2="{_WIDTH - _RIGHT}" y2="{base}"/>']
    values: list[str] = []  # drawn last: the line of the mean must not cross a number
    for count, left, right in zip(counts, edges, edges[1:], strict=False):
        height = plot_height * count / most
        x, width = x_of(left) + 1.5, x_of(right) - x_of(left) - 3
        between = f"{left:g} to {right:g}: {count}"
        parts.append(
            f'<rect class="mark" x="{x:.1f}" y="{base - height:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="2"><title>{between}</title></rect>'
        )
        if count:
            middle = x + width / 2
            values.append(_text(middle, base - height - 5, str(count), anchor="middle", css="value"))
    for edge in edges:
        parts.append(_text(x_of(edge), base + 16, f"{edge:g}", anchor="middle"))
    if mean is not None:
        x = x_of(min(max(mean, low), high))
        parts.append(f'<line class="mean" x1="{x:.1f}" y1="{_TOP - 20}" x2="{x:.1f}" y2="{base}"/>')
        parts.append(_text(x, _TOP - 25, f"mean {mean:.3g}", anchor="middle"))
    parts += values
    parts.append(_text(_LEFT + plot_width / 2, _HEIGHT - 6, x_label, anchor="middle"))
    turned = f'transform="rotate(-90 14 {_TOP + plot_height / 2:.0f})"'
    parts.append(_text(14, _TOP + plot_height / 2, y_label, anchor="middle", extra=turned))
    return Markup(
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(description)}">'
        + "".join(parts)
        + "</svg>"
    )


def _text(x: float, y: float, words: str, *, anchor: str = "start", css: str = "", extra: str = "") -> str:
    kind = f' class="{css}"' if css else ""
    if anchor == "middle" and not extra:  # no word leaves the picture
        half = _HALF_A_CHARACTER * len(words)
        x = min(max(x, half), _WIDTH - half)
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{escape(words)}</text>'
