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
    drawn_again,
    heatmap,
    in_words,
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
    "drawn_again",
    "heatmap",
    "in_words",
    "use_style",
]
