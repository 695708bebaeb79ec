"""The preview shows an author what a student will see, to this machine alone, and again after every change."""

from __future__ import annotations

import http.client
import threading
import time
from urllib.parse import urlsplit

import pytest

from autograder.errors import UserError
from autograder.preview.serve import Pages, preview, serving, watched
from tests.fixtures.example_lab import LAB, write_example
from tests.fixtures.frozen_course import environment, freeze, unhurried
from tests.fixtures.jupyterlab import PATIENCE_MS


def answer(address, path=None, host=None, method="GET"):
    """Status, headers and text of one request to the server at ``address``."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    connection.request(method, parts.path if path is None else path, headers={"Host": host or parts.netloc})
    reply = connection.getresponse()
    return reply.status, dict(reply.getheaders()), reply.read().decode()


@pytest.fixture
def pages(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "index.html").write_text("<p>the preview</p>")
    (folder / "kept.json").write_text("{}")
    (tmp_path / "secret.html").write_text("a secret")
    return Pages(folder)


def test_only_its_own_address_with_the_token_gets_a_page(pages):
    with serving(pages) as address:
        assert urlsplit(address).hostname == "127.0.0.1"
        status, headers, text = answer(address)
        assert (status, text) == (200, "<p>the preview</p>")
        assert (
            "default-src 'none'" in headers["Content-Security-Policy"]
            and headers["Cache-Control"] == "no-store"
        )
        port, token = urlsplit(address).port, urlsplit(address).path.strip("/")
        assert answer(address, host=f"localhost:{port}")[0] == 200
        for host in ("preview.example", f"preview.example:{port}", "127.0.0.1", f"127.0.0.1:{port}.example"):
            assert answer(address, host=host)[0] == 403, host
        for path in ("/", "/index.html", f"/{token[:-1]}/", f"/{token}x/index.html", "//", "/%00/"):
            assert answer(address, path=path)[0] == 403, path


@pytest.mark.parametrize(
    "name", ["../secret.html", "%2e%2e/secret.html", "kept.json", "/etc/passwd", "nothing.html"]
)
def test_nothing_but_the_pages_is_served(pages, name):
    with serving(pages) as address:
        assert answer(address, path=urlsplit(address).path + name)[0] == 404


def test_a_page_that_wants_to_write_is_refused(pages):
    with serving(pages) as address:
        assert answer(address, method="POST")[0] == 501


def test_a_browser_that_comes_early_is_told_to_wait(tmp_path):
    with serving(Pages(tmp_path)) as address:
        assert "Building and auditing" in answer(address)[2]


def test_an_imported_lab_has_nothing_to_preview(monkeypatch):
    monkeypatch.setattr("autograder.preview.serve.source_of_import", lambda lab: "ps1/problem1")
    with pytest.raises(UserError, match="was imported"):
        preview("20_problem1", 0, False, print)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return unhurried(write_example(freeze(tmp_path_factory.mktemp("previewed"))))


def test_a_change_is_built_audited_and_shown_while_the_page_is_open(course, browser, monkeypatch):
    for name, value in environment(course).items():
        monkeypatch.setenv(name, value)
    said, stop = [], threading.Event()
    assert [path.name for path in watched(LAB)] == [f"{LAB}.py", f"m{LAB}"]
    thread = threading.Thread(target=preview, args=(LAB, 0, False, said.append, stop))
    thread.start()
    try:
        until(lambda: len(said) == 2)
        assert said[1] == "✓ everything as it should be"
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(said[0].split()[2])
        card = page.locator("#entropy .answer", has_text="one number for the whole table")
        assert "sum over the last axis" in card.locator(".ck").inner_text()
        card.locator("summary").click()
        feedback = card.frame_locator("iframe")
        feedback.get_by_text("This looks like: one number for the whole table").wait_for()
        assert "Each row is a distribution of its own" in feedback.locator("body").inner_text()
        page.get_by_text("The student's notebook").first.click()
        notebook = page.frame_locator("iframe[src='notebook.html']").locator("body")
        notebook.get_by_text("raise NotImplementedError").first.wait_for()
        assert "BEGIN SOLUTION" not in notebook.inner_text()
        file = course / "autograder" / "questions" / f"m{LAB}" / "entropy.py"
        file.write_text(file.read_text().replace("one number for the whole table", "a single number"))
        page.get_by_text("This looks like: a single number").or_(
            page.locator("h3", has_text="a single number")
        ).first.wait_for()
        until(lambda: len(said) == 3)
        assert said[2].startswith("entropy.py changed: ")
        assert page.locator("details[open]").count() == 2  # what was open is open again
        file.write_text(file.read_text().replace("@question.alternative", ""))
        page.get_by_text("it has no alternative").first.wait_for()
        assert not errors
    finally:
        stop.set()
        thread.join(timeout=60)
    assert not thread.is_alive()


def until(reached, seconds=240):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.1)
