// Lab 07: a curve through dots by asking the dots, and how that turns into attention.

import { argmax, clamp, dot, fixed, range, short, softmax, spaced, sum } from "./numbers.js";
import { colour, layer, on, path, pointer, put, scale, shade, words } from "./kit.js";

export const meta = {
  "name": "07_kernel_to_attention",
  "title": "From a smooth curve to attention",
  "look": "Drag the query along the curve. The row of weights below it always adds up to 1, and it is a row of attention.",
  "questions": [
    ["What does the curve become when σ goes to zero? And when it grows without end?", "At zero: stairs, for each query repeats its nearest dot. Without end: a flat line at the mean of all dots, for all weigh the same.", [1, 2, 3]],
    ["Nothing in this curve was trained. What would you like to train?", "Where the queries and keys lie (W_Q, W_K), and what a dot says when it is heard (W_V).", [2, 4]],
    ["Where in softmax(QKᵀ/√dₖ)V does σ hide?", "In √dₖ: both divide the scores before the softmax. The larger, the more evenly everyone is heard.", [4, 5]]
  ],
  "poster": 1
};

export const scenes = [
  { name: "the nearest wins", set: { sigma: 0.1 } },
  { name: "a smooth curve", set: { sigma: 0.6 } },
  { name: "nearly the mean", set: { sigma: 20 } },
  { name: "arrows instead of distance", set: { sigma: 0.6, score: "product" } },
  { name: "sharp arrows", set: { sigma: 0.2, score: "product", query: 6.8 } },
];

export const controls = [
  { kind: "slider", name: "sigma", label: "σ, how far a voice carries", low: 0.1, high: 20, start: 0.6, log: true },
  { kind: "slider", name: "query", label: "query", low: 0, high: 10, step: 0.1, start: 4.3, write: (x) => x.toFixed(1) },
  { kind: "choice", name: "score", label: "score", options: [["distance", "distance on a line"], ["product", "dot product of arrows"]], start: "distance" },
  { kind: "picture", name: "heights", start: "", read: (text) => (text === "" || heightsOf(text) ? text : null) },
];

export const PLACES = range(11);
/** Arrows of one length: the line is bent round half a circle, so that neighbours stay as far apart as they were. */
export const RADIUS = 10 / Math.PI;

const heightsOf = (text) => {
  const list = text.split(",").map(Number);
  return list.length === 11 && list.every((h) => Number.isFinite(h) && Math.abs(h) <= 3) ? list : null;
};

/** A place as an arrow of length RADIUS. */
export function arrow(place) {
  const angle = Math.PI - place / RADIUS;
  return [RADIUS * Math.cos(angle), RADIUS * Math.sin(angle)];
}

/** How much a query listens to each of the eleven dots. */
export const weights = (query, sigma, score) =>
  softmax(
    score === "distance"
      ? PLACES.map((place) => -((query - place) ** 2) / (2 * sigma ** 2))
      : PLACES.map((place) => dot(arrow(query), arrow(place)) / sigma ** 2),
  );

/** How many dots a row of weights listens to, in effect: e to the entropy. */
export const listeners = (row) => Math.exp(-sum(row.map((w) => (w > 0 ? w * Math.log(w) : 0))));

const heights = (state, data) => heightsOf(state.heights) ?? data.heights;

export function say(state, data) {
  const row = weights(state.query, state.sigma, state.score);
  const answer = dot(row, heights(state, data)), heard = listeners(row);
  const finding = heard < 1.15 ? "one dot speaks for itself"
    : heard > 9.5 ? "everyone speaks at once" : `the query listens to about ${heard.toFixed(1)} dots`;
  return {
    title: `σ = ${short(state.sigma)}: ${finding}`,
    note: `answer = Σ weight · height = ${fixed(answer)}, with ${state.score === "distance" ? "score = −d²/2σ²" : "score = q·k/σ²  (σ² in the place of √dₖ)"}`,
    alt: `Eleven dots, a query at ${state.query.toFixed(1)}. The largest weight is ${fixed(Math.max(...row))}, of dot ${argmax(row)}; the answer is ${fixed(answer)}.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx;
  const row = weights(state.query, state.sigma, state.score);
  const left = tall ? { x: 34, y: 14, w: W - 58, h: H * 0.45 } : { x: 50, y: 26, w: W * 0.58, h: H - 175 };
  const x = scale([-0.35, 10.35], [left.x, left.x + left.w]);
  drawDots(layer(root, "dots"), state, ctx, row, left, x);
  drawArrows(layer(root, "arrows"), state, ctx, row, left);
  drawRow(layer(root, "row"), state, ctx, row, left, x);
  const top = left.y + left.h + 118;
  drawMap(layer(root, "map"), state, ctx, tall
    ? { x: 64, y: top + 40, w: W - 90, h: Math.max(60, H - top - 74) }
    : { x: left.x + left.w + W * 0.07, y: 44, w: W * 0.93 - left.x - left.w - 12, h: H - 100 });
}

function drawDots(g, state, ctx, row, box, x) {
  const shown = state.score === "distance";
  const dots = heights(state, ctx.data), answer = dot(row, dots);
  const y = scale([-1.6, 2.5], [box.y + box.h, box.y]);
  g.attr("display", shown ? null : "none");
  if (!shown) return;
  const grab = (px) => ctx.set({ query: Number(clamp(x.back(px), 0, 10).toFixed(1)) }, 0);
  put(layer(g, "field"), "rect", [
    { key: "field", x: box.x, y: box.y, width: box.w, height: box.h, fill: colour("paper"), drag: grab, label: "drag here to move the query" },
  ], ctx);
  layer(g, "field").select("rect").on("pointerdown", (event) => grab(pointer(event, ctx.root)[0]));
  put(layer(g, "zero"), "line", [-1, 0, 1, 2].map((v) => ({
    key: v, x1: box.x, x2: box.x + box.w, y1: y(v), y2: y(v), stroke: colour(v ? "faint" : "line"), "stroke-width": 2, "pointer-events": "none",
  })), ctx);
  put(layer(g, "ticks"), "text", [-1, 0, 1, 2].map((v) => words(v, box.x - 8, y(v) + 6, fixed(v, 0), { size: 18, at: "end", ink: "soft" })), ctx);
  const grid = spaced(0, 10, 201);
  put(layer(g, "curve"), "path", [{
    key: "curve", d: path(grid.map((q) => [x(q), y(dot(weights(q, state.sigma, "distance"), dots))])),
    fill: "none", stroke: colour("blue"), "stroke-width": 4, "stroke-linejoin": "round", "pointer-events": "none",
  }], ctx);
  put(layer(g, "flow"), "line", PLACES.map((place) => ({
    key: place, x1: x(state.query), y1: y(answer), x2: x(place), y2: y(dots[place]), stroke: colour("orange"),
    "stroke-width": 11 * row[place], "stroke-opacity": row[place] > 0.008 ? 0.85 : 0, "stroke-linecap": "round", "pointer-events": "none",
  })), ctx);
  put(layer(g, "query"), "line", [{
    key: "query", x1: x(state.query), x2: x(state.query), y1: box.y + 4, y2: box.y + box.h, stroke: colour("red"), "stroke-width": 2.5,
    "stroke-dasharray": "9 7", "pointer-events": "none",
  }], ctx);
  put(layer(g, "dot"), "circle", PLACES.map((place) => ({
    key: place, cx: x(place), cy: y(dots[place]), r: 8 + 15 * Math.sqrt(row[place]), fill: colour("orange"), stroke: colour("ink"), "stroke-width": 1.5,
    class: "grab", drag: (_, py) => lift(ctx, state, place, y.back(py)),
    slide: { label: `height of dot ${place}`, value: dots[place], min: -1.5, max: 2.4, step: 0.1, text: fixed(dots[place]), set: (h) => lift(ctx, state, place, h) },
  })), ctx);
  const slide = { label: "query", value: state.query, min: 0, max: 10, step: 0.1, text: state.query.toFixed(1), set: (query) => ctx.set({ query }, 0) };
  put(layer(g, "answer"), "rect", [{
    key: "answer", x: x(state.query) - 12, y: y(answer) - 12, width: 24, height: 24, rx: 4, fill: colour("red"), stroke: colour("paper"),
    "stroke-width": 3, class: "grab", drag: grab, slide,
  }], ctx);
  const right = state.query < 8;
  put(layer(g, "names"), "text", [
    words("query", x(state.query) + (right ? 12 : -12), box.y + box.h - 8, "the query: drag it", { size: 20, at: right ? "start" : "end", bold: true, class: "halo" }),
  ], ctx);
}

function lift(ctx, state, place, height) {
  const moved = heights(state, ctx.data).map((h, i) => Number((i === place ? clamp(height, -1.5, 2.4) : h).toFixed(2)));
  ctx.set({ heights: moved.join(",") }, 0);
}

function drawArrows(g, state, ctx, row, box) {
  const shown = state.score === "product";
  g.attr("display", shown ? null : "none");
  if (!shown) return;
  const cx = box.x + box.w / 2, cy = box.y + box.h - 14;
  const size = Math.min(box.w / 2 - 36, box.h - 70) / RADIUS;
  const tip = (place, by = 1) => { const [a, b] = arrow(place); return [cx + a * size * by, cy - b * size * by]; };
  const turn = (px, py) => {
    const angle = Math.atan2(Math.max(cy - py, 0), px - cx);
    ctx.set({ query: Number(clamp((Math.PI - angle) * RADIUS, 0, 10).toFixed(1)) }, 0);
  };
  put(layer(g, "keys"), "path", PLACES.map((place) => {
    const [a, b] = tip(place);
    return { key: place, d: `M${cx},${cy}L${a.toFixed(1)},${b.toFixed(1)}`, stroke: colour(row[place] > 0.01 ? "orange" : "line"), "stroke-width": 2.5 + 15 * row[place], "stroke-linecap": "round" };
  }), ctx);
  put(layer(g, "heads"), "circle", PLACES.map((place) => {
    const [a, b] = tip(place);
    return { key: place, cx: a, cy: b, r: 6 + 10 * Math.sqrt(row[place]), fill: colour(row[place] > 0.01 ? "orange" : "line") };
  }), ctx);
  put(layer(g, "numbers"), "text", PLACES.map((place) => {
    const [a, b] = tip(place, 1.13);
    return words(place, a, b + 7, String(place), { at: "middle", bold: true });
  }), ctx);
  const [qx, qy] = tip(state.query, 0.93);
  put(layer(g, "query"), "line", [{ key: "query", x1: cx, y1: cy, x2: qx, y2: qy, stroke: colour("red"), "stroke-width": 4, "stroke-dasharray": "10 7" }], ctx);
  put(layer(g, "handle"), "circle", [{
    key: "handle", cx: qx, cy: qy, r: 14, fill: colour("red"), stroke: colour("paper"), "stroke-width": 3, class: "grab", drag: turn,
    slide: { label: "query", value: state.query, min: 0, max: 10, step: 0.1, text: state.query.toFixed(1), set: (query) => ctx.set({ query }, 0) },
  }], ctx);
  put(layer(g, "names"), "text", [
    words("keys", box.x, box.y + 16, "keys: arrows of one length", { size: 19, ink: "soft" }),
    words("query", box.x + box.w, box.y + 16, "red: the query, turn it", { size: 19, ink: "soft", at: "end" }),
  ].slice(ctx.tall ? 1 : 0), ctx);
}

/** The weights of this query, below their dots. */
function drawRow(g, state, ctx, row, box, x) {
  const y = box.y + box.h + 18, side = Math.min((x(1) - x(0)) * 0.94, 62), small = side < 44;
  put(layer(g, "cells"), "rect", PLACES.map((place) => ({
    key: place, x: x(place) - side / 2, y, width: side, height: 46, rx: 4, fill: colour("blue"), "fill-opacity": shade(row[place]), stroke: colour("line"), "stroke-width": 1.5,
    press: () => ctx.set({ query: place }), label: `query at dot ${place}: its weight is now ${fixed(row[place])}`,
  })), ctx);
  put(layer(g, "numbers"), "text", PLACES.map((place) => words(place, x(place), y + 30,
    row[place] > 0.995 ? "1" : fixed(row[place]).replace("0.", "."), { size: small ? 17 : 20, at: "middle", fill: on("blue", shade(row[place])) })), ctx);
  put(layer(g, "places"), "text", PLACES.map((place) => words(place, x(place), y + 70, String(place), { size: 18, at: "middle", ink: "soft" })), ctx);
  put(layer(g, "caption"), "text", [
    words("sum", box.x + box.w / 2, y + 98, "the weights of this query: they add up to 1", { size: 19, at: "middle", ink: "soft" }),
  ], ctx);
}

/** All queries below each other: an attention map. */
function drawMap(g, state, ctx, box) {
  const count = 21, wide = box.w / 11, high = box.h / count;
  const rows = spaced(0, 10, count);
  put(layer(g, "back"), "rect", [{ key: "back", x: box.x, y: box.y, width: box.w, height: box.h, fill: colour("paper"), stroke: colour("soft"), "stroke-width": 1.5 }], ctx);
  put(layer(g, "cells"), "rect", rows.flatMap((query, i) => weights(query, state.sigma, state.score).map((weight, j) => ({
    key: i * 11 + j, x: box.x + j * wide, y: box.y + i * high, width: wide + 0.4, height: high + 0.4, fill: colour("blue"), "fill-opacity": Number(weight.toFixed(3)), "pointer-events": "none",
  }))), ctx);
  const at = box.y + (state.query / 10) * (count - 1) * high;
  // between two rows of the map the frame holds the query's own: the same eleven weights as the boxes below the dots
  put(layer(g, "own"), "rect", [{ key: "ground", x: box.x, y: at, width: box.w, height: high, fill: colour("paper"), "pointer-events": "none" },
    ...weights(state.query, state.sigma, state.score).map((weight, j) => ({
      key: j, x: box.x + j * wide, y: at, width: wide + 0.4, height: high, fill: colour("blue"), "fill-opacity": Number(weight.toFixed(3)), "pointer-events": "none",
    }))], ctx);
  const pick = (_, py) => ctx.set({ query: Number(clamp(((py - box.y - high / 2) / ((count - 1) * high)) * 10, 0, 10).toFixed(1)) }, 0);
  put(layer(g, "mark"), "rect", [{
    key: "mark", x: box.x - 5, y: at - 1.75, width: box.w + 10, height: high + 3.5, rx: 4, fill: "transparent", stroke: colour("red"), "stroke-width": 3.5, class: "grab", drag: pick,
    slide: { label: "the query's row of the map", value: state.query, min: 0, max: 10, step: 0.1, text: state.query.toFixed(1), set: (query) => ctx.set({ query }, 0) },
  }], ctx);
  layer(g, "back").select("rect").on("click", (event) => pick(0, pointer(event, ctx.root)[1]));
  put(layer(g, "names"), "text", [
    words("title", box.x, box.y - 12, "the same for all queries", { size: 20, bold: true }),
    words("keys", box.x + box.w / 2, box.y + box.h + 26, "keys →", { size: 18, at: "middle", ink: "soft" }),
    { ...words("queries", 0, 0, "← queries", { size: 18, at: "middle", ink: "soft" }), transform: `translate(${box.x - 16},${box.y + box.h / 2}) rotate(-90)` },
  ], ctx);
}
