"""The files of a real Moodle 4.5, with made-up people: every grade on the right person, and nothing that a person entered is lost.

In `a24` (24 points) two are called Anna Schmidt, one has an extension, one a draft, one a text alone, one an attempt that was
opened again. `a100` has 100 points, `blind` no names, and in `team` groups hand in.
"""

from __future__ import annotations

import csv
import html
import json
import re
import zipfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest

from autograder.collect import Collected, collect
from autograder.course import lists
from autograder.course.class_list import read_class_list
from autograder.course.lists import CsvList, read_list
from autograder.course.policy_file import extension_of, settings
from autograder.errors import UserError
from autograder.exports import Exported, export
from autograder.results import QuestionResult
from tests.collect.test_collect import FILE, LAB, zip_of

FILES = Path(__file__).parents[1] / "fixtures" / "moodle_files"
SHEET = "a24-worksheet-en.csv"
COURSE = 'timezone = "Europe/Berlin"\nteam = ["teacher", "lehrer"]\n'
DUE = f"[labs.{LAB[:2]}]\ndue = 2026-11-20T23:59:00\n[late]\npercent_per_day = 20\n"
#: Whose notebook was handed in to a24.
HANDED_IN = {
    "-dash", "eve.adams@mail.example", "agent007", "zoed", "noid", "mlking", "chris", "versuch", "amueller", "lnull",
    "sobrien", "npatel", "aschmidt", "aschmidt2", "bobby", "under", "longname", "zipper", "wang3001",
}  # fmt: skip


@pytest.fixture
def a_class(tmp_path: Path, course_at) -> Callable[..., Collected]:
    """``a_class(download, times)``: what was collected of it into tmp_path/submitted; Moodle's participants are the class list."""

    def collected(download: str, times: str = "", roster: str = "participants-en.csv", more: str = ""):
        course_at(f'{COURSE}roster = "{FILES / roster if roster else ""}"\n{more}')
        return collect(FILES / download, tmp_path / "submitted", LAB, times=FILES / times if times else None)

    return collected


def rows_of(made: Exported, sheet: Path | str) -> dict[str, dict[str, str]]:
    """The rows of an export by user name, or else by number."""
    separator = read_list(FILES / sheet).separator
    with made.paths[0].open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=separator))
    first = next(iter(rows[0])) if rows else ""
    return {(row.get("Username") or row.get("Anmeldename") or row[first]).lstrip("'"): row for row in rows}


@pytest.fixture
def filled(tmp_path, make_spec, make_result) -> Callable[..., Exported]:
    """``filled(points, sheet)``: the export of students with so many of 24 points (None: nothing handed in)."""
    spec = make_spec((("one_hot", 24.0),), ())

    def made(points: dict[str, float | None], sheet: Path | str, form: str = "moodle-worksheet") -> Exported:
        results = [
            make_result(
                student,
                questions=(QuestionResult("one_hot", earned or 0, 24),),
                status="graded" if earned is not None else "missing",
            )
            for student, earned in points.items()
        ]
        return export(form, results, spec, tmp_path / "out", roster=FILES / sheet)

    return made


def test_people_are_known_by_the_worksheets_ids_drafts_are_not_collected_and_extensions_count(
    tmp_path, a_class
):
    done = a_class("a24-folders.zip", "a24-worksheet-en.csv", more=DUE)
    assert set(done.students) == HANDED_IN and not done.without_time
    with zipfile.ZipFile(FILES / "a24-folders.zip") as archive:
        for who, folder in (("aschmidt", "Anna Schmidt_16"), ("aschmidt2", "Anna Schmidt_18")):
            [name] = [name for name in archive.namelist() if name.startswith(folder)]
            assert (tmp_path / f"submitted/{who}/{LAB}/{LAB}.ipynb").read_bytes() == archive.read(name)
    assert any("a reopened attempt), and so not collected: doradraft." in note for note in done.notes)
    assert any("ottotext handed in a typed text but no notebook" in note for note in done.notes)
    assert any("no students, and not counted: lehrer, teacher" in note for note in done.notes)
    assert "On the class list, but not in this download: niko, rita, susi." in done.notes
    own_due = settings().due(LAB) + extension_of(LAB, "npatel")
    assert f"{settings().local(own_due):%m-%d %H:%M}" == "11-24 23:59"
    assert extension_of(LAB, "sobrien") is None and settings().penalty(LAB, 20, 0.0, own_due) is None
    assert any("added to extensions.csv: npatel (2026-11-24 23:59)" in note for note in done.notes)
    again = a_class("a24-folders.zip", "a24-worksheet-en.csv", more=DUE)
    assert not any("extensions.csv" in note for note in again.notes), "nothing is written twice"


def test_without_the_worksheet_two_of_one_name_keep_their_own_folders_and_graded_right(a_class, filled):
    done = a_class("a24-folders.zip")
    assert {"Anna Schmidt_16", "Anna Schmidt_18"} <= set(done.students) and not HANDED_IN & set(done.students)
    [note] = [note for note in done.notes if "No worksheet identifies" in note]
    assert "Give the grading worksheet" in note
    points = {"Anna Schmidt_16": 20, "Anna Schmidt_18": 15.11}
    points |= dict.fromkeys(("aschmidt", "aschmidt2", "teacher"))
    grades = {who: row["Grade"] for who, row in rows_of(filled(points, SHEET), SHEET).items()}
    assert grades == {"aschmidt": "20", "aschmidt2": "15.11"}


def test_who_changed_a_name_is_found_by_the_ids(tmp_path, course_at, filled):
    """On the worksheet two have new last names; the class list still has the old ones."""
    course_at(f'{COURSE}roster = "{FILES / "participants-en.csv"}"\n')
    points = dict.fromkeys(("noid", "versuch", "amueller", "sobrien", "lnull"), 12)
    sheet = "a100-worksheet-de.csv"
    renamed = tmp_path / "w.csv"
    text = (FILES / sheet).read_text(encoding="utf-8-sig")
    renamed.write_text(text.replace("Keine-Nummer", "Verheiratet").replace("Mehrfach", "Neuname"))
    made = filled(points, renamed)
    assert len(rows_of(made, sheet)) == 5
    assert any("Name does not match ID or e-mail" in n and "noid, versuch" in n for n in made.notes)


#: How a language's Moodle writes a quarter past two in the afternoon (strftimedaydatetime of its langconfig). The Polish one writes PM
#: behind 24 hours.
QUARTER_PAST_TWO = {
    "en": "Monday, 2 March 2026, 2:15 PM",
    "de": "Montag, 2. März 2026, 14:15",
    "fr": "lundi 2 mars 2026, 14:15",
    "es": "lunes, 2 de marzo de 2026, 14:15",
    "it": "lunedì, 2 marzo 2026, 14:15",
    "pt": "segunda-feira, 2 de março de 2026 às 14:15",
    "nl": "maandag, 2 maart 2026, 14:15",
    "pt_br": "segunda-feira, 2 mar. 2026, 14:15",
    "pl": "poniedziałek, 2 marca 2026, 14:15 PM",
}
ROLES = ["participant", "full name", "grade", "maximum", "can be changed", "submitted", "comments"]
ENCODINGS = cycle(["utf-8", "utf-8-sig", "utf-16"])


@pytest.mark.parametrize(("language", "encoding"), zip(QUARTER_PAST_TWO, ENCODINGS, strict=False))
def test_a_worksheet_is_read_and_filled_in_whatever_its_language(
    tmp_path, course_at, spec, make_result, language, encoding
):
    course_at('timezone = "Europe/Berlin"\n')
    words = json.loads(Path(lists.__file__).with_name("moodle_words.json").read_text("utf-8"))[language]
    for spelling in range(max(len(words[role]) for role in ROLES)):
        header = [words[role][min(spelling, len(words[role]) - 1)] for role in ROLES]
        [hidden], no = words["hidden user"], words["no"][0]
        rows = [
            [f"{hidden}77", "Ada Lovelace", "", "20,00", "x", QUARTER_PAST_TWO[language], ""],
            [f"{hidden} 78", "Zoë Müller", "7,50", "20,00", no, "-", "old"],
        ]
        sheet = tmp_path / f"{spelling}.csv"
        with sheet.open("w", encoding=encoding, newline="") as file:
            csv.writer(file, delimiter=";").writerows([header, *rows])
        files = {f"{who}_{FILE}/{LAB}.ipynb": who for who in ("Ada Lovelace_77", "Zoë Müller_78")}
        done = collect(zip_of(tmp_path / "d.zip", files), tmp_path / f"s{spelling}", LAB, times=sheet)
        assert done.without_time == ("Zoë Müller_78",)
        stamp = tmp_path / f"s{spelling}" / "Ada Lovelace_77" / LAB / "timestamp.txt"
        assert stamp.read_text() == "2026-03-02 13:15:00 UTC\n", "in Berlin"
        assert any("1 times name no zone and were taken for Europe/Berlin" in note for note in done.notes)
        results = [make_result(student, 4, 2.5) for student in done.students]
        made = export("moodle-worksheet", results, spec, tmp_path, roster=sheet)
        assert [row[2] for row in read_list(made.paths[0]).rows] == ["13"], "6.5 of 10 are 13 of 20"
        assert any("allows no change" in note and "Zoë Müller_78" in note for note in made.notes)


@pytest.mark.parametrize("language", ["de", "fr", "it"])
def test_grades_are_scaled_to_the_maximum_in_every_language_or_nothing_is_written(tmp_path, filled, language):
    table = read_list(FILES / f"a100-worksheet-{language}.csv")
    blank = written(tmp_path / "blank.csv", table, grade="", comments="")
    [path] = filled({"amueller": 19.79}, blank).paths
    [row] = read_list(path).rows
    assert row[table.column("grade")] == "82,46"
    path.unlink()
    for most in ("", "Note", "0"):
        unread = written(tmp_path / "unread.csv", table, grade="", comments="", maximum=most)
        with pytest.raises(UserError, match="nothing was written"):
            filled({"amueller": 19.79}, unread)
    header = [name if n != table.column("maximum") else "Punkte" for n, name in enumerate(table.header)]
    unknown = written(tmp_path / "unknown.csv", CsvList(table.path, tuple(header), table.rows), grade="", comments="")  # fmt: skip
    with pytest.raises(UserError, match="no column for the maximum"):
        filled({"amueller": 19.79}, unknown)
    assert not path.exists()


def written(path: Path, table: CsvList, edit: Callable = lambda row: {}, **cells: str) -> Path:
    """The list with these values in the columns of these roles, and in each row with those that ``edit`` gives for it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(table.header)
        for row in table.rows:
            new = list(row)
            for role, value in {**cells, **edit(row)}.items():
                if (column := table.column(role)) is not None:
                    new[column] = value
            lines.writerow(new)
    return path


def without_tags(comment: str) -> str:
    """A comment as a worksheet has it: tags, and so lines, are gone."""
    return html.unescape(re.sub(r"<[^>]+>", "", comment))


def test_overrides_of_due_dates_count_where_they_are_longer(tmp_path, course_at):
    course_at(f'{COURSE}roster = "{FILES / "participants-en.csv"}"\n{DUE}')
    sheet = read_list(FILES / "a100-worksheet-overrides-de.csv")
    rows = [row for row in sheet.rows if "sobrien" not in row]  # who handed in nothing yet
    names = [sheet.name(row).translate(str.maketrans("_", " ", "/:")) for row in rows]
    files = {f"{name}_{row[0][13:]}_{FILE}/{LAB}.ipynb": name for name, row in zip(names, rows, strict=True)}
    done = collect(zip_of(tmp_path / "d.zip", files), tmp_path / "submitted", LAB, times=sheet.path)
    longer = {who: extension_of(LAB, who) for who in (*done.students, "sobrien") if extension_of(LAB, who)}
    assert {who: round(time.total_seconds() / 86400, 4) for who, time in longer.items()} == {
        "sobrien": 3, "npatel": 4, "longname": 2, "noid": 2, "lnull": 2
    }  # fmt: skip


def test_a_second_upload_changes_our_own_rows_and_nobody_elses(tmp_path, filled):
    """Between the two a teacher changes one student's points, and another's comment, in Moodle."""
    sheet = FILES / "a24-worksheet-en.csv"
    made = filled({who: number for number, who in enumerate(sorted(HANDED_IN), 1)}, sheet)
    ours, table = rows_of(made, sheet), read_list(sheet)
    assert set(ours) == HANDED_IN

    def uploaded(row):
        if (one := ours.get(who := table.value(row, "username"))) is None:
            return {}
        comment = without_tags(one["Feedback comments"])
        return {
            "graded": "Donnerstag, 26. November 2026, 12:40",
            "grade": "24.00" if who == "amueller" else one["Grade"],
            "comments": comment.replace("one_hot", "bitte melden! one_hot") if who == "zoed" else comment,
        }

    by_hand = written(tmp_path / "hand.csv", table, uploaded)
    made = filled({who: 24 - number for number, who in enumerate(sorted(HANDED_IN), 1)}, by_hand)
    again = rows_of(made, sheet)
    assert set(again) == HANDED_IN - {"amueller", "zoed"}
    assert again["-dash"]["Grade"] == "23" and "23 of 24 points." in again["-dash"]["Feedback comments"]
    assert again["-dash"]["Last modified (grade)"] == "2026-11-26 12:40", "PHP reads no German date"
    [stay] = [note for note in made.notes if "somebody entered in Moodle stay" in note]
    assert "amueller (" in stay and "zoed (" in stay
    assert any("tick “Allow updating records" in note for note in made.notes)


def test_what_people_entered_in_moodle_stays(tmp_path, filled):
    """Points without a submission, points and a comment for a text, a comment beside our points, a draft, a reopened attempt."""
    hand, blank = FILES / "a24-worksheet-hand-de.csv", FILES / "a24-worksheet-en.csv"
    table = read_list(hand)
    grade, comments, user = map(table.column, ("grade", "comments", "username"))
    ours = {row[user]: row for row in table.rows if row[comments].startswith(("Your notebook", "Some of"))}
    assert set(ours) - {"doradraft"} == HANDED_IN - {"wang3001"}
    given = {who: float(row[grade].replace(",", ".")) for who, row in ours.items()}
    first = rows_of(filled(given, blank), blank)

    def signed(row):  # what that version wrote had no checksum yet
        one = first.get(row[user])
        return {"comments": without_tags(one["Feedback comments"])} if one else {}

    sheet = written(tmp_path / "hand.csv", table, signed)
    points = dict.fromkeys((*sorted(HANDED_IN), "doradraft", "rita"), 5) | {"niko": None, "ottotext": None}
    for form in ("moodle-feedback", "moodle-worksheet"):
        made = filled(points, sheet, form)
        assert any("draft or a reopened attempt" in n and "doradraft, rita" in n for n in made.notes), form
        [stay] = [note for note in made.notes if "somebody entered in Moodle stay" in note]
        assert stay.endswith(": wang3001 (5 points here).")
        assert any("Otto Text" in n and "without a result here" in n for n in made.notes)
    assert set(rows_of(made, sheet)) == HANDED_IN - {"wang3001"}
    unsigned = rows_of(filled(points, hand), hand)
    assert not unsigned, "nobody knows who changed a comment without a checksum"
    written_to = set(rows_of(filled(points, blank), blank))
    assert written_to == HANDED_IN, "a text, a draft and a reopened attempt get no 0"


def test_german_blind_marking_is_matched_both_ways(tmp_path, a_class, filled):
    done = a_class("blind-folders-de.zip", "blind-worksheet-de.csv", roster="")
    assert done.kind == "moodle" and "Teilnehmerin_62" in done.students and not done.without_time
    points = dict.fromkeys(done.students, 12)
    table = read_list(FILES / "blind-worksheet-de.csv")
    blank = written(tmp_path / "blank.csv", table, grade="", comments="")
    assert len(rows_of(filled(points, blank), "blind-worksheet-de.csv")) == len(done.students) == 20
    with zipfile.ZipFile(filled(points, blank, "moodle-feedback").paths[0]) as archive:
        assert any(name.startswith("Participant_62_assignfeedback_file_") for name in archive.namelist())


def test_a_groups_notebook_is_each_members(tmp_path, a_class, filled):
    done = a_class("team-folders.zip", "team-worksheet-en.csv")
    texts = {who: (tmp_path / f"submitted/{who}/{LAB}/{LAB}.ipynb").read_text() for who in done.students}
    teams = {}
    table = read_list(FILES / "team-worksheet-en.csv")
    for row in table.rows:
        teams.setdefault(table.value(row, "groups"), set()).add(texts[table.value(row, "username")])
    assert len(done.students) == len(table.rows) == 23 and len(teams) == 5
    assert all(len(notebooks) == 1 for notebooks in teams.values())
    assert len(set.union(*teams.values())) == 5
    made = filled({who: len(texts[who]) % 24 for who in done.students}, "team-worksheet-en.csv")
    grades = {(row["Group"], row["Grade"]) for row in rows_of(made, "team-worksheet-en.csv").values()}
    assert len(grades) == 5, "one grade a group"
    with pytest.raises(UserError, match=r"is a group, and no list says who is in it.*--times"):
        a_class("team-folders.zip")


def test_a_groups_name_before_a_persons_changes_nothing(tmp_path, course_at):
    """Where a teacher chose a group to look at, Moodle puts its name and a hyphen before each person's."""
    course_at(f'{COURSE}roster = "{FILES / "participants-en.csv"}"\n')
    files = {f"Gruppe 1-Anna Schmidt_{number}_{FILE}/{LAB}.ipynb": str(number) for number in (16, 18)}
    done = collect(zip_of(tmp_path / "d.zip", files), tmp_path / "submitted", LAB, times=FILES / SHEET)
    assert done.students == ("aschmidt", "aschmidt2")


@pytest.mark.parametrize("file", ["participants-en.csv", "participants-de.csv", "participants-en.json"])
def test_moodles_lists_are_read_as_csv_and_json(file):
    people = read_class_list(FILES / file, ("teacher", "lehrer"))
    assert len(people.people) == 24 and people.find("00123").student == "amueller"
    assert people.find("mlking").section == "Team 7 (Mo. 8:00)"
    assert any("without roles" in note for note in read_class_list(FILES / file).notes)
    with_roles = read_class_list(FILES / "core_enrol_get_enrolled_users.json")
    assert len(with_roles.people) == 24 and with_roles.find("lehrer@uni.example") is None
    assert any("no students, and not counted: teacher, lehrer@uni" in note for note in with_roles.notes)


def test_an_empty_id_number_stops_moodles_import_so_another_column_is_advised(filled):
    points = {"noid@uni.example": 20, "amueller@uni.example": 20, "niko@uni.example": None}
    made = filled(points, "gradebook.csv", "moodle")
    assert len(read_list(made.paths[0]).rows) == 2, "who handed in nothing keeps what Moodle has"
    assert any("Map “Email address” in Moodle" in note for note in made.notes)
    assert any("as overridden" in note for note in made.notes)


def test_a_marking_workflow_needs_a_state(tmp_path, filled):
    table = read_list(FILES / "a24-worksheet-en.csv")
    header = [name.replace("Online text", "Marking workflow state") for name in table.header]
    flow = written(tmp_path / "flow.csv", CsvList(table.path, tuple(header), table.rows))
    assert any("until the state is “Released”" in note for note in filled({"bobby": 3}, flow).notes)
