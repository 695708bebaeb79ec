"""The class list says who somebody is or is refused, and extensions that were given while the course ran are found by any name."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from autograder.collect import collect
from autograder.course import extensions, policy_file
from autograder.course.class_list import ClassList, read_class_list
from autograder.course.lists import CsvList, number_in, read_list, same_name
from autograder.course.policy_file import class_list, extension_of, extensions_file, unknown_extensions
from autograder.errors import UserError
from autograder.exports.matching import match
from tests.collect.test_collect import LAB, submitted, zip_of

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,07_self_attention (17)\n"
    "    Points Possible,,,,,15\n"
    '"Lovelace, Ada",4711,S1,ada,A,\n"Bohr, Niels",4712,S2,niels,B,\n"Student, Test",4713,,xyz,A,\n'
)
HAND = 'student,name,email,canvas id,moodle id,section,extension\nada,Ada Lovelace,a@u.edu,4711,S1,A,\nbo,Bo B,b@u.edu,4712,S2,B,"2,5"\n'


def put(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_canvass_export_is_a_class_list(tmp_path):
    text = CANVAS.replace("07_self_attention", "Extensions") + "Points Possible,6,S6,pp,A,\nNobody,,,,A,\n"
    people = read_class_list(put(tmp_path / "r.csv", text))
    assert [(p.student, p.name, p.canvas_id, p.section) for p in people.people] == [
        ("ada", "Lovelace, Ada", "4711", "A"),
        ("niels", "Bohr, Niels", "4712", "B"),
        ("pp", "Points Possible", "6", "A"),
    ]
    assert people.of_folder("lovelaceada_4711") == people.find("ADA") == people.people[0]
    assert people.of_folder("bohrniels_4711") is None, "the number is Ada's, the name is not"
    test_student, nobody = people.notes
    assert test_student == "r.csv: Canvas's test student is not counted."
    assert nobody == "r.csv: row 7, “Nobody”, has no number or login of Canvas's and is not counted."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_a_list_is_read_in_any_encoding(tmp_path, encoding):
    text = "Vorname;Nachname;Anmeldename;ID-Nummer\nAda;Lovelace;ada;S1\nJörg;Nowak;jnowak;S9\n"
    people = read_class_list(put(tmp_path / "r.csv", text, encoding))
    assert [person.name for person in people.people] == ["Ada Lovelace", "Jörg Nowak"]
    assert people.people[0].id_number == "S1" and people.find("jnowak") is people.people[1]
    assert any("Windows-1252" in note for note in people.notes) == (encoding == "cp1252")


#: Lists that do not say who somebody is, and words of the sentence about each.
REFUSED = {
    "student,email\nada,a@u\nADA,b@u\n": "says “ada” of two",
    "student,email\nada,a@u\nbo,a@u\n": "says “a@u” of two",
    "student,canvas id\nada,1\nbo,1\n": "of two students",
    "name,section\nAda,A\n": "Row 2 .* nothing to call the student by",
    "student,extension\nada,much\n": "“much” must be a number of days",
    "student\n": "has no students",
    "": "is empty",
    "student,email\nada,x,y,z\n": "Row 2 .* has 4 cells where its header has 2",
    "email,E-Mail-Adresse\na@u,a@u\n": "two columns for the email",
    'student,name\nada,"Ada\nbo,Bo\n': "begins in line 2.*quotation mark",
    "student,Student ID\nada,3\n": "may be Canvas's number or the university's: call it “canvas id”",
    "student,extension (days)\nada,3\n": "is not read: call it “extension”",
    'student,name\nada,"Ada\nbo,Bo"\ncy,Cy\n': "Row 2 .*“ada”, goes on over several lines",
}


def test_a_list_that_does_not_say_who_somebody_is_is_refused(tmp_path):
    for text, words in REFUSED.items():
        with pytest.raises(UserError, match=words):
            read_class_list(put(tmp_path / "r.csv", text))


def test_course_toml_names_the_list_and_its_extensions_count(course_at, monkeypatch):
    course_at("[labs.07]\ndue = 2026-10-02\n[labs.07.extensions]\nada = 1\n", HAND)
    assert [person.student for person in class_list().people] == ["ada", "bo"]
    assert [extension_of(LAB, who) for who in ("ada", "bo", "cy")] == [timedelta(1), timedelta(2.5), None]
    course_at('roster = "nowhere.csv"\n')
    with pytest.raises(UserError, match=r"nowhere\.csv could not be read"):
        class_list()
    monkeypatch.setenv("COURSE_ROSTER", "")  # as in Gradescope's container, which has course.toml and no list
    course_at('roster = "nowhere.csv"\n')
    assert not class_list() and extension_of(LAB, "bo") is None


def test_an_extension_is_found_by_any_word_of_the_list_and_whoever_is_nobody_is_named(course_at):
    course_at(
        '[labs.07]\ndue = 2026-10-02\n[extensions]\n"C@u" = 1\nS3 = 2\nzoe = 1\n[labs.07.extensions]\n"a@u.edu" = 2026-10-03\n',
        HAND + "cy,Cy,c@u,3,S3,A,\n",
    )
    file = extensions_file()
    put(file, "lab,student,days\n07,b@u.edu,5\n07,zed,5\n00,zora,5\n")
    days = {who: (longer := extension_of(LAB, who)) and longer.days for who in ("ada", "bo", "cy", "zé")}
    assert days == {"ada": 1, "bo": 5, "cy": 2, "zé": None}
    assert unknown_extensions(LAB, ["ada"]) == {"course.toml": ["zoe"], "extensions.csv": ["zed"]}
    file.unlink()
    course_at('[extensions]\n"ze\u0301" = 1\n')
    assert extension_of(LAB, "zé") is not None and not unknown_extensions(LAB, ["zé"])


@pytest.mark.parametrize("name", ["Sammy Davis Jr.", "Müller & Sohn", "con", "a|b"])
def test_whose_name_cannot_be_a_folders_is_found_by_the_folder_that_was_made(tmp_path, course_at, name):
    course_at(f'[labs.07]\ndue = 2026-10-02\n[extensions]\n"{name}" = 2\n')
    collect(zip_of(tmp_path / "d.zip", {f"{name}/{LAB}.ipynb": "x"}), tmp_path / "submitted", LAB)
    [folder] = submitted(tmp_path / "submitted")
    assert extension_of(LAB, folder) is not None and not unknown_extensions(LAB, [folder])

    course_at("[labs.07]\ndue = 2026-10-02\n", f"student,extension\n{name},3\nbo,\n")
    assert extension_of(LAB, folder).days == 3 and extension_of(LAB, "bo") is None
    assert [person.student for person in class_list().absent([folder])] == ["bo"]
    assert class_list().find(folder) is None, "who is called so is somebody else"


def test_a_download_is_filed_under_the_lists_names_and_says_who_is_missing(tmp_path, course_at):
    course_at("", HAND + "cy,Cy C,c@u.edu,4713,S3,B,\n")
    files = {f"{who}_9_{LAB}.ipynb": who for who in ("lovelaceada_4711", "bbo_4712", "eve_4799")}
    done = collect(zip_of(tmp_path / "c.zip", files), tmp_path / "in", LAB)
    assert submitted(tmp_path / "in") == {"ada": "lovelaceada_4711", "bo": "bbo_4712", "eve_4799": "eve_4799"}
    assert "Not on the class list: eve_4799." in done.notes
    assert "On the class list, but not in this download: cy." in done.notes

    twice = zip_of(tmp_path / "p.zip", {f"{who}/{LAB}.ipynb": "x" for who in ("bo", "b@u.edu", "ada")})
    done = collect(twice, tmp_path / "p", LAB)
    assert set(submitted(tmp_path / "p")) == {"bo", "b@u.edu", "ada"}
    assert any("both seem to be bo: kept apart" in note for note in done.notes)


def test_a_name_is_the_same_however_it_is_ordered_and_joined():
    for one, other in (
        ("Lovelace, Ada", "lovelaceada"),
        ("Ada Lovelace", "Lovelace, Ada"),
        ("Jan van der Berg", "van der Berg, Jan"),
        ("Zoë O’Brien", "o'brien zoe"),
    ):
        assert same_name(one, other), one
    for one, other in (("Amy", "May"), ("Ada Lovelace", "Ada Byron"), ("", "")):
        assert not same_name(one, other), one


def test_numbers_and_separators_are_taken_from_the_file(tmp_path):
    table = read_list(put(tmp_path / "t.csv", 'a;b\n"1;0";2,5\n'))
    assert (table.separator, table.decimal_comma, table.rows) == (";", True, (("1;0", "2,5"),))
    numbers = {"2,5": 2.5, "2.5": 2.5, "-1": -1, "1.000,5": None, "x": None, "": None}
    assert {text: number_in(text) for text in numbers} == numbers


def test_of_two_folders_that_seem_to_be_one_persons_neither_is_theirs(tmp_path):
    """Whatever a list calls somebody, a classmate may be called on GitHub: by her folder's own name, too."""
    text = "student,name,username\nalicewonder,Alice,aw1815\nbob,Bob,bb1\n"
    people = read_class_list(put(tmp_path / "r.csv", text))
    whose = people.of_folders(["alicewonder", "aw1815", "bb1", "eve"])
    assert {folder: person.student for folder, person in whose.items()} == {"bb1": "bob"}
    twice = people.claimed_twice(["alicewonder", "aw1815", "bb1"])
    assert twice == {"alicewonder": ["alicewonder", "aw1815"]}
    table = CsvList(tmp_path / "m.csv", ("Username", "Full name"), (("aw1815", "Alice"), ("bb1", "Bob")))
    notes: list[str] = []
    assert match("moodle", table, ["alicewonder", "aw1815", "bb1"], people, "it", notes) == {1: "bb1"}
    assert "Not found on the list, and so not in it: alicewonder, aw1815." in notes


def test_one_new_name_and_two_folders_of_one_row_end_no_export_and_another_courses_list_does(tmp_path):
    text = "student,name,canvas id\nada,Ada Lovelace,1\nbo,Bo Bohr,2\nmallory,Mallory M,3\n"
    people = read_class_list(put(tmp_path / "r.csv", text))

    def matched(names: list[str], folders: list[str], people: ClassList):
        notes: list[str] = []
        rows = tuple((name, str(number), "") for number, name in enumerate(names, 1))
        table = CsvList(tmp_path / "c.csv", ("Student", "ID", "SIS Login ID"), rows)
        return match("canvas", table, folders, people, "it", notes), notes

    folders = ["ada", "bo", "mallory"]
    found, notes = matched(["Lovelace, Ada", "Bohr, Bo", "Batman"], folders, people)
    assert found == {0: "ada", 1: "bo"}
    assert "Name does not match the number on the list, and so not in it: mallory." in notes
    with pytest.raises(UserError, match="another assignment or course"):
        matched(["Lovelace, Ada", "X", "Batman"], folders, people)
    names = ["Bach, Bo", "Kern, Cleo", "Lovelace, Ada"]
    folders = ["adalovelace_3", "lovelaceada_3", "bachbo_1", "kerncleo_2"]
    found, notes = matched(names, folders, ClassList())
    assert found == {0: "bachbo_1", 1: "kerncleo_2"}
    assert any("match one row" in note and ", ".join(folders[:2]) in note for note in notes)
    with pytest.raises(UserError, match="both row 4"):
        matched(names, folders[:3], ClassList())


def days_of(file: Path, student: str) -> float | None:
    """What the file gives a student: the last of the lines that mean them."""
    given = extensions.granted(file, LAB)
    names = policy_file.names_of_student(given, student)
    return given[names[-1]] if names else None


@pytest.mark.parametrize("student", ["ada", "=HYPERLINK(1)", "@eve", "-1+1", "a;=b", "o'brien"])
def test_an_extension_is_found_again_and_is_no_formula(tmp_path, student):
    file = tmp_path / "extensions.csv"
    for days in (2, 0.00001, 1 / 3, 3.9993055555555554, 366):
        extensions.add(file, LAB, student, days)
        assert days <= days_of(file, student) == pytest.approx(days, rel=1e-4), "a moment less costs a day"
    assert days_of(file, "somebody else") is None
    cell = file.read_text().splitlines()[-1].split(",")[1].strip('"')
    assert cell[0] not in "=+-@" and ";=" not in cell
    file.write_text(f"lab,student,days\n{LAB},@eve,1\n")  # as nobody but a person writes it
    assert days_of(file, "@eve") == 1
    extensions.add(file, LAB, "@eve", 3)
    assert days_of(file, "@eve") == 3


@pytest.mark.parametrize(
    "content",
    [
        b"lab,student,days\n07,ada,1",  # no line end, and the lab by its number
        "lab;student;days\r\n07_self_attention;ada;1,0\r\n\r\n".encode("utf-8-sig"),
        "Lab\tStudent\tDays\r\n7\tada\t1\r\n".encode("utf-16"),
        "lab,student,days,why\n07,ada,1,ill\n07,jürgen,2,\n".encode("cp1252"),
    ],
)
def test_a_list_that_a_spreadsheet_has_saved_is_read_and_made_longer(tmp_path, content):
    file = tmp_path / "extensions.csv"
    file.write_bytes(content)
    assert days_of(file, "ada") == 1
    extensions.add(file, LAB, "bo", 2)
    assert [days_of(file, student) for student in ("ada", "bo")] == [1, 2]


def test_what_others_wrote_into_the_list_stays(tmp_path):
    """Reasons, who gave it, a link to a list that is shared, and who may read it."""
    shared = tmp_path / "shared.csv"
    shared.write_text(f'Lab,student,days,reason,by\n{LAB},ada,7,"ill, until May",Prof. X\n')
    shared.chmod(0o640)
    file = tmp_path / "extensions.csv"
    file.symlink_to(shared)
    extensions.add(file, LAB, "bo", 2)
    lines = shared.read_text().splitlines()
    assert lines == ["Lab,student,days,reason,by", f'{LAB},ada,7,"ill, until May",Prof. X', f"{LAB},bo,2,,"]
    assert file.is_symlink() and shared.stat().st_mode & 0o777 == 0o640
    assert days_of(file, "bo") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["extensions.csv", "shared.csv"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("07,ada,1\n", "The first row"),
        ("lab,student,days\n99,ada,1\n", "There is no lab “99”"),
        ("lab,student,days\n07,ada,nan\n", "Row 2"),
        ("lab,student,days\n07,,1\n", "Row 2"),
        ("lab,student,days\n07,ada\n", "Row 2"),
        ("", "is empty"),
    ],
)
def test_a_list_that_says_something_else_is_refused_in_a_sentence_and_left_as_it_is(tmp_path, content, said):
    file = tmp_path / "extensions.csv"
    file.write_text(content)
    with pytest.raises(UserError, match=said):
        days_of(file, "ada")
    with pytest.raises(UserError, match=said):
        extensions.add(file, LAB, "ada", 1)
    assert file.read_text() == content
