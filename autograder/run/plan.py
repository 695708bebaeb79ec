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
    to_grade, unchanged, reasons = [], [], {}
    for notebook in notebooks:
        student, now = notebook.submission.student, (notebook.digest, context.combined_digest)
        if notebook.digest and not force and keys.get(student) == now:
            unchanged.append(student)
        else:
            to_grade.append(notebook)
            reasons[student] = "asked for" if force else _why(keys.get(student), notebook, before, context)
    return Plan(tuple(to_grade), tuple(unchanged), reasons)


def _why(old: tuple[str, str] | None, notebook: Notebook, before: Context | None, context: Context) -> str:
    if old is None:
        return "new"
    if old == ("", ""):
        return "the grader had failed on it"
    if old[0] != notebook.digest:
        return "the notebook changed"
    parts = changed_parts(before, context) if before else []
    return f"changed: {', '.join(parts)}" if parts else "an earlier run stood under other conditions"
