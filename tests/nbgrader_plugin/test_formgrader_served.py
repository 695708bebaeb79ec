"""``autograder formgrader`` as a process: what ends it ends its server, and its buttons make what the commands make."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB, environment
from tests.fixtures.jupyterlab import PATIENCE_MS
from tests.fixtures.live_class import free_port

pytestmark = pytest.mark.xdist_group("grading")


@contextmanager
def formgrader(folder: Path, root: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command's process on a graded folder, and the address that it prints, token and all."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.cli", "formgrader", "--out", str(folder), "--no-browser",
         "--port", str(free_port())],
        env=environment(root, JUPYTER_RUNTIME_DIR=str(folder / "runtime"), HOME=str(folder)),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    said, servers = "", []
    try:
        assert process.stdout
        for line in process.stdout:
            said += line
            if found := re.search(r"http://127\.0\.0\.1\S+", line):
                break
        else:
            pytest.fail(said)
        servers = children(process.pid)
        assert within(lambda: answers(found.group())), "it listens soon after it has said where"
        yield process, found.group()
    finally:
        for pid in (process.pid, *servers):
            if runs(pid):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def within(so: Callable[[], bool]) -> bool:
    """Whether something comes true in a time that a busy machine needs."""
    until = time.monotonic() + PATIENCE_MS / 1000
    while not (true := so()) and time.monotonic() < until:
        time.sleep(0.1)
    return true


def children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def runs(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=30).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_what_ends_formgrader_ends_its_server(tmp_path: Path, frozen: Path, name: str) -> None:
    """Ctrl + C, a ``kill``, a terminal that is closed: the signal is the command's alone."""
    (tmp_path / "gradebook.db").touch()
    with formgrader(tmp_path, frozen) as (process, address):
        [server] = children(process.pid)
        process.send_signal(getattr(signal, name))
        assert within(lambda: process.poll() is not None) and process.poll() == 0
        assert not runs(server)
        assert not answers(address)


@pytest.mark.skipif(probe() is not None, reason=str(probe()))
def test_the_button_generate_feedback_writes_our_page(graded: Path, frozen: Path, browser: Any) -> None:
    pages = {name: graded / "out" / "feedback" / name / LAB / f"{LAB}.html" for name in ("ada", "bo")}
    before = {name: page.read_text(encoding="utf-8") for name, page in pages.items()}
    assert all(f"Feedback for <bdi>{name}</bdi>" in text for name, text in before.items())
    for page in pages.values():
        page.write_text("an old page")
    with formgrader(graded / "out", frozen) as (_, address):
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address)  # with the token, at the gradebook
        page.goto(address.split("/formgrader")[0].split("/lab")[0] + "/formgrader/manage_assignments")
        row = page.get_by_role("row", name=LAB)
        row.locator(".generate-feedback a").click()
        told = page.get_by_role("dialog")
        expect(told).to_contain_text(f"Successfully generated feedback of '{LAB}'.")
        page.close()
    assert {name: page.read_text(encoding="utf-8") for name, page in pages.items()} == before
