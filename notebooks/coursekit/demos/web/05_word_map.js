// Lab 05: a map of words while CBOW reads the speeches. The training was recorded once (data/README.md).

import { commas, fixed } from "./numbers.js";
import { colour, layer, path, put, scale, wide, words } from "./kit.js";

export const meta = {
  "name": "05_word_map",
  "title": "Words find their places by guessing",
  "look": "Press play and look at the marks, not at single words: nobody told the model what a month or a number is.",
  "questions": [
    ["Which group finds itself first, and why that one?", "Play and watch: words that stand in the same few places, like months beside dates, need the fewest examples.", [1, 2, 3]],
    ["“March” and “may” are months and something else. Where do they lie, and why there?", "Between the two: one vector must serve both meanings, and lies where their neighbours pull it on average.", [4]],
    ["Opposites such as “more” and “less” become neighbours. What does “near” mean here, then?", "Can stand in the same places. It does not mean: says the same.", [4, 5]]
  ],
  "poster": 3
};

const LAST = 24;

export const scenes = [
  { name: "before reading", set: { step: 0 } },
  { name: "first examples", set: { step: 10 } },
  { name: "half way", set: { step: 17 } },
  { name: "read five times", set: { step: LAST } },
  { name: "helpers", set: { step: LAST, word: "must" } },
];

const PICKED = ["january", "iraq", "must", "three"];

export const controls = [
  { kind: "steps", name: "step", label: "reading", last: LAST, start: 0, wait: 500 },
  { kind: "choice", name: "word", label: "nearest to", options: PICKED.map((w) => [w, w]), start: "january" },
];

const COLOURS = { months: "blue", countries: "orange", helpers: "green", numbers: "purple" };

export const prepare = (data) => ({ ...data, words: Object.entries(data.groups).flatMap(([group, list]) => list.map((word) => ({ word, group }))) });

export function say({ step, word }, data) {
  const [inside, outside] = data.alike[step], near = data.near[word][step], read = commas(data.read[step]);
  return {
    title: !data.read[step] ? "Before reading: every word lies anywhere" : inside - outside < 0.12 ? `${read} examples: the words have begun to move`
      : `${read} examples: cosine ${fixed(inside)} within a group, ${fixed(outside)} across`,
    note: `loss ${fixed(data.loss[step])} nats an example (knowing nothing: 6 ln 2 = 4.16)`,
    alt: `A map of ${data.words.length} words in four groups. Mean cosine within a group ${fixed(inside)}, between groups ${fixed(outside)}. Nearest to ${word}: ${near.map(([n]) => n).join(", ")}.`,
  };
}

/** A mark's shape: disc, square, diamond or triangle, so that colour is never alone. */
function shape(group, s) {
  return {
    months: `M${s},0A${s},${s} 0 1 1 ${-s},0A${s},${s} 0 1 1 ${s},0Z`, countries: path([[-s, -s], [s, -s], [s, s], [-s, s]].map(([a, b]) => [a * 0.9, b * 0.9]), true),
    helpers: path([[0, -s * 1.2], [s * 1.2, 0], [0, s * 1.2], [-s * 1.2, 0]], true), numbers: path([[0, -s * 1.2], [s * 1.1, s * 0.8], [-s * 1.1, s * 0.8]], true),
  }[group];
}

export function draw(root, state, ctx) {
  const { W, H, tall, data } = ctx;
  const map = tall ? { x: 6, y: 6, w: W - 12, h: H * 0.6 } : { x: 6, y: 6, w: W * 0.68, h: H - 24 };
  const side = tall ? { x: 10, y: map.y + map.h + 26, w: W - 20 } : { x: map.x + map.w + 36, y: 26, w: W - map.w - 60 };
  drawMap(layer(root, "map"), state, ctx, map);
  drawNear(layer(root, "near"), state, ctx, side);
  drawLoss(layer(root, "loss"), state, ctx, tall ? { x: W * 0.56, y: side.y + 50, w: W * 0.4, h: H - side.y - 96 } : { x: side.x + 8, y: H * 0.74, w: side.w - 16, h: H * 0.26 - 66 });
}

function drawMap(g, { step, word }, ctx, box) {
  const { data, tall } = ctx, size = tall ? 17 : 19;
  const x = scale([-1, 1], [box.x + 40, box.x + box.w - (tall ? 60 : 100)]), y = scale([-1, 1], [box.y + box.h - 24, box.y + 24]);
  const spots = data.words.map((one, i) => ({ ...one, x: x(data.places[step][i][0]), y: y(data.places[step][i][1]), picked: one.word === word }));
  put(layer(g, "field"), "rect", [{ key: "field", x: box.x, y: box.y, width: box.w, height: box.h, rx: 10, fill: colour("faint") }], ctx);
  put(layer(g, "marks"), "path", spots.map((s) => ({
    key: s.word, d: shape(s.group, s.picked ? 12 : 8), transform: `translate(${s.x.toFixed(1)},${s.y.toFixed(1)})`, fill: colour(COLOURS[s.group]), stroke: PICKED.includes(s.word) ? colour("ink") : "none", "stroke-width": s.picked ? 4 : 2,
    ...(PICKED.includes(s.word) ? { press: () => ctx.set({ word: s.word }), label: `nearest to ${s.word}`, pressed: s.picked } : {}),
  })), ctx);
  // names that fit without lying on another; the picked one first
  const taken = spots.map((s) => [s.x - 8, s.y - 8, s.x + 8, s.y + 8]), named = [];
  for (const s of [...spots].sort((a, b) => b.picked - a.picked)) {
    const w = wide(s.word, size, s.picked);
    const tries = [[s.x + 13, s.y + 6, "start", 0], [s.x - 13, s.y + 6, "end", -w], [s.x, s.y - 14, "middle", -w / 2], [s.x, s.y + 28, "middle", -w / 2]];
    for (const [tx, ty, at, off] of tries) {
      const b = [tx + off, ty - size * 0.8, tx + off + w, ty + size * 0.25];
      if (b[0] < box.x || b[2] > box.x + box.w || taken.some((t, i) => spots[i] !== s && b[0] < t[2] && b[2] > t[0] && b[1] < t[3] && b[3] > t[1])) continue;
      taken.push(b);
      named.push(words(s.word, tx, ty, s.word, { size, at, bold: s.picked }));
      break;
    }
  }
  put(layer(g, "names"), "text", named, ctx);
}

function drawNear(g, { step, word }, ctx, { x, y, w }) {
  const { data, tall } = ctx, near = data.near[word][step], row = tall ? 30 : 36, kin = data.words.find((s) => s.word === word).group, column = tall ? w * 0.5 : w, top = tall ? y + 30 : y + 92;
  const groups = Object.keys(COLOURS), cell = tall ? w / 4 : w / 2;
  const seat = (i) => [x + (i % (tall ? 4 : 2)) * cell + 9, y + (tall ? -6 : Math.floor(i / 2) * 30)];
  put(layer(g, "keys"), "path", groups.map((group, i) => ({ key: group, d: shape(group, 8), transform: `translate(${seat(i)[0]},${seat(i)[1]})`, fill: colour(COLOURS[group]) })), ctx);
  put(layer(g, "groups"), "text", groups.map((group, i) => words(group, seat(i)[0] + 17, seat(i)[1] + 6, group, { size: tall ? 17 : 19 })), ctx);
  put(layer(g, "bars"), "rect", near.map(([name, cosine], i) => ({ key: i, x, y: top + 14 + i * row, width: Math.max(cosine, 0.01) * column, height: row - 6, rx: 4, fill: colour("blue"), "fill-opacity": 0.25 })), ctx);
  put(layer(g, "names"), "text", [
    words("title", x, top, `nearest to “${word}”`, { size: tall ? 18 : 21, bold: true }),
    ...near.map(([name, cosine], i) => words(`n${i}`, x + 8, top + 14 + i * row + row * 0.58, name + (data.groups[kin].includes(name) ? " ✓" : ""), { size: tall ? 17 : 20, bold: data.groups[kin].includes(name) })),
    ...near.map(([, cosine], i) => words(`c${i}`, x + column - 6, top + 14 + i * row + row * 0.58, fixed(cosine), { size: tall ? 17 : 19, at: "end" })),
  ], ctx);
}

function drawLoss(g, { step }, ctx, box) {
  const { loss } = ctx.data, x = scale([0, LAST], [box.x, box.x + box.w]), y = scale([1.2, 4.3], [box.y + box.h, box.y]);
  const pick = (px) => ctx.set({ step: Math.max(0, Math.min(LAST, Math.round(x.back(px)))) }, 0);
  put(layer(g, "base"), "line", [{ key: "base", x1: box.x, x2: box.x + box.w, y1: box.y + box.h, y2: box.y + box.h, stroke: colour("soft"), "stroke-width": 2 }], ctx);
  put(layer(g, "line"), "path", [{ key: "line", d: path(loss.map((v, i) => [x(i), y(v)])), fill: "none", stroke: colour("red"), "stroke-width": 4, "stroke-linejoin": "round" }], ctx);
  put(layer(g, "dot"), "circle", [{
    key: "dot", cx: x(step), cy: y(loss[step]), r: 12, fill: colour("red"), stroke: colour("paper"), "stroke-width": 3, class: "grab", drag: pick,
    slide: { label: "reading", value: step, min: 0, max: LAST, step: 1, text: `${commas(ctx.data.read[step])} examples`, set: (s) => ctx.set({ step: s }, 300) },
  }], ctx);
  put(layer(g, "words"), "text", [words("loss", box.x + box.w, box.y + 10, "loss", { size: 19, at: "end", bold: true }), words("x", box.x + box.w / 2, box.y + box.h + 24, ctx.tall ? "examples: drag the dot" : "examples read: drag the dot", { size: ctx.tall ? 17 : 18, at: "middle", ink: "soft" })], ctx);
}
