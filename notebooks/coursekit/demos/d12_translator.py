"""Lab 12: a sentence through the shipped translator, word by word; the scenes were recorded once (``make``)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from coursekit.data import path
from coursekit.data.parallel import detokenize, tokenize
from coursekit.demos.frame import Demo, Scene, Steps, Words
from coursekit.demos.svg import TOP, Picture

FILE = "demos/translator.json"
TIRED = "The animal did not cross the street because it was too tired."
WIDE = "The animal did not cross the street because it was too wide."
DOG = "The dog will not cross the bridge because it is too narrow."
BOOK = "Yesterday the man gave the child a book."
BLUE = "The animal did not cross the street because it was too blue."
SENTENCES = (TIRED, WIDE, DOG, BOOK, BLUE)
#: The picture has room for so many words of either language.
MOST_SOURCE, MOST_TARGET = 14, 15
PRONOUNS = ("er", "sie", "es")
SHOWN = 5
END = "<eos>"


@cache
def _machine() -> Any:
    """The trained model in lab 12's class, and both vocabularies; torch is imported here and not before."""
    from coursekit.provided.p12_translator import Transformer
    from coursekit.translator.word_model import load

    return load(Transformer)


@cache
def live(words: tuple[str, ...]) -> dict[str, Any]:
    """Translate greedily: ``said`` and the end, ``heard`` (T + 1, S), ``best`` five of each step, ``pronoun``."""
    import torch

    from coursekit.data.vocabulary import BOS, UNKNOWN
    from coursekit.provided.p12_translator import translate
    from coursekit.translator.attention_map import alignment

    model, english, german = _machine()
    source = [english.numbers.get(word, UNKNOWN) for word in words]
    said = translate(model, source, max_length=MOST_TARGET)
    with torch.no_grad():
        p = model(torch.tensor([source]), torch.tensor([[BOS, *said]]))[0].double().softmax(dim=-1)
    best, place = p.topk(SHOWN)
    named = [german.words[number] for number in said]
    stands = [t for t, word in enumerate(named) if word in PRONOUNS] if "it" in words else []
    race = [round(float(p[stands[-1], german.numbers[word]]), 4) for word in PRONOUNS] if stands else []
    return {
        "unknown": [word for word in words if word not in english.numbers],
        "said": named,
        "heard": [[round(weight, 3) for weight in row] for row in alignment(model, source, said).tolist()],
        "best": [
            [(german.words[number], round(value, 4)) for number, value in zip(*row, strict=True)]
            for row in zip(place.tolist(), best.tolist(), strict=True)
        ],
        "pronoun": race,
    }


@cache
def _recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path(FILE).read_text(encoding="utf-8"))
    return found


def worked(sentence: str) -> tuple[list[str], dict[str, Any]]:
    """The words that are read, and what ``live`` says of them, from the record where it has them."""
    words = tokenize(sentence)[:MOST_SOURCE]
    return words, _recorded().get(" ".join(words)) or live(tuple(words))


def draw(sentence: str, step: int) -> Picture:
    """Who listens to whom on the left; on the right what the decoder could have said at this step."""
    if not tokenize(sentence):
        return Picture(
            "Type an English sentence, and the machine translates it",
            "Nothing is typed yet. Type an English sentence to see its translation and the attention.",
            note="It knows the words of the course's own corpus: animals, streets, people, what they do.",
        )
    words, found = worked(sentence)
    said = [*found["said"], END]
    t = min(step, len(said) - 1)
    heard, best = found["heard"][t], found["best"][t]
    most = max(range(len(words)), key=heard.__getitem__)
    word = "the end" if said[t] == END else f"“{said[t][:16]}”"
    translation = detokenize(found["said"])
    title = f"{word} with {best[0][1]:.1%} listens most to “{words[most][:16]}”"
    told = ", ".join(f"{name} {value:.1%}" for name, value in best)
    picture = Picture(
        title,
        f"“{detokenize(words)}” becomes “{translation}”. Word {t + 1} of {len(said)}: {told}. It listens most to "
        f"{words[most]}, {heard[most]:.2f}.",
    )
    picture.text(0, 90, translation, fit=1190)
    _draw_attention(picture, words, said, found, t)
    _draw_choices(picture, said, found, t)
    return picture


def _draw_attention(
    picture: Picture, words: list[str], said: list[str], found: dict[str, Any], t: int
) -> None:
    left, top = 150.0, TOP + 108.0
    wide, high = min(56.0, 590 / len(words)), min(36.0, 394 / len(said))
    picture.heat(left, top, found["heard"], cell=(wide, high))
    for j, name in enumerate(words):
        lost = name in found["unknown"]
        picture.text(
            left + (j + 0.5) * wide + 4, top - 10, name + (" ?" if lost else ""), size=23, turn=-42, fit=125,
            colour="red" if lost else "ink", weight=700 if lost else 400,
        )  # fmt: skip
    for i, name in enumerate(said):
        picture.text(
            left - 12, top + (i + 0.5) * high + 8, name, size=22, anchor="end", fit=140,
            weight=700 if i == t else 400,
        )  # fmt: skip
    picture.rect(
        left - 3, top + t * high - 1, wide * len(words) + 6, high + 2, fill="none", edge="red", edge_width=4,
        dash="10 6",
    )  # fmt: skip


def _draw_choices(picture: Picture, said: list[str], found: dict[str, Any], t: int) -> None:
    x, top = 950.0, TOP + 20.0
    before = said[t - 1] if t else "<bos>"
    picture.text(800, top, f"what may follow “{before}”?", weight=700, fit=395)
    names = [name for name, _ in found["best"][t]]
    picture.bars(
        x, top + 18, 140, [value for _, value in found["best"][t]], names, row=42, form=".1%",
        colours=["orange"] + ["blue"] * (SHOWN - 1),
    )  # fmt: skip
    if found["unknown"]:
        picture.text(800, top + 278, "? a word it never saw", colour="red", fit=395)
    if found["pronoun"]:
        picture.text(800, top + 316, "“it” in German:", weight=700, fit=395)
        rivals = max(range(3), key=found["pronoun"].__getitem__)
        picture.bars(
            x, top + 334, 140, found["pronoun"], PRONOUNS, row=42, form=".1%",
            colours=["purple" if i == rivals else "sky" for i in range(3)],
        )  # fmt: skip


def make() -> None:
    """Translate the scenes' sentences and write what ``draw`` shows to ``data/demos``."""
    record = {" ".join(words): live(words) for words in (tuple(tokenize(one)) for one in SENTENCES)}
    target = Path(__file__).resolve().parents[3] / "data" / FILE
    target.write_text(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


demo = Demo(
    name="12_translator",
    title="Inside the translator, word by word",
    look="Each row is a German word, each column an English one. Change one English word and watch the pronoun.",
    draw=draw,
    controls=(
        Words("sentence", "English", TIRED, SENTENCES[1:]),
        Steps("step", "word", MOST_TARGET, 9),
    ),
    scenes=(
        Scene("too tired", {"sentence": TIRED}),
        Scene("too wide", {"sentence": WIDE}),
        Scene("the bridge", {"sentence": DOG}),
        Scene("a verb in two places", {"sentence": BOOK, "step": 8}),
        Scene("in which order?", {"sentence": BOOK, "step": 1}),
        Scene("an unknown word", {"sentence": BLUE}),
    ),
    questions=(
        "Only the last word differs. How can “es” or “sie”, which comes earlier, know of it?",
        "German puts a part of the verb at the end. Which English word does that part listen to?",
        "How sure is the machine about words that it never saw in training?",
    ),
)

if __name__ == "__main__":
    make()
