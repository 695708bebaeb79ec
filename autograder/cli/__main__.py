"""Runs the command as ``python -m autograder.cli``, if its script is not on the path."""

from autograder.cli.app import main

main()
