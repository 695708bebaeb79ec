"""The course's rules for attempts: which are accepted, which one counts, and what its student sees."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from autograder.course.policy_file import extension_of, settings
from autograder.errors import UserError
from autograder.pages.feedback import FAULT_SENTENCE
from autograder.pages.render import duration
from autograder.results import STATUSES, SubmissionResult
from autograder.serve.fair_queue import FairQueue
from autograder.serve.journal import Attempt, Refused

#: The most waiting notebooks of one student.
WAITING_OF_ONE = 3

#: The message for every graded notebook if verdicts are "pass or fail".
ONLY_RIGHT_OR_NOT = "Your notebook was graded. A question is right when all of its tests pass."


def closing_of(lab: str, student: str) -> float | None:
    """When the lab closes for a student, in seconds since 1970; None if it does not."""
    closes = settings().closes(lab, extension_of(lab, student))
    return closes.replace(tzinfo=UTC).timestamp() if closes is not None else None


def check_policy(labs: Sequence[str]) -> None:
    """Raise ``UserError`` if the policy for these labs cannot be carried out."""
    for lab in labs:
        if settings().live_of(lab).verdicts == "after closing" and settings().closes(lab) is None:
            raise UserError(
                f"Verdicts on {lab} are shown “after closing”, but course.toml does not say when it closes: "
                f"add closes to [labs.{lab[:2]}], or choose other verdicts."
            )


def may_hand_in(lab: str, student: str, queue: FairQueue, earlier: Sequence[Attempt]) -> None:
    """Raise ``Refused``, with the reason and what to do, if a student may not hand in now."""
    now, policy = time.time(), settings().live_of(lab)
    closing = closing_of(lab, student)
    if closing is not None and now > closing:
        raise Refused(
            f"This lab closed on {clock(closing)}. If you had a reason, please talk to your teacher."
        )
    used = sum(attempt.counted for attempt in earlier)
    if policy.attempts is not None and used >= policy.attempts:
        raise Refused(f"You have used all {policy.attempts} attempts at this lab.")
    if earlier and (pause := earlier[-1].received + 60 * policy.pause_minutes - now) > 0:
        raise Refused(f"Please wait {_in_words(pause)} before your next attempt.", pause)
    if queue.waiting_of(student) >= WAITING_OF_ONE:
        soon = queue.seconds_for(len(queue))
        raise Refused(
            f"{WAITING_OF_ONE} of your notebooks still wait: hand in again when one is graded.", soon
        )


def counting(lab: str, attempts: Sequence[Attempt]) -> Attempt | None:
    """The student's attempt that counts for the grade; None without attempts.

    A readable attempt is preferred to an unreadable one. If the best counts, penalties for lateness are subtracted first,
    and of equal attempts the latest counts.
    """
    graded = [attempt for attempt in attempts if attempt.judged]
    if not graded:
        return attempts[-1] if attempts else None
    if settings().live_of(lab).counts == "last":
        return graded[-1]
    own = due_of(lab, graded[0].student)
    return max(graded, key=lambda attempt: (_worth(attempt, own), attempt.number))


def due_of(lab: str, student: str) -> datetime | None:
    """When a lab is due for a student, in UTC without a zone; None without a due date."""
    due = settings().due(lab)
    longer = extension_of(lab, student) if due is not None else None
    return due + longer if due is not None and longer else due


def _worth(attempt: Attempt, due: datetime | None) -> float:
    """The points of an attempt minus its penalty for lateness. ``due`` includes the student's extension."""
    if due is None:
        return attempt.score
    late = attempt.received - due.replace(tzinfo=UTC).timestamp()
    return attempt.score - (settings().penalty(attempt.lab, attempt.score, late, due) or 0.0)


def shows_points(lab: str, student: str) -> bool:
    """Whether a student may see the points and causes of a verdict now."""
    verdicts, closing = settings().live_of(lab).verdicts, closing_of(lab, student)
    return verdicts == "at once" or (closing is not None and time.time() > closing)


def card_of(attempt: Attempt, result: SubmissionResult | None, used: int, queue: FairQueue) -> dict[str, Any]:
    """An attempt as its student sees it, as JSON. ``used`` is its number among the attempts that count."""
    policy = settings().live_of(attempt.lab)
    card: dict[str, Any] = {
        "lab": attempt.lab,
        "receipt": attempt.receipt,
        "received": clock(attempt.received),
        "number": attempt.number,
        "attempt": used,
        "of": policy.attempts,
        "state": "waiting",
        "questions": [],
    }
    if result is None or attempt.graded is None:
        ahead = queue.ahead_of(attempt) or 0
        return card | {"ahead": ahead, "seconds": math.ceil(queue.seconds_for(ahead))}
    points = shows_points(attempt.lab, attempt.student)
    if not points and policy.verdicts == "after closing":
        closing = closing_of(attempt.lab, attempt.student)
        when = f" on {clock(closing)}" if closing is not None else ""
        message = f"You will see the verdict when the lab has closed{when}."
        return card | {"state": "kept", "message": message}
    questions = tuple(replace(q, points=attempt.points.get(q.name, q.points)) for q in result.questions)
    return card | _verdict(replace(result, score=attempt.score, questions=questions), points)


def _verdict(result: SubmissionResult, points: bool) -> dict[str, Any]:
    """A verdict as JSON: with points and causes, or only which questions are right.

    The second form shows the status only if nothing ran, because the status can depend on a hidden input.
    """
    message = FAULT_SENTENCE if result.fault else STATUSES[result.status].for_student
    if not points and not result.fault and result.readable:
        message = ONLY_RIGHT_OR_NOT
    verdict: dict[str, Any] = {"state": "graded", "message": message}
    if points:
        verdict |= {"score": result.score, "max_score": result.max_score, "notes": list(result.notes)}
    verdict["questions"] = [{"name": q.name, "passed": q.is_right} for q in result.questions]
    for card, q in zip(verdict["questions"], result.questions if points else (), strict=False):
        card |= {"points": q.points, "max_points": q.max_points, "cause": q.cause or "", "hint": q.hint or ""}
    return verdict


def clock(when: float) -> str:
    """A time in the course's time zone, for sentences."""
    local = settings().local(datetime.fromtimestamp(when, UTC).replace(tzinfo=None))
    return f"{local.day} {local:%B, %H:%M:%S}"


def _in_words(seconds: float) -> str:
    rounded = math.ceil(seconds)
    if rounded < 60:
        return f"{rounded} second{'s' if rounded != 1 else ''}"
    return duration(math.ceil(rounded / 60) * 60)
