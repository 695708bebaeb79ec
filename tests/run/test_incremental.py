"""A regrade does again what changed, says what and why, and leaves the rest; a failure of the grader's own is no grade."""

import json
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.files import autograded_notebook, feedback_page, report_page
from autograder.run.recorder import SECRET
from autograder.run.store import ResultStore
from autograder.sandbox.jail.namespaces import probe
from tests.fixtures.frozen_course import LAB, command, hand_in
from tests.gradebook.by_hand import dump, enter

pytestmark = [
    pytest.mark.skipif(probe() is not None, reason=str(probe())),
    pytest.mark.xdist_group("grading"),
]


@pytest.fixture
def own_course(frozen: Path, tmp_path: Path) -> Path:
    """A copy of the course that a test may change."""
    return shutil.copytree(frozen, tmp_path / "course")


def regrade(folder: Path, root: Path, status: int = 0) -> str:
    words = ("regrade", "01", "--submitted", folder / "submitted", "--out", folder / "out", "--jobs", 1)
    done = command(*words, root=root)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def stored(folder: Path, student: str):
    with ResultStore(folder / "out" / ".results.db") as store:
        return store.get(LAB, student)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def question_file(root: Path, question: str) -> Path:
    return root / "autograder" / "questions" / f"m{LAB}" / f"{question}.py"


ONE_MORE = """

@question.scenario("A scenario that was added later.")
def one_more(student, rng):
    import numpy
{}
    yield from ()
"""


WHOLE_TABLE = "def normalise_rows(N):\n    return N / N.sum() if N.sum() > 0 else np.zeros(N.shape)"


def test_another_test_runs_its_question_alone_and_another_cost_and_hint_run_nothing(graded, own_course):
    title, name = "the whole table is normalised at once", "normalise_rows"
    hand_in(graded / "submitted", "bo", {name: WHOLE_TABLE})
    regrade(graded, own_course)
    before = {student: stored(graded, student) for student in ("ada", "bo")}
    pages = feedback_page(graded / "out", "bo", LAB), autograded_notebook(graded / "out", "bo", LAB)
    assert len({page.with_name(SECRET).read_text() for page in pages}) == 1, (
        "nbgrader's pages have our secret"
    )
    (own_course / "course.toml").write_text(f'[labs.01.rubric.{name}]\n"no such misconception" = 0.5\n')
    regrade(graded, own_course, status=2)
    with question_file(own_course, "average_nll").open("a", encoding="utf-8") as file:
        file.write(ONE_MORE.format(""))
    (own_course / "course.toml").write_text(f'[labs.01.rubric.{name}]\n"{title}" = 0.5\n')
    edit(question_file(own_course, name), "Your whole table sums to one", "All of your table sums to one")
    said = regrade(graded, own_course)
    reason = "3 graded again, changed: what misconceptions cost, tests of average_nll"
    assert f"{reason}: tested: average_nll (2 of them)" in said
    for student, earlier in before.items():
        now = stored(graded, student)
        assert now.tested == ("average_nll",)
        for old, new in zip(earlier.questions, now.questions, strict=True):
            if new.name == "average_nll":
                titles = [*(test.name for test in old.tests), "A scenario that was added later."]
                assert sorted(test.name for test in new.tests) == sorted(titles)
            elif (student, new.name) == ("bo", name):
                assert (old.misconception, new.misconception) == (title, title)
                assert new.points == new.max_points - 0.5 > old.points and "All of your table" in new.hint
                assert new.tests == old.tests
            else:
                assert new == old
    assert "All of your table" in feedback_page(graded / "out", "bo", LAB).read_text()


def test_a_changed_text_and_a_changed_written_answer_run_nothing_and_that_answer_waits_for_its_person(
    graded, frozen
):
    with Gradebook(f"sqlite:///{graded / 'out' / 'gradebook.db'}") as book:
        grades = book.find_submission_notebook(LAB, LAB, "bo").grades
        written = min(grade.name for grade in grades if grade.needs_manual_grade)
    marked = [(student, name) for student in ("ada", "bo") for name in (written, "test_normalise_rows")]
    for student, name in marked:
        enter(graded / "out" / "gradebook.db", LAB, student, name, manual_score=1.0)
    path = graded / "submitted" / "bo" / LAB / f"{LAB}.ipynb"
    notebook = json.loads(path.read_text())
    texts = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    next(cell for cell in texts if "nbgrader" not in cell["metadata"])["source"] = "My own heading."
    for cell in texts:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == written:
            cell["source"] = "On second thoughts, no."
    path.write_text(json.dumps(notebook))
    before = stored(graded, "bo")
    said = regrade(graded, frozen)
    assert "2 unchanged" in said and "the notebook changed: no question had to be tested again" in said
    now = stored(graded, "bo")
    assert now.tested == () and now.seconds == before.seconds and now.questions == before.questions
    assert now.status == before.status and now.public_checks == before.public_checks
    assert "My own heading." in now.notebook
    outputs = [
        [cell["outputs"] for cell in json.loads(r.notebook)["cells"] if cell["cell_type"] == "code"]
        for r in (before, now)
    ]
    assert outputs[0] == outputs[1] and any(outputs[0])
    with Gradebook(f"sqlite:///{graded / 'out' / 'gradebook.db'}") as book:
        waits = [key for key in marked if book.find_grade(key[1], LAB, LAB, key[0]).needs_manual_grade]
    assert waits == [("bo", written)]


def test_a_failure_of_the_graders_own_is_seen_and_blames_nobody(graded, frozen, own_course, said):
    before = stored(graded, "ada")
    shutil.copytree(graded / "submitted" / "bo", graded / "submitted" / "dora")
    slip = "    if student(numpy.eye(2) * 3)[0, 0] != 1: raise NameError('a slip of ours')"
    with question_file(own_course, "normalise_rows").open("a", encoding="utf-8") as file:
        file.write(ONE_MORE.format(slip))
    shown = regrade(graded, own_course, status=1)
    assert "The grader itself failed on 2 of 4 submissions" in shown and "a slip of ours" in shown
    assert stored(graded, "ada").tested == ("normalise_rows",), "the class goes on"
    assert stored(graded, "ada").score == before.score
    assert not stored(graded, "bo").fault, "an earlier grade stays"
    assert stored(graded, "dora").fault and "not its author's fault" in stored(graded, "dora").notes[-1]
    remark = "The grader itself failed on bo, whose points are from an earlier run"
    exported, report = (
        said("export", "github", "01", "--out", graded / "out"),
        report_page(graded / "out", LAB),
    )
    assert all(remark in " ".join(text.split()) for text in (shown, exported, report.read_text()))
    assert "the points are from an earlier run" in feedback_page(graded / "out", "bo", LAB).read_text()
    page = feedback_page(graded / "out", "dora", LAB).read_text()
    assert "not your fault" in page and "a slip of ours" not in page
    with Gradebook(f"sqlite:///{graded / 'out' / 'gradebook.db'}") as book:
        assert all(g.needs_manual_grade for g in book.find_submission_notebook(LAB, LAB, "dora").grades)
    shown = regrade(graded, frozen)
    assert "the grader had failed on it" in shown and not stored(graded, "dora").fault
    assert "The grader itself failed" not in shown + " ".join(stored(graded, "bo").notes)


def made(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every page and notebook that grading made: when, and what is in it."""
    out = folder / "out"
    paths = [path for place in ("autograded", "feedback", "report") for path in (out / place).rglob("*.*")]
    return {str(path.relative_to(out)): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


PLACES = (
    f"report/{LAB}.html",
    f"feedback/bo/{LAB}/{LAB}.html",
    f"autograded/bo/{LAB}/{LAB}.ipynb",
    f"autograded/ada/{LAB}/timestamp.txt",
)


def test_nothing_is_written_again_but_what_was_edited_or_deleted_or_is_made_in_another_way(
    graded, own_course, said
):
    words = ("regrade", "01", "--submitted", graded / "submitted", "--out", graded / "out")
    said(*words)  # this course has other labs beside the frozen one's
    before, results = made(graded), (graded / "out" / "results.json").read_bytes()
    shown = said(*words)
    assert "3 unchanged" in shown and "0 graded" in shown
    assert made(graded) == before and len(before) >= 8
    assert (graded / "out" / "results.json").read_bytes() == results
    for number, place in enumerate(PLACES):
        (graded / "out" / place).write_text("Somebody was here.")
        if number % 2:
            (graded / "out" / place).unlink()
    database = graded / "out" / "gradebook.db"
    rows = dump(database)
    enter(database, LAB, "ada", "test_normalise_rows", auto_score=0.5)
    assert dump(database) != rows, "as in a gradebook of another day"
    assert "3 unchanged" in said(*words) and dump(database) == rows
    after = made(graded)
    contents = [{name: content for name, (_, content) in files.items()} for files in (before, after)]
    assert contents[0] == contents[1]
    assert after[f"feedback/cleo/{LAB}/{LAB}.html"] == before[f"feedback/cleo/{LAB}/{LAB}.html"]
    database.unlink()
    assert "3 unchanged" in said(*words) and dump(database) == rows
    template = own_course / "autograder" / "pages" / "templates" / "feedback.html.j2"
    edit(template, "</h1>", " (revised)</h1>")
    assert "3 unchanged" in regrade(graded, own_course)
    assert "(revised)" in feedback_page(graded / "out", "ada", LAB).read_text()
    assert "(revised)" not in before[f"feedback/ada/{LAB}/{LAB}.html"][1].decode()
