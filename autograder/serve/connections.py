"""Limits the number of the service's connections; idle connections are closed to admit new ones."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Collection
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream

#: Open files reserved for journal, graders and uploads; and the most connections, enough for any class.
FILES_KEPT, MOST = 256, 3000


class LimitedServer(HTTPServer):
    """Tornado's server with at most ``most`` connections, so that idle connections block nobody.

    Connections in ``answering`` wait for an answer and are not closed. The address with the most connections loses the one
    that is idle longest. Behind a proxy all connections have the same address.
    """

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """Take ``answering`` and ``most``; the other arguments are Tornado's."""
        self.answering: Collection[IOStream] = kwargs.pop("answering")
        self.most: int = kwargs.pop("most")
        super().initialize(*args, **kwargs)
        #: connection -> its address, in order of last activity.
        self.open: dict[IOStream, str] = {}

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Accept a connection, or close it if no other can be closed."""
        if len(self.open) >= self.most:
            of = Counter(self.open.values())
            silent = (one for one in self.open if one not in self.answering)
            longest = max(silent, key=lambda one: of[self.open[one]], default=stream)
            self.open.pop(longest, None)
            longest.close()
            if longest is stream:
                return
        self.open[stream] = str(address[0]) if address else ""
        super().handle_stream(stream, address)

    def start_request(self, server_conn: Any, request_conn: Any) -> Any:
        """Note that a connection is ready for its next request."""
        if (address := self.open.pop(server_conn.stream, None)) is not None:
            self.open[server_conn.stream] = address
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: Any) -> None:
        """Forget a connection that has ended."""
        self.open.pop(server_conn.stream, None)
        super().on_close(server_conn)


def most_connections() -> int:
    """The most connections that this process can open, after raising its limit as far as the system allows."""
    now, hardest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wished = MOST + FILES_KEPT
    if now < wished:
        now = wished if hardest == resource.RLIM_INFINITY else min(wished, hardest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (now, hardest))
    return max(16, min(MOST, now - FILES_KEPT))
