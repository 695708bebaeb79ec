"""Describes the failed hidden tests of an answer by a sentence from the list in ``coursekit.checks.symptoms``."""

from __future__ import annotations

from collections.abc import Sequence

from coursekit.checks.symptoms import VAGUE, Symptom, symptom_of

from autograder.testing.expect import NOT_THE_SAME_AGAIN
from autograder.testing.run import TestRun, master_runs

__all__ = ["KEPT", "Symptom", "find_symptom", "symptom_of"]

KEPT = Symptom(
    "something kept",
    "Asked the same again, it returns something else: does it keep something of an earlier call, or draw from a generator of its own?",
)


def find_symptom(lab: str, question: str, runs: Sequence[TestRun]) -> Symptom | None:
    """The most telling symptom of the failed tests; None when there is none.

    In each failed test only the first value that differs from the master's counts, for later ones may follow from it.
    """
    if any(run.result.message == NOT_THE_SAME_AGAIN for run in runs):
        return KEPT
    shown = [
        symptom
        for run, right in zip(runs, master_runs(lab, question), strict=True)
        if not run.result.passed and (symptom := _first_difference(run, right)) is not None
    ]
    names = [symptom.name for symptom in shown]
    common = [s for s in shown if s.name not in VAGUE and names.count(s.name) * 2 >= len(names)]
    telling = common or [s for s in shown if s.name in VAGUE]
    return max(telling or shown[:1], key=lambda symptom: names.count(symptom.name), default=None)


def _first_difference(run: TestRun, right: TestRun) -> Symptom | None:
    # Arguments of a callback are no results; they may differ in a right answer.
    seen, needed = ([entry for entry in one.trace if entry.kind != "callback"] for one in (run, right))
    for entry, expected in zip(seen, needed, strict=False):
        if (entry.kind, entry.name) != (expected.kind, expected.name):
            if entry.kind == "error" or expected.kind == "error":
                return _about_errors(entry.kind, expected.kind)
            return None
        if entry.kind == "error":
            if entry.value != expected.value:
                return Symptom("another error", "It raises another kind of error than the one asked for.")
            continue
        if entry.kind == "observation":
            continue
        if symptom := symptom_of(entry.value, expected.value):
            return symptom
    return None


def _about_errors(kind: str, expected: str) -> Symptom | None:
    if expected == "error" and kind == "result":
        return Symptom("no error", "It returns a value where an error should be raised.")
    return None  # the student's error is shown itself
