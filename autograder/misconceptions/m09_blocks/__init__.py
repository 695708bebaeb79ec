"""Lab 09: wrong answers that students give, with their hints, and correct answers in other styles."""
