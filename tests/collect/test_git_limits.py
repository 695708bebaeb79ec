"""Git reads a student's repository within limits, and what it cannot tell within them is said."""

from __future__ import annotations

import hashlib
import subprocess
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.collect import collect, git_times

LAB = "07_self_attention"
COMMITTED = datetime(2026, 3, 1, 9, tzinfo=UTC)


def put(git: Path, kind: str, size: int, parts: Iterator[bytes]) -> str:
    """Write an object into a repository as git does; its name."""
    digest, packed = hashlib.sha1(head := f"{kind} {size}\0".encode()), zlib.compressobj(1)
    content = [packed.compress(head)]
    for part in parts:
        digest.update(part)
        content.append(packed.compress(part))
    name = digest.hexdigest()
    target = git / "objects" / name[:2] / name[2:]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"".join(content) + packed.flush())
    return name


def repository(folder: Path, megabytes: int) -> Path:
    """A repository of one commit, whose tree unpacks to so much."""
    entry = f"100644 {LAB}.ipynb\0".encode() + b"x" * 20
    times = max(1, (megabytes << 20) // len(entry) // 1000)
    block = entry * 1000 if megabytes else entry
    tree = put(folder / ".git", "tree", times * len(block), (block for _ in range(times)))
    person = f"Ada <ada@b.c> {COMMITTED.timestamp():.0f} +0000"
    commit = f"tree {tree}\nauthor {person}\ncommitter {person}\n\nx\n".encode()
    (folder / ".git" / "refs").mkdir()
    (folder / ".git" / "HEAD").write_text(put(folder / ".git", "commit", len(commit), iter([commit])))
    return folder


def test_a_repository_that_unpacks_to_more_than_its_memory_is_not_read(tmp_path, monkeypatch):
    assert git_times.commit_time(repository(tmp_path / "small", 0), f"{LAB}.ipynb") == COMMITTED
    monkeypatch.setattr(git_times, "MEMORY", 64 << 20)
    bomb = repository(tmp_path / "bomb", 100)
    assert sum(file.stat().st_size for file in bomb.rglob("*") if file.is_file()) < 1 << 20
    with pytest.raises(git_times.OverLimits, match="within 10 s and 64 MB"):
        git_times.commit_time(bomb, f"{LAB}.ipynb")


def test_git_that_does_not_end_is_stopped_and_said(tmp_path, monkeypatch):
    clones = tmp_path / "dl"
    for who in ("lab-ada", "lab-bo"):
        repository(clones / who, 0)
        (clones / who / f"{LAB}.ipynb").write_text(who)
    start = subprocess.run

    def endless(command: list[str], **options: object) -> object:
        slow = "rev-list" in command and "lab-bo" in options["env"]["GIT_OBJECT_DIRECTORY"]
        return start(
            ["sleep", "60"] if slow else command, **{**options, **({"timeout": 0.1} if slow else {})}
        )

    monkeypatch.setattr(subprocess, "run", endless)
    done = collect(clones, tmp_path / "submitted", LAB)
    assert done.students == ("ada", "bo") and done.without_time == ("bo",)
    assert any(note.startswith("bo: git could not read the last commit within 10 s") for note in done.notes)
