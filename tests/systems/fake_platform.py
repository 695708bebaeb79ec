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
from tests.systems.fake_site import FakeSite

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/"
NAMES = "https://purl.imsglobal.org/spec/lti-nrps/"
ROLE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
DEPLOYMENT, COURSE, LINK = CLAIM + "deployment_id", CLAIM + "context", CLAIM + "resource_link"
#: user -> user name, role
PEOPLE = {
    "3": ("ada", "Learner"),
    "4": ("bo", "Learner"),
    "5": ("prof", "Instructor"),
    "6": ("mentor", "Mentor"),
}


class Platform(FakeSite):
    """The system's state. ``scores`` are all that came, ``grades`` what its gradebook shows; ``refuses`` are the next statuses."""

    def __init__(self) -> None:
        self.key = JWK.generate(kty="RSA", size=2048, kid="1", alg="RS256", use="sig")
        self.live: LiveClass | None = None
        self.scores: list[dict[str, Any]] = []
        self.grades: dict[str, tuple[float | None, str, int]] = {}
        self.refuses: list[int] = []
        self.tokens: set[str] = set()
        super().__init__()
        self.url = self.site

    @property
    def policy(self) -> str:
        """What course.toml says of it."""
        return (
            f'[lti]\nissuer = "{self.url}"\nclient_id = "tool"\nlogin = "{self.url}/auth"\ntoken = "{self.url}/token"\n'
            f'keyset = "{self.url}/keys"\ndeployments = [1]\ncourse = 2\n[lti.links]\n00 = 7\n'
        )

    def claims(self, user: str, nonce: str) -> dict[str, Any]:
        """What a launch of somebody says."""
        name, role = PEOPLE[user]
        scopes = [f"{AGS}scope/{one}" for one in ("score", "lineitem.readonly")]
        return {
            "iss": self.url, "aud": "tool", "sub": user, "nonce": nonce, "iat": int(time.time()), "exp": int(time.time()) + 60,
            "name": name.title(), "email": f"{name}@uni.edu",
            DEPLOYMENT: "1", COURSE: {"id": "2"}, LINK: {"id": "7"},
            CLAIM + "message_type": "LtiResourceLinkRequest", CLAIM + "version": "1.3.0",
            CLAIM + "target_link_uri": "http://localhost/", CLAIM + "roles": [ROLE + role], CLAIM + "ext": {"user_username": name},
            AGS + "claim/endpoint": {"scope": scopes, "lineitems": f"{self.url}/items", "lineitem": f"{self.url}/items/9?type=1"},
            NAMES + "claim/namesroleservice": {"context_memberships_url": f"{self.url}/members", "service_versions": ["2.0"]},
        }  # fmt: skip

    def form(self, live: LiveClass, user: str, key: JWK | None = None, **changed: Any) -> tuple[str, str]:
        """Begin a launch as a browser does: the form that is to be posted, and the browser's cookie."""
        begun = {"iss": self.url, "login_hint": user, "client_id": "tool", "target_link_uri": "x"}
        asked = live.ask(f"/lti/login?{urlencode(begun)}")
        assert asked.status == 302 and asked.headers["location"].startswith(f"{self.url}/auth?"), asked.body
        wish = dict(parse_qsl(urlsplit(asked.headers["location"]).query))
        assert wish["response_mode"] == "form_post" and wish["redirect_uri"].endswith("/lti/launch")
        signing = (key or self.key).export_to_pem(private_key=True, password=None)
        said = {**self.claims(user, wish["nonce"]), **changed}
        token = jwt.encode(said, signing, "RS256", {"kid": "1" if key is None else changed.get("kid", "1")})
        form = urlencode({"state": wish["state"], "id_token": token})
        return form, asked.headers["set-cookie"].split(";")[0]

    def launch(self, live: LiveClass, user: str, key: JWK | None = None, **changed: Any) -> Answer:
        """The whole launch; what the tool answers."""
        form, cookie = self.form(live, user, key, **changed)
        return post(live, form, cookie)

    def answer(
        self, method: str, path: str, fields: dict[str, Any], files: dict[str, bytes]
    ) -> tuple[int, dict[str, str], bytes]:
        status, value = self._answer(method, path, fields)
        return status, {}, json.dumps(value).encode()

    def _answer(self, method: str, path: str, fields: dict[str, Any]) -> tuple[int, Any]:
        if path == "/keys":
            return 200, {"keys": [self.key.export_public(as_dict=True)]}
        if method == "POST" and self.refuses:
            return self.refuses.pop(0), {}
        if path == "/token":
            assert self.live is not None
            [key] = self.live.ask("/lti/keys").json["keys"]
            assertion = fields["client_assertion"]
            said = jwt.decode(assertion, jwt.PyJWK(key), ["RS256"], audience=f"{self.url}/token")
            assert said["iss"] == said["sub"] == "tool"
            self.tokens.add(token := f"token{len(self.tokens)}")
            return 200, {"access_token": token, "expires_in": 3600, "token_type": "bearer"}
        if self.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return 401, {}
        if path == "/members":
            active = {"status": "Active"}
            members = [
                {**active, "user_id": user, "roles": [role], "name": name.title(), "ext_user_username": name}
                for user, (name, role) in PEOPLE.items()
            ]
            return 200, {"members": members}
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


def post(live: LiveClass, form: str, cookie: str) -> Answer:
    """Send a launch's form, from the learning system's page."""
    kind = "application/x-www-form-urlencoded"
    return live.ask(
        "/lti/launch", form.encode(), Cookie=cookie, Content_Type=kind, Origin="https://moodle.uni.edu"
    )
