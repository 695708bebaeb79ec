"""A folder that a stranger filled is measured and removed, however deep it is and whatever in it is closed."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.jail import folders

#: Deeper than a path may be long, and than Python calls functions.
DEEP = 5_000


def dig(top: Path, depth: int, name: str = "d") -> None:
    """Folders inside each other, the innermost with a megabyte. In a process of its own, whose working folder they become."""
    program = (
        f"import os\nos.chdir({str(top)!r})\nfor _ in range({depth}):\n    os.mkdir({name!r}); os.chdir({name!r})\n"
        "open('deep', 'wb').write(b'x' * 1_000_000)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.fixture
def top(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: removing thousands takes a disk long. Pytest could not remove what is left."""
    memory = Path("/dev/shm")
    top = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else tmp_path))
    yield top
    subprocess.run(["rm", "-rf", str(top)], check=True)


def test_what_lies_below_counts_and_what_is_too_deep_to_be_measured_takes_more_than_any_room(top):
    dig(top, 20)
    (top / "link").symlink_to("/usr")
    room = folders.DiskUsage([str(top)], 1 << 40)
    assert 1_000_000 <= room.taken < 1_500_000 and not room.moved
    dig(top, folders.MAX_DEPTH + 1, "deeper")
    before = len(os.listdir("/proc/self/fd"))
    assert folders.DiskUsage([str(top)], 1 << 40).taken == float("inf")
    assert len(os.listdir("/proc/self/fd")) == before


def test_files_without_number_take_more_than_any_room(top):
    for number in range(folders.MAX_FILES + 1):
        (top / str(number)).touch()
    assert folders.DiskUsage([str(top)], 1 << 40).taken == float("inf")
    one_by_one = folders.owned([str(top)], os.getuid())
    assert folders.DiskUsage(one_by_one, 1 << 40).taken == float("inf")


def test_what_moves_while_it_is_measured_is_noticed(top, monkeypatch):
    (top / "a" / "b").mkdir(parents=True)
    measure = folders.DiskUsage._measure

    def late(usage, name, above, depth):
        if name == "b":
            (top / "a" / "b").rename(top / "c")
        measure(usage, name, above, depth)

    monkeypatch.setattr(folders.DiskUsage, "_measure", late)
    assert folders.DiskUsage([str(top)], 1 << 40).moved


def test_nothing_stays_however_deep_and_long_it_is_but_what_a_link_leads_to(top, tmp_path):
    (tmp_path / "ours").mkdir(mode=0o755)
    (tmp_path / "ours" / "file").touch()
    dig(top, DEEP)
    for number in range(20):
        (top / str(number)).mkdir()
        dig(top / str(number), 100, "x" * 255)
    for place in (top, top / "d"):
        (place / "link").symlink_to(tmp_path / "ours")
    folders.remove(str(top), 60.0)
    assert not os.path.lexists(top)
    assert (tmp_path / "ours" / "file").exists() and (tmp_path / "ours").stat().st_mode & 0o777 == 0o755
