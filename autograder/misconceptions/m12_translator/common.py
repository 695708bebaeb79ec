"""What the answers to several questions of lab 12 are made of."""

from __future__ import annotations

PAD, BOS, EOS = 0, 1, 2
