"""An answer counts where it was written: in another cell, in the check's own cell, in cells without names, in a copy of the notebook."""

from __future__ import annotations

import nbformat
import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import solved
from autograder.grading.cell_text import added_code, defines, is_unwritten
from autograder.grading.repair import Template, repair
from autograder.grading.repaired import Cell, Repaired
from autograder.grading.submissions import _is_copy, collect
from tests.grading.accidents import (
    COUNTS,
    LAB,
    answer,
    delete,
    forget_names,
    insert,
    notebook,
    put,
    raw,
    stub,
    written_answers,
)

TEMPLATE = Template.of(LAB)
NAMES = list(TEMPLATE.names)
CHECK = f"test_{COUNTS}"


def repaired(*accidents) -> Repaired:
    return repair(raw(notebook(*accidents)), TEMPLATE)


def only_answers(*texts: str) -> Repaired:
    """A new notebook that holds nothing but these cells."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts])
    return repair(raw(made), TEMPLATE)


def text_of(made: Repaired, name: str) -> str:
    [cell] = [c for c in made.cells if c.grade_id == name]
    assert cell.node.metadata.nbgrader.grade_id == name
    return cell.source


def counting(made: Repaired, name: str = COUNTS) -> list[Cell]:
    return [cell for cell in made.cells if name in cell.answers]


def order(made: Repaired, *cells: str | Cell) -> list[int]:
    return [
        next(i for i, cell in enumerate(made.cells) if cell is one or one == cell.grade_id) for one in cells
    ]


@pytest.mark.parametrize("place", [{}, {"after": CHECK}, {"before": COUNTS}, {"before": "setup"}])
def test_an_answer_in_a_new_cell_counts_where_its_own_cell_was_left_as_it_was(place):
    made = repaired(stub(COUNTS), insert(answer(COUNTS), **place))
    [cell] = counting(made)
    assert cell.run == answer(COUNTS) and TEMPLATE.named[COUNTS].source not in made.executed_source()
    assert order(made, cell, CHECK) == sorted(order(made, cell, CHECK))
    given = notebook(stub(COUNTS), insert(answer(COUNTS), **place)).cells
    number = [one.source for one in given].index(answer(COUNTS)) + 1
    assert made.notes == made.choices and f"“{COUNTS}” is defined in cell number {number}" in made.choices[0]


def test_all_answers_in_one_new_last_cell_count_and_one_note_says_so():
    code = "\n\n\n".join(map(answer, NAMES))
    made = repaired(*map(stub, NAMES), insert(code))
    assert {name for cell in made.cells for name in cell.answers} == set(NAMES)
    checks = order(made, *TEMPLATE.tested)
    assert checks == sorted(checks) and checks[0] == made.cells.index(counting(made)[0]) + 1
    assert len(made.notes) == 1


def test_of_two_later_definitions_the_last_counts_and_it_is_said():
    made = repaired(stub(COUNTS), insert("def bigram_counts(words):\n    return 0"), insert(answer(COUNTS)))
    first, last = counting(made)
    assert order(made, first, last, CHECK) == sorted(order(made, first, last, CHECK))
    assert f"cell number {last.number}, which counts" in made.choices[0]


@pytest.mark.parametrize("body", ["    pass", '    """Later."""\n    return None', None])
def test_an_own_cell_with_an_empty_function_is_unwritten(body):
    empty = f"def bigram_counts(words):\n{body}" if body else "# below"
    made = repaired(put(COUNTS, empty), insert(answer(COUNTS)))
    assert [cell.run for cell in counting(made)] == [answer(COUNTS)]


def test_what_was_written_into_the_own_cell_counts_and_a_later_definition_is_known():
    made = repaired(insert("def bigram_counts(words):\n    return 0"))
    assert [cell.grade_id for cell in counting(made)] == [COUNTS]
    assert list(made.again) == [COUNTS] and made.notes == []


def test_a_definition_in_a_text_runs_no_more_than_it_would_in_jupyter():
    made = repaired(stub(COUNTS), insert(answer(COUNTS), kind="markdown"))
    assert not any(answer(COUNTS) in source for source in made.executed_source())


def test_a_given_cell_of_the_masters_answers_nothing():
    texts = {cell.source.strip() for cell in TEMPLATE.cells}
    untouched = repaired(*map(stub, NAMES))
    own = [cell for cell in untouched.cells if cell.answers and cell.grade_id is None]
    assert own == [] and not untouched.written.intersection(NAMES)
    assert all(cell.source.strip() in texts for cell in untouched.cells if cell.answers)


def test_an_answer_typed_into_the_check_cell_runs_before_the_masters_check():
    made = repaired(stub(COUNTS), put(CHECK, lambda check: f"{answer(COUNTS)}\n\n\n{check}"))
    [cell] = counting(made)
    check = made.cells[made.cells.index(cell) + 1]
    assert cell.from_given == CHECK and "check(" not in cell.run
    assert check.run == TEMPLATE.test_code[CHECK]
    assert any("is defined in the given cell" in choice for choice in made.choices)


def test_a_check_cell_that_was_changed_and_defines_nothing_runs_nothing_of_the_students():
    made = repaired(put(CHECK, "check('bigram_counts', lambda words: 1)\n20.0\nassert False"))
    assert "20.0" not in "".join(made.executed_source()) and [c.grade_id for c in counting(made)] == [COUNTS]


def test_an_import_that_was_added_to_a_given_cell_is_there_for_an_answer_that_uses_it():
    used = put(COUNTS, "def bigram_counts(words):\n    return statistics.mean(words)")
    add = put("setup", lambda given: f"{given}\nimport statistics, random")
    ran = "".join(repaired(add, used).executed_source())
    assert "import statistics" in ran and "import random" not in ran


def test_an_answer_with_a_syntax_error_in_the_check_cell_runs_so_that_its_error_is_seen():
    made = repaired(stub(COUNTS), put(CHECK, "def bigram_counts(words):\n    return 3 − 1"))
    assert [cell.from_given for cell in counting(made)] == [CHECK]


def test_cells_in_a_new_notebook_are_found_by_their_text_and_by_what_they_define():
    usual, lost = repaired(), repaired(forget_names)
    assert [cell.grade_id for cell in lost.cells] == [cell.grade_id for cell in usual.cells]
    assert lost.executed_source() == usual.executed_source() and lost.written == usual.written
    [*notes] = lost.notes
    assert sum("had lost their names" in note for note in notes) == 1


def test_answers_alone_in_a_new_notebook_have_each_its_check_behind_it_and_few_notes():
    made = only_answers(*map(answer, NAMES))
    order = [cell.grade_id for cell in made.cells if cell.run]
    assert order[0] == "setup"
    for test_id, answers in TEMPLATE.tested.items():
        assert order[order.index(test_id) - 1] == answers[0]
    assert len(made.notes) == 3 and sum(note.count("“setup”") for note in made.notes) == 1


def test_checks_without_answers_stand_at_the_end():
    made = only_answers("print('nothing')")
    order = [cell.grade_id for cell in made.cells if cell.run]
    assert order[-len(TEMPLATE.tested) :] == list(TEMPLATE.tested) and None in order


def test_an_answer_whose_name_a_later_cell_uses_again_is_tested_before_that():
    made = only_answers(answer(COUNTS), "bigram_counts = bigram_counts(['ava'])")
    order = [cell.grade_id for cell in made.cells if cell.run]
    assert order.index(COUNTS) + 1 == order.index(f"test_{COUNTS}") < order.index(None)


FIRST, WORDS = written_answers()[0], "It forgets what came before."


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
    first = written_answers()[0]
    made = repaired(delete(first))
    assert text_of(made, first) == TEMPLATE.named[first].source and first not in made.written
    assert made.notes == [f"The cell of the written answer “{first}” was missing and was put back empty."]
    at = next(i for i, cell in enumerate(made.cells) if cell.grade_id == first)
    assert made.cells[at - 1].place == TEMPLATE.places[first] - 1


def test_two_deleted_written_cells_and_one_text_at_the_end_wait_for_a_person_with_that_text():
    one, other = written_answers()
    made = repaired(delete(one, other), insert("(a) It forgets. (b) Never seen.", kind="markdown"))
    assert "(a)" in text_of(made, one) and "(b)" in text_of(made, other)
    assert {one, other} <= made.written


def test_an_untouched_notebook_has_no_answer_in_words():
    made = repaired(*map(stub, [*NAMES, *written_answers()]))
    assert made.written == set() and made.notes == []


def test_an_answer_that_was_deleted_and_written_anew_in_its_place_is_found_by_its_definition():
    made = repaired(insert(answer(COUNTS), after=COUNTS), delete(COUNTS))
    assert made.notes == [f"The cell “{COUNTS}” had lost its name and was found by what it defines."]
    assert made.choices == []


DEFINED = [
    "def f(x): ...", "async def f(x): ...", "    def f(x):\n        return 3 − 1", "class f: pass", "%%time\ndef f(x):\n    return x",
    "f = lambda x: x", "f: int = 3", "from mine import f", "import f",
]  # fmt: skip
NOT_DEFINED = ["f == 3", "f(3)", "class A:\n    def f(self): ...", "def ff(x): ...", "# def f(x)"]


@pytest.mark.parametrize("source", [*DEFINED, *NOT_DEFINED])
def test_what_a_cell_defines_is_read_off_its_lines(source):
    assert defines(source, {"f"}) is (source in DEFINED)


def test_a_class_is_unwritten_while_each_of_its_methods_is():
    assert is_unwritten("class A:\n    def __init__(self):\n        pass", {"A"}, "")
    assert not is_unwritten("class A:\n    def __init__(self):\n        self.x = 1", {"A"}, "")


def test_of_a_given_cell_only_what_was_added_and_does_something_is_the_students():
    given = "import math\ncheck('f', f)"
    own = "import math\nEPS = 1e-9\n@cache\ndef f(x):\n    return x\ncheck('f', f)\nassert f(1) == 1"
    assert added_code(own, given) == "\nEPS = 1e-9\n@cache\ndef f(x):\n    return x"


def hand_in(folder, name, made):
    path = folder / "ada" / LAB / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made if isinstance(made, bytes) else raw(made))


UNTOUCHED = notebook(*map(stub, [*TEMPLATE.names, *TEMPLATE.by_hand]))


@pytest.mark.parametrize(
    "name", [f"{LAB}-Copy1.ipynb", f"{LAB} (1).ipynb", f"{LAB} - Kopie.ipynb", "my own.ipynb"]
)
def test_the_only_notebook_with_an_answer_counts_beside_the_one_as_it_was_received(tmp_path, name):
    hand_in(tmp_path, f"{LAB}.ipynb", UNTOUCHED)
    hand_in(tmp_path, name, notebook())
    [ada] = collect(tmp_path, LAB)
    assert ada.path is not None and ada.path.name == name
    assert ada.choices == ada.notes and f"were not graded: {LAB}.ipynb" in ada.choices[0]


def test_of_two_notebooks_with_answers_the_one_of_the_right_name_counts_and_it_is_said(tmp_path):
    hand_in(tmp_path, f"{LAB}.ipynb", notebook(stub(COUNTS)))
    hand_in(tmp_path, f"{LAB}-Copy1.ipynb", notebook())
    [ada] = collect(tmp_path, LAB)
    assert ada.path is not None and ada.path.name == f"{LAB}.ipynb"
    assert f"were not graded: {LAB}-Copy1.ipynb" in ada.choices[0]


def test_another_labs_notebook_in_the_folder_is_no_answer(tmp_path):
    other = "00_warm_up"
    hand_in(tmp_path, f"{LAB}.ipynb", UNTOUCHED)
    hand_in(tmp_path, f"{other}.ipynb", answered(other, solved(other)))
    [ada] = collect(tmp_path, LAB)
    assert ada.path is not None and ada.path.name == f"{LAB}.ipynb"


def test_a_copy_of_an_imported_labs_notebook_is_known_by_its_name():
    copies = [
        "geo-Copy1.ipynb",
        "geo (2).ipynb",
        "geo - Kopie.ipynb",
        "geo copy 2.ipynb",
        "Geo-Copy1-Copy2.ipynb",
    ]
    others = ["geometry.ipynb", "geo2.ipynb", "geo-extra.ipynb"]
    assert [name for name in (*copies, *others) if _is_copy(name, "geo.ipynb")] == copies
