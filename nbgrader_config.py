"""nbgrader's configuration: its stock commands work on this tree."""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "bigrams-to-translators"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
# A master's text holds the solutions and the hidden tests: it goes neither to students nor into autograded/.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "coursekit", "demos", "[0-9][0-9]_*.py"]

# Students' code runs in the sandbox, also for `nbgrader autograde` and Formgrader's button, and never in a kernel.
# What students wrote is cleaned before a browser shows it.
c.Autograde.exporter_class = "autograder.nbgrader_autograde.IsolatedExporter"
c.Autograde.sanitize_preprocessors = []
c.Autograde.autograde_preprocessors = []
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {
    "clean_html": "autograder.nbgrader_pages.clean_html",
    "markdown2html": "autograder.nbgrader_pages.markdown2html",
}
