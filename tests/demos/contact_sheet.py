"""Photographs the demos as a lecturer sees them, in Voilà or in JupyterLab, and lays the best out on one sheet.

``python tests/demos/contact_sheet.py``        every demo, light and dark, and docs/img/demos.png
``python tests/demos/contact_sheet.py 07``     the demos of lab 07 only, no sheet
``… --sheet``                                  docs/img/demos.png only
``… --lab``                                    in JupyterLab instead of Voilà
``… --scenes``                                 every scene of each, from its button

Photographs go to build/demos/.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import sys
from html import escape
from pathlib import Path

from coursekit.demos import notebooks
from coursekit.demos.serving import served
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "demos"
SHEET = ROOT / "docs" / "img" / "demos.png"
PROJECTOR = {"width": 1280, "height": 720}


def open_demo(page: Page, address: str, name: str, *, dark: bool, lab: bool) -> None:
    """Open a demo's notebook and wait for its first picture."""
    if lab:
        page.goto(f"{address}{name}.ipynb?reset")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
        page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]', timeout=60_000)
        page.wait_for_timeout(2500)  # the kernel is idle before its notebook knows it
        page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
    else:
        page.goto(f"{address}{name}.ipynb?theme={'dark' if dark else 'light'}")
    page.wait_for_selector("svg.ckd", timeout=60_000)
    page.wait_for_timeout(400)


def photograph(
    browser: Browser, address: str, name: str, *, dark: bool, lab: bool, scenes: bool
) -> list[Path]:
    """The photographs of one demo."""
    page = browser.new_page(viewport=PROJECTOR)  # type: ignore[arg-type]
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    open_demo(page, address, name, dark=dark, lab=lab)
    suffix = ("_lab" if lab else "") + ("_dark" if dark else "")
    taken = []
    count = len(notebooks.load(name).scenes) if scenes else 1
    for i in range(count):
        if i:
            page.locator(".ckd-scenes button").nth(i).click()
            page.wait_for_timeout(500)
        taken.append(OUT / f"{name}{suffix}_{i + 1}.png")
        page.screenshot(path=taken[-1])
    page.close()
    if complaints:
        print(f"  {name}: {complaints}")
    return taken


def sheet(browser: Browser) -> None:
    """All demos' pictures on one sheet, the light ones and, in the corner of each, its title."""
    tiles = []
    for name in notebooks.drawn_in_python():
        demo = notebooks.load(name)
        best = demo.scenes[demo.poster]
        tiles.append(
            f'<figure><div class="p">{demo.picture(**demo.settings(best))}</div>'
            f"<figcaption><b>{name[:2]}</b> {escape(demo.title)}</figcaption></figure>"
        )
    page = browser.new_page(viewport={"width": 1600, "height": 900}, device_scale_factor=1.5)
    page.set_content(
        '<html data-theme="light"><style>body{margin:0;padding:24px;background:#e9edf0;font:22px system-ui,"DejaVu Sans",'
        "sans-serif;display:grid;grid-template-columns:repeat(3,1fr);gap:22px;color:#1f2933}figure{margin:0;"
        "background:#fff;border-radius:8px;padding:16px 16px 10px;box-shadow:0 1px 4px #0003}.p{height:240px;"
        "overflow:hidden;display:flex;align-items:center}svg{max-height:240px}figcaption{margin-top:8px;"
        f"font-size:19px}}</style><body>{''.join(tiles)}</body></html>"
    )
    SHEET.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHEET, full_page=True)
    page.close()
    print(f"sheet: {SHEET} ({len(base64.b64encode(SHEET.read_bytes())) * 3 // 4 // 1024} kB)")


def main() -> int:
    """Take the photographs that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("labs", nargs="*", help="the first letters of demos' names")
    parser.add_argument("--lab", action="store_true")
    parser.add_argument("--scenes", action="store_true")
    parser.add_argument("--sheet", action="store_true")
    asked = parser.parse_args()
    program = shutil.which("chromium")
    if program is None:
        print("No Chromium here (Debian: apt-get install chromium).")
        return 2
    OUT.mkdir(parents=True, exist_ok=True)
    chosen = [
        name for name in notebooks.drawn_in_python() if not asked.labs or name.startswith(tuple(asked.labs))
    ]
    if asked.sheet:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            sheet(browser)
            browser.close()
        return 0
    with sync_playwright() as playwright, served(lab=asked.lab) as address:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name in chosen:
            for dark in (False,) if asked.lab else (False, True):
                for path in photograph(
                    browser, address, name, dark=dark, lab=asked.lab, scenes=asked.scenes and not dark
                ):
                    print(path)
        if not asked.labs and not asked.lab:
            sheet(browser)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
