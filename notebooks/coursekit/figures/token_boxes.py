"""Shows tokens and bytes as coloured boxes, and reads the merges that come with lab 04."""

from __future__ import annotations

import gzip
import html
from collections.abc import Mapping, Sequence
from functools import cache

from coursekit.data import lines, path
from coursekit.figures import BLUE, ORANGE
from coursekit.notebook.cards import in_notebook

# Light tints of the course's palette: dark letters stay readable on them, on screen and in print.
_TINTS = ("#cfe5f5", "#fde8bf", "#cdebe0", "#f3dbe8")
_FRAME = '<div style="font:14px system-ui,sans-serif;color:#1f2933;background:#fff;padding:6px 10px;max-width:52rem">'
_BOX = (
    '<span style="display:inline-block;background:{tint};border:1px solid #8a97a3;border-radius:3px;'
    'padding:0 2px;margin:1px;font:13px ui-monospace,monospace;white-space:pre">{text}</span>'
)


def show_pieces(rows: Mapping[str, Sequence[str]], title: str) -> None:
    """Show one line of boxes for each entry: its label, and its pieces of text. Blanks show as ``·``, line ends as ``⏎``."""
    if not in_notebook():
        print(title)
        for label, pieces in rows.items():
            print(f"  {label:>22s}  " + "|".join(map(_visible, pieces)))
        return
    body = "".join(
        f'<tr><td style="text-align:right;vertical-align:baseline;line-height:1.7;padding:3px 10px 3px 0;white-space:nowrap">{html.escape(label)}</td>'
        f'<td style="text-align:left;vertical-align:baseline;line-height:1.7">{_boxes(pieces)}</td></tr>'
        for label, pieces in rows.items()
    )
    _display(f'<b>{html.escape(title)}</b><table style="border:none;margin:4px 0">{body}</table>')


def _boxes(pieces: Sequence[str]) -> str:
    return "".join(
        _BOX.format(tint=_TINTS[i % len(_TINTS)], text=html.escape(_visible(piece)))
        for i, piece in enumerate(pieces)
    )


def _visible(text: str) -> str:
    return text.replace(" ", "·").replace("\n", "⏎").replace("\t", "⇥")


def show_bits(characters: Mapping[str, str], title: str) -> None:
    """Show how UTF-8 writes each character (its name is the value): marker bits in one colour, its own bits in another."""
    rows = [
        (character, name, [format(byte, "08b") for byte in character.encode("utf-8")])
        for character, name in characters.items()
    ]
    if not in_notebook():
        print(title)
        for character, name, bits in rows:
            print(f"  {name:24s} U+{ord(character):04X}  {' '.join(bits)}")
        return
    body = "".join(
        f'<tr><td style="font-size:20px;text-align:center">{html.escape(character)}</td><td style="text-align:left">{html.escape(name)}</td>'
        f'<td style="text-align:left">U+{ord(character):04X} = {ord(character):,}</td>'
        f'<td style="text-align:left;white-space:nowrap">{"&ensp;".join(map(_coloured_byte, bits))}</td></tr>'
        for character, name, bits in rows
    )
    _display(f'<b>{html.escape(title)}</b><table style="border:none;margin:4px 0">{body}</table>')


def _coloured_byte(bits: str) -> str:
    """A byte's bits: the leading ones with their closing zero mark its role, the rest carry the number."""
    marker = bits.index("0") + 1
    style = "font:600 14px ui-monospace,monospace;color:"
    return f'<span style="{style}#8f5f00;border-bottom:3px solid {ORANGE}">{bits[:marker]}</span><span style="{style}{BLUE}">{bits[marker:]}</span>'


def _display(markup: str) -> None:
    from IPython.display import HTML, display

    display(HTML(f"{_FRAME}{markup}</div>"))


def speech_merges() -> dict[tuple[int, int], int]:
    """The 2,000 merges learned from the first million characters of the speeches: ``{(left, right): new id}``."""
    return _in_order(lines("04_tokenizer/speech_merges.csv"))


@cache
def published_merges(model: str) -> dict[tuple[int, int], int]:
    """The merges of ``"gpt2"`` (50,000) or ``"gpt4"`` (100,000) in the order learned: ``{(left, right): new id}``."""
    packed = path(f"04_tokenizer/{model}_merges.csv.gz").read_bytes()
    return _in_order(gzip.decompress(packed).decode("ascii").splitlines())


def _in_order(rows: Sequence[str]) -> dict[tuple[int, int], int]:
    pairs = (tuple(map(int, row.split(","))) for row in rows)
    return {(left, right): new for new, (left, right) in enumerate(pairs, start=256)}


def published_numbers() -> list[int]:
    """The numbers that GPT-2 and GPT-4 give to the bytes 0 to 255: bytes that can be printed come first."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    order = printed + [byte for byte in range(256) if byte not in printed]
    return [order.index(byte) for byte in range(256)]
