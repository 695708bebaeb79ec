"""The command ``autograder``: one module for the output of each subcommand."""
