"""``python -m autograder.cli``: the command, where its script is not on the path."""

from autograder.cli.app import main

main()
