"""The class list, ``roster.csv``: students with their names in each system, sections and extensions.

Canvas's gradebook export, Moodle's list of participants or grades, or a file made by hand: CSV or JSON.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograder.course.lists import (
    POINTS_POSSIBLE,
    TEST_STUDENT,
    CsvList,
    folded,
    is_called,
    letters,
    number_in,
    read_list,
    same_name,
    sentences_about,
    summarize_names,
)
from autograder.errors import UserError
from autograder.files import folder_name


@dataclass(frozen=True)
class Person:
    """One student. ``student`` is the folder's name. Ids that the list does not have are ""."""

    student: str
    name: str = ""
    email: str = ""
    canvas_id: str = ""
    id_number: str = ""
    username: str = ""
    section: str = ""
    extension: float | None = None

    @property
    def keys(self) -> set[str]:
        """The words that identify this person on the list, without Canvas's number: other systems use numbers, too."""
        return {folded(key) for key in (self.student, self.email, self.id_number, self.username) if key}


@dataclass(frozen=True)
class ClassList:
    """The class; empty when the course has no list."""

    people: tuple[Person, ...] = ()
    path: Path | None = None
    notes: tuple[str, ...] = ()
    _by_key: dict[str, Person] = field(default_factory=dict, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.path is not None

    def find(self, word: str) -> Person | None:
        """The person with this folder's name, login, e-mail address or ID number."""
        return self._by_key.get(folded(word))

    def named(self, words: Iterable[str]) -> dict[str, Person]:
        """Student -> person, for everybody whom one of these words identifies."""
        return {person.student: person for word in words if (person := self.find(word)) is not None}

    def of_login(self, login: str) -> Person | None:
        """The person with this user name or, if the list has no user names, with this ``student``.

        Only case may differ, as on a hub. People choose their logins, so no other resemblance counts.
        """
        names = {person.username: person for person in self.people if person.username} or {
            person.student: person for person in self.people
        }
        wanted = login.lower()
        return next((person for name, person in names.items() if name.lower() == wanted), None)

    def of_canvas(self, user_id: str) -> Person | None:
        """The person with this Canvas number."""
        return next((person for person in self.people if user_id and person.canvas_id == user_id), None)

    def of_folder(self, folder: str) -> Person | None:
        """The person to whom a student's folder belongs, also Canvas's ``lovelaceada_4711`` if number and name agree.

        A name that no folder can have (``Sammy Davis Jr.``) has the folder that ``collect`` made for it.
        """
        name, _, number = folder.rpartition("_")
        person = self.of_canvas(number) if name and number.isdigit() else None
        agreed = person if person is not None and same_name(person.name, name) else None
        return self.find(folder) or self._by_made_name.get(folder) or agreed

    @cached_property
    def _by_made_name(self) -> dict[str, Person]:
        """Folder's name -> person, for people whose own name cannot be a folder's."""
        made = {folder_name(person.student): person for person in self.people}
        return {name: person for name, person in made.items() if name != person.student}

    def of_folders(self, folders: Iterable[str]) -> dict[str, Person]:
        """Folder -> person, for the folders that belong to somebody.

        Two folders that seem to be the same person's are both left out: some systems let students choose their names, and
        one may choose a classmate's.
        """
        return {mine[0]: person for person, mine in self._claims(folders).items() if len(mine) == 1}

    def claimed_twice(self, folders: Iterable[str]) -> dict[str, list[str]]:
        """Student -> folders, for students with several folders, which ``of_folders`` leaves out."""
        return {person.student: mine for person, mine in self._claims(folders).items() if len(mine) > 1}

    def absent(self, folders: Iterable[str]) -> list[Person]:
        """The people on the list without a folder."""
        there = self._claims(folders)
        return [person for person in self.people if person not in there]

    def _claims(self, folders: Iterable[str]) -> dict[Person, list[str]]:
        claims: dict[Person, list[str]] = defaultdict(list)
        for folder in folders:
            if (person := self.of_folder(folder)) is not None:
                claims[person].append(folder)
        return claims

    def notes_about(self, folders: Collection[str], absent: str) -> list[str]:
        """Sentences about folders of strangers, and about people without a folder; ``absent`` begins the second."""
        strangers = [folder for folder in folders if self and self.of_folder(folder) is None]
        without = [person.student for person in self.absent(folders)]
        return sentences_about({"Not on the class list": strangers, absent: without})


def read_class_list(path: Path, team: Collection[str] = ()) -> ClassList:
    """Read the list. Raises ``UserError`` if a student has no identifier, or two share one.

    Members of the ``team``, and people who are no students by the list's column of roles, are left out.
    """
    table = read_list(path)
    _refuse_columns_that_may_be_others(table)
    people, others, notes = list[Person](), list[str](), list(table.notes)
    has_roles = any(_is_student(table, row) for row in table.rows)
    for number, row in enumerate(table.rows, start=2):
        if table.is_person(row):
            try:
                person = _person(table, row)
            except ValueError as error:
                raise UserError(f"Row {number} of the class list {path}{error}") from None
            is_other = has_roles and not _is_student(table, row)
            if is_other or not person.keys.isdisjoint(map(folded, team)):
                others.append(person.student)
            else:
                people.append(person)
        elif folded(row[0]) == TEST_STUDENT:
            notes.append(f"{path.name}: Canvas's test student is not counted.")
        elif folded(row[0]) not in ("", POINTS_POSSIBLE):
            notes.append(
                f"{path.name}: row {number}, “{row[0].strip()}”, has no number or login of Canvas's and is not counted."
            )
    words = Counter(key for person in people for key in person.keys)
    words.update(f"canvas {person.canvas_id}" for person in people if person.canvas_id)
    if twice := sorted(word for word, times in words.items() if times > 1):
        raise UserError(f"The class list {path} says “{twice[0]}” of two students: mend it first.")
    if not people:
        raise UserError(
            f"The class list {path} has no students, which need a row each: its columns are {table.shown_header}."
        )
    if others:
        notes.append(f"{path.name}: no students, and not counted: {summarize_names(others)}.")
    elif table.column("student") is None and all(table.column(role) is not None for role in _PARTICIPANTS):
        notes.append(
            f"{path.name}: a list of Moodle's participants without roles holds teachers, too. Name them in `team` (course.toml), or "
            "take Moodle's export of grades, which has students alone."
        )
    keys = {key: person for person in people for key in person.keys}
    return ClassList(tuple(people), path, tuple(notes), keys)


#: The columns of Moodle's table of participants; its export of grades has no groups.
_PARTICIPANTS = {"first name", "last name", "email", "groups"}


def _is_student(table: CsvList, row: Sequence[str]) -> bool:
    return any(is_called(role, "student role") for role in table.value(row, "roles").split(","))


def _refuse_columns_that_may_be_others(table: CsvList) -> None:
    """Refuse columns of a hand-made list whose names are ambiguous or not supported."""
    for name in () if table.is_canvas else table.header:
        if letters(name) == "studentid":
            raise UserError(
                f"The column “{name}” of the class list {table.path} may be Canvas's number or the university's: "
                "call it “canvas id” or “ID number”."
            )
        if (
            "extension" in folded(name)
            and table.column("student") is not None
            and table.column("extension") is None
        ):
            raise UserError(
                f"The column “{name}” of the class list {table.path} is not read: call it “extension”."
            )


def _person(table: CsvList, row: tuple[str, ...]) -> Person:
    """The row's person. Raises ValueError with the end of a sentence about the row."""
    email, username = table.value(row, "email"), table.value(row, "username") or table.value(row, "login")
    canvas_id = table.value(row, "canvas's ID" if table.is_canvas else "canvas id")
    id_number = table.value(row, "id number") or table.value(row, "sis id")
    hand_made = "" if table.is_canvas else table.value(row, "student")
    student, extension = hand_made or username or email or id_number, table.value(row, "extension")
    if not student:
        raise ValueError(
            " has nothing to call the student by: fill in a column “student”, a user name or an email address."
        )
    days = number_in(extension) if extension else None
    if extension and (days is None or not 0 < days <= 366):
        raise ValueError(f": the extension “{extension}” must be a number of days, at most 366.")
    section = table.value(row, "groups")
    person = Person(student, table.name(row), email, canvas_id, id_number, username, section, days)
    if any(len(str(value).splitlines()) > 1 for value in vars(person).values()):
        raise ValueError(
            f", “{student.splitlines()[0]}”, goes on over several lines: is a quotation mark missing?"
        )
    return person
