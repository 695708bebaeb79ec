"""Lets connections in while there is room; when there is none, those make way that say nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import IOStream

#: Files that the journal, the graders and uploads need, beside the connections; and connections that are enough for any class.
FILES_KEPT, MOST = 256, 3000
#: When there is no room, this share of the connections makes way at once.
SHARE = 16


class Door(HTTPServer):
    """Tornado's server with at most ``most`` connections: a stranger's thousand that are silent cost nobody an answer.

    ``answering`` are the connections that wait for an answer of ours. Of the others, those of the address that has most
    make way first, the longest silent of them before the rest; behind a proxy all have one address.
    """

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """``answering`` and ``most`` are ours, the others Tornado's."""
        self.answering: Collection[IOStream] = kwargs.pop("answering")
        self.most: int = kwargs.pop("most")
        super().initialize(*args, **kwargs)
        #: connection -> its address; the one that spoke last stands last.
        self.open: dict[IOStream, str] = {}

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """A new connection."""
        if len(self.open) >= self.most:
            self._make_room()
        if len(self.open) >= self.most:
            stream.close()
            return
        self.open[stream] = str(address[0]) if address else ""
        super().handle_stream(stream, address)

    def start_request(self, server_conn: Any, request_conn: Any) -> Any:
        """A connection is ready for its next request."""
        if (address := self.open.pop(server_conn.stream, None)) is not None:
            self.open[server_conn.stream] = address
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: Any) -> None:
        """A connection has ended."""
        self.open.pop(server_conn.stream, None)
        super().on_close(server_conn)

    def _make_room(self) -> None:
        of = Counter(self.open.values())
        silent = [stream for stream in self.open if stream not in self.answering]
        silent.sort(key=lambda stream: -of[self.open[stream]])
        for stream in silent[: max(1, self.most // SHARE)]:
            del self.open[stream]
            stream.close()


def room() -> int:
    """For how many connections this process has files, once it may open as many as the system lets it."""
    try:
        import resource
    except ImportError:  # no limits of this kind
        return MOST
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wished = MOST + FILES_KEPT
    if now < wished:
        now = wished if most == resource.RLIM_INFINITY else min(wished, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (now, most))
    return max(16, min(MOST, now - FILES_KEPT))
