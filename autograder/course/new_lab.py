"""Writes the files of a new lab: one complete small question, and stubs with instructions for the others."""

from __future__ import annotations

import builtins
import re
from keyword import iskeyword
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from autograder.course.masters import course_root, questions_folder, require_new_name
from autograder.course.soundness import POINTS
from autograder.errors import UserError
from autograder.files import write_atomically

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("new_lab_templates")),
    variable_start_string="<", variable_end_string=">", trim_blocks=True, keep_trailing_newline=True,
)  # fmt: skip

#: Names that a question may not have: its function would hide them in the notebook or in these files.
_TAKEN = {
    *dir(builtins), "np", "torch", "plt", "student", "rng", "start", "check", "progress", "question", "match", "case", "type",
}  # fmt: skip


def parse_questions(text: str) -> dict[str, int]:
    """Parse ``"entropy:8,other:12"`` to ``{"entropy": 8, "other": 12}``. Raises ``UserError`` unless the points add up."""
    questions: dict[str, int] = {}
    for part in text.split(","):
        name, _, points = part.strip().partition(":")
        if not name.isidentifier() or not points.isdigit() or int(points) == 0:
            raise UserError(
                f"“{part.strip()}” is no question with its points, as in --questions entropy:8,other:12."
            )
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,59}", name) or name in _TAKEN or iskeyword(name):
            raise UserError(
                f"“{name}” cannot be a question's name: it takes at most 60 letters of English, digits and “_”, and is no word "
                "of Python's or of the questions' files."
            )
        if name in questions:
            raise UserError(f"The question “{name}” stands in the list twice.")
        questions[name] = int(points)
    if sum(questions.values()) != POINTS:
        raise UserError(f"The points add up to {sum(questions.values())} and not to {POINTS}.")
    return questions


def new_lab(lab: str, questions: dict[str, int]) -> list[Path]:
    """Write a lab that builds immediately, and return its files. Existing files are never overwritten.

    All questions but the first are stubs.
    """
    root = course_root()
    folder = questions_folder(lab)
    texts = {
        root / "solutions" / lab / f"{lab}.py": _filled("master", lab, questions=questions),
        folder / "__init__.py": f'"""The questions of lab {lab[:2]}, a file each."""\n',
    }
    for place, (question, points) in enumerate(questions.items()):
        template = "question_stub" if place else "question_worked"
        texts[folder / f"{question}.py"] = _filled(template, lab, QUESTION=question, POINTS=points)
    require_new_name(lab, *texts)
    try:
        for path, text in texts.items():
            write_atomically(path, text)
    except BaseException:  # a partial lab would block the next try
        for path in texts:
            path.unlink(missing_ok=True)
        raise
    return [path.relative_to(root) for path in texts]


def _filled(template: str, lab: str, **values: object) -> str:
    title = lab[3:].replace("_", " ").capitalize()
    return _TEMPLATES.get_template(f"{template}.txt").render(LAB=lab, NUMBER=lab[:2], TITLE=title, **values)
