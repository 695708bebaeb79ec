"""The term's report: who is falling behind and on what, by rules that stand on the page; odd names do no harm."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.console import Console

from autograder.cli.rewrite import write_term
from autograder.course.masters import lab_name
from autograder.errors import UserError
from autograder.files import write_atomically
from autograder.results import QuestionResult, SubmissionResult
from autograder.run.recorder import Recorder
from autograder.run.store import STORE, ResultStore
from autograder.run.term import Entry, Idea, Lab, Student, Term, render_term, table_of_students
from tests.pages.test_pages_in_browser import fits_reads_well_and_loads_nothing

LABS = tuple(Lab(f"{n:02}_topic", f"What is the topic of lab {n}?", 20, "01 October 2026") for n in range(14))


def student(folder: str, *points: float | None, **more: str) -> Student:
    """A student with these points in the first labs; None: nothing was handed in."""
    entries = {
        lab.name: Entry("missing" if got is None else "graded", got or 0, 20)
        for lab, got in zip(LABS, points, strict=False)
    }
    return Student(folder, entries=entries, **more)


def term(*students: Student, labs: int) -> Term:
    return Term("Transformers, winter", LABS[:labs], students)


LATEST, FELL = "nothing handed in for the latest lab", "50% over the last two labs after 100% before"
#: The points of a student's labs, and why who has them counts as falling behind.
BEHIND: dict[tuple[float | None, ...], tuple[str, ...]] = {
    (20, 20, 20): (),
    (20, 20, None): (LATEST, FELL),
    (None, None, 20, 20): ("2 of 4 labs missing",),
    (20, 9, 10): ("48% of the points over the last two labs",),
    (20, 10, 10): (FELL,),
    (20, 15, 15): ("75% over the last two labs after 100% before",),
    (20, 15, 16): (),
    (9,): ("45% of the points over the lab",),
}


def test_who_falls_behind_is_told_by_the_rules_on_the_page():
    assert {points: student("ada", *points).behind for points in BEHIND} == BEHIND


def test_what_waits_for_a_person_or_is_our_own_failure_makes_nobody_look_behind():
    waiting = Entry("graded", 12, 20, waiting=8)
    assert Student("ada", entries={"00": waiting, "01": waiting}).behind == ()
    low = {"00": replace(waiting, waiting=0), "01": Entry("graded", 2, 20)}
    assert Student("ada", entries=low).behind != ()
    assert Student("ada", entries={"00": Entry("crashed", 0, 20, fault=True)}).behind == ()


def test_the_ideas_are_those_of_the_last_two_labs_the_costliest_first():
    ideas = {"00": ("long ago", 18), "01": ("over queries", 4), "02": ("an error", 9)}
    entries = {
        lab: Entry("graded", 2, 20, ideas=(Idea(lab, "softmax", title, lost),))
        for lab, (title, lost) in ideas.items()
    }
    assert [idea.title for idea in Student("ada", entries=entries).ideas] == ["an error", "over queries"]


def test_a_share_is_of_the_decided_points_and_what_is_not_final_is_marked(tmp_path):
    entries = {LABS[0].name: Entry("graded", 20, 24, waiting=4), LABS[1].name: Entry("missing", 0, 20)}
    page = render_term(term(Student("ada", entries=entries), labs=2), tmp_path)
    assert '<strong>20</strong> <span class="soft small">of 40</span>' in page and ">50%</td>" in page
    assert 'points="0,0.00 1,1.00"' in page, "a line over the labs"
    undated = replace(term(student("ada", 20), labs=1), labs=(replace(LABS[0], due=""),))
    assert ">Due<" in page and ">Late<" in page and ">Late<" not in render_term(undated, tmp_path)
    assert 'number inline open" data-value="20" title="graded, up to 4 wait for a person"' in page
    earlier = term(Student("ada", entries={LABS[0].name: Entry("graded", 15, 20, earlier=True)}), labs=1)
    assert earlier.students[0].open and "points from an earlier run" in table_of_students(earlier)[1][-1]


def test_the_page_fits_a_desk_and_a_phone_and_fourteen_labs_print_on_a4(browser, tmp_path):
    """With the strangest names and every kind of mark. A sheet has 273 mm between its margins: 1,031 of CSS's pixels."""
    odd = ["Ada <Lovelace>", "مريم بنت علي", "\u202egnp.exe", "x" * 120, "O'Hara; -1+1", *"abc"]
    people = [student(one, *(10 + n % 7 for _ in LABS), name=one, section=one) for n, one in enumerate(odd)]
    marked = Entry(
        "partly-run", 3, 20, waiting=2, late_penalty=4, seconds_late=90_000, extension_used=True,
        undated=True, ideas=(Idea(LABS[13].name, "causal_mask", odd[0], 9),),
    )  # fmt: skip
    people.append(Student("eve", odd[0], "B", {**people[0].entries, LABS[13].name: marked}))
    people += [student(f"s{n:03}", *(None if n % 9 == 0 else 20 for _ in LABS)) for n in range(40)]
    page = tmp_path / "term.html"
    write_atomically(page, render_term(replace(term(*people, labs=14), remarks=(odd[0],)), tmp_path))
    fits_reads_well_and_loads_nothing(browser, page)
    shown = browser.new_page(viewport={"width": 1031, "height": 700})
    shown.emulate_media(media="print")
    shown.goto(page.as_uri())
    every = "(all) => all.map((one) => {})".format
    widths = shown.locator("table").evaluate_all(every("one.getBoundingClientRect().right"))
    assert max(widths) <= 1031
    buttons = shown.locator("th button").evaluate_all(every("getComputedStyle(one).display"))
    assert set(buttons) == {"contents"}, "with boxes in its headings no sheet but the first has them"
    sheets = shown.pdf(prefer_css_page_size=True)
    assert re.search(rb"/MediaBox \[0 0 84\d(\.\d+)? 59\d(\.\d+)?\]", sheets), "A4, landscape"
    shown.close()


def test_a_folder_without_results_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match=r"^There are no results in .*: grade a class into it first\.$"):
        write_term(tmp_path, Console(quiet=True))
    ResultStore(tmp_path / STORE).__enter__()
    with pytest.raises(UserError, match=r"^No lab was graded into .* yet\.$"):
        write_term(tmp_path, Console(quiet=True))


def test_two_folders_of_one_person_are_two_rows_and_a_sentence(tmp_path, course_at):
    lab = lab_name("00")
    course_at("", "student,name,canvas id\nada,Ada Lovelace,4711\nbo,Bo Diaz,12\n")
    with ResultStore(tmp_path / STORE) as store, Recorder(lab, tmp_path, store) as recorder:
        for folder, got in (("ada", 4.0), ("lovelaceada_4711", 2.0)):
            question = QuestionResult("one_hot", got, 4.0)
            recorder.record(SubmissionResult(folder, lab, "graded", got, 20.0, 0.0, (question,)))
    term, _ = write_term(tmp_path, Console(quiet=True))
    points = {one.student: one.points for one in term.students}
    assert points == {"ada": 4.0, "lovelaceada_4711": 2.0, "bo": 0.0}
    assert "ada, lovelaceada_4711 all match ada on the class list" in " ".join(term.labs[0].remarks)
    assert next(one for one in term.students if one.student == "bo").missing == (lab,)
