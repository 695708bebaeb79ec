"""Files land in nbgrader's folders, whole, and no student name leads anywhere else."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import GradingError
from autograder.files import (
    autograded_notebook,
    folder_name,
    say_if_others_may_read,
    sole_writer,
    timestamp_in,
    write_atomically,
    write_autograded,
)
from autograder.results import SubmissionResult

HOSTILE = ["", ".", "..", ".hidden", "...", "../..", "/etc/passwd", "..\\x", "CON", "a\u202egpj"]
HOSTILE += ["../a", "..\\a", "/a", ".a", "a/", "a\n", "x" * 400, "x" * 401]


@given(st.text() | st.sampled_from(HOSTILE), st.text())
def test_every_student_has_a_folder_of_their_own_that_no_name_leaves(name: str, other: str) -> None:
    folder = folder_name(name)
    path = Path("/out") / folder
    assert path.parent == Path("/out")
    assert folder not in ("", ".", "..")
    assert len(folder.encode()) <= 255
    assert not folder.startswith(".") and not set(folder) & set("/\\\u202e\0")
    assert (folder == folder_name(other)) == (name == other)


def test_an_ordinary_name_is_its_own_folder_and_hostile_ones_stay_apart() -> None:
    for name in ("ada", "Müller", "学生 12", "o'brien", "a.b-c_d@uni.edu"):
        assert folder_name(name) == name
    assert len({folder_name(name) for name in HOSTILE} - set(HOSTILE)) == len(HOSTILE)
    assert not set('<>&"`') & set("".join(map(folder_name, ("a<b>", "R&D", 'a"b', "a`b"))))


def test_the_executed_notebook_is_where_formgrader_looks_and_goes_when_the_next_is_unreadable(
    tmp_path: Path, make_result: Callable[..., SubmissionResult]
) -> None:
    result = make_result("ada")
    path = write_autograded(result, tmp_path)
    assert path == tmp_path / "autograded/ada/00_warm_up/00_warm_up.ipynb"
    assert path.read_text(encoding="utf-8") == result.notebook
    assert path.with_name("timestamp.txt").read_text() == "2026-03-02 10:00:00 UTC\n"
    assert sorted(p.name for p in path.parent.iterdir()) == ["00_warm_up.ipynb", "timestamp.txt"]

    assert write_autograded(make_result("ada", status="unreadable", notebook=""), tmp_path) is None
    assert not autograded_notebook(tmp_path, "ada", "00_warm_up").exists()


def test_a_failed_write_keeps_the_old_file_and_leaves_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "page.html"
    write_atomically(target, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autograder.files.os.replace", full)
    with pytest.raises(GradingError, match="No space left on device"):
        write_atomically(target, "new")
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_a_time_is_the_first_line_of_a_plain_file_and_nothing_else(tmp_path):
    stamp = tmp_path / "timestamp.txt"
    assert timestamp_in(tmp_path) == ""
    stamp.write_bytes(b"2026-10-01 12:00:00 UTC \r\nmore\xff")
    assert timestamp_in(tmp_path) == "2026-10-01 12:00:00 UTC"
    stamp.write_bytes(b"\xff" * 10**6)
    assert len(timestamp_in(tmp_path)) == 100
    stamp.unlink()
    os.mkfifo(stamp)  # nobody writes: reading it as text would wait for ever
    assert timestamp_in(tmp_path) == ""
    stamp.unlink()
    stamp.mkdir()
    assert timestamp_in(tmp_path) == ""
    stamp.rmdir()
    stamp.symlink_to("/dev/zero")
    assert timestamp_in(tmp_path) == ""


def test_a_disk_without_locks_holds_nobody_up(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    (tmp_path / ".lock").touch()  # of a run where there were locks

    def none(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", none)
    for _ in range(2):
        with sole_writer(tmp_path):
            pass


def test_a_secret_on_a_disk_without_permissions_is_said(tmp_path, capsys):
    secret = tmp_path / "secret"
    secret.touch(0o600)
    say_if_others_may_read(secret)
    assert capsys.readouterr().err == ""
    secret.chmod(0o666)
    say_if_others_may_read(secret)
    assert "everybody with an account on this machine can read it" in capsys.readouterr().err
