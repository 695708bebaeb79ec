"""Decides what a run has to do: which submissions are as they were, which are not, and why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.grading.cache_keys import Context, changed_parts
from autograder.grading.submissions import MAX_BYTES, MISSING, Submission
from autograder.run.store import ResultStore


@dataclass(frozen=True)
class Plan:
    """What a run will do, whose result stays as it is, and why anything is done again."""

    todo: tuple[Submission, ...]
    unchanged: tuple[str, ...]
    reasons: dict[str, str]


def make_plan(
    submissions: Iterable[Submission],
    store: ResultStore,
    context: Context,
    before: Context | None,
    force: bool = False,
) -> Plan:
    """Compare each submission with its finished result; what is the same stays."""
    known = store.fingerprints(context.lab)
    todo, unchanged, reasons = [], [], {}
    for submission in submissions:
        raw = _raw_digest(submission)
        old = known.get(submission.student)
        if not force and raw and old == (raw, context.whole):
            unchanged.append(submission.student)
            continue
        todo.append(submission)
        reasons[submission.student] = _why(submission, old, raw, context, before, force)
    return Plan(tuple(todo), tuple(unchanged), reasons)


def _why(
    submission: Submission,
    old: tuple[str, str] | None,
    raw: str,
    context: Context,
    before: Context | None,
    force: bool,
) -> str:
    if force:
        return "asked for"
    if old is None:
        return "new"
    if old == ("", ""):
        return "the grader had failed on it"
    if old[0] != raw:
        return "the notebook changed"
    parts = changed_parts(before, context) if before else []
    return f"changed: {', '.join(parts)}" if parts else "an earlier run stood under other conditions"


def _raw_digest(submission: Submission) -> str:
    """The digest of the notebook's bytes; "" for one that cannot be read plainly."""
    path = submission.path
    if path is None:
        return MISSING
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            return ""
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
