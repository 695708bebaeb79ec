"""The live class as a service of JupyterHub: the hub says who asks, by its cookies and its tokens."""

from __future__ import annotations

import asyncio
import os
from typing import Any, cast
from urllib.parse import urlsplit

from jupyterhub.services.auth import HubOAuthCallbackHandler, HubOAuthenticated, UserNotAllowed
from tornado.web import Application, HTTPError, RequestHandler

from autograder.course.policy_file import settings
from autograder.errors import UserError
from autograder.serve.handlers import Failure, Handler, Person

#: What the hub tells a service that it starts.
PREFIX, WHERE = "JUPYTERHUB_SERVICE_PREFIX", "JUPYTERHUB_SERVICE_URL"


def started_by_hub() -> tuple[str, str, int]:
    """The path before every address, and the address and port to listen on. ``UserError`` without a hub."""
    prefix, where = os.environ.get(PREFIX), urlsplit(os.environ.get(WHERE, ""))
    if not prefix or not where.hostname or not where.port:
        raise UserError(
            "JupyterHub did not start this command: add it as a service with a url to jupyterhub_config.py (docs/live_class.md)."
        )
    return prefix, where.hostname, where.port


#: Seconds that the hub has for saying who somebody is, and the longest address that a login goes back to.
ANSWERS_WITHIN, LONGEST_ADDRESS = 5, 500


class OnHub(HubOAuthenticated, Handler):  # type: ignore[misc]
    """A request on a hub: who asks is whom the hub knows.

    The hub is asked while other requests are answered: by a stranger's token it may be asked as often as anybody likes.
    """

    #: What the hub says of the person who sent the request; None of a stranger.
    _model: dict[str, Any] | None = None

    async def prepare(self) -> None:  # type: ignore[override]  # tornado awaits it
        """Ask the hub who it is; send browsers that nobody knows to the hub's login."""
        try:
            self._model = await asyncio.wait_for(self._asked(), ANSWERS_WITHIN)
        except (TimeoutError, HTTPError):
            raise Failure(503, "The hub does not say who you are: try again in a minute") from None
        self.__dict__.pop("_current_user", None)  # what was thought before the hub had answered
        super().prepare()
        looking = "text/html" in self.request.headers.get("Accept", "")
        if looking and self.request.method == "GET" and self.current_user is None:
            if self._model is not None:
                raise Failure(403, "The hub does not let you use this service")
            self.redirect(self._login())

    def _asked(self) -> Any:
        """The hub's answer, to be awaited: of a program by its token, of a browser by what it shows."""
        if self._bearer is not None:
            return self.hub_auth.user_for_token(self._bearer, sync=False)
        return self.hub_auth.get_user(self, sync=False)

    def _login(self) -> str:
        """The hub's login. Its part of this service keeps the address that was asked for: a short one."""
        if len(self.request.uri or "") > LONGEST_ADDRESS:
            raise Failure(414, "No page of ours has such a long address")
        return str(self.get_login_url())

    def get_current_user(self) -> Person | None:
        """The person who sent the request, by the class list's name. The team is the hub's admins and those in course.toml."""
        try:
            model = self.check_hub_user(self._model) if self._model else None
        except UserNotAllowed:
            model = None
        if not model or model.get("kind", "user") != "user":
            return None
        name = str(model["name"])
        try:
            student = self.service.student_of(name)
        except UserError as error:
            self.current_user = None  # the page that says so asks once more
            raise Failure(403, str(error)) from None
        return Person(student, bool(model.get("admin")) or name in settings().team)

    def check_xsrf_cookie(self) -> None:
        """A browser shows the token of our page, which the hub's session signs."""
        if self._bearer is not None:
            return
        self.check_origin()
        HubOAuthenticated.check_xsrf_cookie(self)


def on_hub(handler: type[Handler]) -> type[Handler]:
    """A handler for a service of a hub."""
    return cast(type[Handler], type(handler.__name__, (OnHub, handler), {}))


def add_callback(application: Application, base: str) -> None:
    """Where the hub sends a browser back after its login."""
    callback: Any = HubOAuthCallbackHandler
    application.add_handlers(".*", [(base + "oauth_callback", cast(type[RequestHandler], callback))])
