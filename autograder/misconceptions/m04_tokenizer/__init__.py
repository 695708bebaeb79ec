"""Lab 04, the tokenizer: named wrong answers with their hints, and correct answers in other styles."""
