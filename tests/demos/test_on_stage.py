"""Demos in Chromium, served by Voilà: the first picture comes by itself, and keys, buttons and clicks move it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from coursekit.demos import notebooks
from coursekit.demos.serving import served
from playwright.sync_api import Browser, Page, expect


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as place:
        yield place


def opened(browser: Browser, address: str, name: str, width: int = 1280, height: int = 720) -> Page:
    page = browser.new_page(viewport={"width": width, "height": height})
    elsewhere: list[str] = []
    host = address.split("/voila")[0]
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith((host, "data:", "blob:")) else elsewhere.append(request.url)
        ),
    )
    page.goto(f"{address}{name}.ipynb")
    page.wait_for_selector("svg.ckd, svg.cd-picture g *", timeout=60_000)
    assert elsewhere == [], "a demo works without a network"
    return page


@pytest.mark.parametrize("name", notebooks.drawn_in_python())
def test_a_demo_fits_a_projector(browser: Browser, address: str, name: str) -> None:
    page = opened(browser, address, name)
    picture = page.locator("svg.ckd").bounding_box()
    assert picture and picture["height"] >= 300 and picture["width"] >= 600
    assert picture["y"] + picture["height"] <= 720, "the whole picture is seen without scrolling"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (
        page.evaluate("parseFloat(getComputedStyle(document.querySelector('.ckd-scenes button')).fontSize)")
        >= 16
    )
    page.close()


def test_a_demo_drawn_in_the_browser_is_shown_from_a_cell_and_tells_its_state(
    browser: Browser, address: str
) -> None:
    page = opened(browser, address, "07_kernel_to_attention")
    expect(page.locator(".cd-finding")).to_have_text("σ = 0.1: one dot speaks for itself")
    page.locator("svg.cd-picture").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".cd-finding")).to_have_text("σ = 20: everyone speaks at once")
    stage = page.locator(".cd").bounding_box()
    assert stage and stage["y"] + stage["height"] <= 720 and stage["width"] > 1100
    page.close()


def test_the_list_of_demos_leads_to_each_and_fetches_nothing(browser: Browser, address: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address.split("/voila")[0])
    links = [link.get_attribute("href") or "" for link in page.get_by_role("link").all()]
    assert [link.split("/")[-1].split(".ipynb")[0] for link in links] == notebooks.names()
    assert all(url.startswith(address.split("/voila")[0]) for url in asked)
    page.close()
