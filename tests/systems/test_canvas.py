"""Canvas's class from answers as its API documents them: no real Canvas was at hand."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from autograder.errors import UserError
from autograder.systems.canvas import Canvas
from autograder.systems.exchange import Attempt, Entry, File, Refused, Update
from tests.systems.fake_site import TOKEN, FakeSite, recorded

ME, ADA, BO, CY, TOM = 1, 11, 12, 13, 16
LATE = "[late]\npercent_per_day = 10\n[labs.00]\ndue = 2026-11-20T22:59:59"
COURSE, WHEN, DUE, SITE = "/api/v1/courses/5", 1795100400, 1795215599, FakeSite.site
PLACE = f"{COURSE}/assignments/70/submissions"
NEW = Update(7.5, "Good &amp; short.<br>Yes.", "lab.html", b"<p>page</p>")
FILE = File("ada.ipynb", 9, WHEN, f"{SITE}/files/ada.ipynb")
PAGE = File("lab.html", 9, WHEN, f"{SITE}/files/lab-2.html")


def attached(name: str) -> dict[str, Any]:
    return {"display_name": name, "size": 9, "url": f"{SITE}/files/{name}", "modified_at": "2026-11-19T15:00:00Z"}  # fmt: skip


class FakeCanvas(FakeSite):
    """A site with one course (5) and one assignment (70), handed in by ada and bo."""

    name = "Canvas"

    def __init__(self) -> None:
        super().__init__()
        self.known = recorded("canvas")["assignment"]
        whole = {**recorded("canvas")["submission"], "attachments": [attached("ada.ipynb")]}
        self.submissions = {user: {**whole, "user_id": user} for user in (ADA, BO, CY, TOM)}
        self.submissions[CY].update(attempt=None, submitted_at=None, attachments=[], submission_type=None)
        upload = {"upload_url": "https://elsewhere.example/upload", "upload_params": {"key": "k"}}
        self.answers = {
            "GET /api/v1/users/self": {"id": ME},
            "GET /api/v1/courses": [{"id": 5, "course_code": "NLP-2026"}, {"id": 6, "access_restricted_by_date": True}],
            f"GET {COURSE}/assignments": [{**self.known, "id": 71, "name": "Essay"}, self.known],
            f"GET {COURSE}/search_users": self._users,
            f"GET {PLACE}": self._page,
            f"PUT {PLACE}/11": {},
            f"POST {PLACE}/11/comments/files": upload,
            "POST /upload": (201, {}, b'while(1);{"id": 3}'),
        }  # fmt: skip

    def _users(self, asked: dict[str, str]) -> list[dict[str, Any]]:
        if asked["enrollment_type[]"] == "designer":  # the last of the staff's
            return [{"id": ME, "name": "Me"}, {"id": TOM, "name": "Tom"}]
        assert asked["enrollment_state[]"] == "active" and asked["include[]"] == "email"
        words = {"login_id": "ada", "email": None, "sis_user_id": "S1"}
        test_student = 15  # without a submission
        return [{"id": user, **words} for user in (ADA, BO, CY, TOM, test_student)]

    def _page(self, asked: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        """Two submissions, and the address of the next two."""
        start, found = int(asked.get("page", 0)), list(self.submissions.values())
        more = {"Link": f'<{SITE}{PLACE}?page={start + 2}>; rel="next"'} if start + 2 < len(found) else {}
        return 200, more, found[start : start + 2]

    def sent(self) -> list[dict[str, Any]]:
        """The fields of each change of a grade."""
        return [fields for name, fields, _ in self.asked if name.startswith("PUT ")]


@pytest.fixture
def site() -> FakeCanvas:
    return FakeCanvas()


def test_active_students_their_newest_attempt_and_who_has_longer(system, site):
    site.submissions[BO].update(cached_due_date="2026-11-23T22:59:59Z", submission_type="online_text_entry")
    made = system("70")
    people, notes = made.people()
    assert [one.user for one in people] == [ADA, BO, CY] and notes == []  # not Tom, who teaches too
    attempts = [Attempt(2, WHEN, (FILE,)), Attempt(2, WHEN, (FILE,), has_text=True), None]
    assert people[0].ids == ("ada", "S1") and [one.attempt for one in people] == attempts
    dates = {ADA: DUE, BO: DUE + 3 * 86_400, CY: DUE}
    assert made.due == DUE and made.due_dates(people) == dates
    site.known["due_at"] = None
    assert system("70").due == DUE
    first = next(fields for name, fields, _ in site.asked if name == f"GET {PLACE}")
    assert first == {"per_page": "100", "include[]": "submission_comments"}


def comment(author: int, text: str, *files: str) -> dict[str, Any]:
    return {"author_id": author, "comment": text, "attachments": list(map(attached, files))}


OURS = comment(ME, "a <b>", "lab-2.html")
ENTRIES = [
    ({"score": 7.5}, Entry(7.5)),
    ({"submission_comments": [OURS, comment(ME, "no page"), comment(2, "x", "x.html")]}, Entry(None, "a &lt;b&gt;", (PAGE,))),
    ({"submission_comments": [comment(ME, "old", "x.html"), OURS]}, Entry(None, "a &lt;b&gt;", (PAGE,))),
    ({"excused": True}, Entry(locked="the student is excused")),
    ({"score": 6, "points_deducted": 1.5}, Entry(7.5, is_settled=False)),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "entry"), ENTRIES)
def test_an_entry_is_the_grade_and_our_own_newest_comment_with_a_page(system, site, changes, entry):
    made = system("70", LATE)
    site.submissions[ADA].update(changes)
    assert made.entries({ADA: 2, 99: 0}) == {ADA: entry, 99: Entry()}


def test_a_grade_is_sent_with_its_page_as_a_comment_and_the_token_to_the_site_alone(system, site):
    made, site.answers["GET /files/x"] = system("70"), b"content"
    made.send(ADA, 2, NEW, Entry())
    made.send(ADA, 2, Update(3, "x"), Entry())
    sent = {
        "submission[posted_grade]": "7.5", "comment[file_ids][]": "3", "comment[text_comment]": "Good & short.\nYes.",
        "comment[attempt]": "2",
    }  # fmt: skip
    assert site.sent() == [sent, {"submission[posted_grade]": "3"}]
    uploads = [(fields, files) for name, fields, files in site.asked if name.startswith("POST")]
    place = {"name": "lab.html", "size": "11", "on_duplicate": "rename"}
    assert uploads == [(place, {}), ({"key": "k"}, {"lab.html": NEW.page})]
    for host, is_own in ((SITE, True), ("https://elsewhere.example", False)):
        assert made.read(File("x", 1, 0, f"{host}/files/x")) == b"content"
        assert (site.headers.get("Authorization") == f"Bearer {TOKEN}") == is_own
    site.answers["POST /upload"] = (422, {}, b"{}")
    with pytest.raises(Refused, match=r"did not take the file lab.html"):
        made.send(ADA, 2, NEW, Entry())
    assert "Authorization" not in site.headers


def test_lateness_counts_once(system, site):
    site.answers[f"PUT {PLACE}/11"] = {"points_deducted": 6}
    system("70", LATE).send(ADA, 2, Update(7, "x"), Entry())
    assert site.sent() == [{"submission[posted_grade]": "7"}, {"submission[late_policy_status]": "none"}]
    site.submissions[ADA].update(score=1, points_deducted=6)
    made = system("70")  # the course takes nothing off: Canvas's own policy holds
    made.send(ADA, 2, Update(7, "x"), Entry())
    assert len(site.sent()) == 3 and made.entries({ADA: 2}) == {ADA: Entry(7.0)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"grading_type": "pass_fail"}, "takes no points"),
        ({"points_possible": None}, "takes no points"),
        ({"moderated_grading": True}, "moderated grading"),
        ({"anonymize_students": True}, "graded anonymously"),
        ({"group_category_id": 3}, "one grade for the members of a group"),
        ({"name": "Essay"}, "write one of these numbers: “Essay” (71), “Essay” (70)"),
    ],
)
def test_an_assignment_that_cannot_be_graded_is_one_sentence(system, site, changes, said):
    made = system("70")
    made.require_gradable()
    assert (made.title, made.most, made.key, made.notes) == ("Warm-up", 30.0, f"{SITE} assignment 70", ())
    site.known.update(post_manually=True)
    assert "before you post the assignment's grades" in system("70").notes[0]
    site.known.update(changes)
    with pytest.raises(UserError) as error:
        system('"Essay"' if "name" in changes else "70").require_gradable()
    assert said in str(error.value)


def test_the_token_is_in_a_file_that_nobody_else_may_read_and_no_refusal_shows_it(
    system, site, monkeypatch, tmp_path
):
    system("70")
    monkeypatch.delenv("CANVAS_TOKEN")
    monkeypatch.setattr("autograder.systems.exchange.course_file", lambda: tmp_path / "course.toml")
    file = tmp_path / ".canvas-token"

    def refused(said: str) -> str:
        with pytest.raises(UserError, match=said) as error:
            Canvas("00_warm_up")
        return str(error.value)

    refused(r"CANVAS_TOKEN or the file .*\.canvas-token")
    file.write_text("two words")
    file.chmod(0o644)
    refused("chmod 600")
    file.chmod(0o600)
    refused("copy it again")
    file.write_text(TOKEN + "\n")
    assert Canvas("00_warm_up") and site.headers["Authorization"] == f"Bearer {TOKEN}"

    def dead(_: dict[str, Any]) -> None:
        raise requests.ConnectionError("no line")

    for answer, said in (
        ((401, {"WWW-Authenticate": "Bearer"}, b""), "does not know the token: make a new one"),
        ((403, {}, b""), "Canvas refuses: status 403."),
        ((429, {}, b""), "too many requests"),
        (dead, r"cannot be reached .* run the same command again"),
    ):
        site.answers["GET /api/v1/users/self"] = answer
        assert TOKEN not in refused(said)
