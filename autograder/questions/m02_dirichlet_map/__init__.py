"""Lab 02, the Dirichlet prior: its six questions, a file each."""
