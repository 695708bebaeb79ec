"""Notebooks that nbgrader accepts are imported as they are, others are refused by what they are; and which test cells may be run
outside the student's process, and what is said of those that may not."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbgrader.preprocessors import ClearSolutions, ComputeChecksums

from autograder.course.build import released_notebook
from autograder.course.masters import read_master
from autograder.errors import UserError
from autograder.importing.bring_in import _data_beside, _forget, import_notebook
from autograder.importing.notebook import master_text, read_source
from autograder.judging.imported_cell import as_hidden_test
from autograder.judging.movable import graded_cells
from tests.fixtures.nbgrader_course import answer, cell, checking, notebook, source_notebook

ANSWER = answer(
    "a",
    "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION\nrows = [1, 2]\nclass Box: pass",
)

CELLS = tomllib.loads(Path(__file__).with_name("cells.toml").read_text(encoding="utf-8"))


def judged(source):
    """The verdict on one test cell beside an answer, imports, a given helper and another test cell."""
    given = "def helper(n):\n    return n + OFFSET\n\nOFFSET = 0\ndef call(g):\n    return g(1)\ndef reads(): return open('x')"
    plain = "for n in range(3):\n    print(f(n))\ntry:\n    f(0)\nexcept ValueError as e:\n    pass"
    cells = [
        cell("code", "import inspect\nimport numpy as np"),
        cell("code", given, "given", locked=True),
        ANSWER,
        cell("code", plain),
        checking("t0", 1, "left = f(1)\nassert left == 1"),
        checking("t1", 1, source),
    ]
    (_, verdict), names = graded_cells(cells)
    return verdict, names


def test_a_cell_that_only_calls_and_compares_moves_and_one_that_reaches_into_the_notebook_stays_and_says_why():
    assert [source for source in CELLS["moves"] if judged(source)[0].reason] == []
    for source, title in CELLS["titles"]:
        verdict, names = judged(source)
        assert verdict.reason == "" and as_hidden_test(verdict, names, "20_x").title == title
    for source, reason in CELLS["stays"]:
        assert reason in judged(source)[0].reason, source


def test_a_cell_that_python_does_not_compile_is_nobodys_traceback():
    cells = [
        ANSWER,
        cell("code", "nonlocal x\nfrom __future__ import nothing", "given", locked=True),
        cell("code", "from __future__ import annotations\nimport abc", "future", locked=True),
        checking("t1", 1, "assert f(annotations) and abc"),
    ]
    _, names = graded_cells(cells)
    assert "annotations" in names.made and [*names.given] == ["abc"]


def test_what_a_cell_of_the_notebook_binds_is_known_and_an_annotation_alone_binds_nothing():
    for binding in (
        "with open('x') as made:\n    pass",
        "try:\n    import numpy as made\nexcept ImportError:\n    made = None",
        "print([made := 1 for _ in [1]])",
        "match [1]:\n    case [*made]:\n        pass",
        "def set_it():\n    global made\n    made = 1\nset_it()",
        "if True:\n    async def made(): pass",
    ):
        assert "made" in graded_cells([ANSWER, cell("code", binding)])[1].made, binding
    assert "made" not in graded_cells([ANSWER, cell("code", "made: int")])[1].made


def test_a_name_that_a_later_cell_reads_stays_where_it_is():
    cells = [ANSWER, checking("t1", 1, "found = f(1)\nassert found"), cell("code", "print(found)")]
    assert graded_cells(cells)[0][0].reason == "it makes found, which another cell uses"


def test_what_a_locked_cell_gives_is_not_taken_from_the_student_and_what_is_made_of_theirs_is():
    given = "EXPECTED = np.array([1.0, -2.0])\nSIZE = 3\nTABLE = {'a': [1, 2]}\nMADE = f(1)\nSQUARE = EXPECTED ** 2\nLATER = SIZE + 1"
    cells = [
        cell("code", "import numpy as np"),
        cell("code", given, "given", locked=True),
        answer("a", "import math\ndef f(x):\n    return math.sin(x)"),
        checking("t1", 1, "assert f(1) == EXPECTED[0] + SIZE + TABLE['a'][0] + MADE + SQUARE[0] + LATER"),
    ]
    [found], names = graded_cells(cells)
    assert found.reason == "" and names.made == {"MADE": False, "math": False, "f": True}
    assert set(names.given) == {"EXPECTED", "SIZE", "TABLE", "np", "SQUARE", "LATER"}


def test_an_import_that_is_refused_leaves_nothing_and_takes_nothing_away(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path / "course"))
    (tmp_path / "hw").mkdir()
    nbformat.write(source_notebook(), tmp_path / "hw" / "means.ipynb")
    kept = tmp_path / "course" / "data" / "20_means" / "mine.csv"
    kept.parent.mkdir(parents=True)
    kept.write_text("1,2")
    with pytest.raises(UserError, match="data/20_means is there already"):
        import_notebook(tmp_path / "hw" / "means.ipynb", "20_means")
    assert [path for path in (tmp_path / "course").rglob("*") if path.is_file()] == [kept]
    with pytest.raises(UserError, match="no name for a lab"):
        import_notebook(tmp_path / "hw" / "means.ipynb", "means")


def _broken(where, **changes):
    """A notebook's text with this in it, in its test cell, in that cell's metadata, or in nbgrader's part of these."""
    made = json.loads(nbformat.writes(notebook([ANSWER, checking("t1", 1, "assert f(1)")])))
    one = made["cells"][1]
    places = {"notebook": made, "cell": one, "metadata": one["metadata"]}
    places.get(where, one["metadata"]["nbgrader"]).update(changes)
    return json.dumps(made)


def _text(*cells):
    return nbformat.writes(notebook(list(cells)))


#: Answers as students got them: with nbgrader's own two lines, and with the checksum of what stands there.
STUB = answer("a", "def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()")
OWN_STUB, _ = ComputeChecksums().preprocess_cell(answer("a", "def f(x):\n    ...  # your turn"), {}, 0)
CHECK = checking("t", 1, "assert f(1) == 1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("{", "no notebook"),
        (_text(cell("code", "1 + 1")), "no cell with points"),
        (_text(checking("t", 1, "assert 1"), checking("t", 1, "assert 2")), "Duplicate grade id: t"),
        (_text(checking("t", 1, "assert 1"), checking("test_t", 1, "assert 2")), "“t” and “test_t”"),
        (_text(checking("t", 1, "### AUTOTEST f(1)")), "autotests.yml"),
        (_broken("notebook", metadata={"kernelspec": {"language": "R"}}), "only Python"),
        (_broken("nbgrader", points=-3), "-3 is less than the minimum of 0"),
        (_broken("nbgrader", points=float("nan")), "more than a million points"),
        (_broken("nbgrader", points=1e308), "more than a million points"),
        (_broken("nbgrader", points="two"), "'two' is not of type 'number'"),
        (_broken("nbgrader", points=True), "True is not of type 'number'"),
        (_broken("nbgrader", grade_id="a/b"), "'a/b' does not match"),
        (_broken("nbgrader", grade_id="a" * 300), "at most 100 characters"),
        (_broken("nbgrader", grade_id=["x"]), "['x'] is not of type 'string'"),
        (_broken("metadata", nbgrader=[]), "nbgrader can read"),
        (_broken("cell", source=["a", 3]), "nbgrader can read"),
        (_broken("cell", source="### BEGIN HIDDEN TESTS\nassert f(1)"), "No end hidden tests statement found"),
        (_text(answer("a", "### BEGIN SOLUTION\nx = 1"), CHECK), "no end solution statement found"),
        (_text(answer("a", "# BEGIN SOLUTION\n" * 2), CHECK), "nested begin solution"),
        (_text(STUB, CHECK), "is a released notebook"),
        (_text(OWN_STUB, CHECK), "is a released notebook"),
        (_broken("cell", cell_type="markdown"), "Markdown grade cell 't1' is not marked as a solution"),
        ("[" * 100_000, "nbgrader can read"),
    ],
)  # fmt: skip
def test_a_notebook_that_nbgrader_would_not_write_is_refused_in_a_sentence(tmp_path, text, said):
    if text is not None:
        (tmp_path / "p.ipynb").write_text(text)
    with pytest.raises(UserError) as refused:
        read_source(tmp_path / "p.ipynb")
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_a_byte_order_mark_another_way_to_write_python_and_a_release_made_a_source_again_are_read(tmp_path):
    mended = nbformat.from_dict({**OWN_STUB, "source": "def f(x):\n    return x"})
    kernel = {"language_info": {"name": "Python"}}
    for text in ("\ufeff" + _broken("notebook", metadata=kernel), _text(mended, CHECK)):
        (tmp_path / "p.ipynb").write_text(text)
        assert len(read_source(tmp_path / "p.ipynb").cells) == 2


def test_what_is_left_beside_a_notebook_is_said_and_no_link_and_no_course_is_taken(tmp_path):
    """A link could bring the course's own tests, or itself, without end. A name that is not UTF-8 is a name."""
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.py").write_text("1")
    bad = os.fsdecode(b"bad\xff.txt")
    names = f"numbers.txt more/a.csv more/old.ipynb more/.cache more/{bad} coursekit/__init__.py kit.zip"
    for name in names.split(" "):
        (own / name).parent.mkdir(exist_ok=True, parents=True)
        (own / name).write_text("1")
    with (own / "large.bin").open("wb") as large:
        large.truncate(70 << 20)
    os.mkfifo(own / "pipe")
    links = {"tests": elsewhere, "file.py": elsewhere / "secret.py", "more/tests": elsewhere}
    for link, target in {**links, "more/self": ".", "more/gone": "nowhere"}.items():
        (own / link).symlink_to(target)
    data, left = _data_beside(own, tmp_path / "course")
    assert [os.fsencode(path) for path in data] == [b"more/a.csv", b"more/bad\xff.txt", b"numbers.txt"]
    assert sorted(left) == [
        "coursekit (a bundle has its own)", "file.py (a link)", "kit.zip (a bundle has its own)",
        "large.bin (73 MB; at most 67 MB)", "more/gone (a link)", "more/old.ipynb (another notebook)",
        "more/self (a link)", "more/tests (a link)", "pipe (no file)", "tests (a link)",
    ]  # fmt: skip
    for course in (own, own / "more"):
        with pytest.raises(UserError, match="folder of their own"):
            _data_beside(own, course)


LAB = "20_x"
#: In each way that nbgrader accepts, a line that begins a solution and the line that ends it.
MARKS = {
    "### BEGIN SOLUTION": "## END SOLUTION",
    "#BEGIN SOLUTION": "# END SOLUTION ####",
    "# BEGIN SOLUTION (3 lines)": "pass  # END SOLUTION",
}
TEXTS = {
    "blanks at the end": "def f(x):\n    return x\n    \n\t",
    "only blanks": "   ",
    "newlines at the end": "x = 1\n\n\n",
    "a line of percent format": "x = 1\n# %% [markdown]\ny = 2",
    "another page": "x = 'a\x0cb\u2028c'",
    "carriage returns": "x = 1\r\ny = 2",
    "an open text": "'''never closed",
}


def test_the_text_that_goes_in_comes_out_without_the_solutions(tmp_path, monkeypatch):
    cells = [
        answer(f"a{number}", f"def f(x):\n    {begin}\n    return x\n    {end}\n")
        for number, (begin, end) in enumerate(MARKS.items())
    ]
    for number, text in enumerate(TEXTS.values()):
        for kind in ("code", "markdown"):
            given = cell(kind, "", f"given_{kind}_{number}", locked=True)
            plain = (nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell)(text)
            given.source = text
            cells += [given, plain]
    made = notebook([*cells, CHECK])
    nbformat.write(made, tmp_path / "x.ipynb")
    monkeypatch.setenv("COURSE_ROOT", str(tmp_path))
    _forget(LAB)
    master = tmp_path / "solutions" / LAB / f"{LAB}.py"
    master.parent.mkdir(parents=True)
    text = master_text(read_source(tmp_path / "x.ipynb"), LAB, "hw/x", False)
    master.write_text(text, encoding="utf-8", newline="")
    for one, other, back in zip(
        made.cells, read_master(LAB).cells, released_notebook(LAB).cells, strict=True
    ):
        assert one.source == other.source and one.metadata.get("nbgrader") == other.metadata.get("nbgrader")
        expected, _ = ClearSolutions().preprocess_cell(one.copy(), {"language": "python"}, 0)
        assert back.source == expected.source
        assert "return x" not in back.source or one.source in TEXTS.values()
