"""The live class inside a learning system by LTI 1.3: the system identifies people who open the exercise.

A launch is a token that the system signs for this tool. Its nonce is in a cookie of the browser that began the launch, and
is valid once.

Points that count are sent to the system's gradebook in a thread of their own, until they have arrived. The journal records pending
and sent points, so nothing is lost when the service ends: the next start sends the rest. A grade is always ``FullyGraded`` with a
comment, because ``PendingManual`` or a missing comment erases the current entry. If a written answer waits for a person, the
points earned so far are sent, and the comment says what is not read yet. Points that a person enters in the gradebook are sent
within a minute. Points that the student may not see yet are not sent.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import re
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jwt
import requests
from jwcrypto.jwk import JWK

from autograder.course.class_list import read_class_list
from autograder.course.lists import summarize_names
from autograder.course.policy import LtiPolicy
from autograder.course.policy_file import class_list, course_file, settings, spec
from autograder.course.safe_cells import write_table
from autograder.errors import UserError
from autograder.exports.rows import graded
from autograder.files import folder_name, lasting_secret, letters_of, parse_time
from autograder.gradebook.final_points import TeacherMarks
from autograder.gradebook.writer import marks_of
from autograder.pages.render import plain
from autograder.run.recorder import open_gradebook
from autograder.serve import rules
from autograder.serve.hand_in import marks_on
from autograder.serve.handlers import Failure, Handler
from autograder.serve.journal import Journal
from autograder.serve.service import Service

log = logging.getLogger(__name__)

#: Seconds for a login, and for an answer of the learning system.
LOGIN, ANSWER = 600, 20
#: Seconds between two checks of all points (the team's decisions, closed labs), and between two of the class list.
LOOK, LIST = 60.0, 600.0
#: The scopes of the services that take scores and list people.
SCORE = "https://purl.imsglobal.org/spec/lti-ags/scope/score"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
TYPE = "application/vnd.ims."
_Key = tuple[str, str]
_LIST = ("", "")

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


class Lti:
    """One course of one learning system: its people, and its services. Its methods may be called from any thread."""

    def __init__(self, service: Service):
        self.service, self.journal, self.routes = service, service.journal, ROUTES
        self.policy = policy_of()
        #: The keys of the journal's notes about this learning system's people, and about its services for each lab.
        self.people, self.links = f"lti person {self.policy.issuer}", f"lti link {self.policy.issuer}"
        self.key = JWK.from_pem(private_key().encode())
        self._lock = threading.Lock()
        #: (lab, student) whose points are to be sent, unless they have arrived.
        self._changed = queue.SimpleQueue[_Key]()
        #: (lab, student) whose points have not arrived -> the reason; ("", ""): the class list.
        self._failed: dict[_Key, str] = {}
        #: When the class list was fetched last, by the monotonic clock.
        self._listed = float("-inf")
        #: Lab -> stored name -> marks that people entered in the class's gradebook; only labs that were read.
        self._entered: dict[str, Mapping[str, TeacherMarks]] = {}
        #: Scope -> access token, for a minute; it is usually valid for an hour.
        self._tokens: dict[str, str] = {}
        self._ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)
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
            invited_as_other = user not in people and self.journal.everybody_invited().get(name, team) != team
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
        known, rows = self.journal.notes(self.people), list[tuple[str, ...]]()
        for one in members:
            own = {**one, "username": one.get("ext_user_username")}
            before = known.get(str(one["user_id"]), {"student": _plain_name(own), "team": False})
            is_student = place_of(one.get("roles")) == "student" and not before["team"]  # Moodle lists tutors
            if one.get("status", "Active") == "Active" and is_student:
                ids = [str(own.get(key) or "") for key in ("name", "email", "username")]
                rows.append((before["student"], *ids))
        header = ("student", "name", "email", "username")
        new = write_table(self.list_path.with_suffix(".new.csv"), header, rows)
        try:
            read_class_list(new, settings().team)
            os.replace(new, self.list_path)
        finally:
            new.unlink(missing_ok=True)
        self._use_list()

    # The points

    def start(self) -> None:
        """Start sending, beginning with points left from the last run."""
        self._thread.start()

    def close(self) -> None:
        """Stop sending."""
        self._ended = True
        self._changed.put(_LIST)
        if self._thread.is_alive():
            self._thread.join(ANSWER + 10)

    def changed(self, lab: str, student: str) -> None:
        """Check a student's points at once."""
        self._changed.put((lab, student))

    @property
    def trouble(self) -> str:
        """A sentence about points that have not arrived, or a class list; "" for none."""
        failed = dict(self._failed)
        unlisted = failed.pop(_LIST, "")
        if failed:
            students, why = sorted({student for _, student in failed}), next(iter(failed.values()))
            return f"The points of {summarize_names(students)} have not reached the learning system: {why}. They are sent again."
        return f"The learning system's class list cannot be used: {unlisted}." if unlisted else ""

    def _run(self) -> None:
        """Send points that may have changed; each minute those of everybody, so that nothing stays behind."""
        looked = float("-inf")
        while not self._ended:
            if time.monotonic() - self._listed >= LIST:
                self._try(_LIST)
            try:
                key = self._changed.get(timeout=max(0.0, looked + LOOK - time.monotonic()))
            except queue.Empty:
                looked = time.monotonic()
                self._look()
            else:
                if not self._ended:
                    self._try(key)

    def _look(self) -> None:
        self._tokens.clear()
        try:
            for lab in self.service.options.labs:
                self._entered[lab] = _in_gradebook(lab, self.service.options.out)
                for student in {attempt.student for attempt in self.journal.attempts(lab)}:
                    self.changed(lab, student)
        except Exception:  # this thread must live as long as the service
            log.exception("cannot check the points to be sent")

    def _try(self, key: _Key) -> None:
        """Send a student's points if they have not arrived yet, or fetch the class list."""
        try:
            self._fetch_list() if key == _LIST else self._send(*key)
            self._failed.pop(key, None)
        except Exception as error:  # the network can fail in many ways
            what = "no class list" if key == _LIST else f"the points of {key[1]} in {key[0]} have not arrived"
            log.warning("%s: %s", what, error)
            self._failed[key] = _why(error)

    def _send(self, lab: str, student: str) -> None:
        """Send the score unless it has arrived already."""
        people = self.journal.notes(self.people).items()
        user = next((user for user, one in people if one == {"student": student, "team": False}), None)
        # A teacher, who has no grades, or a person with an invitation has no number; some gradebooks cannot be read.
        if user is None or lab not in self._entered:
            return
        found = score_of(self.journal, lab, student, self._entered[lab])
        services = (self.journal.noted(self.links, lab) or {}).get("scores", {})
        item = services.get("lineitem", "")
        score = {"item": item, "user": user, **(found or {})}
        before = self.journal.noted("lti sent", f"{lab}/{student}") or {"at": 0.0, "score": None}
        if found is None or score == before["score"]:
            return
        if not item or SCORE not in services.get("scope", ()):
            raise UserError(
                f"it has no gradebook column for {lab}: allow grades there, and open the exercise again"
            )
        # Some systems store times in seconds: the next score must have a later one.
        time.sleep(max(0.0, int(before["at"]) + 1 - time.time()))
        address, mark, query = item.partition("?")
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        body = {
            "userId": user, "scoreGiven": score["points"], "scoreMaximum": score["most"], "comment": score["comment"],
            "activityProgress": "Completed", "gradingProgress": "FullyGraded", "timestamp": when,
        }  # fmt: skip
        place = f"{address.rstrip('/')}/scores{mark}{query}"
        self._ask(SCORE, "POST", place, f"{TYPE}lis.v1.score+json", json.dumps(body))
        self.journal.note("lti sent", f"{lab}/{student}", {"at": time.time(), "score": score})

    def _ask(self, scope: str, method: str, address: str, kind: str, data: str = "") -> requests.Response:
        """The answer of a service of the learning system. ``kind``: the type of what is asked for, or sent."""
        if scope not in self._tokens:
            client, place, now = self.policy.client_id, self.policy.token, int(time.time())
            said = {"iss": client, "sub": client, "aud": place, "iat": now - 5, "exp": now + 60, "jti": uuid.uuid4().hex}  # fmt: skip
            form = {
                "grant_type": "client_credentials",
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": jwt.encode(said, private_key(), "RS256", {"kid": self.key.key_id}),
                "scope": scope,
            }
            self._tokens[scope] = _answer("POST", place, data=form).json()["access_token"]
        what = "Accept" if method == "GET" else "Content-Type"
        headers = {"Authorization": f"Bearer {self._tokens[scope]}", what: kind}
        return _answer(method, address, headers=headers, data=data)

    def _fetch_list(self) -> None:
        """Fetch the learning system's class list if the course has none and somebody has launched a lab."""
        links = self.journal.notes(self.links).values()
        places = [link["names"]["context_memberships_url"] for link in links if link["names"]]
        if not places or not self.takes_list:
            return
        self._listed = time.monotonic()
        members, address = list[dict[str, Any]](), places[0]
        while address:
            answer = self._ask(MEMBERS, "GET", address, f"{TYPE}lti-nrps.v2.membershipcontainer+json")
            members += answer.json()["members"]
            address = answer.links.get("next", {}).get("url", "")
        self.write_list(members)


def score_of(
    journal: Journal, lab: str, student: str, entered: Mapping[str, TeacherMarks]
) -> dict[str, Any] | None:
    """The points that count now, their maximum, and a comment; None if they are unknown or the student may not see them.

    ``entered``: the gradebook's marks.
    """
    attempts = journal.attempts(lab, student)
    counts = rules.counting(lab, attempts)
    if counts is None or any(attempt.graded is None for attempt in attempts):
        return None
    result = journal.result(counts)
    if result is None or result.fault or not rules.shows_points(lab, student):
        return None
    result = replace(result, student=student, submitted_at=counts.received_at)
    marks, lab_spec = marks_on(journal, counts), spec(lab)
    own = marks_of(entered, student)
    if own.received is not None and own.received == parse_time(counts.received_at):  # of this attempt
        scores, comments = {**own.scores, **marks.scores}, {**own.comments, **marks.comments}
        marks = replace(own, scores=scores, comments=comments)
    row = graded(result, lab_spec, {student: marks})
    due = rules.due_of(lab, student)
    if due is not None:
        late = counts.received - due.replace(tzinfo=UTC).timestamp()
        penalty = settings().penalty(lab, row.points, late, due) or 0.0
        marks = replace(marks, seconds_late=late, due=due, late_penalty=min(max(penalty, 0.0), row.points))
        row = graded(result, lab_spec, {student: marks})
    most = lab_spec.max_score + sum(points for _, points in lab_spec.written)
    comment = f"Attempt {counts.number}, receipt {counts.receipt}.\n{row.summary}"
    return {"points": round(row.points, 2), "most": most, "comment": comment}


def _in_gradebook(lab: str, out: Path) -> Mapping[str, TeacherMarks]:
    """Stored name -> marks that people entered in the class's gradebook; empty before the class is graded."""
    if not (out / "gradebook.db").is_file():
        return {}
    with open_gradebook(lab, out) as gradebook:
        return gradebook.all_marks()


def _answer(method: str, address: str, **more: Any) -> requests.Response:
    """The answer to a request. Redirects are refused: they would lose the data, and a sign-in page is no success."""
    answer = requests.request(method, address, timeout=ANSWER, allow_redirects=False, **more)
    if not 200 <= answer.status_code < 300:
        raise requests.HTTPError(f"{address} answers with status {answer.status_code}", response=answer)
    return answer


def _why(error: Exception) -> str:
    """The reason for a failure, for the team."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        asks = " (is this a student of the course there?)" if error.response.status_code == 400 else ""
        return f"it answers with status {error.response.status_code}{asks}"
    return (
        "it cannot be reached"
        if isinstance(error, requests.RequestException)
        else plain(str(error), 300).rstrip(".")
    )


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
        assert self.service.part is not None
        return self.service.part

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
