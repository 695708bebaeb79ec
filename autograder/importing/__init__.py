"""Takes an nbgrader source notebook into this course: its tests become hidden tests where that keeps their meaning."""
