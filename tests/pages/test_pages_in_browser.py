"""The pages in Chromium: nothing is fetched or blocked, phones need no sideways scrolling, tables sort."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from autograder.gradebook.final_points import TeacherMarks
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.report import build_report
from autograder.results import QuestionResult, TestResult
from tests.demos.stage import serious


@pytest.fixture
def pages(tmp_path, spec, make_result):
    wide = "x" * 300
    tests = (TestResult(wide, False, f"`{wide}`"),)
    softmax = QuestionResult("softmax", 1, 6, tests, "softmax over queries", "Use `axis=-1`.", error=wide * 3)
    ada = make_result("ada", questions=(QuestionResult("one_hot", 4, 4), softmax), score=5.0)
    rows = [ada, make_result("bo", 4, 6), make_result("cy " + wide, 0, 2.5)]
    return FeedbackWriter(spec, tmp_path).write(ada), build_report(rows, spec, tmp_path)


def fits_reads_well_and_loads_nothing(browser, place):
    """On a desk and on a phone, light and dark."""
    page, heard = browser.new_page(), list[str]()
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(place.as_uri())
    for width in (1366, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            assert [found for found in serious(page) if found[0] == "color-contrast"] == [], scheme
    assert heard == [place.as_uri()]
    page.close()


def test_a_page_fits_reads_well_and_loads_nothing(browser, pages):
    for place in pages:
        fits_reads_well_and_loads_nothing(browser, place)


def test_the_first_cause_stands_in_the_first_screen_and_a_typical_page_prints_on_one_sheet(
    browser, tmp_path, spec, submit, make_result
):
    """A partly run notebook with a late penalty: what most pages have above the first cause, and more."""
    code = "def softmax(x):\n" + "".join(f"    step_{n} = x + {n}\n" for n in range(16)) + "    return total"
    tests = tuple(TestResult(f"Title of the test with the number {n}.", n > 3) for n in range(12))
    error = "in softmax, line 18: return total\nNameError: name 'total' is not defined"
    wrong = QuestionResult("softmax", 3, 6, tests, "softmax over queries", "Use `axis=-1`.", error)
    notes = ("The cell that begins `plt.plot(weights)` stopped: NameError: name 'weights' is not defined",)
    ada = make_result(
        "ada", questions=(QuestionResult("one_hot", 4, 4, tests[4:]), wrong), status="partly-run", notes=notes,
        run_notes=notes, notebook=submit(spec, {"softmax": code}),
    )  # fmt: skip
    path = FeedbackWriter(spec, tmp_path).write(ada, TeacherMarks(seconds_late=4800, late_penalty=1))
    page = browser.new_page()
    page.goto(path.as_uri())
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.locator(".cause").first.bounding_box()["y"] < height - 60, width
    assert page.locator(".code .marked").count() == 1
    sheets = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", sheets)) == 1
    page.close()


def test_a_press_on_a_heading_sorts_and_a_second_press_turns_the_order(browser, pages):
    page = browser.new_page()
    page.goto(pages[1].as_uri())
    table = page.locator("table.sortable").last
    points = table.locator("tbody td:nth-child(2)")
    expect(points).to_have_text(["2.5", "5", "10"])  # the fewest first
    table.get_by_role("button", name="Points").click()
    expect(points).to_have_text(["10", "5", "2.5"])
    expect(table.locator("th").nth(1)).to_have_attribute("aria-sort", "descending")
    table.get_by_role("button", name="Points").click()
    expect(points).to_have_text(["2.5", "5", "10"])
    page.close()
