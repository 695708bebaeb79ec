// Lab 01: a walk through a Markov chain, over words and over the letters of names, with one or two steps of memory.

import { argmax, commas, draw as drawn, fixed, percent, random, range, sum } from "./numbers.js";
import { arrow, colour, layer, put, wide, words } from "./kit.js";

export const meta = {
  "name": "01_markov_graph",
  "title": "Markov chains: what comes next?",
  "look": "Look at what leaves the orange place: these are one row of the table, and their shares add up to 1. Click on one to go there.",
  "questions": [
    ["“The battery ran …” You know what comes next. Why doesn't the chain?", "It sees only “ran”, and after “ran” both words stood. Who ran lies two words back, beyond its memory.", [1, 2, 3]],
    ["Which letter is the surest of what follows it? Guess, then walk there.", "q: after it comes u or the end, hardly anything else. The surest rows are the easiest to predict.", [4, 5]],
    ["Two letters of memory make better names. What would ten letters of memory do?", "Repeat the names it read: of nearly every ten letters there is one example only, and so one way to go on.", [6]]
  ],
  "poster": 4
};

export const scenes = [
  { name: "at “ran”", set: { step: 4 } },
  { name: "two words of memory", set: { step: 4, memory: 2 } },
  { name: "a sure step", set: { step: 1 } },
  { name: "a name begins", set: { chain: "names" } },
  { name: "… letter by letter", set: { chain: "names", step: 3, said: "adam" } },
  { name: "two letters of memory", set: { chain: "names", step: 3, said: "adam", memory: 2 } },
];

export const controls = [
  { kind: "choice", name: "chain", label: "chain", options: [["words", "two sentences"], ["names", "names"]], start: "words" },
  { kind: "choice", name: "memory", label: "memory", options: [[1, "one back"], [2, "two back"]], start: 1 },
  { kind: "steps", name: "step", label: "step", last: (state, data) => walk(state, data).length - 1, start: 0, wait: 1000 },
  { kind: "again", name: "seed", label: "another walk", start: 1, also: { said: "" } },
  { kind: "picture", name: "said", start: "the battery", read: (text) => (/^[a-z ]{0,60}$/.test(text) ? text : null) },
];

// --- the mathematics ----------------------------------------------------------------------------------------------

const REPORTS = [
  ["check whether the battery ran down please".split(" "), 0.4],
  ["check whether the program ran please".split(" "), 0.6],
];
const END = 27;

/** The chance of each word after the last one or two words, counted in the two sentences: [[word, chance], …]. */
export function nextWords(context) {
  const counts = new Map();
  for (const [sentence, weight] of REPORTS)
    for (let i = context.length - 1; i < sentence.length - 1; i++)
      if (context.every((word, k) => sentence[i - context.length + 1 + k] === word))
        counts.set(sentence[i + 1], (counts.get(sentence[i + 1]) ?? 0) + weight);
  const total = sum([...counts.values()]);
  return [...counts].map(([word, count]) => [word, count / total]);
}

/** The exported counts as tables: one[b][c], two[a][b][c], and the mean surprise of a step in nats. */
export function prepare({ alphabet, names, trigrams }) {
  const two = range(28, () => range(28, () => new Array(28).fill(0)));
  const one = range(28, () => new Array(28).fill(0));
  for (let i = 0; i < trigrams.length; i += 2) {
    const at = trigrams[i], a = Math.floor(at / 784), b = Math.floor(at / 28) % 28, c = at % 28;
    two[a][b][c] += trigrams[i + 1];
    one[b][c] += trigrams[i + 1];
  }
  return { alphabet, names, one, two, surprise: { 1: surprise(one, two, 1), 2: surprise(one, two, 2) } };
}

const shares = (row) => { const total = sum(row); return row.map((n) => n / total); };

function surprise(one, two, memory) {
  let cost = 0, steps = 0;
  two.forEach((rows) => rows.forEach((row, b) => {
    const p = sum(row) ? shares(memory === 2 ? row : one[b]) : [];
    row.forEach((n, c) => { if (n) { cost -= n * Math.log(p[c]); steps += n; } });
  }));
  return cost / steps;
}

/** The chances of the next token after a context of two. */
export const nextLetters = (data, memory, a, b) =>
  shares(memory === 2 && sum(data.two[a][b]) ? data.two[a][b] : data.one[b]);

/** The walk of a state: its first tokens as they were chosen by hand, the others by a die. */
export function walk({ chain, memory, seed, said }, data) {
  const rng = random(seed);
  if (chain === "words") {
    const path = ["check", "whether"];
    for (const word of said.split(" ")) if (nextWords(path.slice(-1)).some(([w]) => w === word)) path.push(word);
    for (let next; (next = nextWords(path.slice(-memory))).length; ) path.push(next[drawn(rng, next.map(([, p]) => p))][0]);
    return path;
  }
  const path = [0];
  for (const letter of said.replaceAll(" ", "")) path.push(letter.charCodeAt(0) - 96);
  if (!scenesLetters(said)) path.length = 1;
  while (path.at(-1) !== END && path.length < 24) path.push(roll(rng, data, memory, path));
  return path.slice(0, -1);
}

// the words chosen by hand say nothing about names
const scenesLetters = (said) => !said.includes(" ");

function roll(rng, data, memory, path) {
  return drawn(rng, nextLetters(data, memory, path.at(-2) ?? 0, path.at(-1)));
}

/** Names that the chain makes, one from each seed on. */
export function madeNames(data, memory, seed, count) {
  const rng = random(seed + 99);
  return range(count, () => {
    const path = [0];
    while (path.at(-1) !== END && path.length < 15) path.push(roll(rng, data, memory, path));
    return path.slice(1).filter((t) => t !== END).map((t) => data.alphabet[t]).join("");
  });
}

/** Where the walk stands: the tokens so far, what is seen, and the chances of what follows. */
export function place(state, data) {
  const path = walk(state, data), step = Math.min(state.step, path.length - 1), so = path.slice(0, step + 1);
  if (state.chain === "words") return { path, step, so, seen: so.slice(-state.memory), next: nextWords(so.slice(-state.memory)) };
  const seen = so.slice(-state.memory);
  return { path, step, so, seen, next: nextLetters(data, state.memory, so.at(-2) ?? 0, so.at(-1)) };
}

const spelled = (token, data) => ({ 0: "start", [END]: "end" })[token] ?? data.alphabet[token];
const seenLetters = (seen, data) => (seen.length > 1 ? seen.map((t) => (t ? data.alphabet[t] : "·")).join("") : spelled(seen[0], data));

export function say(state, data) {
  const { seen, next, so } = place(state, data);
  if (state.chain === "words") {
    const shown = seen.join(" "), chances = next.map(([word, p]) => `“${word}” ${percent(p)}`).join(" or ");
    const title = !next.length ? `Nothing ever follows “${shown}”: the walk ends`
      : next.length === 1 ? `After “${shown}” only “${next[0][0]}” can come`
        : seen.length === 1 && seen[0] === "ran" ? "At “ran” the chain has forgotten who ran: it must toss a coin" : `After “${shown}”: ${chances}`;
    return {
      title,
      note: next.map(([word, p]) => `P(${word} | ${shown}) = ${fixed(p)}`).join("     ") || "the row of the table is empty",
      alt: `A Markov chain of eight words. Said so far: ${so.join(" ")}. What follows: ${chances || "nothing"}.`,
    };
  }
  const best = argmax(next), top = range(28).sort((a, b) => next[b] - next[a]).slice(0, 4);
  return {
    title: `After “${seenLetters(seen, data)}” comes “${spelled(best, data)}” in ${percent(next[best])} of all cases`,
    note: `counted in ${commas(data.names)} names; a step costs ${fixed(data.surprise[state.memory])} nats on average`,
    alt: `The chain of names has seen “${seenLetters(seen, data)}”. Most probable next: ${top.map((t) => `${spelled(t, data)} ${percent(next[t])}`).join(", ")}.`,
  };
}

// --- the picture --------------------------------------------------------------------------------------------------

export function draw(root, state, ctx) {
  const inWords = state.chain === "words";
  const [a, b] = [layer(root, "words"), layer(root, "names")];
  a.attr("display", inWords ? null : "none");
  b.attr("display", inWords ? "none" : null);
  (inWords ? drawWords : drawNames)(inWords ? a : b, state, ctx);
}

const PLACES = {
  check: [0, 0], whether: [0.155, 0], the: [0.305, 0], battery: [0.48, -0.3], program: [0.48, 0.3], ran: [0.66, 0], down: [0.82, -0.3], please: [1, 0],
};

function drawWords(g, state, ctx) {
  const { W, H, tall } = ctx, { so, seen, next, path, step } = place(state, ctx.data);
  const size = tall ? 21 : 26, high = tall ? 44 : 58, half = (word) => wide(word, size) / 2 + 16;
  const spot = (word) => {
    const [along, across] = PLACES[word];
    return tall ? [W / 2 + across * W * 0.95, 34 + along * (H - 216)] : [half("check") + 6 + along * (W - half("check") - half("please") - 12), H * 0.39 + across * H * 0.92];
  };
  const now = so.at(-1), chances = new Map(next);
  const go = (word) => ctx.set({ said: [...so, word].slice(2).join(" "), step: step + 1 }, 700);
  const edges = Object.keys(PLACES).flatMap((word) => nextWords([word]).map(([target, p]) => {
    const [x1, y1] = spot(word), [x2, y2] = spot(target), angle = Math.atan2(y2 - y1, x2 - x1);
    const reach = (w) => Math.min(half(w) / Math.max(Math.abs(Math.cos(angle)), 1e-9), high / 2 / Math.max(Math.abs(Math.sin(angle)), 1e-9)) + 7;
    const live = word === now && chances.has(target);
    const q = word === now ? chances.get(target) ?? 0 : p;
    const ends = [x1 + reach(word) * Math.cos(angle), y1 + reach(word) * Math.sin(angle), x2 - (reach(target) + 6) * Math.cos(angle), y2 - (reach(target) + 6) * Math.sin(angle)];
    return { word, target, live, q, ends, angle, forgotten: word === now && !live };
  }));
  const ink = (e) => colour(e.live ? "orange" : e.forgotten ? "line" : "soft");
  put(layer(g, "edges"), "path", edges.map((e) => ({
    key: e.word + e.target, d: arrow(...e.ends), fill: "none", stroke: ink(e), "stroke-width": e.live ? 4 + 9 * e.q : 2.5, "stroke-linecap": "round",
    "stroke-opacity": e.forgotten ? 0.7 : 1,
  })), ctx);
  put(layer(g, "tips"), "path", edges.map((e) => {
    const s = e.live ? 9 + 7 * e.q : 8, [x, y, a] = [e.ends[2], e.ends[3], (e.angle * 180) / Math.PI];
    return { key: e.word + e.target, d: `M${s},0L${-s},${s * 0.8}L${-s},${-s * 0.8}Z`, transform: `translate(${x},${y}) rotate(${a})`, fill: ink(e) };
  }), ctx);
  put(layer(g, "pills"), "rect", Object.keys(PLACES).map((word) => {
    const [x, y] = spot(word), can = chances.has(word);
    return {
      key: word, x: x - half(word), y: y - high / 2, width: 2 * half(word), height: high, rx: high / 2, fill: colour(seen.includes(word) && word !== now ? "faint" : "paper"),
      stroke: colour(word === now || can ? "orange" : seen.includes(word) ? "ink" : "blue"), "stroke-width": can ? 5 : seen.includes(word) ? 4 : 2.5,
      "stroke-dasharray": seen.includes(word) && word !== now ? "8 6" : null,
      ...(can ? { press: () => go(word), label: `go on to ${word}, ${percent(chances.get(word))}` } : {}),
    };
  }), ctx);
  const [tx, ty] = spot(now);
  put(layer(g, "walker"), "rect", [
    { key: "walker", x: tx - half(now), y: ty - high / 2, width: 2 * half(now), height: high, rx: high / 2, fill: colour("orange"), "pointer-events": "none" },
  ], ctx);
  put(layer(g, "labels"), "text", Object.keys(PLACES).map((word) => {
    const [x, y] = spot(word);
    return words(word, x, y + size * 0.35, word, { size, at: "middle", bold: word === now, fill: word === now ? "var(--on-orange)" : colour("ink") });
  }), ctx);
  put(layer(g, "chances"), "text", edges.filter((e) => e.q < 0.999 && e.q > 0).map((e) => words(
    e.word + e.target, (e.ends[0] + e.ends[2]) / 2, (e.ends[1] + e.ends[3]) / 2 + (tall ? 7 : e.angle > 0.05 ? 34 : e.angle < -0.05 ? -16 : -14), percent(e.q),
    { size: e.live ? 24 : 19, bold: e.live, at: "middle", class: "halo", ink: e.live ? "ink" : "soft" })), ctx);
  drawRow(layer(g, "row"), next, go, ctx, tall ? { x: 10, y: H - 116, w: W - 20 } : { x: 20, y: H - 124, w: W - 40 }, seen);
  const past = so.join(" ");
  put(layer(g, "so"), "text", [
    words("so", tall ? 10 : 20, H - 14, tall ? past : `said so far:  ${past}`, { size: tall ? Math.min(21, (W - 20) / wide(past, 1, true)) : 22, bold: tall }),
  ], ctx);
}

/** The row of the table: one bar, cut into the shares of what may follow. */
function drawRow(g, next, go, ctx, { x, y, w }, seen) {
  let left = x;
  const parts = next.map(([word, p]) => { const part = { word, p, left }; left += p * w; return part; });
  put(layer(g, "parts"), "rect", parts.map(({ word, p, left }) => ({
    key: word, x: left + 2, y, width: p * w - 4, height: 44, rx: 6, fill: colour("orange"), "fill-opacity": 1, from: { width: 0 },
    press: () => go(word), label: `${word}: ${percent(p)}, go there`,
  })), ctx);
  put(layer(g, "names"), "text", parts.map(({ word, p, left }) => words(word, left + (p * w) / 2, y + 29, `${word} ${percent(p)}`, { size: 21, at: "middle", bold: true, fill: "var(--on-orange)" })), ctx);
  put(layer(g, "title"), "text", [words("title", x, y - 12, next.length ? `the row of “${seen.join(" ")}”: its shares add up to 1` : "the end: nothing follows", { size: 19, ink: "soft" })], ctx);
}

function drawNames(g, state, ctx) {
  const { W, H, tall, data } = ctx, { so, seen, next, path, step } = place(state, data);
  const R = tall ? Math.min(W / 2 - 40, (H - 165) / 2 - 20) : Math.min(H / 2 - 52, W * 0.24);
  const cx = tall ? W / 2 : R + 64, cy = tall ? R + 30 : H / 2 - 22;
  const rolled = path[step + 1] ?? END, tokens = range(27, (i) => i + 1), best = range(28).sort((a, b) => next[b] - next[a]).slice(0, 4);
  const at = (token, by = 1) => { const a = (2 * Math.PI * (token - 1)) / 27 - Math.PI / 2; return [cx + R * by * Math.cos(a), cy + R * by * Math.sin(a)]; };
  const go = (token) => ctx.set(token === END ? { step: path.length - 1 } : { said: [...so.slice(1), token].map((t) => data.alphabet[t]).join(""), step: step + 1 }, 700);
  const big = tall ? 0.74 : 1;
  put(layer(g, "rays"), "line", tokens.filter((t) => next[t] > 0).map((t) => {
    const [x2, y2] = at(t, 0.93);
    return { key: t, x1: cx, y1: cy, x2, y2, stroke: colour(t === rolled ? "orange" : "blue"), "stroke-width": 1 + 26 * next[t] * big, "stroke-opacity": t === rolled ? 1 : 0.3 + 0.4 * next[t], "stroke-linecap": "round" };
  }), ctx);
  const radius = (t) => (12 + 42 * Math.sqrt(next[t])) * big;
  put(layer(g, "letters"), "circle", tokens.map((t) => {
    const [x, y] = at(t);
    return {
      key: t, cx: x, cy: y, r: radius(t), fill: colour(t === rolled ? "orange" : next[t] > 0 ? "blue" : "faint"), stroke: colour("paper"), "stroke-width": 2,
      ...(next[t] > 0 ? { press: () => go(t), label: `${spelled(t, data)}: ${percent(next[t])}${t === rolled ? ", the die shows it" : ""}` } : {}),
    };
  }), ctx);
  put(layer(g, "spelled"), "text", tokens.map((t) => {
    const [x, y] = at(t), size = t === END ? (tall ? 17 : 17) : tall ? 18 : 20;
    return words(t, x, y + size * 0.34, spelled(t, data), { size, at: "middle", bold: next[t] > 0.05, fill: t === rolled ? "var(--on-orange)" : next[t] > 0 ? "var(--on-blue)" : colour("soft") });
  }), ctx);
  put(layer(g, "percents"), "text", best.filter((t) => next[t] > 0.04).map((t) => {
    const [x, y] = at(t, 0.66);
    return words(t, x, y + 7, percent(next[t]), { size: tall ? 18 : 21, at: "middle", bold: true, class: "halo" });
  }), ctx);
  put(layer(g, "walker"), "circle", [{ key: "walker", cx, cy, r: 52 * big, fill: colour("orange"), stroke: colour("paper"), "stroke-width": 4 }], ctx);
  put(layer(g, "now"), "text", [words("now", cx, cy + 12 * big, seenLetters(seen, data), { size: seen[0] === 0 && seen.length < 2 ? 26 * big : 36 * big, at: "middle", bold: true, fill: "var(--on-orange)" })], ctx);
  put(layer(g, "flying"), "circle", so.slice(1).map((t, i) => ({ key: i, cx, cy, r: 0, fill: colour("orange"), "fill-opacity": 0, from: { cx: at(t)[0], cy: at(t)[1], r: radius(t), "fill-opacity": 0.9 } })), ctx);
  drawSpelling(layer(g, "so"), state, ctx, { so, rolled }, tall ? { x: 12, y: 2 * R + 72 } : { x: cx + R + 90, y: 40 });
}

function drawSpelling(g, state, ctx, { so, rolled }, { x, y }) {
  const { tall, data, W } = ctx, side = tall ? 30 : 46;
  put(layer(g, "title"), "text", [
    words("so", x, y, "the name so far", { size: tall ? 18 : 22, ink: "soft" }),
    words("made", x, y + (tall ? 66 : 128), "names that this chain makes", { size: tall ? 18 : 22, ink: "soft" }),
  ], ctx);
  const tiles = so.slice(1).map((t, i) => ({ t, i, sure: true }));
  tiles.push({ t: rolled, i: so.length - 1, sure: false });
  const width = (t) => (t === END ? side * 1.5 : side);
  put(layer(g, "tiles"), "rect", tiles.map(({ t, i, sure }) => ({
    key: i, x: x + i * (side + 5), y: y + 12, width: width(t), height: side, rx: 6, fill: colour(sure ? "blue" : "paper"), stroke: colour(sure ? "blue" : "orange"), "stroke-width": 3, "stroke-dasharray": sure ? null : "6 5",
  })), ctx);
  put(layer(g, "spelled"), "text", tiles.map(({ t, i, sure }) => words(i, x + i * (side + 5) + width(t) / 2, y + 12 + side * 0.68, spelled(t, data), { size: t === END ? side * 0.5 : side * 0.62, at: "middle", bold: true, fill: sure ? "var(--on-blue)" : colour("ink") })), ctx);
  const rows = tall ? 2 : Math.max(3, Math.floor((ctx.H - y - 150) / 42)), columns = tall ? 3 : W - x > 430 ? 2 : 1;
  const made = madeNames(data, state.memory, state.seed, rows * columns);
  const across = (W - x) / columns;
  put(layer(g, "made"), "text", made.map((name, i) => words(i, x + Math.floor(i / rows) * across, y + (tall ? 92 : 172) + (i % rows) * (tall ? 27 : 42), name || "(nothing)", { size: tall ? 18 : 26, mono: true })), ctx);
}
