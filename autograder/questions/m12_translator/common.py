"""What several questions of lab 12 are made of."""

PAD, BOS, EOS, UNKNOWN = 0, 1, 2, 3
