"""Hidden tests: how they are run on an answer, and what they may say to a student."""
