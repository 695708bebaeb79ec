"""Grades the same submissions with ``autograder grade`` and with stock ``nbgrader autograde``: lab 07, and nbgrader's own example.

What is compared is CPU time, all processes together (``cpu_time``): it says what grading costs, also on a busy machine. A
class of one says what comes before the first submission; two sizes of one class what each further submission takes. Ours
are medians of three gradings: before, between and after nbgrader's.
``--before FOLDER`` grades lab 07 with another checkout too. The floor is the CPU time of the students' own cells and of
the hidden tests' calls, run warm in one process with no isolation. The example is imported, and its classes are copies of
what its two students handed in. Prints tables, compares the scores, writes ``build/bench/grading.json``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a script
from benchmarks.cpu_time import Used, cpu_time  # noqa: E402
from tests.fixtures.frozen_course import freeze  # noqa: E402
from tests.fixtures.nbgrader_course import automatic_scores, copy_examples  # noqa: E402

SALT = "the benchmark's salt"
console = Console()
#: Student -> question, or cell -> points.
Scores = dict[str, dict[str, float]]


def command(*words: str, cwd: Path, root: Path = ROOT) -> Used:
    """Run a module of this Python, on the package in ``root`` and with Python's usual cache, and say what it took."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    found |= {"COURSE_SALT": SALT, "COURSE_ROOT": str(root), "PYTHONPATH": f"{root}:{root / 'notebooks'}"}
    found |= {"PATH": f"{Path(sys.executable).parent}:{found['PATH']}"}
    return cpu_time([sys.executable, "-m", *words], cwd=cwd, environment=found)


@dataclass(frozen=True)
class Contest:
    """A lab that both grade: its name here and there, the checkout that has it, and a folder with ``source`` and ``submitted``."""

    title: str
    lab: str
    assignment: str
    notebook: str
    root: Path
    folder: Path

    def part(self, size: int) -> Path:
        """A class of so many, in which each kind of submission has its share; one comes again where ``submitted`` has fewer."""
        place, kinds = self.folder / f"class_{size}", self.folder / "submitted.kinds.json"
        kind_of = json.loads(kinds.read_text()) if kinds.exists() else {}
        students = sorted(
            (self.folder / "submitted").iterdir(), key=lambda one: (kind_of.get(one.name, ""), one)
        )
        for number in range(0 if place.exists() else size):
            student = students[number * len(students) // size]
            shutil.copytree(student, place / f"{student.name}_{number}")
        return place

    def ours(self, size: int, root: Path) -> tuple[Used, Used, Scores]:
        """What the class takes, what it takes again with nothing changed, and the scores."""
        out = self.folder / f"out_{size}_{root.name}"
        shutil.rmtree(out, ignore_errors=True)
        words = ("autograder.cli", "grade", self.lab, "--submitted", str(self.part(size)), "--out", str(out))
        first, again = (command(*words, cwd=self.folder, root=root) for _ in range(2))
        rows = json.loads((out / "results.json").read_text())
        scores = {row["student"]: {q["name"]: q["points"] for q in row["questions"]} for row in rows}
        return first, again, scores

    def stock(self, size: int) -> tuple[Used, Scores]:
        """What ``nbgrader autograde`` takes for the class, and the scores in its gradebook."""
        course = self.folder / f"stock_{size}"
        shutil.copytree(self.folder / "source", course / "source")
        shutil.copytree(self.part(size), course / "submitted")
        (course / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 120\n")
        command("nbgrader", "generate_assignment", self.assignment, "--create", cwd=course)
        words = ("nbgrader", "autograde", self.assignment, "--notebook", self.notebook, "--create")
        return command(*words, cwd=course), automatic_scores(course / "gradebook.db", self.notebook)


def of_lab(lab: str, students: int, folder: Path) -> Contest:
    """A simulated class of one of the course's labs."""
    (folder / "source" / lab).mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / lab / f"{lab}.ipynb", folder / "source" / lab)
    words = ("simulate", lab, "--no-hostile", "--students", str(students), "--out", str(folder / "submitted"))
    command("autograder.cli", *words, cwd=folder)
    return Contest(lab, lab, lab, lab, ROOT, folder)


def of_example(folder: Path) -> Contest:
    """nbgrader's own example assignment, imported."""
    folder.mkdir()
    copy_examples(folder)
    course, lab = freeze(folder / "course"), "21_problem1"
    source = folder / "source" / "ps1" / "problem1.ipynb"
    command("autograder.cli", "import", str(source), "--name", lab, cwd=folder, root=course)
    return Contest("nbgrader's own example", lab, "ps1", "problem1", course, folder)


def floor(lab: str, submitted: Path) -> float:
    """CPU seconds of the students' own cells and of the tests' calls, warm and without any isolation."""
    os.environ.update(COURSE_SALT=SALT, COURSE_ROOT=str(ROOT), MPLBACKEND="agg")
    import torch

    from autograder.course.policy_file import spec
    from autograder.grading.repair import Template, repair
    from autograder.judging.run import run_test, set_salt, tests_of
    from autograder.sandbox.host.student import Student

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

    paths = sorted(submitted.glob(f"*/{lab}/{lab}.ipynb"))
    for turn, path in enumerate([paths[0], *paths]):  # the first one warms up, uncounted
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
        if turn == 0:
            clock = before
    return clock["cells"] + clock["calls"]


def measure(contest: Contest, n: int, large: int, before: Path | None, *, stock: bool) -> dict[str, Any]:
    """What classes of one, of ``n`` and of ``large`` take here, in another checkout and with nbgrader, and whose scores differ."""
    runs: dict[str, dict[str, list[Used]]] = defaultdict(lambda: defaultdict(list))
    scores, theirs = Scores(), Scores()
    roots = ({"before": before} if before else {}) | {"now": contest.root}
    for turn in range(3):
        for name, root in roots.items():
            for what, size in {"one": 1, "few": n, "many": large}.items():
                first, again, found = contest.ours(size, root)
                runs[name][what].append(first)
                if size == n:
                    runs[name]["unchanged"].append(again)
                    scores = found
        if stock and turn < 2:
            what, size = (("two", 2), ("few", n))[turn]
            took, theirs = contest.stock(size)
            runs["nbgrader"][what].append(took)
    used = {
        name: {what: sorted(times, key=lambda one: one.cpu)[len(times) // 2] for what, times in costs.items()}
        for name, costs in runs.items()
    }
    differ: list[tuple[str, str]] = []
    if stock:
        differ = [
            (student, cell)
            for student, cells in theirs.items()
            for cell, points in cells.items()
            if (own := scores[student].get(cell.removeprefix("test_"))) is not None
            and abs(own - points) > 0.011
        ]
        count = sum(map(len, theirs.values()))
        console.print(f"{contest.title}: cells whose scores differ: {len(differ)} of {count} {differ[:5]}")
    clocks = {
        clock: {
            name: {what: float(getattr(one, clock)) for what, one in costs.items()}
            for name, costs in used.items()
        }
        for clock in ("cpu", "wall")
    }
    for clock, title in (("cpu", "CPU seconds"), ("wall", "seconds by the clock")):
        heading = f"{title}, {contest.title}, {len(os.sched_getaffinity(0))} cores, one run"
        show(heading, clocks[clock], n, large)
    return {**clocks, "differ": differ}


def show(title: str, used: dict[str, dict[str, float]], n: int, large: int) -> None:
    """Print what each took, in seconds; what the large class takes with nbgrader is computed."""
    for costs in used.values():
        if "many" in costs:
            costs["each"] = (costs["many"] - costs["few"]) / (large - n)
        else:
            costs["each"] = (costs["few"] - costs["two"]) / (n - 2)
            costs["many"] = costs["few"] + costs["each"] * (large - n)
    table = Table("what", *used, "nbgrader / now", title=title)
    rows = {
        "a class of one": "one", f"a class of {n}": "few", f"a class of {large} (nbgrader: computed)": "many",
        "each further submission": "each", f"the class of {n}, nothing changed": "unchanged",
    }  # fmt: skip
    for what, key in rows.items():
        theirs = used.get("nbgrader", {}).get(key)
        ratio = f"{theirs / used['now'][key]:.0f}×" if theirs else ""
        table.add_row(what, *(f"{costs[key]:.3g}" if key in costs else "" for costs in used.values()), ratio)
    console.print(table)


def main() -> None:
    """Run it all and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--large", type=int, default=200, help="students of the class that only we grade")
    parser.add_argument("--before", type=Path, help="another checkout of the course to grade with, too")
    parser.add_argument("--no-stock", action="store_true", help="leave nbgrader out: it takes minutes")
    parser.add_argument("--lab", default="07_self_attention")
    options = parser.parse_args()
    n, large, stock = options.students, options.large, not options.no_stock
    before = options.before.resolve() if options.before else None
    data: dict[str, Any] = {"students": n, "large": large}
    with tempfile.TemporaryDirectory() as name:
        contest = of_lab(options.lab, large, Path(name, "lab"))
        data["lab"] = measure(contest, n, large, before, stock=stock)
        data["floor_cpu"] = floor(options.lab, contest.part(n))
        console.print(f"floor, a submission's cells and calls alone: {data['floor_cpu'] / n:.3g} CPU seconds")
        data["example"] = measure(of_example(Path(name, "example")), n, large, None, stock=stock)
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "grading.json").write_text(json.dumps(data, indent=2))


if __name__ == "__main__":
    main()
