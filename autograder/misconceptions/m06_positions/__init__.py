"""Named wrong answers to lab 06 with their hints, and correct answers in other styles."""

#: Wrong answers that a public check cannot show, and why.
ONLY_UNSEEN: dict[str, dict[str, str]] = {}
