"""Serves the demos: ``python -m coursekit.demos.serving`` opens Voilà on them, pages without code that need no network.

``served`` does the same for the time of a ``with``, to photograph or time the demos in a browser.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from coursekit.demos.notebooks import FOLDER

#: A translator's weights are nine megabytes; the server would hold them back as an output that runs wild.
_LARGE = "--ZMQChannelsWebsocketConnection.iopub_data_rate_limit=100000000"


def _voila() -> tuple[list[str], dict[str, str]]:
    """Voilà's command and environment; its page comes from ``share`` and fetches nothing."""
    paths = [str(Path(__file__).with_name("share")), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    return ["voila", "--template=lecture", "--classic-tree", _LARGE], {"JUPYTER_PATH": os.pathsep.join(paths)}


@contextmanager
def served(*, lab: bool = False) -> Iterator[str]:
    """The address of Voilà (or JupyterLab) on the demos' folder; add ``NAME.ipynb`` to it for a demo."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = ["--IdentityProvider.token="]
    if lab:
        command = [
            "jupyterlab",
            "--no-browser",
            f"--port={port}",
            *token,
            "--allow-root",
            "--expose-app-in-browser",
            _LARGE,
        ]
        address = f"http://127.0.0.1:{port}/lab/tree/"
    else:
        command = [*_voila()[0], "--no-browser", f"--port={port}", *token]
        address = f"http://127.0.0.1:{port}/voila/render/"
    home = tempfile.mkdtemp(prefix="demos-")
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **dict.fromkeys(places, home)}
    environment |= {"JUPYTERLAB_WORKSPACES_DIR": home, **_voila()[1]}
    folder = shutil.copytree(FOLDER, os.path.join(home, "demos"))  # JupyterLab saves what it shows
    with open(os.path.join(home, "log"), "w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=folder, env=environment, stdout=log, stderr=log
        )
        try:
            _wait(f"http://127.0.0.1:{port}/", process, os.path.join(home, "log"))
            yield address
        finally:
            process.terminate()
            process.wait(timeout=20)
    shutil.rmtree(home, ignore_errors=True)


def _wait(address: str, process: subprocess.Popen[bytes], log: str) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            if process.poll() is not None:
                with open(log) as said:
                    raise RuntimeError(f"The server ended before it began: {said.read()[-800:]}") from None
            time.sleep(0.1)
    raise RuntimeError("The server did not answer within 30 seconds.")


def main() -> int:
    """Serve until Ctrl-C, or until this process is ended; Voilà ends with it."""
    parser = argparse.ArgumentParser(prog="python -m coursekit.demos.serving", description=main.__doc__)
    parser.add_argument("--port", type=int, default=8866)
    asked = parser.parse_args()
    words, extra = _voila()
    command = [sys.executable, "-m", *words, f"--port={asked.port}"]
    process = subprocess.Popen(command, cwd=FOLDER, env={**os.environ, **extra})
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    with suppress(KeyboardInterrupt):
        return process.wait()
    process.terminate()
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
