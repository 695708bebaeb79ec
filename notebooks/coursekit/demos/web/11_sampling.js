// Lab 11: temperature, top-k and top-p on what the names say comes next.

import { clamp, draw as drawn, fixed, percent, random, range, short, sum } from "./numbers.js";
import { colour, layer, put, words } from "./kit.js";

export const meta = {
  "name": "11_sampling",
  "title": "Temperature, top-k, top-p: how daring?",
  "look": "Move one knob at a time: the temperature bends all bars, k and p cut some off, and the rest grows. The dots are what it then says.",
  "questions": [
    ["Which knob never closes a word?", "The temperature: it makes the improbable rarer or more frequent, never impossible.", [1, 2, 3]],
    ["After “q”, how many words does a nucleus of 0.9 keep, and how many after “a”?", "Set p to 0.9 and count: few after “q”, which is sure of itself, many after “a”. The nucleus follows the model; k does not.", [4, 5]],
    ["Why are .5, .3 and .2 left as they are at T = 1, and not turned into .391, .320 and .289?", "They are probabilities already. The softmax takes their logarithms as scores; of .5, .3, .2 themselves it would make .391, .320, .289.", [6]]
  ],
  "poster": 4
};

export const scenes = [
  { name: "the model itself", set: {} },
  { name: "cold", set: { T: 0.3 } },
  { name: "hot", set: { T: 3 } },
  { name: "the best three", set: { k: 3 } },
  { name: "a nucleus of 0.6", set: { top: 0.6 } },
  { name: "three words: .5 .3 .2", set: { after: "three", k: 3 } },
];

/** How a k is written: 28, one for each letter and the end, leaves all. */
const kept = (k) => (k < 28 ? String(k) : "all");

export const controls = [
  { kind: "choice", name: "after", label: "after", options: [..."qtamz"].map((a) => [a, a]).concat([["three", ".5 .3 .2"]]), start: "a" },
  { kind: "slider", name: "T", label: "temperature T", low: 0.1, high: 5, start: 1, log: true },
  { kind: "slider", name: "k", label: "top-k", low: 1, high: 28, start: 28, write: kept },
  { kind: "slider", name: "top", label: "top-p", low: 0.05, high: 1, step: 0.05, start: 1, write: (x) => x.toFixed(2) },
  { kind: "again", name: "again", label: "draw again", start: 0 },
];

const SAMPLES = 60;

/** The model's own probabilities and the words they are for, the most probable first. */
export function starting(after, { rows, letters }) {
  if (after === "three") return { p: [0.5, 0.3, 0.2], words: ["A", "B", "C"] };
  const counts = rows[after], total = sum(counts);
  const order = range(28).filter((i) => counts[i] > 0).sort((a, b) => counts[b] - counts[a] || a - b);
  return { p: order.map((i) => counts[i] / total), words: order.map((i) => letters[i]) };
}

/** Probabilities after temperature, then top-k, then top-p, each brought back to a sum of one; p falls from left to right. */
export function chosen(p, T, k, top) {
  const one = (q) => { const total = sum(q); return q.map((x) => x / total); };
  const high = Math.log(p[0]) / T;
  let q = one(p.map((x) => Math.exp(Math.log(x) / T - high)));
  q = one(q.map((x, i) => (i < k ? x : 0)));
  let before = 0;
  return one(q.map((x) => { const keep = before < top - 1e-12; before += x; return keep ? x : 0; }));
}

/** How many equally likely words would be as hard to guess: e to the entropy. */
export const equal = (p) => Math.exp(-sum(p.map((x) => (x > 0 ? x * Math.log(x) : 0))));

export function say(state, data) {
  const { p, words: names } = starting(state.after, data), q = chosen(p, state.T, state.k, state.top), left = q.filter((x) => x > 0).length;
  const what = state.after === "three" ? "“A”, “B” or “C”" : `a letter after “${state.after}”`;
  const title = left === 1 ? `Only “${names[0]}” is left: greedy, every time the same`
    : left < p.length ? `${left} of ${p.length} are left: as hard to guess as ${fixed(equal(q), 1)} equally likely ones`
      : Math.abs(state.T - 1) < 1e-9 ? `The model draws ${what}: as hard to guess as ${fixed(equal(q), 1)} equally likely ones`
        : `T = ${short(state.T)} is ${state.T < 1 ? "sharper" : "flatter"}: as hard to guess as ${fixed(equal(q), 1)} equally likely ones, not ${fixed(equal(p), 1)}`;
  return {
    title,
    note: `logits / ${short(state.T)}  →  softmax  →  ${state.k < p.length ? `the best ${state.k}` : `all ${p.length}`}  →  the nucleus of ${short(state.top)}  →  sum to one`,
    alt: `Sampling ${what}: ${names.slice(0, 6).map((n, i) => `${n} ${percent(q[i])}`).join(", ")}.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, { p, words: names } = starting(state.after, ctx.data), q = chosen(p, state.T, state.k, state.top);
  const n = p.length, x0 = tall ? 10 : 30, step = Math.min((W - 2 * x0) / n, 240), x = (i) => x0 + (i + 0.5) * step, bar = Math.min(step * 0.74, 110);
  const base = H * 0.5, high = base - 60, most = Math.max(...p, ...q), h = (v) => (v / most) * high;
  const open = q.filter((v) => v > 0).length, k = Math.min(state.k, n);
  const g = layer(root, "bars");
  put(layer(g, "cut"), "rect", open < n ? [{ key: "cut", x: x0 + open * step, y: 20, width: (n - open) * step, height: H - 110, fill: colour("faint") }] : [], ctx);
  put(layer(g, "after"), "rect", q.map((v, i) => ({
    key: names[i], x: x(i) - bar / 2, y: base - h(v), width: bar, height: h(v), rx: 3, fill: colour("blue"), press: () => ctx.set({ k: i + 1 }), label: `${names[i]}: ${fixed(v, 3)}; keep the best ${i + 1}`,
  })), ctx);
  put(layer(g, "before"), "rect", p.map((v, i) => ({ key: names[i], x: x(i) - bar / 2 - 2, y: base - h(v), width: bar + 4, height: h(v), fill: "none", stroke: colour("ink"), "stroke-width": 2, "stroke-dasharray": "5 4", "pointer-events": "none" })), ctx);
  put(layer(g, "base"), "line", [{ key: "base", x1: x0, x2: x0 + n * step, y1: base, y2: base, stroke: colour("soft"), "stroke-width": 2 }], ctx);
  const size = tall ? 17 : 22, tight = step < 22;
  put(layer(g, "names"), "text", names.map((name, i) => words(name, x(i), base + 26, name === "end" ? (step < 40 ? "■" : "end") : name, { size, at: "middle", bold: q[i] > 0, ink: q[i] > 0 ? "ink" : "soft" })), ctx);
  const shown = range(n).filter((i) => step > 46 || i < (tall ? 1 : 4));
  put(layer(g, "numbers"), "text", shown.map((i) => words(names[i], Math.max(x(i), tall ? 36 : 0), base - Math.max(h(q[i]), h(p[i])) - 9, q[i] ? fixed(q[i], step < 62 ? 2 : 3).replace("0.", ".") : step < 80 ? "" : "closed", { size: step < 46 ? 17 : 19, at: "middle", bold: q[i] > 0, ink: q[i] > 0 ? "ink" : "soft" })), ctx);
  // the knife: everything to its right is closed
  const pull = (px) => ctx.set({ k: clamp(Math.round((px - x0) / step), 1, 28) }, 0);
  const kx = x0 + k * step;
  put(layer(g, "knife"), "line", [{ key: "knife", x1: kx, x2: kx, y1: 18, y2: base + 32, stroke: colour("red"), "stroke-width": 3, "stroke-dasharray": "8 6" }], ctx);
  put(layer(g, "grip"), "circle", [{
    key: "grip", cx: kx, cy: 18, r: 12, fill: colour("red"), stroke: colour("paper"), "stroke-width": 3, class: "grab", drag: pull,
    slide: { label: "top-k", value: state.k, min: 1, max: 28, step: 1, text: kept(state.k), set: (v) => ctx.set({ k: v }, 0) },
  }], ctx);
  const leftSide = k > n * 0.6;
  put(layer(g, "gripname"), "text", [words("k", kx + (leftSide ? -20 : 20), 25, `top-k: keep ${state.k < n ? k : `all ${n}`}`, { size: tall ? 18 : 20, at: leftSide ? "end" : "start", class: "halo" })], ctx);
  drawSaid(layer(root, "said"), state, ctx, q, x, { top: base + 42, bottom: H - 100, step });
  drawStrip(layer(root, "strip"), state, ctx, { p, names }, { x: x0, y: H - 56, w: W - 2 * x0 });
}

/** Each thing said falls below its bar. */
function drawSaid(g, state, ctx, q, x, { top, bottom, step }) {
  const rng = random(state.again), heaps = q.map(() => 0);
  const said = range(SAMPLES, (i) => { const place = drawn(rng, q); return { i, place, n: heaps[place]++ }; });
  const side = Math.max(1, Math.floor((step * 0.9) / 12)), most = Math.max(...heaps), across = Math.min(side, Math.max(1, Math.ceil(most / 8)));
  const gap = Math.min(12, step / (across + 0.4), (bottom - top) / Math.ceil(most / across));
  put(layer(g, "dots"), "circle", said.map(({ i, place, n }) => ({
    key: i, cx: x(place) + ((n % across) - (across - 1) / 2) * gap, cy: top + gap * (Math.floor(n / across) + 0.5), r: gap * 0.42, fill: colour("orange"), stroke: colour("ink"), "stroke-width": 0.8, from: { cx: x(place), cy: top - 60 },
  })), ctx);
  put(layer(g, "title"), "text", [words("title", ctx.W - (ctx.tall ? 10 : 30), bottom - 8, `what it says, ${SAMPLES} times`, { size: ctx.tall ? 17 : 19, at: "end", ink: "soft", class: "halo" })], ctx);
}

/** All probability as one strip, the sure words first: p cuts it. */
function drawStrip(g, state, ctx, { p, names }, { x, y, w }) {
  const q = chosen(p, state.T, state.k, 1);
  let left = 0;
  const parts = q.map((v, i) => { const part = { i, from: left, v }; left += v; return part; });
  put(layer(g, "parts"), "rect", parts.map(({ i, from, v }) => ({
    key: names[i], x: x + from * w, y, width: Math.max(v * w - 1, 0), height: 34, fill: colour(from < state.top - 1e-12 ? "blue" : "line"), stroke: colour("paper"), "stroke-width": v * w > 6 ? 2 : 0.5, "pointer-events": "none",
  })), ctx);
  put(layer(g, "names"), "text", parts.filter(({ v }) => v * w > 22).map(({ i, from, v }) => words(names[i], x + (from + v / 2) * w, y + 24, names[i] === "end" && v * w < 50 ? "■" : names[i], { size: 18, at: "middle", bold: true, fill: from < state.top - 1e-12 ? "var(--on-blue)" : colour("ink") })), ctx);
  const at = x + state.top * w, set = (v) => ctx.set({ top: Number(clamp(Math.round(v * 20) / 20, 0.05, 1).toFixed(2)) }, 0);
  put(layer(g, "grip"), "rect", [{
    key: "grip", x: at - 8, y: y - 7, width: 16, height: 48, rx: 8, fill: colour("red"), stroke: colour("paper"), "stroke-width": 3, class: "grab", drag: (px) => set((px - x) / w),
    slide: { label: "top-p", value: state.top, min: 0.05, max: 1, step: 0.05, text: state.top.toFixed(2), set },
  }], ctx);
  put(layer(g, "title"), "text", [words("title", x, y - 12, "all the probability after T and k; top-p cuts it here", { size: ctx.tall ? 17 : 19, ink: "soft" })], ctx);
}
