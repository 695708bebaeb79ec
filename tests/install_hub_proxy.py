"""Fetches JupyterHub's proxy from npm into ``build/hub_proxy``, for the journeys on a hub."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "build" / "hub_proxy"
PROXY = FOLDER / "node_modules" / ".bin" / "configurable-http-proxy"
VERSION = "configurable-http-proxy@5"
#: What a test says that does not find it.
NEEDED = "the journeys on a hub need JupyterHub's proxy: apt-get install npm, then python tests/install_hub_proxy.py"


def main() -> int:
    """Install it unless it is there; without npm the journeys on a hub fail, and this says so."""
    if PROXY.exists():
        return 0
    npm = shutil.which("npm")
    if npm is None:
        print(f"There is no npm here: {NEEDED}.", file=sys.stderr)
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        [npm, "install", "--silent", "--prefix", str(FOLDER), VERSION], check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
