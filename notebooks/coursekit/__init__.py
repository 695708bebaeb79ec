"""The student kit of From Bigrams to Translators: checks with words, a progress card, handing in, data and figures."""

from coursekit.checking import check, progress, start
from coursekit.data import path
from coursekit.handing_in import hand_in
from coursekit.own import mine
from coursekit.teaching import track, until_written

__all__ = ["check", "hand_in", "mine", "path", "progress", "start", "track", "until_written"]
