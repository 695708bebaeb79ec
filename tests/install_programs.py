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
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    steps = "apt-get update", "apt-get install -y --no-install-recommends chromium-headless-shell"
    if not shutil.which("chromium-headless-shell") and not (
        os.geteuid() == 0
        and shutil.which("apt-get")
        and all(subprocess.run(step.split(), env=environment, **quiet).returncode == 0 for step in steps)
    ):
        print("The browser tests take chromium, or fail: apt-get install chromium-headless-shell.")


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
