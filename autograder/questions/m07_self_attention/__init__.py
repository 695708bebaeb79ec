"""Lab 07, self-attention: its six questions, a file each."""
