"""The instructor's day in Chromium: a class graded in a terminal, answers read in Formgrader, and the pages that say so."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from autograder.sandbox.jail.namespaces import probe
from tests.demos.stage import opened
from tests.fixtures.frozen_course import LAB, WRONG, command, environment, hand_in
from tests.fixtures.jupyterlab import PATIENCE_MS
from tests.fixtures.waiting import free_port

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]

WRITTEN = "why_forget"
#: student -> code, and what stands in the written answers.
ANSWERS = {"ada": ({}, r"It forgets like $\frac{1}{\sqrt{n}}$."), "bo": (WRONG, "<script>attack()</script>")}
#: Points and comments for the written answers, in Formgrader's order of students.
MARKS = tuple((points, f"Two *reasons*, said {points} times: see $p_i$.") for points in (2, 1.5))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, graded_class: Path, frozen: Path) -> Path:
    """The class's results: two have handed in anew, and a terminal has shown how far grading was."""
    folder = shutil.copytree(graded_class, tmp_path_factory.mktemp("day") / "class")
    for student, (code, words) in ANSWERS.items():
        path = hand_in(folder / "submitted", student, code)
        path.write_text(path.read_text().replace("I think it follows", json.dumps(words)[1:-1]))
    words = ("grade", "01", "--submitted", folder / "submitted", "--out", folder / "out", "--jobs", 1)
    done = command(*words, root=frozen, FORCE_COLOR="1", TERM="xterm")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.stdout)
    assert re.search(rf"grading {LAB}.*2/2", shown), "the progress bar"
    assert re.search(r"cleo\s+missing", shown[shown.rindex("2/2") :]), "a row for everybody"
    return folder / "out"


@pytest.fixture(scope="module")
def formgrader(graded: Path, frozen: Path) -> Iterator[str]:
    """Formgrader's address, token and all, as the command prints it."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.cli", "formgrader", "--out", graded, "--no-browser",
         "--port", str(free_port())],
        env=environment(frozen, JUPYTER_RUNTIME_DIR=str(graded / "runtime")),
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


def test_what_formgrader_is_told_is_on_the_students_pages(
    graded: Path, browser: Browser, formgrader: str
) -> None:
    given = {}
    with look(browser, formgrader) as page:
        page.get_by_role("link", name=LAB).click()
        page.locator("#main-table").get_by_role("link", name=LAB).click()
        page.get_by_role("link", name="Submission #1", exact=True).click()
        for number, (points, comment) in enumerate(MARKS, 1):
            expect(page.locator("body")).to_contain_text(f"Submission {number} / 2")
            student = give(page, points, comment)
            given[student] = points
            shown = page.locator(".nbgrader_cell", has=page.locator(f"#{WRITTEN}")).inner_html()
            assert ("<svg" in shown) == (student == "ada") and "attack" not in shown
            if number < len(MARKS):
                page.locator(f"#{WRITTEN}").focus()
                page.keyboard.press("Control+.")
        page.goto(formgrader.split("/formgrader")[0].split("/lab")[0] + "/formgrader/manage_assignments")
        page.get_by_role("row", name=LAB).locator(".generate-feedback a").click()
        told = page.get_by_role("dialog")
        expect(told).to_contain_text(f"Successfully generated feedback of '{LAB}'.")
    assert set(given) == set(ANSWERS)
    rows = {row["student"]: row for row in json.loads((graded / "results.json").read_text())}
    for student, points in given.items():
        place = graded / "feedback" / student / LAB / f"{LAB}.html"
        with look(browser, place.as_uri(), dark=True) as page:
            answer, score = page.locator("[id^=written-]", has_text=WRITTEN), rows[student]["score"]
            expect(answer).to_contain_text(f"{points:g} of 2")
            expect(answer.locator(".teacher em")).to_have_text("reasons")
            expect(answer.get_by_role("img", name="p_i")).to_be_visible()
            expect(page.locator(".total")).to_contain_text(f"{score + points:g} of ")
