"""A whole class: plan, grade on an engine, record."""
