"""The course's page: every link leads somewhere, nothing is asked from elsewhere, no answer stands on it, under any path."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from coursekit.demos import bundle, slides
from playwright.sync_api import Browser, expect

from tests.demos.stage import opened, serious
from tests.fixtures.html_reader import read

pytestmark = pytest.mark.xdist_group("site")

LABS = [path.stem for path in slides.labs()]


@pytest.fixture(scope="module")
def served(built: Path) -> Iterator[str]:
    """The site's address on a static host, two folders below its root."""
    files = functools.partial(SimpleHTTPRequestHandler, directory=str(built.parent.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), files) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/deep/course/"
        server.shutdown()


def values(page: Path, *names: str) -> list[tuple[str, str]]:
    """A tag, and the value of one of these attributes, of all that have one."""
    tags = read(page.read_text(encoding="utf-8")).tags
    return [(tag, str(attrs[name])) for tag, attrs in tags for name in names if attrs.get(name)]


@functools.cache
def ids(page: Path) -> set[str]:
    return {value for _, value in values(page, "id", "name")}


def test_every_link_leads_to_a_file_and_nothing_is_loaded_from_elsewhere(built: Path) -> None:
    wrong = []
    pages = sorted(built.rglob("*.html"))
    assert len(pages) > 14 * 2 + 19 + 7
    for page in pages:
        for tag, link in values(page, "href", "src", "data-src", "srcset", "action"):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                if tag != "a" and not (tag == "link" and "canonical" in link):
                    wrong.append((page.name, "is loaded", link))
            elif parts.scheme not in ("data", "mailto"):
                target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
                target = target / "index.html" if target.is_dir() else target
                # the places of demos and slides are made as they open
                opens = target.suffix != ".html" or target.parent.name in ("demos", "slides")
                if link.startswith("/") or not target.is_file() or not target.is_relative_to(built.resolve()):
                    wrong.append((page.name, "leads nowhere", link))
                elif parts.fragment and not opens and unquote(parts.fragment) not in ids(target):
                    wrong.append((page.name, "no such place", link))
    assert wrong == []


def test_a_lab_stands_there_with_its_demos_and_figures_and_without_an_answer(built: Path) -> None:
    for lab in LABS:
        page = (built / "labs" / f"{lab}.html").read_text(encoding="utf-8")
        assert all(f"../demos/{demo}.html" in page for demo in bundle.names() if demo[:2] == lab[:2]), lab
        assert page.count("_images/") > 3
        assert page.index(slides.cover(lab)) < page.index("What you"), "its picture stands before its text"
    texts = (file for file in built.rglob("*") if file.suffix in (".html", ".js", ".ipynb", ".md", ".txt"))
    shown = (file for file in texts if file.parent.name not in ("demos", "guide"))
    everything = "".join(file.read_text(encoding="utf-8") for file in shown)
    assert "BEGIN SOLUTION" not in everything and "BEGIN HIDDEN" not in everything
    for path in slides.labs():
        for cell in nbformat.read(path, as_version=4).cells:
            if "### BEGIN SOLUTION" in cell.source:
                answer = cell.source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
                kept = [line.strip() for line in answer.splitlines() if len(line.strip()) > 45]
                assert [line for line in kept if line in everything] == [], path.stem


@pytest.mark.parametrize(
    "page", ["index.html", "labs/08_multi_head.html", "demos/index.html", "guide/hub.html"]
)
def test_a_page_is_accessible_in_light_and_dark(browser: Browser, served: str, page: str) -> None:
    with opened(browser, served + page, own=served, ready="main, article") as tab:
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)
            assert serious(tab) == [], scheme


def test_the_gallery_shows_each_demo_and_a_code_of_its_own_address(browser: Browser, served: str) -> None:
    with opened(browser, served + "demos/index.html", own=served, ready=".gallery") as tab:
        items = tab.locator(".gallery li")
        expect(items).to_have_count(len(bundle.names()))
        items.first.locator("summary").click()
        address = f"{served}demos/{bundle.names()[0]}.html"
        expect(items.first.locator("svg title")).to_have_text(f"QR code of {address}")
        items.first.locator("a").click()
        expect(tab.locator(".cd-finding")).not_to_be_empty()


def test_the_demo_in_a_page_is_seen_on_a_phone(browser: Browser, served: str) -> None:
    with opened(browser, served + "index.html", "phone", own=served, ready="iframe.demo") as tab:
        for page in ("index.html", "labs/08_multi_head.html"):
            tab.goto(served + page)
            frame = tab.locator("iframe.demo").first
            frame.scroll_into_view_if_needed()
            expect(frame.content_frame.locator(".cd-finding")).not_to_be_empty()
            picture = frame.content_frame.locator("svg.cd-picture").bounding_box()
            place = frame.bounding_box()
            assert picture and place and picture["height"] > 250, page
            assert picture["y"] + picture["height"] < place["y"] + place["height"], "out of sight"
