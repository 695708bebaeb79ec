"""Named wrong answers and correct alternatives, one file a lab. Never part of a student's bundle."""
