"""Lab 01, Markov chains: named wrong answers with their hints, and correct answers in other styles."""
