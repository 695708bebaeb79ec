"""The pages in Chromium: nothing is fetched or blocked, phones need no sideways scrolling, tables sort."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from autograder.course.lab import LabSpec
from autograder.pages.feedback import FeedbackWriter
from autograder.pages.report import build_report
from autograder.results import QuestionResult, SubmissionResult, TestResult
from tests.nbgrader_plugin.test_formgrader_pages import ATTACKS, project
from tests.nbgrader_plugin.test_formgrader_pages import page as formgrader_page

Make = Callable[..., SubmissionResult]


@pytest.fixture
def pages(tmp_path: Path, spec: LabSpec, make_result: Make) -> dict[str, Path]:
    wide = "x" * 300
    tests = (TestResult(wide, False, f"`{wide}`"),)
    softmax = QuestionResult("softmax", 1, 6, tests, "softmax over queries", "Use `axis=-1`.", error=wide * 3)
    ada = make_result("ada", questions=(QuestionResult("one_hot", 4, 4), softmax), score=5.0)
    rows = [ada, make_result("bo", 4, 6), make_result("cy " + wide, 0, 2.5)]
    return {
        "feedback": FeedbackWriter(spec, tmp_path).write(ada),
        "report": build_report(rows, spec, tmp_path),
    }


def fits_reads_well_and_loads_nothing(browser: Browser, place: Path) -> None:
    """On a desk and on a phone, light and dark."""
    page = browser.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(place.as_uri())
    for width in (1366, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            assert page.evaluate(LOWEST_CONTRAST) >= 4.5, f"{scheme}: WCAG AA for ordinary text"
    assert (complaints, requests) == ([], [place.as_uri()])
    page.close()


@pytest.mark.parametrize("name", ["feedback", "report"])
def test_a_page_fits_reads_well_and_loads_nothing(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    fits_reads_well_and_loads_nothing(browser, pages[name])


def test_no_word_of_a_figure_is_cut(
    browser: Browser, tmp_path: Path, spec: LabSpec, make_result: Make
) -> None:
    most = spec.max_score
    rows = [make_result(name, score=most - 0.01 * n, seconds=400.0 * n) for n, name in enumerate("abc")]
    page = browser.new_page()
    page.goto(build_report(rows, spec, tmp_path).as_uri())
    assert "mean" in page.locator("svg.chart").first.inner_html()
    assert page.evaluate(OUTSIDE_THE_FIGURE) == []
    page.close()


#: Words of figures that reach over the edges.
OUTSIDE_THE_FIGURE = """[...document.querySelectorAll('svg.chart text')].filter((text) => {
  const a = text.getBoundingClientRect(), b = text.closest('svg').getBoundingClientRect();
  return a.left < b.left || a.right > b.right || a.top < b.top || a.bottom > b.bottom;
}).map((text) => text.textContent)"""


def test_a_press_on_a_heading_sorts_and_a_second_press_turns_the_order(
    browser: Browser, pages: dict[str, Path]
) -> None:
    page = browser.new_page()
    page.goto(pages["report"].as_uri())
    table = page.locator("table.sortable").last
    points = table.locator("tbody td:nth-child(2)")
    table.get_by_role("button", name="Points").click()
    assert points.all_inner_texts() == ["2.5", "5", "10"]
    table.get_by_role("button", name="Points").click()
    assert points.all_inner_texts() == ["10", "5", "2.5"]
    assert table.locator("th").nth(1).get_attribute("aria-sort") == "descending"
    page.close()


#: The lowest contrast between a text and the background it lies on (WCAG 2.2, 1.4.3).
LOWEST_CONTRAST = """() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = channels(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  let lowest = 21;
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.closest("script, svg") || !element.getClientRects().length) continue;
    const one = luminance(channels(getComputedStyle(element).color)), other = luminance(background(element));
    lowest = Math.min(lowest, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
  }
  return lowest;
}"""


def test_formgrader_runs_nothing_of_a_students(browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    page.add_init_script("window.attacks = []; window.attack = () => window.attacks.push(1)")
    page.route("**/*", lambda route: route.abort() if "attack" in route.request.url else route.continue_())
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    (tmp_path / "page.html").write_text(formgrader_page(project(tmp_path), "formgrade", ATTACKS))
    page.goto((tmp_path / "page.html").as_uri(), wait_until="domcontentloaded")
    page.wait_for_timeout(300)
    assert page.evaluate("window.attacks") == []
    assert [url for url in fetched if "attack" in url] == []
    page.close()
