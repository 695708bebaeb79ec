"""The reports: how a class did in one lab, and how the students do over the term."""
