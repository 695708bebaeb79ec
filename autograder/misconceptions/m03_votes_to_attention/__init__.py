"""Named wrong answers to lab 03 with their hints, and correct answers in other styles."""
