"""A web server with prepared answers, for what the kit asks from the network."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.path, self.headers.get("Authorization"), body))
        status, content, headers = (self.server.answers or [(200, self.server.content, {})]).pop(0)
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in ({"Content-Length": len(content)} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, *_): ...


@pytest.fixture
def server():
    """It gives its ``answers`` (status, content, headers) one by one, then ``content``; ``asked``: path, token, body."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.address = f"http://127.0.0.1:{server.server_port}"
        server.answers, server.asked, server.content = [], [], b""
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()
