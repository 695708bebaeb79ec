"""The preview shows an author what a student will see, and again after every change."""

from __future__ import annotations

import threading
import time

import pytest

from autograder.errors import UserError
from autograder.preview.watch import preview, watched
from tests.fixtures.example_lab import LAB, write_example
from tests.fixtures.frozen_course import environment, freeze, unhurried
from tests.fixtures.jupyterlab import PATIENCE_MS


def test_an_imported_lab_has_nothing_to_preview(monkeypatch):
    monkeypatch.setattr("autograder.preview.watch.source_of_import", lambda lab: "ps1/problem1")
    with pytest.raises(UserError, match="was imported"):
        preview("20_problem1", False, print)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return unhurried(write_example(freeze(tmp_path_factory.mktemp("previewed"))))


def test_a_change_is_built_audited_and_shown_while_the_page_is_open(course, browser, monkeypatch):
    for name, value in environment(course).items():
        monkeypatch.setenv(name, value)
    said, stop = [], threading.Event()
    assert [path.name for path in watched(LAB)] == [f"{LAB}.py", f"m{LAB}"]
    thread = threading.Thread(target=preview, args=(LAB, False, said.append, stop))
    thread.start()
    try:
        until(lambda: len(said) == 2)
        state, _, address = said[1].partition(": ")
        assert state == "✓ everything as it should be"
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        card = page.locator("#entropy .answer", has_text="one number for the whole table")
        assert "sum over the last axis" in card.locator(".ck").inner_text()
        card.locator("summary").click()
        feedback = card.frame_locator("iframe")
        feedback.get_by_text("This looks like: one number for the whole table").wait_for()
        assert "Each row is a distribution of its own" in feedback.locator("body").inner_text()
        page.get_by_text("The student's notebook").first.click()
        notebook = page.frame_locator("iframe[src='notebook.html']").locator("body")
        notebook.get_by_text("raise NotImplementedError").first.wait_for()
        assert "BEGIN SOLUTION" not in notebook.inner_text()
        file = course / "autograder" / "questions" / f"m{LAB}" / "entropy.py"
        file.write_text(file.read_text().replace("one number for the whole table", "a single number"))
        page.get_by_text("This looks like: a single number").or_(
            page.locator("h3", has_text="a single number")
        ).first.wait_for()
        until(lambda: len(said) == 3)
        assert said[2].startswith("entropy.py changed: ")
        assert page.locator("details[open]").count() == 2  # what was open is open again
        file.write_text(file.read_text().replace("@question.alternative", ""))
        page.get_by_text("it has no alternative").first.wait_for()
        assert not errors
    finally:
        stop.set()
        thread.join(timeout=60)
    assert not thread.is_alive()


def until(reached, seconds=240):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.1)
