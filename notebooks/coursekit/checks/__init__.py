"""Public checks: run them on students' functions, and explain in words what is wrong."""
