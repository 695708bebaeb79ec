"""A notebook whose cells have lost their names, or are gone: what is left is found, and one note says so once."""

from __future__ import annotations

import nbformat
import pytest

from autograder.grading.repair import Template, repair
from autograder.grading.repaired import Repaired
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


def repaired(*accidents) -> Repaired:
    return repair(raw(notebook(*accidents)), TEMPLATE)


def text_of(made: Repaired, name: str) -> str:
    [cell] = [c for c in made.cells if c.grade_id == name]
    assert cell.node.metadata.nbgrader.grade_id == name
    return cell.source


def only_answers(*texts: str) -> Repaired:
    """A new notebook that holds nothing but these cells."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts])
    return repair(raw(made), TEMPLATE)


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


@pytest.mark.parametrize("text", ["Because it only looks one word back.", "No idea, sorry."])
def test_a_deleted_written_cell_is_put_back_with_the_text_in_its_place(text):
    first = written_answers()[0]
    made = repaired(insert(text, after=first, kind="markdown"), delete(first))
    assert text_of(made, first) == text and first in made.written
    assert [note for note in made.notes if first in note] == made.choices


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


def test_a_text_that_was_typed_under_the_question_is_the_answer():
    first = written_answers()[0]

    def under_the_question(made):
        place = TEMPLATE.places[first] - 1
        cell = next(cell for cell in made.cells if cell.id == TEMPLATE.cells[place].id)
        cell.source += "\n\nIt forgets what came before."

    made = repaired(under_the_question, stub(first))
    assert text_of(made, first) == "It forgets what came before."


def test_an_untouched_notebook_has_no_answer_in_words():
    made = repaired(*map(stub, [*NAMES, *written_answers()]))
    assert made.written == set() and made.notes == []


def test_one_note_names_all_cells_with_the_same_trouble():
    tests = list(TEMPLATE.tested)
    made = repaired(*(put(test, "changed = 1") for test in tests))
    [note] = made.notes
    assert all(f"“{test}”" in note for test in tests)


def test_an_answer_that_was_deleted_and_written_anew_in_its_place_is_found_by_its_definition():
    made = repaired(insert(answer(COUNTS), after=COUNTS), delete(COUNTS))
    assert made.notes == [f"The cell “{COUNTS}” had lost its name and was found by what it defines."]
    assert made.choices == []
