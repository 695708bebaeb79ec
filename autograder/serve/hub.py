"""The live class as a service of JupyterHub: the hub says who asks, by its cookies and its tokens."""

from __future__ import annotations

import os
from typing import Any, cast
from urllib.parse import urlsplit

from jupyterhub.services.auth import HubOAuthCallbackHandler, HubOAuthenticated, UserNotAllowed
from tornado.web import Application, RequestHandler

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
            "No JupyterHub has started this: put it into jupyterhub_config.py as docs/live_class.md shows, with a url."
        )
    return prefix, where.hostname, where.port


class OnHub(HubOAuthenticated, Handler):  # type: ignore[misc]
    """A request on a hub: who asks is whom the hub knows."""

    def prepare(self) -> None:
        """Send browsers that nobody knows to the hub's login."""
        super().prepare()
        looking = "text/html" in self.request.headers.get("Accept", "")
        if looking and self.request.method == "GET" and self.current_user is None:
            self.redirect(self.get_login_url())

    def get_current_user(self) -> Person | None:
        """Who asks, by the class list's name if there is one. An admin of the hub is of the team, and who course.toml names."""
        if self._bearer is not None:
            model = self.hub_auth.user_for_token(self._bearer) if self._bearer else None
            try:
                model = self.check_hub_user(model) if model else None
            except UserNotAllowed:
                model = None
        else:
            model = HubOAuthenticated.get_current_user(self)
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
