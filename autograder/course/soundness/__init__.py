"""Refuses unsound labs: reads a lab's files without running them, and reports every fault.

``audit`` finds faults that only running shows (a wrong answer that keeps its points, two that behave alike); ``build``
measures the master's time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from autograder.course.masters import course_root, master_path, source_of_import
from autograder.course.soundness.master import Fault, Outline, missing_file, nearest, read_outline
from autograder.errors import UserError

#: The most sentences that are shown.
SHOWN = 20
#: Decorator that each question needs at least once -> its name in sentences. A scenario counts as a family.
NEEDED = {
    "family": "family of inputs and no scenario",
    "misconception": "misconception",
    "alternative": "alternative",
}


def faults_of(lab: str) -> list[Fault]:
    """Every fault of a lab (full name) in its master, its checks, hidden tests, wrong answers and data names."""
    if _is_imported(lab):
        return []  # it has no wrong answers, and the import ran nbgrader's checks
    outline = read_outline(lab, master_path(lab), course_root())
    return [*outline.faults, *_of_the_questions(lab, course_root(), outline)]


def _is_imported(lab: str) -> bool:
    try:
        return master_path(lab).is_file() and bool(source_of_import(lab))
    except UserError:  # the header is invalid; ``read_outline`` reports it
        return False


def require_sound(labs: Iterable[str], *, unfinished: bool = False) -> list[str]:
    """Raise a ``UserError`` with the faults of all these labs.

    With ``unfinished``, missing parts of questions are allowed: the sentences about them are returned.
    """
    faults = [fault for lab in labs for fault in faults_of(lab)]
    refused = [fault for fault in faults if not (unfinished and fault.unfinished)]
    if not refused:
        return [str(fault) for fault in faults]
    lines = [str(fault) for fault in refused[:SHOWN]]
    if len(refused) > SHOWN:
        lines.append(f"… and {len(refused) - SHOWN} more.")
    raise UserError("\n  ".join(["Fix these first; nothing was written:", *lines]))


def _of_the_questions(lab: str, root: Path, outline: Outline) -> list[Fault]:
    """Every fault in a lab's question files, as far as decorators such as ``@question.misconception`` show it."""
    folder = questions_folder(lab, root)
    if not folder.is_dir():
        return [missing_file(folder, root, "the lab's questions")]
    faults: list[Fault] = []
    declared = {file: _kinds(file, root, faults) for file in sorted(folder.glob("*.py"))}
    for file, kinds in declared.items():
        if outline.questions and kinds and file.stem not in {*outline.questions, *outline.challenges}:
            sentence = f"“{file.stem}” is no question of the lab{nearest(file.stem, outline.questions)}"
            faults.append(Fault(file.relative_to(root).as_posix(), 0, "", sentence))
    for question, line in outline.questions.items():
        kinds = declared.get(folder / f"{question}.py", set())
        lacks = ", ".join(f"no {words}" for kind, words in NEEDED.items() if kind not in kinds)
        if lacks:
            where, sentence = f"question “{question}”", f"it has {lacks}"
            faults.append(Fault(outline.file, line, where, sentence, unfinished=True))
    return faults


def questions_folder(lab: str, root: Path) -> Path:
    """The folder of a lab's questions."""
    return root / "autograder" / "questions" / f"m{lab}"


def _kinds(file: Path, root: Path, faults: list[Fault]) -> set[str]:
    """The keys of ``NEEDED`` that a file's decorators declare."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 0) or 0
        sentence = f"it is no Python: {getattr(error, 'msg', error)}"
        faults.append(Fault(file.relative_to(root).as_posix(), line, "", sentence))
        return set()
    marks = [mark for node in tree.body for mark in getattr(node, "decorator_list", ())]
    of = (mark.func if isinstance(mark, ast.Call) else mark for mark in marks)
    kinds = {one.attr for one in of if isinstance(one, ast.Attribute)}
    return ({"family"} if "scenario" in kinds else set()) | (kinds & NEEDED.keys())
