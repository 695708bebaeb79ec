"""Formgrader's pages show a student's name, and run nothing that stands in it."""

from __future__ import annotations

from jinja2 import FileSystemLoader
from nbgrader.server_extensions.formgrader import formgrader, handlers
from traitlets.config import Config

from autograder.nbgrader_plugin.settings import apply_to

NAME = '<img src=x onerror=alert(1)>"; alert(2); "'
PAGES = (
    "manage_students_assignments.tpl",
    "manage_students_notebook_submissions.tpl",
    "manage_submissions.tpl",
    "gradebook_notebook_submissions.tpl",
    "gradebook_notebooks.tpl",
)


def test_no_page_runs_what_stands_in_a_name(monkeypatch):
    monkeypatch.setattr(formgrader, "Environment", formgrader.Environment)
    apply_to(Config())
    environment = formgrader.Environment(loader=FileSystemLoader([handlers.template_path]))
    for page in PAGES:
        text = environment.get_template(page).render(
            student_id=NAME, assignment_id=NAME, notebook_id=NAME, base_url="", course_dir=NAME
        )
        assert "&lt;img src=x" in text and "<img src=x" not in text, page
        assert '"; alert(2)' not in text and "<script src=" in text, page
