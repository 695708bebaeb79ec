"""Times the demos that are drawn in the browser: their first picture, and what answers a hand.

* first picture: from opening the page, a file on the disk, to the first picture on it, in a new browser window
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
from playwright.sync_api import Browser, sync_playwright
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.demos.stage import MOVE, PROGRAM, address  # noqa: E402

FIRST, FRAME = 1.0, 0.016  # the targets, in seconds


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
        took += [ms / 1000 for ms in page.evaluate(MOVE)]
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


def main() -> None:
    """Time the demos that were asked for, print the table, write the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("labs", nargs="*", help="the first letters of demos' names")
    asked = parser.parse_args()
    chosen = [name for name in bundle.names() if not asked.labs or name.startswith(tuple(asked.labs))]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        bundle.write(Path(folder), *chosen)
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        rows = [timed(browser, Path(folder), name) for name in chosen]
        browser.close()
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
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "demos.json").write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
