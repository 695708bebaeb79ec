"""Who is graded again when a file changes: everybody, the labs that rest on it, one question, or nobody."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course.masters import all_labs, course_root
from autograder.course.policy_file import limits_of
from autograder.grading import cache_keys
from autograder.grading.cache_keys import (
    JUDGES,
    PACKAGE,
    Context,
    context_of,
    harness_digest,
    kit_key,
    kit_used,
    notebook_key,
)
from autograder.grading.submissions import Submission, read
from autograder.run.plan import EarlierRun, make_plan

LABS = all_labs()
NUMBERS = {lab[:2] for lab in LABS}
#: What only shows, carries or writes: pages are kept current by ``run/stale_pages.py``. A new folder is placed here or in ``JUDGES``.
SHOWS = {
    "__init__.py", "audit", "cli", "collect", "exports", "gradebook", "importing", "nbgrader_plugin", "pages", "run", "serve", "systems",
}  # fmt: skip
#: Modules of the student kit -> the labs whose cells, cards or questions come to run them, read off the labs by hand.
USERS = {
    "checks/api.py": NUMBERS,
    "figures/__init__.py": NUMBERS,
    "figures/markov_chain.py": {"01"},
    "models/letters.py": {"11", "13"},
    "models/reversing.py": {"10"},
    "notebook/cards.py": NUMBERS,
    "provided/p08_multi_head.py": {"09", "10", "12", "13"},  # mine("08", …), or by p09
    "provided/p11_decoding.py": {"12"},
    **{f"checks/data/q{lab}.json": {lab[:2]} for lab in LABS},
}


@pytest.fixture
def package(tmp_path, monkeypatch) -> Iterator[Path]:
    """A copy of the harness of which this process computes the digests."""
    shutil.copytree(PACKAGE, tmp_path / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache_keys, "PACKAGE", tmp_path / "autograder")
    yield tmp_path / "autograder"
    harness_digest.cache_clear()


def test_what_judges_has_everybody_graded_again_and_what_shows_nobody(package):
    places = {path.name for path in package.iterdir() if path.suffix == ".py" or [*path.glob("*.py")]}
    assert places == SHOWS | {name.partition("/")[0] for name in JUDGES} and SHOWS.isdisjoint(JUDGES)
    digests = []
    for place in ("", *sorted(SHOWS), *JUDGES):
        one = package / place
        files = [one] if one.is_file() else sorted(one.rglob("*.py"))[-1:] if place else []
        for file in files:
            file.write_text(file.read_text() + "\nEDITED = True\n")
        harness_digest.cache_clear()
        digests.append(harness_digest())
    assert len({*digests[: len(SHOWS) + 1]}) == 1 and len({*digests}) == len(JUDGES) + 1


def test_the_kits_modules_have_those_labs_graded_again_that_come_to_run_them():
    kit = course_root() / "notebooks" / "coursekit"
    used = {lab[:2]: {file.relative_to(kit).as_posix() for file in kit_used(lab)} for lab in LABS}
    assert {name: {lab for lab in used if name in used[lab]} for name in USERS} == USERS
    assert not any(name.startswith("demos/") for files in used.values() for name in files)


@pytest.mark.parametrize(
    ("file", "asked_again"),
    [
        ("FeedForward", {"FeedForward"}),
        ("common", {"LayerNorm", "FeedForward", "EncoderBlock", "DecoderBlock", "residual"}),
    ],
)
def test_a_questions_file_has_that_question_graded_again_and_those_that_import_it(
    file, asked_again, tmp_path, monkeypatch
):
    before = context_of("09_blocks", limits_of("09_blocks"))
    folder = tmp_path / "questions" / "m09_blocks"
    shutil.copytree(cache_keys._questions_folder("09_blocks"), folder)
    monkeypatch.setattr(cache_keys, "_questions_folder", lambda lab: folder)
    with (folder / f"{file}.py").open("a") as edited:
        edited.write("\nEDITED = True\n")
    after = context_of("09_blocks", limits_of("09_blocks"))
    assert after.shared == before.shared
    assert {name for name, key in after.questions.items() if key != before.questions[name]} == asked_again


@pytest.mark.parametrize(
    "lines",
    [
        ["import coursekit.models.reversing as r"],
        ["from coursekit.models import letters, reversing"],
        ["from coursekit.models import (", "    letters,", "    reversing,", ")"],
    ],
)
def test_a_notebook_rests_on_the_modules_of_the_kit_that_it_alone_imports(lines, tmp_path, monkeypatch):
    """Labs 11 and 13 use ``models/letters.py``, lab 10 ``models/reversing.py``."""

    def notebook(*lines: str):
        path = tmp_path / "notebook.ipynb"
        path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": [f"{x}\n" for x in lines]}]}))
        return read(Submission("ada", path), "11_decoding")

    plain, odd = notebook("from coursekit.models import letters"), notebook(*lines)
    context, key = context_of("11_decoding", limits_of("11_decoding")), notebook_key(odd)
    assert key == f"{odd.digest}+{kit_key(odd)}" and notebook_key(plain) == plain.digest
    earlier = EarlierRun(context, {"ada": (key, context.whole)})
    assert make_plan([odd], earlier, context).unchanged == ("ada",)
    before = context.question_keys(["1"], kit_key(odd))
    monkeypatch.setattr(
        cache_keys, "_kit_beyond", lambda lab, named: "changed" if "models/reversing.py" in named else ""
    )
    assert make_plan([odd], earlier, context).reasons == {"ada": "changed: student kit"}
    after = context.question_keys(["1"], kit_key(odd))
    assert all(before[question] != after[question] for question in context.questions)


def test_no_two_lists_of_cells_have_one_key():
    context = Context("x", {}, {"question": "own"})
    cells = [["a", "b"], ["a\0b"], ["ab"], ["b", "a"], ["\ud800"], ["\\ud800"], ["a", "b", ""]]
    keys = [context.question_keys(executed)["code"] for executed in cells]
    assert len({*keys, context.question_keys(["a"], "b")["code"]}) == len(cells) + 1
