"""Grades a whole class: plan, grade on an engine, record."""
