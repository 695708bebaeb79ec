"""nbgrader's configuration: its stock commands work on this tree."""

from autograder.nbgrader_plugin.settings import apply_to

c = get_config()  # noqa: F821
apply_to(c)

c.CourseDirectory.course_id = "bigrams-to-translators"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
