"""The live class as a service of JupyterHub: the hub says who asks, by its cookies and its tokens."""

from __future__ import annotations

import asyncio
import hashlib
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


#: Seconds that the hub has for saying who somebody is, and how many such questions may wait.
ANSWERS_WITHIN, WAITING = 5, 500
#: Logins that are under way, of which the hub's part of this service keeps a note each, and the longest address in one.
LOGINS, LONGEST_ADDRESS = 20_000, 500


#: What a hub says of somebody; None of nobody.
_Model = dict[str, Any] | None


class OnHub(HubOAuthenticated, Handler):  # type: ignore[misc]
    """A request on a hub: who asks is whom the hub knows.

    The hub is asked while other requests are answered: by a stranger's token it may be asked as often as anybody likes.
    """

    _model: _Model = None
    _waiting = 0

    async def prepare(self) -> None:  # type: ignore[override]  # tornado awaits it
        """Ask the hub who it is; send browsers that nobody knows to the hub's login."""
        self._model = await self._ask()
        self.__dict__.pop("_current_user", None)  # what was thought before the hub had answered
        super().prepare()
        looking = "text/html" in self.request.headers.get("Accept", "")
        if looking and self.request.method == "GET" and self.current_user is None:
            if self._model is not None:
                raise Failure(403, "The hub does not let you use this service")
            self.redirect(self._login())

    async def _ask(self) -> _Model:
        """The hub's record of the person who sent the request; None for a stranger."""
        token = self.hub_auth.get_token(self) if self._bearer is None else self._bearer
        if not token:
            return None
        if self._is_known(token):
            return cast(_Model, await self._user())
        if OnHub._waiting >= WAITING:
            raise Failure(503, "Too many people ask the hub at once: try again in a minute")
        OnHub._waiting += 1
        try:
            model = cast(_Model, await asyncio.wait_for(self._user(), ANSWERS_WITHIN))
        except (TimeoutError, HTTPError):
            raise Failure(503, "The hub does not say who you are: try again in a minute") from None
        finally:
            OnHub._waiting -= 1
        if model is None:  # strangers fill no memory
            self.hub_auth.cache.pop(self._place_of(token), None)
        return model

    def _user(self) -> Any:
        """The hub's answer, to be awaited: of a program by its token, of a browser by what it shows."""
        if self._bearer is not None:
            return self.hub_auth.user_for_token(self._bearer, sync=False)
        return self.hub_auth.get_user(self, sync=False)

    def _place_of(self, token: str) -> str:
        """The key under which ``jupyterhub`` caches the hub's answer about a token."""
        session = self.hub_auth.get_session_id(self) if self._bearer is None else ""
        return f"token:{session}:{hashlib.sha256(token.encode('utf8', 'replace')).hexdigest()}"

    def _is_known(self, token: str) -> bool:
        return self._place_of(token) in self.hub_auth.cache

    def _login(self) -> str:
        """The hub's login, of which it notes what page was asked for: a short one, and not of everybody for ever."""
        if len(self.request.uri or "") > LONGEST_ADDRESS:
            raise Failure(414, "No page of ours has such a long address")
        under_way = self.hub_auth._oauth_states
        while len(under_way) > LOGINS:
            del under_way[next(iter(under_way.values))]
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
