"""Who is graded again when a file changes: everybody, the labs that rest on it, one question, or nobody."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course.masters import course_root
from autograder.course.policy_file import limits_of
from autograder.grading import cache_keys
from autograder.grading.cache_keys import JUDGES, PACKAGE, Context, context_of, harness_digest, kit_used

#: What only shows, carries or writes: pages are kept current by ``run/stale_pages.py``. A new folder is placed here or in ``JUDGES``.
SHOWS = {
    "__init__.py", "audit", "cli", "collect", "exports", "gradebook", "importing", "nbgrader_plugin", "pages", "run", "serve", "systems",
}  # fmt: skip


@pytest.fixture
def package(tmp_path, monkeypatch) -> Iterator[Path]:
    """A copy of the harness of which this process computes the digests."""
    shutil.copytree(PACKAGE, tmp_path / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache_keys, "PACKAGE", tmp_path / "autograder")
    yield tmp_path / "autograder"
    harness_digest.cache_clear()


def test_what_judges_has_everybody_graded_again_and_what_shows_nobody(package):
    places = {
        path.name for path in package.iterdir() if path.suffix in (".py", ".toml") or [*path.glob("*.py")]
    }
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


def test_what_a_student_has_of_the_kit_has_that_lab_graded_again_but_other_labs_cards():
    kit = course_root() / "notebooks" / "coursekit"
    used = {file.relative_to(kit).as_posix() for file in kit_used("09_blocks")}
    assert {"checks/api.py", "models/letters.py", "provided/p08_multi_head.py"} < used
    cards = {name for name in used if name.startswith("checks/data/q")}
    assert cards == {"checks/data/q09_blocks.json"}
    assert not any(name.startswith(("demos/", "provided/p09")) for name in used)


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
    shutil.copytree(cache_keys.questions_folder("09_blocks"), folder)
    monkeypatch.setattr(cache_keys, "questions_folder", lambda lab: folder)
    with (folder / f"{file}.py").open("a") as edited:
        edited.write("\nEDITED = True\n")
    after = context_of("09_blocks", limits_of("09_blocks"))
    assert after.shared == before.shared
    assert {name for name, key in after.questions.items() if key != before.questions[name]} == asked_again


def test_no_two_lists_of_cells_have_one_key():
    context = Context("x", {}, {"question": "own"})
    cells = [["a", "b"], ["a\0b"], ["ab"], ["b", "a"], ["\ud800"], ["\\ud800"], ["a", "b", ""]]
    keys = [context.question_keys(executed)["code"] for executed in cells]
    assert len({*keys}) == len(cells)
