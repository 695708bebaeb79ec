"""Pull from GitHub Classroom's repositories, as folders on this machine: whose they are, when they came in, within limits."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.cli.systems import source_of
from autograder.course.policy_file import use
from autograder.errors import UserError
from autograder.files import timestamp_in
from autograder.systems import github
from autograder.systems.pull import Done, pull
from tests.systems.fake_site import LAB, handed_in


class Classroom:
    """An organization's repositories."""

    def __init__(self, home: Path) -> None:
        self.home, self.submitted = home, home / "submitted"

    def commit(self, login: str, name: str, content: bytes, day: int) -> None:
        """Commit a file to somebody's repository."""
        folder = self.home / "hub" / f"warm-up-{login}"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"2026-11-{day}T10:00:00Z")
        me = ["-c", "user.name=x", "-c", "user.email=x@x"]
        for words in (["init", "--quiet"], ["add", "."], [*me, "commit", "--quiet", "-m", "x"]):
            subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **dates})

    def pull(self) -> Done:
        return pull(source_of("GitHub", LAB), self.submitted, LAB, lambda things, *_: things)


@pytest.fixture
def classroom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Classroom]:
    roster = (
        "identifier,github_username,github_id,name\nada,Ada-L,7,Ada\nbo,bob,8,Bo\ncy,,,Cy\ndi,didi,9,Di\n"
    )
    (tmp_path / "roster.csv").write_text(roster)
    course = '[github]\nsite = "https://github.com/nlp"\nroster = "roster.csv"\n[github.assignments]\n00 = "warm-up"\n'
    (tmp_path / "course.toml").write_text(course)
    monkeypatch.setenv("COURSE_FILE", str(tmp_path / "course.toml"))
    for name, value in (
        ("COUNT", "1"),
        ("KEY_0", f"url.{tmp_path}/hub/.insteadOf"),
        ("VALUE_0", "https://github.com/nlp/"),
    ):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    use(None)
    yield Classroom(tmp_path)
    monkeypatch.undo()
    use(None)


def test_pull_files_each_repository_under_the_rosters_name_with_its_last_commits_time(
    classroom: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    classroom.commit("Ada-L", f"labs/{LAB}.ipynb", handed_in("a"), 18)
    classroom.commit("Ada-L", "README.md", b"later", 25)
    classroom.commit("bob", "notes.txt", b"no notebook", 19)
    done = classroom.pull()
    assert done.students == ("ada", "bo", "di") and done.handed_in == done.fetched == ("ada",)
    assert timestamp_in(classroom.submitted / "ada" / LAB) == "2026-11-18 10:00:00 UTC"
    said = " ".join(done.notes)
    assert "can read, or one beyond 128 MB: di." in said and "without an account: cy" in said
    assert "a student can set" in said and classroom.pull().fetched == ()
    classroom.commit("Ada-L", f"labs/{LAB}.ipynb", handed_in("b"), 26)
    assert classroom.pull().fetched == ("ada",)
    monkeypatch.setattr(github, "LARGEST", 100_000)
    classroom.commit("bob", "noise.bin", os.urandom(200_000), 20)
    assert "beyond 0 MB: bo, di" in " ".join(classroom.pull().notes)


def test_an_organization_that_git_cannot_read_is_one_sentence(classroom: Classroom) -> None:
    with pytest.raises(UserError, match=r"no repository such as https://github.com/nlp/warm-up-Ada-L: try"):
        classroom.pull()
