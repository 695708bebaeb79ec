// Lab 07: queries, keys and values of a sentence, and a mask that you paint yourself.

import { argmax, dot, fixed, range, short, softmax, sum } from "./numbers.js";
import { colour, layer, on, put, shade, words } from "./kit.js";

export const meta = {
  "name": "07_mask_painter",
  "title": "Who may listen to whom? Paint the mask",
  "look": "Paint over the scores to open or close them. Each row is a listener: what one voice loses, the others share.",
  "questions": [
    ["Why −∞ before the softmax, and not 0 after it?", "After it the row would no longer add up to 1. Before it, the softmax shares the weight among those that are left.", [2, 3]],
    ["What goes wrong if a token may not even hear itself?", "The first one then hears nobody: every score is −∞, the softmax divides 0 by 0, and NaN spreads through the whole network.", [4]],
    ["Which row of the weights looks the same with and without the causal mask?", "The last one: it has no future to be closed.", [1, 2]],
    ["Which scale lets one voice drown all others, and which lets everyone be heard alike?", "Divided by too little, scores lie far apart and one key takes most of its row. Divided by too much, they lie close together, and all share.", [5, 6]]
  ],
  "poster": 1
};

export const TOKENS = ["<bos>", "Ich", "habe", "einen", "Apfel", "gegessen", "<eos>"];
const T = 7, ROOT = 4;
const painted = (open) => range(T * T, (n) => (open(Math.floor(n / T), n % T) ? "1" : "0")).join("");
export const ALL = painted(() => true);
export const CAUSAL = painted((i, j) => j <= i);
export const PADDED = painted((i, j) => j < 6);
export const STRICT = painted((i, j) => j < i);

export const scenes = [
  { name: "no mask", set: { mask: ALL } },
  { name: "the future is closed", set: {} },
  { name: "the end closed", set: { mask: PADDED } },
  { name: "off by one", set: { mask: STRICT, row: 0 } },
  { name: "√dₖ forgotten", set: { scale: 1 } },
  { name: "divided by too much", set: { scale: 32 } },
];

export const controls = [
  { kind: "slider", name: "scale", label: "scores divided by", low: 0.5, high: 32, start: 4, log: true },
  { kind: "picture", name: "row", start: 4, read: (text) => (/^[0-6]$/.test(text) ? Number(text) : null) },
  { kind: "picture", name: "mask", start: CAUSAL, read: (text) => (/^[01]{49}$/.test(text) ? text : null) },
];

const isOpen = (mask, i, j) => mask[i * T + j] === "1";

/** Masked scores and weights, 7 × 7 each; a row in which nobody may be heard gets weights of NaN. */
export function weights({ mask, scale }, { queries, keys }) {
  const scores = queries.map((q, i) => keys.map((k, j) => (isOpen(mask, i, j) ? dot(q, k) / scale : -Infinity)));
  return { scores, heard: scores.map((row) => (row.some(Number.isFinite) ? softmax(row) : row.map(() => NaN))) };
}

const deafRows = (mask) => range(T).filter((i) => !mask.slice(i * T, i * T + T).includes("1"));

export function say(state, data) {
  const { heard } = weights(state, data), { mask, scale, row } = state;
  const closed = [...mask].filter((c) => c === "0").length, deaf = deafRows(mask);
  const future = range(T).flatMap((i) => range(T - 1 - i, (k) => [i, i + 1 + k])), leaks = future.filter(([i, j]) => isOpen(mask, i, j)).length;
  const whole = heard.filter((r) => !Number.isNaN(r[0]));
  const are = (n, what) => `${n} ${what}${n > 1 ? "s are" : " is"}`;
  const title = deaf.length ? `“${TOKENS[deaf[0]]}” may hear nobody: 0/0, the softmax has no answer`
    : Math.abs(Math.log(scale / ROOT)) > 0.4 ? `Divided by ${short(scale)}, not 4: a row's largest weight is ${fixed(sum(whole.map((r) => Math.max(...r))) / whole.length)} on average`
      : !closed ? "No mask: everyone may hear everyone, even the future"
        : !leaks && closed === future.length ? `The future is closed: ${are(closed, "score")} −∞, ${are(closed, "weight")} 0`
          : !leaks ? `The future and ${closed - future.length} more are closed: ${are(closed, "weight")} 0`
            : `${are(closed, "score")} −∞: in these rows the others share the weight`;
  const best = argmax(heard[row]);
  const listens = Number.isNaN(heard[row][0]) ? `“${TOKENS[row]}” listens to nobody` : `“${TOKENS[row]}” listens to “${TOKENS[best]}” most: ${fixed(heard[row][best])}`;
  return {
    title,
    note: `${listens};  score = q·k / ${short(scale)}${Math.abs(scale - ROOT) < 0.01 ? "  (√dₖ = 4)" : ""}`,
    alt: `Attention of seven German tokens, ${closed} of 49 scores masked. ${listens}.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, { scores, heard } = weights(state, ctx.data);
  const head = tall ? 60 : 66, names = tall ? 100 : 110, all = T + 1.6;  // a table's columns, and the outputs beside it
  const cell = tall ? [Math.min(46, (W - names - 6) / all), Math.min(40, (H - 2 * head - 100) / (2 * T + 1))]
    : [Math.min(66, (W - names - 160) / (T + all)), Math.min(76, (H - head - 80) / (T + 1))];
  const left = { x: names, y: head + 26 };
  const right = tall ? { x: names, y: left.y + T * cell[1] + head + 44 } : { x: W - all * cell[0] - 8, y: left.y };
  const table = (name, at, of, title) => {
    const g = layer(root, name, at.x, at.y);
    put(layer(g, "title"), "text", [words("title", 0, -head - 4, title, { size: tall ? 20 : 21, bold: true, room: W - at.x - 2 })], ctx);
    put(layer(g, "cells"), "rect", range(T * T, (n) => of(Math.floor(n / T), n % T)), ctx);
    put(layer(g, "columns"), "text", TOKENS.map((token, j) => words(j, 0, 0, token, { size: 17, ink: "soft", transform: `translate(${(j + 0.4) * cell[0]},-8) rotate(-32)` })), ctx);
    put(layer(g, "row"), "rect", [{
      key: "row", x: -3, y: state.row * cell[1] - 3, width: (name === "weights" ? all : T) * cell[0] + 6, height: cell[1] + 4, rx: 5, fill: "none", stroke: colour("red"),
      "stroke-width": 3.5, "stroke-dasharray": "9 6", "pointer-events": "none",
    }], ctx);
    return g;
  };
  const place = (i, j) => ({ x: j * cell[0] + 1, y: i * cell[1] + 1, width: cell[0] - 3, height: cell[1] - 3, rx: 4 });
  const a = table("scores", left, (i, j) => {
    const open = isOpen(state.mask, i, j), s = scores[i][j];
    return {
      key: i * T + j, ...place(i, j), fill: colour(!open ? "faint" : s > 0 ? "green" : "orange"), "fill-opacity": open ? 0.08 + 0.4 * Math.min(Math.abs(s) / 3, 1) : 1, stroke: colour("line"), "stroke-width": 1.5,
      cell: [i, j], press: () => paint([[i, j]], !open), pressed: open, label: `${TOKENS[i]} may hear ${TOKENS[j]}`,
      drag: (x, y, node) => {
        node.brush ??= open ? "0" : "1";
        const at = [Math.floor((y - left.y) / cell[1]), Math.floor((x - left.x) / cell[0])];
        paint([[i, j], at], node.brush === "1");
      },
    };
  }, tall ? "scores: tap to close" : "scores, −∞ where closed");
  const paint = (cells, open) => {
    const mask = [...ctx.now().mask];
    for (const [i, j] of cells) if (i >= 0 && i < T && j >= 0 && j < T) mask[i * T + j] = open ? "1" : "0";
    ctx.set({ mask: mask.join("") }, 350);
  };
  const numeral = Math.min(tall ? 17 : 19, 0.36 * cell[0]);  // “−1.2” is 2.5 times as wide as its type is high
  put(layer(a, "numbers"), "text", range(T * T, (n) => {
    const [i, j] = [Math.floor(n / T), n % T], s = scores[i][j];
    return words(n, (j + 0.5) * cell[0] - 1, (i + 0.5) * cell[1] + 6, Number.isFinite(s) ? fixed(s, Math.abs(s) < 9.95 ? 1 : 0) : "−∞", { size: numeral, at: "middle", ink: Number.isFinite(s) ? "ink" : "soft" });
  }), ctx);
  put(layer(a, "rows"), "text", TOKENS.map((token, i) => ({
    ...words(i, -10, (i + 0.5) * cell[1] + 6, token, { size: tall ? 17 : 19, at: "end", bold: i === state.row, room: names - 14 }), press: () => ctx.set({ row: i }, 350), pressed: i === state.row, label: `listener ${token}`,
  })), ctx);
  const b = table("weights", right, (i, j) => ({
    key: i * T + j, ...place(i, j), fill: colour("blue"), "fill-opacity": Number.isNaN(heard[i][j]) ? 0 : shade(heard[i][j]), stroke: colour("line"), "stroke-width": 1.5,
    cell: [i, j], press: () => ctx.set({ row: i }, 350), label: `row of ${TOKENS[i]}`,
  }), "weights: each row adds up to 1");
  put(layer(b, "numbers"), "text", range(T * T, (n) => {
    const [i, j] = [Math.floor(n / T), n % T], w = heard[i][j];
    return words(n, (j + 0.5) * cell[0] - 1, (i + 0.5) * cell[1] + 6, Number.isNaN(w) ? "?" : w > 0.995 ? "1" : fixed(w).replace("0.", "."), { size: numeral, at: "middle", fill: on("blue", Number.isNaN(w) ? 0 : shade(w)) });
  }), ctx);
  const outs = heard.map((row) => dot(row, range(T)));
  const ox = (T + 0.25) * cell[0], wide = 1.3 * cell[0];
  put(layer(b, "outs"), "rect", outs.map((out, i) => ({ key: i, x: ox, y: i * cell[1] + 1, width: wide, height: cell[1] - 3, rx: 4, fill: colour("purple"), "fill-opacity": Number.isNaN(out) ? 0 : 0.08 + (0.42 * out) / 6, stroke: colour("purple"), "stroke-width": 1.5 })), ctx);
  put(layer(b, "said"), "text", [
    ...outs.map((out, i) => words(i, ox + wide / 2, (i + 0.5) * cell[1] + 6, Number.isNaN(out) ? "NaN" : fixed(out), { size: tall ? 17 : 20, at: "middle", bold: i === state.row })),
    words("out", ox + wide, -8, "out", { size: tall ? 18 : 20, at: "end", bold: true }),
    words("values", -10, (T + 0.62) * cell[1] + 8, "values", { size: tall ? 17 : 20, at: "end", ink: "soft" }),
  ], ctx);
  put(layer(b, "values"), "rect", range(T, (j) => ({ key: j, ...place(T + 0.12, j), fill: colour("purple"), "fill-opacity": 0.08 + (0.42 * j) / 6, stroke: colour("purple"), "stroke-width": 1.5 })), ctx);
  put(layer(b, "valued"), "text", range(T, (j) => words(j, (j + 0.5) * cell[0] - 1, (T + 0.62) * cell[1] + 6, String(j), { size: tall ? 17 : 20, at: "middle" })), ctx);
  const mid = (left.x + T * cell[0] + right.x) / 2 + 4, my = left.y + 3.5 * cell[1];
  put(layer(root, "flow"), "path", tall ? [] : [{ key: "flow", d: `M${mid - 34},${my}H${mid + 24}M${mid + 12},${my - 11}L${mid + 26},${my}L${mid + 12},${my + 11}`, stroke: colour("soft"), "stroke-width": 4, fill: "none", "stroke-linecap": "round" }], ctx);
  put(layer(root, "softmax"), "text", tall ? [] : [words("softmax", mid - 4, my - 20, "softmax", { size: 20, at: "middle", ink: "soft" })], ctx);
}
