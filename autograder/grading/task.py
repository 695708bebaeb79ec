"""The unit of work: a submission's bytes and what is known of it, and what a worker must know of the assignment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autograder.course.policy import Settings
from autograder.grading.cache_keys import Context
from autograder.grading.repair import Template
from autograder.grading.submissions import Submission, Unreadable, read
from autograder.results import SubmissionResult
from autograder.sandbox.limits import Limits


@dataclass(frozen=True)
class Task:
    """One submission to grade. Its bytes travel with it, so that a worker needs none of the class's folders.

    ``raw`` is None when there is no notebook, or none that can be read; ``trouble`` then says why.
    ``earlier`` is the finished result of an earlier run.
    """

    submission: Submission
    raw: bytes | None = None
    trouble: str = ""
    earlier: SubmissionResult | None = None

    @classmethod
    def load(cls, submission: Submission, earlier: SubmissionResult | None = None) -> Task:
        """Read the submission's notebook."""
        if submission.path is None:
            return cls(submission, earlier=earlier)
        try:
            return cls(submission, read(submission), earlier=earlier)
        except Unreadable as reason:
            return cls(submission, trouble=str(reason), earlier=earlier)


@dataclass(frozen=True)
class Assignment:
    """What a worker needs to know once: the lab, its limits and context, the course's policy, kit and data.

    ``root`` is the course's folder: the masters, and the hidden tests that go with them.
    """

    lab: str
    limits: Limits
    sandbox: bool
    settings: Settings
    context: Context
    template: Template
    root: Path
    kit: Path
    data: tuple[Path, ...]
