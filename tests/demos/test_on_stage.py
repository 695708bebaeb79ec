"""Demos in a cell, in Chromium: JupyterLab shows them when the cell runs; nothing is fetched."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from coursekit.demos.notebooks import FOLDER
from playwright.sync_api import Browser, Page, TimeoutError, expect

from tests.fixtures.jupyterlab import jupyterlab

#: A translator's weights are nine megabytes; the server would hold them back as an output that runs wild.
LARGE_OUTPUTS = "--ZMQChannelsWebsocketConnection.iopub_data_rate_limit=100000000"


def watched(browser: Browser, address: str) -> tuple[Page, list[str]]:
    """A new page, and what it asks from elsewhere."""
    page, elsewhere = browser.new_page(viewport={"width": 1280, "height": 720}), []
    host = "/".join(address.split("/")[:3])
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith((host, "data:", "blob:")) else elsewhere.append(request.url)
        ),
    )
    return page, elsewhere


def walked(page: Page, first: str, third: str) -> None:
    """The first scene shows its finding; two keys later the third does; the stage fits the window."""
    page.wait_for_selector("svg.cd-picture g *", state="attached", timeout=90_000)
    expect(page.locator(".cd-finding")).to_have_text(first)
    page.locator(".cd-kicker").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".cd-finding")).to_have_text(third)
    stage, style = (
        page.locator(".cd").bounding_box(),
        "getComputedStyle(document.querySelector('.cd')).display",
    )
    assert stage and stage["y"] + stage["height"] <= 721 and stage["width"] > 800
    assert page.evaluate(style) == "flex", "the style sheet is there"


@pytest.mark.parametrize(
    ("name", "first", "third"),
    [
        (
            "07_kernel_to_attention",
            "σ = 0.1: one dot speaks for itself",
            "σ = 20: everyone speaks at once",
        ),
        ("12_translator", "“es” with 95.1% listens most to “it”", "“sie” with 94.6% listens most to “it”"),
    ],
)
def test_jupyterlab_shows_a_demo_and_leaves_it_its_keys(
    browser: Browser, tmp_path: Path, name: str, first: str, third: str
) -> None:
    demos = shutil.copytree(FOLDER, tmp_path / "demos")  # JupyterLab saves what it shows
    with jupyterlab(demos, tmp_path / "home", "--expose-app-in-browser", LARGE_OUTPUTS) as server:
        page, elsewhere = watched(browser, server.url)
        page.goto(server.address())  # its cookie lets the page in from now on
        page.goto(f"{server.url}lab/tree/{name}.ipynb?reset")
        page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', timeout=90_000)
        page.wait_for_timeout(2500)  # the kernel is idle before its notebook knows it
        for _ in range(4):  # a command that comes before the notebook has its kernel is lost
            page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
            with suppress(TimeoutError):
                page.wait_for_selector("svg.cd-picture g *", state="attached", timeout=30_000)
                break
        walked(page, first, third)
        assert elsewhere == []
        page.close()
