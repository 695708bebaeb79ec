"""The instructor's day, with the real commands and in Chromium: from a class's download to points and comments on every page."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Page, expect

from autograder.course.build import released_notebook
from autograder.course.masters import course_root, lab_name, solution_sources
from autograder.questions.engine.answers import answers_of, source_of
from autograder.sandbox.jail.namespaces import probe
from tests.demos.stage import opened
from tests.fixtures.frozen_course import command, environment, freeze
from tests.fixtures.jupyterlab import PATIENCE_MS
from tests.fixtures.live_class import free_port

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("instructors_day"),
]

LAB = lab_name("03")
WRITTEN = "why_mask"
QUESTION = "count_features"
MISCONCEPTION = "counts instead of shares"
FORMULA = r"\frac{1}{\sqrt{n}}"
STATUSES = ["crashed", "graded", "graded", "graded", "graded", "partly-run", "timed-out", "unreadable"]
#: Points and comments for the first four written answers that Formgrader shows.
MARKS = tuple((points, f"Two *reasons*, said {points} times: see $p_i$.") for points in (3, 1.5, 0, 2))
#: Fair to nobody: the text never asks for double precision, and one right answer counts in single precision.
UNFAIR = """

from autograder.questions.engine import Observed


@question.scenario("The table is in double precision.")
def double_precision(student, rng):
    yield Observed("double", np.asarray(student([[0, 1, 2]], 3)).dtype == np.float64)
"""


def named(kind: str, title: str) -> str:
    """The source of an answer from the catalogue."""
    answers = answers_of(LAB)[kind][QUESTION]
    return next(s for a in answers if title in (a.title, a.function.__name__) and (s := source_of(a)))


def handed_in(answers: dict[str, str], written: str, first: str = "") -> bytes:
    """The released notebook with these answers, and a cell of the student's own before them."""
    notebook = released_notebook(LAB)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = {**answers, WRITTEN: written}.get(name, cell.source)
    if first:
        notebook.cells.insert(3, nbformat.v4.new_code_cell(first))
    return nbformat.writes(notebook).encode()


def everybody() -> dict[str, bytes]:
    """The notebooks of a class of eight, by the names of Moodle's folders."""
    right = solution_sources(LAB)
    single = right | {QUESTION: named("alternative", "features_with_add_at")}
    wrong = right | {QUESTION: named("misconception", MISCONCEPTION)}
    half = dict(list(right.items())[:3])
    return {
        "Ada Lovelace_11": handed_in(right, f"Noise shrinks like ${FORMULA}$, so a voter *counts*."),
        "Bo Diaz_12": handed_in(wrong, "Noise."),
        "Cléo Petit_13": handed_in(single, "Because <b>silent</b> voters add no noise."),
        "Dora Ito_14": handed_in(half, "I ran out of time."),
        "Emil Khan_15": handed_in(right, "See above.", "undefined_name + 1"),
        "Finn O'Hara_16": b"{",
        "Gus Wolf_17": handed_in(right, "Votes are noisy.", "while True:\n    pass"),
        "Eve Zhang_18": handed_in({}, "<script>attack()</script>", "import os\nos._exit(0)"),
    }


class Day:
    """The course's folder, its class, and what has been done so far."""

    def __init__(self, folder: Path) -> None:
        self.root = freeze(folder / "course", LAB)
        shutil.copytree(course_root() / "notebooks" / "demos", self.root / "notebooks" / "demos")
        (self.root / "course.toml").write_text(
            "[limits]\ncell_seconds = 3\n"
        )  # one cell will not end by itself
        self.submitted, self.graded = folder / "submitted", folder / "graded"
        self.tests = self.root / "autograder" / "questions" / f"m{LAB}" / f"{QUESTION}.py"
        #: student -> the points and the comment that their written answer got.
        self.given: dict[str, tuple[float, str]] = {}

    def run(self, *words: object, **environment: str) -> str:
        """What a command says."""
        done = command(*words, root=self.root, COURSE_FILE=str(self.root / "course.toml"), **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.stdout)

    def results(self) -> dict[str, dict]:
        """student -> the row of results.json."""
        return {row["student"]: row for row in json.loads((self.graded / "results.json").read_text())}


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    """The course, and Moodle's bulk download of the class, collected."""
    folder = tmp_path_factory.mktemp("day")
    day = Day(folder)
    with day.tests.open("a", encoding="utf-8") as file:
        file.write(UNFAIR)
    with zipfile.ZipFile(folder / "submissions.zip", "w") as archive:
        for student, content in everybody().items():
            archive.writestr(f"{student}_assignsubmission_file_/{LAB}.ipynb", content)
    said = day.run("collect", folder / "submissions.zip", "03", "--submitted", day.submitted)
    assert "8 submissions (moodle: 8 of 8 names" in said
    assert len(list(day.submitted.glob(f"*/{LAB}/{LAB}.ipynb"))) == 8
    return day


@pytest.fixture(scope="module")
def graded(day: Day) -> str:
    """The class graded; what a terminal showed."""
    words = ("grade", "03", "--submitted", day.submitted, "--out", day.graded, "--jobs", 1)
    return day.run(*words, FORCE_COLOR="1", TERM="xterm")


@pytest.fixture(scope="module")
def formgrader(day: Day, graded: str) -> Iterator[str]:
    """Formgrader's address, token and all, as the command prints it."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.cli", "formgrader", "--out", day.graded, "--no-browser",
         "--port", str(free_port())],
        env=environment(day.root, JUPYTER_RUNTIME_DIR=str(day.graded / "runtime")),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        assert process.stdout
        found = next(filter(None, (re.search(r"http://127\.0\.0\.1\S+", line) for line in process.stdout)))
        threading.Thread(target=process.stdout.read, daemon=True).start()
        [server] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield found.group()
        process.send_signal(signal.SIGHUP)  # the terminal is closed: the signal is the command's alone
        assert process.wait(PATIENCE_MS / 1000) == 0
        assert not Path(f"/proc/{server}").exists(), "what ends the command ends its server"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def look(browser: Browser, address: str, **how: bool) -> AbstractContextManager[Page]:
    """A page; at its end no error was raised, and nothing was asked from elsewhere."""
    scheme, host = urlsplit(address)[:2]
    return opened(browser, address, own=f"{scheme}://{host}", ready="body", hears=["pageerror"], **how)


def give(page: Page, points: float, comment: str) -> str:
    """Points and a comment for the written answer on the page, saved; whose it is."""
    expect(page.locator(f"#{WRITTEN}.needs_manual_grade")).to_be_visible()
    expect(page.locator(f"#{WRITTEN}-comment")).to_have_attribute("placeholder", re.compile("comments here"))
    for what, field, value in (("grade", WRITTEN, str(points)), ("comment", f"{WRITTEN}-comment", comment)):
        with page.expect_response(lambda answer, what=what: f"/api/{what}/" in answer.url and answer.ok):
            page.locator(f"#{field}").fill(value)
            page.locator(f"#{field}").blur()
    return (page.locator("a.name-shown").text_content() or "").strip()


@pytest.fixture(scope="module")
def marked(day: Day, browser: Browser, formgrader: str) -> dict[str, str]:
    """Four written answers read in Formgrader, one after the other; student -> how the answer looked."""
    seen = {}
    with look(browser, formgrader) as page:
        expect(
            page.get_by_role("row", name=LAB).get_by_role("gridcell", name="8", exact=True)
        ).to_be_visible()
        page.get_by_role("link", name=LAB).click()
        page.locator("#main-table").get_by_role("link", name=LAB).click()
        page.get_by_role("link", name="Submission #1", exact=True).click()
        for points, comment in MARKS:
            expect(page.locator("body")).to_contain_text(f"Submission {len(seen) + 1} / 7")
            page.locator(f"#{WRITTEN}").focus()
            student = give(page, points, comment)
            day.given[student] = (points, comment)
            seen[student] = page.locator(".nbgrader_cell", has=page.locator(f"#{WRITTEN}")).inner_html()
            page.locator(f"#{WRITTEN}").focus()
            page.keyboard.press("Control+.")
            expect(page.locator("body")).to_contain_text(f"Submission {len(seen) + 1} / 7")
            expect(page.locator(f"#{WRITTEN}")).to_be_focused()
    return seen


@pytest.fixture(scope="module")
def mended(day: Day, marked: dict[str, str]) -> str:
    """The unfair test taken away and the class graded again; what the command said."""
    text = day.tests.read_text(encoding="utf-8")
    day.tests.write_text(text.removesuffix(UNFAIR), encoding="utf-8")
    return day.run("regrade", "03", "--submitted", day.submitted, "--out", day.graded, "--jobs", 1)


def test_a_terminal_shows_how_far_grading_is_and_then_a_row_for_everybody(day: Day, graded: str) -> None:
    assert re.search(rf"grading {LAB}.*8/8", graded), "the progress bar"
    after = graded[graded.rindex("8/8") :]
    statuses = {student: row["status"] for student, row in day.results().items()}
    for student, status in statuses.items():
        shown = "" if status == "graded" else status  # only what is unusual is named
        assert re.search(rf"{re.escape(student)}\s+{shown}", after), student
    assert sorted(statuses.values()) == STATUSES


def test_the_report_names_the_misconception_its_demo_and_links_each_students_page(
    day: Day, browser: Browser, graded: str
) -> None:
    with look(browser, (day.graded / "report" / f"{LAB}.html").as_uri()) as page:
        headings = page.get_by_role("heading", level=2).all_inner_texts()
        assert {"How the notebooks ran", "What the class misunderstands", "Every student"} <= set(headings)
        row = page.get_by_role("row", name=MISCONCEPTION)
        expect(row).to_contain_text(QUESTION)
        demo = page.get_by_text("Demo for this lab").get_by_role("link")
        assert (demo.get_attribute("href") or "").endswith("03_votes_and_mask.html")
        page.get_by_role("link", name="Bo Diaz_12").click()
        expect(page.get_by_text(f"This looks like: {MISCONCEPTION}")).to_be_visible()


def test_written_answers_are_read_in_formgrader_with_their_formulas(marked: dict[str, str]) -> None:
    assert len(marked) == len(MARKS), "four different students"
    for student, shown in marked.items():
        assert ("<svg" in shown) == ("Lovelace" in student)
        assert "attack" not in shown


def test_a_regrade_says_what_it_did_and_why_and_keeps_what_the_professor_gave(day: Day, mended: str) -> None:
    assert f"8 graded again, changed: tests of {QUESTION}: tested: {QUESTION} (7 of them)" in mended
    score = {student: row["score"] for student, row in day.results().items()}
    assert score["Cléo Petit_13"] == score["Ada Lovelace_11"] == 20 > score["Bo Diaz_12"]
    with Gradebook(f"sqlite:///{day.graded / 'gradebook.db'}") as book:
        for student, (points, comment) in day.given.items():
            grade = book.find_grade(WRITTEN, LAB, LAB, student)
            assert (grade.manual_score, grade.needs_manual_grade) == (points, False)
            assert book.find_comment(WRITTEN, LAB, LAB, student).manual_comment == comment


def test_the_feedback_page_shows_the_points_and_the_comment(
    day: Day, browser: Browser, formgrader: str, mended: str
) -> None:
    """Formgrader's button writes the pages; `autograder feedback` is what the hub's day uses."""
    with look(browser, formgrader) as page:
        page.goto(formgrader.split("/formgrader")[0].split("/lab")[0] + "/formgrader/manage_assignments")
        page.get_by_role("row", name=LAB).locator(".generate-feedback a").click()
        told = page.get_by_role("dialog")
        expect(told).to_contain_text(f"Successfully generated feedback of '{LAB}'.")
    for student, (points, _) in day.given.items():
        place = day.graded / "feedback" / student / LAB / f"{LAB}.html"
        with look(browser, place.as_uri(), dark=True) as page:
            answer, score = page.locator("[id^=written-]"), day.results()[student]["score"]
            expect(answer).to_contain_text(f"{points:g} of 3")
            expect(answer.locator(".teacher em")).to_have_text("reasons")
            expect(answer.get_by_role("img", name="p_i")).to_be_visible()
            expect(page.locator(".total")).to_contain_text(f"{score + points:g} of 23 points")
