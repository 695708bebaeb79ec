"""Lab 04, the tokenizer: its six questions, a file each."""
