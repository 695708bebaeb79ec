"""Fetches GitHub Classroom's repositories with ``git``. The roster names the students; the last commit gives the time."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import PurePosixPath

from autograder.collect.names import may_contain_notebook
from autograder.course.lists import folded, read_list, sentences_about
from autograder.course.policy_file import course_file
from autograder.errors import UserError
from autograder.grading.submissions import MAX_BYTES
from autograder.systems.exchange import Attempt, File, Person, Refused, System

#: The most bytes of a packed repository, and of git's memory for fetching it.
LARGEST, MEMORY = 128 << 20, 1 << 30
#: The most bytes of a list of names, and of git's memory otherwise: a student's object may unpack to any size.
_LISTED, _SMALL = 4 << 20, 256 << 20
#: CPU seconds of one git command.
SECONDS = 10


class GitHub(System):
    """The repositories ``<organization>/<assignment>-<login>`` of the people on the roster. Grades are not sent to them."""

    name = "GitHub"

    def __init__(self, lab: str, state: str = "") -> None:
        super().__init__(lab, state)
        self.title = str(self._wanted)
        self.key = f"{self._site}/{self.title}"
        self._roster = read_list(course_file().parent / self._policy.roster)
        self._roster.require_column("github", "each student's account")
        self._folder = tempfile.TemporaryDirectory(prefix="autograder-")
        self._git("init", "--quiet", "--bare")

    def people(self) -> tuple[list[Person], list[str]]:
        """The people on the roster who have an account, with the content of their default branch.

        Its time is that of the last commit that changed a notebook.
        """
        people, lost, without = list[Person](), list[str](), list[str]()
        for row in self._roster.rows:
            student, login = (self._roster.value(row, role) for role in ("participant", "github"))
            if not login:
                without.append(student)
                continue
            user = int.from_bytes(hashlib.sha256(folded(login).encode()).digest()[:6])
            ids, attempt = tuple(filter(None, (student, login))), None
            try:
                attempt = self._newest(f"{self.key}-{login}", f"refs/heads/{user}")
            except (OSError, ValueError, OverflowError, subprocess.SubprocessError):
                lost.append(ids[0])
            people.append(Person(user, ids, attempt))
        if people and len(lost) == len(people):
            raise UserError(
                f"Git can read no repository such as {self.key}-{people[0].ids[-1]}: "
                "try `git ls-remote` with this address in a terminal."
            )
        notes = sentences_about({
            f"No repository that git can read, or one beyond {LARGEST >> 20} MB": lost,
            "On the roster without an account": without,
        })  # fmt: skip
        times = "The times are those of the last commits, which a student can set as they like."
        return people, [times, *notes]

    def read(self, file: File) -> bytes:
        try:
            return self._git("cat-file", "blob", file.address, largest=MAX_BYTES)
        except (OSError, subprocess.SubprocessError):
            raise Refused(f"Git cannot read {file.name}.") from None

    def _newest(self, address: str, branch: str) -> Attempt | None:
        """The content of a repository, if it has a notebook."""
        quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        self._git("fetch", *quiet, address, f"+HEAD:{branch}", largest=LARGEST, memory=MEMORY)
        names = ([f":(glob)**/{self._lab}.ipynb"], [":(icase)*.ipynb", ":(icase)*.zip"])
        times = (self._git("rev-list", "--max-count=1", "--timestamp", branch, "--", *some) for some in names)
        when = next((int(time.split()[0]) for time in times if time), 0)
        if not 0 <= when < 1 << 33:
            raise ValueError(f"no time: {when}")
        files = list[File]()
        for line in self._git("ls-tree", "-r", "-z", "--long", branch).split(b"\0")[:-1]:
            facts, _, path = line.partition(b"\t")
            mode, _, blob, size = facts.decode().split()
            place = PurePosixPath("/", path.decode("utf-8", "replace"))
            if mode in ("100644", "100755") and may_contain_notebook(place.name):
                files.append(File(place.name, int(size), when, blob, f"{place.parent}/"))
        return Attempt(0, when, tuple(files)) if files else None

    def _git(self, *words: str, largest: int = _LISTED, memory: int = _SMALL) -> bytes:
        """Git's output, within limits. The repository is a local one, so no student's configuration, hook or filter runs."""
        if sys.platform == "win32" or shutil.which("git") is None:
            raise UserError("Pulling from GitHub needs git on Linux or macOS: install git there.")
        import resource

        def limit() -> None:
            for what, most in (
                (resource.RLIMIT_AS, memory),
                (resource.RLIMIT_FSIZE, largest),
                (resource.RLIMIT_CPU, SECONDS),
                (resource.RLIMIT_CORE, 0),
            ):
                resource.setrlimit(what, (most, most))

        with tempfile.TemporaryFile() as written:
            subprocess.run(
                ["git", f"--git-dir={self._folder.name}", "-c", "pack.threads=1", "-c", "gc.auto=0", *words],
                env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.DEVNULL,
                timeout=6 * SECONDS,  # a site or a busy machine may be slow
                preexec_fn=limit,
            )
            written.seek(0)
            return written.read()
