"""What an answer earns: whoever is recognised pays the misconception's cost, everybody else gets what holds.

* A right answer keeps all points.
* One with a name pays what the misconception costs, whatever was drawn.
* One without a name gets the weights of the families that hold, less a share for each rule that it breaks
  (``judge.RULES``). It never keeps more than the dearest misconception whose failed families it all fails, too: who makes
  that slip and another one does not fare better.
"""

from __future__ import annotations

from collections.abc import Mapping

from autograder.questions.engine.judge import RULES, Judgement, Observations, known
from autograder.questions.engine.question import Misconception, Question


def points_earned(
    question: Question,
    salt: str,
    points: float,
    judgement: Judgement,
    costs: Mapping[str, float] | None = None,
) -> float:
    """The points of an answer, rounded to hundredths. ``costs``: other costs than the file's, by title.

    ::

        points_earned(question, salt, 5.0, judge(question, salt, student), {"σ is not squared": 1.0})
    """
    if judgement.right:
        return float(points)
    if judgement.misconception is not None:
        return _kept(points, judgement.misconception, costs)
    caps = [
        _kept(points, one.misconception, costs)
        for one in known(question, salt)
        if one.seen.failed and one.seen.failed <= judgement.seen.failed
    ]
    return round(min([points * share_of_weights(question, judgement.seen), *caps]), 2)


def share_of_weights(question: Question, seen: Observations) -> float:
    """The share of the weights that holds, less the shares of the broken rules."""
    failed, broken = seen.failed, seen.broken
    total = sum(part.weight for part in question.parts)
    held = sum(part.weight for part in question.parts if part.name not in failed)
    return max(0.0, held / total - sum(RULES[name][1] for name in broken))


def _kept(points: float, misconception: Misconception, costs: Mapping[str, float] | None) -> float:
    cost = (costs or {}).get(misconception.title, misconception.costs)
    return round(max(0.0, points - cost), 2)
