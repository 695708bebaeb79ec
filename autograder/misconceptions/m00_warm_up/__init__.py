"""Named wrong answers to lab 00 with their hints, and correct answers in other styles."""
