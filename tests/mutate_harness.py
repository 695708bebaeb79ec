"""Changes the harness one line at a time and counts the changes that its own tests notice.

    python -m tests.mutate_harness             # in a clean checkout, whose files are changed and put back

Sixty changes are drawn by a seed, in eight packages. Each is made, and pytest runs with -x on the tests of its package.
For those that these do not notice, one run of the suite tells which other test files reach the line; then these run.
"""

from __future__ import annotations

import ast
import contextlib
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]
COUNT, SEED = 60, 31
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
    """One line of one file, which stands there once, before and after."""

    file: Path
    before: str
    after: str


def changes(source: str) -> Iterator[tuple[str, str]]:
    """Each single change of a module as its line before and after: an operator, a number, a condition, a call, a result."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        new = _changed(node)
        if new is None or node.lineno != node.end_lineno:
            continue
        line = lines[node.lineno - 1]
        if not line.lstrip().startswith(("elif", "@", "class ", "def ")):
            row = line.encode()
            yield line, (row[: node.col_offset] + new.encode() + row[node.end_col_offset :]).decode()


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


def draw() -> list[Mutant]:
    """``COUNT`` changes, the same number in each package."""
    rng = random.Random(SEED)
    chosen: list[Mutant] = []
    for number, package in enumerate(PACKAGES, start=1):
        found = [
            Mutant(path, before, after)
            for path in sorted((TREE / "autograder" / package).rglob("*.py"))
            for before, after in changes(path.read_text(encoding="utf-8"))
        ]
        rng.shuffle(found)
        chosen += islice(filter(_is_usable, found), COUNT * number // len(PACKAGES) - len(chosen))
    return chosen


def _is_usable(mutant: Mutant) -> bool:
    """Whether the line stands there once, and the module is Python with the change, and with a statement before the line."""
    source = mutant.file.read_text(encoding="utf-8")
    try:
        for line in (mutant.after, f"{_probe('', mutant.before)}\n{mutant.before}"):
            compile(source.replace(mutant.before, line), mutant.file.name, "exec")
    except SyntaxError:
        return False
    return source.splitlines().count(mutant.before) == 1


def _probe(note: str, line: str) -> str:
    """A statement that writes which test the line runs in, where that can be written."""
    indent = line[: len(line) - len(line.lstrip())]
    test = "__import__('os').environ.get('PYTEST_CURRENT_TEST', '')"
    return (
        f"{indent}with __import__('contextlib').suppress(OSError): open({note!r}, 'a').write({test} + '\\n')"
    )


@contextlib.contextmanager
def changed(edits: dict[Mutant, str]) -> Iterator[None]:
    """Put another text in place of each mutant's line, and the files back afterwards."""
    saved = {mutant.file: mutant.file.read_bytes() for mutant in edits}
    try:
        for mutant, text in edits.items():
            lines = mutant.file.read_text(encoding="utf-8").splitlines()
            lines[lines.index(mutant.before)] = text
            mutant.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield
    finally:
        for path, content in saved.items():
            path.write_bytes(content)


def reached(mutants: list[Mutant]) -> list[list[str]]:
    """The test files during which each line ran. What runs in a jail leaves no trace."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        notes = [Path(folder, str(number)) for number in range(len(mutants))]
        probes = {m: f"{_probe(str(n), m.before)}\n{m.before}" for m, n in zip(mutants, notes, strict=True)}
        with changed(probes):
            pytest(["-n", "2", "--dist", "loadgroup"])
        texts = [note.read_text() if note.exists() else "" for note in notes]
    return [sorted({line.split("::")[0] for line in text.splitlines() if line}) for text in texts]


def pytest(words: list[str], seconds: float | None = None) -> str:
    """pytest's lines about failures, its status or the time; "" where it has no complaint."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", *words]
    process = subprocess.Popen(
        command, cwd=TREE, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip
    try:
        text, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return "time is over"
    failures = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return (
        "" if process.returncode in (0, 5) else " | ".join(failures)[:300] or f"status {process.returncode}"
    )


def noticed(mutant: Mutant, tests: list[str]) -> str:
    """What notices a change; "" where nothing does."""
    with changed({mutant: mutant.after}):
        return pytest(["-n", "0", "-x", *tests], PATIENCE) if tests else ""


def main() -> None:
    mutants, found = draw(), dict[Mutant, str]()
    for number, mutant in enumerate(mutants, start=1):
        print(f"{number} of {len(mutants)}: {mutant.file.relative_to(TREE)}", file=sys.stderr, flush=True)
        package = mutant.file.relative_to(TREE / "autograder").parts[0]
        found[mutant] = noticed(mutant, [f"tests/{package}"] + ["tests/attacks"] * (package == "sandbox"))
    left = [mutant for mutant in mutants if not found[mutant]]
    for mutant, files in zip(left, reached(left), strict=True):
        found[mutant] = noticed(mutant, files)
    for mutant, by in found.items():
        print(f"{mutant.file.relative_to(TREE)}: {mutant.after.strip()}: {by or 'not noticed'}")
    print(f"{sum(map(bool, found.values()))} of {len(mutants)} changes noticed")


if __name__ == "__main__":
    main()
