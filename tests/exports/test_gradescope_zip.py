"""Gradescope's zip, with the real harness and a real lab, in a bare folder and in a plain container."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.course.build import released_notebook
from autograder.course.masters import read_master
from autograder.course.policy_file import spec, use
from autograder.exports import export
from autograder.sandbox.jail import landlock, namespaces

LAB = "00_warm_up"
#: A course with another lab, a class list and students with more time: nothing of that is in the container.
POLICY = """
name = "Ours"
roster = "class.csv"
[extensions]
ada = 3
[labs.03]
due = 2026-10-15
[labs.00]
due = 2026-10-08
points = { one_hot = 7 }
forbid.one_hot = ["numpy.eye"]
[labs.00.extensions]
bo = 2
[labs.00.late]
percent_per_day = 20
"""
#: Whether a container that forbids namespaces can be made here: that needs Linux and root.
CONTAINED = hasattr(os, "geteuid") and os.geteuid() == 0 and namespaces.probe() is None


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare folder as Gradescope lays it out, the zip of a course elsewhere unpacked into ``source``."""
    root = tmp_path_factory.mktemp("autograder")
    (root / "ours.toml").write_text(POLICY)
    (root / "class.csv").write_text("student,name\nada,Ada\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_FILE", str(root / "ours.toml"))
        use(None)
        made = export("gradescope-zip", [], spec(LAB), root)
    use(None)
    with zipfile.ZipFile(made.paths[0]) as archive:
        archive.extractall(root / "source")
    assert "give it to nobody" in made.notes[0]
    return root


@pytest.fixture
def root(unpacked: Path, tmp_path: Path) -> Path:
    """A container's folder of one submission, which other users may enter."""
    shutil.copytree(unpacked / "source", tmp_path / "autograder" / "source")
    (tmp_path / "autograder" / "submission").mkdir()
    for folder in (tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    return tmp_path / "autograder"


def run_bundle(root: Path, container: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Start the zip's own script in its bare folder, far from the repository."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "OMP_NUM_THREADS")}
    return subprocess.run(
        [*container, "bash", str(root / "source/run_autograder")],
        cwd=root if not container else None,
        env=kept | {"GRADESCOPE_ROOT": str(root), "COURSE_PYTHON": sys.executable, "HOME": str(root)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def hand_in(root: Path, name: str = "my work.ipynb", added: str = "") -> None:
    """A solved notebook, with a cell of its own at the end."""
    solutions = {cell["id"]: cell.source for cell in read_master(LAB).cells}
    notebook = released_notebook(LAB)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code":
            cell.source = solutions[cell["id"]]
    notebook.cells.append(nbformat.v4.new_code_cell(added))
    nbformat.write(notebook, root / "submission" / name)


def result(root: Path, done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((root / "results/results.json").read_text(encoding="utf-8"))


def test_the_zip_holds_its_lab_with_its_policy_no_later_one_and_no_student(unpacked: Path) -> None:
    files = {path.relative_to(unpacked / "source").as_posix() for path in (unpacked / "source").rglob("*.*")}
    assert {"setup.sh", "run.py", "requirements.txt", "gradescope.json"} <= files
    assert f"course/autograder/questions/m{LAB}/softmax.py" in files
    assert f"course/solutions/{LAB}/{LAB}.py" in files
    assert "course/autograder/pages/templates/style.css" in files
    assert not any("01_" in file or "__pycache__" in file for file in files)
    text = (unpacked / "source/course/course.json").read_text(encoding="utf-8")
    policy = json.loads(text)
    assert list(policy["labs"]) == [LAB]
    assert policy["labs"][LAB]["points"] == {"one_hot": 7.0}
    assert policy["labs"][LAB]["late"]["percent_per_day"] == 20
    assert policy["labs"][LAB]["due"] == "2026-10-08T23:59:59"
    assert "ada" not in text and '"bo"' not in text and "class.csv" not in text and "salt" not in text


#: What is had where, ``tests/sandbox/test_reduced.py`` shows; the bundle only says it.
@pytest.mark.parametrize("options", [(), pytest.param(("--no-landlock",), marks=pytest.mark.proof)])
def test_a_late_student_with_two_notebooks_is_graded_and_hears_what_was_taken_and_how_it_was_isolated(
    root: Path, options: tuple[str, ...]
) -> None:
    test = root / f"source/course/autograder/questions/m{LAB}/softmax.py"
    hand_in(root, f"{LAB}.ipynb", added=f"open({str(test)!r}).read()")
    (root / "submission" / "a draft.ipynb").write_text("{}")
    # due at the end of 8 October in UTC; this is 22:30 there on the 9th: one day begun
    (root / "submission_metadata.json").write_text('{"created_at": "2026-10-09T18:30:00.000000-04:00"}')
    container = [sys.executable, "-m", "tests.fixtures.plain_container", *options, "--"]
    content = result(root, run_bundle(root, container if CONTAINED else ()))
    parts = "" if options or not landlock.version() else "Landlock, "
    reduced = f"reduced ({parts}own user id, system call filter, limits)"
    isolation = reduced if CONTAINED else "namespaces"
    assert content["extra_data"] == {"lab": LAB, "status": "partly-run", "isolation": isolation}
    assert content["score"] == sum(test["max_score"] for test in content["tests"]) > 0
    assert {test["name"]: test["max_score"] for test in content["tests"]}["one_hot"] == 7
    for words in (
        f"Isolation: {isolation}.",
        "Handed in after 2026-10-08 23:59 UTC, when the lab was due. No points are taken off here",
        f"Handed in 2 notebooks: {LAB}.ipynb, the only one with an answer in it, was taken.",
    ):
        assert words in content["output"]


def test_without_a_notebook_there_are_no_points_and_a_grader_that_cannot_run_writes_no_zero(
    root: Path,
) -> None:
    (root / "submission" / "essay.docx").write_text("words")
    content = result(root, run_bundle(root))
    assert content["score"] == 0 and content["extra_data"]["status"] == "missing"
    assert [test["score"] for test in content["tests"]] == [0] * len(spec(LAB).questions)
    assert f"Handed in no notebook of {LAB}." in content["output"]
    shutil.rmtree(root / "results")
    (root / "source/gradescope.json").write_text(json.dumps({"lab": "99_no_such_lab", "salt": "s"}))
    (root / "submission/99_no_such_lab.ipynb").write_text("{}")
    done = run_bundle(root)
    assert done.returncode != 0 and "no result was written" in done.stderr
    assert not (root / "results/results.json").exists()


def test_setup_works_with_a_python_that_lacks_ensurepip(root: Path, tmp_path: Path) -> None:
    (root / "source/requirements.txt").write_text("# nothing to fetch\n")
    lacking = tmp_path / "lacking"
    lacking.mkdir()
    (lacking / "ensurepip.py").write_text("raise ImportError('left out by the distribution')\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "apt-get").write_text("#!/bin/sh\nexit 1\n")
    (programs / "python3").write_text(f'#!/bin/sh\nPYTHONPATH={lacking} exec {sys.executable} "$@"\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    done = subprocess.run(
        ["bash", str(root / "source/setup.sh")],
        env={"PATH": f"{programs}:{os.environ['PATH']}", "GRADESCOPE_ROOT": str(root), "HOME": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (root / "venv/bin/python").exists()
