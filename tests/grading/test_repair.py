"""A student's notebook, whatever state it is in, becomes the cells that are run."""

from __future__ import annotations

import copy
import json

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import Unreadable
from autograder.grading import cell_text
from autograder.grading.repair import Template, kept_name, repair
from autograder.grading.repaired import Repaired
from tests.grading.accidents import TEMPLATE, delete, in_figure, insert, notebook, position, put, raw, stub

ROWS, CHECK = "normalise_rows", "test_normalise_rows"


def repaired(*accidents) -> Repaired:
    return repair(raw(notebook(*accidents)), TEMPLATE)


def order(made: Repaired) -> list[str]:
    return [cell.grade_id for cell in made.cells if cell.grade_id]


def test_an_honest_notebook_passes_without_a_note_and_without_its_figures_cells():
    made = repaired()
    assert made.notes == []
    named = [cell.metadata.nbgrader for cell in TEMPLATE.cells if "nbgrader" in cell.metadata]
    assert order(made) == [one.grade_id for one in named]
    ran = made.executed_source()
    assert TEMPLATE.skipped and not any(source in ran for source in TEMPLATE.skipped.values())
    assert any("def normalise_rows" in source for source in ran)
    assert any(source.startswith(kept_name(ROWS)) for source in ran)


def test_a_thousand_copies_of_a_given_cell_make_one_note():
    def doubled(made):
        given = made.cells[position(made, CHECK)]
        made.cells += [nbformat.from_dict(dict(given, id=f"copy-{number}")) for number in range(1000)]

    [note] = repaired(doubled).notes
    assert "twice" in note and CHECK in note


def test_of_several_copies_the_last_that_was_changed_counts_and_its_check_comes_after_it():
    """Somebody who copies a cell first, and writes into one of the two, has written one answer."""
    received = TEMPLATE.named[ROWS].source
    answer = notebook().cells[position(notebook(), ROWS)].source
    for first, second, counts in ((answer, received, 0), (received, answer, 1), ("def f(): pass", answer, 1)):

        def copied(made, first=first, second=second):
            at = position(made, ROWS)
            copies = (dict(made.cells[at], id=f"copy-{n}", source=s) for n, s in enumerate((first, second)))
            made.cells[at : at + 1] = map(nbformat.from_dict, copies)

        made = repaired(copied)
        own = [cell for cell in made.cells if cell.grade_id == ROWS]
        assert ["nbgrader" in cell.node.metadata for cell in own] == [n == counts for n in range(2)]
        assert own[counts].run == answer and order(made).index(CHECK) == order(made).index(ROWS) + 2
        assert counts or received not in made.executed_source(), "what was not written takes no name away"
        assert sum("stood there twice" in note for note in made.notes) == 1


def test_of_a_written_answers_copies_the_one_that_was_written_counts():
    name = TEMPLATE.by_hand[0]

    def copied(made):
        at = position(made, name)
        made.cells.insert(at + 1, nbformat.from_dict(dict(made.cells[at], id="mine", source="Because.")))

    made = repaired(put(name, TEMPLATE.named[name].source), copied)
    own = [cell for cell in made.cells if cell.grade_id == name]
    assert [cell.source for cell in own if "nbgrader" in cell.node.metadata] == ["Because."]


def test_pictures_in_a_text_stay_and_what_is_left_out_is_said(monkeypatch):
    picture = nbformat.v4.new_markdown_cell("![](attachment:mine.png)")
    picture.attachments = {"mine.png": {"image/png": "AAAA"}}
    kept = repaired(lambda made: made.cells.append(picture))
    assert kept.cells[-1].node.attachments == picture.attachments and kept.notes == []
    monkeypatch.setattr("autograder.grading.repair.MAX_PICTURES", 7)
    cut = repaired(lambda made: made.cells.extend([picture, copy.deepcopy(picture)]))
    assert [len(cell.node.get("attachments", {})) for cell in cut.cells[-2:]] == [1, 0]
    [note] = cut.notes
    assert "picture" in note


NO_PICTURES = (
    *(5, ["a"], {"a": 5}, {"a": {}}, {"a": {"image/png": 5}}, {"a": {"image/png": '"><script>'}}),
    *({"a": {"image/svg+xml": "AAAA"}}, {"a\ud800": {"image/png": ["AA", 5]}}),
)


def test_what_is_no_picture_harms_nothing():
    data = json.loads(raw(notebook(insert("a text", kind="markdown"))))
    for attachments in NO_PICTURES:
        data["cells"][-1]["attachments"] = attachments
        last = repair(json.dumps(data).encode(), TEMPLATE).cells[-1].node
        assert "script" not in str(last) and "svg" not in str(last)
        nbformat.v4.nbjson.writes(nbformat.v4.new_notebook(cells=[last])).encode()


def text_of(made: Repaired, name: str) -> str:
    [cell] = [c for c in made.cells if c.grade_id == name]
    assert cell.node.metadata.nbgrader.grade_id == name
    return cell.source


FIRST, WORDS = TEMPLATE.by_hand[0], "It forgets what came before."


def under_the_question(made):
    place = TEMPLATE.places[FIRST] - 1
    next(cell for cell in made.cells if cell.id == TEMPLATE.cells[place].id).source += f"\n\n{WORDS}"


@pytest.mark.parametrize(
    "accidents",
    [
        (stub(FIRST), insert(WORDS, after=FIRST, kind="markdown")),
        (stub(FIRST), insert(WORDS, before=FIRST, kind="markdown")),
        (stub(FIRST), insert(WORDS, kind="markdown")),
        (stub(FIRST), insert("# " + WORDS, after=FIRST)),
        (insert(WORDS, after=FIRST, kind="markdown"), delete(FIRST)),
        (under_the_question, stub(FIRST)),
    ],
    ids=["below its cell", "above it", "at the end", "as a comment", "in its place", "under the question"],
)
def test_an_answer_in_words_counts_where_it_was_written(accidents):
    made = repaired(*accidents)
    assert WORDS in text_of(made, FIRST) and FIRST in made.written
    assert any(FIRST in choice for choice in made.choices)


def test_a_deleted_written_cell_without_a_text_is_put_back_empty_at_its_place():
    untouched = repaired(*map(stub, [*TEMPLATE.names, *TEMPLATE.by_hand]))
    assert untouched.written == set() and untouched.notes == []
    made = repaired(delete(FIRST))
    assert text_of(made, FIRST) == TEMPLATE.named[FIRST].source and FIRST not in made.written
    assert made.notes == [f"The cell of the written answer “{FIRST}” was missing and was put back empty."]
    [at] = [place for place, cell in enumerate(made.cells) if cell.grade_id == FIRST]
    assert made.cells[at - 1].place == TEMPLATE.places[FIRST] - 1


def test_two_deleted_written_cells_and_one_text_at_the_end_wait_for_a_person_with_that_text():
    one, other = TEMPLATE.by_hand
    made = repaired(delete(one, other), insert("(a) It forgets. (b) Never seen.", kind="markdown"))
    assert "(a)" in text_of(made, one) and "(b)" in text_of(made, other)
    assert {one, other} <= made.written


DEFINED = [
    "def f(x): ...", "async def f(x): ...", "    def f(x):\n        return 3 − 1", "class f: pass", "%%time\ndef f(x):\n    return x",
    "f = lambda x: x", "f: int = 3", "from mine import f", "import f",
]  # fmt: skip
NOT_DEFINED = ["f == 3", "f(3)", "class A:\n    def f(self): ...", "def ff(x): ...", "# def f(x)"]

#: Answers that nobody has written.
UNWRITTEN = [
    "def f(x):\n    pass", 'def f(x):\n    """Later."""\n    return None', "# below",
    "class f:\n    def __init__(self):\n        pass",
]  # fmt: skip


def test_what_a_cell_defines_is_read_off_its_lines_and_whether_somebody_wrote_it():
    assert [source for source in (*DEFINED, *NOT_DEFINED) if cell_text.defines(source, {"f"})] == DEFINED
    written = ["class f:\n    def __init__(self):\n        self.x = 1", "def f(x):\n    return 0"]
    both = (*UNWRITTEN, *written)
    assert [source for source in both if cell_text.is_unwritten(source, {"f"}, "")] == UNWRITTEN


def test_of_a_given_cell_only_what_was_added_and_does_something_is_the_students():
    given = "import math\ncheck('f', f)"
    own = "import math\nEPS = 1e-9\n@cache\ndef f(x):\n    return x\ncheck('f', f)\nassert f(1) == 1"
    assert cell_text.added_code(own, given) == "\nEPS = 1e-9\n@cache\ndef f(x):\n    return x"


def in_lab_10(answer: str) -> str:
    """What runs of lab 10 when ``noam_rate`` is answered so; its figures' cells import ``math``."""
    template = Template.of("10_training")
    made = nbformat.v4.new_notebook(cells=[copy.deepcopy(cell) for cell in template.cells])
    made.cells[position(made, "noam_rate")].source = answer
    return "\n".join(repair(raw(made), template).executed_source())


#: How an answer uses what a figure's cell makes, what then runs of that cell, and what does not.
USES = {
    "an import": ("    return math.sqrt(step)", "import math", "descend"),
    "a function": ("    return descend", "def descend(", "begin = "),
    "only named in a comment": ("    # math and descend\n    return step", "", "def descend("),
    "beside quotes": ('    """The "Noam" rate."""\n    return math.sqrt(step)\n\ndef f():\n    """It."""', "import math", "descend"),
    "behind a colour": ('    return {"#1f77b4": math.sqrt(step)}["#1f77b4"]', "import math", "descend"),
}  # fmt: skip


def test_of_a_figures_cell_runs_what_an_answer_uses_and_no_more():
    for how, (body, runs, runs_not) in USES.items():
        ran = in_lab_10(f"def noam_rate(step, d_model, warmup):\n{body}")
        assert runs in ran and runs_not not in ran, how


def test_what_a_figures_cell_defines_never_takes_the_place_of_the_students_own():
    space = {"nll": "mine", "copy": "mine"}
    for _, source in cell_text.lent_by("import math\nfrom copy import copy\ndef nll(P, N):\n    return 0"):
        exec(source, space)
    assert (space["nll"], space["copy"]) == ("mine", "mine") and space["math"].pi > 3
    assert cell_text.lent_by("%matplotlib inline\nimport math") == cell_text.lent_by("!ls\nimport math") == ()


def test_of_a_changed_figures_cell_run_only_definitions():
    source = "import os\nx = train()\ndef f():\n    return 1\nclass A: pass\nf()"
    assert cell_text.definitions_of(source) == "import os\n\ndef f():\n    return 1\n\nclass A:\n    pass"


def test_a_figures_cell_that_no_reader_can_take_names_nothing_and_ends_nothing():
    """Each raises an error of its own in Python's reader or writer: it ended the grading of the whole submission."""
    for unwritten in ("-" * 5_000 + "1", "0x" + "f" * 6_000, "(" * 300, "x" + ".x" * 9_000, "\\udc80"):
        source = f"def f():\n    return {unwritten}\ntiny = {unwritten}"
        cell_text.makes(source, "tiny")
        repaired(in_figure(source))


def test_nothing_of_a_students_code_is_warned_of_on_the_terminal(recwarn):
    assert len(cell_text.statements('x = "\\d"\ny = "\\q"')) == 2 and not recwarn.list


def test_figures_cells_by_the_hundred_are_not_parsed_without_end():
    """Reading them took minutes, before any clock ran."""
    source = "def helper(x):\n    return x\nx = [" + "1, " * 40_000 + "]"
    data = json.loads(raw(notebook(in_figure(source))))
    data["cells"] += [cell for cell in data["cells"] if "".join(cell["source"]) == source] * 30
    made = repair(json.dumps(data).encode(), TEMPLATE)
    assert sum("def helper" in source for source in made.executed_source()) == 1
    assert any("was not read, because its code is too long" in note for note in made.notes)


def test_line_ends_and_encodings_of_other_systems_change_nothing_and_a_stray_byte_one_character():
    usual = repaired().executed_source()
    for ends in ("\r\n", "\r"):

        def saved(made, ends=ends):
            for cell in made.cells:
                cell.source = cell.source.replace("\n", ends)
                cell.pop("id", None)  # as an older format has it: figures' cells go by their text

        odd = repaired(saved)
        assert odd.executed_source() == usual and odd.notes == []
    for encoding in ("utf-16", "utf-8-sig"):
        assert repair(raw(notebook()).decode().encode(encoding), TEMPLATE).executed_source() == usual
    word = "Übermüdung"
    stray = raw(notebook(insert(f"# {word}"))).replace(word.encode(), word.encode("latin-1"))
    assert repair(stray, TEMPLATE).executed_source() == [*usual, "# \ufffdberm\ufffddung"]


def test_no_cell_is_handed_on_longer_than_anybody_writes():
    made = repaired(insert("word " * 100_000, kind="markdown"))
    [cell] = [cell for cell in made.cells if "word word" in cell.source]
    assert len(cell.source) < 201_000
    assert cell.source.endswith("[the rest was left out: it is too long]")


def test_what_is_no_notebook_is_unreadable_in_one_sentence():
    contents = (
        *(b"", b"{", b"[]", b"null", b"{}", b"\xff\xfe\x00", b"[" * 100_000),
        *(b'{"cells": []}', b'{"cells": 3}', b'{"worksheets": [{"cells": [{}]}]}'),
    )
    for content in contents:
        with pytest.raises(Unreadable) as caught:
            repair(content, TEMPLATE)
        assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
names = st.fixed_dictionaries({"grade_id": st.sampled_from(["setup", "second_order", "x"])})
cells = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "heading"]) | json_values,
        "source": st.text(max_size=40) | st.lists(st.text(max_size=10), max_size=4) | json_values,
        "id": st.sampled_from([ROWS, CHECK, "setup"]) | json_values,
        "metadata": json_values | st.fixed_dictionaries({"nbgrader": json_values | names}),
    },
)


@settings(max_examples=50)
@given(data=st.fixed_dictionaries({"cells": st.lists(cells | json_values, max_size=6)}))
def test_any_json_is_repaired_or_unreadable_and_every_question_keeps_its_test(data):
    try:
        made = repair(json.dumps(data).encode(), TEMPLATE)
    except Unreadable:
        return
    for test_id in TEMPLATE.test_of.values():
        assert order(made).count(test_id) == 1
