"""Small models that a lab learns with beside the student's own."""
