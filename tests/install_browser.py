"""Installs Debian's Chromium for the browser tests when it is missing and can be had; says so in one line otherwise."""

from __future__ import annotations

import os
import shutil
import subprocess


def main() -> None:
    """Leave ``/usr/bin/chromium`` in place, or say that the browser tests will fail."""
    if shutil.which("chromium"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print("No Chromium here: the browser tests fail (Debian: apt-get install chromium).")
        return
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", "chromium"],
    ):
        if subprocess.run(command, env=environment, check=False, **quiet).returncode:
            print("Chromium could not be installed: the browser tests fail.")
            return


if __name__ == "__main__":
    main()
