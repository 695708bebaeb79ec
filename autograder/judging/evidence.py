"""Compares the values that two functions returned in the same test, to recognise a misconception."""

from __future__ import annotations

from collections.abc import Sequence

from coursekit.checks.values import as_numbers, extent, values_match

from autograder.sandbox.host.rpc import TraceEntry

__all__ = ["as_numbers", "extent", "traces_match", "values_match"]


def traces_match(first: Sequence[TraceEntry], second: Sequence[TraceEntry]) -> bool:
    """Whether two traces show the same behaviour.

    Numbers match to 1e-6 (float64) or 1e-4 (float32) relative to the largest in their array, or within an observation's
    tolerances (a missing one is 0). NaN matches NaN. An empty trace is no evidence and matches nothing.
    """
    if len(first) != len(second) or not first:
        return False
    return all(_entry_matches(a, b) for a, b in zip(first, second, strict=True))


def _entry_matches(first: TraceEntry, second: TraceEntry) -> bool:
    if (first.kind, first.name) != (second.kind, second.name):
        return False
    return values_match(first.value, second.value, first.rtol, first.atol)
