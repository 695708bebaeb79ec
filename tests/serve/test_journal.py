"""What has a receipt is on disk; a verdict is kept once."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.serve.journal import Attempt, Journal, digest_of_token
from tests.serve.conftest import LAB


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "live")


def receive(journal: Journal, content: bytes, student: str = "ada") -> tuple[Attempt, bool]:
    """A notebook that was just sent, and whether it is new; everything is taken."""
    file = journal.incoming / "upload"
    file.write_bytes(content)
    return journal.receive(LAB, student, file, lambda earlier: None)


def test_the_row_is_written_after_file_and_folder_have_reached_the_disk(journal, monkeypatch):
    synced: list[str] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        place = os.readlink(f"/proc/self/fd/{descriptor}")
        assert not list(journal._attempts("WHERE student = 'bo'")), "a row before its notebook"
        synced.append(place)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    receive(journal, b"one", "bo")
    assert synced[0] == str(journal.incoming / "upload")
    folders = [journal.folder / "notebooks" / LAB, journal.folder / "notebooks", journal.folder]
    assert synced[1:] == list(map(str, folders))
    [synchronous] = journal._db.execute("PRAGMA synchronous").fetchone()
    assert synchronous == 2, "FULL: each commit waits for the disk"


def test_the_same_bytes_once_more_are_the_same_attempt_and_other_bytes_another(journal):
    first, _ = receive(journal, b"one")
    assert receive(journal, b"one") == (first, False)
    assert not list(journal.incoming.iterdir())
    later = [
        receive(journal, content, who)[0]
        for content, who in ((b"two", "ada"), (b"one", "ada"), (b"one", "bo"))
    ]
    assert [attempt.number for attempt in later] == [2, 3, 1], "a way back is a new attempt"


def test_a_verdict_is_kept_once_and_one_that_is_taken_away_stays_in_the_log(journal, make_result):
    attempt, _ = receive(journal, b"one")
    journal.finish(attempt, make_result("ada", 4, 6))
    journal.finish(attempt, make_result("ada", 0, 0))
    [kept] = journal.attempts(LAB, "ada")
    assert kept.graded is not None and kept.score == 10
    assert journal.result(kept) == replace(make_result("ada", 4, 6), notebook="")
    assert journal.open() == []
    journal.judge_again(kept, "prof")
    [event] = journal.events("regrade", student="ada")
    assert (event.who, event.details["verdict"]["score"]) == ("prof", 10)
    assert [left.receipt for left in journal.open()] == [attempt.receipt]


def test_a_new_invitation_ends_the_old_one_and_no_token_is_written_down(journal, tmp_path):
    old, new = journal.invite("ada"), journal.invite("ada")
    assert journal.invited(digest_of_token(old)) is None
    assert journal.invited(digest_of_token(new)) == ("ada", False)
    journal.close()
    written = b"".join(file.read_bytes() for file in (tmp_path / "live").glob("journal.db*"))
    assert new.encode() not in written
