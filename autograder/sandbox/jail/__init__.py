"""What makes the process in which a student's code runs, and its small read-only world."""
