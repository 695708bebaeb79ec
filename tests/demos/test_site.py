"""The course's page: every link leads somewhere, nothing is asked from elsewhere, no answer stands on it, under any path."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from coursekit.demos import bundle, slides
from playwright.sync_api import Browser, Request, Response, expect

from tests.fixtures.jupyterlab import PATIENCE_MS

pytestmark = pytest.mark.xdist_group("site")

AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe.min.js"
LABS = [path.stem for path in slides.labs()]


@pytest.fixture(scope="module")
def served(built: Path) -> Iterator[str]:
    """The site's address on a static host, two folders below its root."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    root = built.parent.parent
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/deep/course/"
        server.shutdown()


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {found.get("id") or "", found.get("name") or ""}
        for name in ("href", "src", "data-src", "srcset", "action"):
            if found.get(name):
                self.links.append((tag, str(found[name])))


@functools.cache
def read(page: Path) -> _Links:
    links = _Links()
    links.feed(page.read_text(encoding="utf-8"))
    return links


def test_every_link_leads_to_a_file_and_nothing_is_loaded_from_elsewhere(built: Path) -> None:
    wrong = []
    pages = sorted(built.rglob("*.html"))
    assert len(pages) > 14 * 2 + 19 + 7
    for page in pages:
        for tag, link in read(page).links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                if tag != "a" and not (tag == "link" and "canonical" in link):
                    wrong.append((page.name, "is loaded", link))
            elif parts.scheme not in ("data", "mailto"):
                target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
                if target.is_dir():
                    target /= "index.html"
                if link.startswith("/") or not target.is_file() or not target.is_relative_to(built.resolve()):
                    wrong.append((page.name, "leads nowhere", link))
                elif (
                    parts.fragment
                    and target.suffix == ".html"
                    and target.parent.name not in ("demos", "slides")
                    and unquote(parts.fragment) not in read(target).ids
                ):
                    wrong.append((page.name, "no such place", link))
    assert wrong == []


def test_a_lab_stands_there_with_its_demos_and_figures_and_without_an_answer(built: Path) -> None:
    for lab in LABS:
        page = (built / "labs" / f"{lab}.html").read_text(encoding="utf-8")
        assert [
            demo for demo in bundle.names() if demo[:2] == lab[:2] and f"../demos/{demo}.html" not in page
        ] == []
        assert page.count("_images/") > 3
    everything = "".join(
        file.read_text(encoding="utf-8")
        for file in built.rglob("*")
        if file.suffix in (".html", ".js", ".ipynb", ".md", ".txt")
        and file.parent.name not in ("demos", "guide")
    )
    assert "BEGIN SOLUTION" not in everything and "BEGIN HIDDEN" not in everything
    for path in slides.labs():
        for cell in nbformat.read(path, as_version=4).cells:
            if "### BEGIN SOLUTION" in cell.source:
                answer = cell.source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
                kept = [line.strip() for line in answer.splitlines() if len(line.strip()) > 45]
                assert [line for line in kept if line in everything] == [], path.stem


@pytest.mark.parametrize(
    "page",
    [
        "index.html",
        "labs/07_self_attention.html",
        "demos/index.html",
        "guide/run_a_course.html",
        "slides/07_self_attention.html",
    ],
)
def test_a_page_is_accessible_in_light_and_dark_and_asks_its_own_host_only(
    browser: Browser, served: str, page: str
) -> None:
    tab = browser.new_page(viewport={"width": 1366, "height": 768})
    tab.set_default_timeout(PATIENCE_MS)
    wrong: list[str] = []

    def asked(request: Request) -> None:
        if not request.url.startswith((served, "data:", "blob:")):
            wrong.append(request.url)

    def answered(answer: Response) -> None:
        if answer.status >= 400:
            wrong.append(f"{answer.status} {answer.url}")

    tab.on("request", asked)
    tab.on("response", answered)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.goto(served + page)
    tab.wait_for_load_state("networkidle")
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        found = tab.evaluate("axe.run(document, {iframes: false}).then((run) => run.violations)")
        serious = [
            (one["id"], [node["html"][:150] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], scheme
    assert wrong == []
    tab.close()


def test_the_gallery_shows_each_demo_and_a_code_of_its_own_address(browser: Browser, served: str) -> None:
    tab = browser.new_page()
    tab.set_default_timeout(PATIENCE_MS)
    tab.goto(served + "demos/index.html")
    items = tab.locator(".gallery li")
    expect(items).to_have_count(len(bundle.names()))
    items.first.locator("summary").click()
    expect(items.first.locator("svg title")).to_have_text(
        f"QR code of {served}demos/{bundle.names()[0]}.html"
    )
    assert tab.evaluate(
        "[...document.querySelectorAll('.gallery img')].every((img) => { img.loading = 'eager'; return true })"
    )
    items.first.locator("a").click()
    expect(tab.locator(".cd-finding")).not_to_be_empty()
    tab.close()


def test_no_embedded_demo_is_empty_on_a_phone(browser: Browser, served: str, built: Path) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    tab.set_default_timeout(PATIENCE_MS)
    seen = 0
    for page in ["index.html", *(f"labs/{lab}.html" for lab in LABS)]:
        tab.goto(served + page)
        for frame in tab.locator("iframe.demo").all():
            frame.scroll_into_view_if_needed()
            inside = frame.content_frame
            inside.locator("svg.cd-picture g *").first.wait_for(state="attached")
            picture, place = inside.locator("svg.cd-picture").bounding_box(), frame.bounding_box()
            assert picture and place and picture["height"] > 250, (page, picture)
            assert picture["y"] + picture["height"] < place["y"] + place["height"], (page, "out of sight")
            seen += 1
    assert seen > len(bundle.names())
    tab.close()


def test_a_demo_is_live_in_its_labs_text(browser: Browser, served: str) -> None:
    tab = browser.new_page(viewport={"width": 1366, "height": 768})
    tab.set_default_timeout(PATIENCE_MS)
    tab.goto(served + "labs/07_self_attention.html")
    frame = tab.locator("iframe.demo").first
    frame.scroll_into_view_if_needed()
    expect(tab.frame_locator("iframe.demo").first.locator(".cd-finding")).to_have_text(
        "σ = 0.1: one dot speaks for itself"
    )
    tab.close()
