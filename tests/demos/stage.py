"""Opens the pages of demos in Chromium, and reads from a page what a person would trip over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from coursekit.demos import bundle
from playwright.sync_api import Browser, Page

from tests.fixtures.jupyterlab import PATIENCE_MS

#: Keys, addresses, axe's rules and slides are one code for all demos, which a demo alone can hardly break: one
#: that is moved by hand stands for the others, which are tried in `make proof`.
EACH_IN_PROOF = [
    name if name == "07_kernel_to_attention" else pytest.param(name, marks=pytest.mark.proof)
    for name in bundle.names()
]
AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe.min.js"
SCREENS = {"hall": (1920, 1080), "laptop": (1366, 768), "old": (1024, 768), "phone": (390, 844)}

#: Waits until the page shows what it will show: a picture is fitted to its place one frame after the words around it
#: (a ResizeObserver), which is later than a key's answer on a busy machine.
SETTLED = """async () => {
  await document.fonts.ready;
  const frame = () => new Promise(requestAnimationFrame), svg = document.querySelector('svg.cd-picture');
  const shown = () => JSON.stringify(document.querySelector('.cd-screen').getBoundingClientRect()) + svg.outerHTML;
  for (let before = ''; before !== shown();) {
    before = shown();
    await frame();
    await frame();
    await Promise.all(document.getAnimations().map((one) => one.finished.catch(() => null)));
  }
}"""

#: What is wrong with a page's looks: [kind, what], each text and control measured as it is painted.
FAULTS = """() => {
  const found = [], stage = document.querySelector('.cd'), svg = stage.querySelector('svg.cd-picture');
  const seen = (node) => { const s = getComputedStyle(node); return node.getClientRects().length && s.visibility !== 'hidden' && s.display !== 'none' };
  const inside = (box, outer, by = 2) => box.left >= outer.left - by && box.right <= outer.right + by && box.top >= outer.top - by && box.bottom <= outer.bottom + by;
  const view = {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
  for (const part of stage.querySelectorAll('header, .cd-screen, .cd-scenes, .cd-controls, .cd-ask, .cd-finding, .cd-note, .cd-ask p, .cd-controls button, .cd-controls input, .cd-kicker'))
    if (seen(part) && !inside(part.getBoundingClientRect(), view)) found.push(['off the screen', part.className || part.tagName]);
  for (const part of stage.querySelectorAll('.cd-finding, .cd-note, .cd-ask p, .cd-kicker, .cd-controls button, .cd-group, .cd-ask button'))
    if (seen(part) && part.scrollWidth > part.clientWidth + 1) found.push(['cut', part.textContent]);
  const parts = [...stage.children].filter(seen).map((part) => part.getBoundingClientRect());
  for (let i = 1; i < parts.length - 1; i++) if (parts[i].top < parts[i - 1].bottom - 1) found.push(['parts overlap', String(i)]);
  const least = innerWidth < 700 ? 11.5 : innerWidth < 1300 ? 12.5 : 13;
  const screen = svg.getBoundingClientRect(), texts = [];
  for (const text of svg.querySelectorAll('text')) {
    if (!text.textContent.trim() || !seen(text) || text.closest('[display=none]') || Number(text.getAttribute('opacity') ?? 1) === 0) continue;
    const scale = svg.querySelector('g').getScreenCTM().a, size = parseFloat(getComputedStyle(text).fontSize) * scale;
    if (size < least) found.push(['small type', `${size.toFixed(1)} px: ${text.textContent}`]);
    const box = text.getBoundingClientRect();
    if (!inside(box, screen, 5)) found.push(['text outside the picture', text.textContent]);
    texts.push([text, box]);
  }
  const shrink = (box) => ({left: box.left + 1, right: box.right - 1, top: box.top + box.height * .22, bottom: box.bottom - box.height * .22});
  for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
    const a = shrink(texts[i][1]), b = shrink(texts[j][1]);
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    const turned = [texts[i][0], texts[j][0]].every((text) => /rotate/.test(text.getAttribute('transform')));  // their boxes are larger than they are
    if (wide > 1 && high > 1 && !turned)
      found.push(['texts overlap', `${texts[i][0].textContent} | ${texts[j][0].textContent}`]);
  }
  const rgb = (text) => { const m = text.match(/[\\d.]+/g); return m ? m.map(Number) : [0, 0, 0, 0] };
  const mix = (over, under, alpha) => over.slice(0, 3).map((c, i) => c * alpha + under[i] * (1 - alpha));
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 }); return .2126 * r + .7152 * g + .0722 * b };
  const paper = rgb(getComputedStyle(stage).backgroundColor), painted = [...svg.querySelectorAll('rect,circle,path,ellipse,polygon')];
  const boxes = new Map(painted.map((node) => [node, node.getBoundingClientRect()]));
  for (const [text, box] of texts) {
    const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    let ground = paper;
    if (!text.classList.contains('halo')) for (const node of painted) {
      const at = boxes.get(node);
      if (x < at.left || x > at.right || y < at.top || y > at.bottom || !(node.compareDocumentPosition(text) & 4) || node.closest('[display=none]')) continue;
      const s = getComputedStyle(node);
      if (s.fill === 'none' || s.fill.startsWith('url')) continue;
      const point = new DOMPoint(x, y).matrixTransform(node.getScreenCTM().inverse());
      if (!node.isPointInFill(point)) continue;
      const c = rgb(s.fill), alpha = (c[3] ?? 1) * s.fillOpacity * s.opacity * (node.parentNode.style?.opacity || 1);
      ground = mix(c, ground, alpha);
    }
    const style = getComputedStyle(text), c = rgb(style.fill);
    const ink = mix(c, ground, (c[3] ?? 1) * style.fillOpacity * style.opacity);
    const [a, b] = [light(ink), light(ground)].sort((p, q) => q - p), ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) found.push(['contrast', `${ratio.toFixed(2)}: ${text.textContent}`]);
  }
  for (const node of stage.querySelectorAll('button,input,[role=slider],[role=button],[role=radiogroup]'))
    if (!(node.getAttribute('aria-label') || node.textContent.trim() || node.labels?.length || node.getAttribute('aria-labelledby'))) found.push(['nameless', node.outerHTML.slice(0, 90)]);
  return found;
}"""

#: Sets every text some 3 % wider, or as it is again: with the next font or the next Chromium it may well be so, and a layout
#: that fits one renderer's widths to the pixel is then cut.
WIDEN = """(wider) => {
  const style = document.getElementById('wider');
  if (Boolean(style) === wider) return;
  const textContent = '.cd, .cd svg text, .cd :is(button, input) {letter-spacing: .02em !important} .cd .cd-finding {letter-spacing: .008em !important}';
  wider ? document.head.append(Object.assign(document.createElement('style'), {id: 'wider', textContent})) : style.remove();
  course.stage.measure();
}"""


#: Drags marks of the picture and moves sliders, each by so many steps → the milliseconds of each step, drawing and layout.
MOVE = """(steps) => {
  const svg = document.querySelector('svg.cd-picture'), took = [];
  const seen = (node) => node.getClientRects().length && node.getBoundingClientRect().width > 0;
  const say = (node, type, x, y) => node.dispatchEvent(new MouseEvent(type, {clientX: x, clientY: y, bubbles: true, view: window}));
  for (const grab of [...svg.querySelectorAll('.grab')].filter(seen).slice(0, 4)) {
    const box = grab.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    say(grab, 'mousedown', x, y);
    for (let i = 1; i <= steps; i++) {
      const from = performance.now();
      say(window, 'mousemove', x + 3 * (i % 16), y - 3 * (i % 16));
      svg.getBoundingClientRect();
      took.push(performance.now() - from);
    }
    say(window, 'mouseup', x + 30, y - 30);
  }
  for (const range of [...document.querySelectorAll('.cd-controls input[type=range]')].filter(seen)) for (let i = 0; i <= steps; i++) {
    const from = performance.now();
    range.value = Number(range.min) + (range.max - range.min) * i / steps;
    range.dispatchEvent(new Event('input', {bubbles: true}));
    svg.getBoundingClientRect();
    took.push(performance.now() - from);
  }
  return took;
}"""


@contextmanager
def opened(
    browser: Browser,
    place: str,
    screen: str = "laptop",
    *,
    dark: bool = False,
    calm: bool = True,
    own: str = "file:",
    ready: str = "svg.cd-picture g *",
    loud: bool = False,
) -> Iterator[Page]:
    """A page on a screen, once it holds what ``ready`` selects; at its end no error was raised, and only ``own`` was asked.

    Nor does the console hold a warning, but where a page is ``loud``.
    """
    width, height = SCREENS[screen]
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce" if calm else "no-preference",
    )
    said: list[str] = []
    kinds = () if loud else ("error", "warning")
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda line: said.append(line.text) if line.type in kinds else None)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((own, "data:", "blob:")) else said.append(asked.url),
    )
    page.set_default_timeout(PATIENCE_MS)
    page.goto(place)
    page.wait_for_selector(ready, state="attached")
    try:
        yield page
        assert said == []
    finally:
        page.close()


def address(folder: Path, name: str, hash: str = "") -> str:
    """The address of a demo's page in a folder."""
    return f"{(folder / name).resolve().as_uri()}.html{'#' + hash if hash else ''}"


def faults(page: Page, *, wider: bool = False) -> list[Any]:
    """What is wrong with the page's looks, its text a little wider or as it is, once they are what they will be."""
    page.evaluate(WIDEN, wider)
    page.evaluate(SETTLED)
    return page.evaluate(FAULTS)


def serious(page: Page) -> list[Any]:
    """What axe finds on the page that keeps somebody out: the rule, and where."""
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {iframes: false}).then((run) => run.violations)")
    kept = [one for one in found if one["impact"] in ("serious", "critical")]
    return [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in kept]
