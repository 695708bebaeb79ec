"""Statistics of a class's scores and of the questions."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.results import SubmissionResult

#: With fewer submissions a correlation tells little; the report says so.
FEW = 12


@dataclass(frozen=True)
class QuestionStatistics:
    """The statistics of one question. Shares are between 0 and 1."""

    name: str
    max_points: float
    #: The mean share of the points earned: the "difficulty" of classical test theory (high means easy).
    mean_share: float
    full_share: float
    zero_share: float
    #: The correlation of the question's points with the points of all other questions; None if undefined.
    discrimination: float | None


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Pearson's correlation; None with fewer than three pairs or no spread."""
    if len(one) < 3:
        return None
    try:
        return statistics.correlation(one, other)
    except statistics.StatisticsError:
        return None


def question_statistics(
    results: Sequence[SubmissionResult], questions: Sequence[tuple[str, float]]
) -> list[QuestionStatistics]:
    """Difficulty and discrimination of each question over the given submissions.

    The discrimination is the corrected item-total correlation: the total excludes the question itself, which would
    correlate with itself (Henrysson, 1963).
    """
    points = [{q.name: float(q.points) for q in result.questions} for result in results]
    if not points:
        return []
    table = []
    for name, most in questions:
        earned = [row.get(name, 0.0) for row in points]
        rest = [sum(row.values()) - mark for row, mark in zip(points, earned, strict=True)]
        shares = [mark / most if most else 0.0 for mark in earned]
        table.append(
            QuestionStatistics(
                name,
                most,
                mean_share=statistics.fmean(shares),
                full_share=sum(share >= 1 - 1e-9 for share in shares) / len(shares),
                zero_share=sum(share <= 1e-9 for share in shares) / len(shares),
                discrimination=correlation(earned, rest),
            )
        )
    return table


def histogram(scores: Sequence[float], most: float, bins: int = 10) -> list[int]:
    """The number of scores in each bin from 0 to ``most``. The last bin includes ``most``."""
    counts = [0] * bins
    for score in scores:
        place = int(bins * score / most + 1e-9) if most else 0
        counts[min(max(place, 0), bins - 1)] += 1
    return counts
