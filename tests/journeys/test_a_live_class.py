"""A live class on a JupyterHub in Chromium: students hand in, read, ask and mend while the lecturer's screen moves."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from autograder.course.masters import course_root
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB, WRONG, environment, freeze
from tests.fixtures.jupyterlab import PATIENCE_MS
from tests.fixtures.live_class import free_port
from tests.install_programs import NEEDED, PROXY
from tests.serve.test_live_class import notebook

pytestmark = pytest.mark.skipif(probe() is not None, reason=str(probe()))

CONFIGURATION = """
c.JupyterHub.bind_url = "http://127.0.0.1:{public}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{inside}"
c.ConfigurableHTTPProxy.command = {proxy!r}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.allow_all = True
c.Authenticator.admin_users = {{"prof"}}
c.JupyterHub.services = [{{
    "name": "autograder",
    "url": "http://127.0.0.1:{service}",
    "command": {command!r},
    "environment": {environment!r},
    "oauth_no_confirm": True,
    "timeout": 600,
}}]
may_hand_in = "access:services!service=autograder"
c.JupyterHub.load_roles = [{{"name": "user", "scopes": ["self", may_hand_in]}}]
"""
STUDENTS = ("ada", "bo")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the service on a running hub."""
    assert PROXY.exists(), NEEDED
    folder = tmp_path_factory.mktemp("hub")
    root = freeze(folder / "course", LAB)
    for place in ("notebooks/demos", "data/demos"):
        shutil.copytree(course_root() / place, root / place)
    ports = {name: free_port() for name in ("public", "inside", "api", "service")}
    given = ("PATH", "PYTHONPATH", "COURSE_ROOT", "COURSE_SALT", "OMP_NUM_THREADS", "STARTED_BY_TESTS")
    said = {name: value for name, value in environment(root).items() if name in given}
    (folder / "course.toml").write_text("[live]\nattempts = 5\n")
    said["COURSE_FILE"] = str(folder / "course.toml")
    words = [sys.executable, "-P", "-m", "autograder.cli", "serve", LAB]
    words += ["--out", str(folder / "out"), "--hub", "--jobs", "1"]
    (folder / "jupyterhub_config.py").write_text(
        CONFIGURATION.format(**ports, proxy=str(PROXY), command=words, environment=said)
    )
    with (folder / "hub.log").open("wb") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub"],
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, **said},
        )
    address = f"http://127.0.0.1:{ports['public']}/services/autograder/"
    until = time.monotonic() + 600
    while not _answers(address):
        assert running.poll() is None and time.monotonic() < until, (folder / "hub.log").read_text()[-3000:]
        time.sleep(0.5)
    yield address
    running.send_signal(signal.SIGTERM)
    running.wait(60)


def _answers(address: str) -> bool:
    """Whether the service answers through the hub's proxy: that it knows nobody."""
    try:
        urllib.request.urlopen(address, timeout=5)
    except urllib.error.HTTPError as error:
        return error.code == 401
    except OSError:
        pass
    return False


def signed_in(browser: Any, address: str, who: str, path: str = "") -> Page:
    """A browser of ``who``'s own that the hub has signed in."""
    page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.on("pageerror", lambda error: pytest.fail(f"{who}: {error}"))
    page.on("request", lambda asked: _ours(asked.url, address))
    page.goto(address + path)
    page.get_by_label("Username").fill(who)
    page.get_by_label("Password").fill("anything")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**/services/autograder/{path}")
    return page


def _ours(url: str, address: str) -> None:
    assert url.startswith((address.partition("/services")[0], "data:", "blob:")), url


def hand_in(page: Page, content: bytes) -> None:
    file = {"name": f"{LAB}.ipynb", "mimeType": "application/json", "buffer": content}
    page.get_by_label("Your saved notebook").set_input_files(file)
    page.get_by_role("button", name="Hand in").click()


def test_two_students_hand_in_read_and_mend_while_the_lecturers_screen_moves(hub, browser):
    room = signed_in(browser, hub, "prof", f"room/{LAB}")
    expect(room.get_by_role("status").first).to_contain_text("0 students have a verdict")
    room.get_by_role("button", name="Start an exercise").click()
    expect(room.get_by_role("timer")).to_contain_text(":")
    line = room.locator(".question", has_text="normalise_rows")
    students = {who: signed_in(browser, hub, who) for who in STUDENTS}
    for who, page in students.items():
        expect(page.locator(".timer")).to_contain_text("left in class")
        hand_in(page, notebook(WRONG, who))
    for page in students.values():
        first = page.locator(".attempt", has_text="Attempt 1 of 5")
        expect(first).to_have_attribute("data-state", "graded")
        change = first.locator(".change", has_text="normalise_rows")
        expect(change.locator(".cause")).not_to_be_empty()
        expect(change.locator(".code")).to_contain_text("def normalise_rows")
    expect(line).to_contain_text("0 of 2 have it")
    line.get_by_role("button", name="Demo").click()
    expect(room.frame_locator("iframe").locator("svg").first).to_be_visible()
    expect(line.locator(".thought b").first).to_have_text("2")
    assert "ada" not in room.locator("body").inner_text()

    ada, bo = students.values()
    bo.get_by_text("Ask a teacher").click()
    bo.get_by_label("What do you think is wrong?").fill("My rows sum to one.")
    bo.get_by_role("button", name="Ask", exact=True).click()
    expect(bo.get_by_text("There is no answer yet.")).to_be_visible()
    for who, page in students.items():
        hand_in(page, notebook({}, who))
    expect(line).to_contain_text("2 of 2 have it")
    expect(ada.locator(".attempt", has_text="Attempt 2 of 5")).to_contain_text("This attempt counts")
    ada.goto(f"{hub}team/{LAB}")
    expect(ada.get_by_text("This page is the teaching team's.")).to_be_visible()

    room.goto(f"{hub}team/{LAB}")
    for who in STUDENTS:
        expect(room.locator(f"tr[data-student={who}]")).to_contain_text("graded")
    expect(room.locator("#requests")).to_contain_text("My rows sum to one.")
    room.get_by_role("button", name="Answer").first.click()
    room.get_by_label("Your answer").fill("Together they do, each alone does not.")
    room.locator("dialog[open]").get_by_role("button", name="Answer").click()
    expect(room.locator("#requests")).to_be_empty()
    bo.reload()
    expect(bo.get_by_text("Together they do, each alone does not.")).to_be_visible()
