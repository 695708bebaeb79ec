"""Reports for teachers: on a class in one lab, and on the students over the term."""
