"""The live class inside a learning system by LTI 1.3: the system identifies people who open the exercise.

A launch is a token that the system signs for this tool. Its nonce is in a cookie of the browser that began the launch, and
is valid once.
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
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jwt
import requests
from jwcrypto.jwk import JWK

from autograder.course.class_list import read_class_list
from autograder.course.policy import LtiPolicy
from autograder.course.policy_file import class_list, course_file, settings
from autograder.course.safe_cells import safe_cell
from autograder.errors import UserError
from autograder.files import folder_name, lasting_secret, letters_of, write_atomically
from autograder.serve.handlers import Failure, Handler
from autograder.serve.service import Part, Service

log = logging.getLogger(__name__)

#: Seconds for a login, and for an answer of the learning system.
LOGIN, ANSWER = 600, 20

_CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
NAMES = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
#: Roles within a course, in short or full form. ``membership/Learner#Instructor`` is a learner's.
_ROLE = re.compile(r"(?:http://purl\.imsglobal\.org/vocab/lis/v2/membership(?:/Instructor)?#)?(\w+)")

#: The error in a launch -> the sentence for the person.
_REFUSALS = {
    jwt.ExpiredSignatureError: "This launch has expired: open the exercise again",
    jwt.InvalidSignatureError: "This launch is not signed by the learning system that course.toml names",
    jwt.InvalidAudienceError: "This launch is meant for another tool than course.toml names",
    jwt.InvalidIssuerError: "This launch comes from another learning system than course.toml names",
    KeyError: "This launch is signed with a key that the learning system does not publish",
}


class Lti(Part):
    """One course of one learning system: its people, and its services."""

    def __init__(self, service: Service):
        self.service, self.journal, self.routes = service, service.journal, ROUTES
        self.policy = policy_of()
        #: The keys of the journal's notes about this learning system's people, and about its services for each lab.
        self.people, self.links = f"lti person {self.policy.issuer}", f"lti link {self.policy.issuer}"
        self.key = JWK.from_pem(private_key().encode())
        self._lock = threading.Lock()
        self._use_list()

    def enter(self, token: str, nonce: str) -> tuple[str, bool, str]:
        """A launch's person, whether they belong to the team, and the lab. ``nonce``: of the browser's login ("": none).

        Raises ``Failure``, with a sentence, for an invalid launch.
        """
        if not nonce:
            raise Failure(
                403, "This browser did not begin this launch: allow cookies, and open the exercise again"
            )
        try:
            keys = jwt.PyJWKSet.from_dict(requests.get(self.policy.keyset, timeout=ANSWER).json())
            claims = jwt.decode(
                token,
                keys[jwt.get_unverified_header(token)["kid"]],
                ["RS256"],
                {"verify_iat": False, "require": ["exp", "sub", "nonce"]},  # a slow clock refuses no launch
                audience=self.policy.client_id,
                issuer=self.policy.issuer,
            )
        except Exception as error:  # many types for invalid input
            log.warning("a launch is refused: %s", error)
            known = (words for kind, words in _REFUSALS.items() if isinstance(error, kind))
            unknown = "This launch cannot be checked: ask your teacher, whose log says why"
            raise Failure(403, next(known, unknown)) from None
        if claims["nonce"] != nonce or not self.journal.is_first_use("lti nonce", nonce, 2 * LOGIN):
            raise Failure(403, "This launch was used before, or is too old: open the exercise again")
        client = self.policy.client_id
        if claims["aud"] not in (client, [client]) or claims.get("azp", client) != client:
            raise Failure(403, _REFUSALS[jwt.InvalidAudienceError])
        kind = claims.get(_CLAIM + "message_type"), claims.get(_CLAIM + "version")
        if kind != ("LtiResourceLinkRequest", "1.3.0"):
            raise Failure(403, "This launch is not an exercise's by LTI 1.3: open the exercise itself")
        if claims.get(_CLAIM + "deployment_id") not in self.policy.deployments:
            raise Failure(403, "This launch comes from a deployment that course.toml does not name")
        return self._come_in(claims)

    def _come_in(self, claims: Mapping[str, Any]) -> tuple[str, bool, str]:
        """See ``enter``. Notes the person, and the services of the lab's link."""
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
        place = place_of(claims.get(_CLAIM + "roles"))
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
            named = _plain_name if self.takes_list else _name_of  # the system's list has its names
            name = people[user]["student"] if user in people else named(person)
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
        """Store the class list. Raises ``UserError`` if it is invalid.

        It has no ID numbers: in Moodle students may enter each other's, and two equal ones make a list invalid.
        """
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(("student", "name", "email", "username"))
        known = self.journal.notes(self.people)
        for one in members:
            own = {**one, "username": one.get("ext_user_username")}
            before = known.get(str(one["user_id"]), {"student": _plain_name(own), "team": False})
            is_student = place_of(one.get("roles")) == "student" and not before["team"]  # Moodle lists tutors
            if one.get("status", "Active") == "Active" and is_student:
                ids = [own.get(key) for key in ("name", "email", "username")]
                writer.writerow([safe_cell(str(word or "")) for word in (before["student"], *ids)])
        new = self.list_path.with_suffix(".new.csv")
        write_atomically(new, text.getvalue())
        try:
            read_class_list(new, settings().team)
            os.replace(new, self.list_path)
        finally:
            new.unlink(missing_ok=True)
        self._use_list()


#: The learning system's claim about a person -> the class list's column, the most reliable first. In Moodle people
#: confirm a new mail address, and may enter any ID number.
_KEYS = {"username": "username", "email": "email", "lis_person_sourcedid": "id_number"}


def _name_of(person: Mapping[str, Any]) -> str:
    """A new person's name: from the course's own class list, or else from the learning system."""
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
    roles = roles if isinstance(roles, list) else []
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


class Login(_FromSystem):
    """``/lti/login``: the learning system starts a login."""

    def get(self) -> None:
        policy, options = self.lti.policy, self.service.options
        hints = {
            name: hint for name in ("login_hint", "lti_message_hint") if (hint := self.get_argument(name, ""))
        }
        if self.get_argument("iss", "") != policy.issuer or "login_hint" not in hints:
            raise Failure(403, "This login comes from no learning system that course.toml names")
        state, nonce = uuid.uuid4().hex, uuid.uuid4().hex
        self.set_signed_cookie(
            f"lti-{state}", nonce, expires_days=None, max_age=LOGIN, path=f"{options.base}lti/", httponly=True,
            secure=options.secure, samesite="None" if options.secure else None,
        )  # fmt: skip
        wish = {
            "scope": "openid", "response_type": "id_token", "response_mode": "form_post", "prompt": "none", "state": state,
            "client_id": policy.client_id, "redirect_uri": f"{options.url}lti/launch", "nonce": nonce, **hints,
        }  # fmt: skip
        self.redirect(f"{policy.login}?{urlencode(wish)}")

    post = get


class Launch(_FromSystem):
    """``/lti/launch``: the learning system identifies a person."""

    async def post(self) -> None:
        cookie = f"lti-{self.get_argument('state', '')}"
        nonce = self.get_signed_cookie(cookie, max_age_days=LOGIN / 86_400) or b""
        token = self.get_argument("id_token", "")
        name, team, lab = await asyncio.to_thread(self.lti.enter, token, nonce.decode())
        self.lti.changed(lab, name)
        self.sign_in(self.service.journal.digest_of(name, team=team))
        base = self.service.options.base
        self.redirect(f"{base}room/{lab}" if team else base)


class Key(_FromSystem):
    """``/lti/keys``: the service's public key for machines; ``/lti/key.pem``: the same for people to paste."""

    def get(self, form: str) -> None:
        if form == "keys":
            key = self.lti.key.export_public(as_dict=True)
            self.answer({"keys": [{**key, "alg": "RS256", "use": "sig"}]})
        else:
            self.set_header("Content-Type", "text/plain")
            self.finish(self.lti.key.export_to_pem())


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
