"""Pull from GitHub Classroom's repositories, as folders on this machine: whose they are, when they came in, within limits."""

from __future__ import annotations

import os
import subprocess

import pytest

from autograder.course.policy_file import course_file
from autograder.errors import UserError
from autograder.files import timestamp_in
from autograder.systems import github
from autograder.systems.pull import Pull
from tests.systems.test_pull_and_push import LAB, NOTEBOOK

COURSE = '[github]\nsite = "https://github.com/nlp"\nroster = "accounts.csv"\n[github.assignments]\n00 = "warm-up"\n'
ROSTER = "identifier,github_username,github_id,name\nada,Ada-L,7,Ada\nbo,bob,8,Bo\ncy,,,Cy\ndi,didi,9,Di\n"


def test_pull_files_each_repository_under_the_rosters_name_with_its_last_commits_time(
    tmp_path, course_at, monkeypatch
):
    """From an organization whose repositories are folders."""
    course_at(COURSE)
    course_file().with_name("accounts.csv").write_text(ROSTER)
    git = {"COUNT": "1", "KEY_0": f"url.{tmp_path}/hub/.insteadOf", "VALUE_0": "https://github.com/nlp/"}
    for name, value in git.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)

    def pulled() -> Pull:
        done = Pull(github.GitHub(LAB), tmp_path / "submitted", LAB)
        done.run()
        return done

    def commit(login: str, name: str, content: bytes, day: int) -> None:
        folder = tmp_path / "hub" / f"warm-up-{login}"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"2026-11-{day}T10:00:00Z")
        me = ["-c", "user.name=x", "-c", "user.email=x@x"]
        for words in (["init", "--quiet"], ["add", "."], [*me, "commit", "--quiet", "-m", "x"]):
            subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **dates})

    with pytest.raises(UserError, match=r"no repository such as https://github.com/nlp/warm-up-Ada-L: try"):
        pulled()
    commit("Ada-L", f"labs/{LAB}.ipynb", NOTEBOOK, 18)
    commit("Ada-L", "README.md", b"later", 25)
    commit("bob", "notes.txt", b"no notebook", 19)
    done = pulled()
    assert done.students == ["ada", "bo", "di"] and done.handed_in == done.fetched == ["ada"]
    assert timestamp_in(tmp_path / "submitted" / "ada" / LAB) == "2026-11-18 10:00:00 UTC"
    said = " ".join(done.notes)
    assert "can read, or one beyond 128 MB: di." in said and "without an account: cy" in said
    assert "a student can set" in said and pulled().fetched == []
    commit("Ada-L", f"labs/{LAB}.ipynb", NOTEBOOK + b" ", 26)
    assert pulled().fetched == ["ada"]
    monkeypatch.setattr(github, "LARGEST", 100_000)
    commit("bob", "noise.bin", os.urandom(200_000), 20)
    assert "beyond 0 MB: bo, di" in " ".join(pulled().notes)
