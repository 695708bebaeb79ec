"""The modules that nbgrader loads: its settings, Autograde in the sandbox, feedback, Formgrader."""
