"""Photographs the pictures of README and gallery anew: ``make pictures``, or ``python -m docs.make_pictures [demos] [overview]``.

docs/img/overview.png: a card of lab 07 in JupyterLab beside a student's feedback page.
docs/img/demos/NAME.webp: each demo's best scene, its controls hidden.
docs/img/made_from.json: a checksum of what each picture shows, by which a test tells that a picture is out of date.
The translator's curve was drawn once, in a run that docs/translator.md tells of.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import nbformat
from coursekit.demos import bundle, exported
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from autograder.audit.simulate import answered
from autograder.course.masters import course_root, lab_name, solution_sources
from autograder.course.release import release
from tests.demos.stage import address, opened
from tests.fixtures.browser import chromium
from tests.fixtures.jupyterlab import jupyterlab

IMAGES = Path(__file__).resolve().parent / "img"
MADE_FROM = IMAGES / "made_from.json"
LAB = lab_name("07")
#: The cells at the top and at the bottom of the picture of the lab: a check, and a figure made with the answer.
TOP, BOTTOM = 'check("kernel_smooth"', 'needs("kernel_smooth")'
PANE = {"width": 680, "height": 1400}
#: JupyterLab's border, at both sides.
BORDER = 6
#: What the overview shows, in the course's folder.
SHOWN = (
    "autograder/pages/feedback.py",
    "autograder/pages/templates/feedback.html.j2",
    "autograder/pages/templates/page.html.j2",
    "autograder/pages/templates/style.css",
    "notebooks/coursekit/notebook/cards.py",
    f"notebooks/{LAB}/{LAB}.ipynb",
)


def made_from() -> dict[str, str]:
    """The name of each picture → a checksum of what it shows today."""
    sums = {"overview.png": _digest(*((course_root() / file).read_text(encoding="utf-8") for file in SHOWN))}
    for name in bundle.names():
        data = "" if name in exported.MODELS else bundle.data(name)
        sums[f"demos/{name}.webp"] = _digest(bundle.script("frame.js", f"{name}.js"), bundle.style(), data)
    return sums


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def main() -> None:
    """Make the pictures that were asked for, and note what they were made from."""
    asked = sys.argv[1:] or ["demos", "overview"]
    noted: dict[str, str] = json.loads(MADE_FROM.read_text()) if MADE_FROM.exists() else {}
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        folder = Path(place)
        if "demos" in asked:
            photograph_demos(browser, folder / "pages")
        if "overview" in asked:
            panes = [photograph_lab(browser, folder), photograph_feedback(browser, folder)]
            side_by_side(browser, panes, IMAGES / "overview.png")
    noted |= {
        name: digest for name, digest in made_from().items() if name.split(".")[0].split("/")[0] in asked
    }
    MADE_FROM.write_text(json.dumps(noted, indent=1, sort_keys=True) + "\n")
    print(f"✓ {', '.join(asked)} in {IMAGES}")


def photograph_demos(browser: Browser, folder: Path) -> None:
    """The best scene of each demo as it is shown on a stage: the finding and the picture, without controls."""
    bundle.write(folder)
    for name in bundle.names():
        with opened(
            browser, address(folder, name, f"scene={bundle.meta(name)['poster'] + 1}&bare=1")
        ) as page:
            shot = Image.open(BytesIO(page.screenshot())).resize((960, 540), Image.Resampling.LANCZOS)
        shot.save(IMAGES / "demos" / f"{name}.webp", quality=82)


def photograph_lab(browser: Browser, folder: Path) -> bytes:
    """Lab 07 as a student has it who answered everything: card and figure of the first question."""
    notebook = release(LAB, folder / "student")
    notebook.write_text(nbformat.writes(answered(LAB, solution_sources(LAB))), encoding="utf-8")
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
        top = _scrolled_to(page, TOP)
        figure = page.locator(".jp-CodeCell", has_text=BOTTOM)
        figure.locator(".jp-InputArea").first.evaluate("code => code.style.display = 'none'")
        return _above(page, figure.locator("img").first, top)


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


def _scrolled_to(page: Page, text: str) -> float:
    """How many pixels from the top the cell then stands."""
    cell = page.locator(".jp-CodeCell", has_text=text).first
    for _ in range(2):  # cells that come into view are drawn, and move what is below them
        cell.evaluate("cell => cell.scrollIntoView({block: 'start'})")
        page.wait_for_timeout(1000)
    return _edges(cell)[0]


def _edges(place: Locator) -> tuple[float, float]:
    """How many pixels from the top a place begins and ends."""
    box = place.bounding_box()
    assert box is not None
    return box["y"], box["y"] + box["height"]


def _above(page: Page, last: Locator, top: float = 0) -> bytes:
    """The page from ``top`` to somewhat below the ``last`` place."""
    height = _edges(last)[1] + 20 - top
    width = PANE["width"] - 2 * BORDER
    picture = page.screenshot(clip={"x": BORDER, "y": top, "width": width, "height": height})
    page.close()
    return picture


def photograph_feedback(browser: Browser, folder: Path) -> bytes:
    """The page of the first student of a small simulated class who lost points by one misconception and nothing else."""
    command = [sys.executable, "-m", "autograder.cli"]
    class_, graded, rows = folder / "submitted", folder / "graded", folder / "rows.json"
    for words in (
        ["simulate", "07", "--students", "12", "--out", class_],
        ["grade", "07", "--submitted", class_, "--out", graded, "--json", rows],
    ):
        subprocess.run([*command, *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    for row in json.loads(rows.read_text()):
        lost = [q for q in row["questions"] if q["points"] < q["max_points"]]
        if row["status"] == "graded" and len(lost) == 1 and lost[0]["misconception"]:
            break
    page = browser.new_page(viewport=PANE, device_scale_factor=1.5)  # type: ignore[arg-type]
    page.goto((graded / "feedback" / row["student"] / LAB / f"{LAB}.html").as_uri())
    return _above(page, page.locator(".change").last)


def side_by_side(browser: Browser, pictures: list[bytes], target: Path) -> None:
    """Both photographs on one sheet, each in a thin frame, and cut to the height of the shorter one."""
    height = min(Image.open(BytesIO(picture)).height for picture in pictures) / 1.5
    images = "".join(
        f'<div><img src="data:image/png;base64,{base64.b64encode(picture).decode()}"></div>'
        for picture in pictures
    )
    style = (
        "body{margin:0;padding:10px;display:flex;gap:10px;background:#d6dbe0;width:max-content}"
        f"div{{height:{height}px;border-radius:4px;overflow:hidden}}img{{display:block;zoom:{1 / 1.5}}}"
    )
    page = browser.new_page(viewport={"width": 2 * PANE["width"] + 42, "height": PANE["height"] + 28})
    page.set_content(f"<!doctype html><style>{style}</style><body>{images}")
    page.wait_for_timeout(300)
    page.locator("body").screenshot(path=target)
    page.close()


if __name__ == "__main__":
    main()
