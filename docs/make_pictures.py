"""Photographs the README's pictures anew: ``python -m docs.make_pictures``, or ``make pictures``.

docs/img/overview.png: lab 07 in JupyterLab, filled in, beside the class report of a simulated class.
The demos' sheet is tests/demos/contact_sheet.py's; the translator's curve was drawn once, in the run that docs/translator.md tells of.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, Page, expect, sync_playwright

from autograder.audit.simulate import answered
from autograder.course.masters import lab_name, solved
from autograder.course.release import release
from tests.fixtures.jupyterlab import jupyterlab

IMAGES = Path(__file__).resolve().parent / "img"
LAB = lab_name("07")
#: The cell that stands at the top of the picture of the lab.
TOP = "def kernel_smooth"
PANE = {"width": 960, "height": 1290}
#: The report is drawn wider and shown smaller, so that what the class misunderstands is in view.
REPORT = {"width": 1152, "height": 1548}


def main() -> None:
    """Write docs/img/overview.png."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox"],
        )
        panes = [photograph_lab(browser, folder), photograph_report(browser, folder)]
        target = side_by_side(browser, panes, IMAGES / "overview.png")
        browser.close()
    print(f"✓ {target}")


def photograph_lab(browser: Browser, folder: Path) -> bytes:
    """Lab 07 as a student has it who answered everything: code, card and figure of the first question."""
    notebook = release(LAB, folder / "student")
    notebook.write_text(nbformat.writes(answered(LAB, solved(LAB))), encoding="utf-8")
    home = folder / "home"
    quiet = home / "jupyter_config_dir/lab/user-settings/@jupyterlab/apputils-extension"
    quiet.mkdir(parents=True)
    settings = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
    (quiet / "notification.jupyterlab-settings").write_text(json.dumps(settings))
    with jupyterlab(folder / "student", home, "--expose-app-in-browser") as server:
        page = browser.new_page(viewport=PANE, device_scale_factor=1.5)  # type: ignore[arg-type]
        page.set_default_timeout(120_000)
        page.goto(server.address(f"lab/tree/{LAB}/{LAB}.ipynb"))
        expect(page.get_by_text("| Idle")).to_be_visible()
        _run_all(page)
        _scroll_to(page, TOP)
        picture = page.screenshot()
        page.close()
    return picture


def _run_all(page: Page) -> None:
    for side in ("left", "right"):  # more room for the page
        page.evaluate(
            "side => void jupyterapp.commands.execute('application:toggle-side-tabbar', {side})", side
        )
    page.evaluate("void jupyterapp.commands.execute('application:toggle-left-area')")
    page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
    progress = page.locator(".jp-CodeCell", has_text="progress()").last
    expect(progress.locator(".jp-OutputArea-output").first).to_be_visible()
    expect(page.get_by_text("| Idle")).to_be_visible()


def _scroll_to(page: Page, text: str) -> None:
    cell = page.locator(".jp-CodeCell", has_text=text).first
    cell.evaluate("cell => cell.scrollIntoView({block: 'start'})")
    page.wait_for_timeout(1000)  # cells that come into view are drawn
    cell.evaluate("cell => cell.scrollIntoView({block: 'start'})")
    page.wait_for_timeout(1000)


def photograph_report(browser: Browser, folder: Path) -> bytes:
    """The class report of the class of 30 that ``make demo`` grades."""
    command = [sys.executable, "-m", "autograder.cli"]
    class_, graded = folder / "submitted", folder / "graded"
    for words in (
        ["simulate", "07", "--students", "30", "--out", class_],
        ["grade", "07", "--submitted", class_, "--out", graded],
    ):
        subprocess.run([*command, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    page = browser.new_page(viewport=REPORT, device_scale_factor=1.5)  # type: ignore[arg-type]
    page.goto((graded / "report" / f"{LAB}.html").as_uri())
    picture = page.screenshot()
    page.close()
    return picture


def side_by_side(browser: Browser, pictures: list[bytes], target: Path) -> Path:
    """Both photographs on one sheet, each in a thin frame."""
    images = "".join(
        f'<div><img src="data:image/png;base64,{base64.b64encode(picture).decode()}"></div>'
        for picture in pictures
    )
    style = (
        "body{margin:0;padding:14px;display:flex;align-items:start;gap:14px;background:#d6dbe0;"
        f"width:max-content}}div{{background:white;border-radius:4px;overflow:hidden}}"
        f"img{{display:block;width:{PANE['width']}px}}"
        "div:last-child img{mask-image:linear-gradient(black 95%,transparent)}"  # the report goes on
    )
    page = browser.new_page(viewport={"width": 2 * PANE["width"] + 42, "height": PANE["height"] + 28})
    page.set_content(f"<style>{style}</style><body>{images}")
    page.wait_for_timeout(300)
    page.locator("body").screenshot(path=target)
    page.close()
    return target


if __name__ == "__main__":
    main()
