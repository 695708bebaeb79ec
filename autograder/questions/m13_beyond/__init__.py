"""Lab 13, beyond: its five questions with points, a file each."""
