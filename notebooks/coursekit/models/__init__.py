"""Small models that labs train or use beside the student's own."""
