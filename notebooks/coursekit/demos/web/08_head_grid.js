// Lab 08: what eight heads of a trained encoder listen to in one sentence. The maps were recorded (exported.py).

import { argmax, fixed, range } from "./numbers.js";
import { colour, layer, put, words } from "./kit.js";

export const meta = {
  "name": "08_head_grid",
  "title": "Eight heads read one sentence",
  "look": "Click a map to choose its head, a word on the left to make it listen. Nobody told the heads what to look for.",
  "questions": [
    ["Does a head look at a fixed place, whatever the words are?", "A straight line of dark cells beside the diagonal would show it: always the word before, or the word after. Three lean that way here, and each does other things as well.", [3, 5]],
    ["“It” stands before “tired” and “wide”. How can it know which of them comes?", "An encoder may look ahead: “it” hears the whole sentence, the last word too, in the first layer or through it in the second.", [1, 2, 4]],
    ["Does a map prove what the model understood? What else could you test?", "No: a weight says what is read, not what is done with it. Change the word, switch the head off, and look whether the translation changes.", [1, 5]]
  ],
  "poster": 1
};

export const scenes = [
  { name: "who is tired?", set: {} },
  { name: "what is wide?", set: { end: "wide" } },
  { name: "one layer earlier", set: { head: 2 } },
  { name: "earlier, and wide", set: { end: "wide", head: 2 } },
  { name: "a head that spreads", set: { head: 5 } },
];

export const controls = [
  { kind: "choice", name: "end", label: "because it was too", options: [["tired", "tired"], ["wide", "wide"]], start: "tired" },
  { kind: "picture", name: "head", start: 4, read: (text) => (/^[0-7]$/.test(text) ? Number(text) : null) },
  { kind: "picture", name: "listener", start: 8, read: (text) => (/^(\d|1[0-2])$/.test(text) ? Number(text) : null) },
];

const HEADS = 4;

/** The map of a head, 0 … 7: who listens (rows) to whom (columns). */
export const mapOf = (data, { end, head }) => data[end].maps[Math.floor(head / HEADS)][head % HEADS];

export function say(state, data) {
  const list = data[state.end].words, row = mapOf(data, state)[state.listener], most = argmax(row);
  const layer = Math.floor(state.head / HEADS) + 1, head = (state.head % HEADS) + 1;
  return {
    title: `Layer ${layer}, head ${head}: “${list[state.listener]}” hears “${list[most]}” most (${fixed(row[most])})`,
    note: `“… because it was too ${state.end}.”   Lab 12's trained encoder: 2 layers, 4 heads each`,
    alt: `In layer ${layer}, head ${head}, ${list[state.listener]} listens to ${list.map((w, i) => `${w} ${fixed(row[i])}`).join(", ")}.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall, data } = ctx, list = data[state.end].words, T = list.length, map = mapOf(data, state), part = W < 1150 ? 0.5 : 0.56;
  const gap = tall ? 12 : 22, side = tall ? (W - 20 - 3 * gap) / 4 : Math.min((W * part - 3 * gap) / 4, (H - 120) / 2);
  const at = (head) => [10 + (head % HEADS) * (side + gap), (tall ? 26 : 40) + Math.floor(head / HEADS) * (side + (tall ? 32 : 54))];
  const cell = side / T, g = layer(root, "maps");
  put(layer(g, "backs"), "rect", range(8, (head) => ({ key: head, x: at(head)[0], y: at(head)[1], width: side, height: side, fill: colour("faint") })), ctx);
  put(layer(g, "cells"), "rect", range(8, (head) => mapOf(data, { ...state, head }).flatMap((row, i) => row.map((w, j) => ({
    key: (head * T + i) * T + j, x: at(head)[0] + j * cell, y: at(head)[1] + i * cell, width: cell, height: cell, fill: colour("blue"), "fill-opacity": w < 0.03 ? 0 : w,
  })))).flat(), { ...ctx, ms: 0 });
  put(layer(g, "rows"), "rect", range(8, (head) => ({ key: head, x: at(head)[0] - 3, y: at(head)[1] + state.listener * cell - 1, width: side + 6, height: cell + 2, fill: "none", stroke: colour("red"), "stroke-width": 2.5 })), ctx);
  put(layer(g, "frames"), "rect", range(8, (head) => ({
    key: head, x: at(head)[0] - 5, y: at(head)[1] - 5, width: side + 10, height: side + 10, rx: 6, fill: "transparent", stroke: head === state.head ? colour("orange") : "transparent", "stroke-width": 6,
    cell: [Math.floor(head / HEADS), head % HEADS], press: () => ctx.set({ head }), pressed: head === state.head, label: `layer ${Math.floor(head / HEADS) + 1}, head ${(head % HEADS) + 1}`,
  })), ctx);
  put(layer(g, "names"), "text", [
    ...range(8, (head) => words(head, at(head)[0] + side / 2, at(head)[1] - 12, tall ? `${Math.floor(head / HEADS) + 1}.${(head % HEADS) + 1}` : `${side < 135 ? "L" : "layer "}${Math.floor(head / HEADS) + 1}, head ${(head % HEADS) + 1}`, { size: tall || side < 135 ? 17 : 19, at: "middle", bold: head === state.head, ink: head === state.head ? "ink" : "soft" })),
    ...(tall ? [] : [words("how", 10, at(4)[1] + side + 34, "row: who listens (red)   column: who is heard", { size: 18, ink: "soft" })]),
  ], ctx);
  const top = tall ? at(4)[1] + side + 34 : 40;
  drawThreads(layer(root, "threads"), state, ctx, list, map, tall ? { x: 96, y: top + 16, w: W - 250, h: H - top - 22 } : { x: W * part + 134, y: top, w: W * (1 - part) - (W < 1150 ? 316 : 376), h: H - top - 12 });
}

/** The sentence twice, listeners on the left, and a thread to whom each hears, as thick as the weight. */
function drawThreads(g, { listener }, ctx, list, map, box) {
  const T = list.length, row = box.h / T, y = (i) => box.y + (i + 0.5) * row, size = Math.min(ctx.tall ? 18 : 23, row * 0.72), right = box.x + box.w;
  const thread = (i, j) => `M${box.x},${y(i).toFixed(1)}C${(box.x + box.w * 0.5).toFixed(1)},${y(i).toFixed(1)} ${(box.x + box.w * 0.5).toFixed(1)},${y(j).toFixed(1)} ${right.toFixed(1)},${y(j).toFixed(1)}`;
  const others = map.flatMap((weights, i) => weights.map((w, j) => [i, j, w])).filter(([i, , w]) => w > 0.15 && i !== listener);
  put(layer(g, "others"), "path", others.map(([i, j, w]) => ({ key: i * T + j, d: thread(i, j), fill: "none", stroke: colour("line"), "stroke-width": 5 * w })), ctx);
  put(layer(g, "mine"), "path", map[listener].map((w, j) => ({ key: j, d: thread(listener, j), fill: "none", stroke: colour("orange"), "stroke-width": 16 * w, "stroke-opacity": w < 0.01 ? 0 : 0.9, "stroke-linecap": "round" })), ctx);
  const most = argmax(map[listener]);
  put(layer(g, "bars"), "rect", map[listener].map((w, j) => ({ key: j, x: right + 6, y: y(j) - row * 0.4, width: w * (ctx.tall ? 46 : 62), height: row * 0.8, rx: 3, fill: colour(j === most ? "orange" : "blue"), "fill-opacity": 0.9 })), ctx);
  put(layer(g, "spots"), "rect", list.map((word, i) => ({
    key: i, x: box.x - (ctx.tall ? 92 : 122), y: y(i) - row / 2 + 1, width: ctx.tall ? 86 : 116, height: row - 2, rx: 6, fill: i === listener ? colour("orange") : "transparent", stroke: "none",
    cell: [i, 0], press: () => ctx.set({ listener: i }), pressed: i === listener, label: `${word} listens`,
  })), ctx);
  put(layer(g, "left"), "text", list.map((word, i) => words(i, box.x - 12, y(i) + size * 0.35, word, { size, at: "end", bold: i === listener, fill: i === listener ? "var(--on-orange)" : colour("ink") })), ctx);
  put(layer(g, "right"), "text", list.map((word, j) => words(j, right + (ctx.tall ? 56 : 76), y(j) + size * 0.35, word, { size, bold: j === most })), ctx);
  put(layer(g, "weights"), "text", ctx.W < 1150 ? [] : list.map((word, j) => words(j, right + 238, y(j) + size * 0.35, map[listener][j] >= 0.01 ? fixed(map[listener][j]) : "", { size: Math.min(19, size), at: "end", ink: "soft" })), ctx);
}
