"""Reads the files of a lab's questions, and names what is missing.

They are read as syntax trees: a decorator such as ``@question.misconception("one too many", …)`` says all that is needed.
"""

from __future__ import annotations

import ast
from pathlib import Path

from autograder.course.soundness.faults import Fault, missing_file, nearest
from autograder.course.soundness.master import Outline

#: Decorator -> its name in sentences, for what each question needs at least once. A scenario counts as a family.
NEEDED = {
    "family": "family of inputs and no scenario",
    "misconception": "misconception",
    "alternative": "alternative",
}


def companion_faults(lab: str, root: Path, outline: Outline) -> list[Fault]:
    """Every fault in the files of the questions of ``lab`` (full name)."""
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
        if question in outline.unfinished:
            sentence = f"the header calls it unfinished{'; it has ' if lacks else ''}{lacks}"
            faults.append(Fault(outline.file, line, f"question “{question}”", sentence, unfinished=True))
        elif lacks:
            faults.append(Fault(outline.file, line, f"question “{question}”", f"it has {lacks}"))
    return faults


def questions_folder(lab: str, root: Path) -> Path:
    """The folder of a lab's questions."""
    return root / "autograder" / "questions" / f"m{lab}"


def _kinds(file: Path, root: Path, faults: list[Fault]) -> set[str]:
    """Which of ``NEEDED`` the decorators in a file declare."""
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
