// Lab 06: a position as the hands of clocks that turn at different speeds, and what two positions have in common.

import { clamp, dot, fixed, range, short, spaced } from "./numbers.js";
import { colour, layer, path, put, scale, words } from "./kit.js";

export const meta = {
  "name": "06_clock_hands",
  "title": "Where is a word? Ask the clocks",
  "look": "Drag along the strip below, or turn a hand: one step, and the first hand leaps while the last one hardly stirs.",
  "questions": [
    ["Why not simply the number 30? What would a network do with the number 5,000?", "It never saw such a large one, and all it multiplies it with would grow as large. Hands never leave their dial.", [3]],
    ["Two positions show the same time on clock 1. Which clock tells them apart?", "A slower one: it has not come round yet. As with seconds, minutes and hours.", [1, 2, 4]],
    ["Turn all clocks by seven positions. Does it matter where you began?", "No: each hand turns by the same angle from everywhere. So “seven further” is one rotation, and a network can learn it.", [5, 6]]
  ],
  "poster": 4
};

const D = 8, LAST = 48;

export const scenes = [
  { name: "midnight", set: { position: 0 } },
  { name: "one step", set: { position: 1 } },
  { name: "a later time", set: { position: 30 } },
  { name: "slower clocks", set: { position: 30, base: 10000 } },
  { name: "the whole table", set: { position: 30, view: "table" } },
  { name: "who is near?", set: { position: 24, view: "near" } },
];

export const controls = [
  { kind: "steps", name: "position", label: "position", last: LAST, start: 7, wait: 450 },
  { kind: "slider", name: "base", label: "base", low: 10, high: 10000, start: 100, log: true },
  { kind: "choice", name: "view", label: "below", options: [["hands", "waves"], ["table", "table"], ["near", "likeness"]], start: "hands" },
];

const COLOURS = ["red", "orange", "green", "blue"], DASHES = [null, "12 6", "3 6", "16 5 3 5"];

/** How far each clock's hand turns in one position, in radians. */
export const speeds = (base) => range(D / 2, (i) => base ** ((-2 * i) / D));

/** A position's row of the table: sine and cosine of each hand. */
export const row = (position, base) => speeds(base).flatMap((s) => [Math.sin(position * s), Math.cos(position * s)]);

export function say({ position, base, view }) {
  const turns = speeds(base).map((s) => (position * s) / (2 * Math.PI)), other = position < LAST ? position + 1 : position - 1;
  const title = view === "hands" && !position ? "Four clocks tell a word its place: at place 0 all hands stand at twelve"
    : view === "hands" ? `Position ${position}: hand 1 went round ${fixed(turns[0], 1)} times, hand 4 ${fixed(turns[3])} times`
    : view === "table" ? `Position ${position} is one column: fast waves above, slow ones below`
      : `One step away from ${position} the dot product is ${fixed(dot(row(position, base), row(other, base)))}, as everywhere`;
  return { title, note: `clock i turns by ${short(base)} to the power −2(i − 1)/${D} in each position${view === "table" ? "   (blue +, orange −)" : ""}`, alt: `Four clocks at position ${position}: ${row(position, base).map((v) => fixed(v)).join(", ")}.` };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, below = tall ? { x: 40, y: H * 0.6, w: W - 60, h: H * 0.4 - 66 } : { x: 90, y: H * 0.61, w: W - 120, h: H * 0.39 - 66 };
  drawClocks(layer(root, "clocks"), state, ctx, H * (tall ? 0.55 : 0.57));
  for (const [name, how] of [["hands", drawWaves], ["table", drawTable], ["near", drawLikeness]]) {
    const g = layer(root, name);
    g.attr("display", state.view === name ? null : "none");
    if (state.view === name) how(g, state, ctx, below);
  }
  const x = scale(state.view === "table" ? [-0.5, LAST + 0.5] : [0, LAST], [below.x, below.x + below.w]);
  const pick = (px) => ctx.set({ position: clamp(Math.round(x.back(px)), 0, LAST) }, 0);
  const g = layer(root, "strip");
  put(layer(g, "field"), "rect", [{ key: "field", x: below.x, y: below.y, width: below.w, height: below.h + 40, fill: "transparent", drag: pick, class: "grab" }], ctx);
  put(layer(g, "now"), "line", [{ key: "now", x1: x(state.position), x2: x(state.position), y1: below.y - 6, y2: below.y + below.h + 8, stroke: colour("ink"), "stroke-width": 2.5, "pointer-events": "none" }], ctx);
  put(layer(g, "grip"), "circle", [{
    key: "grip", cx: x(state.position), cy: below.y + below.h + 12, r: 12, fill: colour("ink"), stroke: colour("paper"), "stroke-width": 3, class: "grab", drag: pick,
    slide: { label: "position", value: state.position, min: 0, max: LAST, step: 1, text: String(state.position), set: (position) => ctx.set({ position }, 300) },
  }], ctx);
  put(layer(g, "ticks"), "text", [0, 12, 24, 36, 48].map((t) => words(t, x(t), below.y + below.h + 46, t === 24 ? "position 24" : String(t), { size: 18, at: "middle", ink: "soft" })), ctx);
}

function drawClocks(g, state, ctx, high) {
  const { W, tall } = ctx, columns = tall ? 2 : 4, rows = 4 / columns, cell = W / columns, R = Math.min(cell * 0.36, (high / rows - 66) / 2);
  const seat = (i) => [cell * ((i % columns) + 0.5), (high / rows) * Math.floor(i / columns) + R + 10];
  const speed = speeds(state.base), table = row(state.position, state.base);
  const spot = (i, angle, by) => [seat(i)[0] + R * by * Math.sin(angle), seat(i)[1] - R * by * Math.cos(angle)];
  put(layer(g, "dials"), "circle", range(4, (i) => ({ key: i, cx: seat(i)[0], cy: seat(i)[1], r: R, fill: colour("faint"), stroke: colour("soft"), "stroke-width": 2.5 })), ctx);
  put(layer(g, "hours"), "line", range(48, (n) => {
    const i = Math.floor(n / 12), [x1, y1] = spot(i, (n * Math.PI) / 6, 0.9), [x2, y2] = spot(i, (n * Math.PI) / 6, 0.97);
    return { key: n, x1, y1, x2, y2, stroke: colour("soft"), "stroke-width": 2 };
  }), ctx);
  const trail = range(4, (i) => range(Math.min(state.position, 5), (b) => [i, b + 1])).flat();
  put(layer(g, "trail"), "line", trail.map(([i, back]) => { const [x2, y2] = spot(i, (state.position - back) * speed[i], 0.8); return { key: `${i} ${back}`, x1: seat(i)[0], y1: seat(i)[1], x2, y2, stroke: colour("line"), "stroke-width": 3 }; }), ctx);
  // a hand turns round its dial, never through it
  const place = (i, angle) => `translate(${seat(i)[0]},${seat(i)[1]}) rotate(${angle})`;
  const drag = (i) => (px, py) => {
    const angle = Math.atan2(px - seat(i)[0], seat(i)[1] - py), now = ctx.now().position * speed[i];
    const by = Math.atan2(Math.sin(angle - now), Math.cos(angle - now)) / speed[i];
    if (Math.abs(by) >= 0.5) ctx.set({ position: clamp(Math.round(ctx.now().position + by), 0, LAST) }, 0);
  };
  for (let i = 0; i < 4; i++) {
    const hand = layer(g, `hand${i}`).attr("transform", null).interrupt(), node = hand.node(), to = (state.position * speed[i] * 180) / Math.PI, from = node.turned ?? to;
    put(hand, "path", [{ key: "hand", d: `M0,0V${(-R * 0.78).toFixed(1)}`, stroke: colour(COLOURS[i]), "stroke-width": 7, "stroke-linecap": "round" }], { ...ctx, ms: 0 });
    put(hand, "circle", [{ key: "tip", cx: 0, cy: -R * 0.78, r: 13, fill: colour(COLOURS[i]), stroke: colour("paper"), "stroke-width": 3, class: "grab", drag: drag(i) }], { ...ctx, ms: 0 });
    const turn = (t) => hand.attr("transform", place(i, (node.turned = from + (to - from) * t)));
    turn(ctx.ms ? 0 : 1);
    if (ctx.ms) hand.transition().duration(ctx.ms).tween("turn", () => turn);
  }
  put(layer(g, "pins"), "circle", range(4, (i) => ({ key: i, cx: seat(i)[0], cy: seat(i)[1], r: 7, fill: colour("ink") })), ctx);
  put(layer(g, "words"), "text", range(4, (i) => [
    words(`c${i}`, seat(i)[0], seat(i)[1] + R + 24, `clock ${i + 1}`, { size: tall ? 18 : 20, at: "middle", bold: true }),
    words(`n${i}`, seat(i)[0], seat(i)[1] + R + 48, `sin ${fixed(table[2 * i])}  cos ${fixed(table[2 * i + 1])}`, { size: tall ? 17 : 19, at: "middle", ink: "soft" }),
  ]).flat(), ctx);
}

function drawWaves(g, { position, base }, ctx, box) {
  const x = scale([0, LAST], [box.x, box.x + box.w]), y = scale([-1.1, 1.1], [box.y + box.h, box.y]), fine = spaced(0, LAST, 320);
  put(layer(g, "zero"), "line", [-1, 0, 1].map((v) => ({ key: v, x1: box.x, x2: box.x + box.w, y1: y(v), y2: y(v), stroke: colour(v ? "faint" : "line"), "stroke-width": 2 })), ctx);
  put(layer(g, "ticks"), "text", [-1, 0, 1].map((v) => words(v, box.x - 12, y(v) + 6, fixed(v, 0), { size: 18, at: "end", ink: "soft" })), ctx);
  put(layer(g, "waves"), "path", speeds(base).map((s, i) => ({ key: i, d: path(fine.map((t) => [x(t), y(Math.sin(t * s))])), fill: "none", stroke: colour(COLOURS[i]), "stroke-width": 3.5, "stroke-dasharray": DASHES[i] })), ctx);
  put(layer(g, "dots"), "circle", speeds(base).map((s, i) => ({ key: i, cx: x(position), cy: y(Math.sin(position * s)), r: 8, fill: colour(COLOURS[i]), stroke: colour("ink"), "stroke-width": 2 })), ctx);
}

function drawTable(g, { base, position }, ctx, box) {
  const wide = box.w / (LAST + 1), high = box.h / D;
  put(layer(g, "cells"), "rect", range(LAST + 1, (t) => row(t, base).map((v, d) => ({ key: t * D + d, x: box.x + t * wide, y: box.y + d * high, width: wide + 0.3, height: high + 0.3, fill: colour(v >= 0 ? "blue" : "orange"), "fill-opacity": Number(Math.abs(v).toFixed(2)) }))).flat(), { ...ctx, ms: 0 });
  put(layer(g, "frame"), "rect", [{ key: "now", x: box.x + position * wide - 2, y: box.y - 4, width: wide + 4, height: box.h + 8, fill: "none", stroke: colour("ink"), "stroke-width": 3.5 }], ctx);
  put(layer(g, "names"), "text", range(4, (i) => words(i, box.x - 10, box.y + (2 * i + 1) * high + 6, ctx.tall ? String(i + 1) : `clock ${i + 1}`, { size: 18, at: "end", ink: "soft" })), ctx);
}

function drawLikeness(g, { base, position }, ctx, box) {
  const here = row(position, base), alike = range(LAST + 1, (t) => dot(here, row(t, base)));
  const x = scale([0, LAST], [box.x, box.x + box.w]), y = scale([Math.min(-1, ...alike), 4.3], [box.y + box.h, box.y]);
  put(layer(g, "zero"), "line", [0, 2, 4].map((v) => ({ key: v, x1: box.x, x2: box.x + box.w, y1: y(v), y2: y(v), stroke: colour(v ? "faint" : "line"), "stroke-width": 2 })), ctx);
  put(layer(g, "ticks"), "text", [0, 2, 4].map((v) => words(v, box.x - 12, y(v) + 6, String(v), { size: 18, at: "end", ink: "soft" })), ctx);
  put(layer(g, "line"), "path", [{ key: "line", d: path(alike.map((v, t) => [x(t), y(v)])), fill: "none", stroke: colour("blue"), "stroke-width": 4, "stroke-linejoin": "round" }], ctx);
  put(layer(g, "dots"), "circle", alike.map((v, t) => ({ key: t, cx: x(t), cy: y(v), r: t === position ? 11 : 5, fill: colour(t === position ? "red" : "blue") })), ctx);
  const right = position < LAST / 2;
  put(layer(g, "words"), "text", [words("like", x(position) + (right ? 18 : -18), y(4) + 22, ctx.tall ? "likeness to each" : "dot product with every other position", { size: 18, at: right ? "start" : "end", ink: "soft", class: "halo" })], ctx);
}
