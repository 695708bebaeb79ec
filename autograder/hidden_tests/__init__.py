"""Hidden tests, one file a lab. Never part of a student's bundle."""
