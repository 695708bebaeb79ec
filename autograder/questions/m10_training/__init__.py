"""Lab 10, training: its six questions, a file each."""
