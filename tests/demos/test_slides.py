"""The slide decks: self-contained, readable, without answers; moved by keys in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from coursekit.demos import formulas, slides
from playwright.sync_api import Browser, Page, expect

LABS = [path.stem for path in slides.labs()]


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decks")
    slides.write(folder)
    return folder


def test_there_is_a_deck_for_every_lab_and_a_list_of_them(decks: Path) -> None:
    assert {path.stem for path in decks.glob("*.html")} == {*LABS, "index"}
    listed = (decks / "index.html").read_text(encoding="utf-8")
    assert all(f'href="{lab}.html"' in listed for lab in LABS)


@pytest.mark.parametrize("lab", LABS)
def test_a_deck_fetches_nothing_and_shows_every_figure(decks: Path, lab: str) -> None:
    page = (decks / f"{lab}.html").read_text(encoding="utf-8")
    page = re.sub(r'srcdoc="[^"]*"', "", page)  # pages of demos, looked through in test_web_demos
    assert not re.search(r"""(?:src|href)=["\'](?!data:|#)|url\((?!#)|@import|<script src""", page)
    book = nbformat.read(slides.ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4)
    figures = [
        output["data"]["image/png"].replace("\n", "")
        for cell in book.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {}) and not cell.metadata.get("nbgrader", {}).get("solution")
    ]
    assert [one for one in figures if one not in page] == []
    assert page.count("<img") == page.count('<img alt="') and 'alt=""' not in page


@pytest.mark.parametrize("lab", LABS)
def test_a_deck_answers_no_question(decks: Path, lab: str) -> None:
    page = (decks / f"{lab}.html").read_text(encoding="utf-8")
    book = nbformat.read(slides.ROOT / "solutions" / lab / f"{lab}.ipynb", as_version=4)
    answers = [
        cell.source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
        for cell in book.cells
        if "### BEGIN SOLUTION" in cell.source
    ]
    assert answers and "BEGIN SOLUTION" not in page
    long = [line.strip() for answer in answers for line in answer.splitlines() if len(line.strip()) > 40]
    page = re.sub(r'srcdoc="[^"]*"', "", page)
    assert [line for line in long if line in page] == []


def test_demos_are_in_their_labs_deck_live_and_hand_the_key_back_at_their_end(
    browser: Browser, decks: Path
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto((decks / "07_self_attention.html").as_uri())
    while not page.locator("section.now iframe").count():
        page.keyboard.press("ArrowRight")
    first = current(page)
    inside = page.frame_locator("section.now iframe")
    expect(inside.locator(".cd-finding")).to_have_text("σ = 0.1: one dot speaks for itself")
    page.keyboard.press("PageDown")
    expect(inside.locator(".cd-finding")).to_have_text("σ = 0.6: the query listens to about 2.5 dots")
    for _ in range(5 - 1):
        page.keyboard.press("PageDown")
    page.wait_for_function(f"document.getElementById('count').textContent.startsWith('{first + 1} ')")
    page.close()


def test_a_long_paragraph_keeps_whole_sentences() -> None:
    text = "One is short. Two is short too. " + "Three goes on and on and on. " * 9
    assert slides.first_sentences(text, 60) == "One is short. Two is short too. Three goes on and on and on."


def test_formulas_become_shapes_and_what_is_unknown_stays_text() -> None:
    drawn = slides.inline("the *weight* $w_i = \\tfrac12$ and `code`")
    assert drawn.startswith("the <em>weight</em> <svg") and drawn.endswith("<code>code</code>")
    assert formulas.svg(r"\nosuchcommand{x}") is None
    assert "<code>\\nosuchcommand{x}</code>" in slides.inline(r"$\nosuchcommand{x}$")


def current(page: Page) -> int:
    return int(page.locator("#count").inner_text().split(" / ")[0])


def test_keys_move_the_deck(browser: Browser, decks: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((decks / "01_markov_bigram.html").as_uri())
    last = page.locator("section").count()
    for key, where in (
        ("ArrowRight", 2),
        (" ", 3),
        ("ArrowLeft", 2),
        ("End", last),
        ("ArrowRight", last),
        ("PageUp", last - 1),
        ("Home", 1),
    ):
        page.keyboard.press(key)
        assert current(page) == where, key
    for key in "12":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    assert current(page) == 12 and page.url.endswith("#12")
    assert page.locator("section:visible").count() == 1
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("d")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    assert len(requests) == 1
    page.close()


@pytest.mark.parametrize("lab", ["02_dirichlet_map", "11_decoding"])
def test_no_slide_runs_over_and_type_is_large(browser: Browser, decks: Path, lab: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto((decks / f"{lab}.html").as_uri())
    for _ in range(page.locator("section").count()):
        over, size = page.evaluate(
            "(() => { const s = document.querySelector('section.now');"
            "return [s.scrollHeight - s.clientHeight, parseFloat(getComputedStyle(s).fontSize)] })()"
        )
        assert over <= 1, current(page)
        assert size >= 21, current(page)  # of 720: the last row reads it
        page.keyboard.press("ArrowRight")
    page.close()
