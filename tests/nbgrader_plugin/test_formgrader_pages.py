"""Formgrader opens a class's own gradebook; its pages show what students wrote, and run none of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from coursekit.notebook import cards
from coursekit.notebook.verdict import Mark, Verdict
from jinja2 import FileSystemLoader
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import formgrader, handlers
from sqlalchemy import create_engine
from sqlalchemy import text as sql
from traitlets.config import Config, PyFileConfigLoader

from autograder.course.masters import course_root
from autograder.errors import UserError
from autograder.nbgrader_plugin.exporter import _places
from autograder.nbgrader_plugin.formgrader import address_of, configure
from autograder.nbgrader_plugin.settings import apply_to
from autograder.pages import clean_html as clean_html_module
from autograder.pages.clean_html import cell_html, clean_html
from tests.fixtures.html_reader import read
from tests.fixtures.nbgrader_course import cell

#: One a line.
ATTACKS = tuple(Path(__file__).with_name("attacks.txt").read_text(encoding="utf-8").splitlines())


def settings(folder: Path) -> Config:
    return PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()


def project(_: Path) -> Config:
    return settings(course_root())


def graded_folder(folder: Path) -> Config:
    (folder / "gradebook.db").touch()
    return settings(configure(folder))


def notebook(texts: tuple[str, ...]) -> nbformat.NotebookNode:
    """An answer, a written answer and outputs that hold these texts."""
    both, output = "\n\n".join(texts), nbformat.v4.new_output
    answer = cell("code", "x = 1", "q1", solution=True)
    kinds = (
        "text/html",
        "text/markdown",
        "image/svg+xml",
        "text/latex",
        "text/plain",
        "application/javascript",
    )
    answer.outputs = [
        *(output("display_data", {kind: both}) for kind in kinds),
        output("stream", text=both),
        output("error", ename=both, evalue=both, traceback=[both]),
    ]
    written = cell("markdown", both, "w1", 2, solution=True, score=1)
    other = nbformat.v4.new_markdown_cell(both)
    return nbformat.v4.new_notebook(cells=[answer, written, other, nbformat.v4.new_raw_cell(both)])


def page(config: Config, *texts: str) -> str:
    """Formgrader's page of a notebook that holds these texts: its own settings first, the course's after them."""
    whole = formgrader.FormgradeExtension().build_extra_config()
    whole.merge(config)
    assert whole.HTMLExporter.template_name == "formgrade"
    resources = {"index": 0, "total": 1, "nbgrader": {"score": 0, "max_score": 0, "late_penalty": 0}}
    made, _ = HTMLExporter(config=whole).from_notebook_node(notebook(texts), resources=resources)
    return made


@pytest.mark.parametrize("configured", [project, graded_folder])
def test_nothing_of_a_students_runs_or_is_fetched(tmp_path, configured):
    config = configured(tmp_path)
    plain, attacked = read(page(config, "harmless")), read(page(config, *ATTACKS))
    assert attacked.active == plain.active
    never = {"script", "iframe", "form", "input", "style", "link", "object", "svg", "base", "meta"}
    before, after = ([tag for tag, _ in one.tags if tag in never] for one in (plain, attacked))
    assert after == before


def test_honest_markdown_tables_pictures_cards_and_formulas_are_shown_without_mathjax(tmp_path):
    card = cards.checked(Verdict("q1", (Mark("It sums to one.", False, "divide by the sum"),)), 0, 3)
    made = page(
        project(tmp_path),
        "## Why\n\nBecause $a < b$ and **softmax** does.\n\n* one\n* two",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "<table class='dataframe'><tr><th>word</th><td style='color: red'>the</td></tr></table>",
        "<img src='data:image/png;base64,AAAA'>",
        "```python\nfor word in words:\n    pass\n```",
        r"Because $\sqrt{d_k}$ and $$\begin{aligned} a &= b \\ c &= d \end{aligned}$$",
        r"$\nothing{x}$",
        "![](attachment:gone.png)",
        card._repr_mimebundle_()["text/html"],
    )
    for shown in (
        "<h2>Why", "<strong>softmax</strong>", "<li>two</li>", "<th>word</th>", "<td>2</td>", "color: red",
        'src="data:image/png;base64,AAAA"', '<span class="k">for</span>', 'aria-label="a &lt; b"',
        r'aria-label="\sqrt{d_k}"', 'aria-label="a  = b"', 'aria-label="c  = d"', r"<code>\nothing{x}</code>",
        "gone.png", "It sums to one.", "divide by the sum", "signal",
    ):  # fmt: skip
        assert shown in made
    assert made.count('<span class="k">for</span>') >= 2, "in a cell and in an output"
    assert '<span class="mi">1</span>' in made and made.count('<path d="M') >= 3 and "cdnjs" not in made
    assert "--ck-ink" not in made.split("Student's answer")[1].split("<pre>")[0]


def test_a_formula_in_a_pictures_name_stays_text():
    made = cell_html('![$x$ onerror=attack() "](data:image/png;base64,AAAA)\n\n$y$')
    assert 'alt="x onerror=attack() &quot;"' in made and made.count("<svg") == 1
    assert read(made).active == ['img alt=x onerror=attack() "']


MARKUP = {
    "<b>": 9_000, "<div><i>": 5_000, "<script": 60_000, "<title>x": 9_000, "<": 300_000, "<td style='a": 30_000,
}  # fmt: skip


@pytest.mark.parametrize(("markup", "times"), MARKUP.items())
def test_markup_that_would_hold_up_its_reader_is_shown_as_it_was_typed(markup, times):
    shown = clean_html(markup * times)
    assert shown.startswith("<pre>&lt;") and len(shown) < 400_000 and read(shown).tags == [("pre", {})]


def test_a_pasted_picture_is_shown_and_a_missing_one_is_named():
    picture = {"a b.png": {"image/png": "AAAA"}}
    texts = "![mine](attachment:a%20b.png)", "![](attachment:gone.png)", "![](https://attack.example/x.png)"
    made = cell_html(" ".join(texts), picture)
    assert '<img src="data:image/png;base64,AAAA" alt="mine">' in made and made.count("<img") == 1
    assert "not in the notebook: gone.png]" in made and not read(made).active


LONG = {
    "tabs": "\t\n" * 50_000, "blank lines": "    \n" * 20_000, "another language": "```html\n" + "\t\n" * 10_000,
    "colours": "\x1b[31mx" * 8_000, "formulas": " ".join(f"${number}$" for number in range(100)),
}  # fmt: skip


@pytest.mark.parametrize("text", LONG)
def test_what_would_hold_up_a_reader_of_code_or_output_is_shown_plainly(tmp_path, text, monkeypatch):
    """Without the limits these take from half a minute to hours."""
    monkeypatch.setattr(clean_html_module, "_MOST_FORMULAS", 30)
    made = page(project(tmp_path), LONG[text])
    assert made.count("<svg") <= 30 and "ansi-red" not in made
    assert len(made) > len(LONG[text]) / 10


def test_a_text_of_a_books_length_or_that_its_reader_does_not_get_through_is_shown_as_it_was_typed():
    shown = cell_html("*word* " * 20_000)
    assert shown.startswith("<pre>*word*") and "<em>" not in shown
    text = "1. [&amp;http://<a href==www.(\u202e:[attachment:a]```python\n-->%E9^é    $$-->\t    <a href=x%E9[^1]\n]\n\n[^1]: \\be"
    assert "attachment" in cell_html(text)


def test_a_large_table_is_shown_as_a_table():
    row = "<tr>" + "<td><b>1</b></td>" * 10 + "</tr>"
    assert clean_html(f"<div><table>{row * 200}</table></div>").count("<td>") == 2000
    assert clean_html("<svg>" + "<rect width='1'/>" * 500 + "</svg><b>all</b>") == "<b>all</b>"


NAME = '<img src=x onerror=alert(1)>"; alert(2); "'
PAGES = (
    "manage_students_assignments", "manage_students_notebook_submissions", "manage_submissions",
    "gradebook_notebook_submissions", "gradebook_notebooks",
)  # fmt: skip


def test_no_page_runs_what_stands_in_a_name(monkeypatch):
    monkeypatch.setattr(formgrader, "Environment", formgrader.Environment)
    apply_to(Config())
    environment = formgrader.Environment(loader=FileSystemLoader([handlers.template_path]))
    names = dict.fromkeys(("student_id", "assignment_id", "notebook_id", "course_dir"), NAME)
    for page in PAGES:
        text = environment.get_template(f"{page}.tpl").render(base_url="", **names)
        assert "&lt;img src=x" in text and "<img src=x" not in text, page
        assert '"; alert(2)' not in text and "<script src=" in text, page


@pytest.mark.parametrize("name", ["q?mode=x", "p%41y", "a b+c", "ü#x", "50%"])
def test_the_gradebook_that_is_opened_is_the_one_in_the_folder(tmp_path, name):
    out = tmp_path / name
    out.mkdir()
    config = graded_folder(out)
    with create_engine(config.CourseDirectory.db_url).begin() as opened:  # as nbgrader's gradebook does
        opened.execute(sql("CREATE TABLE somebody (name TEXT)"))
    assert (out / "gradebook.db").stat().st_size > 0
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_button_grades_into_that_gradebook_and_into_no_other_that_an_address_may_mean(tmp_path):
    root = tmp_path / "q?mode=x"
    course = SimpleNamespace(
        root=str(root),
        directory_structure="{nbgrader_step}/{student_id}/{assignment_id}",
        autograded_directory="autograded",
        submitted_directory="submitted",
        db_url=address_of(root / "gradebook.db"),
    )
    assert _places(SimpleNamespace(coursedir=course)) == (root, root / "submitted")
    course.db_url = f"sqlite:///{root / 'gradebook.db'}"  # nbgrader's own, which means another file
    with pytest.raises(UserError, match="let db_url be sqlite:"):
        _places(SimpleNamespace(coursedir=course))
