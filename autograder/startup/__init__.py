"""Settings that a process of the harness makes before other imports."""
