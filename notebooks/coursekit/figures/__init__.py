"""Figures of the labs: one palette and style for all, and a module for each kind of picture."""

from coursekit.figures.style import (
    BLUE,
    DIVERGING,
    GREEN,
    INK,
    ORANGE,
    PALETTE,
    PURPLE,
    RED,
    SEQUENTIAL,
    SKY,
    YELLOW,
    describe_figures,
    heatmap,
    in_words,
    soon_replaced,
    use_style,
)

__all__ = [
    "BLUE",
    "DIVERGING",
    "GREEN",
    "INK",
    "ORANGE",
    "PALETTE",
    "PURPLE",
    "RED",
    "SEQUENTIAL",
    "SKY",
    "YELLOW",
    "describe_figures",
    "heatmap",
    "in_words",
    "soon_replaced",
    "use_style",
]
