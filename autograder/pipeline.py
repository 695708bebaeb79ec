"""From a folder of submissions to results, gradebook, feedback and report: collect, grade, record, in that order."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from autograder.course import settings
from autograder.engines import engine_named
from autograder.errors import UserError
from autograder.fingerprints import Context, context_of
from autograder.local_engine import cores
from autograder.masters import course_root, read_master, use_root
from autograder.plan import Plan, make_plan
from autograder.recording import Recorder, sole_writer
from autograder.release import data_files, write_kit
from autograder.results import SubmissionResult
from autograder.sandbox.policy import Limits
from autograder.sanitise import Template
from autograder.store import ResultStore
from autograder.submissions import Submission, collect
from autograder.validation import validate
from autograder.work import Assignment, Task

STORE = ".results.db"

#: A graded cell computes for seconds at most; the sandbox's own defaults are wider.
DEFAULT_LIMITS = {"cell_seconds": 15.0, "call_seconds": 10.0, "total_seconds": 120.0, "cpu_seconds": 120}


@dataclass(frozen=True)
class ClassResult:
    """A graded class: one result a student, what was done again and why, and where the grader itself failed."""

    lab: str
    results: tuple[SubmissionResult, ...]
    plan: Plan
    #: student -> the questions that were tested in this run.
    redone: dict[str, tuple[str, ...]]
    faults: tuple[SubmissionResult, ...]
    out: Path
    report: Path


def limits_of(lab: str) -> Limits:
    """The limits of a lab. The master's header goes before the course's policy for all labs, its policy for this one last."""
    for_all, for_this = settings().limits_for(lab)
    header = dict(read_master(lab).metadata.get("course", {}).get("limits", {}))
    return Limits(**{**DEFAULT_LIMITS, **for_all, **header, **for_this})


def run(
    lab: str,
    submitted: Path,
    out: Path,
    *,
    jobs: int | None = None,
    engine: str = "local",
    sandbox: bool = True,
    force: bool = False,
    limits: Limits | None = None,
    students: Collection[str] | None = None,
    planned: Callable[[Plan], None] = lambda plan: None,
    graded: Callable[[SubmissionResult], None] = lambda result: None,
) -> ClassResult:
    """Grade a class of ``lab`` (full name) and record everything under ``out``.

    ``students`` are those to grade (None: the whole class). ``planned`` and ``graded`` are told what will be
    done and each result as it is recorded. Raises ``UserError`` in one sentence; what was recorded before stays
    recorded.
    """
    use_root(course_root())
    grade_all = engine_named(engine)
    submissions = [s for s in collect(submitted, lab) if students is None or s.student in students]
    context = context_of(lab, limits or limits_of(lab), sandbox)
    _make_writable(out)
    with sole_writer(out), ResultStore(out / STORE) as store:
        saved = store.context(lab)
        before = Context(**saved) if saved else None
        if before is None or before.whole != context.whole:
            validate(lab)
        plan = make_plan(submissions, store, context, before, force)
        planned(plan)
        store.put_context(lab, asdict(context))
        with Recorder(lab, out, store) as recorder, _assignment(lab, limits, sandbox, context) as assignment:
            recorder.begin(submission.student for submission in submissions)
            tasks = _tasks(plan, store, lab, force)
            for result in grade_all(tasks, assignment, jobs or cores()):
                recorder.record(result)
                graded(result)
            if students is None:
                store.forget_others(lab, {submission.student for submission in submissions})
            report = recorder.finish()
        results = tuple(replace(result, notebook="") for result in store.all(lab))
        return ClassResult(lab, results, plan, recorder.redone, tuple(recorder.faults), out, report)


def _tasks(plan: Plan, store: ResultStore, lab: str, force: bool) -> Iterator[Task]:
    """The tasks, each read when it is its turn: a class may be larger than the memory."""
    for submission in plan.todo:
        yield load(submission, store, lab, force)


def load(submission: Submission, store: ResultStore, lab: str, force: bool = False) -> Task:
    """A task with what is known of the submission (nothing, when it is to be graded afresh)."""
    earlier = None if force else store.get(lab, submission.student)
    return Task.load(submission, earlier if earlier is not None and not earlier.fault else None)


@contextmanager
def _assignment(lab: str, limits: Limits | None, sandbox: bool, context: Context) -> Iterator[Assignment]:
    """What workers need, with the kit cut to the lab in a folder of its own."""
    home = Path(tempfile.mkdtemp(prefix="coursekit-"))
    try:
        write_kit(lab, home / "coursekit")
        yield Assignment(
            lab,
            limits or limits_of(lab),
            sandbox,
            settings(),
            context,
            Template.of(lab),
            course_root(),
            home / "coursekit",
            tuple(data_files(lab)),
        )
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _make_writable(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out) as probe:
            probe.write(b"\0" * 4096)
    except OSError as error:
        raise UserError(f"The folder {out} cannot be written to: {error.strerror}.") from None
