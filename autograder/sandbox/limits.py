"""The limits on a submission's time, memory, files, processes and output."""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits on one submission. Seconds are wall-clock time unless the name says otherwise.

    Time spent waiting for a processor on a busy machine is given back (``RemoteTransport``).
    """

    #: One cell of the notebook.
    cell_seconds: float = 60.0
    #: One call of a hidden test, callbacks included.
    call_seconds: float = 20.0
    #: The whole submission: every run of its cells and every call.
    total_seconds: float = 300.0
    #: CPU time of each process.
    cpu_seconds: int = 300
    #: Memory beyond that of the preloaded libraries. RLIMIT_DATA limits each process; the watchdog limits all together.
    memory_bytes: int = 2048 * MEBIBYTE
    #: Processes and threads.
    processes: int = 64
    #: With more processes and threads than these, all but the first get the lowest priority.
    max_unthrottled_tasks: int = 4
    open_files: int = 256
    #: The largest file, and all of /tmp and the working directory together.
    file_bytes: int = 64 * MEBIBYTE
    scratch_bytes: int = 128 * MEBIBYTE
    #: The most text and pictures of one cell's output; the rest is dropped.
    output_bytes: int = 200_000
    picture_bytes: int = 2 * MEBIBYTE
    #: Separate outputs of one cell.
    outputs: int = 100

    def question_seconds(self, questions: int) -> float:
        """The seconds reserved for each of ``questions`` questions, which no cell or other question can spend: a quarter in all."""
        return 0.25 * self.total_seconds / max(1, questions)
