"""Grades the same 40 submissions of lab 07 with ``autograder grade`` and with stock ``nbgrader autograde``, in one run.

Also measures the floor: the CPU time of the students' own cells and of the hidden tests' calls, run warm in
one process with no isolation. Prints a table, compares the scores, writes ``build/bench/grading.json``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
SALT = "the benchmark's salt"
console = Console()


def command(*words: str, cwd: Path, **extra: str) -> float:
    """Run a command of this environment and return its wall-clock seconds."""
    environment = {**os.environ, "COURSE_SALT": SALT, "COURSE_ROOT": str(ROOT), **extra}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=cwd, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words[:3])} failed:\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
    return time.perf_counter() - began


def ours(lab: str, submitted: Path, folder: Path) -> tuple[float, float, dict[str, float]]:
    """Seconds for the class, seconds for an unchanged regrade, and the scores."""
    words = ("autograder.cli", "grade", lab, "--submitted", str(submitted), "--out", str(folder / "ours"))
    first = command(*words, cwd=folder)
    again = command(*words, cwd=folder)
    rows = json.loads((folder / "ours" / "results.json").read_text())
    return first, again, {row["student"]: row["score"] for row in rows}


def stock(lab: str, submitted: Path, folder: Path) -> tuple[float, dict[str, float]]:
    """Seconds that ``nbgrader autograde`` takes for the class, and the scores in its gradebook."""
    course = folder / "stock"
    (course / "source" / lab).mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / lab / f"{lab}.ipynb", course / "source" / lab)
    shutil.copytree(submitted, course / "submitted")
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 120\n")
    command("nbgrader", "generate_assignment", lab, "--create", cwd=course)
    seconds = command("nbgrader", "autograde", lab, "--create", cwd=course)
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(
            "SELECT s.student_id, SUM(g.auto_score) FROM submitted_assignment s "
            "JOIN submitted_notebook n ON n.assignment_id = s.id JOIN grade g ON g.notebook_id = n.id "
            "GROUP BY s.student_id"
        ).fetchall()
    return seconds, {student: score or 0.0 for student, score in rows}


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


def main() -> None:
    """Run it all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--lab", default="07_self_attention")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        submitted = folder / "submitted"
        sim = (
            "autograder.cli",
            "simulate",
            options.lab,
            "--no-hostile",
            "--students",
            str(options.students),
        )
        command(*sim, "--out", str(submitted), cwd=folder)
        lowest = floor(options.lab, submitted)
        seconds, again, scores = ours(options.lab, submitted, folder)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        slow, stock_scores = stock(options.lab, submitted, folder)
    n = options.students
    differ = [s for s in scores if abs(scores[s] - (stock_scores.get(s) or 0)) > 0.011]
    table = Table(title=f"{n} submissions of {options.lab}, one run, {os.cpu_count()} cores")
    for heading in ("what", "seconds", "a submission", "against ours"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for what, value in (
        ("stock nbgrader autograde", slow),
        ("autograder grade, start-up included", seconds),
        ("autograder grade, nothing changed", again),
        ("floor: CPU of cells and calls", lowest),
    ):
        table.add_row(what, f"{value:.2f}", f"{value / n:.3f}", f"{value / seconds:.2f}×")
    console.print(table)
    console.print(f"scores that differ between the two: {len(differ)} of {n} {differ[:5]}")
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    data = {
        "students": n,
        "stock": slow,
        "ours": seconds,
        "unchanged": again,
        "floor_cpu": lowest,
        "ratio": slow / seconds,
    }
    data |= {"peak_child_mb": used.ru_maxrss / 1024, "scores_differ": differ}
    (out / "grading.json").write_text(json.dumps(data, indent=2))


if __name__ == "__main__":
    main()
