"""From a folder of submissions to results, gradebook, feedback and report: collect, grade, record, in that order."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from autograder.answers import answers_of
from autograder.course import settings
from autograder.errors import UserError
from autograder.feedback import FeedbackWriter
from autograder.fingerprints import Context, changed_parts, context_of
from autograder.gradebook import GradebookWriter
from autograder.layout import write_autograded
from autograder.local_engine import Assignment, Task, cores
from autograder.masters import solution, spec
from autograder.release import data_files, write_kit
from autograder.report import build_report
from autograder.results import SubmissionResult
from autograder.sandbox.policy import Limits
from autograder.store import ResultStore
from autograder.student import Student
from autograder.submissions import MAX_BYTES, Submission, collect
from autograder.testing import run_test, set_salt, tests_of

STORE = ".results.db"


@dataclass(frozen=True)
class Plan:
    """What a run will do: the tasks, what stays as it is, and why anything is done again."""

    tasks: tuple[Task, ...]
    unchanged: tuple[str, ...]
    reasons: dict[str, str]


@dataclass(frozen=True)
class ClassResult:
    """A graded class: one result a student, and what was done again and why."""

    lab: str
    results: tuple[SubmissionResult, ...]
    plan: Plan
    out: Path
    report: Path


def limits_of(lab: str) -> Limits:
    """The limits of a lab: the course's, with what the master's header changes."""
    from autograder.masters import read_master

    return Limits(**{**DEFAULT_LIMITS, **dict(read_master(lab).metadata.get("course", {}).get("limits", {}))})


#: A graded cell computes for seconds at most; the harness's own defaults are wider.
DEFAULT_LIMITS = {"cell_seconds": 15.0, "call_seconds": 10.0, "total_seconds": 120.0, "cpu_seconds": 120}


def plan(
    submissions: Iterable[Submission],
    store: ResultStore,
    context: Context,
    before: Context | None,
    force: bool = False,
) -> Plan:
    """Compare each submission with its finished result; what is the same stays."""
    known = {} if force else store.fingerprints(context.lab)
    tasks, unchanged, reasons = [], [], {}
    for submission in submissions:
        raw = _raw_digest(submission)
        old = known.get(submission.student)
        if old is not None and old == (raw, context.whole) and raw:
            unchanged.append(submission.student)
            continue
        earlier = store.get(context.lab, submission.student) if old is not None else None
        tasks.append(Task(submission, earlier))
        reasons[submission.student] = _why(old, raw, context, before, force)
    return Plan(tuple(tasks), tuple(unchanged), reasons)


def _why(old: tuple[str, str] | None, raw: str, context: Context, before: Context | None, force: bool) -> str:
    if force:
        return "asked for"
    if old is None:
        return "new"
    if old[0] != raw:
        return "the notebook changed"
    parts = changed_parts(before, context) if before else []
    return f"changed: {', '.join(parts)}" if parts else "an earlier run stood under other conditions"


def _raw_digest(submission: Submission) -> str:
    """The digest of the notebook's bytes; "" for one that is missing or cannot be read plainly."""
    path = submission.path
    try:
        if path is None or path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            return ""
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


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
    planned: Callable[[Plan], None] = lambda plan: None,
    graded: Callable[[SubmissionResult], None] = lambda result: None,
) -> ClassResult:
    """Grade a class of ``lab`` (full name) and record everything under ``out``.

    ``planned`` and ``graded`` are told what will be done and each result as it is recorded. Raises
    ``UserError`` in one sentence; what was recorded before stays recorded.
    """
    submissions = collect(submitted, lab)
    _validate(lab)
    limits = limits or limits_of(lab)
    _make_writable(out)
    context = context_of(lab, limits, sandbox)
    kit_home = Path(tempfile.mkdtemp(prefix="coursekit-"))
    try:
        write_kit(lab, kit_home / "coursekit")
        assignment = Assignment(
            lab, limits, kit_home / "coursekit", tuple(data_files(lab)), sandbox, settings().salt
        )
        with ResultStore(out / STORE) as store, GradebookWriter(out / "gradebook.db", spec(lab)) as gradebook:
            saved = store.context(lab)
            todo = plan(submissions, store, context, Context(**saved) if saved else None, force)
            planned(todo)
            store.put_context(lab, asdict(context))
            gradebook.add_students(submission.student for submission in submissions)
            feedback = FeedbackWriter(spec(lab), out)
            for result in _engine(engine)(todo.tasks, assignment, jobs or cores()):
                _record(result, gradebook, feedback, store, out)
                graded(result)
            store.forget_others(lab, {submission.student for submission in submissions})
            report = build_report(store.all(lab), spec(lab), out, known_answers=known_answers(lab))
            results = tuple(replace(result, notebook="") for result in store.all(lab))
            return ClassResult(lab, results, todo, out, report)
    finally:
        shutil.rmtree(kit_home, ignore_errors=True)


def _record(
    result: SubmissionResult,
    gradebook: GradebookWriter,
    feedback: FeedbackWriter,
    store: ResultStore,
    out: Path,
) -> None:
    """Gradebook, notebook, feedback, and last the store: a run killed in between does this one again."""
    gradebook.write(result)
    write_autograded(result, out)
    feedback.write(result, gradebook.marks(result.student))
    store.put(result)


def known_answers(lab: str) -> list[str]:
    """Sources that two students may share without having shared them: the catalogue of answers and the master's."""
    from autograder.simulate import solved, source_of

    sources = [
        source_of(answer) for by in answers_of(lab).values() for answers in by.values() for answer in answers
    ]
    return [source for source in sources if source] + list(solved(lab).values())


def _validate(lab: str) -> None:
    """Refuse to grade with tests that the master itself does not pass."""
    set_salt(settings().salt)
    for question, tests in tests_of(lab).items():
        student = Student.local_namespace(solution(lab), question)
        for test in tests:
            if not run_test(test, student).result.passed:
                raise UserError(
                    f"The master of {lab} fails its own hidden test {test.name}: nothing was graded "
                    f"(see `autograder audit {lab[:2]}`)."
                )
    missing = [question for question, _ in spec(lab).questions if question not in tests_of(lab)]
    if missing:
        raise UserError(f"Lab {lab} has no hidden tests for {', '.join(missing)}: nothing was graded.")


def _make_writable(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".writable"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        raise UserError(f"The folder {out} cannot be written to: {error.strerror}.") from None


def _engine(name: str) -> Callable:
    if name == "local":
        from autograder.local_engine import grade_all

        return grade_all
    raise UserError(f"There is no engine “{name}”: use local, dask or dask:tcp://HOST:PORT.")
