"""Describes what is wrong, and where, with an answer that matches no misconception."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coursekit.checks.compare import Outcome
from coursekit.checks.symptoms import VAGUE, lower_first

from autograder.judging.run import TestRun
from autograder.judging.time_guard import JudgeClock
from autograder.questions.engine.symptoms import Symptom
from autograder.questions.engine.wrong_calls import shared_by_wrong_calls


def cause_of(
    runs: Sequence[TestRun], symptom: Symptom | None, shown_error: str, where: str = ""
) -> str | None:
    """What is wrong with an answer that matches no misconception, and which rules it breaks; None if nothing is, or if it is unknown."""
    failed = [run for run in runs if not run.result.passed]
    if not failed:
        return None
    error = f"it raises an error: {shown_error.splitlines()[-1]}." if shown_error else ""
    if symptom is not None:
        sentence = f"{symptom.sentence} Elsewhere {error}" if error else symptom.sentence
    elif not (sentence := _as_sentence(error.rstrip(".") or failed[0].result.message)):
        return None
    sentence = f"{where}: {lower_first(sentence)}" if where else sentence
    broken = [_as_sentence(run.result.message) for run in failed if run.test.deducts and run.ran]
    return " ".join(dict.fromkeys([sentence, *filter(None, broken)]))


def _as_sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}." if message else ""


def where_wrong(
    clock: JudgeClock,
    lab: str,
    question: str,
    runs: Sequence[TestRun],
    seen: Mapping[int, Outcome],
    symptom: Symptom | None,
) -> str:
    """Where an answer goes wrong: what its wrong calls share, or the one or two parts that alone fail or pass; else "".

    Parts that pass tell little without a telling symptom: their inputs may be those that hide the mistake.
    """
    parts = [run for run in runs if run.test.weight]
    failed = [run for run in parts if not run.result.passed]
    passed = [run for run in parts if run.result.passed]
    if not failed or not all(run.ran for run in runs):
        return ""
    if shared := clock.tried(lambda: shared_by_wrong_calls(lab, question, seen), ""):
        return f"Wrong only where {shared}"
    few = min(failed, passed, key=len)
    if not 0 < len(few) <= 2 or (few is passed and (symptom is None or symptom.name in VAGUE)):
        return ""
    titles = " and ".join(f"“{run.test.title.rstrip('.')}”" for run in few)
    return f"Right but for {titles}" if few is failed else f"Right only in {titles}"
