"""Turns a folder of submissions into results, gradebook, feedback and report: validate, plan, execute, record."""

from __future__ import annotations

import autograder.startup.one_thread  # noqa: F401 (before NumPy: the workers are forked from this process)

# isort: split
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course.masters import course_root, use_root
from autograder.course.student_files import data_files, refuse_world_readable, write_kit
from autograder.errors import UserError
from autograder.files import require_apart, sole_writer
from autograder.grading.submissions import Submission, find_submissions, read_class
from autograder.grading.zygotes import cores, zygote_of
from autograder.results import SubmissionResult
from autograder.run.store import STORE, ResultStore
from autograder.sandbox.host.session import Zygote
from autograder.sandbox.limits import Limits

# Stages import their slow modules themselves: the zygote starts meanwhile.
if TYPE_CHECKING:
    from autograder.gradebook.final_points import TeacherMarks
    from autograder.grading.task import Assignment, Task
    from autograder.run.plan import Plan

    #: (tasks, assignment, number of workers) -> a context with the results in any order; leaving it ends the workers.
    Engine = Callable[[Iterable[Task], Assignment, int], AbstractContextManager[Iterator[SubmissionResult]]]


@dataclass(frozen=True)
class ClassResult:
    """A graded class: one result for each student, which were graded again and why, and where the grader itself failed."""

    lab: str
    results: tuple[SubmissionResult, ...]
    plan: Plan
    #: student -> the questions that were tested in this run.
    redone: dict[str, tuple[str, ...]]
    faults: tuple[SubmissionResult, ...]
    out: Path
    report: Path
    #: The marks that people entered, and each student's lateness.
    marks: dict[str, TeacherMarks] = field(default_factory=dict)
    #: Students of an earlier run with a submission then and no folder now.
    gone: tuple[str, ...] = ()


def run(
    lab: str,
    submitted: Path,
    out: Path,
    *,
    jobs: int | None = None,
    engine: str = "local",
    force: bool = False,
    students: Collection[str] | None = None,
    planned: Callable[[Plan], None] = lambda plan: None,
    graded: Callable[[SubmissionResult], None] = lambda result: None,
) -> ClassResult:
    """Grade a class of ``lab`` (full name) and record everything under ``out``.

    ``students`` are those to grade (None: the whole class). ``planned`` is called with the plan, ``graded`` with each
    recorded result. Raises ``UserError`` in one sentence; results recorded before stay.

    Each notebook is read for the plan and again before it is graded; that second content counts.
    """
    use_root(course_root())
    refuse_world_readable(submitted, out)
    _refuse_own_folders(submitted, out)
    class_ = [s for s in find_submissions(submitted, lab) if students is None or s.student in students]
    out.mkdir(parents=True, exist_ok=True)
    require_apart(out, (submission.student for submission in class_))
    private = (submitted, out)
    with ExitStack() as stack:
        home = tempfile.TemporaryDirectory(prefix="coursekit-", ignore_cleanup_errors=True)
        kit = Path(stack.enter_context(home), "coursekit")
        write_kit(lab, kit)  # as the lab's students have it
        zygote = zygote_of(lab, kit, data_files(lab), Limits(), private)
        stack.callback(zygote.close)
        notebooks = read_class(class_, lab)
        if engine == "local" and (force or not (out / STORE).exists()):
            zygote.launch()  # early: the following imports take seconds
        stack.enter_context(sole_writer(out))

        from autograder.course.policy_file import class_list, limits_of
        from autograder.grading.task import Assignment
        from autograder.run.plan import make_plan

        names = [one.student for one in class_list().absent(submission.student for submission in class_)]
        absent = [Submission(name, None) for name in names if students is None or name in students]
        class_, notebooks = class_ + absent, notebooks + read_class(absent, lab)
        grade_all = engine_named(engine, zygote)
        with ResultStore(out / STORE) as store:
            before, keys = store.context(lab), store.keys(lab)
        assignment = Assignment.of(lab, limits_of(lab), kit, private)
        # The hidden tests are checked only if something that they depend on has changed since the last run.
        if before != assignment.context:
            from autograder.run.preflight import check_lab

            check_lab(lab)
        plan = make_plan(notebooks, keys, before, assignment.context, force)
        results: Iterator[SubmissionResult] = iter(())
        if plan.to_grade:
            if engine == "local":
                zygote.launch()
                if len(plan.to_grade) >= _LARGE:
                    from autograder.questions.engine.diagnosis import run_known_answers

                    run_known_answers(lab)  # once for all workers
            tasks, most = _tasks(plan, lab, out, force), min(jobs or cores(), len(plan.to_grade))
            # Workers are forked before the store is opened and before the writer's imports.
            results = stack.enter_context(grade_all(tasks, assignment, most))
        planned(plan)

        from autograder.run.recorder import Recorder

        # Only here is anything written under ``out``: each result as it comes, then the class's files.
        with ResultStore(out / STORE) as store, Recorder(lab, out, store) as recorder:
            store.put_context(assignment.context)
            recorder.begin(class_, {notebook.submission.student for notebook in plan.to_grade})
            for result in results:
                recorder.record(result)
                graded(result)
            everybody = {submission.student for submission in class_}
            gone = store.forget_others(lab, everybody) if students is None else []
            report, all_results, marks = recorder.finish()
    redone, faults = recorder.redone, tuple(recorder.faults)
    return ClassResult(lab, tuple(all_results), plan, redone, faults, out, report, marks, tuple(gone))


#: In a class of this size, nearly every misconception's results are needed.
_LARGE = 20
#: Folders of ``out`` with a subfolder for each student or lab.
_OWN = ("autograded", "feedback", "report", "faults")


def _refuse_own_folders(submitted: Path, out: Path) -> None:
    """Refuse folders in which the output would be taken for students in the next run."""
    there, ours = submitted.resolve(), out.resolve()
    if there == ours or there in ours.parents or any((ours / own) in (there, *there.parents) for own in _OWN):
        raise UserError(
            f"What is written to {out} would be taken for students of {submitted}: choose another folder for --out, "
            "such as one beside it."
        )


def engine_named(name: str, zygote: Zygote) -> Engine:
    """The engine ``local``, ``dask`` (a cluster on this machine) or ``dask:ADDRESS``. Raises ``UserError`` for other names.

    ``zygote`` is this machine's, for the local engine.
    """
    if name == "local":
        from autograder.run.local_engine import grade_all as grade_here

        return partial(grade_here, zygote=zygote)
    if name == "dask" or name.startswith("dask:"):
        try:
            from autograder.run.dask_engine import grade_all as grade_on_dask
        except ImportError:
            raise UserError(
                "The Dask engine needs the package distributed: pip install 'bigrams-to-translators[dask]'."
            ) from None
        return partial(grade_on_dask, address=name.removeprefix("dask").removeprefix(":"))
    raise UserError(f"There is no engine “{name}”: use local, dask or dask:tls://HOST:PORT.")


def _tasks(plan: Plan, lab: str, out: Path, force: bool) -> Iterator[Task]:
    """Yield the tasks. Each notebook is read only when its task is requested: a class may not fit into memory."""
    from autograder.grading.task import Task

    with ResultStore(out / STORE) as store:
        for notebook in plan.to_grade:
            earlier = None if force else store.get(lab, notebook.submission.student)
            yield Task(notebook.with_bytes(), None if earlier is None or earlier.fault else earlier)
