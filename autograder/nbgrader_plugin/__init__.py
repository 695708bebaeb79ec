"""What nbgrader itself loads: its settings here, its Autograde in the sandbox, Formgrader."""
