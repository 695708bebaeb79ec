"""Photographs every scene of the demos in Chromium, light and dark, on a laptop and a phone, and prints what is wrong with it.

``python tests/demos/contact_sheet.py [07 …]``: all demos, or those whose names begin so. Photographs go to build/demos/.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from coursekit.demos import bundle  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

from tests.demos.stage import PROGRAM, address, faults, opened  # noqa: E402

OUT = ROOT / "build" / "demos"


def main() -> None:
    """Take the photographs."""
    chosen = [name for name in bundle.names() if not sys.argv[1:] or name.startswith(tuple(sys.argv[1:]))]
    bundle.write(OUT, *chosen)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        for name, screen, dark in (
            (n, s, d) for n in chosen for s in ("laptop", "phone") for d in (False, True)
        ):
            with opened(browser, address(OUT, name), screen, dark=dark) as page:
                for scene in range(1, page.evaluate("course.demo.scenes.length") + 1):
                    for fault in faults(page):
                        print(f"{name}, {screen}, scene {scene}: {fault}")
                    page.screenshot(path=OUT / f"{name}_{screen}{'_dark' if dark else ''}_{scene}.png")
                    page.keyboard.press("PageDown")
        browser.close()


if __name__ == "__main__":
    main()
