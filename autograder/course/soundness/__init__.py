"""Refuses a lab that is not sound: reads its files without running them, and names every fault at once.

What only running can show (an answer that keeps its points, two that behave alike) is for ``audit``, and how long the
master takes is for ``build``.
"""

from __future__ import annotations

from collections.abc import Iterable

from autograder.course.masters import course_root, master_path, source_of_import
from autograder.course.soundness.companions import companion_faults
from autograder.course.soundness.faults import Fault
from autograder.course.soundness.master import read_outline
from autograder.errors import UserError

#: More sentences than this nobody reads at once.
SHOWN = 20


def faults_of(lab: str) -> list[Fault]:
    """Every fault of a lab (full name) in its master, its checks, hidden tests, wrong answers and data names."""
    if _is_imported(lab):
        return []  # nbgrader's own checks have passed, and it names no wrong answers
    outline = read_outline(lab, master_path(lab), course_root())
    return [*outline.faults, *companion_faults(lab, course_root(), outline)]


def _is_imported(lab: str) -> bool:
    try:
        return master_path(lab).is_file() and bool(source_of_import(lab))
    except UserError:  # the header cannot be read: the outline says so
        return False


def require_sound(labs: Iterable[str], *, unfinished: bool = False) -> list[str]:
    """Raise one ``UserError`` with the faults of all these labs.

    With ``unfinished``, what its author calls unfinished is no reason to refuse a lab: those sentences are returned.
    """
    faults = [fault for lab in labs for fault in faults_of(lab)]
    refused = [fault for fault in faults if not (unfinished and fault.unfinished)]
    if not refused:
        return [str(fault) for fault in faults]
    lines = [str(fault) for fault in refused[:SHOWN]]
    if len(refused) > SHOWN:
        lines.append(f"… and {len(refused) - SHOWN} more.")
    raise UserError("\n  ".join(["Fix these first; nothing was written:", *lines]))
