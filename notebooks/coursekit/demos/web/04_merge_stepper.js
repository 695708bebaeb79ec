// Lab 04: byte-pair encoding merges the most frequent pair, again and again, and the text is cut anew each time.

import { colour, layer, path, put, scale, words } from "./kit.js";

export const meta = {
  "name": "04_merge_stepper",
  "title": "Byte-pair encoding, one merge at a time",
  "look": "Watch the frequent words melt into one token each while the rare ones stay in pieces. Click the leading pair to merge it.",
  "questions": [
    ["Which pair comes next? Count before you step.", "The longest bar: the pair that stands together most often now. Of equals, the one that was met first.", [1, 2, 3, 6]],
    ["The number of types in use first rises and then falls. Why can it fall?", "A merge adds one type, but letters that then stand nowhere by themselves are no longer in use.", [4, 5]],
    ["What would the tokenizer do with “seashore”, after this rhyme?", "Type it below: it keeps the pieces that the rhyme taught, like “sea”, and spells the rest in letters.", [4, 5]]
  ],
  "poster": 3
};

const LAST = 50;

export const scenes = [
  { name: "letters", set: { step: 0 } },
  { name: "the first merge", set: { step: 1 } },
  { name: "two merges", set: { step: 2 } },
  { name: "ten merges", set: { step: 10 } },
  { name: "fifty merges", set: { step: 50 } },
  { name: "aaabdaaabac", set: { text: "letters", step: 3, word: "abdaab" } },
];

const TEXTS = {
  rhyme: ["a sailor went to sea sea sea", "to see what he could see see see", "but all that he could see see see", "was the bottom of the deep blue sea sea sea"],
  letters: ["aaabdaaabac"],
  motto: ["low low low low low", "lower lower", "newest newest newest", "widest widest widest"],
};

export const controls = [
  { kind: "choice", name: "text", label: "text", options: [["rhyme", "a rhyme"], ["letters", "aaabdaaabac"], ["motto", "low, lower"]], start: "rhyme" },
  { kind: "steps", name: "step", label: "merges", last: (state) => history(state.text).length - 1, start: 0, wait: 1000 },
  { kind: "words", name: "word", label: "cut a word", start: "seashore", longest: 16, patience: 100 },
];

/** The words of each line; each ends with _ as on the slides (not the single word of letters). */
export const chunks = (text) => TEXTS[text].map((line) => line.split(" ").map((word) => (text === "letters" ? word : `${word}_`)));

/** How often each pair of neighbours stands in the spelled words: Map "a\0b" → count, in the order in which they were met. */
export function countPairs(spelled, counts) {
  const pairs = new Map();
  for (const [word, tokens] of spelled)
    for (let i = 0; i + 1 < tokens.length; i++) {
      const pair = `${tokens[i]}\0${tokens[i + 1]}`;
      pairs.set(pair, (pairs.get(pair) ?? 0) + counts.get(word));
    }
  return pairs;
}

/** Tokens with the pair joined from the left, without overlap. */
export function merged(tokens, [a, b]) {
  const out = [];
  for (let i = 0; i < tokens.length; i++) {
    const here = tokens[i] === a && tokens[i + 1] === b;
    out.push(here ? a + b : tokens[i]);
    if (here) i++;
  }
  return out;
}

// of pairs that stand equally often the one that was met first leads: sort keeps their order
const leading = (pairs) => [...pairs].sort(([, m], [, n]) => n - m);

const known = new Map();

/** For each step: the pair that was merged, how often it stood there, every word's spelling after it, the pairs that lead then. */
export function history(text) {
  if (known.has(text)) return known.get(text);
  const all = chunks(text).flat(), counts = new Map();
  for (const word of all) counts.set(word, (counts.get(word) ?? 0) + 1);
  let spelled = new Map([...counts.keys()].map((word) => [word, [...word]]));
  const steps = [];
  let pair = null, often = 0;
  for (let step = 0; step <= LAST; step++) {
    const pairs = leading(countPairs(spelled, counts));
    const tokens = all.reduce((n, word) => n + spelled.get(word).length, 0);
    steps.push({ pair, often, spelled, pairs: pairs.slice(0, 6).map(([p, n]) => [p.split("\0"), n]), tokens, types: new Set([...spelled.values()].flat()).size });
    if (!pairs.length || step === LAST) break;
    [pair, often] = [pairs[0][0].split("\0"), pairs[0][1]];
    spelled = new Map([...spelled].map(([word, tokens]) => [word, merged(tokens, pair)]));
  }
  known.set(text, steps);
  return steps;
}

/** A word, cut by the first merges that the text taught. */
export const cut = (text, step, word) => history(text).slice(1, step + 1).reduce((tokens, { pair }) => merged(tokens, pair), [...(text === "letters" ? word : `${word}_`)]);

const at = ({ text, step }) => Math.min(step, history(text).length - 1);

export function say(state) {
  const steps = history(state.text), step = at(state), { pair, often, tokens, types, pairs } = steps[step];
  const title = !step ? `Before any merge the text is ${tokens} letters`
    : step === steps.length - 1 ? `After ${step} merges: ${tokens} tokens of ${types} types${pairs.length ? "" : "; no pair is left"}`
      : `Merge ${step}: ${pair[0]} + ${pair[1]} stood together ${often} time${often === 1 ? "" : "s"}`;
  return { title, note: `${tokens} tokens, ${types} types in use, ${step} merge${step === 1 ? "" : "s"} learned`, alt: `Byte-pair encoding after ${step} merges: ${tokens} tokens of ${types} different types.` };
}

const COLOURS = ["sky", "orange", "green", "purple", "yellow", "blue", "red"];
const tint = (token) => COLOURS[[...token].reduce((n, c) => (n * 31 + c.charCodeAt(0)) % 9973, 7) % COLOURS.length];

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, steps = history(state.text), step = at(state), now = steps[step];
  const box = tall ? { x: 8, y: 10, w: W - 16, h: H * 0.6 } : { x: 10, y: 16, w: W * 0.6, h: H - 100 };
  drawText(layer(root, "text"), state, ctx, now, box);
  drawCut(layer(root, "cut"), state, ctx, step, tall ? { x: 8, y: H - 44, w: W } : { x: 10, y: H - 54, w: W * 0.6 });
  drawPairs(layer(root, "pairs"), state, ctx, now, step, tall ? { x: 8, y: box.y + box.h + 14, w: W * 0.5, rows: 4, row: 36 } : { x: W * 0.68, y: 20, w: W * 0.3, rows: 6, row: 40 });
  drawCurve(layer(root, "curve"), ctx, steps, step, tall ? { x: W * 0.62, y: box.y + box.h + 20, w: W * 0.34, h: H * 0.4 - 130 } : { x: W * 0.7, y: H * 0.62, w: W * 0.27, h: H * 0.27 });
}

/** A letter's tile: its place in the text, so that a tile glides when its neighbours melt together. */
function drawText(g, state, ctx, now, box) {
  let size = state.text === "letters" && !ctx.tall ? 60 : ctx.tall ? 25 : 30, laid;
  do laid = lay(state, now, box, size); while (laid.bottom > box.y + box.h && size-- > 17);
  tiles(g, ctx, laid.tokens, laid.letters, size, now.pair?.join(""));
}

function tiles(g, ctx, tokens, letters, size, fresh) {
  put(layer(g, "tiles"), "rect", tokens.map(({ key, x, y, w, token }) => ({
    key, x, y, width: w, height: size * 1.5, rx: 6, fill: colour(token.length > 1 ? tint(token) : "faint"), "fill-opacity": token.length > 1 ? 0.36 : 1,
    stroke: colour(token === fresh ? "ink" : "line"), "stroke-width": token === fresh ? 3 : 1.5,
  })), ctx);
  put(layer(g, "letters"), "text", letters.map(({ key, x, y, letter }) => words(key, x, y, letter, { size, at: "middle", mono: true})), ctx);
}

function lay({ text }, now, box, size) {
  const step = size * 0.62, gap = size * 0.1, tokens = [], letters = [];
  let x = box.x, y = box.y, place = 0;
  for (const line of chunks(text)) {
    for (const word of line) {
      const spelled = now.spelled.get(word), w = spelled.reduce((n, t) => n + t.length * step + 2 * gap + 4, 0);
      if (x + w > box.x + box.w && x > box.x) { x = box.x; y += size * 1.78; }
      for (const token of spelled) {
        tokens.push({ key: place, x, y, w: token.length * step + 2 * gap, token });
        [...token].forEach((letter, i) => letters.push({ key: place++, x: x + gap + step * (i + 0.5), y: y + size * 1.06, letter }));
        x += token.length * step + 2 * gap + 4;
      }
      x += size * 0.42;
    }
    x = box.x;
    y += size * 1.78 + size * 0.3;
  }
  return { tokens, letters, bottom: y - size * 0.5 };
}

function drawCut(g, state, ctx, step, { x, y, w }) {
  const size = ctx.tall ? 21 : 26, word = state.word.trim().replaceAll(/\s+/g, "");
  const spelled = word ? cut(state.text, step, word) : [], label = ctx.tall ? "" : `“${word}” becomes`;
  let left = x + (ctx.tall ? 0 : label.length * 11 + 26), place = 0;
  const tokens = [], letters = [];
  for (const token of spelled) {
    const wide = token.length * size * 0.62 + size * 0.2;
    tokens.push({ key: place, x: left, y, w: wide, token });
    [...token].forEach((letter, i) => letters.push({ key: place++, x: left + size * 0.1 + size * 0.62 * (i + 0.5), y: y + size * 1.06, letter }));
    left += wide + 4;
  }
  tiles(g, ctx, tokens, letters, size, null);
  const count = `${spelled.length} token${spelled.length === 1 ? "" : "s"}`;
  put(layer(g, "label"), "text", word ? [...(label ? [words("label", x, y + 27, label, { size: 20, ink: "soft" })] : []), words("count", left + 14, y + 27, count, { size: ctx.tall ? 18 : 20, bold: true })] : [words("label", x, y + 27, "type a word to cut it", { size: 20, ink: "soft" })], ctx);
}

function drawPairs(g, state, ctx, now, step, { x, y, w, rows, row }) {
  const best = now.pairs.slice(0, rows), most = Math.max(best[0]?.[1] ?? 0, 4), mid = x + w * 0.42, reach = w * 0.34;
  const size = ctx.tall ? 18 : 23, fit = (name) => Math.max(17, Math.min(size, (w * 0.42 - 14) / (name.length * 0.62)));
  put(layer(g, "bars"), "rect", best.map(([pair, n], i) => ({
    key: pair.join(" "), x: mid, y: y + 20 + i * row, width: Math.max((reach * n) / most, 4), height: row - 8, rx: 5, fill: colour(i ? "blue" : "orange"), stroke: i ? "none" : colour("ink"), "stroke-width": 2,
    ...(i ? {} : { press: () => ctx.set({ step: step + 1 }, 700), label: `merge ${pair[0]} and ${pair[1]}` }),
  })), ctx);
  put(layer(g, "names"), "text", [
    words("title", x, y + 4, best.length ? "pairs that lead now" : "no pair is left:", { size: ctx.tall ? 18 : 21, bold: true }),
    ...(best.length ? [] : [words("none", x, y + 44, "all words are whole", { size })]),
    ...best.map(([pair, n], i) => words(pair.join(" "), mid - 12, y + 20 + i * row + row * 0.6, pair.join(" "), { size: fit(pair.join(" ")), at: "end", mono: true })),
    ...best.map(([pair, n], i) => words(`n${pair.join(" ")}`, mid + Math.max((reach * n) / most, 4) + 10, y + 20 + i * row + row * 0.6, i ? String(n) : ctx.W < 1150 ? `${n}` : `${n}  ← merge`, { size: size - 2, bold: !i })),
  ], ctx);
}

function drawCurve(g, ctx, steps, step, { x, y, w, h }) {
  const across = scale([0, Math.max(steps.length - 1, 1)], [x, x + w]), up = scale([0, steps[0].tokens * 1.05], [y + h, y]);
  const line = (name) => path(steps.map((s, i) => [across(i), up(s[name])]));
  const pick = (px) => ctx.set({ step: Math.max(0, Math.min(steps.length - 1, Math.round(across.back(px)))) }, 0);
  put(layer(g, "lines"), "path", [
    { key: "tokens", d: line("tokens"), fill: "none", stroke: colour("blue"), "stroke-width": 4 },
    { key: "types", d: line("types"), fill: "none", stroke: colour("red"), "stroke-width": 4, "stroke-dasharray": "9 6" },
  ], { ...ctx, ms: 0 });
  put(layer(g, "base"), "line", [{ key: "base", x1: x, x2: x + w, y1: y + h, y2: y + h, stroke: colour("soft"), "stroke-width": 2 }, { key: "now", x1: across(step), x2: across(step), y1: y, y2: y + h, stroke: colour("line"), "stroke-width": 2 }], ctx);
  put(layer(g, "dots"), "circle", ["types", "tokens"].map((name) => ({
    key: name, cx: across(step), cy: up(steps[step][name]), r: 10, fill: colour(name === "tokens" ? "blue" : "red"), stroke: colour("paper"), "stroke-width": 3, class: "grab", drag: pick,
    ...(name === "tokens" ? { slide: { label: "merges", value: step, min: 0, max: steps.length - 1, step: 1, text: String(step), set: (s) => ctx.set({ step: s }) } } : {}),
  })), ctx);
  const small = ctx.tall ? 17 : 19;
  put(layer(g, "words"), "text", [
    words("tokens", x + w, up(steps.at(-1).tokens * 0.5 + steps[0].tokens * 0.5), "tokens", { size: small, at: "end", bold: true }),
    words("types", x + w, up(Math.max(steps.at(-1).tokens, steps.at(-1).types)) - 14, "types", { size: small, at: "end", bold: true }),
    words("merges", x + w / 2, y + h + 24, "merges", { size: small, at: "middle", ink: "soft" }),
  ], ctx);
}
