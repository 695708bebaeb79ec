"""The command ``autograder``: one module for what each verb shows."""
