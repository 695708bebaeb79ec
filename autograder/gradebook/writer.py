"""Writes results into nbgrader's gradebook.db: the rows that nbgrader would write, one transaction for each result.

The models are nbgrader's own (``nbgrader.api``), so Formgrader and ``nbgrader export`` can use the file. Entries by people
(manual scores, comments, extra credit, extensions, late penalties) are never overwritten.
"""

from __future__ import annotations

import datetime
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
from nbgrader import api
from nbgrader.utils import compute_checksum
from sqlalchemy import create_engine, event, inspect, select, text, update
from sqlalchemy.engine import URL
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from autograder.course.lab import LabSpec
from autograder.errors import GradingError, database_error
from autograder.files import folder_name, parse_time
from autograder.gradebook.cells import (
    LabCells,
    find_or_insert,
    insert_rows,
    lab_cells,
    save_lab,
    select_rows,
)
from autograder.gradebook.final_points import CellPoints, TeacherMarks
from autograder.results import QuestionResult, SubmissionResult

#: (score, seconds late, due date of this student) -> points to subtract, or None.
LatePenalty = Callable[[float, float, datetime.datetime], float | None]

#: Id of a submitted notebook -> cell -> row.
Rows = dict[str, dict[str, Any]]
#: What people enter in the row of a grade or a comment.
_NOTHING = dict.fromkeys(("manual_score", "extra_credit", "manual_comment"))

#: Student -> length of the extension; None if the course gives none.
Extension = Callable[[str], datetime.timedelta | None]


class GradebookWriter(AbstractContextManager["GradebookWriter"]):
    """The only writer of a ``gradebook.db``: a context manager, one for each lab and run.

    ``due`` (UTC, without a zone), ``extension`` and ``late_penalty`` come from the course's policy. Without a value from the
    policy, entries by people stay, and earlier values from the policy are removed.
    Raises GradingError for errors that a user can fix.
    """

    def __init__(
        self,
        path: Path,
        lab_spec: LabSpec,
        *,
        due: datetime.datetime | None = None,
        extension: Extension = lambda student: None,
        late_penalty: LatePenalty | None = None,
        busy_seconds: float = 20.0,
    ) -> None:
        self.path = Path(path)
        self.lab = lab_cells(lab_spec)
        self._extension = extension
        self._late_penalty = late_penalty
        self._engine = _engine(self.path, busy_seconds)
        try:
            with self._transaction() as session:
                _prepare_schema(session, self.path)
                self._saved = save_lab(session, self.lab)
                self._write_due(session, due)
        except BaseException:
            self.close()
            raise

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._engine.dispose()

    def write(self, result: SubmissionResult, *, regraded: Collection[str] | None = None) -> TeacherMarks:
        """Record one submission in one transaction. Returns the marks that people entered for it.

        After regrading, nbgrader asks a person to check every manually graded cell again. ``regraded`` limits this to the
        questions and written answers that were graded again (None: all). If the grader itself failed, every cell waits
        for a person.
        """
        student, untouched = folder_name(result.student), _untouched(self.lab, result)
        scores = _auto_scores(self.lab, result, untouched)
        # The questions that keep their points but wait for a person.
        asked = {q.name: _suggestion(q) for q in result.questions if q.in_question}

        def grade(name: str, old: Any) -> dict[str, Any]:
            auto_score, question = scores[name], self.lab.question_of.get(name, name)
            manual = None if old is None else old.manual_score
            needs_person = manual is not None or auto_score is None or question in asked
            again = regraded is None or question in regraded
            if old is not None and not again and old.auto_score == auto_score:
                needs_person = old.needs_manual_grade
            return {"auto_score": auto_score, "needs_manual_grade": needs_person}

        def comment(name: str, old: Any) -> dict[str, Any]:
            return {"auto_comment": "No response." if untouched.get(name) else asked.get(name)}

        with self._transaction() as session:
            came = parse_time(result.submitted_at)
            [row] = self._submissions(session, student) or self._create(session, student, came)
            if row.timestamp != came:
                session.execute(update(api.SubmittedAssignment), [{"id": row.id, "timestamp": came}])
                row.timestamp = came
            grades = self._save_rows(session, api.Grade, row.notebook_id, grade)
            comments = self._save_rows(session, api.Comment, row.notebook_id, comment)
            return self._marks(session, {student: result.student}, [row], grades, comments)[student]

    def overrule(self, student: str, question: str, points: float, comment: str) -> None:
        """Enter a manual score and comment for a question, as Formgrader would."""
        test_cell = next(cell for cell, asked in self.lab.question_of.items() if asked == question)
        with self._transaction() as session:
            for row in self._submissions(session, folder_name(student)):
                grade = self._rows(session, api.Grade, [row.notebook_id])[row.notebook_id][test_cell]
                entered = {"id": grade.id, "manual_score": points, "needs_manual_grade": False}
                session.execute(update(api.Grade), [entered])
                note = self._rows(session, api.Comment, [row.notebook_id])[row.notebook_id].get(question)
                if note is not None:
                    session.execute(update(api.Comment), [{"id": note.id, "manual_comment": comment}])

    def all_marks(self) -> dict[str, TeacherMarks]:
        """Stored name -> the marks that people entered, for every student with a submission of the lab."""
        with self._transaction() as session:
            return self._marks(session, None, *self._everything(session))

    def agrees(self, result: SubmissionResult, marks: TeacherMarks) -> bool:
        """Whether the automatic scores in the gradebook are those of the result."""
        wanted, there = _auto_scores(self.lab, result, {}), marks.automatic
        return all(name in there and there[name] == wanted[name] for name in self.lab.question_of)

    def apply_policy(self, students: Iterable[str] = ()) -> dict[str, TeacherMarks]:
        """Update extensions and late penalties of all submissions. Returns ``all_marks``.

        ``students`` are the class's names, because the course's extensions use these and not the stored names.
        """
        with self._transaction() as session:
            called = {folder_name(student): student for student in students}
            marks = self._marks(session, called, *self._everything(session))
            has_rule = None if self._late_penalty is None else "by the course"
            self._note_policy(session, "penalties", "", has_rule, self._last_policy(session))
        return marks

    def _everything(self, session: Session) -> tuple[list[SimpleNamespace], Rows, Rows]:
        """All submissions of the lab with their grades and comments. The number of queries does not depend on that of students."""
        rows = self._submissions(session)
        mine = [row.notebook_id for row in rows]
        return rows, self._rows(session, api.Grade, mine), self._rows(session, api.Comment, mine)

    def _marks(
        self,
        session: Session,
        called: Mapping[str, str] | None,
        rows: Sequence[Any],
        grades: Rows,
        comments: Rows,
    ) -> dict[str, TeacherMarks]:
        """Stored name -> marks that people entered, for the submissions ``rows``.

        With ``called`` (stored name -> name), the course's policy updates extensions and late penalties first.
        """
        last_policy, marks = self._last_policy(session), dict[str, TeacherMarks]()
        for row in rows:
            own, notes = grades[row.notebook_id].items(), comments[row.notebook_id].items()
            longer, penalty = row.extension, row.late_submission_penalty
            if called is not None:
                granted = self._extension(called.get(row.student_id, row.student_id))
                longer = self._settled(session, ("extension", row.student_id), granted, longer, last_policy)
            due = None if row.duedate is None else row.duedate + (longer or datetime.timedelta())
            came = row.timestamp
            late = 0.0 if due is None or came is None else max(0.0, (came - due).total_seconds())
            if called is not None and self._late_penalty is not None:
                points = (CellPoints(g.auto_score, g.manual_score, g.extra_credit or 0.0) for _, g in own)
                total = sum(cell.final for cell in points)
                penalty = self._late_penalty(total, late, due) if due and late > 0 else None
                if penalty is not None:
                    penalty = min(max(float(penalty), 0.0), total)  # as nbgrader limits it
            elif called is not None and ("penalties", "") in last_policy:
                penalty = None
            if longer != row.extension:
                session.execute(update(api.SubmittedAssignment), [{"id": row.id, "extension": longer}])
            if penalty != row.late_submission_penalty:
                changed = {"id": row.notebook_id, "late_submission_penalty": penalty}
                session.execute(update(api.SubmittedNotebook), [changed])
            marks[row.student_id] = TeacherMarks(
                scores={n: g.manual_score for n, g in own if g.manual_score is not None},
                comments={n: c.manual_comment for n, c in notes if c.manual_comment},
                extra_credit={n: g.extra_credit for n, g in own if g.extra_credit},
                waiting=tuple(sorted(n for n, g in own if g.needs_manual_grade)),
                seconds_late=late,
                due=due,
                late_penalty=float(penalty or 0.0),
                received=came,
                automatic={n: g.auto_score for n, g in own},
            )
        return marks

    def _write_due(self, session: Session, due: datetime.datetime | None) -> None:
        assignment = api.Assignment
        mine = assignment.id == self._saved.assignment_id
        now = session.execute(select(assignment.duedate).where(mine)).scalar_one()
        due = self._settled(session, ("due", ""), due, now, self._last_policy(session))
        session.execute(update(assignment), [{"id": self._saved.assignment_id, "duedate": due}])

    # Values that the course's policy has put into the gradebook, so that they can be removed

    def _settled(
        self, session: Session, key: tuple[str, str], wanted: Any, now: Any, last_policy: Mapping[Any, str]
    ) -> Any:
        """The policy's value; without one, an entry by people stays, and an earlier value of the policy goes."""
        self._note_policy(session, *key, None if wanted is None else _as_text(wanted), last_policy)
        if wanted is None and now is not None and _as_text(now) == last_policy.get(key):
            return None
        return now if wanted is None else wanted

    def _last_policy(self, session: Session) -> dict[tuple[str, str], str]:
        """(what, student) -> the policy's value when it was last applied."""
        query = text("SELECT what, student, value FROM course_policy WHERE assignment = :assignment")
        rows = session.connection().execute(query, {"assignment": self._saved.assignment_id})
        return {(what, student): value for what, student, value in rows}

    def _note_policy(
        self, session: Session, what: str, student: str, value: str | None, last_policy: Mapping[Any, str]
    ) -> None:
        """Store the policy's current value (None: remove it) unless it is the last one."""
        if value != last_policy.get((what, student)):
            row = {"assignment": self._saved.assignment_id, "what": what, "student": student, "value": value}
            session.connection().execute(text(_FORGET_POLICY if value is None else _NOTE_POLICY), row)

    def _submissions(self, session: Session, *only: str) -> list[SimpleNamespace]:
        """The lab's submissions, or one student's (stored name): ids, student, times and late penalty."""
        submitted, notebook = api.SubmittedAssignment, api.SubmittedNotebook
        query = (
            select(
                submitted.id,
                submitted.student_id,
                submitted.timestamp,
                submitted.extension,
                api.Assignment.duedate,
                notebook.id.label("notebook_id"),
                notebook.late_submission_penalty,
            )
            .join(notebook, notebook.assignment_id == submitted.id)
            .join(api.Assignment, api.Assignment.id == submitted.assignment_id)
            .where(submitted.assignment_id == self._saved.assignment_id)
            .where(notebook.notebook_id == self._saved.notebook_id)
            .where(*(submitted.student_id == student for student in only))
        )
        return [SimpleNamespace(**row._mapping) for row in select_rows(session, query)]

    def _rows(self, session: Session, model: Any, notebooks: Iterable[str]) -> Rows:
        """Id of the submitted notebook -> cell -> row of the Grade or Comment (``model``)."""
        names = {cell_id: name for name, cell_id in self._saved.cells[model].items()}
        found: Rows = defaultdict(dict)
        table = model.__table__
        for row in select_rows(session, select(table).where(table.c.notebook_id.in_(list(notebooks)))):
            if row.cell_id in names:
                found[row.notebook_id][names[row.cell_id]] = row
        return found

    def _create(
        self, session: Session, student: str, came: datetime.datetime | None
    ) -> list[SimpleNamespace]:
        """Make the rows of a student's submission that are not there, and read it."""
        find_or_insert(session, api.Student, {"id": student})
        mine = {"assignment_id": self._saved.assignment_id, "student_id": student}
        submission_id = find_or_insert(session, api.SubmittedAssignment, mine, timestamp=came)
        both = {"assignment_id": submission_id, "notebook_id": self._saved.notebook_id}
        find_or_insert(session, api.SubmittedNotebook, both)
        return self._submissions(session, student)

    def _save_rows(
        self, session: Session, model: Any, notebook_id: str, values_of: Callable[[str, Any], dict[str, Any]]
    ) -> Rows:
        """Insert the missing rows of cells, and update the changed ones. ``values_of`` a cell and its row (None: missing)."""
        found = self._rows(session, model, [notebook_id])
        new, changed = list[dict[str, Any]](), list[dict[str, Any]]()
        for name, cell_id in self._saved.cells[model].items():
            old = found[notebook_id].get(name)
            values = values_of(name, old)
            if old is None:
                new.append({"cell_id": cell_id, "notebook_id": notebook_id, **values})
            elif any(getattr(old, column) != value for column, value in values.items()):
                changed.append({"id": old.id, **values})
            found[notebook_id][name] = SimpleNamespace(**{**(old._mapping if old else _NOTHING), **values})
        if new:
            insert_rows(session, model, new)
        if changed:
            session.execute(update(model), changed)
        return found

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        """One transaction. The database's errors are raised as GradingError in one sentence."""
        try:
            with Session(self._engine) as session, session.begin():
                yield session
        except DatabaseError as error:
            raise database_error(f"The gradebook {self.path}", error.orig or error) from error


def _as_text(value: datetime.datetime | datetime.timedelta) -> str:
    """A due date or an extension as ``course_policy`` keeps it."""
    return str(value.total_seconds()) if isinstance(value, datetime.timedelta) else value.isoformat()


def _auto_scores(
    lab: LabCells, result: SubmissionResult, untouched: dict[str, bool]
) -> dict[str, float | None]:
    """The automatic score of every graded cell; None, as in nbgrader, asks for a person."""
    points = {question.name: float(question.points) for question in result.questions}
    scores: dict[str, float | None] = {}
    for name, model in lab.rows:
        if model in (api.SolutionCell, api.SourceCell):
            continue
        if result.fault:
            scores[name] = None
        elif name in lab.question_of:
            scores[name] = points.get(lab.question_of[name], 0.0)
        elif not result.readable or untouched.get(name):  # there is nothing for a person to read
            scores[name] = 0.0
        else:
            scores[name] = None
    return scores


def _suggestion(question: QuestionResult) -> str:
    """The comment that asks a person about an answer with a forbidden function, or one that was only partly tested."""
    if not question.forbidden:
        return (
            "Needs an earlier answer that is not right, so not all of it could be tested. "
            f"Until somebody says otherwise, {question.points:g} of {question.max_points:g} points stand."
        )
    return (
        f"Uses {', '.join(question.forbidden)}, which the question asks to do without. "
        f"Suggested: 0 of {question.max_points:g} points. Until somebody says so, {question.points:g} stand."
    )


def _untouched(lab: LabCells, result: SubmissionResult) -> dict[str, bool]:
    """Answer cell -> whether it is exactly as in the released notebook."""
    if not result.notebook:
        return {}
    untouched: dict[str, bool] = {}
    for cell in json.loads(result.notebook)["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in lab.answer_checksums:
            try:
                source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
                checksum = compute_checksum(nbformat.from_dict({**cell, "source": source}))
                untouched[grade_id] = lab.answer_checksums[grade_id] == checksum
            except UnicodeEncodeError:  # a lone surrogate: the cell was changed
                untouched[grade_id] = False
    return untouched


def marks_of(entered: Mapping[str, TeacherMarks], student: str) -> TeacherMarks:
    """A student's marks in ``all_marks``; empty if nothing was entered.

    A name is stored as that of its folder in ``autograded/``, where Formgrader looks for it. So SQLite can store it, and
    nothing in it is dangerous in HTML, JavaScript or a terminal.
    """
    return entered.get(folder_name(student), TeacherMarks())


def _engine(path: Path, busy_seconds: float) -> Any:
    """An engine whose transactions take the write lock at once and are on the disk when they end."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GradingError(f"The folder {path.parent} could not be made: {error.strerror}.") from error
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, connect_args={"timeout": busy_seconds})

    @event.listens_for(engine, "connect")
    def _settings(connection: Any, _record: Any) -> None:
        # The driver's own BEGIN comes late, after reads without a lock; ``_begin`` begins explicitly.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous=FULL")
        # Only for this connection. It saves a directory update for each submission and keeps the file in the format that
        # network file systems and Formgrader expect (unlike WAL).
        cursor.execute("PRAGMA journal_mode=TRUNCATE")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


#: The version of nbgrader's tables: the last of its migrations. nbgrader itself asks ``alembic``, a library that takes longer
#: to load than a notebook to grade.
_REVISION = "e43177bfe90b"
#: A table beside nbgrader's: the values that the course's policy has put into the gradebook.
_COURSE_POLICY = (
    "CREATE TABLE IF NOT EXISTS course_policy (assignment TEXT, what TEXT, student TEXT, value TEXT, "
    "PRIMARY KEY (assignment, what, student))"
)
_NOTE_POLICY = "INSERT OR REPLACE INTO course_policy VALUES (:assignment, :what, :student, :value)"
_FORGET_POLICY = (
    "DELETE FROM course_policy WHERE assignment = :assignment AND what = :what AND student = :student"
)


def _prepare_schema(session: Session, path: Path) -> None:
    """Create nbgrader's tables and ``course_policy`` in a new file. Refuse a file of another nbgrader version."""
    connection = session.connection()
    if not inspect(connection).get_table_names():
        api.Base.metadata.create_all(bind=connection)
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": _REVISION})
    has_version = inspect(connection).has_table("alembic_version")
    query = text("SELECT version_num FROM alembic_version")
    version = connection.execute(query).scalar() if has_version else None
    if version != _REVISION:
        raise GradingError(
            f"The gradebook {path} was made by another version of nbgrader: "
            "run `nbgrader db upgrade` on it and try again."
        )
    connection.execute(text(_COURSE_POLICY))
