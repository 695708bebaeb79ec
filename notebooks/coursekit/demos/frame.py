"""What a demo is: a function that draws, the controls that feed it, and the scenes that a lecture walks through.

``picture(**settings)`` is a pure function from settings to SVG, so that a demo can be tested, timed and printed
without a browser. ``widgets.show(demo)`` puts widgets on top.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

Settings = Mapping[str, Any]
#: Labels that stand for good, or that depend on the other settings.
Labels = Sequence[str] | Callable[[Settings], Sequence[str]]


@dataclass(frozen=True)
class Slider:
    """A number from ``low`` to ``high``; whole when ``step`` is whole.

    ``log`` makes equal steps equal factors; it stops at numbers of two digits, and scenes should use such.
    """

    name: str
    label: str
    low: float
    high: float
    start: float
    step: float = 1
    log: bool = False

    def tries(self) -> list[Any]:
        """Settings worth trying: both ends and three between."""
        if self.log:
            stops = self.stops()
            return [stops[round((len(stops) - 1) * i / 4)] for i in range(5)]
        count = round((self.high - self.low) / self.step)
        values = [self.low + round(count * i / 4) * self.step for i in range(5)]
        return list(dict.fromkeys(int(v) if self.whole else v for v in values))

    def stops(self) -> list[float]:
        """Where a slider in equal factors stops: numbers of two digits, the start and both ends among them."""
        between = (self.low * (self.high / self.low) ** (i / 120) for i in range(121))
        near = {float(f"{value:.2g}") for value in between}
        return sorted({float(self.low), float(self.high), float(self.start), *near})

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return not self.log and float(self.step).is_integer() and float(self.low).is_integer()


@dataclass(frozen=True)
class Steps:
    """A step from 0 to ``last``, with buttons back and forth and one that plays."""

    name: str
    label: str
    last: int
    start: int = 0
    milliseconds: int = 700

    def tries(self) -> list[Any]:
        """First, last and some between."""
        return sorted({round(self.last * i / 6) for i in range(7)})


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    name: str
    label: str
    options: tuple[str, ...]
    start: str

    def tries(self) -> list[Any]:
        """All of them."""
        return list(self.options)


@dataclass(frozen=True)
class Ticks:
    """A row of switches → a tuple of booleans."""

    name: str
    label: str
    items: Labels
    start: tuple[bool, ...]

    def tries(self) -> list[Any]:
        """All off, all on, one on."""
        n = len(self.start)
        return [(False,) * n, (True,) * n, *(tuple(i == j for j in range(n)) for i in range(n))]


@dataclass(frozen=True)
class Faders:
    """A row of upright sliders from 0 to 1, as on a mixing desk → a tuple of numbers."""

    name: str
    label: str
    items: Labels
    start: tuple[float, ...]

    def tries(self) -> list[Any]:
        """All down, all up, one half way."""
        n = len(self.start)
        return [(0.0,) * n, (1.0,) * n, *(tuple(0.5 * (i == j) for j in range(n)) for i in range(n))]


@dataclass(frozen=True)
class Paint:
    """A table of switches, to paint a mask → a tuple of rows of booleans.

    With ``at``, the switches lie invisibly on the picture's own cells, to be clicked there: the first cell's
    left and upper edge, and a cell's width and height, in the picture's units.
    """

    name: str
    label: str
    rows: Labels
    columns: Labels
    start: tuple[tuple[bool, ...], ...]
    at: tuple[float, float, float, float] | None = None

    def tries(self) -> list[Any]:
        """All on, none, the lower triangle, its transpose."""
        n, m = len(self.start), len(self.start[0])
        whole = [lambda i, j: True, lambda i, j: False, lambda i, j: j <= i, lambda i, j: j >= i]
        return [tuple(tuple(f(i, j) for j in range(m)) for i in range(n)) for f in whole]


@dataclass(frozen=True)
class Words:
    """A line of text to type."""

    name: str
    label: str
    start: str
    examples: tuple[str, ...] = ()

    def tries(self) -> list[Any]:
        """The start, the examples, and nothing at all."""
        return [self.start, *self.examples, ""]


@dataclass(frozen=True)
class Again:
    """A button that draws new random numbers → how often it was pressed, counted from ``start``."""

    name: str
    label: str
    start: int = 0

    def tries(self) -> list[Any]:
        """A few draws."""
        return [self.start + i for i in range(4)]


Control = Slider | Steps | Choice | Ticks | Faders | Paint | Words | Again


@dataclass(frozen=True)
class Scene:
    """A stop of the lecture: a short name for its button, and the settings that differ from the start."""

    name: str
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Demo:
    """A lecture demo of one idea.

    ``name`` is the notebook's (``"07_kernel_to_attention"``); its first two digits are the lab's.
    ``title`` heads the notebook, ``look`` is the one sentence on what to look at, ``questions`` are for the
    audience; ``draw`` takes the controls' values by name and returns a ``Picture`` or SVG; ``scenes`` are in
    the order in which a lecture shows them, and the first is how the demo opens. ``poster`` is the number of the
    scene (0, 1, …) that stands for the demo on the contact sheet.
    """

    name: str
    title: str
    look: str
    draw: Callable[..., Any]
    controls: tuple[Control, ...]
    scenes: tuple[Scene, ...]
    questions: tuple[str, ...]
    poster: int = 1

    def settings(self, scene: Scene | None = None, **changes: Any) -> dict[str, Any]:
        """The value of every control in a scene (the first one by default), with changes."""
        start = {control.name: control.start for control in self.controls}
        return {**start, **(scene or self.scenes[0]).settings, **changes}

    def picture(self, **settings: Any) -> str:
        """The picture as SVG; settings that are not given are as when the demo opens."""
        return _drawn(self, tuple(sorted(self.settings(**settings).items())))


@lru_cache(maxsize=256)
def _drawn(demo: Demo, settings: tuple[tuple[str, Any], ...]) -> str:
    return str(demo.draw(**dict(settings)))
