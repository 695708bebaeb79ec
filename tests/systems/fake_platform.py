"""A learning system that launches tools by LTI 1.3 and keeps scores as Moodle 4.5 does: silently losing what Moodle loses."""

from __future__ import annotations

import json
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from jwcrypto.jwk import JWK

from tests.fixtures.live_class import Answer, LiveClass

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


class Platform:
    """The system's state. ``scores`` are all that came, ``grades`` what its gradebook shows; ``refuses`` are the next statuses."""

    def __init__(self) -> None:
        self.key = JWK.generate(kty="RSA", size=2048, kid="1", alg="RS256", use="sig")
        self.live: LiveClass | None = None
        self.scores: list[dict[str, Any]] = []
        self.grades: dict[str, tuple[float | None, str, int]] = {}
        self.refuses: list[int] = []
        self.tokens: set[str] = set()
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Asked", (_Asked,), {"platform": self}))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.server, self.url = server, f"http://127.0.0.1:{server.server_port}"

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


def post(live: LiveClass, form: str, cookie: str) -> Answer:
    """Send a launch's form, from the learning system's page."""
    kind = "application/x-www-form-urlencoded"
    return live.ask(
        "/lti/launch", form.encode(), Cookie=cookie, Content_Type=kind, Origin="https://moodle.uni.edu"
    )


class _Asked(BaseHTTPRequestHandler):
    platform: Platform

    def do_GET(self) -> None:
        if self.path == "/keys":
            self.reply(200, {"keys": [self.platform.key.export_public(as_dict=True)]})
        elif self.path == "/members" and self.known():
            members = [
                {
                    "user_id": user,
                    "status": "Active",
                    "roles": [role],
                    "name": name.title(),
                    "ext_user_username": name,
                }
                for user, (name, role) in PEOPLE.items()
            ]
            self.reply(200, {"id": "x", "context": {"id": "2"}, "members": members})
        else:
            self.reply(401, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.platform.refuses:
            self.reply(self.platform.refuses.pop(0), {})
        elif self.path == "/token":
            asked = {name: value for name, (value,) in parse_qs(body).items()}
            assert self.platform.live is not None
            [key] = self.platform.live.ask("/lti/keys").json["keys"]
            said = jwt.decode(
                asked["client_assertion"], jwt.PyJWK(key), ["RS256"], audience=f"{self.platform.url}/token"
            )
            assert said["iss"] == said["sub"] == "tool"
            token = f"token{len(self.platform.tokens)}"
            self.platform.tokens.add(token)
            self.reply(
                200,
                {"access_token": token, "expires_in": 3600, "token_type": "bearer", "scope": asked["scope"]},
            )
        elif self.path == "/items/9/scores?type=1" and self.known():
            score = json.loads(body)
            self.platform.scores.append(score)
            self.reply(self.keep(score), {})
        else:
            self.reply(401, {})

    def keep(self, score: dict[str, Any]) -> int:
        """Enter a score as Moodle does; the status."""
        user, when = score["userId"], int(datetime.fromisoformat(score["timestamp"]).timestamp())
        if PEOPLE[user][1] != "Learner":
            return 400
        if user in self.platform.grades and self.platform.grades[user][2] >= when:
            return 409
        points = (
            score["scoreGiven"] / score["scoreMaximum"] if score["gradingProgress"] == "FullyGraded" else None
        )
        self.platform.grades[user] = (points, score.get("comment", ""), when)
        return 200

    def known(self) -> bool:
        return self.headers.get("Authorization", "").removeprefix("Bearer ") in self.platform.tokens

    def reply(self, status: int, value: Any) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...
