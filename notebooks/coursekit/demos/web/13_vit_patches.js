// Lab 13: a digit cut into patches, read as a sentence; without positions only a bag of patches is left.

import { fixed, random, range, sum } from "./numbers.js";
import { colour, layer, put, words } from "./kit.js";

export const meta = {
  "name": "13_vit_patches",
  "title": "An image is a sentence of patches",
  "look": "Paint in the image. Cut it finer, shuffle it, or drag a patch to another place: the words stay the same, and what is lost?",
  "questions": [
    ["Half the patch's side: how many more words, and how many more pairs?", "Four times the words, sixteen times the pairs: a picture's cost grows with the fourth power of its fineness.", [1, 2, 3, 6]],
    ["Which digits could a model still tell apart by the bag of their patches?", "Those that differ in what they are made of: a 1 has little ink and upright strokes, an 8 much and curved. 6 and 9 it would confuse.", [4, 5]],
    ["Here the patches go row by row. Must they, if each has its position?", "No: with its position each patch can come at any time. The order is a custom, the position is what counts.", [1, 4]]
  ],
  "poster": 3
};

export const scenes = [
  { name: "sixteen words", set: {} },
  { name: "four words", set: { p: 4 } },
  { name: "every pixel a word", set: { p: 1 } },
  { name: "positions lost", set: { order: "shuffled" } },
  { name: "pixels shuffled", set: { p: 1, order: "shuffled" } },
  { name: "one word", set: { p: 8 } },
];

const SIDE = 8;

export const controls = [
  { kind: "choice", name: "digit", label: "digit", options: range(10, (d) => [d, String(d)]), start: 0 },
  { kind: "choice", name: "p", label: "patch", options: [1, 2, 4, 8].map((p) => [p, `${p} × ${p}`]), start: 2 },
  { kind: "choice", name: "order", label: "patches", options: [["kept", "in order"], ["shuffled", "shuffled"]], start: "kept" },
  { kind: "again", name: "seed", label: "shuffle", start: 3, also: { order: "shuffled", swaps: "" } },
  { kind: "picture", name: "swaps", start: "", read: (text) => (/^(\d+-\d+(,|$))*$/.test(text) ? text : null) },
  { kind: "picture", name: "ink", start: "", read: (text) => (/^(\d+:\d+(,|$))*$/.test(text) ? text : null) },
];

/** The image's 64 numbers from 0 to 1: the digit, and what was painted over it. */
export function image({ digit, ink }, data) {
  const pixels = data[digit].flat().map((v) => v / 16);
  for (const stroke of ink ? ink.split(",") : []) { const [at, v] = stroke.split(":").map(Number); if (at < 64) pixels[at] = Math.min(v, 16) / 16; }
  return pixels;
}

/** The patches of p × p, row by row from the top left, each as the places of its pixels. */
export const patches = (p) => range((SIDE / p) ** 2, (n) => range(p * p, (k) => (Math.floor(n / (SIDE / p)) * p + Math.floor(k / p)) * SIDE + (n % (SIDE / p)) * p + (k % p)));

/** In which order the patches are read: shuffled never the true one (unless there is one patch), then swapped by hand. */
export function order({ p, order: how, seed, swaps }) {
  const n = (SIDE / p) ** 2, list = range(n), rng = random(seed);
  while (how === "shuffled" && n > 1 && list.every((v, i) => v === i)) for (let i = n - 1; i > 0; i--) { const j = Math.floor(rng() * (i + 1)); [list[i], list[j]] = [list[j], list[i]]; }
  for (const swap of swaps ? swaps.split(",") : []) { const [a, b] = swap.split("-").map(Number); if (a < n && b < n) [list[a], list[b]] = [list[b], list[a]]; }
  return list;
}

export function say(state, data) {
  const read = order(state), n = read.length, p = state.p, home = read.filter((v, i) => v === i).length;
  const said = `${n} word${n > 1 ? "s" : ""} of ${p * p} number${p > 1 ? "s" : ""}`;
  return {
    title: home < n ? `Shuffled: the same ${said}, ${home} at home` : `Patches of ${p} × ${p}: the digit is ${said}`,
    note: `8 · 8 pixels = ${n} · ${p * p} numbers;  attention compares ${n} · ${n} = ${n * n} pairs`,
    alt: `A handwritten ${state.digit} cut into ${said}, read in the order ${read.join(", ")}. The mean ink of all patches is ${fixed(sum(image(state, data)) / 64, 3)} in any order.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, pixels = image(state, ctx.data), cut = patches(state.p), read = order(state), n = cut.length, p = state.p;
  const side = tall ? Math.min(W * 0.42, H * 0.36) : (H - 110) / 2;
  const [a, b] = tall ? [{ x: 12, y: 34 }, { x: W - side - 12, y: 34 }] : [{ x: 20, y: 38 }, { x: 20, y: 38 + side + 46 }];
  const paint = (at) => ctx.set({ ink: [state.ink, `${at}:${pixels[at] > 0.5 ? 0 : 16}`].filter(Boolean).join(",") }, 0);
  const grid = (name, at, of) => {
    const g = layer(root, name), cell = side / SIDE;
    put(layer(g, "back"), "rect", [{ key: "back", x: at.x, y: at.y, width: side, height: side, fill: colour("faint") }], ctx);
    put(layer(g, "pixels"), "rect", of(cell), ctx);
    put(layer(g, "cuts"), "path", [{ key: "cuts", d: range(SIDE / p + 1, (k) => `M${at.x + k * p * cell},${at.y}v${side}M${at.x},${at.y + k * p * cell}h${side}`).join(""), stroke: colour("orange"), "stroke-width": 2.5, fill: "none", "pointer-events": "none" }], { ...ctx, ms: 0 });
  };
  grid("image", a, (cell) => pixels.map((v, i) => ({
    key: i, x: a.x + (i % SIDE) * cell, y: a.y + Math.floor(i / SIDE) * cell, width: cell, height: cell, fill: v > 0 ? colour("ink") : colour("faint"), "fill-opacity": v || 1,
    cell: [Math.floor(i / SIDE), i % SIDE], press: () => paint(i), pressed: v > 0.5, label: `pixel ${Math.floor(i / SIDE) + 1}, ${(i % SIDE) + 1}`,
    drag: (x, y, node) => {
      const [r, c] = [Math.floor((y - a.y) / cell), Math.floor((x - a.x) / cell)], at = r * SIDE + c;
      node.brush ??= pixels[i] > 0.5 ? 0 : 16;
      if (r >= 0 && r < SIDE && c >= 0 && c < SIDE && Math.round(image(ctx.now(), ctx.data)[at] * 16) !== node.brush) ctx.set({ ink: [ctx.now().ink, `${at}:${node.brush}`].filter(Boolean).join(",") }, 0);
    },
  })));
  const seat = new Map(read.map((patch, place) => [patch, place]));
  grid("laid", b, (cell) => cut.flatMap((places, patch) => places.map((i, k) => {
    const place = seat.get(patch), row = Math.floor(place / (SIDE / p)) * p + Math.floor(k / p), column = (place % (SIDE / p)) * p + (k % p);
    return { key: i, x: b.x + column * cell, y: b.y + row * cell, width: cell, height: cell, fill: colour("ink"), "fill-opacity": pixels[i] };
  })));
  put(layer(root, "names"), "text", [words("a", a.x, a.y - 12, tall ? "paint here" : "the image: paint", { size: 20, bold: true }), words("b", b.x, b.y - 12, tall ? "laid in order" : "laid in this order", { size: 20, bold: true })], ctx);
  drawSentence(layer(root, "sentence"), state, ctx, pixels, cut, read, tall ? { x: 12, y: side + 74, w: W - 24, h: H - side - 84 } : { x: side + 80, y: 38, w: W - side - 90, h: H - 44 });
}

/** The patches as words in a row, each with the number of its true place; one can be dragged onto another. */
function drawSentence(g, state, ctx, pixels, cut, read, box) {
  const n = cut.length, p = state.p, fit = (columns) => Math.min(box.w / columns - 12, (box.h - 92) / Math.ceil(n / columns) - 34, 240);
  const columns = range(n, (i) => i + 1).reduce((best, c) => (fit(c) > fit(best) ? c : best), 1), edge = fit(columns), px = edge / p;
  const spot = (place) => [box.x + (place % columns) * (edge + 12), box.y + 4 + Math.floor(place / columns) * (edge + 34)];
  const label = edge > 19;
  put(layer(g, "pixels"), "rect", read.flatMap((patch, place) => cut[patch].map((i, k) => {
    const [x, y] = spot(place);
    return { key: i, x: x + (k % p) * px, y: y + Math.floor(k / p) * px, width: px + 0.3, height: px + 0.3, fill: colour("ink"), "fill-opacity": pixels[i] };
  })), ctx);
  put(layer(g, "frames"), "rect", read.map((patch, place) => {
    const [x, y] = spot(place), moved = patch !== place;
    return {
      key: patch, x, y, width: edge, height: edge, fill: "transparent", stroke: colour(moved ? "red" : "line"), "stroke-width": moved ? 3 : 2,
      ...(n > 1 ? { class: "grab", cell: [Math.floor(place / columns), place % columns] } : { "pointer-events": "none" }),
      press: n > 1 ? () => swap(place, (place + 1) % n) : undefined, label: `word ${place + 1}: patch ${patch}; swap with the next`,
      drag: n < 2 ? undefined : (mx, my, node) => {
        const to = read.findIndex((_, other) => { const [ox, oy] = spot(other); return mx >= ox && mx <= ox + edge && my >= oy && my <= oy + edge; });
        const from = order(ctx.now()).indexOf(patch);
        if (to >= 0 && to !== from && node.brush !== to) { node.brush = to; swap(from, to); }
      },
    };
  }), ctx);
  const swap = (from, to) => ctx.set({ swaps: [ctx.now().swaps, `${from}-${to}`].filter(Boolean).slice(-40).join(",") });
  put(layer(g, "numbers"), "text", label ? read.map((patch, place) => {
    const [x, y] = spot(place);
    return words(patch, x + edge / 2, y + edge + 22, String(patch), { size: edge < 34 ? 17 : 19, at: "middle", bold: patch !== place });
  }) : [], ctx);
  const [, last] = spot(n - 1), y = Math.min(last + edge + 44, box.y + box.h - 70), mean = range(p * p, (k) => sum(cut.map((places) => pixels[places[k]])) / n), size = 56;
  put(layer(g, "mean"), "rect", [
    ...mean.map((v, k) => ({ key: `m${k}`, x: box.x + ((k % p) * size) / p, y: y + (Math.floor(k / p) * size) / p, width: size / p + 0.3, height: size / p + 0.3, fill: colour("ink"), "fill-opacity": v })),
    { key: "frame", x: box.x, y, width: size, height: size, fill: "none", stroke: colour("purple"), "stroke-width": 3.5 },
  ], ctx);
  put(layer(g, "told"), "text", [
    words("title", box.x, box.y - 12, ctx.tall ? "the sentence, by true place" : "the sentence; each patch with the number of its true place", { size: 20, bold: true }),
    words("mean", box.x + size + 16, y + 24, ctx.tall ? "the mean of all: the same in any order" : "the mean of all patches: the same in any order.", { size: ctx.tall ? 18 : 20 }),
    words("only", box.x + size + 16, y + 50, ctx.tall ? "only positions tell orders apart" : "Only the positions tell one order from another.", { size: ctx.tall ? 18 : 20, ink: "soft" }),
  ], ctx);
}
