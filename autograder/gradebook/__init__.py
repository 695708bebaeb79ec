"""nbgrader's gradebook.db: the results in it, and what people entered there."""
