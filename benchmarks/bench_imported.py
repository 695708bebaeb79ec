"""Grades nbgrader's own example assignment, imported, with ``autograder grade`` and with ``nbgrader autograde``, in one run.

What is compared is CPU time, all processes together (``cpu_time``), and time by the clock, for classes of several sizes: copies of
what the example's two students handed in. Prints two tables, compares the scores, writes ``build/bench/imported.json``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # run as a script
from benchmarks.bench_grading import command  # noqa: E402
from benchmarks.cpu_time import Used  # noqa: E402
from tests.fixtures.frozen_course import freeze  # noqa: E402
from tests.fixtures.nbgrader_course import automatic_scores, copy_examples  # noqa: E402

LAB, ASSIGNMENT, NAME = "21_problem1", "ps1", "problem1"
console = Console()


def ours(folder: Path, course: Path, size: int) -> tuple[Used, dict[str, dict[str, float]]]:
    """What the class takes here, and student -> cell -> points."""
    out = folder / f"out_{size}"
    words = ("autograder.cli", "grade", LAB, "--submitted", str(class_of(folder, size)), "--out", str(out))
    used = command(*words, cwd=folder, root=course)
    rows = json.loads((out / "results.json").read_text())
    return used, {row["student"]: {q["name"]: q["points"] for q in row["questions"]} for row in rows}


def stock(folder: Path, size: int) -> tuple[Used, dict[str, dict[str, float]]]:
    """What ``nbgrader autograde`` takes for the class, and student -> cell -> points."""
    course = folder / f"stock_{size}"
    shutil.copytree(folder / "source", course / "source")
    shutil.copytree(class_of(folder, size), course / "submitted")
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 120\n")
    command("nbgrader", "generate_assignment", ASSIGNMENT, "--create", cwd=course)
    used = command("nbgrader", "autograde", ASSIGNMENT, "--notebook", NAME, "--create", cwd=course)
    return used, automatic_scores(course / "gradebook.db", NAME)


def class_of(folder: Path, size: int) -> Path:
    """A folder of submissions: copies of the two students' of the example, as many as the class is to have."""
    place = folder / f"class_{size}"
    if not place.exists():
        for number in range(size):
            student = ("hacker", "bitdiddle")[number % 2]
            shutil.copytree(folder / "submitted" / student, place / f"{student}_{number}")
    return place


def main() -> None:
    """Run it all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--large", type=int, default=200, help="students of the class that only we grade")
    options = parser.parse_args()
    n, large = options.students, options.large
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_examples(folder)
        course = freeze(folder / "course")
        source = folder / "source" / ASSIGNMENT / f"{NAME}.ipynb"
        command("autograder.cli", "import", str(source), "--name", LAB, cwd=folder, root=course)
        one, _ = ours(folder, course, 1)
        few, scores = ours(folder, course, n)
        many, _ = ours(folder, course, large)
        their_two, _ = stock(folder, 2)
        theirs, their_scores = stock(folder, n)
    data: dict[str, object] = {"students": n, "large": large}
    for clock, title in (("cpu", "CPU seconds"), ("wall", "seconds by the clock")):
        used = {
            name: float(getattr(value, clock))
            for name, value in (
                ("one", one),
                ("few", few),
                ("many", many),
                ("nbgrader_two", their_two),
                ("nbgrader", theirs),
            )
        }
        show(title, used, n, large)
        data[clock] = used
    differ = [
        (student, cell)
        for student, cells in their_scores.items()
        for cell, points in cells.items()
        if cell in scores[student] and scores[student][cell] != points
    ]
    console.print(
        f"cells whose scores differ: {len(differ)} of {sum(map(len, their_scores.values()))} {differ[:5]}"
    )
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "imported.json").write_text(json.dumps({**data, "differ": differ}, indent=2))


def show(title: str, used: dict[str, float], n: int, large: int) -> None:
    """Print what classes of one, of ``n`` and of ``large`` took, beside nbgrader."""
    one, few, many, theirs = used["one"], used["few"], used["many"], used["nbgrader"]
    each, their_each = (many - few) / (large - n), (theirs - used["nbgrader_two"]) / (n - 2)
    computed = theirs + their_each * (large - n)
    table = Table(title=f"{title}, nbgrader's own example, one run")
    for heading in ("what", "now", "nbgrader", "nbgrader / now"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    table.add_row("a class of one", f"{one:.3g}", "", "")
    table.add_row(f"a class of {n}", f"{few:.3g}", f"{theirs:.4g}", f"{theirs / few:.0f}×")
    table.add_row(
        f"a class of {large} (nbgrader: computed)",
        f"{many:.3g}",
        f"{computed:.4g}",
        f"{computed / many:.0f}×",
    )
    table.add_row("each further submission", f"{each:.3g}", f"{their_each:.3g}", f"{their_each / each:.0f}×")
    console.print(table)


if __name__ == "__main__":
    main()
