"""Reads the files beside a master (checks, hidden tests, wrong and other right answers), and names what does not fit.

They are read as syntax trees: a decorator such as ``@misconception("entropy")`` says all that is needed.
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

#: How many of each a question needs at least, and what they are called.
NEEDED = {
    "public_check": (1, "public check"),
    "hidden_test": (1, "hidden test"),
    "misconception": (4, "misconceptions"),
    "alternative": (2, "alternatives"),
}
#: The same for a question that is described in a file of its own.
NEEDED_IN_ITS_FILE = {
    "family": (1, "family of inputs and no scenario"),
    "misconception": (1, "misconception"),
    "alternative": (1, "alternative"),
}
#: Lists that name questions by their keys, and whether more follows the name after a colon.
_LISTS = {"FORBIDDEN": False, "ONLY_UNSEEN": False, "EQUIVALENT_MUTANTS": True}


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
    """Every fault in the files beside the master of ``lab`` (full name)."""
    faults: list[Fault] = []
    declared: list[Declared] = []
    missing = set()
    for path, kinds, what in companion_files(lab, root):
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.is_file() else []
        if not files:
            faults.append(missing_file(path, root, what))
            missing |= kinds
        for file in files:
            declared += _read(file, root, kinds, outline, faults)
    if outline.questions:
        faults += _unknown(declared, outline) + _too_few(declared, outline, missing)
    return faults + _repeated(declared) + _without_words(declared)


def imported_faults(lab: str, root: Path) -> list[Fault]:
    """Faults of a lab that came from nbgrader: a test of a cell that is not there. It needs no checks and no wrong answers."""
    path, kinds, what = companion_files(lab, root)[1]
    if not path.is_file():
        return [missing_file(path, root, what)]
    faults: list[Fault] = []
    outline = Outline(f"solutions/{lab}/{lab}.py")
    outline.questions = {name: 0 for name, _ in lab_as_written(lab).questions}
    declared = list(_read(path, root, kinds, outline, faults))
    return faults + _unknown(declared, outline) + _repeated(declared) + _without_words(declared)


def companion_files(lab: str, root: Path) -> list[tuple[Path, set[str], str]]:
    """The files and the folder beside a master, what each of them declares, and what that is in words."""
    checks = (
        root / "notebooks" / "coursekit" / "checks" / f"c{lab}.py",
        {"public_check"},
        "the lab's public checks",
    )
    tests = root / "autograder" / "hidden_tests" / f"test_{lab}.py"
    questions = root / "autograder" / "questions" / f"m{lab}"
    if questions.is_dir() and not tests.exists():
        return [
            *([checks] if checks[0].exists() else []),
            (questions, set(NEEDED_IN_ITS_FILE), "the lab's questions"),
        ]
    return [
        checks,
        (tests, {"hidden_test"}, "the lab's hidden tests"),
        (root / "autograder" / "misconceptions" / f"m{lab}", {"misconception", "alternative"},
         "the lab's misconceptions and alternatives"),
    ]  # fmt: skip


def _read(
    file: Path, root: Path, kinds: set[str], outline: Outline, faults: list[Fault]
) -> Iterable[Declared]:
    name = file.relative_to(root).as_posix()
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 0) or 0
        faults.append(Fault(name, line, "", f"it is no Python: {getattr(error, 'msg', error)}"))
        return
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and outline.questions:
            faults += _unknown_in_list(node, name, outline)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        marks = (_declared(node, mark, name) for mark in node.decorator_list)
        found = [d for d in marks if d.kind in {**NEEDED, **NEEDED_IN_ITS_FILE}]
        for one in found:
            if one.kind not in kinds:
                faults.append(Fault(name, one.line, one.name, f"a {one.kind} does not belong into this file"))
            yield one
        if "hidden_test" in kinds and isinstance(node, ast.FunctionDef):
            faults += _arguments(node, name, marked=bool(found))


def _declared(node: ast.FunctionDef | ast.ClassDef, mark: ast.expr, file: str) -> Declared:
    call = mark if isinstance(mark, ast.Call) else None
    if isinstance(of := call.func if call else mark, ast.Attribute):
        kind = "family" if of.attr == "scenario" else of.attr
        words = [k.value for k in call.keywords if k.arg == "hint"] if call else []
        words += call.args[:1] if call and kind == "family" else []
        text = str(getattr(words[0], "value", "")) if words else ast.get_docstring(node) or ""
        return Declared(file, node.lineno, kind, Path(file).stem, node.name, " ".join(text.split()))
    kind = getattr(of, "id", "")
    value = call.args[0] if call and call.args else None
    question = str(value.value) if isinstance(value, ast.Constant) else ""
    return Declared(
        file, node.lineno, kind, question, node.name, " ".join((ast.get_docstring(node) or "").split())
    )


def _arguments(node: ast.FunctionDef, file: str, *, marked: bool) -> list[Fault]:
    """What is wrong with the arguments of a hidden test, or that a function which looks like one is none."""
    names = [argument.arg for argument in node.args.args]
    if not marked:
        looks = node.name.startswith("test") and names[:1] == ["student"]
        sentence = 'it is no hidden test without @hidden_test("…") above it'
        return [Fault(file, node.lineno, node.name, sentence)] if looks else []
    if names[:1] == ["student"] and set(names) <= {"student", "rng"}:
        return []
    sentence = f"a hidden test takes (student) or (student, rng), not ({', '.join(names)})"
    return [Fault(file, node.lineno, node.name, sentence)]


def _unknown_in_list(node: ast.Assign | ast.AnnAssign, file: str, outline: Outline) -> list[Fault]:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    name = getattr(target, "id", "")
    if name not in _LISTS or not isinstance(node.value, ast.Dict):
        return []
    known = {*outline.questions, *outline.challenges}
    keys = [key for key in node.value.keys if isinstance(key, ast.Constant)]
    questions = [(str(k.value).partition(":")[0] if _LISTS[name] else str(k.value), k.lineno) for k in keys]
    return [
        Fault(file, line, name, f"there is no question “{question}”{nearest(question, outline.questions)}")
        for question, line in questions
        if question not in known
    ]


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


def _too_few(declared: list[Declared], outline: Outline, missing: set[str]) -> list[Fault]:
    """A sentence a question for all that it lacks."""
    count = Counter((d.question, d.kind) for d in declared)
    kinds = NEEDED_IN_ITS_FILE if any(d.kind == "family" for d in declared) else NEEDED
    faults = []
    for question, line in outline.questions.items():
        lacks = []
        for kind, (needed, words) in kinds.items():
            if kind not in missing and (n := count[question, kind]) < needed:
                lacks.append(f"no {words}" if needed == 1 else f"{n} of {needed} {words}")
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
    """What students would read is a docstring: a check's line, a test's title, a mistake's hint."""
    words = {
        "public_check": "the line on the card",
        "hidden_test": "its title",
        "family": "its title",
        "misconception": "the hint",
    }
    return [
        Fault(d.file, d.line, d.name, f"it needs a docstring: {words[d.kind]}")
        for d in declared
        if d.kind in words and not d.text
    ]
