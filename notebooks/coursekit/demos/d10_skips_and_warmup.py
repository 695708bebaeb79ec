"""Lab 10: eight small trainings, with and without skips and warm-up; they were recorded once (``make``)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from coursekit.data import path
from coursekit.demos.frame import Choice, Demo, Scene, Steps
from coursekit.demos.svg import TOP, Picture

FILE = "demos/skips_and_warmup.json"
DEPTH, SIZE, WARM_UP, STEPS, EVERY = 4, 64, 100, 400, 10
FACTORS = (1, 3)
SKIPS, BARE = "with", "without"
RATES = {"lab 10's": 1, "three times that": 3}
#: The colour and the dash of each run.
LOOKS = {
    (True, True): ("blue", ""),
    (True, False): ("orange", "14 6"),
    (False, True): ("green", "5 6"),
    (False, False): ("red", "14 6 3 6"),
}


def rate(step: int, warm: bool, factor: int) -> float:
    """Lab 10's learning rate for a width of 512; without warm-up it begins at its highest and falls in the same way."""
    top = factor * 512**-0.5 * WARM_UP**-0.5
    return top * min(step / WARM_UP if warm else 1.0, (WARM_UP / step) ** 0.5)


def make() -> None:
    """Train eight models of 4 + 4 blocks on reversing letters (about three minutes) and write their curves."""
    import torch
    from torch import Tensor, nn

    from coursekit.models import reversing
    from coursekit.provided.p09_blocks import DecoderBlock, EncoderBlock
    from coursekit.provided.p10_training import masked_cross_entropy, shift_targets, train_step

    class Straight(EncoderBlock):
        def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
            x = self.norm1(self.attention(x, mask=mask)[0])
            return self.norm2(self.feed_forward(x))

    class StraightDecoder(DecoderBlock):
        def forward(
            self,
            x: Tensor,
            memory: Tensor,
            self_mask: Tensor | None = None,
            memory_mask: Tensor | None = None,
        ) -> Tensor:
            x = self.norm1(self.self_attention(x, mask=self_mask)[0])
            x = self.norm2(self.cross_attention(x, memory, memory_mask)[0])
            return self.norm3(self.feed_forward(x))

    class Stack(nn.Module):
        def __init__(self, block: type[nn.Module], *sizes: int):
            super().__init__()
            self.blocks = nn.ModuleList([block(*sizes) for _ in range(DEPTH)])

        def forward(self, x: Tensor, *others: Tensor) -> Tensor:
            for block in self.blocks:
                x = block(x, *others)
            return x

    def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
        return masked_cross_entropy(logits, labels, reversing.PAD)

    torch.set_num_threads(1)
    record: dict[str, Any] = {}
    for factor in FACTORS:
        for skips, warm in ((True, True), (True, False), (False, True), (False, False)):
            draw = torch.Generator().manual_seed(2)
            torch.manual_seed(1)
            encoder, decoder = (EncoderBlock, DecoderBlock) if skips else (Straight, StraightDecoder)
            model = reversing.SmallTransformer(
                lambda *sizes, kind=encoder: Stack(kind, *sizes),
                lambda *sizes, kind=decoder: Stack(kind, *sizes),
                SIZE,
            )
            watched = [
                model.encoder.get_parameter(f"blocks.{layer}.attention.W_Q.weight") for layer in range(DEPTH)
            ]
            optimiser = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
            losses, gradients = [], []
            for step in range(1, STEPS + 1):
                rows = reversing.sequences(32, 4, 8, draw)
                batch = (
                    reversing.padded(rows),
                    *shift_targets([row[::-1] for row in rows], reversing.BOS, reversing.EOS, reversing.PAD),
                )
                losses.append(train_step(model, optimiser, loss_of, batch, rate(step, warm, factor)))
                gradients.append([float(weight.grad.norm()) for weight in watched if weight.grad is not None])
            smooth = np.array(losses).reshape(-1, EVERY).mean(axis=1)
            steep = np.array(gradients).reshape(-1, EVERY, DEPTH).mean(axis=1)
            record[name(skips, warm, factor)] = {
                "loss": [round(float(value), 3) for value in smooth],
                "gradient": [[float(f"{value:.2g}") for value in row] for row in steep],
            }
            print(name(skips, warm, factor), smooth[:3], smooth[-3:], steep[0], steep[-1], flush=True)
    target = Path(__file__).resolve().parents[3] / "data" / FILE
    target.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")


def name(skips: bool, warm: bool, factor: int) -> str:
    """The key of a run in the record."""
    return f"{'skips' if skips else 'no skips'}, {'warm-up' if warm else 'no warm-up'}, {factor}"


@cache
def recording() -> dict[str, Any]:
    """What ``make`` wrote: for each run ``loss`` (one number for ten steps) and ``gradient`` (after the clip)."""
    found: dict[str, Any] = json.loads(path(FILE).read_text(encoding="utf-8"))
    return found


def _power(value: float) -> str:
    """A small number as a power of ten, such as 3·10⁻⁹."""
    if value >= 0.001:
        return f"{value:.2g}"
    digit, power = f"{value:.0e}".split("e")
    return f"{digit}·10" + "".join("⁻" if c == "-" else "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(c)] for c in str(int(power)))


def draw(skips: str, warm: str, factor: str, step: int) -> Picture:
    """The losses of four trainings on the left; the gradients of the chosen one's layers on the right."""
    times, chosen = RATES[factor], (skips == SKIPS, warm == SKIPS)
    run = recording()[name(*chosen, times)]
    now, last, steep = (step + 1) * EVERY, run["loss"][-1], run["gradient"][step]
    called = f"{'Skips' if chosen[0] else 'No skips'}, {'warm-up' if chosen[1] else 'no warm-up'}"
    fate = "it learns" if last < 1 else "it hardly learns" if last < 2.8 else "it learns nothing"
    told = ", ".join(f"layer {n} {_power(value)}" for n, value in enumerate(steep, 1))
    picture = Picture(
        f"{called}: {fate}, loss {last:.2f}",
        f"Loss of a transformer of {DEPTH} + {DEPTH} blocks that learns to reverse letters. {called}: after {now} steps "
        f"{run['loss'][step]:.2f}, after {STEPS} {last:.2f}. Gradients at W_Q of the encoder: {told}.",
        note=f"step {now}: learning rate {rate(now, chosen[1], times):.4f}, loss {run['loss'][step]:.2f}",
    )
    xs = [EVERY * (n + 1) for n in range(STEPS // EVERY)]
    picture.text(70, TOP + 20, "loss on reversing letters", weight=700)
    plot = picture.plot(
        *(70, TOP + 44, 405, 374), across=(0, STEPS), up=(0, 3.3), xlabel="steps",
        xticks=(0, 100, 200, 300, 400), yticks=(0, 1, 2, 3),
    )  # fmt: skip
    picture.line(plot.x(now), plot.y(0), plot.x(now), plot.y(3.3), colour="ink", width=2, dash="3 5")
    curves = {look: recording()[name(*look, times)]["loss"] for look in LOOKS}
    places: dict[tuple[bool, bool], float] = {}
    above = 0.0
    for look in sorted(LOOKS, key=lambda look: -curves[look][-1]):
        places[look] = above = max(plot.y(curves[look][-1]) + 8, above + 31)
    low = max(places.values()) - (plot.y(0) + 8)
    for look, (colour, dash) in LOOKS.items():
        mine = look == chosen
        plot.curve(xs, curves[look], colour=colour, dash=dash, width=7 if mine else 3)
        words = f"{'skips' if look[0] else 'no skips'}, {'warm-up' if look[1] else 'no warm-up'}"
        y = places[look] - (max(low, 0) if curves[look][-1] < 1 else 0)
        picture.text(496, y, words, size=24, colour=colour, weight=700 if mine else 400, fit=265)
    plot.dots([now], [run["loss"][step]], fill=LOOKS[chosen][0], edge="ink")
    left = 898.0
    picture.text(812, TOP + 20, "gradient at W_Q, encoder", size=25, weight=700)
    for layer, value in enumerate(steep, 1):
        y = TOP + 60 + 84 * (DEPTH - layer)
        long = max(3.0, (np.log10(max(value, 1e-14)) + 14) / 14 * 200)
        picture.text(left - 12, y + 37, f"layer {layer}", size=24, anchor="end")
        picture.rect(left, y, long, 54, fill=LOOKS[chosen][0], hatch="paper" if value < 1e-6 else "")
        picture.text(left + long + 10, y + 37, _power(value), size=24, weight=700)
    picture.text(812, TOP + 424, "Each bar in powers of ten.", size=24, colour="soft")
    picture.text(812, TOP + 456, "Layer 1 reads the words first.", size=24, colour="soft")
    return picture


demo = Demo(
    name="10_skips_and_warmup",
    title="What skips and warm-up are good for",
    look="Four trainings of the same model: look at the thick curve, and at the gradients that reach its layers.",
    draw=draw,
    controls=(
        Choice("skips", "skips", (SKIPS, BARE), SKIPS),
        Choice("warm", "warm-up", (SKIPS, BARE), SKIPS),
        Choice("factor", "learning rate", tuple(RATES), "lab 10's"),
        Steps("step", "time", STEPS // EVERY - 1, 39, milliseconds=300),
    ),
    scenes=(
        Scene("as in the paper"),
        Scene("no skips", {"skips": BARE}),
        Scene("neither", {"skips": BARE, "warm": BARE}),
        Scene("no warm-up: fine", {"warm": BARE}),
        Scene("three times as fast", {"factor": "three times that"}),
        Scene("… without warm-up", {"factor": "three times that", "warm": BARE}),
    ),
    questions=(
        "Without skips, layers 3 and 4 get next to no gradient. Why does it not matter there who listens to whom?",
        "When does it do harm to leave out the warm-up, and when not?",
        "A run of 400 steps with one seed: what would you repeat before you believe it?",
    ),
    poster=1,
)

if __name__ == "__main__":
    make()
