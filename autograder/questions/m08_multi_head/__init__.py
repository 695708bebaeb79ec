"""Lab 08, multi-head attention: its five questions, a file each."""
