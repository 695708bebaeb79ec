"""Builds the service and runs it until it gets a signal to end."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal
from collections.abc import Callable
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, url

from autograder.errors import UserError
from autograder.files import sole_writer
from autograder.serve.hand_in import Attempts, Feedback, HandIn, Home, Receipt, SignIn, SignOut
from autograder.serve.handlers import Failure, Handler
from autograder.serve.room import Demo, Events, StartStop
from autograder.serve.service import Options, Service
from autograder.serve.team import Ask, Decide, Screen, State

#: The most bytes of a request without a notebook, and seconds to send a request.
SMALL, BODY_SECONDS = 64 << 10, 120.0
#: Seconds that a connection may wait before its request's headers are in; and the open files, of which each is one.
IDLE_SECONDS, FILES = 30.0, 1 << 14


class Nothing(Handler):
    """Answers 404 at every unknown address."""

    def prepare(self) -> None:
        super().prepare()
        raise Failure(404, "There is no such page")


def application(service: Service) -> Application:
    """The addresses of a service, below its base."""
    lab, base = r"([0-9]{2}_[a-z0-9_]+)", service.options.base
    routes: list[tuple[str, type[Handler]]] = [
        ("", Home),
        (r"in/([A-Za-z0-9_-]{1,64})", SignIn),
        ("out", SignOut),
        (rf"labs/{lab}/hand-in", HandIn),
        (rf"labs/{lab}/attempts", Attempts),
        (r"receipts/([0-9A-Z-]{1,20})", Receipt),
        (r"receipts/([0-9A-Z-]{1,20})/feedback", Feedback),
        (rf"(room|team)/{lab}", Screen),
        (rf"room/{lab}/events", Events),
        (rf"room/{lab}/exercise", StartStop),
        (rf"labs/{lab}/requests", Ask),
        (rf"team/{lab}/state", State),
        (rf"team/{lab}/decide", Decide),
        (r"demos/([0-9a-z_]+)\.html", Demo),
    ]
    routes += service.part.routes if service.part is not None else []
    shared = {"service": service}
    nothing: type[Handler] = Nothing
    addresses = []
    if service.options.hub:
        from jupyterhub.services.auth import HubOAuthCallbackHandler

        from autograder.serve.hub import on_hub

        routes = [(path, on_hub(handler)) for path, handler in routes if handler not in (SignIn, SignOut)]
        nothing = on_hub(Nothing)
        addresses = [url(base + "oauth_callback", HubOAuthCallbackHandler)]
    return Application(
        [*addresses, *(url(base + path, handler, shared) for path, handler in routes)],
        default_handler_class=nothing,
        default_handler_args=shared,
        cookie_secret=service.secret,
        xsrf_cookies=True,
        xsrf_cookie_kwargs={
            "samesite": "Strict",
            "httponly": True,
            "path": base,
            "secure": service.options.secure,
        },
        log_function=lambda handler: None,  # an invitation's link is a password and must not be logged
    )


def run(
    options: Options,
    address: str,
    port: int,
    ready: Callable[[Service], None],
    part: Callable[[Service], Any] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM. ``ready`` is called once a notebook would be graded immediately."""
    options.out.mkdir(parents=True, exist_ok=True)
    options.live.mkdir(exist_ok=True, mode=0o700)
    with sole_writer(options.live), contextlib.closing(Service(options)) as service:
        service.part = part(service) if part is not None else None
        asyncio.run(_serve(service, address, port, ready))


async def _serve(service: Service, address: str, port: int, ready: Callable[[Service], None]) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    _, hardest = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hardest == resource.RLIM_INFINITY else min(FILES, hardest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hardest))
    server = server_of(service)
    try:
        server.add_sockets(bind_sockets(port, address))
    except OSError as error:
        raise UserError(f"Nothing can be served at {address}, port {port}: {error.strerror}.") from None
    service.start()
    await asyncio.get_running_loop().run_in_executor(None, service.graders.start)
    ready(service)
    await ended.wait()
    server.stop()
    await server.close_all_connections()


def server_of(service: Service) -> HTTPServer:
    """A server whose connections end when they are silent."""
    return HTTPServer(
        application(service), max_body_size=SMALL, body_timeout=BODY_SECONDS,
        idle_connection_timeout=IDLE_SECONDS, max_header_size=16 << 10,
    )  # fmt: skip
