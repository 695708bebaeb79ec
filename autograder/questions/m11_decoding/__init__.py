"""Lab 11, decoding: its five questions, a file each."""
