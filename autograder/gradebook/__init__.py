"""Reads and writes nbgrader's gradebook.db: results, and marks that people entered."""
