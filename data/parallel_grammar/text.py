"""Joins words into a sentence as it is written: a capital first, punctuation close."""

from parallel_grammar import english, german
from parallel_grammar.syntax import Sentence

PUNCTUATION = ",.?!"


def written(words: list[str]) -> str:
    """The sentence as one writes it."""
    text = ""
    for word in words:
        text += word if not text or word in PUNCTUATION else " " + word
    return text[0].upper() + text[1:]


def pair(sentence: Sentence) -> tuple[str, str]:
    """The English and the German of a sentence."""
    return written(english.words(sentence)), written(german.words(sentence))
