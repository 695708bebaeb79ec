"""An answer counts where it was written: in another cell, in the check's own cell, in cells without names, in a copy of the notebook."""

from __future__ import annotations

import pytest

from autograder.audit.simulate import answered
from autograder.course.masters import solution_sources
from autograder.grading.cell_text import added_code, defines, is_unwritten
from autograder.grading.repair import Template, repair
from autograder.grading.repaired import Repaired
from autograder.grading.submissions import _is_copy, find_submissions
from tests.fixtures.frozen_course import hand_in
from tests.grading.accidents import LAB, delete, insert, notebook, raw, stub, written_answers

TEMPLATE = Template.of(LAB)
NAMES = list(TEMPLATE.names)


def repaired(*accidents) -> Repaired:
    return repair(raw(notebook(*accidents)), TEMPLATE)


def text_of(made: Repaired, name: str) -> str:
    [cell] = [c for c in made.cells if c.grade_id == name]
    assert cell.node.metadata.nbgrader.grade_id == name
    return cell.source


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
    untouched = repaired(*map(stub, [*NAMES, *written_answers()]))
    assert untouched.written == set() and untouched.notes == []
    made = repaired(delete(FIRST))
    assert text_of(made, FIRST) == TEMPLATE.named[FIRST].source and FIRST not in made.written
    assert made.notes == [f"The cell of the written answer “{FIRST}” was missing and was put back empty."]
    [at] = [place for place, cell in enumerate(made.cells) if cell.grade_id == FIRST]
    assert made.cells[at - 1].place == TEMPLATE.places[FIRST] - 1


def test_two_deleted_written_cells_and_one_text_at_the_end_wait_for_a_person_with_that_text():
    one, other = written_answers()
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
    assert [source for source in (*DEFINED, *NOT_DEFINED) if defines(source, {"f"})] == DEFINED
    written = ["class f:\n    def __init__(self):\n        self.x = 1", "def f(x):\n    return 0"]
    assert [source for source in (*UNWRITTEN, *written) if is_unwritten(source, {"f"}, "")] == UNWRITTEN


def test_of_a_given_cell_only_what_was_added_and_does_something_is_the_students():
    given = "import math\ncheck('f', f)"
    own = "import math\nEPS = 1e-9\n@cache\ndef f(x):\n    return x\ncheck('f', f)\nassert f(1) == 1"
    assert added_code(own, given) == "\nEPS = 1e-9\n@cache\ndef f(x):\n    return x"


def test_another_labs_notebook_in_the_folder_is_no_answer(tmp_path):
    other, untouched = "00_warm_up", notebook(*map(stub, [*NAMES, *TEMPLATE.by_hand]))
    hand_in(tmp_path, "ada", raw(untouched).decode(), file=f"{LAB}.ipynb")
    hand_in(tmp_path, "ada", raw(answered(other, solution_sources(other))).decode(), file=f"{other}.ipynb")
    [ada] = find_submissions(tmp_path, LAB)
    assert ada.path is not None and ada.path.name == f"{LAB}.ipynb"


def test_a_copy_of_an_imported_labs_notebook_is_known_by_its_name():
    copies = ["geo-Copy1", "geo (2)", "geo - Kopie", "geo copy 2", "Geo-Copy1-Copy2"]
    others = ["geometry", "geo2", "geo-extra"]
    assert [name for name in (*copies, *others) if _is_copy(f"{name}.ipynb", "geo.ipynb")] == copies
