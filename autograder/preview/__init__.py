"""``autograder preview``: a page that shows an author what a student will see, made again whenever a file of the lab changes."""
