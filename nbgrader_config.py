"""nbgrader's configuration: its stock commands work on this tree."""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "bigrams-to-translators"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "coursekit", "demos"]
c.ExecutePreprocessor.timeout = 120
