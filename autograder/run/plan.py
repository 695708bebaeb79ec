"""Decides which submissions a run has to grade, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autograder.grading.cache_keys import Context, changed_parts
from autograder.grading.submissions import Notebook


@dataclass(frozen=True)
class Plan:
    """The notebooks to grade, the students whose results stay, and the reason for each regrade."""

    to_grade: tuple[Notebook, ...]
    unchanged: tuple[str, ...]
    reasons: dict[str, str]


def make_plan(
    notebooks: Iterable[Notebook],
    keys: Mapping[str, tuple[str, str]],
    before: Context | None,
    context: Context,
    force: bool = False,
) -> Plan:
    """Compare each notebook with its finished result. Unchanged results stay.

    ``keys`` (student -> digests of notebook and context) and the context ``before`` are the last run's.
    """
    parts = ", ".join(changed_parts(before, context)) if before else ""
    to_grade, unchanged, reasons = [], [], {}
    for notebook in notebooks:
        student, old = notebook.submission.student, keys.get(notebook.submission.student)
        if notebook.digest and not force and old == (notebook.digest, context.combined_digest):
            unchanged.append(student)
            continue
        to_grade.append(notebook)
        if force:
            reasons[student] = "asked for"
        elif old is None:
            reasons[student] = "new"
        elif old == ("", ""):
            reasons[student] = "the grader had failed on it"
        elif old[0] != notebook.digest:
            reasons[student] = "the notebook changed"
        else:
            reasons[student] = f"changed: {parts}" if parts else "an earlier run stood under other conditions"
    return Plan(tuple(to_grade), tuple(unchanged), reasons)
