"""A letter model of names with a memory of four letters, as a decoder sees it: prefixes in, log-probabilities out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from coursekit.data.names import names

#: ``<bos>`` has the id 0, ``<eos>`` the id 1, the letters a to z follow.
TOKENS = ("<bos>", "<eos>", *"abcdefghijklmnopqrstuvwxyz")
BOS, EOS = 0, 1
_SYMBOLS = "01abcdefghijklmnopqrstuvwxyz"  # one character a token: 0 is <bos>, 1 is <eos>
_COLUMN = {symbol: place for place, symbol in enumerate(_SYMBOLS)}


class LetterModel:
    """A model from counts of the built-in names, or of ``words``. A discount from each count goes to a shorter memory.

    (Absolute discounting: Ney, Essen and Kneser 1994.)
    """

    def __init__(self, memory: int = 4, discount: float = 0.8, words: Sequence[str] | None = None):
        self.memory, self.discount = memory, discount
        self._counts = _counts(names() if words is None else words, memory)
        self._known: dict[str, np.ndarray] = {}

    def __call__(self, prefixes: Sequence[Sequence[int]]) -> np.ndarray:
        """Log-probabilities of the next token.  n prefixes, each beginning with ``BOS`` → (n, 28)."""
        with np.errstate(divide="ignore"):
            return np.log([self._after(_text(prefix)[-self.memory :]) for prefix in prefixes])

    def after(self, start: str) -> np.ndarray:
        """Log-probabilities of the token that follows the first letters of a name → (28,)."""
        logprobs: np.ndarray = self([[BOS, *(TOKENS.index(letter) for letter in start)]])[0]
        return logprobs

    def average_nll(self, words: Sequence[str]) -> float:
        """The mean negative log-likelihood of a token in nats, over all letters and ends of the words."""
        logs = []
        for word in words:
            text = f"0{word}1"
            for place in range(1, len(text)):
                row = self._after(text[max(0, place - self.memory) : place])
                logs.append(np.log(row[_COLUMN[text[place]]]))
        return float(-np.mean(logs))

    def _after(self, context: str) -> np.ndarray:
        if context not in self._known:
            counts = self._counts.get(context)
            shorter = self._after(context[1:]) if context else np.append(0.0, np.full(27, 1 / 27))
            if counts is None:
                self._known[context] = shorter
            else:
                left = np.maximum(counts - self.discount, 0)
                self._known[context] = (left + (counts.sum() - left.sum()) * shorter) / counts.sum()
        return self._known[context]


def spell(tokens: Sequence[int]) -> str:
    """The name that a list of tokens spells, without ``<bos>`` and ``<eos>``."""
    return "".join(TOKENS[token] for token in tokens if token > EOS)


def sample_name(
    model: LetterModel, choose: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator
) -> str:
    """Roll the dice letter by letter; ``choose`` turns the model's log-probabilities into the die's probabilities."""
    prefix = [BOS]
    while len(prefix) < 25 and prefix[-1] != EOS:
        probabilities = np.asarray(choose(model([prefix])[0]))
        prefix.append(
            int(np.searchsorted(np.cumsum(probabilities), rng.random() * probabilities.sum(), "right"))
        )
    return spell(prefix)


def _text(prefix: Sequence[int]) -> str:
    """One character a token."""
    return "".join(_SYMBOLS[token] for token in prefix)


def _counts(words: Sequence[str], memory: int) -> dict[str, np.ndarray]:
    """For each context of up to ``memory`` characters: how often each token followed it, (28,)."""
    counts: dict[str, np.ndarray] = {}
    for word in words:
        text = f"0{word}1"
        for place in range(1, len(text)):
            for length in range(min(memory, place) + 1):
                context = text[place - length : place]
                if context not in counts:
                    counts[context] = np.zeros(28)
                counts[context][_COLUMN[text[place]]] += 1
    return counts
