"""Near-identical code is found below lines that are no Python, and in cells that a student added."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.course.lab import LabSpec
from autograder.pages.report.page import build_report
from autograder.pages.report.similarity import MAX_SKIPPED, alike_groups, answers
from autograder.results import SubmissionResult
from tests.pages.test_report import function, text_of

Submit = Callable[..., str]
Make = Callable[..., SubmissionResult]

ABOVE = {
    "a shell line with an apostrophe": "!echo it's mine\n",
    "a magic with a quote": '%time print("\n',
    "the result of a shell line": "mine = !echo '''\n",
    "three quotes above and below": '!echo """\n',
    "a line that is no Python": "it's mine\n",
    "a list of words": "say 'one\nsay 'two\n",
}


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
def test_a_copied_answer_is_found_below_lines_that_are_no_python(
    spec: LabSpec, submit: Submit, make_result: Make, above: str
) -> None:
    below = above if '"""' in above else ""
    copied = f"{above}{function(99, prefix='renamed')}\n{below}"
    sources = {"ada": function(99), "bo": copied, "cy": function(3)}
    results = [make_result(name, notebook=submit(spec, {"softmax": code})) for name, code in sources.items()]
    alike = alike_groups([found for one in results if (found := answers(one, spec))], spec)
    assert [(group.students, group.what) for group in alike.groups] == [(("ada", "bo"), "code")]
    assert not alike.left_out


def with_cells(notebook: str, *sources: str) -> str:
    """The notebook with these cells of code in front."""
    made = json.loads(notebook)
    cells = [
        {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": 1}
        for source in sources
    ]
    return json.dumps({**made, "cells": [*cells, *made["cells"]]})


def test_code_in_added_cells_is_compared_and_given_code_is_not(
    tmp_path: Path, spec: LabSpec, submit: Submit, make_result: Make
) -> None:
    plain = submit(spec, {})
    given = [cell.source for cell in spec.cells if cell.cell_type == "code"]
    sources = {
        "ada": [function(7), "x = 1"],
        "bo": [function(7, prefix="own")],
        "cy": [function(8), *given],
        "di": given,
    }
    results = [make_result(name, notebook=with_cells(plain, *cells)) for name, cells in sources.items()]
    alike = alike_groups([found for one in results if (found := answers(one, spec))], spec)
    assert [(group.students, group.what) for group in alike.groups] == [(("ada", "bo"), "added")]
    assert "ada, bo the cells that they added" in text_of(build_report(results, spec, tmp_path)).replace(
        " ,", ","
    )


def test_whose_cells_are_hardly_python_is_named(
    tmp_path: Path, spec: LabSpec, submit: Submit, make_result: Make
) -> None:
    broken = "it's\n" * (MAX_SKIPPED + 1) + function(99)
    results = [make_result("ada", notebook=submit(spec, {"softmax": function(99)}))]
    results += [make_result("bo", notebook=submit(spec, {"softmax": broken}))]
    results += [make_result("cy", notebook=with_cells(submit(spec, {}), broken))]
    text = text_of(build_report(results, spec, tmp_path)).replace(" .", ".")
    assert "because their functions are far longer than any that is asked for, or no Python: bo." in text
    assert "because the cells that they added are far longer" in text and "no Python: cy." in text
