"""From a folder of submissions to results, gradebook, feedback and report: collect, grade, record, in that order."""

from __future__ import annotations

import autograder.startup.one_thread  # noqa: F401 (before NumPy: the workers are copies of this process)

# isort: split
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course.masters import course_root, use_root
from autograder.course.visible_files import data_files, write_kit
from autograder.errors import UserError
from autograder.files import sole_writer
from autograder.grading.submissions import Submission, Unreadable, collect, read
from autograder.grading.zygotes import Zygotes, cores
from autograder.results import SubmissionResult
from autograder.run.store import ResultStore
from autograder.sandbox.limits import Limits

if TYPE_CHECKING:
    from autograder.grading.cache_keys import Context
    from autograder.grading.task import Assignment, Task
    from autograder.run.local_engine import LocalEngine
    from autograder.run.plan import Plan

STORE = ".results.db"


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

    Much of a small class's time is imports. So the sandbox's first process starts as early as can be, the
    workers are copied from this process before it imports what only the writer needs, and all go on side by side.
    """
    use_root(course_root())
    submissions = [s for s in collect(submitted, lab) if students is None or s.student in students]
    _make_writable(out)
    with ExitStack() as stack:
        kit = stack.enter_context(_kit(lab))
        warm = _Warm(lab, kit, submissions, jobs, sandbox) if engine == "local" else None
        if warm is not None:
            stack.callback(warm.close)
            if force or not (out / STORE).exists():
                warm.begin(submissions)
        from autograder.course.policy_file import limits_of
        from autograder.grading.cache_keys import Context, context_of
        from autograder.run.engines import engine_named
        from autograder.run.plan import make_plan

        grade_all = engine_named(engine)
        context = context_of(lab, limits or limits_of(lab), sandbox)
        stack.enter_context(sole_writer(out))
        with ResultStore(out / STORE) as store:
            saved = store.context(lab)
            before = Context(**saved) if saved else None
            plan = make_plan(submissions, store, context, before, force)
        if before is None or before.whole != context.whole:
            from autograder.run.preflight import validate

            validate(lab)
        if warm is not None and plan.todo:
            warm.fork(grade_all, plan.todo)  # type: ignore[arg-type]
        store = stack.enter_context(ResultStore(out / STORE))
        store.put_context(lab, asdict(context))
        tasks = _tasks(plan.todo, store, lab, force)
        results = grade_all(tasks, _assignment(lab, limits, sandbox, context, kit), jobs or cores())
        from autograder.run.recorder import Recorder

        planned(plan)
        recorder = stack.enter_context(Recorder(lab, out, store))
        recorder.begin(submission.student for submission in submissions)
        for result in results:
            recorder.record(result)
            graded(result)
        if students is None:
            store.forget_others(lab, {submission.student for submission in submissions})
        report, everybody = recorder.finish()
        return ClassResult(lab, tuple(everybody), plan, recorder.redone, tuple(recorder.faults), out, report)


class _Warm:
    """What can be made ready before anybody knows the assignment: the zygotes, then the workers."""

    def __init__(
        self, lab: str, kit: Path, submissions: Sequence[Submission], jobs: int | None, sandbox: bool
    ):
        self.lab = lab
        self.jobs = min(jobs or cores(), len(submissions)) or 1
        self.zygotes = Zygotes.of(lab, kit, data_files(lab), Limits(), sandbox)
        self.engine: LocalEngine | None = None
        self.begun = False

    def begin(self, submissions: Sequence[Submission]) -> None:
        """Have the zygotes start that the submissions will need, unless they have."""
        if self.begun:
            return
        self.begun = True
        self.zygotes.plain.launch()
        for submission in submissions:
            if self.zygotes.with_torch is None and (raw := _peek(submission)):
                self.zygotes.expect(raw)

    def fork(self, engine: LocalEngine, todo: Sequence[Submission]) -> None:
        """Make the workers."""
        self.begin(todo)
        self.engine = engine
        engine.fork_workers(self.lab, self.zygotes, min(self.jobs, len(todo)))

    def close(self) -> None:
        if self.engine is not None:
            self.engine.close()
        self.zygotes.close()


def _peek(submission: Submission) -> bytes:
    try:
        return read(submission) if submission.path is not None else b""
    except Unreadable:
        return b""


def _tasks(todo: Sequence[Submission], store: ResultStore, lab: str, force: bool) -> Iterator[Task]:
    """The tasks, each read when it is its turn: a class may be larger than the memory.

    First those that do not wait for PyTorch.
    """
    for submission in sorted(todo, key=lambda submission: b"torch" in _peek(submission)):
        yield load(submission, store, lab, force)


def load(submission: Submission, store: ResultStore, lab: str, force: bool = False) -> Task:
    """A task with what is known of the submission (nothing, when it is to be graded afresh)."""
    from autograder.grading.task import Task

    earlier = None if force else store.get(lab, submission.student)
    return Task.load(submission, earlier if earlier is not None and not earlier.fault else None)


@contextmanager
def _kit(lab: str) -> Iterator[Path]:
    """The student kit, cut to the lab, in a folder of its own."""
    home = Path(tempfile.mkdtemp(prefix="coursekit-"))
    try:
        write_kit(lab, home / "coursekit")
        yield home / "coursekit"
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _assignment(lab: str, limits: Limits | None, sandbox: bool, context: Context, kit: Path) -> Assignment:
    """What workers need."""
    from autograder.course.policy_file import limits_of, settings
    from autograder.grading.repair import Template
    from autograder.grading.task import Assignment

    limits = limits or limits_of(lab)
    template = Template.of(lab)
    return Assignment(
        lab, limits, sandbox, settings(), context, template, course_root(), kit, tuple(data_files(lab))
    )


def _make_writable(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out) as probe:
            probe.write(b"\0" * 4096)
    except OSError as error:
        raise UserError(f"The folder {out} cannot be written to: {error.strerror}.") from None
