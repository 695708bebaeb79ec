"""Who is graded again when a module changes: every module of the harness and of the student kit is edited in turn."""

from __future__ import annotations

import ast
import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from autograder.course.masters import all_labs, course_root, read_master
from autograder.course.policy_file import limits_of
from autograder.course.visible_files import lab_number
from autograder.grading import cache_keys, kit_imports
from autograder.grading.cache_keys import Context, context_of, harness_digest, notebook_key
from autograder.grading.submissions import Submission, read
from autograder.run.plan import EarlierRun, make_plan

HERE = course_root()
LABS = all_labs()
NUMBERS = frozenset(lab[:2] for lab in LABS)

EVERYBODY = "every lab"
NOBODY = "no lab"
ITS_LAB = "the lab whose number is in its name"
ITS_USERS = "the labs whose cells, checks, tests or answers import it"

#: Folder or file -> who is graded again when a module in it changes. The nearest entry counts; a new folder must be placed.
WHO = {
    "autograder/__init__.py": NOBODY,  # a docstring
    "autograder/errors.py": EVERYBODY,  # how a run ends
    "autograder/files.py": EVERYBODY,  # makes the digests
    "autograder/results.py": EVERYBODY,  # what a result is
    "autograder/startup": EVERYBODY,  # how many threads compute
    "autograder/sandbox": EVERYBODY,  # runs the student's code and brings its values back
    "autograder/course": EVERYBODY,  # reads points, limits and given cells
    "autograder/testing": EVERYBODY,  # what every hidden test is made of
    "autograder/grading": EVERYBODY,  # repairs, runs, judges
    "autograder/questions/__init__.py": NOBODY,
    "autograder/questions/engine": EVERYBODY,  # asks and compares
    "autograder/questions": ITS_LAB,
    **{f"autograder/questions/m{lab}/__init__.py": NOBODY for lab in LABS},  # a docstring
    # They show and carry what was judged; pages are kept current by ``run/stale_pages.py``.
    "autograder/gradebook": NOBODY,
    "autograder/pages": NOBODY,
    "autograder/run": NOBODY,
    "autograder/collect": NOBODY,
    "autograder/serve": NOBODY,
    "autograder/exports": NOBODY,
    "autograder/preview": NOBODY,
    "autograder/importing": NOBODY,  # writes files that others read
    "autograder/audit": NOBODY,
    "autograder/nbgrader_plugin": NOBODY,
    "autograder/cli": NOBODY,
    # The student kit: what stands beside a student's code when it runs.
    "notebooks/coursekit/__init__.py": EVERYBODY,
    "notebooks/coursekit/errors.py": ITS_USERS,
    "notebooks/coursekit/hardware.py": ITS_USERS,
    "notebooks/coursekit/notebook": EVERYBODY,  # the cards of every check
    "notebooks/coursekit/checks": EVERYBODY,
    "notebooks/coursekit/data": ITS_USERS,
    "notebooks/coursekit/figures": ITS_USERS,
    "notebooks/coursekit/models": ITS_USERS,
    "notebooks/coursekit/provided": ITS_USERS,
    "notebooks/coursekit/provided/__init__.py": EVERYBODY,  # ``checks/earlier_labs.py`` imports from the package by number
    "notebooks/coursekit/translator": ITS_USERS,
    "notebooks/coursekit/demos": NOBODY,  # a lecture's: no student has them
}

#: Some of the above by hand, so that both ways of finding out could not be wrong together.
KNOWN = {
    "notebooks/coursekit/figures/__init__.py": NUMBERS,
    "notebooks/coursekit/figures/markov_chain.py": {"01"},
    "notebooks/coursekit/models/letters.py": {"11", "13"},
    "notebooks/coursekit/provided/p08_multi_head.py": {"09", "10", "12", "13"},  # mine("08", …), or by p09
    "notebooks/coursekit/provided/p11_decoding.py": {"12"},
}


def modules() -> list[str]:
    folders = (HERE / "autograder", HERE / "notebooks" / "coursekit")
    return sorted(file.relative_to(HERE).as_posix() for folder in folders for file in folder.rglob("*.py"))


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Iterator[Path]:
    """A copy of the course in which this process computes its contexts."""
    root = tmp_path_factory.mktemp("course")
    unwanted = shutil.ignore_patterns("__pycache__", "*.ipynb")
    for folder in ("autograder", "notebooks/coursekit", "solutions"):
        shutil.copytree(HERE / folder, root / folder, ignore=unwanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_ROOT", str(root))
        patch.setattr(cache_keys, "PACKAGE", root / "autograder")
        patch.setattr(cache_keys, "data_files", lambda lab: [])  # megabytes that are no modules
        patch.setattr(kit_imports, "_named", remembering(kit_imports._named))
        patch.setattr(Path, "read_bytes", lambda file: CONTENTS[file].encode())
        patch.setattr(Path, "read_text", lambda file, encoding="": CONTENTS[file])
        yield root
    harness_digest.cache_clear()
    CONTENTS.clear()


class Contents(dict[Path, str]):
    """The contents of files, each read once and edited here: hundreds of edits leave nearly all as they are."""

    def __missing__(self, file: Path) -> str:
        with file.open(encoding="utf-8") as opened:
            self[file] = opened.read()
        return self[file]


CONTENTS = Contents()


def remembering(named: Callable[..., frozenset[str]]) -> Callable[..., frozenset[str]]:
    """``kit_imports._named``, which searches a text for names, once for each text and lab: hundreds of edits leave most as they are."""
    results: dict[tuple[bytes, int], frozenset[str]] = {}

    def remembered(source: bytes, files: Mapping[str, Path]) -> frozenset[str]:
        key = (source, id(files))  # ``_files`` makes one mapping a lab and keeps it
        if key not in results:
            results[key] = named(source, files)
        return results[key]

    return remembered


def contexts(numbers: Collection[str] = NUMBERS) -> dict[str, Context]:
    """Number of a lab -> its context now."""
    harness_digest.cache_clear()
    return {lab[:2]: context_of(lab, limits_of(lab)) for lab in LABS if lab[:2] in numbers}


@pytest.fixture(scope="module")
def before(course: Path) -> dict[str, Context]:
    return contexts()


def edited(*files: Path, numbers: Collection[str] = NUMBERS) -> dict[str, Context]:
    """The contexts when each of these modules holds one statement more."""
    texts = {file: file.read_text() for file in files}
    try:
        CONTENTS.update({file: text + "\nEDITED = True\n" for file, text in texts.items()})
        return contexts(numbers)
    finally:
        CONTENTS.update(texts)


@cache
def kit_modules_of(lab: str) -> frozenset[str]:
    """The kit's modules that a lab comes to import, by its syntax trees: the labs' own way to say it, read another way."""
    names = {"coursekit"}
    sources = [cell.source for cell in read_master(lab).cells if cell.cell_type == "code"]
    questions = (HERE / "autograder" / "questions" / f"m{lab}").glob("*.py")
    for source in [*sources, *(file.read_text() for file in questions)]:
        names |= imports(source)
    seen: set[str] = set()
    while names - seen:
        name = (names - seen).pop()
        if name.startswith("coursekit.provided.p") and name.split(".")[2][1:3] >= lab[:2]:
            names.discard(name)  # the lab's own answers: none of its students has them
            continue
        seen.add(name)
        names |= {name.rpartition(".")[0] or name}
        for end in (".py", "/__init__.py"):
            file = HERE / "notebooks" / (name.replace(".", "/") + end)
            if file.is_file():
                names |= imports(file.read_text())
    return frozenset(seen)


@cache
def imports(source: str) -> frozenset[str]:
    """The kit's modules that a source names."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "mine":
            lab = next((name for name in LABS if name[:2] == ast.literal_eval(node.args[0])), "")
            names |= {f"coursekit.provided.p{lab}"}
    return frozenset(name for name in names if name.split(".")[0] == "coursekit")


def place_of(module: str) -> str:
    """The entry of ``WHO`` that speaks of a module; "" when none does."""
    return next((str(p) for p in (Path(module), *Path(module).parents) if str(p) in WHO), "")


def expected(module: str) -> set[str]:
    place = place_of(module)
    assert place, f"{module}: say in WHO who is graded again when it changes"
    if WHO[place] == ITS_LAB:
        return {number for part in Path(module).parts if (number := lab_number(part))}
    if WHO[place] == ITS_USERS:
        name = module.removeprefix("notebooks/").removesuffix(".py").removesuffix("/__init__")
        return {lab[:2] for lab in LABS if name.replace("/", ".") in kit_modules_of(lab)}
    return set(NUMBERS) if WHO[place] == EVERYBODY else set()


def test_a_module_that_changes_has_those_labs_graded_again_that_rest_on_it_and_no_other(course, before):
    """Modules of the same labs are edited together, which no other lab may notice; then each alone, which its labs must."""
    assert {module: expected(module) for module in KNOWN} == KNOWN
    modules_of = defaultdict(list)
    for module in modules():
        modules_of[frozenset(expected(module))].append(module)
    assert len(modules_of[frozenset()]) > 50
    for labs, together in modules_of.items():
        after = edited(*(course / module for module in together))
        assert {lab for lab in before if after[lab] != before[lab]} == labs, together
        some = labs if labs < NUMBERS else {min(labs), max(labs)}  # what is everybody's is in one digest
        for module in together if labs else ():
            after = edited(course / module, numbers=some)
            assert [lab for lab in some if after[lab] == before[lab]] == [], module


def test_wrong_answers_to_a_question_have_that_question_graded_again_and_those_that_import_them(
    course, before
):
    folder = course / "autograder" / "questions" / "m09_blocks"
    its_users = {"LayerNorm", "FeedForward", "EncoderBlock", "DecoderBlock", "residual"}
    for file, names in {"FeedForward": {"FeedForward"}, "common": its_users}.items():
        after = edited(folder / f"{file}.py")["09"]
        assert after.shared == before["09"].shared
        assert {q for q, key in after.questions.items() if key != before["09"].questions[q]} == names


def notebook(tmp_path: Path, *lines: str):
    path = tmp_path / "notebook.ipynb"
    cell = (
        '{"cells": [{"cell_type": "code", "source": [' + ", ".join(f'"{line}\\n"' for line in lines) + "]}]}"
    )
    path.write_text(cell)
    CONTENTS.pop(path, None)
    return read(Submission("ada", path), "11_decoding")


@pytest.mark.parametrize(
    "lines",
    [
        ["import coursekit.models.reversing as r"],
        ["from coursekit.models import letters, reversing"],
        ["from coursekit.models import (", "    letters,", "    reversing,", ")"],
    ],
)
def test_a_notebook_rests_on_the_modules_of_the_kit_that_it_alone_imports(
    lines, course, tmp_path, monkeypatch
):
    """Labs 11 and 13 use ``models/letters.py``, lab 10 ``models/reversing.py``."""
    odd, plain = notebook(tmp_path, *lines), notebook(tmp_path, "from coursekit.models import letters")
    context = contexts()["11"]
    key = notebook_key(odd)
    assert key.startswith(f"{odd.digest}+") and notebook_key(plain) == plain.digest
    file = course / "notebooks" / "coursekit" / "models" / "reversing.py"
    text = file.read_text()
    try:
        CONTENTS[file] = text + "\nEDITED = True\n"
        cache_keys._kit_beyond.cache_clear()
        assert context == contexts()["11"], "nobody else has to be graded again"
        earlier = EarlierRun(context, {"ada": (key, context.whole)})
        assert make_plan([odd], earlier, context).reasons == {"ada": "changed: student kit"}
        changed = cache_keys.kit_key(odd)
    finally:
        CONTENTS[file] = text
        cache_keys._kit_beyond.cache_clear()
    assert make_plan([odd], earlier, context).unchanged == ("ada",)
    keys = [context.question_keys(["1"], kit) for kit in (cache_keys.kit_key(odd), changed)]
    assert all(keys[0][question] != keys[1][question] for question in context.questions)


def test_no_two_lists_of_cells_have_one_key():
    context = Context("x", {}, {"question": "own"})
    keys = [
        context.question_keys(executed, kit)["code"]
        for executed, kit in (
            (["a", "b"], ""), (["a\0b"], ""), (["ab"], ""), (["a"], "b"), (["b", "a"], ""), (["\ud800"], ""), (["\\ud800"], ""), (["a", "b", ""], ""),
        )
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
