"""Pull, grade, push, regrade, push with each learning system: nobody lost, nothing of anybody's overwritten."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from autograder.cli.app import app
from autograder.errors import UserError
from tests.systems.fake_canvas import FakeCanvas
from tests.systems.fake_moodle import FakeMoodle
from tests.systems.fake_site import LAB, TOKEN


@pytest.fixture(params=[FakeMoodle, FakeCanvas])
def site(request):
    """A system with a small class, of whom ``first`` and ``second`` handed in."""
    made = request.param()
    if isinstance(made, FakeMoodle):
        made.only(made.first, made.second, 9)
    return made


def test_what_is_pushed_is_what_the_plan_said_and_a_second_push_sends_only_what_changed(course, site):
    course.pull()
    plan = course.plan()
    assert course.push() == []
    assert sorted(site.saved) == sorted(user for user, row in plan.items() if row.what == "new")
    assert {site.first, site.second} <= set(site.saved)
    grade, comment, files = site.entered(site.first)
    assert (
        grade == plan[site.first].new.grade == pytest.approx(7 / 15 * site.most)
    )  # 7 of the lab's 15 points
    assert "one_hot: 4 of 4" in comment and "softmax: 3 of 6" in comment and files == [f"{LAB}.html"]
    assert any("every grade is scaled" in note for note in course.notes)
    sent = list(site.saved)
    assert course.push() == [] and site.saved == sent
    assert {row.what for row in course.plan().values()} <= {"as it is", "left out"}
    assert course.push(1.0, 3.0) == []
    assert site.entered(site.second)[0] == pytest.approx(4 / 15 * site.most)


def test_what_does_not_arrive_is_named_and_the_rest_goes(course, site):
    course.pull()
    [name] = [row.student for row in course.plan().values() if row.user == site.first]
    site.refused = {site.first}
    [trouble] = course.push()
    assert name in trouble and "period is closed" in trouble and site.entered(site.second)
    site.drops, site.refused = {"comment"}, set()
    troubles = course.push(2.0, 3.0)
    assert len(troubles) >= 2 and all(
        "the comment and" in one or "the comment did" in one for one in troubles
    )


def test_what_a_person_entered_is_left_alone_until_it_is_named(course, site):
    course.pull()
    site.enter(site.first, 5.0)
    name, what = course.plan()[site.first].student, {user: row.what for user, row in course.plan().items()}
    assert what[site.first] == "left out" and what[site.second] == "new"
    assert course.push() == []
    site.enter(site.second, 3.0)
    assert "somebody entered this grade or comment" in course.plan(2.0, 3.0)[site.second].why
    assert course.push(2.0, 3.0, replaced=(name,)) == []
    assert site.entered(site.first)[0] == site.most / 3 and site.saved.count(site.second) == 1
    with pytest.raises(UserError, match="--replace names nobody, without a result"):
        course.plan(replaced=("nobody",))


def test_a_newer_attempt_is_graded_before_it_is_pushed(course, site):
    course.pull()
    course.graded_at = "2026-11-18 10:00:00 UTC"
    assert course.push() == [] and not site.saved, "graded before the last pull"
    course.graded_at = ""
    site.hand_in_again(site.first)
    row = course.plan()[site.first]
    assert row.what == "left out" and "handed in again since" in row.why
    assert course.pull().fetched == [row.student] and course.push() == [] and site.first in site.saved


def test_the_first_push_of_the_command_only_shows(course, site, monkeypatch):
    monkeypatch.setattr("autograder.cli.systems.results_and_marks", lambda *_: (course.results(), {}))
    monkeypatch.setattr("autograder.cli.systems.spec", lambda _: course.spec)
    kind, place = site.name.lower(), ["--submitted", str(course.submitted)]

    def run(*more):
        return CliRunner().invoke(app, [kind, more[0], "00", *place, *more[1:]])

    pulled, push = run("pull"), ("push", "--out", str(course.submitted.parent))
    number = len(course.results())
    assert pulled.exit_code == 0 and f"✓ {number} students," in pulled.output and "new) of" in pulled.output
    shown = run(*push)
    going = sum(row.what == "new" for row in course.plan().values())
    assert shown.exit_code == 0 and not site.saved
    assert f"Nothing was sent yet. To send {going} grades" in shown.output
    assert f"✓ {going} of {going} arrived in {site.name}" in run(*push, "--send").output
    site.enter(site.first, 1.0)
    again = run(*push, "--replace", course.plan()[site.first].student)
    assert "✓ 1 of 1 arrived" in again.output and f"{going - 1} are as they are" in again.output
    site.drops.add("grade")
    site.enter(site.first, 1.0)
    lost = run(*push, "--replace", course.plan()[site.first].student)
    assert lost.exit_code == 1 and "the grade did not arrive" in lost.output and "✗ 0 of 1" in lost.output


def test_another_assignments_folder_is_refused(course, site):
    course.submitted.mkdir()
    with pytest.raises(UserError, match=rf"run `autograder {site.name.lower()} pull 00` first"):
        course.plan()
    course.pull()
    course.write("4" if site.name == "Moodle" else "71")
    with pytest.raises(UserError, match="give another folder with --submitted"):
        course.pull()
    next(course.submitted.glob("*.json")).write_text("{")
    with pytest.raises(UserError, match="cannot be read: put back the file as it was"):
        course.pull()


def test_the_token_comes_from_a_file_that_nobody_else_may_read_and_no_refusal_shows_it(
    course, site, monkeypatch, tmp_path
):
    monkeypatch.delenv(f"{site.name.upper()}_TOKEN")
    monkeypatch.setattr("autograder.systems.exchange.course_file", lambda: tmp_path / "course.toml")
    with pytest.raises(
        UserError, match=rf"{site.name.upper()}_TOKEN or the file .*{site.name.lower()}-token"
    ):
        course.system()
    file = tmp_path / f".{site.name.lower()}-token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o644)
    with pytest.raises(UserError, match="chmod 600"):
        course.system()
    file.chmod(0o600)
    assert course.system()
    for wrong, said in {"two words": "copy it again", "wrong": "make a new"}.items():
        file.write_text(wrong)
        with pytest.raises(UserError, match=said):
            course.system()
    file.write_text(TOKEN)
    site.is_dead = True
    with pytest.raises(UserError, match=r"cannot be reached .* run the same command again") as lost:
        course.system()
    assert TOKEN not in str(lost.value)
