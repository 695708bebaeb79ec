"""Grades the same submissions of lab 07 with ``autograder grade`` and with stock ``nbgrader autograde``, in one run.

What is compared is CPU time, all processes together (``cpu_time``): it says what grading costs, also on a busy machine. A
class of one says what comes before the first submission; two sizes of one class what each further submission takes.
``--before FOLDER`` grades the same with another checkout too, in turns. The floor is the CPU time of the students' own
cells and of the hidden tests' calls, run warm in one process with no isolation. Prints a table, compares the scores,
writes ``build/bench/grading.json``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a script
from benchmarks.cpu_time import Used, cpu_time  # noqa: E402

SALT = "the benchmark's salt"
console = Console()


def environment(root: Path = ROOT) -> dict[str, str]:
    """What every command is run with: the tree's own package, and Python's usual cache of compiled files."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    found |= {"COURSE_SALT": SALT, "COURSE_ROOT": str(root), "PYTHONPATH": f"{root}:{root / 'notebooks'}"}
    return found | {"PATH": f"{Path(sys.executable).parent}:{found['PATH']}"}


def command(*words: str, cwd: Path, root: Path = ROOT) -> Used:
    """Run a module of this Python, on the package in ``root``, and say what it took."""
    return cpu_time([sys.executable, "-m", *words], cwd=cwd, environment=environment(root))


def part_of(submitted: Path, count: int, folder: Path) -> Path:
    """A class of the first ``count`` students."""
    part = folder / f"first_{count}"
    for student in sorted(submitted.iterdir())[:count]:
        shutil.copytree(student, part / student.name)
    return part


def ours(lab: str, submitted: Path, folder: Path, root: Path = ROOT) -> tuple[Used, Used, dict[str, float]]:
    """What the class takes, what it takes again with nothing changed, and the scores."""
    out = folder / f"out_{submitted.name}_{root.name}"
    shutil.rmtree(out, ignore_errors=True)
    words = ("autograder.cli", "grade", lab, "--submitted", str(submitted), "--out", str(out))
    first, again = (command(*words, cwd=folder, root=root) for _ in range(2))
    rows = json.loads((out / "results.json").read_text())
    return first, again, {row["student"]: row["score"] for row in rows}


def stock(lab: str, submitted: Path, folder: Path) -> tuple[Used, dict[str, float]]:
    """What ``nbgrader autograde`` takes for the class, and the scores in its gradebook."""
    course = folder / "stock"
    (course / "source" / lab).mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / lab / f"{lab}.ipynb", course / "source" / lab)
    shutil.copytree(submitted, course / "submitted")
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 120\n")
    command("nbgrader", "generate_assignment", lab, "--create", cwd=course)
    used = command("nbgrader", "autograde", lab, "--create", cwd=course)
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(
            "SELECT s.student_id, SUM(g.auto_score) FROM submitted_assignment s "
            "JOIN submitted_notebook n ON n.assignment_id = s.id JOIN grade g ON g.notebook_id = n.id "
            "GROUP BY s.student_id"
        ).fetchall()
    return used, {student: score or 0.0 for student, score in rows}


def floor(lab: str, submitted: Path) -> float:
    """CPU seconds of the students' own cells and of the tests' calls, warm and without any isolation."""
    os.environ.update(COURSE_SALT=SALT, COURSE_ROOT=str(ROOT), MPLBACKEND="agg")
    import torch

    from autograder.course.policy_file import spec
    from autograder.grading.repair import Template, repair
    from autograder.sandbox.host.student import Student
    from autograder.testing.run import run_test, set_salt, tests_of

    torch.set_num_threads(1)
    set_salt(SALT)
    template = Template.of(lab)
    clock = {"cells": 0.0, "calls": 0.0}

    def timed(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                clock["calls"] += time.process_time() - began

        return call

    for path in [None, *sorted(submitted.glob(f"*/{lab}/{lab}.ipynb"))]:
        if path is None:  # warm up on the first one, uncounted
            path = next(submitted.glob(f"*/{lab}/{lab}.ipynb"))
            counted = False
        else:
            counted = True
        before = dict(clock)
        namespace: dict[str, Any] = {"__name__": "student"}
        began = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for source in repair(path.read_bytes(), template).executed_source():
                text = "\n".join(line for line in source.splitlines() if not line.startswith(("%", "!")))
                with contextlib.suppress(Exception):
                    exec(text, namespace)
        clock["cells"] += time.process_time() - began
        for question, _ in spec(lab).questions:
            if callable(namespace.get(question)):
                student = Student.local_namespace(
                    {**namespace, question: timed(namespace[question])}, question
                )
                for test in tests_of(lab)[question]:
                    run_test(test, student)
        if not counted:
            clock = before
    return clock["cells"] + clock["calls"]


@dataclass(frozen=True)
class Cost:
    """What a checkout takes: for one submission, for the class, for the large class, and for the class unchanged."""

    one: float
    small: float
    large: float
    unchanged: float
    wall: float

    def each(self, small: int, large: int) -> float:
        """CPU seconds for each further submission."""
        return (self.large - self.small) / (large - small)


def cost(lab: str, parts: Sequence[Path], folder: Path, root: Path) -> tuple[Cost, dict[str, float]]:
    """The cost of a checkout for the classes of one, few and many; the scores of the few."""
    one, _, _ = ours(lab, parts[0], folder, root)
    small, unchanged, scores = ours(lab, parts[1], folder, root)
    large, _, _ = ours(lab, parts[2], folder, root)
    return Cost(one.cpu, small.cpu, large.cpu, unchanged.cpu, small.wall), scores


def main() -> None:
    """Run it all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument(
        "--large", type=int, default=200, help="students of the class that shows the price of each"
    )
    parser.add_argument("--before", type=Path, help="another checkout of the course to grade with, too")
    parser.add_argument("--no-stock", action="store_true", help="leave nbgrader out: it takes minutes")
    parser.add_argument("--lab", default="07_self_attention")
    options = parser.parse_args()
    n, large = options.students, options.large
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        submitted = folder / "submitted"
        words = ("simulate", options.lab, "--no-hostile", "--students", str(large), "--out", str(submitted))
        command("autograder.cli", *words, cwd=folder)
        parts = [part_of(submitted, count, folder) for count in (1, n, large)]
        before = cost(options.lab, parts, folder, options.before.resolve())[0] if options.before else None
        now, scores = cost(options.lab, parts, folder, ROOT)
        slow, stock_scores = stock(options.lab, parts[1], folder) if not options.no_stock else (None, scores)
        lowest = floor(options.lab, parts[1])
    show(n, large, before, now, slow, lowest)
    differ = [s for s in scores if abs(scores[s] - (stock_scores.get(s) or 0)) > 0.011]
    if slow is not None:
        console.print(f"scores that differ between the two: {len(differ)} of {n} {differ[:5]}")
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    data = {
        "students": n,
        "large": large,
        "now": asdict(now),
        "each": now.each(n, large),
        "floor_cpu": lowest,
    }
    data |= {"before": asdict(before) if before else None, "stock": asdict(slow) if slow else None}
    (out / "grading.json").write_text(json.dumps({**data, "scores_differ": differ}, indent=2))


def show(n: int, large: int, before: Cost | None, now: Cost, slow: Used | None, lowest: float) -> None:
    """Print the table, in CPU seconds."""
    columns = ("what", *(["before"] if before else []), "now", "nbgrader", "nbgrader / now")
    table = Table(title=f"CPU seconds, lab 07, {len(os.sched_getaffinity(0))} cores, one run")
    for heading in columns:
        table.add_column(heading, justify="left" if heading == "what" else "right")
    each = (
        slow.cpu / n if slow else None
    )  # a kernel for each notebook: it does not depend on how many there are
    rows: tuple[tuple[str, Callable[[Cost], float], float | None], ...] = (
        ("a class of one", lambda c: c.one, None),
        (f"a class of {n}", lambda c: c.small, slow.cpu if slow else None),
        (f"a class of {large}", lambda c: c.large, None),
        ("each further submission", lambda c: c.each(n, large), each),
        (f"the class of {n}, nothing changed", lambda c: c.unchanged, None),
    )
    for what, of, theirs in rows:
        cells = [f"{of(made):.3g}" for made in (before, now) if made is not None]
        ratio = f"{theirs / of(now):.0f}×" if theirs else ""
        table.add_row(what, *cells, f"{theirs:.4g}" if theirs else "", ratio)
    bare = ["", f"{lowest / n:.3g}"] if before else [f"{lowest / n:.3g}"]
    table.add_row("floor: a submission's cells and calls alone", *bare, "", "")
    console.print(table)


if __name__ == "__main__":
    main()
