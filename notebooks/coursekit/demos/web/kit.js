// What demos draw with: keyed marks that glide to their new places, and marks that a hand or a key can move.
//
// A demo describes its picture as lists of marks, {key, …attributes}; `put` makes the page agree with the list. A mark
// that stays glides, a new one fades in (from the attributes in `from`, if given), one that left fades out.

import d3 from "./vendor/d3.min.js";

/** The colours by name, as the page's theme shows them. */
export const colour = (name) => (name === "none" ? "none" : `var(--${name})`);

/** The ink that reads well on an area of this colour, at this opacity. */
export const on = (name, opacity = 1) => (opacity < 0.55 ? colour("ink") : `var(--on-${name})`);

/** How opaque the cell of a weight is that has its number written in it: ink or its opposite always reads on it. */
export const shade = (weight) => (weight > 0.9 ? 1 : 0.6 * weight);

/** A group of that name inside another, made when it is first asked for. */
export const layer = (parent, name, x = 0, y = 0) =>
  parent
    .selectChildren(`g.${name}`)
    .data([name])
    .join((enter) => enter.append("g").attr("class", name))
    .attr("transform", `translate(${x},${y})`);

const SPECIAL = new Set(["key", "text", "from", "press", "label", "pressed", "drag", "slide", "cell", "title", "late", "room"]);

const attributesOf = (mark) => Object.entries(mark).filter(([name]) => !SPECIAL.has(name));

const glides = (name, value) => typeof value === "number" || name === "d" || name === "transform" || name === "points";

/** Make the children `tag` of a group agree with a list of marks. */
export function put(parent, tag, marks, ctx) {
  const quick = ctx.ms === 0;
  const all = parent.selectChildren(tag).filter(function () { return !this.leaving; }).data(marks, (mark) => mark.key);
  const gone = all.exit().each(function () { this.leaving = true; }).attr("pointer-events", "none").attr("tabindex", null);
  quick ? gone.interrupt().remove() : gone.transition().duration(ctx.ms * 0.5).style("opacity", 0).remove();
  const fresh = all.enter().append(tag).each(function (mark) {
    for (const [name, value] of attributesOf({ ...mark, ...mark.from })) this.setAttribute(name, value);
    this.now = { ...mark, ...mark.from };
    if (!quick) this.style.opacity = 0;
  });
  const both = fresh.merge(all).order();
  both.each(function (mark) { settle(this, mark, ctx, quick); });
  if (!quick) {
    const moved = both.filter(function (mark) { return differs(this.now, mark) || this.style.opacity !== ""; });
    const glide = moved.transition().duration((mark) => ctx.ms * (mark.late ? 0.6 : 1))
      .delay((mark) => ctx.ms * (mark.late ?? 0)).ease(d3.easeCubicInOut).style("opacity", 1);
    glide.each(function (mark) {
      for (const [name, value] of attributesOf(mark))
        if (glides(name, value) && this.now[name] !== value) d3.select(this).transition(glide).attr(name, value);
    });
    glide.on("end", function () { this.style.opacity = ""; });
    both.each(function (mark) { this.now = mark; });
  }
  both.filter((mark) => mark.press || mark.slide || mark.drag).each(function (mark) { touchable(this, mark, ctx); });
  squeeze(both.filter((mark) => mark.room));
  rove(parent, both);
  return both;
}

/** Fonts, and the programs that set them, differ by some per cent: a text that is wider than its `room` is squeezed into it. */
function squeeze(texts) {
  const widths = texts.attr("textLength", null).nodes().map((node) => node.getComputedTextLength());
  texts.attr("lengthAdjust", "spacingAndGlyphs").attr("textLength", ({ room }, i) => (widths[i] > room ? room : null));
}

const differs = (before, after) => attributesOf(after).some(([name, value]) => before?.[name] !== value);

/** Set at once what does not glide (everything, when quick), and the words. */
function settle(node, mark, ctx, quick) {
  if (quick) {
    d3.select(node).interrupt();
    node.style.opacity = "";
  }
  for (const [name, value] of attributesOf(mark)) {
    if (quick ? node.now?.[name] === value && !node.moving : glides(name, value) && node.now) continue;
    value === null || value === undefined ? node.removeAttribute(name) : node.setAttribute(name, value);
  }
  node.moving = !quick;
  if (quick) node.now = mark;
  if (mark.text !== undefined && node.textContent !== String(mark.text)) node.textContent = mark.text;
}

/** Give a mark its name, its keys and what happens when it is pressed or dragged. */
function touchable(node, mark, ctx) {
  const { press, slide, drag } = mark;
  node.classList.add("touch");
  const set = (name, value) => (value === undefined ? node.removeAttribute(name) : node.setAttribute(name, value));
  set("role", slide ? "slider" : press ? "button" : mark.label ? "img" : undefined);
  set("aria-label", slide?.label ?? mark.label);
  if (slide || press) set("tabindex", node.getAttribute("tabindex") ?? 0);
  set("aria-pressed", slide ? undefined : mark.pressed);
  if (slide) {
    set("aria-valuemin", slide.min);
    set("aria-valuemax", slide.max);
    set("aria-valuenow", Number(slide.value.toFixed(3)));
    set("aria-valuetext", slide.text);
  }
  node.onclick = press ? (event) => { if (!event.defaultPrevented) press(); } : null;
  node.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (slide && step) slide.set(Math.min(Math.max(slide.value + step * slide.step, slide.min), slide.max));
    else if (press && (event.key === "Enter" || event.key === " ")) press();
    else if (mark.cell && event.key.startsWith("Arrow")) walk(node, event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  if (drag && !node.drags) {
    node.drags = true;
    d3.select(node).call(
      d3.drag().container(() => ctx.root.node()).subject((event) => ({ x: event.x, y: event.y })).on("start", () => { node.brush = null; ctx.hold(true); })
        .on("drag", (event) => node.__data__.drag?.(event.x, event.y, node)).on("end", () => ctx.hold(false)),
    );
  }
}

/** Of the cells of a table one is reached by Tab, the others by the arrow keys. */
function rove(parent, all) {
  const cells = all.filter((mark) => mark.cell).nodes();
  if (cells.length < 2) return;
  const first = cells.find((cell) => cell === parent.node().roving) ?? cells[0];
  for (const cell of cells) cell.setAttribute("tabindex", cell === first ? 0 : -1);
}

function walk(node, key) {
  const [row, column] = node.__data__.cell;
  const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
  const next = [...node.parentNode.children].find(
    (other) => other.__data__?.cell?.[0] === row + down && other.__data__.cell[1] === column + right && !other.leaving,
  );
  if (!next) return;
  node.parentNode.roving = next;
  node.setAttribute("tabindex", -1);
  next.setAttribute("tabindex", 0);
  next.focus();
}

/** A mark of text; one with a `room` is never wider than that. */
export const words = (key, x, y, text, look = {}) => {
  const { size = 20, at = "start", bold = false, ink = "ink", mono = false, ...rest } = look;
  return {
    key, x, y, text, "font-size": size, "text-anchor": at, "font-weight": bold ? 650 : 400,
    fill: ink.startsWith("var") ? ink : colour(ink), class: mono ? "mono" : null, ...rest,
  };
};

/** About how wide a text is. */
export const wide = (text, size = 20, bold = false) => text.length * size * (bold ? 0.66 : 0.6);

/** A straight or bent arrow's path, and where its tip is. */
export function arrow(x1, y1, x2, y2, bend = 0) {
  const mx = (x1 + x2) / 2 - bend * (y2 - y1), my = (y1 + y2) / 2 + bend * (x2 - x1);
  return `M${x1.toFixed(1)},${y1.toFixed(1)} Q${mx.toFixed(1)},${my.toFixed(1)} ${x2.toFixed(1)},${y2.toFixed(1)}`;
}

/** A polyline's path through points. */
export const path = (points, closed = false) =>
  `M${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}${closed ? "Z" : ""}`;

/** A scale from one interval to another, with its inverse. */
export function scale([a, b], [from, to]) {
  const there = (x) => from + ((x - a) / (b - a)) * (to - from);
  there.back = (y) => a + ((y - from) / (to - from)) * (b - a);
  return there;
}

/** Where the pointer is, in the picture's units. */
export function pointer(event, root) {
  const matrix = root.node().getScreenCTM().inverse();
  return [event.clientX * matrix.a + matrix.e, event.clientY * matrix.d + matrix.f];
}
