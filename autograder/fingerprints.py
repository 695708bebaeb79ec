"""What a question's result depends on, as one digest: the ground of incremental grading."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from autograder.course import settings
from autograder.masters import course_root, read_master, spec
from autograder.release import data_files, digest_of, kit_folder
from autograder.sandbox.policy import Limits

_LIBRARIES = ("numpy", "torch", "matplotlib", "ipython")


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


@dataclass(frozen=True)
class Context:
    """Digests of everything that is not the submission, in named parts so that a regrade can say why.

    ``shared`` holds for the whole lab: limits, libraries, harness, kit, data, salt. ``questions`` is each
    question's own: its points, hidden tests and misconceptions.
    """

    lab: str
    shared: dict[str, str]
    questions: dict[str, str]

    @property
    def whole(self) -> str:
        """One digest of all of it: when it and the notebook's bytes are as before, nothing has to be done."""
        return _digest(json.dumps([self.shared, self.questions], sort_keys=True))

    def question_keys(self, executed: Sequence[str]) -> dict[str, str]:
        """The key of each question for a submission that executes these sources."""
        code = _digest(*executed)
        shared = _digest(json.dumps(self.shared, sort_keys=True))
        keys = {name: _digest(code, shared, own) for name, own in self.questions.items()}
        return {**keys, "code": code, "context": self.whole}


def context_of(lab: str, limits: Limits, sandbox: bool) -> Context:
    """The context of a lab (full name) as it stands on disk now."""
    from autograder.sanitise import Template

    shared = {
        "limits": json.dumps([asdict(limits), sandbox]),
        "library versions": library_versions(),
        "harness": harness_digest(),
        "student kit": digest_of(_kit_files(lab)),
        "data": digest_of(data_files(lab)),
        "salt": _digest(settings().salt),
        "given cells": _digest(*(cell.source for cell in Template.of(lab).cells if cell.cell_type == "code")),
        "the master's answers": _digest(*(c.source for c in read_master(lab).cells if c.cell_type == "code")),
    }
    return Context(lab, shared, {name: _question(lab, name, points) for name, points in spec(lab).questions})


def _kit_files(lab: str) -> list[Path]:
    """What of the kit this lab's notebook uses: the kit itself, its own checks, what earlier labs provide."""
    kit = kit_folder()
    provided = [path for path in kit.glob("provided/p*.py") if path.stem[1:3] < lab[:2]]
    return sorted([*kit.glob("*.py"), *kit.glob(f"checks/c{lab}.py"), *provided])


@cache
def library_versions() -> str:
    """Python and the libraries whose version can change a result."""
    import sys

    versions = [f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES]
    return ", ".join([f"python {sys.version_info.major}.{sys.version_info.minor}", *versions])


#: Modules that write, show, build or start, and judge nothing. Any other module counts, a new one too.
_JUDGE_NOTHING = [
    "__init__",
    "audit_public",
    "audit_report",
    "build",
    "cli",
    "course",
    "course_report",
    "course_schema",
    "dask_engine",
    "engines",
    "errors",
    "feedback",
    "fingerprints",
    "formgrader",
    "grade_report",
    "gradebook",
    "gradebook_cells",
    "labspec",
    "layout",
    "local_engine",
    "masters",
    "mutants",
    "nbgrader_autograde",
    "nbgrader_pages",
    "one_thread",
    "pages",
    "parcel",
    "pipeline",
    "plan",
    "quick_start",
    "recording",
    "release",
    "results",
    "simulate",
    "stock",
    "store",
    "stored",
    "upkeep",
    "validation",
    "work",
    "worker",
]


@cache
def harness_digest() -> str:
    """The code that runs and judges; not the code that writes pages and tables."""
    package = Path(__file__).parent
    files = sorted(file for file in package.glob("*.py") if file.stem not in _JUDGE_NOTHING)
    return digest_of([*files, package / "sandbox"])


def _question(lab: str, question: str, points: float) -> str:
    package = course_root() / "autograder"
    tests = _relevant(package / "hidden_tests" / f"test_{lab}.py", "hidden_test", question)
    answers = _relevant(package / "misconceptions" / f"m{lab}.py", "misconception", question)
    forbidden = settings().lab(lab).forbid.get(question, ())
    return _digest(tests, answers, repr(float(points)), *forbidden)


def _relevant(path: Path, mark: str, question: str) -> str:
    """The file's source without what belongs to other questions only."""
    if not path.exists():
        return ""
    marks = {"hidden_test", "misconception", "alternative"}
    kept = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        owner = _owner(node, marks)
        if owner is None or (owner[1] == question and owner[0] == mark):
            kept.append(ast.dump(node))
    return "\n".join(kept)


def _owner(node: ast.stmt, marks: set[str]) -> tuple[str, str] | None:
    """(mark, question) of a marked function or class; None for everything else."""
    for decorator in getattr(node, "decorator_list", []):
        if (
            isinstance(decorator, ast.Call)
            and isinstance(decorator.func, ast.Name)
            and decorator.func.id in marks
        ):
            first = decorator.args[0] if decorator.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                return decorator.func.id, first.value
    return None


def changed_parts(before: Context, after: Context) -> list[str]:
    """What differs between two contexts, in words."""
    words = [name for name in after.shared if before.shared.get(name) != after.shared[name]]
    return words + [
        f"tests of {name}" for name in after.questions if before.questions.get(name) != after.questions[name]
    ]
