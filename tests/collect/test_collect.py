"""Downloads become nbgrader's layout, nothing in them is trusted, and a teacher's list alone makes anybody late."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import nbformat
import pytest

from autograder.collect import Collected, collect
from autograder.collect import entries as reading
from autograder.course import policy_file
from autograder.course.build import released_notebook
from autograder.errors import GradingError, UserError
from autograder.results import SubmissionResult
from autograder.run.remarks import remarks

LAB = "07_self_attention"
EARLY, LATER = (2026, 3, 1, 9, 0, 0), (2026, 3, 2, 9, 30, 0)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out" / "submitted"


def zip_bytes(
    files: dict[str, str | bytes],
    times: dict[str, tuple[int, ...]] | None = None,
    method: int = zipfile.ZIP_STORED,
) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            time = (times or {}).get(name, EARLY)
            archive.writestr(zipfile.ZipInfo(name, date_time=time), text, method)  # type: ignore[arg-type]
    return content.getvalue()


def zip_of(path: Path, files: dict[str, str | bytes], *times: dict[str, tuple[int, ...]]) -> Path:
    path.write_bytes(zip_bytes(files, *times))
    return path


def folder_of(path: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(content)
    return path


@pytest.fixture
def collected(tmp_path, out) -> Callable[..., Collected]:
    """``collected(files, times)``: what was collected of a zip of these files, with a list of this text."""

    def made(files, times="", to=out, **more):
        if times:
            (tmp_path / "t.csv").write_text(times, encoding="utf-8")
            more["times"] = tmp_path / "t.csv"
        return collect(zip_of(tmp_path / "d.zip", files), to, LAB, **more)

    return made


def submitted(root: Path) -> dict[str, str]:
    """Student -> content of the collected notebook."""
    return {p.parent.parent.name: p.read_text() for p in root.glob(f"*/{LAB}/{LAB}.ipynb")}


NB = f"{LAB}.ipynb"
LONG_AGO = "1999-01-01 00:00:00 UTC"
FILE = "assignsubmission_file"

#: What is in a zip -> what is collected of whom, and what is said. A name that ends in “ later” has a later date.
DOWNLOADS: dict[str, tuple[dict[str, str | bytes], dict[str, str], list[str]]] = {
    "canvas": (
        {f"lovelaceada_4711_900_{NB}": "ada", f"bohrniels_LATE_4712_901_{LAB}-1.ipynb": "niels", "curiemarie_4713_902_my notebook.ipynb": "marie", "curiemarie_4713_903_x.png": "x"},
        {"lovelaceada_4711": "ada", "bohrniels_4712": "niels", "curiemarie_4713": "marie"},
        ["bohrniels_4712: Canvas marks the submission as late", "my notebook.ipynb was taken", "The times of 3 of 3 are unknown"],
    ),
    "canvas, handed in again": (
        {f"adaada_1_2_{NB}": "first", f"adaada_1_3_{LAB}-1.ipynb": "second", f"bo_2_9_{NB}": "b"}, {"adaada_1": "second", "bo_2": "b"}, [],
    ),
    "canvas, names with underscores and numbers, anonymous ones, a typed text": (
        {
            f"van_der_bergjan_4711_900_{NB}": "jan", "anon_aB3x9_902_my_2_3_notebook.ipynb": "a", f"LATE_anon_Zz9q1_903_{NB}": "z",
            "typed_4714_904_text.html": "my answer", "prince_1_4715_905_mine.ipynb": "", f"curiemarie_4716_906_12_{NB}": "marie",
        },
        {"anon_Zz9q1": "z", "anon_aB3x9": "a", "curiemarie_4716": "marie", "van_der_bergjan_4711": "jan"},
        ["prince_1_4715_905_mine.ipynb is not collected", "typed_4714 handed in a typed text but no notebook"],
    ),
    "canvas, unpacked and packed again": (
        {f"submissions/{who}_900_{NB}": who for who in ("ada_1", "bo_2", "cleo_3")}, {who: who for who in ("ada_1", "bo_2", "cleo_3")}, [],
    ),
    "canvas, one student's files are named like another system's": (
        {f"eve_1_{n}_x_attempt_2026-10-24-17-59-00_{n}.ipynb": "x" for n in range(100, 110)} | {f"ann_2_20_{NB}": "ann", f"bo_3_30_{NB}": "bo"},
        {"eve_1": "x", "ann_2": "ann", "bo_3": "bo"}, [],
    ),
    "moodle": (
        {f"Ada Lovelace_77_{FILE}_/{NB}": "ada", f"Łukasz Nowak_78_{FILE}_/{NB}": "lukasz", "Ada Lovelace_77_assignsubmission_onlinetext_/onlinetext.html": "text"},
        {"Ada Lovelace_77": "ada", "Łukasz Nowak_78": "lukasz"}, [],
    ),
    "moodle, without folders": (
        {f"Ada Lovelace_77_{FILE}_{NB}": "ada", f"Łukasz Nowak_78_{FILE}_{NB}": "lukasz"}, {"Ada Lovelace_77": "ada", "Łukasz Nowak_78": "lukasz"}, [],
    ),
    "moodle, a name that holds Moodle's own mark": (
        {f"Ada Lovelace_77_{FILE}_/{NB}": "ada", f"Ada Lovelace_77_{FILE}_99_{FILE}_/{NB}": "eve"}, {"Ada Lovelace_77": "ada"}, [f"Nobody's: Ada Lovelace_77_{FILE}_99_"],
    ),
    "moodle, times that students wrote": (
        {
            f"Ada L_77_{FILE}_/{NB}": "ada", f"Ada L_77_{FILE}_/timestamp.txt": LONG_AGO,
            f"Bo D_78_{FILE}_/all.zip": zip_bytes({NB: "bo", "timestamp.txt": LONG_AGO}, dict.fromkeys((NB, "timestamp.txt"), (1999, 1, 1, 0, 0, 0))),
        },
        {"Ada L_77": "ada", "Bo D_78": "bo"}, ["The times of 2 of 2 are unknown"],
    ),
    "nbgrader's layout, files and zips": (
        {
            f"student-1/{LAB}/{NB}": "one", f"student-1/{LAB}/timestamp.txt": LONG_AGO, "student-1/06_positions/06_positions.ipynb": "x", "student-1/.ipynb_checkpoints/x.ipynb": "old",
            "bo.ipynb": "bo", "cy.zip": zip_bytes({f"anything/{NB}": "cy"}), "dee/06_positions/06_positions.ipynb": "x",
        },
        {"student-1": "one", "bo": "bo", "cy": "cy"}, [f"dee handed in no notebook of {LAB}.", "The times of 3 of 3 are unknown"],
    ),
    "one student in nbgrader's layout": ({f"ada/{LAB}/{NB}": "a"}, {"ada": "a"}, []),
    "one student with two labs": ({f"ada/{lab}/{lab}.ipynb": lab for lab in (LAB, "06_positions")}, {"ada": LAB}, []),
    "students who are numbers": ({f"{who}/{who}.ipynb": who for who in ("4711", "4712")}, {"4711": "4711", "4712": "4712"}, []),
    "the right name, else the newest": (
        {f"ada/{NB}": "right", "ada/newer.ipynb later": "newer", "bo/a.ipynb later": "newest", "bo/z.ipynb": "old"}, {"ada": "right", "bo": "newest"},
        [f"ada handed in 2 notebooks: ada/{NB}, the one with the right name, was taken.", "bo handed in 2 notebooks: bo/a.ipynb, the newest by the files' own dates, was taken."],
    ),
    "what browsers and Macs make of a name": (
        {f"ada/{NB}.txt": "ada", f"bo/{NB}.json": "bo", f"cy/{LAB} (1).IPYNB": "cy", f"di/{NB}": "di", f"di/._{NB}": "not this one", "em.ipynb.txt": "em"}, {who: who for who in ("ada", "bo", "cy", "di", "em")}, [],
    ),
    "a zip that is none": ({f"ada/{NB}": "good", "bo.zip": "PK\x03\x04 this is no zip"}, {"ada": "good"}, ["bo.zip"]),
    "many zips of one student": (
        {f"ada/{n}.zip": zip_bytes({NB: str(n)}) for n in range(9)} | {f"bo/{NB}": "bo"}, {"ada": "4", "bo": "bo"}, [f"Not read: ada/{n}.zip; of one student 5 zips are opened." for n in (5, 8)],
    ),
    "many files of one student": ({f"zoe/.venv/lib/{n}.py": "" for n in range(10_500)} | {f"{who}/{NB}": who for who in ("ada", "zoe")}, {"ada": "ada", "zoe": "zoe"}, []),
    "folders that are too deep": ({f"ada/{NB}": "ada", f"eve/{'a/' * 9000}{NB}": "eve"}, {"ada": "ada"}, ["deeper than 50 folders"]),
    "names that lead out of the folder": (
        {f"ada/{NB}": "good", f"../../{NB}": "", f"/etc/{NB}": "", f"C:\\x\\{NB}": "", f"ada/../../{NB}": "", f"..\\{NB}": ""}, {"ada": "good"}, ["outside its folder"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("download", DOWNLOADS)
def test_a_download_is_collected_and_what_was_chosen_is_said(tmp_path, out, download):
    files, expected, said = DOWNLOADS[download]
    later = {name.removesuffix(" later"): LATER for name in files if name.endswith(" later")}
    contents = {name.removesuffix(" later"): text for name, text in files.items()}
    done = collect(zip_of(tmp_path / "d.zip", contents, later), out, LAB)
    assert submitted(out) == expected and set(done.students) == set(expected)
    kind = download.split(",")[0]
    assert done.kind == (kind if kind in ("canvas", "moodle") else "plain")
    for words in said:
        assert any(words in note for note in done.notes), words
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["submitted"]


def test_links_are_refused_in_zips_and_folders(tmp_path, out):
    link = zipfile.ZipInfo(f"bo/{LAB}.ipynb", date_time=EARLY)
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr(f"ada/{LAB}.ipynb", "good")
    done = collect(tmp_path / "z.zip", out, LAB)
    assert submitted(out) == {"ada": "good"} and any("is a link" in note for note in done.notes)
    assert (out / "bo" / LAB).is_dir(), "who is in the download has a folder"

    (tmp_path / "secret.ipynb").write_text("secret")
    source = folder_of(tmp_path / "class", {f"cy/{NB}": "cy", "dee/readme.txt": ""})
    (source / "dee" / NB).symlink_to(tmp_path / "secret.ipynb")
    (source / "eve").symlink_to(tmp_path)
    (source / "ed" / "/".join("a" * 60)).mkdir(parents=True)
    os.mkfifo(source / "cy" / "pipe.ipynb")
    done = collect(source, out, LAB)
    assert submitted(out) == {"ada": "good", "cy": "cy"}
    assert {path.parent.name for path in out.glob(f"*/{LAB}")} >= {"dee", "ed", "eve"}
    assert sum("is a link" in n or "no plain file" in n for n in done.notes) == 3
    assert any("Not read: ed/a/" in note and "deeper than 50 folders" in note for note in done.notes)


def test_a_bomb_is_read_up_to_the_cap_only(tmp_path, out, collected, monkeypatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 1 << 20)
    source = zip_of(tmp_path / "z.zip", {f"bomb/{LAB}.ipynb": b"\0" * (3 << 20), f"ada/{LAB}.ipynb": "good"})
    data = bytearray(source.read_bytes())
    # The listing claims that the bomb unpacks to 10 bytes.
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    source.write_bytes(bytes(data))
    done = collect(source, out, LAB)
    assert submitted(out) == {"ada": "good"}
    assert any(note.startswith("bomb:") for note in done.notes)

    monkeypatch.setattr(reading, "MAX_INNER_ENTRIES", 30)
    files: dict[str, str | bytes] = {
        f"big/{LAB}.ipynb": b"\0" * (3 << 20),
        "large/a.zip": zip_bytes({NB: "x" * (3 << 20)}, method=zipfile.ZIP_DEFLATED),
        "many/a.zip": zip_bytes({f"{number}.ipynb": "x" for number in range(31)}),
        "odd/a.zip": zip_bytes({NB: "x" * (3 << 20)}, method=zipfile.ZIP_BZIP2),
        "bo/b.zip": zip_bytes({NB: "bo"}),
    }
    done = collected(files, to=out / "2")
    assert submitted(out / "2") == {"bo": "bo"}
    notes = "\n".join(done.notes)
    assert f"big/{NB} is larger than 1 MB" in notes and f"large/a.zip/{NB} is larger" in notes
    assert "lists more than 30" in notes and "unusual way" in notes


def test_collecting_again_keeps_the_notebook_that_is_known_to_be_newer(out, collected):
    for text, time, stays, said in (
        ("new", "2026-03-02 09:30:00 UTC", "new", ""),
        ("old", "2026-03-01 09:00:00 UTC", "new", "is newer and stays"),
        ("newest", "2026-03-09 09:00:00 UTC", "newest", "replaced"),
        ("undated", "", "undated", "replaced"),
    ):
        files = {f"{who}/{NB}": text for who in ("ada", "bo")}
        done = collected(files, f"student,time\nada,{time}\n" if time else "")
        assert submitted(out)["ada"] == stays and said in " ".join(done.notes)
    assert done.without_time == ("ada", "bo"), "the time of the notebook before it is not this one's"


def test_nothing_to_collect_is_a_sentence(tmp_path, out):
    with pytest.raises(GradingError, match="does not exist"):
        collect(tmp_path / "none.zip", out, LAB)
    (tmp_path / "text.zip").write_text("hello")
    with pytest.raises(GradingError, match="no zip that can be read"):
        collect(tmp_path / "text.zip", out, LAB)
    with pytest.raises(GradingError, match="holds no notebook"):
        collect(folder_of(tmp_path / "empty", {"readme.txt": ""}), out, LAB)
    with pytest.raises(GradingError, match="no kind of download"):
        collect(tmp_path, out, LAB, kind="fax")


def test_one_students_thousand_bad_files_leave_the_others_notes_in_sight(collected):
    packed = zip_bytes({f"../{number}{'n' * 300}": b"" for number in range(3000)})
    files = {f"bob_100_{n}_w{n}.zip": packed for n in range(9)}
    done = collected(files | {f"ada_101_1_{NB}": "x"}, kind="canvas")
    assert len(done.notes) < 50 and sum(map(len, done.notes)) < 20_000
    assert any("2995 more" in note for note in done.notes)


def damaged(path: Path) -> Path:
    """Whose content begins with DAMAGED has other bytes than the zip promises."""
    path.write_bytes(path.read_bytes().replace(b"DAMAGED", b"XXXXXXX"))
    return path


def test_whoever_is_in_the_download_has_a_folder_whatever_their_files_are(tmp_path, out):
    canvas = {
        f"adaada_1_1001_{LAB}.ipynb": "ada",
        f"bobo_2_1002_{LAB}.ipynb": "DAMAGED",
        "cycy_3_1003_work.zip": "no zip",
        "didi_4_1004_notes.pdf": "pdf",
    }
    download = zip_of(tmp_path / "c.zip", canvas)
    collect(download, out / "twice", LAB)
    done = collect(damaged(download), out, LAB)
    assert done.students == ("adaada_1",)
    assert {path.parent.name for path in out.glob(f"*/{LAB}")} == {"adaada_1", "bobo_2", "cycy_3", "didi_4"}
    done = collect(download, out / "twice", LAB)
    assert submitted(out / "twice") == {"adaada_1": "ada", "bobo_2": "DAMAGED"}
    assert "bobo_2: the notebook that was collected before stays, with its own time." in done.notes
    plain = {
        f"ada/{LAB}.ipynb": "ada",
        f"bo/{LAB}.ipynb": "DAMAGED",
        "cy/work.zip": "no zip",
        "di/notes.pdf": "pdf",
        "ed/": "",
        f"fy/../{LAB}.ipynb": "out of the folder",
        "readme.txt": "nobody's",
        ".vscode/settings.json": "nobody's",
    }
    assert collect(damaged(zip_of(tmp_path / "p.zip", plain)), out / "p", LAB).students == ("ada",)
    there = {path.parent.name for path in (out / "p").glob(f"*/{LAB}")}
    assert there == {"ada", "bo", "cy", "di", "ed"}


def test_a_name_in_utf8_without_the_mark_is_read_as_it_was_written(tmp_path, out):
    path = zip_of(tmp_path / "mac.zip", {f"{who}/{NB}": who for who in ("xxxxx", "yyyyyyyyyy", "ada")})
    raw = path.read_bytes().replace(b"xxxxx/", "José/".encode())
    path.write_bytes(raw.replace(b"yyyyyyyyyy/", "Łukasz学/".encode()))
    assert collect(path, out, LAB).students == ("José", "ada", "Łukasz学")


@pytest.mark.parametrize(
    "paths",
    [
        [f"dl/ada/{NB}", "dl/bo/x.ipynb"],
        ["dl/ada.ipynb", "dl/bo.ipynb", f"dl/{NB}"],
        [f"ada/{NB}", "ada/scratch.ipynb"],
        [f"ada/bo/{NB}"],
        [f"ada/bo/work/{NB}", f"ada/cy/{NB}"],
    ],
)
def test_whose_an_only_folder_is_nobody_guesses(tmp_path, out, paths):
    """Whoever is collected alone may call a folder in their folder like a classmate."""
    source, top = zip_of(tmp_path / "d.zip", dict.fromkeys(paths, "x")), paths[0].split("/")[0]
    with pytest.raises(UserError, match=f"“{top}” is the download's only folder: does it belong"):
        collect(source, out, LAB)
    assert collect(source, out, LAB, kind="plain").students == (top,)


#: Eve's number is 5000 and her file's 9001; what she calls herself looks like Ada's name and number.
NAMES = ["lovelaceada_4711", "lovelaceada_4711_99999999_x", "x_4711", "lovelaceada_LATE_4711"]
LISTED = "student,name,canvas id\nada,Ada Lovelace,4711\nbo,Bo Diaz,4712\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_two_readings_is_nobodys_and_named(out, collected, course_at, name):
    for adas, eves, roster in ((NB, "nb.ipynb", ""), ("hw.ipynb", NB, ""), ("hw.ipynb", NB, LISTED)):
        course_at("", roster)
        files = {f"lovelaceada_4711_8000_{adas}": "ada", f"diazbo_4712_8001_{NB}": "bo"}
        files[f"{name}_5000_9001_{eves}"] = "eve"
        done = collected(files, to=out / str(bool(roster)), kind="canvas")
        ada, bo = ("ada", "bo") if roster else ("lovelaceada_4711", "diazbo_4712")
        assert submitted(out / str(bool(roster))) == {ada: "ada", bo: "bo"}
        assert any(f"{name}_5000_9001_{eves} is not collected" in note for note in done.notes)


CANVAS = {f"lovelaceada_4711_900_{LAB}.ipynb": "ada", f"bohr_niels_LATE_4712_901_{LAB}.ipynb": "niels"}
MOODLE = DOWNLOADS["moodle, without folders"][0]


def test_the_command_says_how_many_of_which_kind_it_collected(tmp_path, out, said):
    source = zip_of(tmp_path / "d.zip", CANVAS)
    words = said("collect", source, "07", "--submitted", out)
    assert "✓ 2 submissions (canvas: 2 of 2 names are Canvas's) in" in words


def stamps(out: Path) -> dict[str, str]:
    return {path.parents[1].name: path.read_text().strip() for path in out.glob("*/*/timestamp.txt")}


def test_canvass_report_and_the_list_of_its_api_give_the_times(out, collected):
    done = collected(CANVAS, "user_id,name,submitted_at\n4711,Ada Lovelace,2026-03-01T10:00:00Z\n4712,,\n")
    ada, niels = "lovelaceada_4711", "bohr_niels_4712"
    assert stamps(out) == {ada: "2026-03-01 10:00:00 UTC"} and done.without_time == (niels,)
    answer = [
        {"id": 4711, "user_id": 4712, "submitted_at": "2026-03-01T12:00:00+02:00", "attempt": 2},
        {"id": 9, "user_id": 4711, "submitted_at": None},
    ]
    collected(CANVAS, json.dumps(answer))
    assert stamps(out) == {ada: "2026-03-01 10:00:00 UTC", niels: "2026-03-01 10:00:00 UTC"}


#: What is no list of this lab's times -> why it is refused.
REFUSED = {
    **{
        f'student,time\nada,"{time}"\n': r"Row 2 .* is no time that can be read without guessing"
        for time in ("02/03/2026 10:00", "yesterday", "2026-03-02", "2 Marchember 2026, 10:00", "2 March 2026, 14:15 AM")
    },
    "who,what\na,b\n": "no column for the submitted .* its columns are “who”, “what”",
    "time\n2026-03-02 10:00\n": "whose time",
    "student,time\n" + "".join(f"x{number},2026-03-02 10:00 UTC\n" for number in range(12)): (
        "has no time for anybody in the download.*x9 and 2 more, the download ada, bo. Nothing was collected."
    ),
    # Canvas's API has a list of a student's submissions in all assignments: the last of them made everybody late.
    json.dumps([{"user_id": 1, "assignment_id": n, "submitted_at": f"2026-03-{n}T10:00:00Z"} for n in (17, 18)]): (
        "of 2 assignments, 17, 18: give that of this lab alone"
    ),
    "student,Assignment ID,assignment name,time\nada,17,Lab,2026-03-01T10:00Z\nada,18,Lab,2026-03-30T10:00Z\n": "of 2 assignments, 17, 18",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_list_of_this_labs_times_is_refused(out, collected, text):
    with pytest.raises(UserError, match=REFUSED[text]):
        collected({f"{who}/{NB}": who for who in ("ada", "bo")}, text)
    assert not out.exists()


def test_a_worksheet_of_another_assignment_stops_everything(out, collected):
    for row, said in (
        ("Participant 77,Łukasz Nowak", "calls number 77 “Łukasz Nowak”, the download “Ada Lovelace”"),
        ("Participant 77,", "has no names"),
    ):
        with pytest.raises(UserError, match=said):
            collected(MOODLE, f"Identifier,Full name,Last modified (submission)\n{row},2026-03-02 10:00\n")
        assert not out.exists()


def test_a_plain_list_and_github_classrooms_grades_give_the_times(out, collected):
    files = {f"{who}/{NB}": who for who in ("ada", "bo", "cy")}
    plain = "student;time\nada;02.03.2026 10:00\nada;2026-03-02 12:00 UTC\nbo;2026-03-02T12:00:00-05:00\n"
    done = collected(files, f"{plain}boo;2026-03-02 11:00 UTC\nboo;2026-03-02 12:00 UTC\nnever;\n")
    assert "In t.csv, but not in the download: boo." in done.notes and done.without_time == ("cy",)
    assert "In t.csv with several times, of which the last counts: ada." in done.notes
    assert stamps(out) == {"ada": "2026-03-02 12:00:00 UTC", "bo": "2026-03-02 17:00:00 UTC"}
    header = "roster_identifier,github_username,student_repository_name,submission_timestamp"
    collected(files, f"{header}\nada,x,lab-07-x,2026-03-03 08:00:00 UTC\n")
    assert stamps(out)["ada"] == "2026-03-03 08:00:00 UTC"
    files |= {f"ADA/{NB}": "another, called alike but for capitals"}
    plain = "student,time\nada,2026-03-01 10:00:00 UTC\nADA,2026-03-09 10:00:00 UTC\n"
    collected(files, plain, out / "2")
    assert stamps(out / "2") == {"ada": "2026-03-01 10:00:00 UTC", "ADA": "2026-03-09 10:00:00 UTC"}


def test_a_notebook_of_another_lab_is_said(collected):
    other = nbformat.writes(released_notebook("06_positions"))
    done = collected({f"{who}/{NB}": other for who in ("ada", "bo")})
    assert any(f"is a notebook of 06_positions, not of {LAB}" in note for note in done.notes)


def test_one_new_name_on_a_list_ends_nothing_and_another_courses_list_does(out, collected, course_at):
    files = {f"bachbo_102_9_{NB}": "", f"kerncleo_103_9_{NB}": "", f"batman_104_9_{NB}": ""}

    def lists(*names: str) -> tuple[str, str]:
        """A class list, and a list of times, with these names."""
        rows = [f'"{name}",{number}' for number, name in enumerate(names, 102)]
        times = [f"{row},2026-03-01 10:00:00 UTC" for row in rows]
        roster = [f"s{row[-3:]},{row}" for row in rows]
        return "\n".join(["student,name,canvas id", *roster]), "\n".join(
            ["name,user_id,submitted_at", *times]
        )

    roster, times = lists("Bach, Bo", "Kern, Cleo", "Mint, Mallory")
    course_at("", roster)
    done = collected(files)
    assert set(done.students) == {"s102", "s103", "batman_104"}
    said = "104 is “Mint, Mallory” on the class list and “batman” in the download"
    assert any(said in note for note in done.notes)
    course_at("")
    done = collected(files, times, out / "times")
    assert len(done.students) == 3 and done.without_time == ("batman_104",)
    assert any("Name in t.csv does not match" in note and "batman_104" in note for note in done.notes)
    roster, times = lists("Xenia X", "Yoko Y", "Batman")
    with pytest.raises(UserError, match="belongs to another assignment or course"):
        collected(files, times, out / "other")
    course_at("", roster)
    assert collected(files, to=out / "other").students == ("bachbo_102", "kerncleo_103", "s104")


def test_whoever_is_called_like_what_a_list_calls_a_classmate_gives_her_no_time(out, collected, course_at):
    """Canvas's report has names beside numbers, and a name may be a classmate's login or number: her time was his, and late."""
    roster = "student,name,email,id number,canvas id\nada,Ada Lovelace,ada@x.edu,i101,101\nmal,Mallory M,mal@x.edu,i104,104\n"
    course_at("", roster)
    for column, ada, mal in (("user_id", "101", "104"), ("SIS Login ID", "ada", "mal")):
        for name in ("i101", "ada", "ADA", "ada@x.edu", "Ada Lovelace", "lovelaceada_101"):
            files = {f"lovelaceada_101_9000_{NB}": "ada", f"{name}_104_9001_{NB}": "mal"}
            hers, his = (f"2026-03-0{day} 10:00:00 UTC" for day in (1, 9))
            times = f"{column},Student,submitted_at\n{ada},Ada Lovelace,{hers}\n{mal},{name},{his}\n"
            collected(files, times, out / f"{ada}-{name}")
            assert stamps(out / f"{ada}-{name}")["ada"] == hers, name


def test_wherever_collecting_is_stopped_a_new_notebook_has_no_earlier_ones_time(out, collected, monkeypatch):
    module = importlib.import_module("autograder.collect.placing")
    whole, left = module.write_atomically, 0

    def stopped(path: Path, content: str | bytes) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise UserError("the disk is full")
        whole(path, content)

    later = {name: f"{text} again" for name, text in CANVAS.items()}
    for stop in range(1, 6):
        times = "user_id,submitted_at\n4711,2026-03-01T10:00:00Z\n4712,2026-03-01T10:00:00Z\n"
        collected(CANVAS, times, out / str(stop))
        assert len(stamps(out / str(stop))) == 2
        left = stop
        monkeypatch.setattr(module, "write_atomically", stopped)
        with contextlib.suppress(UserError):
            collected(later, to=out / str(stop))
        monkeypatch.setattr(module, "write_atomically", whole)
        done = collected(later, to=out / str(stop))
        assert stamps(out / str(stop)) == {} and len(done.without_time) == 2


def test_repositories_are_refused_unless_their_folders_are_called_like_the_students(tmp_path, out):
    """Whoever owns a repository may rename it: its name takes no classmate's place."""
    clones = folder_of(tmp_path / "c", {f"lab-{who}/{LAB}.ipynb": who for who in ("ada", "bo")})
    (clones / "lab-ada" / ".git").mkdir()
    (clones / "lab-bo" / ".github").mkdir()
    (clones / "lab-bo" / ".github" / "classroom.yml").touch()
    with pytest.raises(UserError, match="fetch them with `autograder github pull`, or give --kind plain"):
        collect(clones, out, LAB)
    assert collect(clones, out / "plain", LAB, kind="plain").students == ("lab-ada", "lab-bo")


def test_an_extension_of_whom_two_accounts_may_be_is_both_and_that_is_said(tmp_path, course_at):
    """It is hers, and nobody can say here who she is."""
    roster = "student,name,username,extension\nada-gh,Ada A,ada1,30\nbo-gh,Bo B,bo1,\nmal-gh,Mal M,mal1,\n"
    course_at("", roster)
    names, longer = ("ada-gh", "bo-gh", "ada1"), timedelta(days=30)
    assert [policy_file.extension_of(LAB, who) for who in names] == [longer, None, longer]
    results = [SubmissionResult(who, LAB, "graded", 0.0, 1.0, 0.0, ()) for who in names]
    [sentence] = [one for one in remarks(LAB, results, {}) if "all match" in one]
    assert "ada-gh, ada1 all match ada-gh" in sentence and "have that student's extension" in sentence
    assert set(policy_file.class_list().of_folders(names)) == {"bo-gh"}


ALIKE = [f"HW_{number}_2_ann{number}_attempt_2026-10-24-17-59-00_{NB}" for number in range(3)]
UNREAD = {
    "Blackboard": [f"HW_{user}_attempt_2026-10-24-17-59-00_{NB}" for user in ("ann", "bo")] + ["somebody.ipynb"],
    "Blackboard, whose names are Canvas's as well": ALIKE,
    "ILIAS": [f"E/Abgaben/Roth_Eva_eroth_{n}/20261024120000_{NB}" for n in (1, 2)] + ["E/status.xlsx"],
    "Brightspace": ["123-456 - Ann Lee - Oct 24, 2026 559 PM/x.ipynb", "124-456 - Bo Li - Oct 4, 2026 1159 AM/x.ipynb"],
    "Gradescope": ["assignment_1_export/submission_11/x.ipynb", "assignment_1_export/submission_12/x.ipynb"],
    "Microsoft Teams": ["Student work/Ann Lee/HW/Version 1/x.ipynb", "Student work/Bo Li/HW/Version 2/x.ipynb"],
}  # fmt: skip


@pytest.mark.parametrize("system", UNREAD)
def test_a_download_of_a_system_that_is_not_read_is_refused_by_name(tmp_path, out, system):
    source = zip_of(tmp_path / "d.zip", dict.fromkeys(UNREAD[system], "x"))
    with pytest.raises(UserError, match=f"a download of {system.split(',')[0]}, which is not supported"):
        collect(source, out, LAB)
    assert not out.exists()
