"""Changes the harness one line at a time and counts the changes that its own tests notice.

    python -m tests.mutate_harness draw mutants.json              # sixty changes, drawn by a seed, eight packages
    python -m tests.mutate_harness reach mutants.json --tree DIR  # one run of the suite: which test files reach each line
    python -m tests.mutate_harness run mutants.json --tree DIR    # each change, and pytest -x on the files that reach it

A change is found again by its line's text, so that one list serves two versions of the tree. DIR is a clean checkout
with a ``.venv`` of its own; its files are changed in place and put back.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

PACKAGES = ("sandbox", "grading", "run", "collect", "exports", "serve", "gradebook", "pages")
SWAPS = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
}  # fmt: skip
#: Seconds for the tests of one change; a change that makes them longer is noticed.
PATIENCE = 900


@dataclass(frozen=True)
class Mutant:
    """One line of one file, before and after."""

    file: str
    before: str
    after: str

    def place(self, tree: Path) -> int | None:
        """The line's index in a tree; None unless exactly one line has the text."""
        path = tree / self.file
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = [number for number, line in enumerate(lines) if line == self.before]
        return found[0] if len(found) == 1 else None


def changes(source: str) -> Iterator[tuple[str, str]]:
    """Each single change of a module as its line before and after: an operator, a number, a condition, a call, a result."""
    lines = source.splitlines()
    annotations = {id(part) for node in ast.walk(ast.parse(source)) for part in _annotations_of(node)}
    for node in ast.walk(ast.parse(source)):
        line = lines[node.lineno - 1] if hasattr(node, "lineno") else ""
        if (
            not line
            or node.lineno != node.end_lineno
            or line.lstrip().startswith(("elif", "@", "class ", "def "))
        ):
            continue
        new = None if id(node) in annotations else _changed(node)
        if new is not None:
            row = line.encode()
            yield line, (row[: node.col_offset] + new.encode() + row[node.end_col_offset :]).decode()


def _annotations_of(node: ast.AST) -> Iterator[ast.AST]:
    for name in ("annotation", "returns"):
        if getattr(node, name, None) is not None:
            yield from ast.walk(getattr(node, name))


def _changed(node: ast.AST) -> str | None:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in SWAPS:
            return f"({ast.unparse(ast.Compare(left, [SWAPS[type(op)]()], [right]))})"
        case ast.BoolOp(op=op, values=values):
            return f"({ast.unparse(ast.BoolOp(SWAPS[type(op)](), values))})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in SWAPS:
            return f"({ast.unparse(ast.BinOp(left, SWAPS[type(op)](), right))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            return str(not value)
        case ast.Constant(value=int(value)):
            return str(value + 1)
        case ast.Return(value=ast.expr()):
            return "return None"
        case ast.Expr(value=ast.Call()):
            return "pass"
    return None


def draw(tree: Path, other: Path | None, count: int, seed: int) -> list[Mutant]:
    """``count`` changes, the same number in each package, of lines that both trees hold exactly once."""
    rng = random.Random(seed)
    chosen: list[Mutant] = []
    for number, package in enumerate(PACKAGES):
        found = [
            Mutant(str(path.relative_to(tree)), before, after)
            for path in sorted((tree / "autograder" / package).rglob("*.py"))
            for before, after in changes(path.read_text(encoding="utf-8"))
        ]
        rng.shuffle(found)
        usable = (
            m for m in found if all(m.place(t) is not None for t in (tree, other) if t) and _compiles(m, tree)
        )
        chosen += [
            m
            for m, _ in zip(usable, range(count * (number + 1) // len(PACKAGES) - len(chosen)), strict=False)
        ]
    return chosen


def _compiles(mutant: Mutant, tree: Path) -> bool:
    """Whether the changed module is Python, and is still so with a statement before the line."""
    try:
        for line in (mutant.after, _probe(0, mutant.before) + "\n" + mutant.before):
            text = (tree / mutant.file).read_text(encoding="utf-8").replace(mutant.before, line)
            compile(text, mutant.file, "exec")
    except SyntaxError:
        return False
    return True


def _probe(number: int, line: str, folder: str = "") -> str:
    """A statement that notes which test the line runs in, where that can be written."""
    indent = line[: len(line) - len(line.lstrip())]
    note = f"open({folder + '/' + str(number)!r}, 'a').write(__import__('os').environ.get('PYTEST_CURRENT_TEST', '') + '\\n')"
    return f"{indent}with __import__('contextlib').suppress(OSError): {note}"


@contextlib.contextmanager
def changed(tree: Path, edits: dict[Mutant, str]) -> Iterator[None]:
    """Put another text in place of each mutant's line, and the files back afterwards."""
    files = {tree / mutant.file for mutant in edits}
    saved = {path: path.read_bytes() for path in files}
    try:
        for path in files:
            lines = path.read_text(encoding="utf-8").splitlines()
            for mutant, text in edits.items():
                if tree / mutant.file == path and mutant.before in lines:
                    lines[lines.index(mutant.before)] = text
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield
    finally:
        for path, content in saved.items():
            path.write_bytes(content)


def reach(mutants: list[Mutant], tree: Path, words: list[str]) -> dict[str, list[str]]:
    """The test files during which each line ran, by the mutant's number. What runs in a jail leaves no trace."""
    folder = Path("/tmp/reached_lines")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o777)
    os.chmod(folder, 0o777)
    probes = {
        m: _probe(i, m.before, str(folder)) + "\n" + m.before
        for i, m in enumerate(mutants)
        if m.place(tree) is not None
    }
    with changed(tree, probes):
        pytest(tree, ["-n", "2", "--dist", "loadgroup", *words], None)
    notes = {path.name: path.read_text().splitlines() for path in folder.iterdir()}
    return {
        number: sorted({line.split("::")[0] for line in lines if line}) for number, lines in notes.items()
    }


def pytest(tree: Path, words: list[str], seconds: float | None) -> tuple[int, str]:
    """pytest's status and last lines in a tree; -1 when the time is over."""
    command = [
        tree / ".venv" / "bin" / "python",
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        *words,
    ]
    process = subprocess.Popen(
        command, cwd=tree, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip
    try:
        text, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return -1, "time is over"
    return process.returncode, " | ".join(
        line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))
    )[:300]


def noticed(mutant: Mutant, tree: Path, files: list[str]) -> str:
    """What noticed a change: a test's name or the time; "" where nothing did."""
    package = mutant.file.split("/")[1]
    own = [f"tests/{package}"] + ["tests/attacks"] * (package == "sandbox")
    for words in ([f for f in files if (tree / f).exists()], own):
        if words:
            with changed(tree, {mutant: mutant.after}):
                status, last = pytest(tree, ["-n", "0", "-x", *words], PATIENCE)
            if status not in (0, 5):
                return last or f"status {status}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("do", choices=["draw", "reach", "run"])
    parser.add_argument("file", type=Path, help="the list of changes, with what became of them")
    parser.add_argument("--tree", type=Path, default=Path.cwd(), help="the checkout whose tests run")
    parser.add_argument("--other", type=Path, help="draw: lines that this checkout has, too")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--part", default="1/1", help="run: 2/3 is the second of three parts")
    parser.add_argument("words", nargs="*", help="reach: words for pytest")
    given = parser.parse_args()
    tree = given.tree.resolve()
    if given.do == "draw":
        mutants = draw(tree, given.other, given.count, given.seed)
        given.file.write_text(json.dumps([asdict(mutant) for mutant in mutants], indent=1))
        return
    mutants = [Mutant(**row) for row in json.loads(given.file.read_text())]
    reached = given.file.with_suffix(f".{tree.name}.reach.json")
    if given.do == "reach":
        reached.write_text(json.dumps(reach(mutants, tree, given.words), indent=1))
        return
    files = json.loads(reached.read_text()) if reached.exists() else {}
    part, parts = map(int, given.part.split("/"))
    seen = asked = 0
    for number, mutant in enumerate(mutants):
        if number % parts != part - 1 or mutant.place(tree) is None:
            continue
        began = time.monotonic()
        by = noticed(mutant, tree, files.get(str(number), []))
        asked, seen = asked + 1, seen + bool(by)
        row = {"number": number, "file": mutant.file, "after": mutant.after.strip(), "by": by}
        print(json.dumps({**row, "seconds": round(time.monotonic() - began)}), flush=True)
    print(f"{seen} of {asked} changes noticed", file=sys.stderr)


if __name__ == "__main__":
    main()
