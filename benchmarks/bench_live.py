"""A class hands in to the live class within one minute: how long until receipt and verdict, at what cost, and is anything lost.

``--kills 50`` ends the service or one of its workers with kill -9 at so many random moments meanwhile; who gets no answer sends
again, as a student would. ``--attempts 25 --seconds 3600`` is an hour of 5,000, and says whether memory stays flat. Prints a table and
writes ``build/bench/live.json``; exit status 1 when anything is lost or twice.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from autograder.audit.simulate import simulate
from autograder.course.masters import lab_name
from autograder.sandbox.host.transport import _process_tree
from autograder.serve.journal import Journal

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a script
from benchmarks.bench_scale import memory_of  # noqa: E402
from tests.fixtures.live_class import Served  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
console = Console()


@dataclass
class HandedIn:
    """What one student saw, in seconds since their first try."""

    student: str
    receipt: str = ""
    received: float = 0.0
    verdict: float = 0.0
    tries: int = 0


class Server(Served):
    """``autograder serve`` as a process, started again after each kill."""

    def wait_warm(self) -> None:
        """Wait until it says that it is ready."""
        log = self.out.parent / "served.log"
        while "✓" not in log.read_text(encoding="utf-8"):
            assert self.process is not None
            if self.process.poll() is not None:
                raise SystemExit(f"the service did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")
            time.sleep(0.2)

    def cpu_seconds(self) -> float:
        """CPU time of all its processes and of those that have ended."""
        assert self.process is not None
        total = 0
        for pid in _process_tree(self.process.pid):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                total += sum(map(int, fields[11:15]))
        return total / TICKS

    def kill_something(self, rng: random.Random) -> None:
        """kill -9 for the service or one of its workers."""
        if self.workers() and rng.random() < 0.5:
            self.kill_a_worker()
        else:
            self.kill()
            self.start()


def ask(server: Server, path: str, token: str, body: bytes | None = None) -> tuple[int, dict[str, Any]]:
    """One request; (0, {}) when nobody answers."""
    try:
        answer = server.ask(path, body, token)
        return answer.status, answer.json
    except (OSError, http.client.HTTPException, ValueError):
        return 0, {}


def student(
    server: Server, lab: str, own: list[HandedIn], token: str, notebook: bytes, moments: list[float]
) -> None:
    """A student's time: at each moment hand in, then look until there is a verdict."""
    start = time.perf_counter()
    for number, (who, moment) in enumerate(zip(own, moments, strict=True)):
        time.sleep(max(0.0, moment - (time.perf_counter() - start)))
        began = time.perf_counter()
        while not who.receipt:
            who.tries += 1
            status, card = ask(server, f"/labs/{lab}/hand-in", token, notebook + b" " * number)
            if status in (200, 201):
                who.receipt, who.received = card["receipt"], time.perf_counter() - began
            else:
                time.sleep(0.5)
        while not who.verdict:
            status, card = ask(server, f"/receipts/{who.receipt}?wait=20", token)
            if status == 200 and card["state"] == "graded":
                who.verdict = time.perf_counter() - began
            elif status != 200:
                time.sleep(0.5)


def run(
    lab: str, students: int, attempts_each: int, seconds: float, kills: int, jobs: int, seed: int
) -> dict[str, Any]:
    """One class; what came of it."""
    with tempfile.TemporaryDirectory(prefix="bench-live-") as name:
        folder = Path(name)
        simulate(lab, students, folder / "class", seed, hostile=False)
        notebooks = {
            path.parent.parent.name: path.read_bytes()
            for path in (folder / "class").glob(f"*/{lab}/{lab}.ipynb")
        }
        server = Server(ROOT, folder / "out", lab, jobs)
        tokens = server.invite(*notebooks)
        server.start()
        server.wait_warm()
        assert server.process is not None
        rng, before = random.Random(seed), server.cpu_seconds()
        memory = [memory_of(server.process.pid)]
        by_student = {who: [HandedIn(who) for _ in range(attempts_each)] for who in notebooks}
        seen = [one for own in by_student.values() for one in own]
        threads = [
            threading.Thread(
                target=student,
                args=(
                    server,
                    lab,
                    own,
                    tokens[who],
                    notebooks[who],
                    sorted(rng.uniform(0, seconds) for _ in own),
                ),
                daemon=True,
            )
            for who, own in by_student.items()
        ]
        moments = sorted(rng.uniform(0, seconds) for _ in range(kills))
        began = time.perf_counter()
        with Progress(console=console, transient=True) as progress:
            bar = progress.add_task(f"{students} hand in", total=len(seen))
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                time.sleep(0.2)
                if moments and time.perf_counter() - began > moments[0]:
                    moments.pop(0)
                    server.kill_something(rng)
                if not kills:
                    memory.append(memory_of(server.process.pid))
                progress.update(bar, completed=sum(who.verdict > 0 for who in seen))
        wall, cpu = time.perf_counter() - began, server.cpu_seconds() - before
        server.stop()
        journal = Journal(folder / "out" / "live")
        attempts = journal.attempts(lab)
        journal.close()
        laid_out = {path.parent.parent.name for path in (folder / "out" / "submitted").glob("*/*/*.ipynb")}
    return {
        "lab": lab, "students": len(by_student), "handed_in": len(seen), "seconds": seconds, "jobs": jobs, "kills": kills - len(moments),
        "receipt": _quantiles([who.received for who in seen]), "verdict": _quantiles([who.verdict for who in seen]),
        "wall": wall, "cpu": None if kills else cpu, "attempts_each": attempts_each,
        "memory": [round(max(part) / 2**20) for part in _tenths(memory)],
        "lost": sorted({who.receipt for who in seen} - {a.receipt for a in attempts if a.graded is not None}),
        "twice": len(attempts) - len({(a.student, a.digest) for a in attempts}),
        "faults": sum(a.fault for a in attempts),
        "not_laid_out": sorted({who.student for who in seen} - laid_out),
        "sent_again": sum(who.tries - 1 for who in seen), "load": os.getloadavg()[0],
    }  # fmt: skip


def _tenths(values: list[int]) -> list[list[int]]:
    """The values in ten parts, as they came."""
    size = max(1, -(-len(values) // 10))
    return [values[start : start + size] for start in range(0, len(values), size)]


def _quantiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50": cuts[49], "p95": cuts[94], "most": max(values)}


def main() -> int:
    """Run it, show it, keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lab", default="07")
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--attempts", type=int, default=1, help="that each student hands in")
    parser.add_argument("--seconds", type=float, default=60.0, help="in which they all hand in")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = run(
        lab_name(asked.lab),
        asked.students,
        asked.attempts,
        asked.seconds,
        asked.kills,
        asked.jobs,
        asked.seed,
    )
    title = f"{found['handed_in']} notebooks of {found['lab']} within {asked.seconds:.0f} s"
    table = Table("", "p50", "p95", "most", title=title)
    for what in ("receipt", "verdict"):
        table.add_row(what, *(f"{found[what][name]:.2f} s" for name in ("p50", "p95", "most")))
    console.print(table)
    if found["cpu"] is not None:
        console.print(
            f"{found['cpu']:.1f} CPU-seconds, {found['cpu'] / found['handed_in']:.3f} for each; load {found['load']:.1f}; "
            f"most memory in each tenth of the time, in MB: {', '.join(map(str, found['memory']))}"
        )
    console.print(
        f"{found['kills']} kills, {found['sent_again']} sent again; lost {len(found['lost'])}, twice {found['twice']}, "
        f"not laid out {len(found['not_laid_out'])}, grader's own failures {found['faults']}"
    )
    target = ROOT / "build" / "bench" / ("live_kills.json" if asked.kills else "live.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(found, indent=2) + "\n")
    return 1 if found["lost"] or found["twice"] or found["not_laid_out"] or found["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
