"""Files land in nbgrader's folders, whole, and no student name leads anywhere else."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import files
from autograder.errors import GradingError
from autograder.files import folder_name, timestamp_in

HOSTILE = ["", ".", "..", ".hidden", "...", "../..", "/etc/passwd", "..\\x", "CON", "a\u202egpj"]
HOSTILE += ["../a", "..\\a", "/a", ".a", "a/", "a\n", "x" * 400, "x" * 401, "a<b>", "R&D", 'a"b', "a`b"]


@given(st.text() | st.sampled_from(HOSTILE), st.text())
def test_every_student_has_a_folder_of_their_own_that_no_name_leaves(name, other):
    folder = folder_name(name)
    assert Path("/out", folder).parent == Path("/out") and folder not in ("", ".", "..")
    assert len(folder.encode()) <= 255
    assert not folder.startswith(".") and not set(folder) & set('/\\\u202e\0<>&"`')
    assert (folder == folder_name(other)) == (name == other)


def test_an_ordinary_name_is_its_own_folder_and_hostile_ones_stay_apart():
    for name in ("ada", "Müller", "学生 12", "o'brien", "a.b-c_d@uni.edu"):
        assert folder_name(name) == name
    assert len({folder_name(name) for name in HOSTILE} - set(HOSTILE)) == len(HOSTILE)


def test_the_executed_notebook_is_where_formgrader_looks_and_goes_when_the_next_is_unreadable(
    tmp_path, make_result
):
    result = make_result("ada")
    path = files.write_autograded(result, tmp_path)
    assert path == tmp_path / "autograded/ada/00_warm_up/00_warm_up.ipynb"
    there = {file.name: file.read_text(encoding="utf-8") for file in path.parent.iterdir()}
    assert there == {path.name: result.notebook, "timestamp.txt": "2026-03-02 10:00:00 UTC\n"}
    unreadable = make_result("ada", status="unreadable", notebook="")
    assert files.write_autograded(unreadable, tmp_path) is None and list(path.parent.iterdir()) == []


def raises(number: int):
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_failed_write_keeps_the_old_file_and_leaves_no_rubbish(tmp_path, monkeypatch):
    target = tmp_path / "page.html"
    files.write_atomically(target, "old")
    monkeypatch.setattr("autograder.files.os.replace", raises(errno.ENOSPC))
    with pytest.raises(GradingError, match="No space left on device"):
        files.write_atomically(target, "new")
    assert target.read_text() == "old" and list(tmp_path.iterdir()) == [target]


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
    stamp.symlink_to("/dev/zero")
    assert timestamp_in(tmp_path) == ""


def test_a_disk_without_locks_holds_nobody_up(tmp_path, monkeypatch):
    (tmp_path / ".lock").touch()  # of a run where there were locks
    monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", raises(errno.ENOSYS))
    for _ in range(2):
        with files.sole_writer(tmp_path):
            pass


def test_a_secret_on_a_disk_without_permissions_is_said(tmp_path, capsys):
    secret = tmp_path / "secret"
    for mode, said in (
        (0o600, ""),
        (0o640, "everybody with an account"),
        (0o604, "everybody with an account"),
    ):
        secret.touch()
        secret.chmod(mode)
        files.say_if_others_may_read(secret)
        assert said in (heard := capsys.readouterr().err) and bool(heard) == bool(said)
