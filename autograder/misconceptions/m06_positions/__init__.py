"""Named wrong answers to lab 06 with their hints, and correct answers in other styles."""
