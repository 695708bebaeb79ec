"""The state that a running service's handlers share: journal, queue, graders and rooms."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import shutil
import tempfile
import threading
import time
from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from autograder.course.masters import course_root, use_root
from autograder.course.policy_file import class_list, limits_of
from autograder.course.student_files import refuse_world_readable, write_kit
from autograder.errors import GradingError, UserError
from autograder.files import folder_name, lasting_secret, write_atomically
from autograder.grading.task import Assignment
from autograder.run.preflight import check_lab
from autograder.serve import rules
from autograder.serve.fair_queue import FairQueue
from autograder.serve.graders import Graders
from autograder.serve.journal import Attempt, Journal

if TYPE_CHECKING:
    from autograder.systems.lti import Lti

log = logging.getLogger(__name__)

#: Seconds between two checks whether a verdict is there.
LOOK_EVERY = 0.1


@dataclass(frozen=True)
class Options:
    """The options with which the service was started. ``url`` is its public address, including the path behind a hub."""

    labs: tuple[str, ...]
    out: Path
    url: str
    jobs: int
    #: Whether a JupyterHub identifies people.
    hub: bool = False

    @property
    def live(self) -> Path:
        """The folder of the journal."""
        return self.out / "live"

    @property
    def base(self) -> str:
        """The prefix of all paths, ending with a slash."""
        return urlsplit(self.url).path.rstrip("/") + "/"

    @property
    def is_local(self) -> bool:
        """Whether the address is this machine's own name for itself."""
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")

    @property
    def hosts(self) -> set[str]:
        """The host names, with a port if necessary, that browsers send."""
        host = urlsplit(self.url).netloc.lower()
        host = host.removesuffix(":443" if self.secure else ":80")  # browsers leave out the default port
        names = ("localhost", "127.0.0.1", "[::1]") if self.is_local else ()
        return {host, *(re.sub(r"\[.*\]|[^:]+", name, host, count=1) for name in names)}

    @property
    def secure(self) -> bool:
        """Whether browsers use HTTPS."""
        return urlsplit(self.url).scheme == "https"


class Service:
    """The state of a running service. Call ``start`` inside an event loop, and ``close`` at the end."""

    def __init__(self, options: Options):
        self.options = options
        use_root(course_root())
        refuse_world_readable(options.out)
        rules.check_policy(options.labs)
        for lab in options.labs:
            check_lab(lab)
        self.journal = Journal(options.live)
        for unfinished in self.journal.incoming.iterdir():
            unfinished.unlink()
        self.secret = lasting_secret(options.live / ".cookie-secret", lambda: secrets.token_hex(32))
        #: The learning system that the class is in.
        self.part: Lti | None = None
        self.queue = FairQueue(options.jobs)
        self._kits = Path(tempfile.mkdtemp(prefix="coursekit-"))
        assignments = {lab: self._assignment(lab) for lab in options.labs}
        self.graders = Graders(self.journal, self.queue, assignments, self._on_verdict)
        #: Threads that wait for the disk, outside the event loop; several, so that waits on a slow disk overlap.
        self.disk = ThreadPoolExecutor(4, "disk")
        #: The lab whose class is being graded ("" for none).
        self.grading = ""
        self._times: dict[tuple[str, str], deque[float]] = defaultdict(deque)
        self._laying_out = threading.Lock()

    def _assignment(self, lab: str) -> Assignment:
        kit = self._kits / lab / "coursekit"
        write_kit(lab, kit)
        return Assignment.of(lab, limits_of(lab), kit, (self.options.out,))

    def start(self) -> None:
        """Begin with what the last run left undone. ``graders.start`` grades."""
        for lab in self.options.labs:  # a killed service may have stored a verdict without laying it out
            self.lay_out_class(lab)
        for attempt in self.journal.open():
            if attempt.lab in self.options.labs:
                self.queue.put(attempt)
        if self.part is not None:
            self.part.start()

    def close(self) -> None:
        """End. Waiting attempts are graded at the next start."""
        self.graders.stop()
        if self.part is not None:
            self.part.close()
        self.disk.shutdown()
        self.journal.close()
        shutil.rmtree(self._kits, ignore_errors=True)

    def is_below_rate(self, what: str, name: str, most: int) -> bool:
        """Note that a person did ``what``. Returns whether they did it less than ``most`` times in the last minute before."""
        times, now = self._times[what, name], time.monotonic()
        while times and now - times[0] >= 60:
            times.popleft()
        if len(times) < most:
            times.append(now)
            return True
        return False

    def student_of(self, login: str) -> str:
        """The student's folder for a hub's login, from the class list; a login that is not on the list is its own folder.

        Raises ``UserError`` for a login that cannot be a folder's name, or that later steps would mistake for a person on the list.
        """
        people = class_list()
        person = people.of_login(login)
        if person is None and (other := people.of_folder(login)) is not None:
            log.warning("the login %r is nobody's user name, and resembles %s: refused", login, other.student)
            raise UserError(
                "Your name on this hub is not the user name that the class list has for anybody, but resembles somebody there: "
                "tell your teacher"
            )
        student = person.student if person is not None else login
        if folder_name(student) != student:
            raise UserError("Your name on this hub cannot be the name of a folder: tell your teacher")
        return student

    async def receive(self, lab: str, student: str, file: Path) -> tuple[Attempt, bool]:
        """Accept an uploaded notebook and queue it for grading. Raises ``rules.Refused``."""
        allowed = partial(rules.may_hand_in, lab, student, self.queue)
        attempt, new = await asyncio.get_running_loop().run_in_executor(
            self.disk, self.journal.receive, lab, student, file, allowed
        )
        if new:
            self.queue.put(attempt)
        return attempt, new

    async def wait_for_verdict(self, attempt: Attempt, seconds: float) -> Attempt:
        """Wait for an attempt's verdict, at most ``seconds``. Returns the attempt."""
        until, seen = time.monotonic() + seconds, -1
        while attempt.graded is None and time.monotonic() < until:
            await asyncio.sleep(LOOK_EVERY)
            if self.journal.version != seen:
                seen = self.journal.version
                attempt = self.journal.of_receipt(attempt.receipt) or attempt
        return attempt

    def _on_verdict(self, attempt: Attempt) -> None:
        """Called by a grader's thread, which tries again after an error: lay out the attempt that counts now."""
        self.lay_out(attempt.lab, attempt.student)
        if self.part is not None:
            self.part.changed(attempt.lab, attempt.student)

    @property
    def trouble(self) -> str:
        """A sentence about a problem that the team must solve; "" if all is well."""
        return self.graders.trouble or (self.part.trouble if self.part is not None else "")

    def lay_out_class(self, lab: str) -> None:
        """Copy everybody's attempt that counts. See ``lay_out``."""
        for student in {attempt.student for attempt in self.journal.attempts(lab)}:
            self.lay_out(lab, student)

    def lay_out(self, lab: str, student: str) -> None:
        """Copy the attempt that counts to the folder that ``autograder grade`` reads. Raises ``GradingError``."""
        folder = self.options.out / "submitted" / folder_name(student) / lab
        try:
            with self._laying_out:
                attempt = rules.counting(lab, self.journal.attempts(lab, student))
                if attempt is not None:
                    notebook = self.journal.notebook(lab, attempt.receipt).read_bytes()
                    write_atomically(folder / f"{lab}.ipynb", notebook)
                    write_atomically(folder / "timestamp.txt", attempt.received_at + "\n")
        except (GradingError, OSError) as error:
            raise GradingError(f"What {student} handed in cannot be laid out for grading: {error}") from error
