"""Installs what tests in a browser need: Debian's Chromium without windows, and JupyterHub's proxy from npm into ``build/hub_proxy``.

Where one cannot be had, it says so in one line; the tests that need it fail.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "build" / "hub_proxy"
PROXY = FOLDER / "node_modules" / ".bin" / "configurable-http-proxy"
#: What a test says that does not find it.
NEEDED = "the journeys on a hub need JupyterHub's proxy: apt-get install npm, then python tests/install_programs.py"
INSTALL = "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends"
PROGRAMS = {
    "chromium-headless-shell": (
        f"apt-get update && {INSTALL} chromium-headless-shell",
        "The browser tests take chromium, or fail: apt-get install chromium-headless-shell.",
    ),
    str(PROXY): (f"npm install --prefix '{FOLDER}' configurable-http-proxy@5", f"Not to be had here: {NEEDED}."),
}  # fmt: skip

if __name__ == "__main__":
    for program, (command, without) in PROGRAMS.items():
        if not shutil.which(program) and subprocess.run(command, shell=True, capture_output=True).returncode:
            print(without)
