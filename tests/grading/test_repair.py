"""A student's notebook, whatever state it is in, becomes the cells that are run."""

from __future__ import annotations

import copy
import json

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.audit.simulate import answered
from autograder.course.masters import solved
from autograder.errors import Unreadable
from autograder.grading.cell_text import statements
from autograder.grading.demonstrations import (
    definitions_of,
    demonstration,
    made_by_demonstrations,
    names_bound,
)
from autograder.grading.repair import Template, kept_name, repair

LAB = "01_markov_bigram"


@pytest.fixture(scope="module")
def template() -> Template:
    return Template.of(LAB)


@pytest.fixture
def notebook():
    return answered(LAB, solved(LAB))


def raw(notebook) -> bytes:
    return nbformat.writes(notebook).encode()


def position(notebook, grade_id: str) -> int:
    return next(
        i for i, c in enumerate(notebook.cells) if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


def order(repaired) -> list[str]:
    return [cell.grade_id for cell in repaired.cells if cell.grade_id]


def test_an_honest_notebook_passes_without_a_note(notebook, template):
    repaired = repair(raw(notebook), template)
    assert repaired.notes == []
    assert order(repaired) == [
        c.metadata.nbgrader.grade_id for c in template.cells if "nbgrader" in c.metadata
    ]


def test_skip_grading_cells_are_not_run_and_everything_else_is(notebook, template):
    executed = repair(raw(notebook), template).executed_source()
    assert template.skipped and not any(source in executed for source in template.skipped.values())
    assert any("def normalise_rows" in source for source in executed)


def test_an_edited_test_cell_is_restored(notebook, template):
    notebook.cells[position(notebook, "test_normalise_rows")].source = "20.0"
    repaired = repair(raw(notebook), template)
    assert "20.0" not in repaired.executed_source()
    assert any("test_normalise_rows" in note and "restored" in note for note in repaired.notes)


def test_a_missing_test_cell_comes_back_right_after_its_answer(notebook, template):
    del notebook.cells[position(notebook, "test_normalise_rows")]
    names = order(repair(raw(notebook), template))
    assert names[names.index("normalise_rows") + 1] == "test_normalise_rows"


def test_a_thousand_copies_of_a_given_cell_make_one_note(notebook, template):
    given = notebook.cells[position(notebook, next(iter(template.test_of.values())))]
    for number in range(1000):
        notebook.cells.append(copy.deepcopy(given))
        notebook.cells[-1].id = f"copy-{number}"
    [note] = repair(raw(notebook), template).notes
    assert "twice" in note and given.metadata.nbgrader.grade_id in note


def test_a_doubled_answer_runs_twice_and_its_test_comes_after_the_second(notebook, template):
    copy = nbformat.from_dict(dict(notebook.cells[position(notebook, "normalise_rows")]))
    notebook.cells.append(copy)
    repaired = repair(raw(notebook), template)
    names = order(repaired)
    assert names.count("normalise_rows") == 2
    assert names.index("test_normalise_rows") > max(i for i, n in enumerate(names) if n == "normalise_rows")


def test_of_several_copies_the_last_that_was_changed_counts(notebook, template):
    """Somebody who copies a cell first, and writes into one of the two, has written one answer."""
    at = position(notebook, "normalise_rows")
    received = template.named["normalise_rows"].source
    answer = notebook.cells[at].source
    for first, second, counts in ((answer, received, 0), (received, answer, 1), ("def f(): pass", answer, 1)):
        copies = [
            nbformat.from_dict(dict(notebook.cells[at], id=f"copy-{n}", source=text))
            for n, text in enumerate((first, second))
        ]
        changed = nbformat.from_dict(
            dict(notebook, cells=[*notebook.cells[:at], *copies, *notebook.cells[at + 1 :]])
        )
        repaired = repair(raw(changed), template)
        own = [cell for cell in repaired.cells if cell.grade_id == "normalise_rows"]
        assert ["nbgrader" in cell.node.metadata for cell in own] == [n == counts for n in range(2)]
        assert own[counts].run == answer
        assert counts or received not in repaired.executed_source(), "what was not written takes no name away"
        assert sum("stood there twice" in note for note in repaired.notes) == 1


def test_of_a_written_answers_copies_the_one_that_was_written_counts(notebook, template):
    [name] = [
        n for n, c in template.named.items() if c.cell_type == "markdown" and c.metadata.nbgrader.grade
    ][:1]
    at = position(notebook, name)
    written = dict(notebook.cells[at], id="mine", source="Because the rows sum to one.")
    notebook.cells[at].source = template.named[name].source
    notebook.cells.insert(at + 1, nbformat.from_dict(written))
    own = [cell for cell in repair(raw(notebook), template).cells if cell.grade_id == name]
    assert [cell.node.source for cell in own if "nbgrader" in cell.node.metadata] == [written["source"]]


def test_pictures_in_a_text_stay_and_what_is_left_out_is_said(notebook, template, monkeypatch):
    text = nbformat.v4.new_markdown_cell("![](attachment:mine.png)")
    text.attachments = {"mine.png": {"image/png": "AAAA"}}
    notebook.cells.append(text)
    kept = repair(raw(notebook), template)
    assert kept.cells[-1].node.attachments == text.attachments and kept.notes == []
    monkeypatch.setattr("autograder.grading.repair.MAX_PICTURES", 7)
    notebook.cells.append(copy.deepcopy(text))
    cut = repair(raw(notebook), template)
    assert [len(cell.node.get("attachments", {})) for cell in cut.cells[-2:]] == [1, 0] and len(
        cut.notes
    ) == 1
    assert "picture" in cut.notes[0]


@pytest.mark.parametrize(
    "attachments",
    [
        5,
        ["a"],
        {"a": 5},
        {"a": {}},
        {"a": {"image/png": 5}},
        {"a": {"image/png": '"><script>'}},
        {"a": {"image/svg+xml": "AAAA"}},
        {"a\ud800": {"image/png": ["AA", 5]}},
    ],
    ids=range(8),
)
def test_what_is_no_picture_harms_nothing(notebook, template, attachments):
    text = nbformat.v4.new_markdown_cell("a text")
    notebook.cells.append(text)
    data = json.loads(raw(notebook))
    data["cells"][-1]["attachments"] = attachments
    repaired = repair(json.dumps(data).encode(), template)
    assert "script" not in str(repaired.cells[-1].node) and "svg" not in str(repaired.cells[-1].node)
    nbformat.v4.nbjson.writes(nbformat.v4.new_notebook(cells=[repaired.cells[-1].node])).encode()


def test_an_answer_turned_into_markdown_is_read_as_code(notebook, template):
    cell = notebook.cells[position(notebook, "normalise_rows")]
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]
    assert any("def normalise_rows" in source for source in repair(raw(notebook), template).executed_source())


def test_an_answer_without_nbgraders_metadata_is_known_by_its_cell_id(notebook, template):
    notebook.cells[position(notebook, "normalise_rows")].metadata = {}
    repaired = repair(raw(notebook), template)
    assert not any("missing" in note for note in repaired.notes)


def test_a_tag_that_a_student_adds_keeps_nothing_from_running(notebook, template):
    cell = notebook.cells[position(notebook, "normalise_rows")]
    cell.metadata["tags"] = ["skip-grading"]
    assert any("def normalise_rows" in source for source in repair(raw(notebook), template).executed_source())


def in_lab_10(answer: str):
    """What runs of lab 10 when ``noam_rate`` is answered so; its figures' cells import ``math``, and make ``valley``."""
    template = Template.of("10_training")
    notebook = nbformat.v4.new_notebook(cells=[copy.deepcopy(cell) for cell in template.cells])
    notebook.cells[position(notebook, "noam_rate")].source = answer
    return repair(raw(notebook), template), template


def test_what_a_figures_cell_imports_is_there_for_an_answer_that_uses_it():
    repaired, _ = in_lab_10("def noam_rate(step, d_model, warmup):\n    return math.sqrt(step)")
    assert any("import math" in source for source in repaired.executed_source())
    assert not any("descend" in source for source in repaired.executed_source())


def test_of_what_a_figures_cell_defines_only_that_runs_which_is_used_directly_or_not():
    repaired, _ = in_lab_10("def noam_rate(step, d_model, warmup):\n    return descend")
    ran = "\n".join(repaired.executed_source())
    assert "def descend(" in ran
    assert "begin = " not in ran
    unused, _ = in_lab_10("def noam_rate(step, d_model, warmup):\n    # math and descend\n    return step")
    assert not any("def descend(" in source for source in unused.executed_source())


def test_a_name_stands_in_a_docstring_with_quotes_or_behind_a_colour():
    for source in (
        'def noam_rate(step, d_model, warmup):\n    """The "Noam" rate."""\n    return math.sqrt(step)\n\ndef f():\n    """It."""',
        'def noam_rate(step, d_model, warmup):\n    return {"#1f77b4": math.sqrt(step)}["#1f77b4"]',
    ):
        repaired, _ = in_lab_10(source)
        assert any("import math" in ran for ran in repaired.executed_source())


def test_what_a_figures_cell_defines_never_takes_the_place_of_the_students_own(template):
    parts = demonstration("import math\nfrom copy import copy\ndef nll(P, N):\n    return 0").lent
    space = {"nll": "mine", "copy": "mine"}
    for _, source in parts:
        exec(source, space)
    assert (space["nll"], space["copy"]) == ("mine", "mine") and space["math"].pi > 3


def test_a_figures_cell_with_a_magic_lends_nothing_and_harms_nobody():
    assert not demonstration("%matplotlib inline\nimport math")
    assert not demonstration("!ls\nimport math")


def test_names_that_only_a_figures_cell_would_make_are_known():
    _, template = in_lab_10("pass")
    assert made_by_demonstrations("def f():\n    return valley + theirs", template) == ["valley"]
    own = "def noam_rate(step, d_model, warmup):\n    fig = step\n    return fig * d_model + valley"
    assert made_by_demonstrations(own, template) == ["valley"]
    assert made_by_demonstrations("x = tiny + valley", template, ["tiny = 0.0"]) == ["tiny", "valley"]


@pytest.mark.parametrize(
    "unwritten", ["-" * 5_000 + "1", "0x" + "f" * 6_000, "(" * 300, "x" + ".x" * 9_000, "\\udc80"]
)
def test_a_figures_cell_that_no_reader_can_take_names_nothing_and_ends_nothing(notebook, template, unwritten):
    """Each raises an error of its own in Python's reader or writer: it ended the grading of the whole submission."""
    changed = f"def f():\n    return {unwritten}\ntiny = {unwritten}"
    made_by_demonstrations("x = tiny", template, [changed])
    names_bound([changed])
    index = next(i for i, cell in enumerate(notebook.cells) if cell["id"] in template.skipped)
    notebook.cells[index].source = changed
    repair(raw(notebook), template)


def test_nothing_of_a_students_code_is_warned_of_on_the_terminal(recwarn):
    assert len(statements('x = "\\d"\ny = "\\q"')) == 2 and not recwarn.list


def test_figures_cells_by_the_hundred_are_not_parsed_without_end(notebook, template):
    """Reading them took minutes, before any clock ran."""
    figure = next(cell for cell in notebook.cells if cell["id"] in template.skipped)
    figure.source = "def helper(x):\n    return x\nx = [" + "1, " * 40_000 + "]"
    made = json.loads(raw(notebook))
    made["cells"] += [cell for cell in made["cells"] if cell["id"] == figure["id"]] * 30
    repaired = repair(json.dumps(made).encode(), template)
    assert sum("def helper" in source for source in repaired.executed_source()) == 1
    assert any("was not read: its code is too long" in note for note in repaired.notes)


def test_what_any_cell_of_the_students_makes_is_not_missing():
    sources = ["noise = 1", "def f():\n    import math as m\n    inside = 2", "%magic", "class Box: pass"]
    assert names_bound(sources) == {"noise", "f", "m", "inside", "Box"}


def test_a_helper_in_a_changed_figure_cell_is_still_defined(notebook, template):
    index = next(i for i, cell in enumerate(notebook.cells) if cell["id"] in template.skipped)
    notebook.cells[index].source = "def helper(x):\n    return x\nprint('a long training')"
    executed = repair(raw(notebook), template).executed_source()
    assert any("def helper" in source for source in executed)
    assert not any("a long training" in source for source in executed)


def test_the_answer_is_kept_under_a_name_that_a_later_cell_does_not_reuse(notebook, template):
    executed = repair(raw(notebook), template).executed_source()
    assert any(source.startswith(kept_name("normalise_rows")) for source in executed)


def test_a_future_schema_version_and_foreign_metadata_do_not_matter(notebook, template):
    for cell in notebook.cells:
        cell.metadata["nbgrader"] = {
            **cell.metadata.get("nbgrader", {}),
            "schema_version": 99,
            "points": 10_000,
        }
        cell.metadata["colab"] = {"x": [1, {"y": None}]}
    assert repair(raw(notebook), template).notes == []


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_ends_of_windows_and_old_macs_change_nothing(notebook, template, ends):
    usual = repair(raw(notebook), template)
    for cell in notebook.cells:
        cell.source = cell.source.replace("\n", ends)
        cell.pop(
            "id", None
        )  # as an editor of an older format leaves it: figure cells are known by their text
    odd = repair(raw(notebook), template)
    assert odd.executed_source() == usual.executed_source() and odd.notes == usual.notes == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_notebook_that_windows_saved_in_another_encoding_is_read(notebook, template, encoding):
    saved = raw(notebook).decode().encode(encoding)
    assert repair(saved, template).executed_source() == repair(raw(notebook), template).executed_source()


def test_a_byte_that_is_no_utf_8_costs_a_character_and_not_the_notebook(notebook, template):
    before = repair(raw(notebook), template).executed_source()
    notebook.cells.insert(0, nbformat.v4.new_code_cell("# Übermüdung"))
    saved = raw(notebook).replace("Übermüdung".encode(), "Übermüdung".encode("latin-1"))
    assert repair(saved, template).executed_source() == ["# \ufffdberm\ufffddung", *before]


def test_no_cell_is_handed_on_longer_than_anybody_writes(notebook, template):
    notebook.cells.append(nbformat.v4.new_markdown_cell("word " * 100_000))
    [cell] = [cell for cell in repair(raw(notebook), template).cells if "word word" in cell.node.source]
    assert len(cell.node.source) < 201_000 and cell.node.source.endswith(
        "[the rest was left out: it is too long]"
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"{}", b'{"cells": []}', b'{"cells": 3}', b"\xff\xfe\x00", b"[" * 100_000],
)
def test_what_is_no_notebook_is_unreadable_in_one_sentence(content, template):
    with pytest.raises(Unreadable) as caught:
        repair(content, template)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
cells = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "heading"]) | json_values,
        "source": st.text(max_size=40) | st.lists(st.text(max_size=10), max_size=4) | json_values,
        "id": st.sampled_from(["normalise_rows", "test_normalise_rows", "setup"]) | json_values,
        "metadata": json_values
        | st.fixed_dictionaries({"nbgrader": json_values})
        | st.fixed_dictionaries(
            {"nbgrader": st.fixed_dictionaries({"grade_id": st.sampled_from(["setup", "second_order", "x"])})}
        ),
    },
)


@settings(max_examples=150, deadline=None)
@given(data=st.fixed_dictionaries({"cells": st.lists(cells | json_values, max_size=6)}))
def test_any_json_is_repaired_or_unreadable_and_every_question_keeps_its_test(data, template):
    try:
        repaired = repair(json.dumps(data).encode(), template)
    except Unreadable:
        return
    for test_id in template.test_of.values():
        assert order(repaired).count(test_id) == 1


def test_definitions_of_keeps_imports_functions_and_classes_only():
    source = "import os\nx = train()\ndef f():\n    return 1\nclass A: pass\nf()"
    assert definitions_of(source) == "import os\n\ndef f():\n    return 1\n\nclass A:\n    pass"


def test_a_missing_setup_cell_comes_back_before_everything_that_needs_it(notebook, template):
    notebook.cells = [c for c in notebook.cells if not c.metadata.get("nbgrader", {}).get("locked")]
    repaired = repair(raw(notebook), template)
    assert repaired.cells[0].grade_id == "setup"
