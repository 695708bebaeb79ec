"""A live class in Chromium, without a hub: hand in, read the verdict, mend, hand in, while the lecturer's screen moves."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from autograder.course.masters import course_root
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB, WRONG, freeze
from tests.fixtures.jupyterlab import PATIENCE_MS
from tests.fixtures.live_class import Served
from tests.serve.test_live_class import notebook

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("live_journey"),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = freeze(tmp_path_factory.mktemp("course"), LAB)
    shutil.copytree(course_root() / "notebooks" / "demos", root / "notebooks" / "demos")
    course = tmp_path_factory.mktemp("policy") / "course.toml"
    course.write_text("[live]\nattempts = 5\n")
    service = Served(root, tmp_path_factory.mktemp("class") / "out", LAB, COURSE_FILE=str(course))
    service.tokens = service.invite("ada", "bo")  # type: ignore[attr-defined]
    service.start()
    yield service
    service.stop()


def opened(browser: Any, served: Served, who: str, path: str = "") -> Page:
    """A browser of ``who``'s own that came in by the invitation. What goes wrong in a page fails the test."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.on("pageerror", lambda error: pytest.fail(f"{who}: {error}"))
    page.on("request", lambda request: _ours(request.url, served.port))
    page.goto(f"http://localhost:{served.port}/in/{served.tokens[who]}")
    page.get_by_role("button", name="Yes, come in").click()
    page.get_by_text(f"Signed in as {who}").wait_for()
    if path:
        page.goto(f"http://localhost:{served.port}/{path}")
    return page


def _ours(url: str, port: int) -> None:
    assert url.startswith((f"http://localhost:{port}/", "data:", "blob:")), url


def hand_in(page: Page, content: bytes) -> None:
    file = {"name": f"{LAB}.ipynb", "mimeType": "application/json", "buffer": content}
    page.get_by_label("Your saved notebook").set_input_files(file)
    page.get_by_role("button", name="Hand in").click()


def test_a_student_hands_in_reads_mends_and_hands_in_while_the_lecturers_screen_moves(served, browser):
    room = opened(browser, served, "prof", f"room/{LAB}")
    expect(room.get_by_role("status").first).to_contain_text("0 students have a verdict")
    room.get_by_role("button", name="Start an exercise").click()
    expect(room.get_by_role("timer")).to_contain_text(":")

    ada = opened(browser, served, "ada")
    expect(ada.locator(".timer")).to_contain_text("left in class")
    hand_in(ada, notebook(WRONG))
    first = ada.locator(".attempt", has_text="Attempt 1 of 5")
    expect(first).to_have_attribute("data-state", "graded")
    change = first.locator(".change", has_text="normalise_rows")
    expect(change.locator(".cause")).not_to_be_empty()
    expect(change.locator(".code")).to_contain_text("def normalise_rows")

    line = room.locator(".question", has_text="normalise_rows")
    expect(line).to_contain_text("0 of 1 have it")
    line.get_by_role("button", name="Demo").click()
    expect(room.frame_locator("iframe").locator("svg").first).to_be_visible()
    expect(line.locator(".thought").first).to_contain_text("100%")

    hand_in(ada, notebook({}))
    second = ada.locator(".attempt", has_text="Attempt 2 of 5")
    expect(second).to_have_attribute("data-state", "graded")
    expect(second).to_contain_text("This attempt counts")
    expect(line).to_contain_text("1 of 1 have it")
    assert "ada" not in room.locator("body").inner_text()


def test_a_request_is_answered_on_the_teams_screen_and_read_on_the_students(served, browser):
    bo = opened(browser, served, "bo")
    hand_in(bo, notebook(WRONG, "bo's"))
    expect(bo.locator(".attempt")).to_have_attribute("data-state", "graded")
    bo.get_by_text("Ask a teacher").click()
    bo.get_by_label("What do you think is wrong?").fill("My rows sum to one.")
    bo.get_by_role("button", name="Ask", exact=True).click()
    expect(bo.get_by_text("There is no answer yet.")).to_be_visible()

    team = opened(browser, served, "prof", f"team/{LAB}")
    expect(team.locator("#requests")).to_contain_text("My rows sum to one.")
    team.get_by_role("button", name="Answer").first.click()
    team.get_by_label("Your answer").fill("Together they do, each alone does not.")
    team.locator("dialog[open]").get_by_role("button", name="Answer").click()
    expect(team.locator("#requests")).to_be_empty()

    bo.reload()
    expect(bo.get_by_text("Together they do, each alone does not.")).to_be_visible()
