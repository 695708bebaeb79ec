"""Grades a class of 1,000 submissions of lab 07 with one worker, with two, and again with nothing changed.

Prints throughput, peak memory and the growth of memory; writes ``build/bench/scale.json``. Memory is that of the
command and all its descendants, sandboxed processes too. A shared page is divided among the processes that hold
it. ``--students 50`` tries it small.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.table import Table

from autograder.sandbox.host.transport import _process_tree

ROOT = Path(__file__).resolve().parent.parent
#: Seconds between two samples of memory. Reading it takes CPU time from the grader.
INTERVAL = 1.0
MEBIBYTE = 1 << 20
console = Console()


@dataclass(frozen=True)
class Measured:
    """One run of the command: seconds, and the memory of all its processes over time as (seconds, bytes)."""

    seconds: float
    memory: list[tuple[float, int]]

    @property
    def peak(self) -> int:
        """The largest sample."""
        return max((size for _, size in self.memory), default=0)

    def median(self, begin: float, end: float) -> float:
        """The median of the samples taken between two shares of the running time (0 to 1)."""
        part = sorted(size for when, size in self.memory if begin <= when / self.seconds < end)
        return part[len(part) // 2] if part else 0.0

    @property
    def growth(self) -> float:
        """The growth of median memory from the second third of the run to the last, as a share."""
        return self.median(2 / 3, 1) / max(1.0, self.median(1 / 3, 2 / 3)) - 1


def memory_of(root: int) -> int:
    """The bytes of a process and its descendants. A shared page is divided among the processes that hold it."""
    total = 0
    for pid in _process_tree(root):
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:  # it has ended, or it is another user's
            continue
        total += sum(int(size) for size in re.findall(r"^(?:Pss|SwapPss): +(\d+)", rollup, re.MULTILINE))
    return total * 1024


def measure(words: list[str], log: IO[str]) -> Measured:
    """Run ``autograder`` with these arguments and sample its memory."""
    environment = {**os.environ, "COURSE_SALT": "the benchmark's salt", "COURSE_ROOT": str(ROOT)}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder.cli", *words], env=environment, stdout=log, stderr=log
    )
    samples = []
    while True:
        try:
            process.wait(INTERVAL)
            break
        except subprocess.TimeoutExpired:
            samples.append((time.perf_counter() - began, memory_of(process.pid)))
    seconds = time.perf_counter() - began
    if process.returncode:
        log.seek(0)
        raise SystemExit(f"{' '.join(words[:2])} failed:\n{log.read()[-3000:]}")
    return Measured(seconds, samples)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--lab", default="07_self_attention")
    options = parser.parse_args()
    data: dict[str, object] = {
        "students": options.students, "lab": options.lab, "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(), "processor": platform.machine(),
    }  # fmt: skip
    table = Table(title=f"{options.students} submissions of {options.lab}, {data['cores']} cores")
    headings = ("what", "seconds", "a second", "a submission", "peak memory", "growth")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "what" else "right")
    with tempfile.TemporaryDirectory() as name, open(f"{name}/log", "w+") as log:
        folder = Path(name)
        submitted = str(folder / "submitted")
        words = ["simulate", options.lab, "--no-hostile", "--students", str(options.students)]
        measure([*words, "--out", submitted], log)
        runs = {}
        for what, out, jobs in (
            ("one worker", "one", 1), ("two workers", "two", 2), ("nothing changed", "two", 2),
        ):  # fmt: skip
            grade = ["grade", options.lab, "--submitted", submitted, "--out", str(folder / out)]
            done = runs[what] = measure([*grade, "--jobs", str(jobs)], log)
            n = options.students
            table.add_row(
                what, f"{done.seconds:.1f}", f"{n / done.seconds:.1f}", f"{done.seconds / n:.3f}",
                f"{done.peak / MEBIBYTE:,.0f} MB", f"{done.growth:+.1%}" if len(done.memory) >= 9 else "–",
            )  # fmt: skip
        scores = [
            {row["student"]: row["score"] for row in json.loads((folder / out / "results.json").read_text())}
            for out in ("one", "two")
        ]
    console.print(table)
    console.print("growth: memory in the last third of the run against the second third")
    console.print(
        f"scores that differ between one worker and two: {sum(scores[0][s] != scores[1][s] for s in scores[0])}"
    )
    data["runs"] = {
        what: {**asdict(done), "peak": done.peak, "growth": done.growth} for what, done in runs.items()
    }
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "scale.json").write_text(json.dumps(data, indent=2))


if __name__ == "__main__":
    main()
