"""Lab 05, word2vec: its six questions, a file each."""
