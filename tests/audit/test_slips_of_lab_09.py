"""Lab 09: slips in one branch only, or where two features meet, lose a little, and the card says so."""

from __future__ import annotations

import pytest

from autograder.course.masters import solution

from .slips import loses_a_little

LAB = "09_blocks"
RIGHT = solution(LAB)


class EpsForAWordAlone(RIGHT["LayerNorm"]):
    """The eps that is given acts on a word alone only."""

    def forward(self, x):
        given, self.eps = self.eps, self.eps if x.dim() == 1 else 1e-5
        result = super().forward(x)
        self.eps = given
        return result


class NoBendInAWord(RIGHT["FeedForward"]):
    """No ReLU for a word alone."""

    def forward(self, x):
        return self.linear2(self.linear1(x)) if x.dim() == 1 and x.min() < 0 else super().forward(x)


class NoMaskForOneSentence(RIGHT["EncoderBlock"]):
    """The mask of a single sentence is lost."""

    def forward(self, x, mask=None):
        return super().forward(x, mask if len(x) > 1 else None)


class NoMaskInTraining(RIGHT["EncoderBlock"]):
    """The mask is lost in training mode."""

    def forward(self, x, mask=None):
        return super().forward(x, None if self.training else mask)


class OneMaskForBoth(RIGHT["DecoderBlock"]):
    """Where both masks have one shape the self mask is taken for both."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self_mask is not None and memory_mask is not None and self_mask.shape == memory_mask.shape:
            memory_mask = self_mask
        return super().forward(x, memory, self_mask, memory_mask)


class NoMemoryMaskBesideTables(RIGHT["DecoderBlock"]):
    """A self mask with a table for each sentence, and the memory mask is lost."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self_mask is not None and self_mask.dim() == 3:
            memory_mask = None
        return super().forward(x, memory, self_mask, memory_mask)


SLIPS = [
    ("LayerNorm", EpsForAWordAlone, True),
    ("FeedForward", NoBendInAWord, True),
    ("EncoderBlock", NoMaskForOneSentence, True),
    ("EncoderBlock", NoMaskInTraining, False),
    ("DecoderBlock", OneMaskForBoth, True),
    ("DecoderBlock", NoMemoryMaskBesideTables, True),
]


@pytest.mark.parametrize(
    ("question", "slip", "seen"), SLIPS, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_slip_in_one_branch_loses_a_little(question, slip, seen):
    loses_a_little(LAB, question, slip, red=seen)
