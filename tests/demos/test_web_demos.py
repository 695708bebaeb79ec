"""The demos: every scene on every screen, light and dark, by keys and by hand; their notebooks, pictures and data."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path

import nbformat
import pytest
from coursekit.demos import __main__ as command
from coursekit.demos import bundle, exported
from coursekit.demos.widget import show
from playwright.sync_api import Browser, Page, expect

from autograder.course.masters import lab_as_written, lab_name
from autograder.course.student_files import write_kit
from docs.make_pictures import MADE_FROM, made_from
from tests.demos.stage import AXE, EACH_IN_PROOF, MOVE, SCREENS, SETTLED, address, faults, opened, serious

pytestmark = pytest.mark.xdist_group("site")

NAMES = bundle.names()


def finding(page: Page) -> str:
    return page.locator(".cd-finding").inner_text()


def scenes(page: Page) -> int:
    return int(page.evaluate("course.demo.scenes.length"))


# --- looks --------------------------------------------------------------------------------------------------------


def look_at_every_scene(page: Page, *, twice: bool) -> None:
    """Light, then dark, where the text is wider, too; or, not ``twice``, by turns."""
    for i in range(scenes(page)):
        if i:
            page.keyboard.press("ArrowRight")
        for dark in (False, True) if twice else (i % 2 == 1,):
            page.evaluate("dark => document.querySelector('.cd').classList.toggle('dark', dark)", dark)
            assert faults(page, wider=dark) == [], f"scene {i + 1}, {'dark, wider' if dark else 'light'}"


@pytest.mark.parametrize("name", NAMES)
def test_every_scene_fits_a_hall_asks_and_can_be_moved(browser: Browser, pages: Path, name: str) -> None:
    """On a phone, and in a site's page there, one look at the last scene, as the page is resized."""
    with opened(browser, address(pages, name), "hall") as page:
        look_at_every_scene(page, twice=False)
        page.set_viewport_size(SCREENS["phone"])
        assert faults(page, wider=True) == [], "on a phone"
        page.set_viewport_size({"width": 350, "height": 736})
        page.evaluate(SETTLED)
        picture = page.locator("svg.cd-picture").bounding_box()
        assert picture and picture["height"] > 250, "in a page on a phone"
        asked = {scene for _, _, about in bundle.meta(name)["questions"] for scene in about}
        assert asked == set(range(1, scenes(page) + 1))
        for i in reversed(range(scenes(page))):
            assert page.locator("svg.cd-picture .touch:visible").count(), f"nothing in scene {i + 1} moves"
            page.evaluate(
                "window.moved = new Set(); course.stage.options.changed = (s) => moved.add(JSON.stringify(s)); null"
            )
            page.evaluate(MOVE, 2)
            pressed = page.locator("svg.cd-picture [role=button]:visible")
            if pressed.count():
                pressed.last.focus()
                page.keyboard.press("Enter")
            assert page.evaluate("moved.size") > 0, f"scene {i + 1}"
            page.keyboard.press("PageUp")


@pytest.mark.proof  # a scene is laid out once for all screens: what fits the hall, and others resized, seldom fails here alone
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", NAMES)
def test_every_scene_fits_every_screen(browser: Browser, pages: Path, name: str, screen: str) -> None:
    with opened(browser, address(pages, name), screen) as page:
        look_at_every_scene(page, twice=True)


# --- keys, hands, addresses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EACH_IN_PROOF)
def test_keys_walk_scenes_ask_turn_and_play_for_everybody(browser: Browser, pages: Path, name: str) -> None:
    with opened(browser, address(pages, name), calm=False) as page:
        count, current = scenes(page), page.locator(".cd-scenes [aria-current]")
        seen = {finding(page)}
        for key in ["ArrowRight"] * count:
            page.keyboard.press(key)
            seen.add(finding(page))
        assert current.inner_text().startswith(str(count)), "the last scene stays"
        assert len(seen) > count / 2
        page.keyboard.press("PageUp")
        assert current.inner_text().startswith(str(count - 1))
        meta = bundle.meta(name)
        told = page.locator(".cd-ask p")
        for question, answer, about in meta["questions"]:
            if count - 1 in about:
                page.keyboard.press("q")
                assert told.inner_text() == question
                page.keyboard.press("q")
                assert told.inner_text() == answer
        page.evaluate(SETTLED)
        assert serious(page) == []
        page.keyboard.press("Space")
        assert current.inner_text().startswith(str(count)), "space goes on"
        assert told.inner_text() == meta["look"], "what is answered is over in the next scene"
        for key in "dh":
            page.keyboard.press(key)
        assert {"dark", "bare"} <= set((page.locator(".cd").get_attribute("class") or "").split())
        assert not page.locator(".cd-controls").is_visible() and page.locator(".cd-finding").is_visible()
        page.keyboard.press("h")
        page.evaluate(SETTLED)
        assert serious(page) == []
        if page.evaluate("course.demo.controls.some((c) => c.kind === 'steps')"):
            before = page.evaluate("JSON.stringify(course.stage.state)")
            page.keyboard.press("p")
            page.wait_for_function("before => JSON.stringify(course.stage.state) !== before", arg=before)


@pytest.mark.parametrize("name", EACH_IN_PROOF)
def test_the_address_says_what_is_shown(browser: Browser, pages: Path, name: str) -> None:
    with opened(browser, address(pages, name)) as page:
        page.keyboard.press("PageDown")
        page.evaluate(MOVE, 4)
        page.wait_for_function(
            "location.hash.slice(1) === course.modules['frame.js'].toHash(course.demo, course.stage.state)"
        )
        shown, where = page.evaluate("[JSON.stringify(course.stage.state), location.hash.slice(1)]")
    with opened(browser, address(pages, name, where)) as page:
        assert json.loads(page.evaluate("JSON.stringify(course.stage.state)")) == json.loads(shown)
    with opened(browser, address(pages, name, "scene=99&" + "&".join(f"{c}=%00x" for c in "abc"))) as page:
        assert page.evaluate("course.stage.state.scene") == scenes(page) - 1, "nonsense opens a scene, too"


def test_a_picture_is_drawn_at_once_where_motion_is_unwanted(browser: Browser, pages: Path) -> None:
    place = address(pages, "07_kernel_to_attention", "scene=2")
    with opened(browser, place) as page:
        page.evaluate("course.stage.go(2)")
        assert page.evaluate("document.querySelectorAll('[style*=opacity]').length") == 0
    with opened(browser, place, calm=False) as page:
        # in one go, before there can be a next frame
        look = "document.querySelector('.dot circle').getAttribute('r')"
        assert page.evaluate(f"(course.stage.go(2), Math.abs({look} - 8) > 0)"), "with motion the dots glide"


def test_07_a_brush_paints_over_cells(browser: Browser, pages: Path) -> None:
    with opened(browser, address(pages, "07_mask_painter", "scene=1")) as page:
        cells = page.locator(".scores .cells rect")
        cells.nth(0).drag_to(cells.nth(2), steps=12)
        assert page.evaluate("course.stage.state.mask").startswith("0001111")
        cells.nth(0).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowDown")
        page.keyboard.press(" ")
        assert page.evaluate("course.stage.state.mask").startswith("10011110111111")


def test_13_the_sound_is_heard_and_the_frame_follows_it(browser: Browser, pages: Path) -> None:
    with opened(browser, address(pages, "13_sound_to_mel", "scene=1&moment=0")) as page:
        page.get_by_role("button", name="hear the sound").click()
        page.wait_for_function("course.stage.state.moment > 5")


def test_12_inside_a_wrong_language_is_said_and_words_are_swapped(browser: Browser, pages: Path) -> None:
    with opened(browser, address(pages, "12_inside")) as page:
        field = page.get_by_role("textbox", name="say")
        field.fill("Was machst du morgen?")
        expect(page.locator(".cd-finding")).to_contain_text("looks like German already")
        field.fill("dogs like cats")
        expect(page.locator(".cd-finding")).to_contain_text("Katzen")
        field.blur()
        page.get_by_role("button", name="swap the word of dogs with the next").press("Enter")
        page.wait_for_function("course.stage.state.sentence === 'like dogs cats'")


# --- files --------------------------------------------------------------------------------------------------------


def test_vendored_files_are_as_they_were_published() -> None:
    for folder in (bundle.WEB / "vendor", AXE.parent):
        for line in (folder / "SHA256SUMS").read_text().splitlines():
            digest, name = line.split()
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
            assert (folder / f"{re.split('[.-]', name)[0]}.LICENSE").is_file()


@pytest.mark.parametrize("name", [name for name in exported.EXPORTS if name not in exported.MODELS])
def test_exported_data_are_what_python_says_today(name: str) -> None:
    assert bundle.data(name) == exported.text(name).strip(), "run python -m coursekit.demos export"


def test_the_command_writes_pages_and_says_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["pages", "02_dirichlet", "--out", str(tmp_path)]) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["02_dirichlet.html"]
    assert command.main(["pages", "02_nothing", "--out", str(tmp_path)]) == 2
    assert "There is no such demo: 02_nothing." in capsys.readouterr().err


def test_every_lab_has_a_demo_with_a_notebook_that_shows_it_and_the_reports_are_of_these() -> None:
    assert {f"{lab:02d}" for lab in range(1, 14)} == {name[:2] for name in NAMES}
    for name in NAMES:
        written = (command.NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
        nbformat.validate(nbformat.reads(written, as_version=4))
        assert written == command.notebook(name), "run python -m coursekit.demos notebooks"
        assert f'modules["{name}.js"]' in show(name)._esm
    named = tomllib.loads((command.NOTEBOOKS / "questions.toml").read_text(encoding="utf-8"))
    for number, by_question in named.items():
        questions = {name for name, _ in lab_as_written(lab_name(number)).questions}
        assert set(by_question) <= {*questions, "all"} and set(by_question.values()) <= set(NAMES)


def test_the_pictures_of_readme_and_gallery_show_what_there_is_today() -> None:
    noted, today = json.loads(MADE_FROM.read_text()), made_from()
    there = {name: noted.get(name) for name in today if (MADE_FROM.parent / name).is_file()}
    assert there == today, "run make pictures, and look at them"


def test_demos_are_left_out_of_what_students_get(tmp_path: Path) -> None:
    write_kit("13_beyond", tmp_path / "coursekit")
    assert (tmp_path / "coursekit" / "figures" / "markov_chain.py").is_file()
    assert not (tmp_path / "coursekit" / "demos").exists()
