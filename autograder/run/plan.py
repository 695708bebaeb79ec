"""Decides which submissions a run has to grade, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.grading.cache_keys import Context, changed_parts
from autograder.grading.submissions import Notebook
from autograder.run.store import STORE, ResultStore


@dataclass(frozen=True)
class EarlierRun:
    """The lab's last run in the store: its context, and the keys of each finished result."""

    context: Context | None = None
    #: student -> (digest of the notebook, digest of the context)
    keys: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def in_folder(cls, out: Path, lab: str) -> EarlierRun:
        """The run stored under ``out``; an empty run if nothing was graded there."""
        with ResultStore(out / STORE) as store:
            context = store.context(lab)
            return cls(Context(**context) if context else None, store.keys(lab))


@dataclass(frozen=True)
class Plan:
    """The notebooks to grade, the students whose results stay, and the reason for each regrade."""

    to_grade: tuple[Notebook, ...]
    unchanged: tuple[str, ...]
    reasons: dict[str, str]


def make_plan(
    notebooks: Iterable[Notebook], earlier: EarlierRun, context: Context, force: bool = False
) -> Plan:
    """Compare each notebook with its finished result. Unchanged results stay."""
    to_grade, unchanged, reasons = [], [], {}
    for notebook in notebooks:
        student, key = notebook.submission.student, notebook.digest
        if key and not force and earlier.keys.get(student) == (key, context.combined_digest):
            unchanged.append(student)
        else:
            to_grade.append(notebook)
            reasons[student] = "asked for" if force else _why(earlier, student, key, context)
    return Plan(tuple(to_grade), tuple(unchanged), reasons)


def _why(earlier: EarlierRun, student: str, key: str, context: Context) -> str:
    if student not in earlier.keys:
        return "new"
    old_key, old_context = earlier.keys[student]
    if (old_key, old_context) == ("", ""):
        return "the grader had failed on it"
    if old_key != key:
        return "the notebook changed"
    parts = changed_parts(earlier.context, context) if earlier.context else []
    return f"changed: {', '.join(parts)}" if parts else "an earlier run stood under other conditions"
