"""Lab 05, word vectors: named wrong answers with their hints, and correct answers in other styles."""
