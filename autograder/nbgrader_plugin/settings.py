"""What every configuration of nbgrader says here: this repository's own, and the one beside a graded class."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import jinja2
import nbgrader
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeList

_TEMPLATES = Path(__file__).parent / "templates"
_NBGRADERS_TEMPLATES = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"


def apply_to(c: Any) -> None:
    """Have students' code run in the sandbox, and the pages show what students wrote without running or fetching any of it."""
    # A master's text holds the solutions and the hidden tests: it goes neither to students nor into autograded/.
    c.CourseDirectory.ignore = [
        ".ipynb_checkpoints", "*.pyc", "__pycache__", "coursekit", "demos", "[0-9][0-9]_*.py"
    ]  # fmt: skip
    # Also for `nbgrader autograde` and Formgrader's button, and never in a kernel.
    c.Autograde.exporter_class = "autograder.nbgrader_plugin.exporter.IsolatedExporter"
    c.GenerateFeedback.exporter_class = "autograder.nbgrader_plugin.feedback_exporter.FeedbackExporter"
    c.Autograde.sanitize_preprocessors = []
    c.Autograde.autograde_preprocessors = []
    _escape_names()
    c.HTMLExporter.sanitize_html = True
    c.HTMLExporter.filters = {
        "clean_html": "autograder.pages.clean_html.clean_html",
        "markdown2html": "autograder.pages.clean_html.markdown2html",
        "highlight_code": "autograder.pages.clean_html.highlight_code",
        "ansi2html": "autograder.pages.clean_html.coloured_output",
        "strip_files_prefix": "autograder.pages.clean_html.unchanged",
    }
    c.HTMLExporter.extra_template_basedirs = [str(_TEMPLATES), str(_NBGRADERS_TEMPLATES)]


def _escape_names() -> None:
    """Have Formgrader's own pages escape what they show: nbgrader puts names of students, from the address too, into
    them as they are. The configuration is read before Formgrader makes its templates' environment.
    """
    from nbgrader.server_extensions.formgrader import formgrader

    formgrader.Environment = partial(jinja2.Environment, autoescape=True)


class NoExchange(ExchangeList):  # type: ignore[misc]
    """nbgrader's exchange is for JupyterHub: without one, Formgrader tells the instructor to contact the instructor."""

    def ensure_root(self) -> None:
        raise ExchangeError("Notebooks are collected with `autograder collect`.")
