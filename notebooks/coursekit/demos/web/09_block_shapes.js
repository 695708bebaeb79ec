// Lab 09: the shapes that walk through an encoder block and a decoder block, step by step.

import { clamp, commas, range, sum } from "./numbers.js";
import { colour, layer, put, words } from "./kit.js";

export const meta = {
  "name": "09_block_shapes",
  "title": "Shapes on their way through a block",
  "look": "What goes in and what comes out has the same shape. Click a step, or play, and pull the corner: where does the shape change?",
  "questions": [
    ["Which numbers grow when the sentences get longer, and which do not?", "The tensors grow, the weights (T × T) with the square. What is learned does not: no layer knows T.", [3, 6, 7]],
    ["Why must what comes out have the shape of what goes in?", "So that it can be added to what came in, and so that blocks can be stacked.", [1, 4, 5]],
    ["More heads: does the block learn more numbers?", "No: the same D columns are only cut into more, narrower pieces. There are more weights to look at, T × T for each head.", [2, 7]]
  ],
  "poster": 3
};

const B = 2, S = 6, WIDER = 4;

export const scenes = [
  { name: "what goes in", set: {} },
  { name: "heads part", set: { step: 2 } },
  { name: "word by word", set: { step: 3 } },
  { name: "wider", set: { step: 8 } },
  { name: "out as it came in", set: { step: 10 } },
  { name: "decoder: cross-attention", set: { block: "decoder", step: 10 } },
  { name: "ten words", set: { step: 3, T: 10, heads: 8 } },
];

export const controls = [
  { kind: "choice", name: "block", label: "block", options: [["encoder", "encoder"], ["decoder", "decoder"]], start: "encoder" },
  { kind: "steps", name: "step", label: "step", last: (state) => walk(state).length - 1, start: 0, wait: 900 },
  { kind: "slider", name: "T", label: "words T", low: 2, high: 10, start: 5 },
  { kind: "slider", name: "D", label: "width D", low: 8, high: 64, step: 8, start: 32 },
  { kind: "choice", name: "heads", label: "heads h", options: [1, 2, 4, 8].map((h) => [h, String(h)]), start: 4 },
];

function attention(T, D, h, keys, what, memory, masked) {
  const letter = memory ? "S" : "T", linear = D * D + D;
  return [
    [`${what}: Q, K, V`, `three linear layers; K, V from ${memory ? "the memory" : "x"}`, [B, T, D], memory ? "Q (B, T, D), K and V (B, S, D)" : "Q, K, V: (B, T, D) each", 3 * linear],
    [`${what}: split heads`, "each head gets D / h columns", [B, h, T, D / h], "(B, h, T, D/h)", 0],
    [`${what}: weights`, `${masked ? "masked: " : ""}softmax of Q Kᵀ / √(D/h)`, [B, h, T, keys], `(B, h, T, ${letter})`, 0],
    [`${what}: heard`, "weights · V, head by head", [B, h, T, D / h], "(B, h, T, D/h)", 0],
    [`${what}: merge heads`, "heads side by side again", [B, T, D], "(B, T, D)", 0],
    [`${what}: W_O`, "a linear layer mixes the heads", [B, T, D], "(B, T, D)", linear],
    [`${what}: add & norm`, "LayerNorm(x + what was heard)", [B, T, D], "(B, T, D)", 2 * D],
  ];
}

/** All stops of a block: {name, does, shape, letters, weights}, the last being how many learned numbers it uses. */
export function walk({ block, T, D, heads: h }) {
  const F = WIDER * D;
  return [
    ["input x", "a vector for each word", [B, T, D], "(B, T, D)", 0],
    ...attention(T, D, h, T, "self", false, block === "decoder"),
    ...(block === "decoder" ? attention(T, D, h, S, "cross", true, false) : []),
    ["linear1, ReLU", "each word by itself, four times as wide", [B, T, F], "(B, T, F)", D * F + F],
    ["linear2", "back to the old width", [B, T, D], "(B, T, D)", F * D + D],
    ["add & norm", "LayerNorm(x + what was thought)", [B, T, D], "(B, T, D)", 2 * D],
  ].map(([name, does, shape, letters, weights]) => ({ name, does, shape, letters, weights }));
}

const count = (shape) => shape.reduce((a, b) => a * b, 1), times = (shape) => shape.join(" × ");
const tint = (name) => [["norm", "green"], ["linear", "orange"], ["weights", "purple"], ["input", "sky"]].find(([part]) => name.includes(part))?.[1] ?? "blue";

export function say(state) {
  const stops = walk(state), stop = stops[Math.min(state.step, stops.length - 1)];
  return {
    title: state.step ? `${stop.name}: ${times(stop.shape)}` : `Into the block go ${B} sentences of ${state.T} words, ${state.D} numbers a word`,
    note: `B = ${B} sentences, T = ${state.T} words, D = ${state.D}, h = ${state.heads} heads, F = ${WIDER * state.D}${state.block === "decoder" ? `, S = ${S} source words` : ""}`,
    alt: `Step ${state.step} of an ${state.block} block: ${stop.does}, ${times(stop.shape)}, ${commas(count(stop.shape))} numbers. The block learns ${commas(sum(stops.map((s) => s.weights)))} numbers.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, stops = walk(state), at = Math.min(state.step, stops.length - 1), stop = stops[at];
  const list = tall ? { x: 8, y: 6, w: W - 16, h: H * (stops.length > 12 ? 0.62 : 0.5) } : { x: 8, y: 8, w: W * 0.4, h: H - 20 };
  const pitch = list.h / stops.length, size = Math.max(17, Math.min(22, pitch * 0.62));
  const g = layer(root, "stops");
  put(layer(g, "mark"), "rect", [{ key: "mark", x: list.x, y: list.y + at * pitch, width: list.w, height: pitch, rx: 6, fill: colour("orange"), "fill-opacity": 0.28, stroke: colour("orange"), "stroke-width": 3 }], ctx);
  drawWays(layer(g, "ways"), stops, { x: list.x + 44, y: (i) => list.y + (i + 0.5) * pitch, bend: 30 }, ctx);
  put(layer(g, "chips"), "rect", stops.map((s, i) => ({ key: i, x: list.x + 34, y: list.y + (i + 0.5) * pitch - 10, width: 20, height: 20, rx: s.name.includes("norm") ? 10 : 3, fill: colour(tint(s.name)) })), ctx);
  put(layer(g, "plus"), "text", stops.map((s, i) => [s, i]).filter(([s]) => s.name.includes("norm")).map(([, i]) => words(i, list.x + 44, list.y + (i + 0.5) * pitch + 6, "+", { size: 18, at: "middle", bold: true, fill: "var(--on-green)" })), ctx);
  put(layer(g, "names"), "text", stops.map((s, i) => words(i, list.x + 66, list.y + (i + 0.5) * pitch + size * 0.35, s.name, { size, bold: i === at })), ctx);
  put(layer(g, "shapes"), "text", stops.map((s, i) => words(i, list.x + list.w - 10, list.y + (i + 0.5) * pitch + size * 0.35, times(s.shape), { size: size - 1 < 17 ? 17 : size - 1, at: "end", mono: true, bold: s.shape.length !== 3 || s.shape[2] !== state.D })), ctx);
  put(layer(g, "hits"), "rect", stops.map((s, i) => ({ key: i, x: list.x, y: list.y + i * pitch, width: list.w, height: pitch, rx: 6, fill: "transparent", cell: [i, 0], press: () => ctx.set({ step: i }), pressed: i === at, label: `${s.name}: ${times(s.shape)}` })), ctx);
  drawTensor(layer(root, "tensor"), state, ctx, stops, stop, tall ? { x: 14, y: list.y + list.h + 26, w: W - 28, h: H - list.h - 40 } : { x: list.x + list.w + W * 0.05, y: 26, w: W * 0.53, h: H - 36 });
}

/** The way through all parts, and beside it the ways around: what goes into a sublayer is added to what comes out of it. */
function drawWays(g, stops, { x, y, bend }, ctx) {
  const sums = stops.flatMap((s, i) => (s.name.includes("norm") ? [i] : [])), from = [0, ...sums.slice(0, -1)];
  const around = (a, b) => `M${x - 8},${y(a).toFixed(1)}C${x - bend - 12},${y(a).toFixed(1)} ${x - bend - 12},${y(b).toFixed(1)} ${x - 10},${y(b).toFixed(1)}`;
  put(layer(g, "through"), "path", [{ key: "through", d: `M${x},${y(0).toFixed(1)}V${y(stops.length - 1).toFixed(1)}`, fill: "none", stroke: colour("line"), "stroke-width": 4 }], ctx);
  put(layer(g, "around"), "path", sums.map((to, i) => ({ key: i, d: around(from[i], to), fill: "none", stroke: colour("green"), "stroke-width": 3.5 })), ctx);
}

/** The tensor to one scale: a row of sheets for each sentence, in it a sheet for each head, in it a line for each word. */
function drawTensor(g, state, ctx, stops, stop, box) {
  const { tall } = ctx, [, ...rest] = stop.shape, heads = rest.length > 2 ? rest[0] : 1, rows = rest.at(-2), columns = rest.at(-1);
  const gap = 8, room = box.h - (tall ? 108 : 176), unit = Math.min((box.w - 8) / (WIDER * state.D), (box.w - gap * (heads - 1) - 4) / (heads * columns));
  const high = Math.min(room / 2 - 14, rows * 24), top = box.y + (tall ? 40 : 66), wide = columns * unit, sheet = (b, h) => [box.x + h * (wide + gap), top + b * (high + 20)];
  const all = range(B, (b) => range(heads, (h) => [b, h])).flat();
  put(layer(g, "sheets"), "rect", all.map(([b, h]) => ({ key: `${b} ${h}`, x: sheet(b, h)[0], y: sheet(b, h)[1], width: Math.max(wide, 4), height: high, rx: 3, fill: colour(tint(stop.name)), "fill-opacity": 0.75, stroke: colour("ink"), "stroke-width": 1.5, from: { x: box.x + h * 20 } })), ctx);
  put(layer(g, "lines"), "line", all.flatMap(([b, h]) => range(rows - 1, (r) => { const [x, y] = sheet(b, h), at = y + ((r + 1) * high) / rows; return { key: `${b} ${h} ${r}`, x1: x, x2: x + wide, y1: at, y2: at, stroke: colour("paper"), "stroke-width": 1.5 }; })), ctx);
  const [lx, ly] = sheet(B - 1, heads - 1), end = top + 2 * high + 20;
  put(layer(g, "grip"), "circle", [{
    key: "grip", cx: lx + wide, cy: ly + high, r: 12, fill: colour("red"), stroke: colour("paper"), "stroke-width": 3, class: "grab",
    drag: (px, py) => {
      const T = clamp(Math.round(ctx.now().T + (py - (ly + high)) / 40), 2, 10), D = clamp(Math.round((ctx.now().D + ((px - (lx + wide)) / box.w) * 64) / 8) * 8, 8, 64);
      ctx.set({ T, D }, 0);
    },
    slide: { label: "words T", value: state.T, min: 2, max: 10, step: 1, text: String(state.T), set: (T) => ctx.set({ T }, 250) },
  }], ctx);
  const learned = sum(stops.map((s) => s.weights));
  put(layer(g, "told"), "text", [
    words("does", box.x, box.y, stop.does, { size: tall ? 19 : 23, bold: true }),
    ...(tall ? [] : [words("letters", box.x, box.y + 30, stop.letters, { size: 20, mono: true })]),
    words("count", box.x, end + (tall ? 26 : 36), `${commas(count(stop.shape))} numbers, ${stop.weights ? `made with ${commas(stop.weights)} learned ones` : "nothing in it is learned"}`, { size: tall ? 18 : 20 }),
    words("block", box.x, end + (tall ? 50 : 66), `the whole block learns ${commas(learned)}`, { size: tall ? 18 : 20, ink: "soft" }),
  ], ctx);
}
