// Lab 13: which pairs of positions may talk, and what that costs as the text grows.

import { clamp, commas, percent, range, sum } from "./numbers.js";
import { colour, layer, path, put, scale, words } from "./kit.js";

export const meta = {
  "name": "13_mask_gallery",
  "title": "A gallery of masks, and what each costs",
  "look": "Compare the filled area with the steepness of its line. Click a row to see how far its news has come after each layer.",
  "questions": [
    ["Twice the text: how much more work is full attention, and how much more a window?", "Full attention four times as much, a window twice: its line is half as steep.", [1, 3, 4]],
    ["Why does one global token bring the two ends of the text so close together?", "It hears everyone, and everyone hears it: two layers suffice for any two positions, whatever the distance.", [5]],
    ["Which of these masks may a decoder use while it writes?", "Only the causal one: all others let a row hear positions that are not written yet. (Cut off above the diagonal, each would do.)", [1, 2]]
  ],
  "poster": 4
};

export const scenes = [
  { name: "everyone hears everyone", set: { kind: "full" } },
  { name: "no future", set: { kind: "causal" } },
  { name: "neighbours only", set: { kind: "local" } },
  { name: "every second neighbour", set: { kind: "dilated" } },
  { name: "one listens to all", set: { kind: "global" } },
];

const KINDS = ["full", "causal", "local", "dilated", "global"];

export const controls = [
  { kind: "choice", name: "kind", label: "mask", options: KINDS.map((k) => [k, k]), start: "full" },
  { kind: "slider", name: "T", label: "tokens", low: 6, high: 24, start: 16 },
  { kind: "slider", name: "width", label: "neighbours each side", low: 1, high: 5, start: 2 },
  { kind: "picture", name: "row", start: -1, read: (text) => (/^(-1|\d|1\d|2[0-3])$/.test(text) ? Number(text) : null) },
];

const LOOKS = { full: "ink", causal: "orange", local: "blue", dilated: "green", global: "purple" };
const DASHES = { full: null, causal: "16 6", local: null, dilated: "6 6", global: "14 6 3 6" };
const LENGTHS = [4, 16, 64, 256, 1024, 4096];
/** Where the lines bend: at every number of tokens that the slider has, for the dot lies on its line. */
const BENDS = [...range(21, (k) => k + 4), 64, 256, 1024, 4096];

/** May row i hear column j? `dilated` takes every second neighbour. */
export function allows(kind, width, i, j) {
  const gap = i - j, near = Math.abs(gap) <= width;
  return { full: true, causal: gap >= 0, local: near, dilated: gap % 2 === 0 && Math.abs(gap) <= 2 * width, global: near || i === 0 || j === 0 }[kind];
}

/** How many pairs a mask allows, by a formula, so that T may be large. */
export function pairs(kind, T, width) {
  if (kind === "full") return T * T;
  if (kind === "causal") return (T * (T + 1)) / 2;
  const steps = range(width, (k) => k + 1);
  if (kind === "dilated") return T + 2 * sum(steps.filter((k) => 2 * k < T).map((k) => T - 2 * k));
  const near = T + 2 * sum(steps.filter((k) => k < T).map((k) => T - k));
  return kind === "local" ? near : near + 2 * Math.max(T - 1 - width, 0);
}

/** For each layer, what a position has heard of so far: sets of positions, until nothing is new. */
export function heardOf(kind, T, width, from) {
  const layers = [new Set([from])];
  for (;;) {
    const last = layers.at(-1), next = new Set(range(T).filter((j) => [...last].some((i) => allows(kind, width, i, j))));
    if (next.size === last.size) return layers;
    layers.push(next);
  }
}

/** After how many layers the last position has heard of the first; null for never. */
export function reach(kind, T, width) {
  const layers = heardOf(kind, T, width, T - 1), found = layers.findIndex((heard) => heard.has(0));
  return found < 0 ? null : found;
}

const large = (n) => (n >= 1e9 ? `${(n / 1e9).toPrecision(3)} billion` : n >= 1e6 ? `${(n / 1e6).toPrecision(3)} million` : n >= 1e4 ? `${(n / 1e3).toPrecision(3)} thousand` : commas(n));

export function say({ kind, T, width, row }) {
  const layers = reach(kind, T, width), far = layers === null ? "the ends never meet" : `the ends meet after ${layers} layer${layers > 1 ? "s" : ""}`;
  const count = pairs(kind, T, width), long = pairs(kind, 4096, width);
  const heard = row >= 0 && row < T ? heardOf(kind, T, width, row) : null;
  return {
    title: heard ? `${kind[0].toUpperCase()}${kind.slice(1)}: row ${row + 1} hears ${heard[1]?.size ?? 1} at once, ${heard.at(-1).size} after ${heard.length - 1} layer${heard.length > 2 ? "s" : ""}` : `${kind[0].toUpperCase()}${kind.slice(1)}: ${count} of ${T * T} pairs of words are compared, and ${far}`,
    note: `with 4,096 tokens: ${large(long)} pairs in each head and layer, ${percent(long / 4096 ** 2, 2)} of all`,
    alt: `The ${kind} mask for ${T} positions allows ${count} of ${T * T} pairs; ${far}.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, side = tall ? Math.min(W - 60, H * 0.54) : H - 70;
  drawMask(layer(root, "mask"), state, ctx, tall ? { x: (W - side) / 2 + 10, y: 8, side } : { x: 60, y: 16, side });
  drawCosts(layer(root, "costs"), state, ctx, tall ? { x: 100, y: side + 76, w: W - 210, h: H - side - 136 } : { x: side + 200, y: 46, w: W - side - 330, h: H - 120 });
}

function drawMask(g, { kind, T, width, row }, ctx, { x, y, side }) {
  const cell = side / T, layers = row >= 0 && row < T ? heardOf(kind, T, width, row) : null;
  const when = (j) => layers?.findIndex((heard) => heard.has(j));
  put(layer(g, "back"), "rect", [{ key: "back", x, y, width: side, height: side, fill: colour("faint") }], ctx);
  put(layer(g, "cells"), "rect", range(T * T, (n) => [Math.floor(n / T), n % T]).filter(([i, j]) => allows(kind, width, i, j)).map(([i, j]) => ({
    key: i * 24 + j, x: x + j * cell + 0.7, y: y + i * cell + 0.7, width: cell - 1.4, height: cell - 1.4, rx: cell / 7, fill: colour(LOOKS[kind]), "fill-opacity": layers && i !== row ? 0.35 : 1,
    from: { x: x + j * cell + cell / 2, y: y + i * cell + cell / 2, width: 0, height: 0 },
  })), ctx);
  put(layer(g, "heard"), "text", layers ? range(T).filter((j) => when(j) >= 0).map((j) => words(j, x + (j + 0.5) * cell, y - 3 + (row + 0.5) * cell + 9, String(when(j)), { size: Math.max(17, Math.min(22, cell * 0.6)), at: "middle", bold: true, fill: allows(kind, width, row, j) ? `var(--on-${LOOKS[kind]})` : colour("ink") })) : [], ctx);
  put(layer(g, "rows"), "rect", range(T, (i) => ({
    key: i, x: x - 3, y: y + i * cell, width: side + 6, height: cell, fill: "transparent", stroke: i === row ? colour("red") : "none", "stroke-width": 3, rx: 4,
    cell: [i, 0], press: () => ctx.set({ row: i === row ? -1 : i }), pressed: i === row, label: `row ${i + 1}: whom it hears`,
  })), ctx);
  put(layer(g, "names"), "text", [
    words("heard", x + side / 2, y + side + 28, layers ? "the numbers: after how many layers" : "who is heard →", { size: 19, at: "middle", ink: "soft" }),
    { ...words("listens", 0, 0, "← who listens", { size: 19, at: "middle", ink: "soft" }), transform: `translate(${x - 20},${y + side / 2}) rotate(-90)` },
  ], ctx);
  const wide = kind === "local" || kind === "dilated" || kind === "global", by = kind === "dilated" ? 2 : 1, last = T - 1;
  const gx = x + Math.max(last - width * by, 0) * cell + cell / 2;
  put(layer(g, "grip"), "circle", wide ? [{
    key: "grip", cx: gx, cy: y + (last + 0.5) * cell, r: 12, fill: colour("red"), stroke: colour("paper"), "stroke-width": 3, class: "grab",
    drag: (px) => ctx.set({ width: clamp(Math.round((last - (px - x) / cell + 0.5) / by), 1, 5) }, 0),
    slide: { label: "neighbours on each side", value: width, min: 1, max: 5, step: 1, text: String(width), set: (w) => ctx.set({ width: w }) },
  }] : [], ctx);
}

function drawCosts(g, { kind, width, T }, ctx, box) {
  const x = scale([Math.log10(4), Math.log10(4096)], [box.x, box.x + box.w]), y = scale([0.8, 7.4], [box.y + box.h, box.y]);
  put(layer(g, "grid"), "line", [2, 4, 6].map((v) => ({ key: v, x1: box.x, x2: box.x + box.w, y1: y(v), y2: y(v), stroke: colour("faint"), "stroke-width": 2 })), ctx);
  put(layer(g, "axis"), "line", [{ key: "x", x1: box.x, x2: box.x + box.w, y1: y(0.8), y2: y(0.8), stroke: colour("soft"), "stroke-width": 2 }], ctx);
  put(layer(g, "lines"), "path", KINDS.map((name) => ({
    key: name, d: path(BENDS.map((n) => [x(Math.log10(n)), y(Math.log10(pairs(name, n, width)))])), fill: "none", stroke: colour(LOOKS[name]), "stroke-width": name === kind ? 8 : 3.5, "stroke-dasharray": DASHES[name], "stroke-linejoin": "round",
  })), ctx);
  const ends = KINDS.map((name) => [name, y(Math.log10(pairs(name, 4096, width)))]).sort((a, b) => a[1] - b[1]);
  ends.forEach((end, i) => { if (i) end[1] = Math.max(end[1], ends[i - 1][1] + 26); });
  put(layer(g, "names"), "text", ends.map(([name, at]) => ({ ...words(name, box.x + box.w + 14, at + 7, name, { size: ctx.tall ? 18 : 22, bold: name === kind }), press: () => ctx.set({ kind: name }), pressed: name === kind, label: `the ${name} mask` })), ctx);
  const few = ctx.tall || box.w < 330 ? [16, 256, 4096] : LENGTHS;
  put(layer(g, "ticks"), "text", [
    ...[[2, "100"], [4, "10,000"], [6, "1 million"]].map(([v, text]) => words(text, box.x - 12, y(v) + 6, text, { size: 18, at: "end", ink: "soft" })),
    ...few.map((n) => words(`x${n}`, x(Math.log10(n)), y(0.8) + 26, commas(n), { size: 18, at: "middle", ink: "soft" })),
    words("x", box.x + box.w / 2, y(0.8) + 52, "tokens (each step × 4)", { size: 18, at: "middle", ink: "soft" }),
    words("y", box.x - 10, box.y - 14, "pairs to be computed", { size: 20, bold: true }),
  ], ctx);
  put(layer(g, "now"), "circle", [{ key: "now", cx: x(Math.log10(T)), cy: y(Math.log10(pairs(kind, T, width))), r: 10, fill: colour(LOOKS[kind]), stroke: colour("paper"), "stroke-width": 3 }], ctx);
}
