// Lab 10: eight small trainings, with and without skips and warm-up. They were recorded once (data/README.md).

import { clamp, fixed, range } from "./numbers.js";
import { colour, layer, path, put, scale, words } from "./kit.js";

export const meta = {
  "name": "10_skips_and_warmup",
  "title": "What skips and warm-up are good for",
  "look": "Four trainings of the same model. Click a curve, drag its dot through time, and look at the gradients that reach its layers.",
  "questions": [
    ["Without skips, layers 3 and 4 get next to no gradient. Why does it not matter there who listens to whom?", "By then all positions carry nearly the same vector: whoever is heard says the same, so the attention weights change nothing.", [2, 3]],
    ["When does it do harm to leave out the warm-up, and when not?", "At the usual rate it does none here; at three times that rate the first large steps spoil what they should train.", [4, 5, 6]],
    ["A run of 400 steps with one seed: what would you repeat before you believe it?", "Everything, with other seeds: one curve may be luck. Only what returns with most seeds is a finding.", [1, 6]]
  ],
  "poster": 1
};

const TICKS = [[1e-12, "10⁻¹²"], [1e-6, "10⁻⁶"], [1, "1"]];
const STEPS = 400, EVERY = 10, WARM_UP = 100;

export const scenes = [
  { name: "as in the paper", set: {} },
  { name: "no skips", set: { skips: 0 } },
  { name: "neither", set: { skips: 0, warm: 0 } },
  { name: "no warm-up: fine", set: { warm: 0 } },
  { name: "three times as fast", set: { factor: 3 } },
  { name: "… without warm-up", set: { factor: 3, warm: 0 } },
];

export const controls = [
  { kind: "choice", name: "skips", label: "skips", options: [[1, "with"], [0, "without"]], start: 1 },
  { kind: "choice", name: "warm", label: "warm-up", options: [[1, "with"], [0, "without"]], start: 1 },
  { kind: "choice", name: "factor", label: "learning rate", options: [[1, "× 1"], [3, "× 3"]], start: 1 },
  { kind: "steps", name: "time", label: "step", last: STEPS / EVERY - 1, start: 39, wait: 300, write: (i) => String((i + 1) * EVERY) },
];

const LOOKS = [[1, 1, "blue", null], [1, 0, "orange", "14 6"], [0, 1, "green", "5 6"], [0, 0, "red", "14 6 3 6"]];

const called = (skips, warm) => `${skips ? "skips" : "no skips"}, ${warm ? "warm-up" : "no warm-up"}`;
const runOf = (data, { skips, warm, factor }) => data[`${called(skips, warm)}, ${factor}`];

/** Lab 10's learning rate for a width of 512; without warm-up it begins at its highest and falls in the same way. */
export const rate = (step, warm, factor) => factor * 512 ** -0.5 * WARM_UP ** -0.5 * Math.min(warm ? step / WARM_UP : 1, (WARM_UP / step) ** 0.5);

/** A small number as a power of ten, such as 3·10⁻⁹. */
export function power(value) {
  if (value >= 0.001) return String(Number(value.toPrecision(2)));
  const [digit, exponent] = value.toExponential(0).split("e");
  return `${digit}·10${[...String(Number(exponent))].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;
}

export function say(state, data) {
  const run = runOf(data, state), last = run.loss.at(-1), now = (state.time + 1) * EVERY, name = called(state.skips, state.warm);
  const fate = last < 1 ? "it learns" : last < 2.8 ? "it hardly learns" : "it learns nothing";
  return {
    title: `${name[0].toUpperCase()}${name.slice(1)}: ${fate}, loss ${fixed(last)} in the end`,
    note: `step ${now}: learning rate ${rate(now, state.warm, state.factor).toFixed(4)}, loss ${fixed(run.loss[state.time])}`,
    alt: `After ${now} steps the loss is ${fixed(run.loss[state.time])}. Gradients at W_Q of the encoder: ${run.gradient[state.time].map((v, i) => `layer ${i + 1} ${power(v)}`).join(", ")}.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, narrow = W < 1150;
  drawCurves(layer(root, "curves"), state, ctx, tall ? { x: 40, y: 40, w: W - 70, h: H * 0.46 } : { x: 56, y: 44, w: W * (narrow ? 0.36 : 0.38), h: H - 112 });
  drawGradients(layer(root, "gradients"), state, ctx, tall ? { x: 76, y: H * 0.46 + 160, w: W - 180, h: H * 0.54 - 176 } : { x: W * 0.77, y: 62, w: W * (narrow ? 0.14 : 0.15), h: H - 150 });
}

function drawCurves(g, state, ctx, box) {
  const { data, tall } = ctx, x = scale([0, STEPS], [box.x, box.x + box.w]), y = scale([0, 3.3], [box.y + box.h, box.y]);
  const at = (i) => (i + 1) * EVERY, pick = (px) => ctx.set({ time: clamp(Math.round(x.back(px) / EVERY) - 1, 0, 39) }, 0);
  put(layer(g, "grid"), "line", [0, 1, 2, 3].map((v) => ({ key: v, x1: box.x, x2: box.x + box.w, y1: y(v), y2: y(v), stroke: colour(v ? "faint" : "soft"), "stroke-width": 2 })), ctx);
  put(layer(g, "now"), "line", [{ key: "now", x1: x(at(state.time)), x2: x(at(state.time)), y1: box.y, y2: box.y + box.h, stroke: colour("line"), "stroke-width": 2.5 }], ctx);
  const curves = LOOKS.map(([skips, warm, ink, dash]) => ({ skips, warm, ink, dash, loss: runOf(data, { ...state, skips, warm }).loss, mine: skips === state.skips && warm === state.warm }));
  const choose = (c) => ({ press: () => ctx.set({ skips: c.skips, warm: c.warm }), pressed: c.mine });
  const line = (c) => path(c.loss.map((v, i) => [x(at(i)), y(v)]));
  put(layer(g, "lines"), "path", curves.map((c) => ({ key: c.ink, d: line(c), fill: "none", stroke: colour(c.ink), "stroke-width": c.mine ? 7 : 3, "stroke-dasharray": c.dash, "stroke-linejoin": "round" })), ctx);
  put(layer(g, "hits"), "path", curves.map((c) => ({ key: c.ink, d: line(c), fill: "none", stroke: "transparent", "stroke-width": 22, ...choose(c), label: called(c.skips, c.warm) })), ctx);
  const mine = curves.find((c) => c.mine);
  put(layer(g, "dot"), "circle", [{
    key: "dot", cx: x(at(state.time)), cy: y(mine.loss[state.time]), r: 12, fill: colour(mine.ink), stroke: colour("ink"), "stroke-width": 2.5, class: "grab", drag: pick,
    slide: { label: "time", value: state.time, min: 0, max: 39, step: 1, text: `step ${at(state.time)}`, set: (time) => ctx.set({ time }, 0) },
  }], ctx);
  const ends = curves.map((c) => [c, y(c.loss.at(-1)) + 7]).sort((a, b) => a[1] - b[1]), pitch = tall ? 24 : 30;
  ends.forEach((end, i) => { if (i) end[1] = Math.max(end[1], ends[i - 1][1] + pitch); });
  for (let i = ends.length - 1, low = y(0) + 8; i >= 0; i--) { ends[i][1] = Math.min(ends[i][1], low); low = ends[i][1] - pitch; }
  const seat = (i) => [8 + (i % 2) * ctx.W * 0.47, box.y + box.h + 54 + Math.floor(i / 2) * 26];
  const name = (c, i) => (tall ? words(c.ink, seat(i)[0] + 29, seat(i)[1], called(c.skips, c.warm), { size: 17, bold: c.mine }) : words(c.ink, box.x + box.w + 52, ends.find(([one]) => one === c)[1], called(c.skips, c.warm), { size: ctx.W < 1150 ? 17 : 20, bold: c.mine }));
  put(layer(g, "names"), "text", curves.map(name), ctx);
  put(layer(g, "keys"), "line", curves.map((c, i) => {
    const [kx, ky] = tall ? [seat(i)[0], seat(i)[1] - 6] : [box.x + box.w + 8, ends.find(([one]) => one === c)[1] - 7];
    return { key: c.ink, x1: kx, x2: kx + (tall ? 24 : 38), y1: ky, y2: ky, stroke: colour(c.ink), "stroke-width": c.mine ? 7 : 3.5, "stroke-dasharray": c.dash };
  }), ctx);
  put(layer(g, "words"), "text", [
    words("title", box.x, box.y - 18, "loss on reversing letters", { size: 21, bold: true }),
    ...[0, 1, 2, 3].map((v) => words(`y${v}`, box.x - 12, y(v) + 6, String(v), { size: 18, at: "end", ink: "soft" })),
    ...[0, 200, 400].map((v) => words(`x${v}`, x(v), y(0) + 26, v === 200 ? "step 200" : String(v), { size: 18, at: "middle", ink: "soft" })),
  ], ctx);
}

function drawGradients(g, state, ctx, box) {
  const { data, tall } = ctx, steep = runOf(data, state).gradient[state.time], n = steep.length, row = box.h / n, ink = LOOKS.find(([s, w]) => s === state.skips && w === state.warm)[2];
  const at = (v) => box.x + ((Math.log10(Math.max(v, 1e-14)) + 14) / 14) * box.w;  // a place on a scale of powers of ten, which has no zero to draw a bar from
  const y = (i) => box.y + row * (n - 1 - i);
  put(layer(g, "tracks"), "rect", range(n, (i) => ({ key: i, x: box.x, y: y(i) + 4, width: box.w, height: row - 14, rx: 5, fill: colour("faint") })), ctx);
  put(layer(g, "ticks"), "line", TICKS.map(([v]) => ({ key: v, x1: at(v), x2: at(v), y1: box.y, y2: box.y + box.h - 6, stroke: colour("paper"), "stroke-width": 2.5 })), ctx);
  put(layer(g, "dots"), "circle", steep.map((v, i) => ({ key: i, cx: at(v), cy: y(i) + row / 2 - 3, r: Math.min(row / 2 - 9, 13), fill: colour(ink) })), ctx);
  put(layer(g, "words"), "text", [
    words("title", box.x - (tall ? 66 : 76), box.y - (tall ? 12 : 20), "gradient at W_Q, encoder", { size: tall ? 19 : 21, bold: true }),
    ...steep.map((v, i) => words(`l${i}`, box.x - 12, y(i) + row / 2 + 2, `layer ${i + 1}`, { size: ctx.W < 1150 ? 17 : 20, at: "end" })),
    ...steep.map((v, i) => words(`v${i}`, box.x + box.w + 10, y(i) + row / 2 + 2, power(v), { size: ctx.W < 1150 ? 18 : 21, bold: true })),
    ...TICKS.map(([v, name]) => words(name, at(v), box.y + box.h + 16, name, { size: tall ? 17 : 18, at: "middle", ink: "soft" })),
  ], ctx);
}
