"""The live class inside a learning system by LTI 1.3: the system identifies people who open the exercise.

PyLTI1p3 checks a launch (state, nonce, issuer, audience, signature, expiry, deployment). A nonce is signed by this service
and valid for one launch.
"""

from __future__ import annotations

import asyncio
import csv
import io
import logging
import os
import re
import threading
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import requests
from jwcrypto.jwk import JWK
from pylti1p3.cookie import CookieService
from pylti1p3.exception import LtiException
from pylti1p3.message_launch import MessageLaunch
from pylti1p3.oidc_login import OIDCLogin
from pylti1p3.redirect import Redirect
from pylti1p3.registration import Registration
from pylti1p3.request import Request
from pylti1p3.session import SessionService
from pylti1p3.tool_config.dict import ToolConfDict
from tornado.web import create_signed_value, decode_signed_value

from autograder.course.class_list import read_class_list
from autograder.course.policy import LtiPolicy
from autograder.course.policy_file import class_list, course_file, settings
from autograder.course.safe_cells import safe_cell
from autograder.errors import UserError
from autograder.files import folder_name, lasting_secret, letters_of, write_atomically
from autograder.serve.handlers import Failure, Handler
from autograder.serve.service import Service

log = logging.getLogger(__name__)

#: Seconds for a login, and for an answer of the learning system.
LOGIN, ANSWER = 600, 20

_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NAMES = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
#: Roles within a course, in short or full form.
_ROLE = re.compile(r"(?:http://purl\.imsglobal\.org/vocab/lis/v2/membership(?:/\w+)?#)?(\w+)")

#: Part of the library's message about a launch -> the sentence for the person.
_REFUSALS = {
    "State not found": "This browser did not begin this launch: allow cookies, and open the exercise again",
    "Invalid Nonce": "This launch was used before, or is too old: open the exercise again",
    "Signature has expired": "This launch has expired: open the exercise again",
    "Signature verification failed": "This launch is not signed by the learning system that course.toml names",
    "Unable to find public key": "This launch is signed with a key that the learning system does not publish",
    "Unable to find deployment": "This launch comes from a deployment that course.toml does not name",
    "Client id not registered": "This launch is meant for another tool than course.toml names",
    "not found in settings": "This launch comes from another learning system than course.toml names",
}


class _Browser(Request, CookieService):
    """A browser's request, and the cookies to set: name -> (value, seconds)."""

    session: Any = None

    def __init__(self, handler: Handler):
        super().__init__()
        self.params = {name: handler.get_argument(name) for name in handler.request.arguments}
        self.cookies = {name: morsel.value for name, morsel in handler.cookies.items()}
        self.secure, self.session = handler.service.options.secure, {}
        self.kept = dict[str, tuple[str, int]]()

    def is_secure(self) -> bool:
        return self.secure

    def get_param(self, key: str) -> str:
        return self.params.get(key, "")

    def get_cookie(self, name: str) -> str | None:
        return self.cookies.get(f"{self._cookie_prefix}-{name}")

    def set_cookie(self, name: str, value: str | int, exp: int | None = 3600) -> None:
        self.kept[f"{self._cookie_prefix}-{name}"] = (str(value), exp or LOGIN)


class _Session(SessionService):
    """Stores nothing between requests: the nonce is signed, and the state is in the browser's cookie."""

    def __init__(self, request: _Browser, secret: str):
        super().__init__(request)
        self.secret = secret

    def check_nonce(self, nonce: str) -> bool:
        days = LOGIN / 86_400
        return decode_signed_value(self.secret, "lti-nonce", nonce, max_age_days=days) is not None


class _Redirect(Redirect[str]):
    """A redirect to an address."""

    def __init__(self, location: str):
        self.location = location

    def do_redirect(self) -> str:
        return self.location

    do_js_redirect = get_redirect_url = do_redirect

    def set_redirect_url(self, location: str) -> None: ...


class _Login(OIDCLogin[_Browser, ToolConfDict, _Session, _Browser, str]):
    def get_redirect(self, url: str) -> Redirect[str]:
        return _Redirect(url)

    def _generate_nonce(self) -> str:
        return create_signed_value(self._session_service.secret, "lti-nonce", uuid.uuid4().hex).decode()


class _Launch(MessageLaunch[_Browser, ToolConfDict, _Session, _Browser]):
    def _get_request_param(self, key: str) -> str:
        return self._request.get_param(key)


class SessionWithTimeout(requests.Session):
    """Requests to the learning system, with a time limit."""

    def request(self, *args: Any, **more: Any) -> requests.Response:
        return super().request(*args, **{"timeout": ANSWER, **more})


class Lti:
    """One course of one learning system: its people, and its services."""

    def __init__(self, service: Service):
        self.service, self.journal = service, service.journal
        self.policy = policy_of()
        #: The keys of the journal's notes about this learning system's people, and about its services for each lab.
        self.people, self.links = f"lti person {self.policy.issuer}", f"lti link {self.policy.issuer}"
        private = JWK.from_pem(private_key().encode())
        self.public: str = private.export_to_pem().decode()
        self.tool = ToolConfDict(
            {
                self.policy.issuer: {
                    "client_id": self.policy.client_id,
                    "auth_login_url": self.policy.login,
                    "auth_token_url": self.policy.token,
                    "key_set_url": self.policy.keyset,
                    "deployment_ids": list(self.policy.deployments),
                }
            }
        )
        self.tool.set_private_key(self.policy.issuer, private_key())
        self.tool.set_public_key(self.policy.issuer, self.public)
        self.threads = ThreadPoolExecutor(4, "lti")
        self._lock = threading.Lock()
        self._use_list()

    @property
    def registration(self) -> Registration:
        """The tool's registration in the learning system, with its keys."""
        return cast(Registration, self.tool.find_registration_by_issuer(self.policy.issuer))

    def login(self, browser: _Browser) -> str:
        """The address at which the learning system identifies the browser's person."""
        login = _Login(browser, self.tool, _Session(browser, self.service.secret), browser)
        return login.redirect(f"{self.service.options.url}lti/launch")

    def claims(self, browser: _Browser) -> Mapping[str, Any]:
        """The claims of a valid launch. Raises ``Failure``, with a sentence, for an invalid one."""
        session = _Session(browser, self.service.secret)
        launch = _Launch(browser, self.tool, session, browser, requests_session=SessionWithTimeout())
        # The library checks the audience. Some leeway keeps a slow clock from refusing launches.
        options: Any = {"verify_aud": False, "verify_iat": False, "require": ["exp", "sub", "nonce"]}
        launch.set_jwt_verify_options(options)
        try:
            claims = launch.validate().get_launch_data()
            if not self.journal.is_first_use("lti nonce", claims["nonce"], 2 * LOGIN):
                raise LtiException("Invalid Nonce")
        except Exception as error:  # the library raises many types for invalid input
            log.warning("a launch is refused: %s", error)
            known = (words for part, words in _REFUSALS.items() if part in str(error))
            unknown = "This launch cannot be checked: ask your teacher, whose log says why"
            raise Failure(403, next(known, unknown)) from None
        return cast(Mapping[str, Any], claims)

    def come_in(self, claims: Mapping[str, Any]) -> tuple[str, bool, str]:
        """A launch's person, whether they belong to the team, and the lab. Notes them, and the services of the lab's link."""
        course = str(_dict(claims, _CLAIM + "context").get("id", ""))
        if course != self.policy.course:
            ours = self.policy.course
            raise Failure(403, f"This exercise belongs to course {course} there, this class to course {ours}")
        link = str(_dict(claims, _CLAIM + "resource_link").get("id", ""))
        lab = self.policy.lab_of(link, self.service.options.labs)
        if lab is None:
            line = f'{self.service.options.labs[0][:2]} = "{link}"'
            raise Failure(
                404,
                f"No lab here has the link {link}: a teacher writes {line} below [lti.links] in course.toml",
            )
        place = place_of(claims.get(_CLAIM + "roles", ()))
        if not place:
            raise Failure(403, "You are neither a student nor a teacher of this course")
        person = {
            "username": _dict(claims, _CLAIM + "ext").get("user_username"),
            "lis_person_sourcedid": _dict(claims, _CLAIM + "lis").get("person_sourcedid"),
            "user_id": claims["sub"],
            "email": claims.get("email"),
        }
        student = self._known(person, team=place == "team")
        self.journal.note(self.links, lab, {"scores": _dict(claims, AGS), "names": _dict(claims, NAMES)})
        return student, place == "team", lab

    def _known(self, person: dict[str, Any], *, team: bool) -> str:
        """A person's name in the class. Nobody gets another person's name, whatever the learning system says."""
        user = str(person["user_id"])
        with self._lock:
            people = self.journal.notes(self.people)
            name = people[user]["student"] if user in people else _name_of(person)
            others = {letters_of(one["student"]) for other, one in people.items() if other != user}
            invited_as_other = user not in people and self.journal.is_team(name) not in (None, team)
            if letters_of(name) in others or invited_as_other:
                raise Failure(409, f"Somebody else is called {name} here: tell your teacher")
            self.journal.note(self.people, user, {"student": name, "team": team})
        return name

    # The class list

    @property
    def list_path(self) -> Path:
        """The path of the learning system's class list."""
        return self.service.options.out / "class-list.csv"

    @property
    def takes_list(self) -> bool:
        """Whether the course uses that list, because it has none of its own."""
        named = settings().roster or os.environ.get("COURSE_ROSTER")
        return not named or named == str(self.list_path.resolve())

    def _use_list(self) -> None:
        if self.takes_list and self.list_path.exists():
            os.environ["COURSE_ROSTER"] = str(self.list_path.resolve())  # the grading process reads it, too
            class_list.cache_clear()

    def write_list(self, members: Sequence[Mapping[str, Any]]) -> None:
        """Store the class list. Raises ``UserError`` if it is invalid."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(("student", "name", "email", "username", "ID number"))
        known = self.journal.notes(self.people)
        for one in members:
            if one.get("status", "Active") == "Active" and place_of(one.get("roles", ())) == "student":
                own = {**one, "username": one.get("ext_user_username")}
                name = known.get(str(one["user_id"]), {}).get("student") or _plain_name(own)
                ids = [own.get(key) for key in ("name", "email", "username", "lis_person_sourcedid")]
                writer.writerow([safe_cell(str(word or "")) for word in (name, *ids)])
        new = self.list_path.with_suffix(".new.csv")
        write_atomically(new, text.getvalue())
        try:
            read_class_list(new, settings().team)
            os.replace(new, self.list_path)
        finally:
            new.unlink(missing_ok=True)
        self._use_list()


#: The learning system's claim about a person -> the class list's column, the most reliable first.
_KEYS = {"username": "username", "lis_person_sourcedid": "id_number", "email": "email"}


def _name_of(person: Mapping[str, Any]) -> str:
    """A new person's name: from the class list, or else from the learning system."""
    for key, column in _KEYS.items():
        claim = str(person.get(key) or "").lower()
        for one in class_list().people:
            if claim and getattr(one, column).lower() == claim:
                return one.student
    name = _plain_name(person)
    if class_list().of_folder(name) is not None:
        raise Failure(409, f"The class list has somebody else as {name}: tell your teacher")
    return name


def _plain_name(person: Mapping[str, Any]) -> str:
    return folder_name(str(person.get("username") or person.get("email") or f"user-{person['user_id']}"))


def place_of(roles: Any) -> str:
    """A person's role in the course: "team", "student", or "" for none."""
    names = {found[1] for role in roles if (found := _ROLE.fullmatch(str(role)))}
    return "team" if names & {"Instructor", "TeachingAssistant"} else "student" if "Learner" in names else ""


def _dict(claims: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = claims.get(name)
    return value if isinstance(value, dict) else {}


def policy_of() -> LtiPolicy:
    """The section ``[lti]`` of course.toml. Raises ``UserError`` without it."""
    policy = settings().lti
    if policy is None:
        raise UserError("course.toml says nothing of a learning system: write [lti] (docs/live_class.md).")
    return policy


def private_key() -> str:
    """The service's key (PEM). It is made at the first use, beside course.toml, where git ignores it."""

    def make() -> str:
        made: bytes = JWK.generate(kty="RSA", size=2048).export_to_pem(private_key=True, password=None)
        return made.decode()

    return lasting_secret(course_file().with_name(".lti-key.pem"), make)


class _FromSystem(Handler):
    """An address for redirects from the learning system. The token is checked instead of the origin."""

    @property
    def lti(self) -> Lti:
        part = self.service.part
        assert isinstance(part, Lti)
        return part

    def check_xsrf_cookie(self) -> None: ...

    async def in_thread(self, function: Any, *values: Any) -> Any:
        """Call, in a thread, a function that may send requests to the learning system."""
        return await asyncio.get_running_loop().run_in_executor(self.lti.threads, function, *values)


class Login(_FromSystem):
    """``/lti/login``: the learning system starts a login."""

    async def get(self) -> None:
        browser = _Browser(self)
        try:
            address = self.lti.login(browser)
        except Exception as error:  # see ``Lti.claims``
            log.warning("a login is refused: %s", error)
            raise Failure(403, "This login comes from no learning system that course.toml names") from None
        secure = self.service.options.secure
        for name, (value, seconds) in browser.kept.items():
            self.set_cookie(
                name, value, max_age=seconds, path=f"{self.service.options.base}lti/", httponly=True,
                secure=secure, samesite="None" if secure else None,
            )  # fmt: skip
        self.redirect(address)

    post = get


class Launch(_FromSystem):
    """``/lti/launch``: the learning system identifies a person."""

    async def post(self) -> None:
        claims = await self.in_thread(self.lti.claims, _Browser(self))
        name, team, lab = await self.in_thread(self.lti.come_in, claims)
        self.sign_in(self.service.journal.digest_of(name, team=team))
        base = self.service.options.base
        self.redirect(f"{base}room/{lab}" if team else base)


class Key(_FromSystem):
    """``/lti/keys``: the service's public key for machines; ``/lti/key.pem``: the same for people to paste."""

    def get(self, form: str) -> None:
        if form == "keys":
            self.answer(self.lti.tool.get_jwks())
        else:
            self.set_header("Content-Type", "text/plain")
            self.finish(self.lti.public)


class Link(Handler):
    """``/lti/link``: a student's link for JupyterLab."""

    def post(self) -> None:
        person = self.person()
        token = self.service.journal.invite(person.name, team=person.team)
        self.sign_in(self.service.journal.digest_of(person.name, team=person.team))
        code = f'from coursekit import hand_in\nhand_in("{self.service.options.url}in/{token}")'
        title = "Run this in your notebook, once. The link is a password: an earlier one of yours ends"
        self.page("message.html.j2", title=title, code=code)


ROUTES: list[tuple[str, type[Handler]]] = [
    ("lti/login", Login),
    ("lti/launch", Launch),
    (r"lti/(keys|key\.pem)", Key),
    ("lti/link", Link),
]
