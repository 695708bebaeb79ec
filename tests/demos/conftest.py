"""The course's page and the demos' pages, built once for all who look at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from coursekit.demos import bundle, site
from playwright.sync_api import Browser, Page

from tests.demos.stage import address


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, two below its host's root."""
    folder = tmp_path_factory.mktemp("host") / "deep" / "course"
    site.write(folder)
    return folder


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all demos' pages."""
    folder = tmp_path_factory.mktemp("pages")
    bundle.write(folder)
    return folder


@pytest.fixture(scope="module")
def demo(browser: Browser, pages: Path) -> Iterator[Callable[[str], Callable[..., Any]]]:
    """``ask = demo(NAME); ask(expression, value)``: what an expression is worth on the page; ``demo`` and ``data`` are its own."""
    shown: dict[str, Page] = {}
    look = "const {demo, stage, modules} = course, numbers = modules['numbers.js'], data = stage.data;"

    def ask(name: str, expression: str, value: Any = None) -> Any:
        if name not in shown:
            shown[name] = browser.new_page()
            shown[name].goto(address(pages, name))
            shown[name].wait_for_selector("svg.cd-picture g *", state="attached")
        return shown[name].evaluate(f"(value) => {{ {look} return {expression}; }}", value)

    yield lambda name: partial(ask, name)
    for page in shown.values():
        page.close()
