"""Reads the masters: jupytext percent files in which a few cell options stand for nbgrader's metadata.

========================================  ===============================================================
``# %% locked="setup"``                   a given cell, restored before grading
``# %% question="softmax"``               the solution cell of a question, with its BEGIN/END SOLUTION region
``# %% question="faster" points=0``       a challenge: a question without test cell and points
``# %% test="softmax" points=4``          the test cell: its visible part; the hidden region is added here
``# %% [markdown] written="why" points=2``  a text answer that a person grades
``# %% tags=["skip-grading"]``            not run when grading (figures, demos, long training)
``# %% nbgrader={"grade": true, …}``      in an imported lab: nbgrader's original metadata
``# %% rest="\\n   "``                     in an imported lab: the end of a text that this format would change
========================================  ===============================================================

The header's ``course`` entry names the lab's data files and its demo::

    #   course:
    #     data: [names.txt]
    #     demo: 01_markov_bigram
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import os
import re
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course.lab import LabSpec
from autograder.errors import UserError

if TYPE_CHECKING:  # nbformat takes half a second to import
    from nbformat.notebooknode import NotebookNode

SKIP = "skip-grading"
#: A notebook's kernel.
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

_HIDDEN = """
### BEGIN HIDDEN TESTS
from autograder.nbgrader_plugin.score_in_kernel import score

score("{lab}", "{question}", globals())
### END HIDDEN TESTS"""


#: Option of a cell -> where nbgrader's metadata differ from a plain cell's.
ROLES = {
    "question": {"solution": True},
    "test": {"grade": True, "locked": True},
    "written": {"grade": True, "solution": True},
    "locked": {"locked": True},
}
_PLAIN = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}

_DEFAULT_ROOT = Path(__file__).resolve().parents[2]


def course_root() -> Path:
    """The folder that holds ``solutions`` and ``notebooks``: ``COURSE_ROOT``, else the folder of this package."""
    named = os.environ.get("COURSE_ROOT")
    return Path(named) if named else _DEFAULT_ROOT


def use_root(root: Path) -> None:
    """Use the masters and questions of the course in ``root`` from now on."""
    os.environ["COURSE_ROOT"] = str(root)
    package = importlib.import_module("autograder.questions")
    folder = root / "autograder" / "questions"
    if folder.is_dir() and all(not folder.samefile(known) for known in package.__path__):
        package.__path__.insert(0, str(folder))


def all_labs() -> list[str]:
    """The full names of all labs that have a master, in order."""
    return sorted({path.parent.name for path in course_root().glob("solutions/[0-9][0-9]_*/*.py")})


def lab_name(lab: str) -> str:
    """The full name of a lab, given by number (``7``, ``07``) or full name. Raises ``UserError`` for an unknown lab."""
    labs = all_labs()
    for name in labs:
        if lab == name or (lab.isdigit() and int(lab) == int(name[:2])):
            return name
    raise UserError(f"There is no lab “{lab}”: the labs are {', '.join(labs) or 'not here'}.")


def require_new_name(name: str, *files: Path) -> None:
    """Refuse a name that no lab can have, or whose number is taken, and ``files`` or folders that are there."""
    if not re.fullmatch(r"\d\d_[a-z][a-z0-9_]{0,59}", name):
        raise UserError(
            f"“{name}” is no name for a lab: two digits and at most 60 small letters, as in 14_topic."
        )
    if taken := sorted(path.name for path in course_root().glob(f"solutions/{name[:2]}_*")):
        raise UserError(f"There is a lab {taken[0]} already: take another number.")
    for path in filter(Path.exists, files):
        raise UserError(f"{path.relative_to(course_root())} is there already: nothing was written.")


def master_path(lab: str) -> Path:
    """The percent file of a lab (full name)."""
    return course_root() / "solutions" / lab / f"{lab}.py"


def questions_folder(lab: str) -> Path:
    """The folder of a lab's questions."""
    return course_root() / "autograder" / "questions" / f"m{lab}"


@cache
def course_header(lab: str) -> dict[str, Any]:
    """The ``course`` entry of a master's header, without parsing the cells."""
    import yaml

    path = master_path(lab)
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        end = lines.index("# ---", 1) if lines[:1] == ["# ---"] else 0
        header = yaml.safe_load("\n".join(line.removeprefix("#")[1:] for line in lines[1:end])) or {}
        return dict(header.get("jupyter", {}).get("course") or {})
    except (ValueError, AttributeError, TypeError, yaml.YAMLError) as error:
        raise UserError(f"The header of {path} cannot be read: {' '.join(str(error).split())}.") from None


def source_of_import(lab: str) -> str:
    """``ps1/problem1`` for a lab that ``autograder import`` made from an nbgrader notebook; "" for other labs."""
    return str(course_header(lab).get("nbgrader") or "")


@cache
def read_master(lab: str) -> NotebookNode:
    """The master as a notebook with complete nbgrader metadata, solutions and hidden regions in place.

    ``soundness`` checks the names in it before anything is built or graded.
    """
    import jupytext
    import nbformat

    path = master_path(lab)
    notebook: NotebookNode = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    course = dict(notebook.metadata.get("course", {}))
    about = {"kernelspec": KERNEL, "language_info": {"name": "python"}, "course": course}
    notebook.metadata = nbformat.from_dict(about)
    for index, cell in enumerate(notebook.cells):
        _expand(cell, lab)
        cell["id"] = _cell_id(cell, index)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _expand(cell: NotebookNode, lab: str) -> None:
    """Turn the short options into nbgrader's metadata, and add the hidden region of a test cell."""
    from nbformat import from_dict

    options = cell.metadata
    cell.source += options.pop("rest", "")
    cell.metadata = from_dict({"tags": list(options["tags"])} if options.get("tags") else {})
    role = next((role for role in ROLES if role in options), "")
    if "nbgrader" in options:
        cell.metadata["nbgrader"] = options["nbgrader"]
    elif role:
        name, points = options[role], options.get("points")
        cell.metadata["nbgrader"] = data = from_dict({**_PLAIN, **ROLES[role], "cell_type": cell.cell_type})
        data["grade_id"] = f"test_{name}" if role == "test" else name
        if data["grade"]:
            if not isinstance(points, (int, float)):
                raise UserError(f"The master of {lab} gives no points to the cell “{data['grade_id']}”.")
            data["points"] = points
        if role == "test":
            cell.source += _HIDDEN.format(lab=lab, question=name)
            cell.metadata["deletable"] = False


def _cell_id(cell: NotebookNode, index: int) -> str:
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
    if grade_id:
        return re.sub(r"[^a-zA-Z0-9-_]", "-", grade_id)[:64]
    return f"cell-{index:03d}-{hashlib.sha256(cell.source.encode()).hexdigest()[:6]}"


def is_skipped(cell: NotebookNode) -> bool:
    """Whether a cell of the master does not run in grading."""
    return SKIP in cell.metadata.get("tags", [])


@cache
def lab_as_written(lab: str) -> LabSpec:
    """The lab as its master describes it, without the course's policy."""
    notebook = read_master(lab)
    questions, written = [], []
    for cell in notebook.cells:
        data = cell.metadata.get("nbgrader", {})
        if data.get("task") or (data.get("grade") and data.get("solution")):
            written.append((data["grade_id"], float(data["points"])))
        elif data.get("grade"):
            questions.append((data["grade_id"].removeprefix("test_"), float(data["points"])))
    texts = [c.source for c in notebook.cells if c.cell_type == "markdown"]
    if source := source_of_import(lab):  # it may have no heading
        texts = [text for text in texts if text.startswith("# ")] or [source]
    heading = next(iter(texts), lab)
    title = heading.splitlines()[0].lstrip("# ").strip()
    return LabSpec(lab, title, tuple(questions), tuple(written), tuple(notebook.cells))


@cache
def solution(lab: str) -> dict[str, Any]:
    """The namespace after running the master's cells, except test cells and ``skip-grading`` cells.

    Raises ``UserError``, naming the cell, if one fails.
    """
    namespace: dict[str, Any] = {"__name__": f"master_{lab}"}
    for cell in read_master(lab).cells:
        if cell.cell_type != "code" or is_skipped(cell) or cell.metadata.get("nbgrader", {}).get("grade"):
            continue
        label = cell["id"]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(cell.source, f"<master {lab} {label}>", "exec"), namespace)
        except Exception as error:
            raise UserError(
                f"The cell {label} of the master of {lab} does not run without the cells tagged {SKIP}: "
                f"{type(error).__name__}: {error}."
            ) from error
    return namespace


def solution_source(lab: str, question: str) -> str:
    """The source of a question's solution cell in the master."""
    for cell in read_master(lab).cells:
        data = cell.metadata.get("nbgrader", {})
        if data.get("grade_id") == question and data.get("solution"):
            return str(cell.source)
    raise UserError(f"The master of {lab} has no question “{question}”.")


def solution_sources(lab: str) -> dict[str, str]:
    """Question (imported lab: answer cell) -> source of the master's solution, without the marks of its region."""
    names = [name for name, _ in lab_as_written(lab).questions]
    if source_of_import(lab):
        cells = [cell for cell in read_master(lab).cells if cell.cell_type == "code"]
        answers = [cell.metadata.get("nbgrader", {}) for cell in cells]
        names = [answer["grade_id"] for answer in answers if answer.get("solution")]
    is_mark = re.compile(r"\b(BEGIN|END) SOLUTION").search
    sources = {name: solution_source(lab, name).splitlines() for name in names}
    return {name: "\n".join(line for line in lines if not is_mark(line)) for name, lines in sources.items()}


#: The most cell names that are read: more than any notebook has.
_MAX_NAMES = 10_000
_HEADER = re.compile(r"^# %%.*$", re.MULTILINE)
#: A cell's name in its header: ``question="softmax"``, or in an imported lab ``nbgrader={"grade_id": "softmax", …}``.
_NAME = re.compile(r'(?:="|"grade_id": ")([A-Za-z0-9_-]+)"')
_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"([A-Za-z0-9_-]{1,80})"')


def other_lab(raw: bytes, lab: str) -> str:
    """The full name of a notebook's lab if it is another lab than ``lab``; "" if it is not, or unknown.

    The lab with the most of the notebook's cell names counts.
    """
    mentions = islice(_GRADE_ID.finditer(raw), _MAX_NAMES)
    names = {mention[1].decode().removeprefix("test_") for mention in mentions}
    if not names or (master_path(lab).is_file() and 2 * len(names & _cell_names(lab)) > len(names)):
        return ""  # no need to read the other labs
    shares = {other: len(names & _cell_names(other)) for other in all_labs()}
    best = max(shares, key=lambda other: (shares[other], other == lab))
    return best if best != lab and shares[best] > shares.get(lab, 0) else ""


@cache
def _cell_names(lab: str) -> frozenset[str]:
    text = master_path(lab).read_text(encoding="utf-8")
    return frozenset(name for header in _HEADER.findall(text) for name in _NAME.findall(header))
