"""The code that runs beside a student's, in the student's process."""
