"""Lab 09, blocks: its five questions, a file each."""
