"""Installs what tests in a browser need: Debian's Chromium without windows, and JupyterHub's proxy from npm into ``build/hub_proxy``.

Where one cannot be had, it says so in one line; the tests that need it fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "build" / "hub_proxy"
PROXY = FOLDER / "node_modules" / ".bin" / "configurable-http-proxy"
#: What a test says that does not find it.
NEEDED = "the journeys on a hub need JupyterHub's proxy: apt-get install npm, then python tests/install_programs.py"


def install_browser() -> None:
    """Leave ``/usr/bin/chromium-headless-shell`` in place, or say that the tests take the whole Chromium or fail."""
    if shutil.which("chromium-headless-shell"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print("The browser tests need Chromium: apt-get install chromium-headless-shell.")
        return
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in ("apt-get update", "apt-get install -y --no-install-recommends chromium-headless-shell"):
        if subprocess.run(words.split(), env=environment, check=False, **quiet).returncode:
            print("chromium-headless-shell could not be installed: the browser tests take chromium, or fail.")
            return


def install_proxy() -> None:
    """Leave JupyterHub's proxy in ``FOLDER``, or say what is missing."""
    npm = shutil.which("npm")
    if PROXY.exists():
        return
    if npm is None:
        print(f"There is no npm here: {NEEDED}.")
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    words = [npm, "install", "--silent", "--prefix", str(FOLDER), "configurable-http-proxy@5"]
    subprocess.run(words, check=True)


if __name__ == "__main__":
    install_browser()
    install_proxy()
