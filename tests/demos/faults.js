// What is wrong with a page's looks: [kind, what], each text and control measured as it is painted.
() => {
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
  const rgb = (text) => { const m = text.match(/[\d.]+/g); return m ? m.map(Number) : [0, 0, 0, 0] };
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
}
