"""What a process of the harness does before anything else is imported."""
