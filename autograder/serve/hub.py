"""The live class as a service of JupyterHub, whose cookies and tokens identify people."""

from __future__ import annotations

import asyncio
import os
from typing import Any, cast
from urllib.parse import urlsplit

from jupyterhub.services.auth import HubOAuthenticated, UserNotAllowed
from tornado.web import HTTPError

from autograder.course.policy_file import settings
from autograder.errors import UserError
from autograder.serve.handlers import Failure, Handler, Person

#: Environment variables that the hub sets for its services.
PREFIX, WHERE = "JUPYTERHUB_SERVICE_PREFIX", "JUPYTERHUB_SERVICE_URL"


def started_by_hub() -> tuple[str, str, int]:
    """The prefix of all paths, and the address and port to listen on. Raises ``UserError`` without a hub."""
    prefix, where = os.environ.get(PREFIX), urlsplit(os.environ.get(WHERE, ""))
    if not prefix or not where.hostname or not where.port:
        raise UserError(
            "JupyterHub did not start this command: add it as a service with a url to jupyterhub_config.py (docs/live_class.md)."
        )
    return prefix, where.hostname, where.port


#: Seconds in which the hub must identify a person.
ANSWERS_WITHIN = 5


class OnHub(HubOAuthenticated, Handler):  # type: ignore[misc]
    """A request to a service of a hub. The hub identifies the person.

    The hub is asked without blocking other requests: strangers can cause any number of these questions.
    """

    #: The hub's record of the person who sent the request; None for a stranger.
    _model: dict[str, Any] | None = None

    async def prepare(self) -> None:  # type: ignore[override]  # tornado awaits it
        """Ask the hub who sent the request. Redirect unknown browsers to the hub's login."""
        try:
            self._model = await asyncio.wait_for(self._asked(), ANSWERS_WITHIN)
        except (TimeoutError, HTTPError):
            raise Failure(503, "The hub does not answer who you are: try again in a minute") from None
        self.__dict__.pop("_current_user", None)  # cached before the hub had answered
        super().prepare()
        looking = "text/html" in self.request.headers.get("Accept", "")
        if looking and self.request.method == "GET" and self.current_user is None:
            if self._model is not None:
                raise Failure(403, "The hub does not let you use this service")
            self.redirect(str(self.get_login_url()))

    def _asked(self) -> Any:
        """An awaitable for the hub's record of the person, from a program's token or a browser's cookie."""
        if self._bearer is not None:
            return self.hub_auth.user_for_token(self._bearer, sync=False)
        return self.hub_auth.get_user(self, sync=False)

    def get_current_user(self) -> Person | None:
        """The person who sent the request, by the class list's name. The team: the hub's admins and course.toml's ``team``."""
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
            self.current_user = None  # the error page reads it again
            raise Failure(403, str(error)) from None
        return Person(student, bool(model.get("admin")) or name in settings().team)

    def check_xsrf_cookie(self) -> None:
        """Check the token of this service's page, which the hub's session signs."""
        if self._bearer is not None:
            return
        self.check_origin()
        HubOAuthenticated.check_xsrf_cookie(self)


def on_hub(handler: type[Handler]) -> type[Handler]:
    """The handler class for a service of a hub."""
    return cast(type[Handler], type(handler.__name__, (OnHub, handler), {}))
