"""Lab 13: wrong answers that students give, with their hints, and correct answers in other styles."""

#: Wrong answers that a public check cannot show, and why.
ONLY_UNSEEN: dict[str, dict[str, str]] = {}
