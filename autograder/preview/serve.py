"""Watches a lab's files, has the preview made again when one changes, and serves its pages to this machine alone.

The address holds a token, the server listens on 127.0.0.1, and a request that came under another name is refused: no
page of the web can read what a lab's hidden tests say.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from autograder.course.masters import course_header, course_root, master_path, source_of_import
from autograder.course.soundness.companions import questions_folder
from autograder.errors import UserError
from autograder.preview.script import HASH

_WAITING = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="1">
<title>Preview</title><p style="font:16px system-ui;margin:3rem">Building and auditing the lab …</p></html>"""
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {script}; connect-src 'self'; "
    "frame-src 'self'; frame-ancestors 'self'"
)


class Pages:
    """The pages in a folder, and how often they were made."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.version = 0
        self.busy = False

    def read(self, name: str) -> bytes | None:
        """A page by its name, one that was made; None for any other."""
        if name == "version":
            return f"{self.version}{' busy' if self.busy else ''}".encode()
        path = self.folder / name
        known = name.endswith(".html") and path.parent == self.folder and path.is_file()
        return path.read_bytes() if known else _WAITING.encode() if name == "index.html" else None


class Handler(BaseHTTPRequestHandler):
    """Answers ``GET /TOKEN/page.html`` of a browser on this machine; everything else is refused without a word."""

    def __init__(self, *args: Any, pages: Pages, token: str, **kwargs: Any):
        self.pages, self.token = pages, token
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        """Send a page."""
        host = self.headers.get("Host", "")
        port = self.connection.getsockname()[1]
        _, token, name = [*self.path.partition("?")[0].split("/", 2), "", ""][:3]
        known = secrets.compare_digest(token.encode("utf-8", "replace"), self.token.encode())
        if host not in (f"127.0.0.1:{port}", f"localhost:{port}") or not known:
            self.send_error(403)
            return
        page = self.pages.read(name or "index.html")
        if page is None:
            self.send_error(404)
            return
        self.send_response(200)
        kind = "text/plain" if name == "version" else "text/html"
        for header, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(page)),
            "Content-Security-Policy": _POLICY.format(script=f"'{HASH}'"),
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal shows what was rebuilt."""


@contextmanager
def serving(pages: Pages, port: int = 0) -> Iterator[str]:
    """Serve the pages for the time of a ``with``; the address with its token."""
    token = secrets.token_urlsafe(24)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, pages=pages, token=token))
    except OSError as error:
        raise UserError(f"The port {port} cannot be used: {error.strerror}. Take another --port.") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/{token}/"
    finally:
        server.shutdown()
        server.server_close()


def watched(lab: str) -> list[Path]:
    """The files and folders of a lab whose change is seen: its master, what stands beside it, its data."""
    root = course_root()
    names = course_header(lab).get("data") or []
    data = [root / "data" / str(name) for name in names if isinstance(names, list)]
    return [path for path in (master_path(lab), questions_folder(lab, root), *data) if path.exists()]


def remake(lab: str, pages: Pages) -> bool:
    """Build and audit what changed, in a fresh process; whether everything is as it should be."""
    pages.busy = True
    command = [sys.executable, "-P", "-m", "autograder.preview.make", lab, str(pages.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not (pages.folder / "index.html").exists():
        raise UserError(f"The preview of {lab} could not be made: {done.stderr.strip().splitlines()[-1:]}")
    pages.busy = False
    pages.version += 1
    return done.returncode == 0


def preview(
    lab: str,
    port: int,
    browser: bool,
    said: Callable[[str], None],
    stop: threading.Event | None = None,
) -> None:
    """Make the preview of a lab (full name), serve it, and make it again after every change, until interrupted."""
    from watchfiles import watch

    if source_of_import(lab):
        raise UserError(f"{lab} was imported, so it names no wrong answers to show.")
    with tempfile.TemporaryDirectory(prefix="preview-") as folder:
        pages = Pages(Path(folder))
        with serving(pages, port) as address:
            said(f"{lab} at {address} (Ctrl+C ends it)")
            if browser:
                webbrowser.open(address)
            said(_state(remake(lab, pages)))
            for changes in watch(*watched(lab), stop_event=stop, raise_interrupt=False):
                names = sorted({Path(path).name for _, path in changes if not path.endswith(".pyc")})
                if names:
                    said(f"{', '.join(names)} changed: {_state(remake(lab, pages))}")


def _state(good: bool) -> str:
    return "✓ everything as it should be" if good else "✗ the page says what is to be put right"
