"""Demos in JupyterLab, in Chromium: in a cell when it runs, as a page without a kernel; nothing is fetched."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import pytest
from coursekit.demos.__main__ import NOTEBOOKS
from playwright.sync_api import Browser, Page, TimeoutError, expect

from tests.demos.stage import opened
from tests.fixtures.jupyterlab import Server, jupyterlab

pytestmark = pytest.mark.xdist_group("site")

#: A translator's weights are nine megabytes; the server would hold them back as an output that runs wild.
LARGE_OUTPUTS = "--ZMQChannelsWebsocketConnection.iopub_data_rate_limit=100000000"

PAGE = "07_kernel_to_attention.html"
#: Whether the notebook in front has a kernel that does nothing.
IDLE = """() => {
  const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
  return context?.isReady && context.session?.kernel?.connectionStatus === 'connected' && context.session.kernel.status === 'idle';
}"""


def look(browser: Browser, lab: Server, file: str) -> AbstractContextManager[Page]:
    """A file in JupyterLab, whose own errors are its own; at its end nothing was asked from elsewhere."""
    place = f"{lab.address(f'lab/tree/{file}')}&reset"
    return opened(browser, place, own=lab.url, ready="body", hears=[])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, pages: Path) -> Iterator[Server]:
    """JupyterLab on the demos' notebooks, as ``make lecture`` starts it."""
    folder = tmp_path_factory.mktemp("lecture")
    demos = shutil.copytree(NOTEBOOKS, folder / "demos")  # JupyterLab saves what it shows
    shutil.copy(pages / PAGE, demos)
    with jupyterlab(demos, folder / "home", "--expose-app-in-browser", LARGE_OUTPUTS) as server:
        yield server


def test_jupyterlab_shows_each_scene_of_a_demo_by_its_keys(
    browser: Browser, lab: Server, demo: Callable[[str], Callable[..., Any]]
) -> None:
    """The demo with the largest data: all are widgets of one kind."""
    expected = demo("12_inside")(
        "demo.scenes.map((_, i) => demo.say(modules['frame.js'].opened(demo, i), data).title)"
    )
    with look(browser, lab, "12_inside.ipynb") as page:
        for _ in range(5):  # a command that comes before the notebook has its kernel is lost
            page.wait_for_function(IDLE)
            page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
            with suppress(TimeoutError):
                page.wait_for_selector("svg.cd-picture g *", state="attached", timeout=30_000)
                break
        page.locator(".cd-kicker").click()
        for scene, finding in enumerate(expected):
            if scene:
                page.keyboard.press("ArrowRight")
            expect(page.locator(".cd-finding")).to_have_text(finding)
        stage = page.locator(".cd").bounding_box()
        assert stage and stage["y"] + stage["height"] <= 769 and stage["width"] > 800
        expect(page.locator(".cd")).to_have_css("display", "flex")


def test_jupyterlab_opens_a_demos_page_without_a_kernel(browser: Browser, lab: Server) -> None:
    with look(browser, lab, PAGE) as page:
        page.get_by_text("Trust HTML").click()
        inside = page.frame_locator(".jp-HTMLViewer iframe")
        expect(inside.locator(".cd-finding")).to_contain_text("σ = 0.1")
        inside.locator(".cd-kicker").click()
        page.keyboard.press("ArrowRight")
        expect(inside.locator(".cd-finding")).to_contain_text("σ = 0.6")
