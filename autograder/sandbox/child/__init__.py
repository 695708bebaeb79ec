"""What runs beside a student's code, in the student's process."""
