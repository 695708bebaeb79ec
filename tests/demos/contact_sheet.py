"""Photographs the demos in Chromium, and lays the best scene of each out on one sheet.

``python tests/demos/contact_sheet.py``        every demo, every scene, light and dark, on a laptop and a phone; docs/img/demos.png
``python tests/demos/contact_sheet.py 07``     the demos of lab 07 only, no sheet
``… --sheet``                                  docs/img/demos.png and the gallery's pictures, docs/img/demos/*.webp, only

Photographs go to build/demos/.
"""

from __future__ import annotations

import argparse
import base64
import sys
from html import escape
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from coursekit.demos import bundle  # noqa: E402
from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

from tests.demos.stage import PROGRAM, address, faults, opened  # noqa: E402

OUT = ROOT / "build" / "demos"
SHEET = ROOT / "docs" / "img" / "demos.png"
GALLERY = ROOT / "docs" / "img" / "demos"


def photograph(browser: Browser, name: str) -> None:
    """Every scene of a demo on two screens, light and dark; what is wrong with its looks is printed."""
    for screen in ("laptop", "phone"):
        for dark in (False, True):
            with opened(browser, address(OUT, name), screen, dark=dark) as page:
                for scene in range(page.evaluate("course.demo.scenes.length")):
                    for fault in faults(page):
                        print(f"  {name}, {screen}, scene {scene + 1}: {fault}")
                    page.screenshot(path=OUT / f"{name}_{screen}{'_dark' if dark else ''}_{scene + 1}.png")
                    page.keyboard.press("PageDown")


def sheet(browser: Browser) -> None:
    """The best scene of each demo on one sheet, with its title, and as a picture for the gallery."""
    tiles = []
    GALLERY.mkdir(exist_ok=True)
    for name in bundle.names():
        meta = bundle.meta(name)
        with opened(browser, address(OUT, name, f"scene={meta['poster'] + 1}"), "old") as page:
            shot = base64.b64encode(page.locator(".cd-screen").screenshot()).decode()
            found = page.locator(".cd-finding").inner_text()
        with opened(browser, address(OUT, name, f"scene={meta['poster'] + 1}")) as page:
            whole = Image.open(BytesIO(page.screenshot())).resize((960, 540), Image.Resampling.LANCZOS)
            whole.save(GALLERY / f"{name}.webp", quality=82)
        tiles.append(
            f'<figure><h2>{escape(found)}</h2><img src="data:image/png;base64,{shot}">'
            f"<figcaption><b>{name[:2]}</b> {escape(meta['title'])}</figcaption></figure>"
        )
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    page.set_content(
        '<style>body{margin:0;padding:24px;background:#e9edf0;font:18px system-ui,"DejaVu Sans",sans-serif;display:grid;'
        "grid-template-columns:repeat(3,1fr);gap:20px;color:#1b2530}figure{margin:0;background:#fdfcfa;border-radius:8px;"
        "padding:14px 16px 12px;box-shadow:0 1px 4px #0003}h2{font-size:18px;margin:0 0 8px;min-height:2.5em}"
        "img{width:100%;height:215px;object-fit:contain}figcaption{margin-top:8px;color:#55616b}</style>"
        f"<body>{''.join(tiles)}</body>"
    )
    SHEET.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHEET, full_page=True)
    page.close()
    print(f"sheet: {SHEET} ({SHEET.stat().st_size // 1024} kB)")


def main() -> int:
    """Take the photographs that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("labs", nargs="*", help="the first letters of demos' names")
    parser.add_argument("--sheet", action="store_true")
    asked = parser.parse_args()
    if PROGRAM is None:
        print("No Chromium here (Debian: apt-get install chromium).")
        return 2
    bundle.write(OUT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        if not asked.sheet:
            for name in bundle.names():
                if not asked.labs or name.startswith(tuple(asked.labs)):
                    photograph(browser, name)
        if not asked.labs:
            sheet(browser)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
