"""Lab 12: everyday sentences, both ways, by the model that learned from Tatoeba: alternatives, and who listened to whom."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from coursekit.data import path
from coursekit.demos.frame import Choice, Demo, Scene, Steps, Words
from coursekit.demos.svg import TOP, Picture

MODEL = "tatoeba/translator.pt"
WAYS = {"English → German": "de", "German → English": "en"}
SHOWN = 5
#: The picture has room for so many tokens of either language.
MOST = 18
END = "<eos>"


@cache
def _machine() -> Any:
    """The shipped model and its subwords; torch is imported here and not before."""
    import torch

    from coursekit.translator.translator import Translator

    torch.set_num_threads(1)  # one sentence is little work: a second thread would cost more than it does
    return Translator.load(path(MODEL))


@lru_cache(maxsize=256)
def live(sentence: str, to: str) -> dict[str, Any]:
    """The tokens read, the translations found with their scores, best first, and the tokens and weights of each."""
    from coursekit.translator.attention_map import alignment

    machine = _machine()
    subwords = machine.subwords
    source = machine.sources([sentence], to)[0]
    found = machine.translate([sentence], to, beam=SHOWN)[0]
    told = []
    for text, score in found:
        numbers = subwords.encode([text])[0]
        heard = alignment(machine.model, source, numbers)[:, 1:]  # (T + 1, S) without the tag
        told.append(
            {
                "text": text,
                "score": score,
                "tokens": [*subwords.pieces(numbers), END],
                "heard": heard.tolist(),
            }
        )
    return {"read": subwords.pieces(source[1:]), "found": told}


def draw(way: str, sentence: str, choice: str, step: int) -> Picture:
    """The five best translations on the right; on the left what each token of the chosen one listened to."""
    if not sentence.strip():
        return Picture(
            "Type an everyday sentence, and the machine translates it",
            "Nothing is typed yet. Type a sentence to see its translations and the attention.",
            note="It learned from Tatoeba: short sentences, such as people say to each other.",
        )
    told = live(sentence.strip(), WAYS[way])
    read, found = told["read"][:MOST], told["found"]
    chosen = found[min(int(choice), len(found)) - 1]
    tokens, heard = chosen["tokens"][:MOST], chosen["heard"][:MOST]
    t = min(step, len(tokens) - 1)
    most = max(range(len(read)), key=heard[t].__getitem__)
    picture = Picture(
        f"“{_shown(tokens[t])[:16]}” listens most to “{_shown(read[most])[:16]}”",
        f"“{sentence}” becomes “{chosen['text']}”. Token {t + 1} of {len(tokens)} listens most to {_shown(read[most])}, "
        f"{heard[t][most]:.2f}. " + " ".join(f"{n}: {one['text']}" for n, one in enumerate(found, 1)),
    )
    picture.text(0, 90, chosen["text"] or "(nothing)", fit=1190)
    _draw_attention(picture, read, tokens, [row[: len(read)] for row in heard], t)
    _draw_choices(picture, found, chosen)
    return picture


def _shown(token: str) -> str:
    """A token as the audience reads it: a piece that goes on with a word begins with dots."""
    if token == END:
        return "the end"
    return token.removeprefix("▁") or "▁" if token[0] == "▁" or not token[0].isalpha() else f"…{token}"


def _draw_attention(
    picture: Picture, read: list[str], tokens: list[str], heard: list[list[float]], t: int
) -> None:
    left, top = 170.0, TOP + 108.0
    wide, high = min(62.0, 500 / len(read)), min(44.0, 394 / len(tokens))
    picture.heat(left, top, heard, cell=(wide, high))
    for j, name in enumerate(read):
        picture.text(left + (j + 0.5) * wide + 4, top - 10, _shown(name), size=22, turn=-42, fit=125)
    for i, name in enumerate(tokens):
        weight = 700 if i == t else 400
        picture.text(
            left - 12, top + (i + 0.5) * high + 8, _shown(name), size=21, anchor="end", fit=160, weight=weight
        )
    picture.rect(
        left - 3,
        top + t * high - 1,
        wide * len(read) + 6,
        high + 2,
        fill="none",
        edge="red",
        edge_width=4,
        dash="10 6",
    )


def _draw_choices(picture: Picture, found: list[dict[str, Any]], chosen: dict[str, Any]) -> None:
    x, top = 708.0, TOP + 36.0
    picture.text(x, top, "the five best that the beam found", weight=700, fit=485)
    for place, one in enumerate(found):
        y = top + 62 + 82 * place
        picture.text(x, y, f"{place + 1}  {one['text']}", size=24, fit=485)
        picture.text(x + 32, y + 30, f"{one['score']:.2f} a token", size=21, colour="soft")
        if one is chosen:
            picture.rect(x - 14, y - 32, 500, 72, fill="none", edge="orange", edge_width=4, radius=8)


demo = Demo(
    name="12_everyday",
    title="Everyday sentences, both ways",
    look="Type what you would say to a friend, in English or in German; then walk through the five translations.",
    draw=draw,
    controls=(
        Choice("way", "", tuple(WAYS), "English → German"),
        Words(
            "sentence",
            "say",
            "I don't know what you want.",
            ("Where is the station?", "Was machst du morgen?"),
        ),
        Choice("choice", "translation", tuple("12345"), "1"),
        Steps("step", "token", MOST - 1, 3),
    ),
    scenes=(
        Scene("a question of words", {"sentence": "I don't know what you want.", "step": 6}),
        Scene("you: du, Sie, ihr?", {"sentence": "Where did you learn German?", "choice": "2", "step": 2}),
        Scene(
            "and back",
            {"way": "German → English", "sentence": "Ich habe das Buch gestern gelesen.", "step": 1},
        ),
        Scene(
            "a word in pieces",
            {"way": "German → English", "sentence": "Der Bahnhofsvorsteher lacht.", "step": 1},
        ),
    ),
    questions=(
        "Which of the five would you have said? Does the machine's order agree?",
        "“You” has three translations. Which does it choose, and what in the sentence could tell it?",
        "A long word is read in pieces. What do the pieces listen to?",
    ),
    poster=2,
)
