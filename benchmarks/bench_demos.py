"""Times every lecture demo: the first picture from a fresh kernel and in a browser, and the answer to a moved slider.

* kernel: from the start of a new kernel's first cell to the message that carries the first picture
* Voilà: from opening the page in Chromium to the first picture on it (the server runs, the kernel does not)
* drawing: ``picture()`` for every setting worth trying, nothing cached
* slider: in Chromium, from the key that moves a slider to the new picture, on the page, painted

Prints a table and writes ``build/bench/demos.json``. ``bench_demos.py 07`` times lab 07's demos only;
without Chromium the columns of the browser stay empty.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import time
from pathlib import Path
from typing import Any

from coursekit.demos import notebooks
from coursekit.demos.frame import Demo
from coursekit.demos.serving import served
from jupyter_client.manager import KernelManager
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
FIRST, ANSWER = 5.0, 0.2  # the targets, in seconds
console = Console()

#: Notes when a key goes down and when the picture that follows is painted.
WATCH = """() => {
  window.went = []; let pressed = null;
  addEventListener('keydown', () => { pressed = performance.now() }, true);
  new MutationObserver(() => { if (pressed === null) return; const from = pressed; pressed = null;
    requestAnimationFrame(() => setTimeout(() => window.went.push(performance.now() - from)))
  }).observe(document.querySelector('.ckd-picture'), {childList: true, subtree: true});
}"""


def first_picture(name: str) -> tuple[float, float]:
    """Seconds until a new kernel is ready, and from the start of its first cell to the first picture."""
    began = time.perf_counter()
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(notebooks.FOLDER))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        ready = time.perf_counter()
        code = notebooks.notebook(notebooks.load(name)).cells[1].source
        client.execute(code)
        while True:
            message = client.get_iopub_msg(timeout=60)
            if message["msg_type"] == "error":
                raise SystemExit("\n".join(message["content"]["traceback"]))
            state = (
                message["content"].get("data", {}).get("state", {}) if "comm" in message["msg_type"] else {}
            )
            if "<svg" in str(state.get("value", "")):
                return ready - began, time.perf_counter() - ready
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def drawing(demo: Demo) -> list[float]:
    """Seconds of ``draw`` for every scene and every value of every control worth trying."""
    tried = [demo.settings(scene) for scene in demo.scenes]
    tried += [
        demo.settings(scene, **{control.name: value})
        for scene in demo.scenes
        for control in demo.controls
        for value in control.tries()
    ]
    demo.picture()  # data are read once, with the first picture
    taken = []
    for settings in tried:
        began = time.perf_counter()
        str(demo.draw(**settings))
        taken.append(time.perf_counter() - began)
    return taken


def in_browser(browser: Any, address: str, name: str) -> tuple[float, list[float]]:
    """Seconds from opening the page to the first picture, and from each of 15 keys to its picture."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    began = time.perf_counter()
    page.goto(f"{address}{name}.ipynb", wait_until="commit")
    page.wait_for_selector("svg.ckd", timeout=60_000)
    first = time.perf_counter() - began
    page.wait_for_selector(".ckd-stage .noUi-handle", timeout=20_000) if page.locator(
        ".ckd-stage .noUi-handle"
    ).count() else None
    page.wait_for_timeout(500)
    page.evaluate(WATCH)
    handles = page.locator(".ckd-stage .noUi-handle")
    targets = [handles.nth(i) for i in range(min(handles.count(), 2))]
    for handle in targets:
        handle.focus()
        for key in ["ArrowRight"] * 8 + ["ArrowLeft"] * 3:
            count = page.evaluate("went.length")
            page.keyboard.press(key)
            for _ in range(60):  # a key at the end of a slider changes nothing
                if page.evaluate("went.length") > count:
                    break
                page.wait_for_timeout(10)
            page.wait_for_timeout(40)
    if not targets:
        for i in range(page.locator(".ckd-scenes button").count()):
            button = page.locator(".ckd-scenes button").nth(i)
            button.focus()
            page.keyboard.press("Enter")
            page.wait_for_timeout(300)
    went = [milliseconds / 1000 for milliseconds in page.evaluate("went")]
    page.close()
    return first, went


def main() -> None:
    """Time the demos that were asked for, print the table, write the JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("labs", nargs="*", help="the first letters of demos' names")
    asked = parser.parse_args()
    chosen = [name for name in notebooks.names() if not asked.labs or name.startswith(tuple(asked.labs))]
    rows: list[dict[str, Any]] = []
    for name in chosen:
        start, first = first_picture(name)
        taken = drawing(notebooks.load(name))
        rows.append(
            {"demo": name, "kernel_start": start, "first_picture": first}
            | {"draw_median": statistics.median(taken), "draw_worst": max(taken)}
        )
    program = shutil.which("chromium")
    if program:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright, served() as address:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            in_browser(browser, address, chosen[0])  # the first page of all also loads the widgets' code
            time.sleep(3)  # and its kernel goes
            for row in rows:
                row["page_to_picture"], went = in_browser(browser, address, row["demo"])
                row |= {
                    "slider_median": statistics.median(went),
                    "slider_worst": max(went),
                    "slides": len(went),
                }
            browser.close()
    table = Table(title="Lecture demos: first picture; drawing and slider: median, worst")
    table.add_column("demo", no_wrap=True)
    for heading in ("kernel", "Voilà", "drawing", "worst", "slider", "worst"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        page = [f"{row['page_to_picture']:.2f} s"] if program else ["–"]
        slides = [
            f"{1000 * row[key]:.0f} ms" if program else "–" for key in ("slider_median", "slider_worst")
        ]
        draws = [f"{1000 * row[key]:.1f} ms" for key in ("draw_median", "draw_worst")]
        table.add_row(row["demo"], f"{row['first_picture']:.2f} s", *page, *draws, *slides)
    console.print(table)
    late = [
        row["demo"] for row in rows if row["first_picture"] > FIRST or row.get("page_to_picture", 0) > FIRST
    ]
    slow = [row["demo"] for row in rows if row.get("slider_worst", row["draw_worst"]) > ANSWER]
    console.print(
        f"first picture later than {FIRST:g} s: {late or 'none'}; slider slower than 200 ms: {slow or 'none'}"
    )
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "demos.json").write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
