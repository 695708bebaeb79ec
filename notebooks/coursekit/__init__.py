"""The student kit of From Bigrams to Translators: checks with words, a progress card, data and figures."""

from coursekit.checking import check, progress, start
from coursekit.data import path

__all__ = ["check", "path", "progress", "start"]
