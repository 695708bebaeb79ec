"""Reads a course: its labs and policy, the notebooks built from them, and who may see which files."""
