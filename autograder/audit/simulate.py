"""Makes a simulated class in nbgrader's layout: honest, wrong, unlucky, broken and hostile submissions."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.course.build import released_notebook
from autograder.course.masters import solution_sources, source_of_import
from autograder.errors import UserError
from autograder.files import write_atomically
from autograder.questions.engine.answers import answers_of, source_of

#: The lists of a simulated class: names, the number of each common kind, cells.
_MADE_OF = tomllib.loads(Path(__file__).with_name("simulated.toml").read_text(encoding="utf-8"))
#: Writes the text of a student's notebook.
Write = Callable[[random.Random], str]


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


def _with_cell(lab: str, source: str, place: str, behind: int = 0) -> str:
    """A notebook with the master's answers and one more cell, before the cell ``place`` or ``behind`` it (1)."""
    notebook = answered(lab, solution_sources(lab))
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    notebook.cells.insert(names.index(place) + behind, nbformat.v4.new_code_cell(source))
    return _text(notebook)


def kinds_of(lab: str) -> dict[str, Write]:
    """Every kind of submission for a lab, the common ones first."""
    right = solution_sources(lab)
    wrong, styles = sources_of(lab, "misconception"), sources_of(lab, "alternative")
    names = list(right)

    def written(sources: dict[str, str]) -> str:
        return _text(answered(lab, sources))

    def half(rng: random.Random) -> str:
        return written({name: right[name] for name in names[: rng.randint(1, len(names) - 1)]})

    def unlucky(rng: random.Random) -> str:
        source = rng.choice([*_MADE_OF["unlucky"].values(), ""])
        if not source:  # the last answer's name is used again at the end
            return _with_cell(lab, f"{names[-1]} = 'overwritten'", f"test_{names[-1]}", behind=1)
        return _with_cell(lab, source, names[0])

    kinds: dict[str, Write] = {"honest": lambda rng: written(right)}
    if styles:
        kinds["another style"] = lambda rng: written(right | pick(styles, len(right), rng))
    if wrong:
        kinds["one misconception"] = lambda rng: written(right | pick(wrong, 1, rng))
    if len(wrong) > 1:
        kinds["two misconceptions"] = lambda rng: written(right | pick(wrong, 2, rng))
    if len(right) > 1:
        kinds["half done"] = half
    kinds |= {
        "unlucky": unlucky,
        "untouched": lambda rng: _text(released_notebook(lab)),
        "cut off": lambda rng: written(right)[:2000],
        "test cell edited": lambda rng: _edited(lab, right),
    }
    return kinds | {
        name: lambda rng, source=source: _with_cell(lab, source, names[0])
        for name, source in _MADE_OF["hostile"].items()
    }


def _edited(lab: str, right: dict[str, str]) -> str:
    notebook = answered(lab, right)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            cell.source = "20.0"
    return _text(notebook)


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
    kinds, often = kinds_of(lab), _MADE_OF["common"]
    common = [kind for kind in kinds for _ in range(often.get(kind, 0))]
    rare = [kind for kind in kinds if kind not in often and (hostile or kind in ("unlucky", "untouched"))]
    rng.shuffle(common)
    chosen = (rare if students >= 2 * len(rare) else rng.sample(rare, students // 3))[:students]
    while len(chosen) < students:
        chosen += common[: students - len(chosen)]
    rng.shuffle(chosen)
    written = dict(zip(_names(students, rng), chosen, strict=True))
    for student, kind in written.items():
        folder = out / student / lab
        write_atomically(folder / f"{lab}.ipynb", kinds[kind](rng))
        write_atomically(folder / "timestamp.txt", "2026-10-01 12:00:00 UTC\n")
    write_atomically(out.with_name(out.name + ".kinds.json"), json.dumps(written, indent=2) + "\n")
    return written


def _names(count: int, rng: random.Random) -> list[str]:
    """``count`` different names; numbered ones if the invented names do not suffice."""
    first_names, last_names = _MADE_OF["first_names"].split(), _MADE_OF["last_names"].split()
    names = [f"{first}_{last}" for first in first_names for last in last_names]
    rng.shuffle(names)
    return (names + [f"student_{number:05d}" for number in range(count - len(names))])[:count]
