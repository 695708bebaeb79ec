"""Makes a simulated class in nbgrader's layout: honest, wrong, unlucky, broken and hostile submissions."""

from __future__ import annotations

import json
import random
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.course.build import released_notebook
from autograder.course.masters import solution_sources, source_of_import
from autograder.course.policy_file import spec
from autograder.errors import UserError
from autograder.files import write_atomically
from autograder.questions.engine.answers import answers_of, source_of

_FIRST = (
    "ada alan amina ben carla chen elif emma felix grace ivan jonas kofi lea mei noor olga priya rosa yuki"
)
_LAST = "abe bauer costa diop haddad ito khan lang lopez meyer novak okafor park rossi sato silva singh weber"


@dataclass(frozen=True)
class Kind:
    """A kind of submission: its name, and the function that writes a student's notebook."""

    name: str
    write: Callable[[str, random.Random], str]


def answered(lab: str, answers: dict[str, str]) -> NotebookNode:
    """The released notebook with these sources (question -> code) in its solution cells; other cells stay unchanged."""
    notebook = released_notebook(lab)
    for cell in notebook.cells:
        data = cell.metadata.get("nbgrader", {})
        if data.get("solution") and cell.cell_type == "code" and data["grade_id"] in answers:
            cell.source = answers[data["grade_id"]]
        elif data.get("solution") and cell.cell_type == "markdown":
            cell.source = "I think it follows from the definition, as the figure above shows."
    return notebook


def _text(notebook: NotebookNode) -> str:
    return str(nbformat.writes(notebook))


def sources_of(lab: str, kind: str) -> dict[str, list[str]]:
    """Question -> sources of its misconceptions or alternatives, as far as a notebook can hold them."""
    sources = {
        question: [source for answer in answers if (source := source_of(answer)) is not None]
        for question, answers in answers_of(lab)[kind].items()
    }
    return {question: texts for question, texts in sources.items() if texts}


def pick(sources: dict[str, list[str]], count: int, rng: random.Random) -> dict[str, str]:
    """Choose answers to ``count`` different questions, or to all if there are fewer."""
    questions = rng.sample(sorted(sources), k=min(count, len(sources)))
    return {question: rng.choice(sources[question]) for question in questions}


def _with_cell(lab: str, source: str, place: str | None = None) -> str:
    """A notebook with the master's answers and one more cell: before the first question, or after the cell ``place``."""
    notebook = answered(lab, solution_sources(lab))
    first = spec(lab).questions[0][0]
    index = next(
        i
        for i, c in enumerate(notebook.cells)
        if c.metadata.get("nbgrader", {}).get("grade_id") == (place or first)
    )
    notebook.cells.insert(
        index + (place is not None), nbformat.v4.new_code_cell(textwrap.dedent(source).strip())
    )
    return _text(notebook)


_UNLUCKY = {
    "prints and warns": "import warnings\nwarnings.warn('just saying')\nprint('hello')",
    "uses the shell": "!ls\n%matplotlib inline",
    "a cell that raises": "undefined_name + 1",
    "an import that is not installed": "import a_package_that_is_not_there",
    "reuses a name at the end": None,
}

_HOSTILE = {
    "spins for ever": "while True:\n    pass",
    "eats memory": "hoard = []\nwhile True:\n    hoard.append(bytearray(50_000_000))",
    "exits": "import os\nos._exit(0)",
    "kills": "import os, signal\nos.kill(-1, signal.SIGKILL)",
    "floods its output": "for i in range(300_000):\n    print('flood', i)",
    "reads the repository": (
        "import pathlib\n"
        "for home in ('/root', '/home', '/srv', '/course'):\n"
        "    for depth in ('', '*/', '*/*/', '*/*/*/'):\n"
        "        print(*pathlib.Path(home).glob(depth + 'gradebook.db'), *pathlib.Path(home).glob(depth + 'test_0*.py'))\n"
        "open('/etc/shadow').read()"
    ),
    "opens a socket": "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)",
}


def kinds_of(lab: str) -> list[Kind]:
    """Every kind of submission for a lab, the common ones first."""
    right, wrong, styles = (
        solution_sources(lab),
        sources_of(lab, "misconception"),
        sources_of(lab, "alternative"),
    )

    def mistaken(count: int) -> Callable[[str, random.Random], str]:
        return lambda _, rng: _text(answered(lab, right | pick(wrong, count, rng)))

    def other_style(_: str, rng: random.Random) -> str:
        return _text(answered(lab, right | pick(styles, len(right), rng)))

    def half(_: str, rng: random.Random) -> str:
        names = list(right)
        return _text(answered(lab, {name: right[name] for name in names[: rng.randint(1, len(names) - 1)]}))

    def unlucky(_: str, rng: random.Random) -> str:
        _name, source = rng.choice(list(_UNLUCKY.items()))
        last = list(right)[-1]
        return _with_cell(lab, source or f"{last} = 'overwritten'", None if source else f"test_{last}")

    kinds = [
        Kind("honest", lambda *_: _text(answered(lab, right))),
        Kind("another style", other_style),
        Kind("one misconception", mistaken(1)),
        Kind("two misconceptions", mistaken(2)),
        Kind("half done", half),
        Kind("unlucky", unlucky),
        Kind("untouched", lambda *_: _text(released_notebook(lab))),
        Kind("cut off", lambda *_: _text(answered(lab, right))[:2000]),
        Kind("test cell edited", lambda *_: _edited(lab, right)),
    ]
    kinds += [
        Kind(name, lambda *_, source=source: _with_cell(lab, source)) for name, source in _HOSTILE.items()
    ]
    possible = {
        "another style": bool(styles),
        "half done": len(right) > 1,
        "one misconception": bool(wrong),
        "two misconceptions": len(wrong) > 1,
    }
    return [kind for kind in kinds if possible.get(kind.name, True)]


def _edited(lab: str, right: dict[str, str]) -> str:
    notebook = answered(lab, right)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            cell.source = "20.0"
    return _text(notebook)


#: The number of each common kind among twenty students; every other kind occurs once in a class.
_COMMON = {"honest": 5, "another style": 3, "one misconception": 6, "two misconceptions": 3, "half done": 3}


def simulate(lab: str, students: int, out: Path, seed: int = 0, hostile: bool = True) -> dict[str, str]:
    """Write ``students`` submissions of a lab (full name) to ``out``. Returns student -> kind.

    ``hostile=False`` leaves out submissions that break or attack a grader (for comparisons with stock nbgrader).
    The kinds are also written to ``<out>.kinds.json``, beside the folder.
    """
    if source_of_import(lab):
        raise UserError(
            f"{lab} was imported and has no wrong answers to make a class of: choose one of the course's own labs."
        )
    if students < 1:
        raise UserError("A class needs at least one student: give --students 1 or more.")
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out} is not empty: choose another folder or remove it.")
    rng = random.Random(f"{seed} {lab}")
    kinds = kinds_of(lab)
    common = [kind for kind in kinds for _ in range(_COMMON.get(kind.name, 0))]
    rare = [kind for kind in kinds if kind.name not in _COMMON]
    if not hostile:
        rare = [kind for kind in rare if kind.name in ("unlucky", "untouched")]
    rng.shuffle(common)
    chosen = (rare if students >= 2 * len(rare) else rng.sample(rare, students // 3))[:students]
    while len(chosen) < students:
        chosen += common[: students - len(chosen)]
    rng.shuffle(chosen)
    written = {}
    for student, kind in zip(_names(students, rng), chosen, strict=True):
        folder = out / student / lab
        write_atomically(folder / f"{lab}.ipynb", kind.write(student, rng))
        write_atomically(folder / "timestamp.txt", "2026-10-01 12:00:00 UTC\n")
        written[student] = kind.name
    write_atomically(out.with_name(out.name + ".kinds.json"), json.dumps(written, indent=2) + "\n")
    return written


def _names(count: int, rng: random.Random) -> list[str]:
    """``count`` different names; numbered ones if the invented names do not suffice."""
    names = [f"{first}_{last}" for first in _FIRST.split() for last in _LAST.split()]
    rng.shuffle(names)
    return (names + [f"student_{number:05d}" for number in range(count - len(names))])[:count]
