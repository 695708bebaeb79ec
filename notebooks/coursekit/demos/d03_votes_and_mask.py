"""Lab 03: every earlier word votes on what follows *ran*, and a mask decides how loud each voice is."""

from __future__ import annotations

from functools import cache
from math import erf, sqrt

import numpy as np
import numpy.typing as npt

from coursekit.demos.frame import Choice, Demo, Faders, Scene, Settings, Slider
from coursekit.demos.svg import TOP, Picture

Array = npt.NDArray[np.float64]

SENTENCES = {
    "program log": "check the program log and find out whether it ran please",
    "battery log": "check the battery log and find out whether it ran down please",
}
CANDIDATES = ("down", "please")
COLOURS = ("orange", "blue")
ALL = (1.0,) * 9
KNOWS = (0.0, 0.0, 1.0, *(0.0,) * 6)
HALF = (0.3, 0.3, 1.0, *(0.3,) * 6)


def voters(log: str) -> list[str]:
    """The nine words before *ran*."""
    return SENTENCES[log].split()[:9]


@cache
def votes(log: str) -> Array:
    """(9, 2): for each voter the shares of *down* and *please* among what followed it and a later *ran*."""
    rows = []
    for voter in voters(log):
        counts = [0.0, 0.0]
        for sentence in SENTENCES.values():
            words = sentence.split()
            now = words.index("ran")
            if voter in words[:now]:
                counts[CANDIDATES.index(words[now + 1])] += words[:now].count(voter)
        rows.append(np.array(counts) / sum(counts))
    return np.array(rows)


def totals(log: str, mask: tuple[float, ...]) -> Array:
    """The votes for *down* and *please*, each voter weighted by the mask, (2,)."""
    return np.asarray(mask) @ votes(log)


def wrong_share(log: str, mask: tuple[float, ...], noise: float) -> float:
    """How often the wrong word wins when every vote is shaken by Gaussian noise of this standard deviation."""
    right = CANDIDATES.index(SENTENCES[log].split()[10])
    total = totals(log, mask)
    lead = total[right] - total[1 - right]
    shake = noise * sqrt(2 * float(np.square(mask).sum()))
    if shake == 0:
        return 0.5 if lead == 0 else float(lead < 0)
    return 0.5 * (1 - erf(lead / shake / sqrt(2)))


def _amount(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def draw(log: str, mask: tuple[float, ...], noise: float) -> Picture:
    """Voters with their weighted votes on the left, the count on the right."""
    total = totals(log, mask)
    down, please = total
    wrong = wrong_share(log, mask, noise)
    if not any(mask):
        title = "Nobody may vote: nothing is said"
    elif abs(down - please) < 1e-9:
        title = f"{_amount(down)} to {_amount(please)}: a tie, the one who knows is silent"
    elif min(total) == 0:
        title = "Only the one that knows may vote: nothing is left to doubt"
    else:
        winner = CANDIDATES[int(np.argmax(total))]
        title = f"“{winner}” wins by {_amount(max(total))} to {_amount(min(total))} votes"
    picture = Picture(
        title,
        f"After the {log} nine words vote on what follows ran: down {_amount(down)}, please {_amount(please)}. "
        f"With noise {noise:.1f} in each vote the wrong word wins {wrong:.0%} of the time.",
        note=f"… the {log} and find out whether it ran …",
    )
    _draw_voters(picture, log, mask)
    _draw_count(picture, total, noise, wrong)
    return picture


def _draw_voters(picture: Picture, log: str, mask: tuple[float, ...]) -> None:
    heads = ((150, "voter", "end"), (240, "mask", "middle"), (300, "its vote, as loud as the mask", "start"))
    for x, text, anchor in heads:
        picture.text(x, TOP + 30, text, size=24, anchor=anchor, colour="soft")
    for i, (word, weight, row) in enumerate(zip(voters(log), mask, votes(log), strict=True)):
        y = TOP + 46 + i * 49
        sure = row.max() == 1
        picture.text(
            150,
            y + 33,
            word,
            size=28,
            anchor="end",
            weight=700 if sure else 400,
            colour="ink" if weight else "soft",
        )
        picture.rect(205, y + 4, 70, 40, fill="green", opacity=weight, edge="soft", radius=6)
        picture.text(
            240,
            y + 33,
            _amount(weight),
            size=26,
            anchor="middle",
            colour="on" if weight > 0.85 else "ink",
            weight=700,
        )
        left = 300.0
        for share, colour, name in zip(row, COLOURS, CANDIDATES, strict=True):
            wide = 360 * share * weight
            if wide > 0:
                hatch = "paper" if colour == "orange" else ""
                picture.rect(left, y + 4, wide, 40, fill=colour, hatch=hatch, radius=3)
                if wide > 110:
                    picture.label(left + wide / 2, y + 24, f"{name} {share:g}".replace("0.5", "½"), size=24)
                left += wide + 3


def _draw_count(picture: Picture, total: Array, noise: float, wrong: float) -> None:
    base, high = TOP + 370.0, 270.0
    picture.text(800, TOP + 30, "the count", size=28, weight=700)
    for x, value, colour, name in zip((850, 1040), total, COLOURS, CANDIDATES, strict=True):
        tall = value / 6 * high
        hatch = "paper" if colour == "orange" else ""
        picture.rect(x - 60, base - tall, 120, max(tall, 2), fill=colour, hatch=hatch)
        picture.text(x, base - tall - 12, _amount(float(value)), size=38, anchor="middle", weight=700)
        picture.text(x, base + 36, name, size=30, anchor="middle", weight=700)
    picture.line(770, base, 1130, base, colour="ink")
    picture.text(945, base + 86, f"noise in each vote: {noise:.1f}", anchor="middle", colour="soft")
    picture.text(945, base + 122, f"so the wrong word wins: {wrong:.0%}", anchor="middle", weight=700)


def _names(settings: Settings) -> list[str]:
    return voters(settings["log"])


demo = Demo(
    name="03_votes_and_mask",
    title="How can one word far back decide?",
    look="Pull the sliders of the undecided down, one by one, and look at the count and at the last line.",
    draw=draw,
    controls=(
        Choice("log", "check the", tuple(SENTENCES), "program log"),
        Slider("noise", "noise in each vote", 0, 1, 0.4, step=0.1),
        Faders("mask", "mask", _names, ALL),
    ),
    scenes=(
        Scene("all vote", {}),
        Scene("the other sentence", {"log": "battery log"}),
        Scene("the undecided whisper", {"log": "battery log", "mask": HALF}),
        Scene("only one may vote", {"log": "battery log", "mask": KNOWS}),
        Scene("the one is silenced", {"log": "battery log", "mask": tuple(1.0 - one for one in KNOWS)}),
    ),
    questions=(
        "Eight voters say “half, half”. They do no harm to the winner. Why is it better to silence them?",
        "Who should set the sliders when there are 50,000 words?",
        "What does a slider at one half mean?",
    ),
    poster=2,
)
