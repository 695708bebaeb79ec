"""Slips of lab 09."""

from __future__ import annotations

from autograder.course.masters import master
from tests.audit.slips import Slips

slip = Slips("09")
right = master("09")


@slip("LayerNorm")
class EpsForAWordAlone(right.LayerNorm):
    """The eps that is given acts on a word alone only."""

    def forward(self, x):
        given, self.eps = self.eps, self.eps if x.dim() == 1 else 1e-5
        result = super().forward(x)
        self.eps = given
        return result


@slip("FeedForward")
class NoBendInAWord(right.FeedForward):
    """No ReLU for a word alone."""

    def forward(self, x):
        return self.linear2(self.linear1(x)) if x.dim() == 1 and x.min() < 0 else super().forward(x)


@slip("EncoderBlock")
class NoMaskForOneSentence(right.EncoderBlock):
    """The mask of a single sentence is lost."""

    def forward(self, x, mask=None):
        return super().forward(x, mask if len(x) > 1 else None)


@slip("EncoderBlock")
class NoMaskInTraining(right.EncoderBlock):
    """The mask is lost in training mode."""

    def forward(self, x, mask=None):
        return super().forward(x, None if self.training else mask)


@slip("DecoderBlock")
class OneMaskForBoth(right.DecoderBlock):
    """Where both masks have one shape the self mask is taken for both."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self_mask is not None and memory_mask is not None and self_mask.shape == memory_mask.shape:
            memory_mask = self_mask
        return super().forward(x, memory, self_mask, memory_mask)


@slip("DecoderBlock")
class NoMemoryMaskBesideTables(right.DecoderBlock):
    """A self mask with a table for each sentence, and the memory mask is lost."""

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        if self_mask is not None and self_mask.dim() == 3:
            memory_mask = None
        return super().forward(x, memory, self_mask, memory_mask)
