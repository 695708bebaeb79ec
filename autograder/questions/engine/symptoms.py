"""Describes an answer's failed hidden tests by a sentence from ``coursekit.checks.symptoms``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coursekit.checks.symptoms import OTHER_TYPE, VAGUE, Symptom, symptom_of

from autograder.judging.run import NOT_THE_SAME_AGAIN, TestRun, master_runs, traces_match
from autograder.sandbox.host.student import TraceEntry

__all__ = ["KEPT", "Symptom", "find_symptom", "symptom_of"]

KEPT = Symptom(
    "something kept",
    "Asked the same again, it returns something else: does it keep something of an earlier call, or draw from a generator of its own?",
)
_DIRECTIONS = {"too large", "too small"}
_EITHER = Symptom("too large or small", "The result is too large in some calls and too small in others.")


def find_symptom(lab: str, question: str, runs: Sequence[TestRun]) -> Symptom | None:
    """The most telling symptom of the failed tests, or None. More than half of the wrong calls show it, or it tells little.

    In a scenario only the first difference counts, because later ones may follow from it; elsewhere each counts. That a right
    value has another type counts only where no value is wrong.
    """
    if any(run.result.message == NOT_THE_SAME_AGAIN for run in runs):
        return KEPT
    shown = [
        symptom
        for run, right in zip(runs, master_runs(lab, question), strict=True)
        if not run.result.passed
        for symptom in _differences(run, right)
    ]
    shown = [symptom for symptom in shown if symptom.name != OTHER_TYPE] or shown
    if {symptom.name for symptom in shown} >= _DIRECTIONS:
        shown = [_EITHER if symptom.name in _DIRECTIONS else symptom for symptom in shown]
    names = [symptom.name for symptom in shown]
    common = [s for s in shown if s.name not in VAGUE and names.count(s.name) * 2 > len(names)]
    telling = common or [s for s in shown if s.name in VAGUE]
    name = max((symptom.name for symptom in telling), key=names.count, default="")
    sentences = [symptom.sentence for symptom in telling if symptom.name == name]
    return Symptom(name, _said_of_all(name, sentences)) if name else None


def _said_of_all(name: str, sentences: Sequence[str]) -> str:
    """The most frequent of a symptom's sentences, without the parts that the others do not have."""
    most = sentences[0] if name == "observed" else max(sentences, key=sentences.count)
    if name == "factor" and len(set(sentences)) > 1:
        return f"{most.rpartition(' is ')[0]} is wrong by one factor, which differs from call to call."
    parts = most.split(". ")
    agreed = [part for part in parts if all(part in sentence for sentence in sentences)]
    return f"{'. '.join(agreed).rstrip('.')}." if 0 < len(agreed) < len(parts) else most


def _differences(run: TestRun, right: TestRun) -> Iterator[Symptom]:
    """How the values of a test differ from the master's. A scenario yields only its first difference."""
    # A callback's arguments are not results: they may differ in a right answer.
    seen, needed = ([entry for entry in one.trace if entry.kind != "callback"] for one in (run, right))
    scenario = any(entry.kind == "observation" for entry in seen)
    for entry, expected in zip(seen, needed, strict=False):
        symptom = None
        if (entry.kind, entry.name) != (expected.kind, expected.name):
            if "error" in (entry.kind, expected.kind) and (
                symptom := _about_errors(entry.kind, expected.kind)
            ):
                yield symptom
            return
        if entry.kind == "error" and run.error and entry.value != expected.value:
            symptom = Symptom("another error", "It raises another kind of error than the one asked for.")
        elif entry.kind == "observation" and not traces_match([entry], [expected]):
            symptom = _of_observation(expected)
        elif entry.kind not in ("error", "observation"):
            symptom = symptom_of(entry.value, expected.value)
        if symptom:
            yield symptom
            if scenario:
                return


def _of_observation(expected: TraceEntry) -> Symptom:
    """The symptom of a scenario's wrong observation, by the name that its author gave it."""
    should = {True: "should hold", False: "should not hold"}
    is_claim = isinstance(expected.value, bool)
    return Symptom("observed", f"“{expected.name}” {should[expected.value] if is_claim else 'is not right'}.")


def _about_errors(kind: str, expected: str) -> Symptom | None:
    if expected == "error" and kind == "result":
        return Symptom("no error", "It returns a value where an error should be raised.")
    return None  # the page shows the student's error
