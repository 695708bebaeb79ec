"""The slides: few words, the lab's figures, its demos live, its text as notes; moved by keys, printed in landscape."""

from __future__ import annotations

import base64
import re
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path

import pytest
from coursekit.demos import bundle, formulas, slides
from coursekit.figures import MOST_OF_WIDE, for_slide
from matplotlib import pyplot
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.demos.stage import EACH_IN_PROOF, FIT, opened, serious

pytestmark = pytest.mark.xdist_group("site")

LABS = [path.stem for path in slides.labs()]
# Decks have one layout and, by the first test, few words: what fits in one of them seldom runs over in another.
EACH_DECK = [lab if lab[:2] == "07" else pytest.param(lab, marks=pytest.mark.proof) for lab in LABS]


def shown(
    browser: Browser, built: Path, lab: str, hash: str = "", screen: str = "laptop"
) -> AbstractContextManager[Page]:
    """A deck of the site; what Chromium says of frames from a disk does not count."""
    address = (built / "slides" / f"{lab}.html").as_uri() + hash
    return opened(browser, address, screen, ready=".reveal.ready", hears=["pageerror"])


def test_a_deck_has_few_words_in_whole_sentences_its_labs_demos_and_notes(built: Path) -> None:
    for lab in LABS:
        for slide in slides.read(lab)["slide"]:
            if "demo" not in slide:
                words = re.findall(r"\w[\w’'.,-]*", f"{slide['title']} {slide.get('text', '')}")
                assert len(words) <= 25, (lab, slide["title"])
                assert slide.get("text", "whole.").endswith((".", "?", "!", "…")), (lab, slide["title"])
                assert "…" not in slide["title"], lab
        page = (built / "slides" / f"{lab}.html").read_text(encoding="utf-8")
        for demo in bundle.names():
            assert demo[:2] != lab[:2] or f"../demos/{demo}.html" in page
        sections = page.split("<section")[1:]
        told = [re.search(r'<aside class="notes">(.*?)</aside>', one, re.DOTALL) for one in sections]
        assert 8 <= len(sections) <= 14, lab
        assert [i for i, one in enumerate(told) if not one or len(re.sub("<[^>]+>", "", one[1])) < 60] == []
        assert "BEGIN SOLUTION" not in page and 'src="http' not in page and 'alt=""' not in page, lab


@pytest.mark.parametrize("part", [slides.section, slides.figure])
def test_words_that_no_heading_or_cell_has_are_an_error_and_not_an_empty_slide(part) -> None:
    with pytest.raises(ValueError, match="nowhere"):
        part(slides._book("07_self_attention").cells, "nowhere")


def test_a_flat_figure_gets_a_slides_shape_and_leaves_its_title_to_the_slide() -> None:
    figure, ax = pyplot.subplots(figsize=(14, 2))
    ax.set_title("The finding")
    for_slide(figure)
    assert tuple(figure.get_size_inches()) == (9.2, 3.9), "its type keeps its size"
    assert ax.get_title() == "" and ax.xaxis.label.get_fontsize() == 12
    small = base64.b64decode(for_slide(pyplot.subplots(figsize=(5, 2))[0]))
    assert Image.open(BytesIO(small)).width > MOST_OF_WIDE, "it is as sharp as a wide one"


def test_formulas_become_shapes_and_what_is_unknown_stays_text() -> None:
    drawn = slides.notes("the *weight* $w_i = \\tfrac12$ and `code`")
    assert drawn.startswith("<p>the <em>weight</em> <svg") and drawn.strip().endswith("<code>code</code></p>")
    assert formulas.svg(r"\nosuchcommand{x}") is None
    assert "<code>\\nosuchcommand{x}</code>" in slides.notes(r"$\nosuchcommand{x}$")


def test_keys_move_the_deck_show_all_slides_and_the_presenters_view(browser: Browser, built: Path) -> None:
    with shown(browser, built, "09_blocks", "#/1") as page:
        with page.expect_popup() as popup:
            page.keyboard.press("s")
        notes = popup.value.locator(".speaker-controls-notes .value")
        expect(notes).to_contain_text("the residual connection")
        popup.value.close()
        last = page.evaluate("Reveal.getTotalSlides() - 1")
        leads_to = {"ArrowRight": 2, " ": 3, "ArrowLeft": 2, "End": last, "PageDown": last, "Home": 0}
        for key, slide in leads_to.items():
            page.keyboard.press(key)
            assert page.evaluate("Reveal.getIndices().h") == slide, key
        page.keyboard.press("Escape")
        assert page.evaluate("Reveal.isOverview()")


@pytest.mark.parametrize("name", EACH_IN_PROOF)
def test_a_demo_in_a_slide_has_the_keys_and_hands_them_back(browser: Browser, built: Path, name: str) -> None:
    [lab] = [lab for lab in LABS if lab[:2] == name[:2]]
    with shown(browser, built, lab) as page:
        place = page.evaluate(
            "(name) => [...document.querySelectorAll('.slides > section')]"
            ".findIndex((one) => one.innerHTML.includes(`demos/${name}.html`))",
            name,
        )
        page.evaluate(f"Reveal.slide({place})")
        page.wait_for_selector("section.present iframe")
        inside = page.frame_locator("section.present iframe")
        inside.locator("svg.cd-picture g *").first.wait_for(state="attached")
        scenes = inside.locator(".cd-scenes li").count()
        for scene in range(scenes):
            expect(inside.locator(".cd-scenes [aria-current]")).to_contain_text(str(scene + 1))
            page.keyboard.press("PageDown")
        after = page.evaluate(f"Math.min({place + 1}, Reveal.getTotalSlides() - 1)")
        page.wait_for_function(f"Reveal.getIndices().h === {after}")
        page.keyboard.press("ArrowLeft")
        page.wait_for_function(f"Reveal.getIndices().h === {after - 1}")
        assert scenes >= 3


@pytest.mark.parametrize("screen", ["laptop", "phone"])
@pytest.mark.parametrize("lab", EACH_DECK)
def test_no_slide_runs_over_its_edge_and_axe_has_no_serious_finding(
    browser: Browser, built: Path, lab: str, screen: str
) -> None:
    with shown(browser, built, lab, screen=screen) as page:
        for i in range(page.evaluate("Reveal.getTotalSlides()")):
            page.evaluate("(i) => Reveal.slide(i)", i)
            over, least = page.evaluate(FIT)
            assert over <= 1 and least >= 28, f"slide {i + 1}: {over} over, type of {least}"
        assert serious(page) == []


def test_a_deck_prints_in_landscape_a_page_a_slide(browser: Browser, built: Path, tmp_path: Path) -> None:
    with shown(browser, built, "06_positions", "?print-pdf") as page:
        page.wait_for_function("document.querySelectorAll('.pdf-page').length > 3")
        page.pdf(path=tmp_path / "deck.pdf", prefer_css_page_size=True)
        boxes = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", (tmp_path / "deck.pdf").read_bytes())
        assert len(boxes) == page.evaluate("document.querySelectorAll('.pdf-page').length")
        assert all(float(wide) > float(high) for wide, high in boxes)
