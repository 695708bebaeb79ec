"""The images' steps without Docker: what their Dockerfiles copy and run makes a machine that grades, and one for a student.

The steps run as they stand, on a machine of its own (``tests/fixtures/machine.py``). One thing is shortened: the packages of
the tests' own environment count as installed there, so that pip downloads none of them a second time; which packages an
image needs is what pip then checks. The images' system is this machine's, so that a missing Debian package is not noticed.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path

import pytest
from dockerfile_parse import DockerfileParser

from autograder.course.masters import course_root, lab_name
from autograder.course.policy_file import spec
from autograder.course.student_files import copy_files, files_below
from tests.fixtures.frozen_course import WRONG, hand_in
from tests.fixtures.machine import Machine

pytestmark = pytest.mark.xdist_group("images")

ROOT = course_root()
IMAGES = {name: ROOT / "docker" / f"{name}.Dockerfile" for name in ("grading", "hub")}
LAB = lab_name("01")


def instructions(image: str) -> list[tuple[str, str]]:
    """(instruction, value) in order, comments left out."""
    parser = DockerfileParser(path=str(IMAGES[image]), cache_content=True)
    return [(one["instruction"], one["value"]) for one in parser.structure if one["instruction"] != "COMMENT"]


class Image:
    """An image as it is built up: its folder, its environment, and a machine on which its steps run."""

    def __init__(self, machine: Machine):
        self.machine, self.folder = machine, "/"
        # python:3.11-slim's own Python is here one of the machine's disk
        machine.sh(
            f"{shlex.quote(sys.executable)} -m venv --without-pip /srv/python && cd /srv/python/lib/python3.*/site-packages && "
            f"echo {shlex.quote(sysconfig.get_path('purelib'))} > already_there.pth && cd /srv/python/bin && "
            "printf '#!/bin/sh\\nexec python -m pip \"$@\"\\n' > pip && "
            "printf '#!/bin/sh\\nshift; exec python -m jupyterlab.labextensions \"$@\"\\n' > jupyter && "
            "chmod 755 pip jupyter"
        )
        self.environment = {"PATH": "/srv/python/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        kept = "PIP_FIND_LINKS PIP_CERT PIP_DEFAULT_TIMEOUT HTTPS_PROXY https_proxy OMP_NUM_THREADS"
        self.environment |= {name: os.environ[name] for name in kept.split() if name in os.environ}
        self.starts: dict[str, list[str]] = {}

    def sh(self, script: str, **more: str) -> str:
        """A script as root in the image's present folder."""
        return self.machine.sh(f"cd {self.folder}\n{script}", **{**self.environment, **more})

    def run(self, *words: str, **more: str) -> str:
        """A container with these words in place of the image's command."""
        return self.sh(shlex.join([*self.starts["ENTRYPOINT"], *words]), **more)

    def build(self, image: str) -> None:
        for kind, value in instructions(image):
            match kind:
                case "FROM":
                    assert value == "python:3.11-slim", "the system that this test stands in for"
                case "ARG" | "ENV":
                    for word in shlex.split(value):
                        name, _, said = word.partition("=")
                        self.environment.setdefault(name, said)
                case "WORKDIR":
                    self.folder = value
                    self.machine.sh(f"mkdir -p {value}")
                case "COPY":
                    *sources, target = value.split()
                    for source in sources:
                        self.copy(source, target)
                case "RUN":
                    self.sh(value)
                case "ENTRYPOINT" | "CMD":
                    self.starts[kind] = json.loads(value)
                case _:
                    raise AssertionError(f"{kind}: this test does not know the instruction")

    def copy(self, source: str, target: str) -> None:
        """As COPY does it: a file into the folder ``target/``, a folder's content into ``target``."""
        disk = self.machine.folder / self.folder.lstrip("/")
        if (ROOT / source).is_file():
            assert target == "./"
            shutil.copy(ROOT / source, disk)
        else:
            copy_files(files_below(ROOT / source), ROOT / source, disk / target)


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Image]:
    # the fixture of a plain container lies in the checkout; nothing else of it may be of use to an image
    places = [(ROOT / name, f"/srv/checkout/{name}") for name in ("tests", "autograder")]
    with closing(Machine(tmp_path, places)) as machine:
        yield Image(machine)


def test_an_image_takes_only_what_dockerignore_lets_in_and_a_students_nothing_of_the_course() -> None:
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert lines[0] == "*", "what is not named stays out"
    let_in = {line[1:] for line in lines if line.startswith("!")}
    grading, hub = (
        [word for kind, value in instructions(image) if kind == "COPY" for word in value.split()[:-1]]
        for image in IMAGES
    )
    assert {source.split("/")[0] for source in (*grading, *hub)} <= let_in
    for secret in (".course-salt", "course.toml", "submitted", "graded", ".git", "extensions.csv"):
        assert not any(fnmatch(secret, pattern) for pattern in let_in), secret
    assert all((ROOT / source).is_file() for source in hub)
    assert not any("solutions" in source or "questions" in source for source in hub)


def test_the_grading_image_grades_a_class_and_names_how_it_is_isolated(image: Image) -> None:
    image.build("grading")
    klass = image.machine.folder / "srv" / "class"
    hand_in(klass / "submitted", "ada", {}, LAB)
    hand_in(klass / "submitted", "bo", WRONG, LAB)
    (klass / "submitted" / "cleo" / LAB).mkdir(parents=True)
    # what Docker's defaults refuse is refused; the tests' package is there for that fixture alone
    around = "env PYTHONPATH=/srv/checkout python -m tests.fixtures.plain_container -- env -u PYTHONPATH"
    image.starts["ENTRYPOINT"] = [*around.split(), *image.starts["ENTRYPOINT"]]
    words = ("grade", LAB, "--submitted", "submitted", "--out", ".", "--jobs", "1")
    with pytest.raises(AssertionError, match="There is no course file"):
        image.run(*words)  # the class is not mounted
    (klass / "course.toml").write_text("")
    said = image.run(*words)
    rows = {row["student"]: row for row in json.loads((klass / "results.json").read_text())}
    most = spec(LAB).max_score
    assert rows["ada"]["score"] == most and 0 < rows["bo"]["score"] < most, said
    assert rows["cleo"]["status"] == "missing"
    everything = "reduced (Landlock, own user id, system call filter, limits)"
    assert {rows[name]["isolation"] for name in ("ada", "bo")} == {everything}, said
    assert (klass / ".course-salt").is_file(), "the next container draws the same inputs"
    assert not (image.machine.folder / "srv" / "course" / ".course-salt").exists()
    closed = image.sh("runuser -u nobody -- ls /srv/course/autograder/questions 2>&1 || true")
    assert "Permission denied" in closed


#: It rests on ``hub.Dockerfile`` and what that copies alone, which nothing else in the course reads; a hub's day is a journey.
@pytest.mark.proof
def test_the_hubs_image_starts_as_a_student_for_good(image: Image) -> None:
    image.build("hub")
    assert image.starts["CMD"] == ["jupyterhub-singleuser"]
    look = "import getpass, os, nbgrader, jupyterlab, numpy, torch; print(getpass.getuser(), os.getuid(), os.getgroups(), os.getcwd())"
    who = {"JUPYTERHUB_USER": "ada", "NB_UID": "20001"}
    assert image.run("python", "-c", look, **who) == "ada 20001 [] /home/student\n"
    kept = "import jupyterhub.singleuser; print(open('/proc/self/status').read()); open('/home/student/mine', 'w')"
    again = image.run("python", "-c", kept, **who)  # the container started again
    assert "NoNewPrivs:\t1" in again and "CapEff:\t0000000000000000" in again
    for missing in ({"NB_UID": "20001"}, {"JUPYTERHUB_USER": "bo"}, {"JUPYTERHUB_USER": "bo", "NB_UID": "0"}):
        with pytest.raises(AssertionError):
            image.run("id", **missing)


INSTALL = ROOT / "autograder" / "exports" / "gradescope_bundle" / "install_torch.sh"
#: Stand-ins for the programs, which say what they were asked.
PROGRAMS = {
    "python": '[ "$1" = -c ] && exit 1\necho "python $* in $PYTHONPATH" >> said\nexit $REACHED',
    "pip": '[ "$1" = index ] && echo "Available versions: $VERSIONS" && exit\necho "pip $* at $PIP_EXTRA_INDEX_URL" >> said',
}  # fmt: skip
UV, PIPS = "-m uv pip install --torch-backend cpu torch==9.1", "install torch==9.1"


@pytest.mark.parametrize(
    ("versions", "reached", "wanted"),
    [
        ("9.1+cpu, 9.1, 9.0", "0", [PIPS]),
        ("9.1, 9.0", "0", ["--target", UV, PIPS]),
        ("19.1+cpu, 9.1", "1", ["--target", UV, PIPS]),
    ],
)
def test_a_build_beside_pytorchs_plain_one_comes_before_it(tmp_path, versions, reached, wanted):
    (tmp_path / "list").write_text("--extra-index-url https://mirror.example/cpu\nnumpy==2.0\ntorch==9.1\n")
    for name, script in PROGRAMS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    told = {"PATH": os.environ["PATH"], "VERSIONS": versions, "REACHED": reached}
    words = ["sh", str(INSTALL), "list", "./python", "./pip"]
    done = subprocess.run(words, cwd=tmp_path, env=told, capture_output=True, text=True, check=True)
    lines = (tmp_path / "said").read_text().splitlines()
    assert [part in line for part, line in zip(wanted, lines, strict=True)] == [True] * len(wanted), lines
    assert lines[-1].endswith("at https://mirror.example/cpu")
    assert ("could not be reached" in done.stderr) == (reached == "1")
