"""Where root's files are closed to other users (umask 077, as on hardened servers), honest work gets its points all the same."""

import os
import subprocess
import sys

import pytest

from autograder.sandbox.host.session import SandboxUnavailable, Zygote
from autograder.sandbox.jail import namespaces, visible

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or namespaces.probe() is not None,
    reason="the sandbox is another user only where root grades, on Linux",
)
SOURCE = """
import os
from coursekit.inner.part import here
print(here, open("data/set/names.txt").read(), open(os.path.expanduser("~/lab/data/set/names.txt")).read())
import json, wave, sqlite3
open("mine", "w").write("x")
"""


@pytest.fixture
def closed(tmp_path, monkeypatch):
    """A kit and data that nobody else may read, and a process that makes all its files so."""
    for name, text in (("coursekit/__init__.py", ""), ("coursekit/inner/__init__.py", ""), ("coursekit/inner/part.py", "here = 1"),
                       ("data/set/names.txt", "emma")):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    before = os.umask(0o077)
    yield tmp_path
    os.umask(before)


PROGRAM = """
import sys
from pathlib import Path
from autograder.sandbox.host.session import Zygote
home, source, least = Path(sys.argv[1]), *sys.argv[2:]
with Zygote(home / "coursekit", [home / "data/set"], modules=(), least=least) as zygote, zygote.session() as session:
    [outcome] = session.run_cells([("cell", source)])
    print(outcome.error or "fine")
"""


@needs_root
@pytest.mark.parametrize(
    ("least", "place"),
    [("namespaces", ()), ("reduced", ("-m", "tests.fixtures.plain_container", "--", sys.executable))],
)
def test_kit_and_data_that_only_root_may_read_are_there_in_the_sandbox_with_namespaces_and_without(
    closed, least, place
):
    words = [sys.executable, *place, "-c", PROGRAM, str(closed), SOURCE, least]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout == "fine\n", done.stdout + done.stderr


@needs_root
def test_what_submissions_cannot_read_stops_grading_in_a_sentence(closed, monkeypatch):
    monkeypatch.setattr(visible, "open_to_all", lambda path: True)
    zygote = Zygote(closed / "coursekit", [closed / "data/set"], modules=())
    with pytest.raises(SandboxUnavailable, match=r"`chmod -R a\+rX /course/coursekit` lets them"):
        zygote.wait_ready()


@needs_root
@pytest.mark.parametrize(("shut", "told"), [("lib/packages/closed", "lib/packages"), ("lib", "lib")])
def test_packages_that_others_may_not_read_are_found_by_the_folder_that_is_to_be_opened(
    shut, told, tmp_path, monkeypatch
):
    for name in ("open", "closed", "hidden", "__pycache__"):
        (tmp_path / "lib/packages" / name).mkdir(parents=True)
    for name in ("hidden", "__pycache__"):
        (tmp_path / "lib/packages" / name).chmod(0o700)
    (tmp_path / shut).chmod(0o700)
    monkeypatch.setattr(visible.sysconfig, "get_path", lambda kind: str(tmp_path / "lib/packages"))
    for path in (tmp_path, *tmp_path.parents[:-2]):
        path.chmod(0o755)
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setresuid(1234, 1234, 1234)
        os.write(writer, str(visible.unreadable_packages([str(tmp_path / "lib/packages/hidden")])).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        assert answer.read() == str(tmp_path / told)
