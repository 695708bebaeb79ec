"""The limits on a submission, as data."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits on one submission. Seconds are wall-clock time unless the name says otherwise.

    What a busy machine kept it waiting for a processor is given back (``RemoteTransport``).
    """

    #: One cell of the notebook.
    cell_seconds: float = 60.0
    #: One call of a hidden test, callbacks included.
    call_seconds: float = 20.0
    #: The whole submission: every run of its cells and every call.
    total_seconds: float = 300.0
    #: CPU time of each process.
    cpu_seconds: int = 300
    #: Memory beyond what the preloaded libraries take: of one process by RLIMIT_DATA, of all together by
    #: the watchdog.
    memory_bytes: int = 2048 * MEBIBYTE
    #: Processes and threads.
    processes: int = 64
    #: With more processes and threads than these, all but the first get the lowest priority.
    max_unthrottled_tasks: int = 4
    open_files: int = 256
    #: The largest file, and all of /tmp and the working directory together.
    file_bytes: int = 64 * MEBIBYTE
    scratch_bytes: int = 128 * MEBIBYTE
    #: Text and pictures that one cell may put out; the rest is dropped.
    output_bytes: int = 200_000
    picture_bytes: int = 2 * MEBIBYTE
    #: Separate outputs of one cell.
    outputs: int = 100

    @property
    def cells_seconds(self) -> float:
        """The seconds that all cells of the notebook may take; the rest is kept for the questions."""
        return 0.75 * self.total_seconds

    def question_seconds(self, questions: int) -> float:
        """The seconds of each of so many questions that no cell and no other question can spend."""
        return (self.total_seconds - self.cells_seconds) / max(1, questions)
