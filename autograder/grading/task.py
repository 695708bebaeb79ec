"""The unit of work: a submission's notebook with its earlier result, and the assignment that a worker grades."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autograder.course.masters import course_root
from autograder.course.policy import Settings
from autograder.course.policy_file import settings
from autograder.course.student_files import data_files
from autograder.grading.cache_keys import Context, context_of
from autograder.grading.repair import Template
from autograder.grading.submissions import Notebook, Submission
from autograder.results import SubmissionResult
from autograder.sandbox.limits import Limits


@dataclass(frozen=True)
class Task:
    """One submission to grade. It carries its bytes, so that a worker needs none of the class's folders.

    ``earlier`` is the finished result of an earlier run. ``salt`` is set for attempts in the live class, whose verdict is
    no grade: it replaces the course's salt as the seed of the hidden inputs.
    """

    notebook: Notebook
    earlier: SubmissionResult | None = None
    salt: str = ""

    @property
    def submission(self) -> Submission:
        """The submission without its bytes."""
        return self.notebook.submission


@dataclass(frozen=True)
class Assignment:
    """The data that a worker needs once: the lab, its limits and context, and the course's policy, kit and data.

    ``root`` is the course's folder, which holds the masters and their hidden tests.
    """

    lab: str
    limits: Limits
    #: The class's folders, which submissions must not read.
    private: tuple[Path, ...]
    settings: Settings
    context: Context
    template: Template
    root: Path
    kit: Path
    data: tuple[Path, ...]

    @classmethod
    def of(cls, lab: str, limits: Limits, kit: Path, private: tuple[Path, ...]) -> Assignment:
        """The assignment from the course's current files, with the student kit in the folder ``kit``."""
        context, template = context_of(lab, limits), Template.of(lab)
        data = tuple(data_files(lab))
        return cls(lab, limits, private, settings(), context, template, course_root(), kit, data)
