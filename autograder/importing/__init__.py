"""Imports an nbgrader source notebook as a lab. Its tests become hidden tests if that keeps their meaning."""
