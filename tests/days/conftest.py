"""JupyterLab on a folder, as a student or an instructor starts it, and Chromium's page on it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

#: How long a page may take to show what a test waits for: a busy machine starts kernels slowly.
PATIENCE_MS = 120_000
expect.set_options(timeout=PATIENCE_MS)


@dataclass(frozen=True)
class Server:
    """A running JupyterLab: its address with the token, as the terminal prints it, and the folder it shows."""

    url: str
    token: str
    folder: Path

    def address(self, place: str = "lab") -> str:
        """``lab/tree/NOTEBOOK`` or another place, with the token that lets a new browser in."""
        return f"{self.url}{place}?token={self.token}"


Serve = Callable[..., Server]


def at_home(home: Path) -> dict[str, str]:
    """The environment of somebody who has just installed the course: no settings, no workspace, no kernels yet."""
    own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    places = {name: str(home / name.lower()) for name in own}
    return {**os.environ, "HOME": str(home), "OMP_NUM_THREADS": "1", **places}


@contextmanager
def jupyterlab(folder: Path, home: Path, *words: str) -> Iterator[Server]:
    """JupyterLab in ``folder`` on a free port, with a token, for the time of a ``with``."""
    home.mkdir(parents=True, exist_ok=True)
    token, environment = secrets.token_hex(16), at_home(home)
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--port=0", "--allow-root", *words]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, f"--IdentityProvider.token={token}"],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            yield Server(
                _address(process, Path(environment["JUPYTER_RUNTIME_DIR"]), home / "log"), token, folder
            )
        finally:
            process.terminate()
            process.wait(timeout=30)


def _address(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Where the server listens, once it has written so."""
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"JupyterLab ended before it began: {log.read_text()[-800:]}")
        for file in runtime.glob(f"jpserver-{process.pid}.json"):
            try:
                url = str(json.loads(file.read_text())["url"])
            except ValueError:
                continue  # half written
            if not url.rstrip("/").endswith(":0"):
                return url
        time.sleep(0.1)
    raise RuntimeError("JupyterLab did not say within a minute where it listens.")


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """``serve(folder)`` starts JupyterLab there; it ends with the module."""
    with ExitStack() as running:

        def start(folder: Path, *words: str) -> Server:
            return running.enter_context(jupyterlab(folder, tmp_path_factory.mktemp("home"), *words))

        yield start


@pytest.fixture(scope="module")
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """``visit(server)`` opens a page on it in a browser of its own; pages close with the module."""
    with ExitStack() as opened:

        def go(server: Server, place: str = "lab", **look: Any) -> Any:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **look})
            opened.callback(context.close)
            context.set_default_timeout(PATIENCE_MS)
            page = context.new_page()
            page.goto(server.address(place))
            return page

        yield go
