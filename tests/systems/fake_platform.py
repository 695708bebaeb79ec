"""A learning system that launches tools by LTI 1.3 and keeps scores as Moodle 4.5 does: silently losing what Moodle loses."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from jwcrypto.jwk import JWK

from autograder.serve.journal import Attempt
from tests.fixtures.live_class import Answer, LiveClass
from tests.systems.fake_site import FakeSite, recorded

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
DEPLOYMENT, COURSE, LINK = CLAIM + "deployment_id", CLAIM + "context", CLAIM + "resource_link"
ROLES, EXT = CLAIM + "roles", CLAIM + "ext"
SCORES = "POST /items/9/scores"
#: user -> user name, role
PEOPLE = {
    "3": ("ada", "Learner"), "4": ("bo", "Learner"), "5": ("prof", "Instructor"), "6": ("mentor", "Mentor"),
    "7": ("left", "Learner"),
}  # fmt: skip
KEY = JWK.generate(kty="RSA", size=2048, kid="1", alg="RS256", use="sig")
#: What course.toml says of it.
POLICY = """
[lti]
issuer = "https://system.uni.edu"
client_id = "tool"
login = "https://system.uni.edu/auth"
token = "https://system.uni.edu/token"
keyset = "https://system.uni.edu/keys"
deployments = [1]
course = 2
[lti.links]
00 = 7
"""


class Platform(FakeSite):
    """The system's state. ``scores`` are all that came, ``grades`` what its gradebook shows; ``refuses`` is the status for scores."""

    def __init__(self, live: LiveClass) -> None:
        super().__init__()
        self.live, self.service, self.refuses = live, live.service, 0
        self.scores: list[dict[str, Any]] = []
        self.grades: dict[str, tuple[float | None, str, int]] = {}
        members = [
            {"user_id": user, "roles": [role], "name": name.title(), "ext_user_username": name,
             "status": "Inactive" if name == "left" else "Active"}
            for user, (name, role) in PEOPLE.items()
        ]  # fmt: skip
        more = {"Link": f'<{self.site}/members/2>; rel="next"'}
        self.answers = {
            "GET /keys": {"keys": [KEY.export_public(as_dict=True)]},
            "POST /token": self._token,
            "GET /members": lambda _: self._known(200, more, {"members": members[:2]}),
            "GET /members/2": lambda _: self._known(200, {}, {"members": members[2:]}),
            SCORES: lambda score: self._known(self.refuses or self._kept(score), {}, {}),
        }

    def form(self, user: str, key: JWK = KEY, kid: str = "1", **changed: Any) -> tuple[str, str]:
        """Begin a launch as a browser does: the form that is to be posted, and the browser's cookie."""
        begun = {"iss": self.site, "login_hint": user, "client_id": "tool", "target_link_uri": "x"}
        asked = self.live.ask(f"/lti/login?{urlencode(begun)}")
        assert asked.status == 302 and asked.headers["location"].startswith(f"{self.site}/auth?"), asked.body
        wish = dict(parse_qsl(urlsplit(asked.headers["location"]).query))
        assert wish["response_mode"] == "form_post" and wish["redirect_uri"].endswith("/lti/launch")
        (name, role), now = PEOPLE[user], int(time.time())
        claims = {
            **recorded("lti_claims"), "sub": user, "nonce": wish["nonce"], "iat": now, "exp": now + 60, "email": f"{name}@uni.edu",
            ROLES: [ROLE + role], EXT: {"user_username": name}, **changed,
        }  # fmt: skip
        signing = key.export_to_pem(private_key=True, password=None)
        form = {"state": wish["state"], "id_token": jwt.encode(claims, signing, "RS256", {"kid": kid})}
        return urlencode(form), asked.headers["set-cookie"].split(";")[0]

    def post(self, form: str, cookie: str) -> Answer:
        """Send a launch's form, from the learning system's page."""
        kind = "application/x-www-form-urlencoded"
        return self.live.ask("/lti/launch", form.encode(), Cookie=cookie, Content_Type=kind, Origin=self.site)

    def launch(self, user: str, **changed: Any) -> Answer:
        """The whole launch; what the tool answers."""
        return self.post(*self.form(user, **changed))

    def browser(self, user: str, **changed: Any) -> dict[str, str]:
        """Somebody's browser after a launch: the headers with which a page of ours asks."""
        session = self.launch(user, **changed).headers["set-cookie"].split(";")[0]
        xsrf = self.live.ask("/", Cookie=session).headers["set-cookie"].split(";")[0]
        return {"Cookie": f"{session}; {xsrf}", "X_XSRFToken": xsrf.partition("=")[2]}

    @property
    def known(self) -> dict[str, str]:
        """Who is who in the class: user -> name."""
        people = self.service.journal.notes(self.service.part.people)
        return {user: one["student"] for user, one in people.items()}

    def minute(self) -> None:
        """What the sender does in a minute."""
        part = self.service.part
        part._look()
        while not part._changed.empty():
            part._try(part._changed.get())

    def hand_in(self, student: str, content: bytes = b"", *, right: bool = True) -> Attempt:
        """Somebody hands in, and has a verdict; then a minute passes."""
        attempt = self.live.hand_in(student, content, right)
        self.minute()
        return attempt

    def _token(self, asked: dict[str, Any]) -> dict[str, Any]:
        [key] = self.live.ask("/lti/keys").json["keys"]
        audience = f"{self.site}/token"
        said = jwt.decode(asked["client_assertion"], jwt.PyJWK(key), ["RS256"], audience=audience)
        assert said["iss"] == said["sub"] == "tool"
        return {"access_token": asked["scope"], "expires_in": 3600, "token_type": "bearer"}

    def _known(self, status: int, headers: dict[str, str], answer: Any) -> tuple[int, dict[str, str], Any]:
        """This answer, to whom a token was given."""
        scope = "contextmembership.readonly" if "members" in answer else "scope/score"
        return (status, headers, answer) if self.headers.get("Authorization", "").endswith(scope) else (401, {}, {})  # fmt: skip

    def _kept(self, score: dict[str, Any]) -> int:
        """Enter a score as Moodle does; the status."""
        assert score["type"] == "1"
        self.scores.append(score)
        user, when = score["userId"], int(datetime.fromisoformat(score["timestamp"]).timestamp())
        if PEOPLE[user][1] != "Learner":
            return 400
        if user in self.grades and self.grades[user][2] >= when:
            return 409
        is_graded = score["gradingProgress"] == "FullyGraded"
        points = score["scoreGiven"] / score["scoreMaximum"] if is_graded else None
        self.grades[user] = (points, score.get("comment", ""), when)
        return 200
