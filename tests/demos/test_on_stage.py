"""Demos in a cell, in Chromium: Voilà shows them by themselves, JupyterLab when the cell runs; nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from coursekit.demos import bundle
from coursekit.demos.serving import served
from playwright.sync_api import Browser, Page, expect


@pytest.fixture(scope="module")
def voila() -> Iterator[str]:
    with served() as place:
        yield place


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
def test_voila_shows_a_demo_by_itself(
    browser: Browser, voila: str, name: str, first: str, third: str
) -> None:
    page, elsewhere = watched(browser, voila)
    page.goto(f"{voila}{name}.ipynb")
    walked(page, first, third)
    assert elsewhere == []
    page.close()


def test_jupyterlab_shows_a_demo_and_leaves_it_its_keys(browser: Browser) -> None:
    with served(lab=True) as address:
        page, elsewhere = watched(browser, address)
        page.goto(f"{address}07_kernel_to_attention.ipynb?reset")
        page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', timeout=90_000)
        page.wait_for_timeout(2500)  # the kernel is idle before its notebook knows it
        page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
        walked(page, "σ = 0.1: one dot speaks for itself", "σ = 20: everyone speaks at once")
        assert elsewhere == []
        page.close()


def test_the_list_of_demos_leads_to_each_and_fetches_nothing(browser: Browser, voila: str) -> None:
    page, elsewhere = watched(browser, voila)
    page.goto("/".join(voila.split("/")[:3]))
    links = [link.get_attribute("href") or "" for link in page.get_by_role("link").all()]
    assert [link.split("/")[-1].split(".ipynb")[0] for link in links] == bundle.names()
    assert elsewhere == []
    page.close()
