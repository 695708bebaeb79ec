"""A learning system that launches tools by LTI 1.3 and keeps scores as Moodle 4.5 does: silently losing what Moodle loses."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from jwcrypto.jwk import JWK

from tests.fixtures.live_class import Answer, LiveClass
from tests.systems.fake_site import FakeSite, recorded

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
DEPLOYMENT, COURSE, LINK = CLAIM + "deployment_id", CLAIM + "context", CLAIM + "resource_link"
#: user -> user name, role
PEOPLE = {
    "3": ("ada", "Learner"),
    "4": ("bo", "Learner"),
    "5": ("prof", "Instructor"),
    "6": ("mentor", "Mentor"),
    "7": ("left", "Learner"),
}
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
    """The system's state. ``scores`` are all that came, ``grades`` what its gradebook shows; ``refuses`` is the status for all that is sent."""

    def __init__(self, live: LiveClass) -> None:
        super().__init__()
        self.live = live
        self.scores: list[dict[str, Any]] = []
        self.grades: dict[str, tuple[float | None, str, int]] = {}
        self.refuses = 0
        self.tokens: set[str] = set()

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
            CLAIM + "roles": [ROLE + role], CLAIM + "ext": {"user_username": name}, **changed,
        }  # fmt: skip
        signing = key.export_to_pem(private_key=True, password=None)
        form = {"state": wish["state"], "id_token": jwt.encode(claims, signing, "RS256", {"kid": kid})}
        return urlencode(form), asked.headers["set-cookie"].split(";")[0]

    def post(self, form: str, cookie: str) -> Answer:
        """Send a launch's form, from the learning system's page."""
        kind = "application/x-www-form-urlencoded"
        return self.live.ask(
            "/lti/launch", form.encode(), Cookie=cookie, Content_Type=kind, Origin="https://moodle.uni.edu"
        )

    def launch(self, user: str, **changed: Any) -> Answer:
        """The whole launch; what the tool answers."""
        return self.post(*self.form(user, **changed))

    def browser(self, user: str, **changed: Any) -> dict[str, str]:
        """Somebody's browser after a launch: the headers with which a page of ours asks."""
        session = self.launch(user, **changed).headers["set-cookie"].split(";")[0]
        page = self.live.ask("/", Cookie=session)
        assert page.status == 200
        xsrf = page.headers["set-cookie"].split(";")[0]
        return {"Cookie": f"{session}; {xsrf}", "X_XSRFToken": xsrf.partition("=")[2]}

    def answer(
        self, method: str, path: str, fields: dict[str, Any], files: dict[str, bytes]
    ) -> tuple[int, dict[str, str], bytes]:
        more = {"Link": f'<{self.site}/Members>; rel="next"'} if path == "/members" else {}
        status, value = self._answer(method, path, fields)
        return status, more, json.dumps(value).encode()

    def _answer(self, method: str, path: str, fields: dict[str, Any]) -> tuple[int, Any]:
        if path == "/keys":
            return 200, {"keys": [KEY.export_public(as_dict=True)]}
        if path == "/token":
            [key] = self.live.ask("/lti/keys").json["keys"]
            assertion = fields["client_assertion"]
            said = jwt.decode(assertion, jwt.PyJWK(key), ["RS256"], audience=f"{self.site}/token")
            assert said["iss"] == said["sub"] == "tool"
            self.tokens.add(token := f"token{len(self.tokens)}")
            return 200, {"access_token": token, "expires_in": 3600, "token_type": "bearer"}
        if method == "POST" and self.refuses:
            return self.refuses, {}
        if self.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return 401, {}
        if path.lower() == "/members":  # in two pages
            page = [user for user in PEOPLE if (user == "4") == (path == "/Members")]
            return 200, {
                "members": [
                    {
                        "user_id": user,
                        "roles": [role],
                        "name": name.title(),
                        "ext_user_username": name,
                        "status": "Inactive" if name == "left" else "Active",
                    }
                    for user, (name, role) in ((user, PEOPLE[user]) for user in page)
                ]
            }
        assert path == "/items/9/scores" and fields["type"] == "1"
        self.scores.append(fields)
        return self._keep(fields), {}

    def _keep(self, score: dict[str, Any]) -> int:
        """Enter a score as Moodle does; the status."""
        user, when = score["userId"], int(datetime.fromisoformat(score["timestamp"]).timestamp())
        if PEOPLE[user][1] != "Learner":
            return 400
        if user in self.grades and self.grades[user][2] >= when:
            return 409
        is_graded = score["gradingProgress"] == "FullyGraded"
        points = score["scoreGiven"] / score["scoreMaximum"] if is_graded else None
        self.grades[user] = (points, score.get("comment", ""), when)
        return 200
