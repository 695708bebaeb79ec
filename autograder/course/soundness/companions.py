"""Reads the files of a lab's questions, and names what does not fit.

They are read as syntax trees: a decorator such as ``@question.misconception("one too many", …)`` says all that is needed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.course.masters import lab_as_written
from autograder.course.soundness.faults import Fault, missing_file, nearest
from autograder.course.soundness.master import Outline

#: Decorator -> its name in sentences, for what each question needs at least once. A scenario counts as a family.
NEEDED = {
    "family": "family of inputs and no scenario",
    "misconception": "misconception",
    "alternative": "alternative",
}


@dataclass(frozen=True)
class Declared:
    """A function or class that a decorator declares: what it is, for which question, and its docstring."""

    file: str
    line: int
    kind: str
    question: str
    name: str
    text: str


def companion_faults(lab: str, root: Path, outline: Outline) -> list[Fault]:
    """Every fault in the files of the questions of ``lab`` (full name)."""
    folder = questions_folder(lab, root)
    if not folder.is_dir():
        return [missing_file(folder, root, "the lab's questions")]
    faults: list[Fault] = []
    declared = [one for file in sorted(folder.glob("*.py")) for one in _read(file, root, faults)]
    if outline.questions:
        faults += _unknown(declared, outline) + _too_few(declared, outline)
    return faults + _repeated(declared) + _without_words(declared)


def imported_faults(lab: str, root: Path) -> list[Fault]:
    """Faults of a lab that came from nbgrader: a test of a cell that is not there. It needs no wrong answers."""
    path = questions_folder(lab, root) / "cells.py"
    if not path.is_file():
        return [missing_file(path, root, "the lab's test cells")]
    faults: list[Fault] = []
    outline = Outline(f"solutions/{lab}/{lab}.py")
    outline.questions = {name: 0 for name, _ in lab_as_written(lab).questions}
    declared = list(_read(path, root, faults))
    return faults + _unknown(declared, outline) + _repeated(declared) + _without_words(declared)


def questions_folder(lab: str, root: Path) -> Path:
    """The folder of a lab's questions."""
    return root / "autograder" / "questions" / f"m{lab}"


def _read(file: Path, root: Path, faults: list[Fault]) -> Iterable[Declared]:
    name = file.relative_to(root).as_posix()
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 0) or 0
        faults.append(Fault(name, line, "", f"it is no Python: {getattr(error, 'msg', error)}"))
        return
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for mark in node.decorator_list:
                yield from _declared(node, mark, name)


def _declared(node: ast.FunctionDef | ast.ClassDef, mark: ast.expr, file: str) -> Iterable[Declared]:
    call = mark if isinstance(mark, ast.Call) else None
    of = call.func if call else mark
    text = ast.get_docstring(node) or ""
    if isinstance(of, ast.Attribute):  # of ``question``
        kind, question = "family" if of.attr == "scenario" else of.attr, Path(file).stem
        words = [keyword.value for keyword in call.keywords if keyword.arg == "hint"] if call else []
        words += call.args[:1] if call and kind == "family" else []
        text = str(getattr(words[0], "value", "")) if words else text
    else:
        kind = getattr(of, "id", "")
        question = str(getattr(call.args[0], "value", "")) if call and call.args else ""
    if kind in {*NEEDED, "hidden_test"}:
        yield Declared(file, node.lineno, kind, question, node.name, " ".join(text.split()))


def _unknown(declared: list[Declared], outline: Outline) -> list[Fault]:
    known = {*outline.questions, *outline.challenges}
    return [
        Fault(
            d.file, d.line, d.name,
            f"@{d.kind} names “{d.question}”, which is no question of the lab{nearest(d.question, outline.questions)}"
            if d.question else f"@{d.kind} names no question; write @{d.kind}(\"{next(iter(outline.questions))}\")",
        )
        for d in declared
        if d.question not in known
    ]  # fmt: skip


def _too_few(declared: list[Declared], outline: Outline) -> list[Fault]:
    """One fault for each incomplete question."""
    count = Counter((d.question, d.kind) for d in declared)
    faults = []
    for question, line in outline.questions.items():
        lacks = [f"no {words}" for kind, words in NEEDED.items() if not count[question, kind]]
        if question in outline.unfinished:
            what = "; it has " + ", ".join(lacks) if lacks else ""
            sentence = f"the header calls it unfinished{what}"
            faults.append(Fault(outline.file, line, f"question “{question}”", sentence, unfinished=True))
        elif lacks:
            faults.append(Fault(outline.file, line, f"question “{question}”", f"it has {', '.join(lacks)}"))
    return faults


def _repeated(declared: list[Declared]) -> list[Fault]:
    """Names that hide an earlier one in the same file, and hints that two wrong answers of a question share."""
    faults, names, hints = [], dict[tuple[str, str], int](), dict[tuple[str, str], str]()
    for d in declared:
        if names.get((d.file, d.name), d.line) != d.line:
            sentence = (
                f"the function of this name in line {names[d.file, d.name]} is lost; give it another name"
            )
            faults.append(Fault(d.file, d.line, d.name, sentence))
        names.setdefault((d.file, d.name), d.line)
        if d.kind == "misconception" and d.text:
            if hints.get((d.question, d.text), d.name) != d.name:
                sentence = (
                    f"its hint is that of {hints[d.question, d.text]}; say what only this mistake shows"
                )
                faults.append(Fault(d.file, d.line, d.name, sentence))
            hints.setdefault((d.question, d.text), d.name)
    return faults


def _without_words(declared: list[Declared]) -> list[Fault]:
    """Missing docstrings, which students read as titles and hints."""
    words = {"hidden_test": "its title", "family": "its title", "misconception": "the hint"}
    return [
        Fault(d.file, d.line, d.name, f"it needs a docstring: {words[d.kind]}")
        for d in declared
        if d.kind in words and not d.text
    ]
