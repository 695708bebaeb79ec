"""Lab 06, positions: its four questions, a file each."""
