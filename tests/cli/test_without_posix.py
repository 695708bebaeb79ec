"""What needs no sandbox runs where Python lacks what only Unix has: labs are built and collected on Windows too."""

import os
import shutil
from pathlib import Path

from autograder.course.masters import course_root
from tests.fixtures.frozen_course import LAB, command, unhurried

#: Read by every Python that is started with its folder on PYTHONPATH, kernels too.
HIDE = """\
import os, sys
for module in ("fcntl", "resource"):
    sys.modules[module] = None
del os.fork, os.sched_getaffinity
"""


def test_a_lab_is_checked_and_released_and_a_class_is_collected_and_exported(frozen: Path, graded, tmp_path):
    root = unhurried(shutil.copytree(frozen, tmp_path / "windows"))
    shutil.copytree(course_root() / "notebooks" / LAB, root / "notebooks" / LAB)
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(course_root() / name, root)
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "sitecustomize.py").write_text(HIDE)
    path = os.pathsep.join(map(str, (tmp_path / "hidden", root, root / "notebooks")))

    def run(*words: object) -> str:
        done = command(*words, root=root, PYTHONPATH=path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert f"✓ {LAB}" in run("build", "--check", "01")
    run("release", "01", "--out", tmp_path / "bundle")
    assert (tmp_path / "bundle" / LAB / f"{LAB}.ipynb").is_file()
    assert "2 submissions" in run(
        "collect", graded / "submitted", "01", "--submitted", tmp_path / "submitted"
    )
    (graded / "out" / ".lock").unlink()  # Unix's; Windows has a lock of its own in its place
    run("export", "canvas", "01", "--out", graded / "out", "--to", tmp_path / "exports")
    assert "ada" in (tmp_path / "exports" / f"canvas-{LAB}.csv").read_text(encoding="utf-8")
