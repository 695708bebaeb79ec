"""On a JupyterHub, who asks is whom the hub knows; a token or cookie that it does not know is nobody's."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import UserError
from autograder.serve.hub import started_by_hub
from tests.fixtures.live_class import NOTEBOOK, LiveClass, addresses
from tests.serve.conftest import LAB

PREFIX = "/services/autograder/"
SCOPES = ["access:services!service=autograder"]
#: What the hub says of the owner of a token, beside what it says of everybody.
USERS: dict[str, dict[str, Any]] = {
    **{name: {"name": name} for name in ("ada", "bo", "helper")},
    "prof": {"name": "prof", "admin": True},
    "elsewhere": {"name": "eve", "scopes": ["access:services!service=x"]},
    "service": {"name": "culler", "kind": "service", "admin": True},
    "strange": {"name": "../eve"},
}
USER = {"kind": "user", "admin": False, "scopes": SCOPES, "groups": []}


class HubsApi(BaseHTTPRequestHandler):
    """What a service asks a hub: whose token is this?"""

    def do_GET(self) -> None:
        token = self.headers.get("Authorization", "").partition(" ")[2]
        if token.startswith("stranger"):
            self.server.gate.wait(30)
        found = USERS.get(token)
        content = json.dumps(USER | found if found else {"status": 403, "message": "no"}).encode()
        self.send_response(200 if found and self.path.startswith("/hub/api/user") else 403)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def live(tmp_path: Path, course_at, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveClass]:
    from jupyterhub.services.auth import HubOAuth

    course_at('team = ["helper"]')
    hub = ThreadingHTTPServer(("127.0.0.1", 0), HubsApi)
    hub.gate = threading.Event()  # what the hub waits for before it answers about a stranger
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    for name, value in {
        "JUPYTERHUB_API_URL": f"http://127.0.0.1:{hub.server_port}/hub/api",
        "JUPYTERHUB_API_TOKEN": "the-services-own",
        "JUPYTERHUB_SERVICE_PREFIX": PREFIX,
        "JUPYTERHUB_SERVICE_NAME": "autograder",
        "JUPYTERHUB_CLIENT_ID": "service-autograder",
        "JUPYTERHUB_OAUTH_ACCESS_SCOPES": json.dumps(SCOPES),
        "JUPYTERHUB_BASE_URL": "/",
    }.items():
        monkeypatch.setenv(name, value)
    HubOAuth.clear_instance()
    with addresses(tmp_path / "out", LAB, hub=True, prefix=PREFIX) as running:
        running.tokens = {name: name for name in USERS}
        yield running
    hub.gate.set()
    HubOAuth.clear_instance()
    hub.shutdown()


def test_people_are_who_the_hub_says_and_the_team_is_admins_and_who_the_course_names(live):
    card = live.ask(f"{PREFIX}labs/{LAB}/hand-in", NOTEBOOK, "ada")
    assert card.status == 201, card.body
    receipt = f"{PREFIX}receipts/{card.json['receipt']}"
    assert live.service.journal.attempts(LAB)[0].student == "ada"
    assert live.ask(receipt, who="ada").status == 200
    assert live.ask(receipt, who="bo").status == 403
    for who, status in {"prof": 200, "helper": 200, "ada": 403, "elsewhere": 401, "service": 401}.items():
        assert live.ask(f"{PREFIX}team/{LAB}/state", who=who).status == status, who
    invitation = live.service.journal.invite("ada")
    live.tokens |= {"nobody": "made-up", "invited": invitation}
    for who in ("nobody", "invited", ""):
        assert live.ask(f"{PREFIX}labs/{LAB}/hand-in", NOTEBOOK, who).status in (401, 403)
    assert live.ask(f"{PREFIX}in/{invitation}").status in (401, 403, 404)


def test_a_browser_is_sent_to_the_hub_or_reads_why_its_login_is_refused(live):
    answer = live.ask(PREFIX, who="strange", Accept="text/html")
    assert answer.status == 403 and "cannot be the name of a folder" in answer.body.decode()
    answer = live.ask(PREFIX, Accept="text/html")
    assert answer.status == 302
    assert "/hub/api/oauth2/authorize" in answer.headers["location"]


def test_without_a_hub_the_option_says_what_is_missing(monkeypatch):
    monkeypatch.delenv("JUPYTERHUB_SERVICE_PREFIX", raising=False)
    with pytest.raises(UserError, match="JupyterHub did not start"):
        started_by_hub()


LISTED = "student,name,email,canvas id,ID number{}\nada,Ada Lovelace,ada@uni.edu,4711,S1{}\nbo,Bo,bo@uni.edu,4712,S2{}\n"
#: A login, whether the class list has a column of user names, and who that is; "" where it is refused.
LOGINS = (
    *((login, True, "") for login in ("s1", "ada@uni.edu", "àda", "ａda", "aͤda", "lovelaceada_4711", "ＡＬＯＶＥ", "ada")),
    *(("alove", True, "ada"), ("ALove", True, "ada"), ("ada", False, "ada"), ("Ada", False, "ada"), ("bo2", True, "bo2")),
)  # fmt: skip


def test_a_login_is_the_class_lists_user_name_or_its_student_or_somebody_and_never_one_that_resembles_it(
    live, course_at
):
    for login, usernames, student in LOGINS:
        course_at("", LISTED.format(*((",username", ",alove", ",bdiaz") if usernames else ("", "", ""))))
        if student:
            assert live.service.student_of(login) == student
        else:
            with pytest.raises(UserError, match="user name"):
                live.service.student_of(login)


def test_a_hub_that_does_not_answer_about_strangers_keeps_nobody_else_waiting(live):
    page = f"{PREFIX}labs/{LAB}/requests"
    assert live.ask(page, who="ada").status in (200, 404)
    strangers = {f"stranger{number}": f"stranger{number}" for number in range(15)}
    live.tokens |= strangers
    with ThreadPoolExecutor(15) as pool:
        asking = [pool.submit(live.ask, page, who=who) for who in strangers]
        assert live.ask(page, who="ada").status in (200, 404)
        assert not all(one.done() for one in asking), "ada was answered while the hub was silent"
    assert {one.result().status for one in asking} == {503}
    assert live.ask(page, who="bo").status in (200, 404)
