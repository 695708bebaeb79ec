"""Lab 01, Markov chains: its six questions, a file each."""
