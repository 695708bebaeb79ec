"""Opens the pages of demos in Chromium, and reads from a page what a person would trip over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from coursekit.demos import bundle
from playwright.sync_api import Browser, Page, ViewportSize

from tests.fixtures.jupyterlab import PATIENCE_MS

#: Keys, addresses, axe's rules and slides are one code for all demos, which a demo alone can hardly break: one
#: that is moved by hand stands for the others, which are tried in `make proof`.
EACH_IN_PROOF = [
    name if name == "07_kernel_to_attention" else pytest.param(name, marks=pytest.mark.proof)
    for name in bundle.names()
]
AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe.min.js"
SIZES = {"hall": (1920, 1080), "laptop": (1366, 768), "old": (1024, 768), "phone": (390, 844)}
SCREENS = {name: ViewportSize(width=width, height=height) for name, (width, height) in SIZES.items()}

#: Functions of the page, which its tests evaluate: each file says what it does.
SETTLED, FAULTS, WIDEN, MOVE, FIT = (
    Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8")
    for name in ("settled", "faults", "widen", "move", "fit")
)


@contextmanager
def opened(
    browser: Browser,
    place: str,
    screen: str = "laptop",
    *,
    dark: bool = False,
    calm: bool = True,
    own: str = "file:",
    ready: str = "svg.cd-picture g *",
    hears: Sequence[str] = ("pageerror", "error", "warning"),
) -> Iterator[Page]:
    """A page on a screen, once it holds what ``ready`` selects; at its end it raised no error, and asked only ``own``.

    ``hears``: what counts, an error that was raised, or an error or a warning on the console.
    """
    page = browser.new_page(
        viewport=SCREENS[screen],
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce" if calm else "no-preference",
    )
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)) if "pageerror" in hears else None)
    page.on("console", lambda line: said.append(line.text) if line.type in hears else None)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((own, "data:", "blob:")) else said.append(asked.url),
    )
    page.set_default_timeout(PATIENCE_MS)
    page.goto(place)
    page.wait_for_selector(ready, state="attached")
    try:
        yield page
        assert said == [], said
    finally:
        page.close()


def address(folder: Path, name: str, hash: str = "") -> str:
    """The address of a demo's page in a folder."""
    return f"{(folder / name).resolve().as_uri()}.html{'#' + hash if hash else ''}"


def faults(page: Page, *, wider: bool) -> list[Any]:
    """What is wrong with the page's looks, its text a little wider or as it is, once they are what they will be."""
    page.evaluate(WIDEN, wider)
    page.evaluate(SETTLED)
    return page.evaluate(FAULTS)


def serious(page: Page) -> list[Any]:
    """What axe finds on the page that keeps somebody out: the rule, and where."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {iframes: false}).then((run) => run.violations)")
    kept = [one for one in found if one["impact"] in ("serious", "critical")]
    return [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in kept]
