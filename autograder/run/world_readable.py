"""Refuses paths that submissions can read, such as folders below /usr."""

from __future__ import annotations

from pathlib import Path

from autograder.course.masters import course_root
from autograder.course.policy_file import course_file, salt_file
from autograder.errors import UserError
from autograder.sandbox.jail.visible import shown_through


def refuse_world_readable(*folders: Path) -> None:
    """Raise ``UserError`` if submissions can read the course, its salt or one of the class's ``folders``."""
    for path in (course_root(), course_file(), salt_file(), *folders):
        if shown := shown_through(path):
            raise UserError(
                f"{path} lies in {shown}, which submissions can read: move the course and the class's folders elsewhere, "
                "such as to /srv."
            )
