"""Digests everything that a question's result depends on, so that a regrade runs only what has changed."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path

from autograder.course.masters import course_header, questions_folder, read_master
from autograder.course.policy_file import settings, spec
from autograder.course.student_files import data_files, kit_files
from autograder.files import digest_of
from autograder.sandbox.limits import Limits

_LIBRARIES = ("numpy", "torch", "matplotlib", "ipython")


def digest(*parts: str) -> str:
    """One digest of several texts."""
    # JSON keeps the parts apart: a part may hold any separator.
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


@dataclass(frozen=True)
class Context:
    """Digests of everything that is not the submission, in named parts so that a regrade can say why.

    ``shared`` holds for the whole lab: limits, libraries, harness, kit, data, salt. ``questions`` is each
    question's own: its points, hidden tests and misconceptions. ``rubric`` covers the misconceptions' costs and hints:
    if only these have changed, nothing runs.
    """

    lab: str
    shared: dict[str, str]
    questions: dict[str, str]
    rubric: str = ""

    @property
    def combined_digest(self) -> str:
        """One digest of all parts. If it and the notebook's bytes are unchanged, nothing has to be done."""
        return digest(json.dumps([self.shared, self.questions, self.rubric], sort_keys=True))

    def question_keys(self, executed: Sequence[str]) -> dict[str, str]:
        """The key of each question for a submission that executes the sources ``executed``."""
        code = digest(*executed)
        shared = digest(json.dumps(self.shared, sort_keys=True))
        keys = {name: digest(code, shared, own) for name, own in self.questions.items()}
        return {**keys, "code": code, "context": self.combined_digest, "rubric": self.rubric}


def context_of(lab: str, limits: Limits) -> Context:
    """The current context of a lab (full name), read from disk."""
    from autograder.grading.repair import Template

    shared = {
        "limits": json.dumps(asdict(limits)),
        "isolation that is accepted": settings().isolation,
        "library versions": library_versions(),
        "harness": harness_digest(),
        "student kit": digest_of(kit_used(lab)),
        "data": digest_of(data_files(lab)),
        "salt": digest(settings().salt),
        "given cells": digest(*(cell.source for cell in Template.of(lab).cells if cell.cell_type == "code")),
        "the master's answers": digest(*(c.source for c in read_master(lab).cells if c.cell_type == "code")),
    }
    described = {name: _described(lab, name) for name, _ in spec(lab).questions}
    questions = {n: _question_digest(lab, n, points, described[n]) for n, points in spec(lab).questions}
    prices = [(name, sorted(settings().lab(lab).rubric.get(name, {}).items())) for name in described]
    texts = [text for files in described.values() for _, text in files]
    return Context(lab, shared, questions, digest(*texts, repr(prices)))


def kit_used(lab: str) -> list[Path]:
    """The kit's files that grading the lab may run: all that its students have, without other labs' cards."""
    return [file for file in kit_files(lab) if file.suffix != ".json" or file.stem == f"q{lab}"]


@cache
def library_versions() -> str:
    """Python and the libraries whose version can change a result."""
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _LIBRARIES]
    return ", ".join([f"python {sys.version_info.major}.{sys.version_info.minor}", *versions])


#: The folders and files of the package that can change a result. Import-linter forbids them to import from the others
#: (gradebook, pages, run, collect, exports, audit, cli, …).
JUDGES = (
    "errors.py", "files.py", "results.py", "statuses.toml", "startup", "sandbox", "course", "judging", "questions/engine",
    "grading",
)  # fmt: skip


#: The folder of this package.
PACKAGE = Path(__file__).resolve().parents[1]


@cache
def harness_digest() -> str:
    """A digest of the code that runs and judges, without the code that plans, writes pages and keeps tables."""
    return digest_of(PACKAGE / name for name in JUDGES)


def _question_digest(lab: str, question: str, points: float, described: Sequence[tuple[str, str]]) -> str:
    forbidden = (*settings().lab(lab).forbid.get(question, ()), settings().forbidden)
    # The names of an imported lab's hidden test cells; their code is part of "the master's answers".
    moved = [course_header(lab).get(entry) for entry in ("outside", "in_place")]
    return digest(*(code for code, _ in described), repr(moved), repr(float(points)), *forbidden)


def _described(lab: str, question: str) -> list[tuple[str, str]]:
    """``_code_and_text`` of a question's file and of all files in the lab's folder that it imports, directly or not."""
    folder = questions_folder(lab)
    waiting, sources = [question], dict[str, str]()
    while waiting:
        name = waiting.pop()
        if name not in sources and (file := folder / f"{name}.py").exists():
            sources[name] = file.read_text(encoding="utf-8")
            waiting += re.findall(
                rf"autograder\.{folder.parent.name}\.{folder.name}\.(\w+) import", sources[name]
            )
    return [_code_and_text(sources[name]) for name in sorted(sources)]


@lru_cache(maxsize=1024)
def _code_and_text(source: str) -> tuple[str, str]:
    """Digests of a file's code, and of what its misconceptions cost and tell people. Comments count for neither."""
    tree, told = ast.parse(source), []
    for node in tree.body:
        marks = [
            mark
            for mark in getattr(node, "decorator_list", [])
            if isinstance(mark, ast.Call) and getattr(mark.func, "attr", "") == "misconception"
        ]
        told += [ast.dump(node)] if marks else []
        for mark in marks:
            mark.keywords = [keyword for keyword in mark.keywords if keyword.arg not in _TOLD]
        if marks and isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return digest(ast.dump(tree)), digest(*told)


#: The arguments of ``question.misconception`` that change only points and words.
_TOLD = ("costs", "because", "hint", "card")


def changed_parts(before: Context, after: Context) -> list[str]:
    """The differences between two contexts, in words."""
    words = [name for name in after.shared if before.shared.get(name) != after.shared[name]]
    words += ["what misconceptions cost"] if before.rubric != after.rubric else []
    return words + [
        f"tests of {name}" for name in after.questions if before.questions.get(name) != after.questions[name]
    ]
