"""The common settings of all nbgrader configurations: this repository's, and those of graded classes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import jinja2
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeList
from nbgrader.server_extensions.formgrader import formgrader

_TEMPLATES = Path(__file__).parent / "templates"
_NBGRADERS_TEMPLATES = Path(formgrader.__file__).parent / "templates"


def apply_to(c: Any) -> None:
    """Let students' code run in the sandbox, and let pages show students' texts without running or fetching anything."""
    # A master's text contains solutions and hidden tests: it must not reach students or autograded/.
    c.CourseDirectory.ignore = [
        ".ipynb_checkpoints", "*.pyc", "__pycache__", "coursekit", "demos", "[0-9][0-9]_*.py"
    ]  # fmt: skip
    # `nbgrader autograde` and Formgrader's button also grade in the sandbox, never in a kernel.
    c.Autograde.exporter_class = "autograder.nbgrader_plugin.exporter.IsolatedExporter"
    c.GenerateFeedback.exporter_class = "autograder.nbgrader_plugin.exporter.FeedbackExporter"
    c.Autograde.sanitize_preprocessors = []
    c.Autograde.autograde_preprocessors = []
    # Formgrader's pages do not escape students' names, not even those in an address. Formgrader makes its template
    # environment after this configuration is read.
    formgrader.Environment = partial(jinja2.Environment, autoescape=True)
    c.HTMLExporter.sanitize_html = True
    c.HTMLExporter.filters = {
        "clean_html": "autograder.pages.clean_html.clean_html",
        "markdown2html": "autograder.pages.clean_html.markdown2html",
        "highlight_code": "autograder.pages.clean_html.highlight_code",
        "ansi2html": "autograder.pages.clean_html.coloured_output",
        "strip_files_prefix": "autograder.pages.clean_html.unchanged",
    }
    c.HTMLExporter.extra_template_basedirs = [str(_TEMPLATES), str(_NBGRADERS_TEMPLATES)]


class NoExchange(ExchangeList):  # type: ignore[misc]
    """Replaces nbgrader's exchange, which needs JupyterHub. Without this class, Formgrader says to contact the instructor."""

    def ensure_root(self) -> None:
        raise ExchangeError("Notebooks are collected with `autograder collect`.")
