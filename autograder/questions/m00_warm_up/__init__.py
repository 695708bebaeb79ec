"""Lab 00, the warm-up: its five questions, a file each."""
