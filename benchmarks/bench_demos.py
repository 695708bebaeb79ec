"""Times the demos that are drawn in the browser: their first picture, and what answers a hand.

* first picture: from opening the page, a file on the disk, to the first picture on it, in a new browser window
* a sentence: the CPU time from new words to five translations in 12_everyday, all in the page's one thread
* drag: the work that one move of a mark or a slider costs, drawing and layout, measured in the page, all scenes

Prints a table and writes ``build/bench/demos.json``. ``bench_demos.py 07`` times lab 07's demos only.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from coursekit.demos import bundle
from playwright.sync_api import Browser
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.demos.stage import MOVE, address  # noqa: E402
from tests.fixtures.browser import chromium  # noqa: E402

FIRST, FRAME, SENTENCE = 1.0, 0.016, 0.3  # the targets, in seconds
SENTENCES = (
    "Where did you learn German?",
    "I don't know what she wants from me.",
    "He has been learning German for two years.",
    "Can you tell me where the station is?",
    "I would like to have a cup of coffee, please.",
    "My brother is taller than my father.",
)


def timed(browser: Browser, folder: Path, name: str) -> dict[str, Any]:
    """A demo's times, in seconds; the first picture as the median of five windows."""
    first = []
    for _ in range(5):
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.add_init_script(
            "new MutationObserver((_, o) => { if (document.querySelector('svg.cd-picture g *')) { o.disconnect();"
            "requestAnimationFrame(() => setTimeout(() => { window.first = performance.now() })) } })"
            ".observe(document, {childList: true, subtree: true})"
        )
        page.goto(address(folder, name))
        page.wait_for_function("window.first")
        first.append(page.evaluate("first") / 1000)
        if len(first) < 5:
            page.close()
    took: list[float] = []
    for _ in range(page.evaluate("course.demo.scenes.length")):
        took += [ms / 1000 for ms in page.evaluate(MOVE, 30)]
        page.keyboard.press("PageDown")
    page.close()
    return {
        "demo": name,
        "first_picture": statistics.median(first),
        "drag_median": statistics.median(took) if took else None,
        "drag_worst": max(took, default=None),
        "moves": len(took),
        "kilobytes": (folder / f"{name}.html").stat().st_size // 1024,
    }


def sentence(browser: Browser, folder: Path) -> float:
    """The CPU time in which the page translates one of the sentences, five hypotheses wide, in seconds: the median."""
    page = browser.new_page()
    page.goto(address(folder, "12_everyday"))
    page.wait_for_selector("svg.cd-picture g *", state="attached")
    browser_says = page.context.new_cdp_session(page)
    browser_says.send(
        "Performance.enable", {"timeDomain": "threadTicks"}
    )  # time of the page's own thread, whoever else works

    def spent() -> float:
        metrics = browser_says.send("Performance.getMetrics")["metrics"]
        return next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")

    took = []
    for text in SENTENCES:
        before = spent()
        page.evaluate("(sentence) => { course.demo.told({ sentence, to: 'de' }, course.stage.data) }", text)
        took.append(spent() - before)
    page.close()
    return statistics.median(took)


def main() -> None:
    """Time the demos that were asked for, print the table, write the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("labs", nargs="*", help="the first letters of demos' names")
    asked = parser.parse_args()
    chosen = [name for name in bundle.names() if not asked.labs or name.startswith(tuple(asked.labs))]
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        bundle.write(Path(folder), *chosen)
        rows = [timed(browser, Path(folder), name) for name in chosen]
        words = sentence(browser, Path(folder)) if "12_everyday" in chosen else None
    table = Table(title="Lecture demos in Chromium")
    for heading in ("demo", "first picture", "drag, median", "worst", "moves", "page"):
        table.add_column(heading, justify="left" if heading == "demo" else "right", no_wrap=True)
    for row in rows:
        drags = [
            f"{1000 * row[key]:.1f} ms" if row["moves"] else "–" for key in ("drag_median", "drag_worst")
        ]
        table.add_row(
            row["demo"],
            f"{1000 * row['first_picture']:.0f} ms",
            *drags,
            str(row["moves"]),
            f"{row['kilobytes']} kB",
        )
    console = Console()
    console.print(table)
    late = [row["demo"] for row in rows if row["first_picture"] > FIRST]
    slow = [row["demo"] for row in rows if row["moves"] and row["drag_median"] > FRAME]
    console.print(f"first picture later than 1 s: {late or 'none'}; drag longer than 16 ms: {slow or 'none'}")
    if words is not None:
        console.print(f"a sentence: {1000 * words:.0f} ms of CPU time (target {1000 * SENTENCE:.0f} ms)")
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "demos.json").write_text(json.dumps({"demos": rows, "sentence": words}, indent=2))


if __name__ == "__main__":
    main()
