// Lab 12: one sentence through the whole translator, and down to one number. The Tatoeba model runs here, in the browser.

import { argmax, clamp, fixed, percent, range, softmax, sum } from "./numbers.js";
import { colour, layer, on, path, pointer, put, shade, words as text } from "./kit.js";
import { looksWrong, rare, shown, Subwords } from "./subwords.js";
import { EOS, scores, Transformer } from "./transformer.js";

export const meta = {
  "name": "12_inside",
  "title": "The whole translator, down to one number",
  "look": "Press one of the 24 small maps to look into that head, and a cell of it to see the number it is made of. Press a word on the left to swap it with the next.",
  "questions": [
    ["Which of the 24 heads cannot be switched off without changing this sentence? What is lost?", "The first that looks at the memory in decoder layer 2: without it “nicht” is gone. Of the other 23 any one may be silent: what it knows, others know too.", [1, 4]],
    ["Why is the dot product divided by √48, and not by 48?", "It is a sum of 48 products; its spread grows with √48. Divided by that, scores stay near ±1 or ±2, where the softmax still answers.", [2, 3]],
    ["At which temperature does the machine begin to talk nonsense?", "Raise it, and watch the bars: when the best word has less than half, every second word would be another one.", [6]],
    ["“wie” had a probability of 0.9%, and was said because you chose it. What does the machine do with it?", "It goes on as if the word were its own: each later token is worked out from those that stand there, whoever chose them.", [5]],
    ["Why are the beams compared by their score for each token, and not by the whole sum?", "Each further token makes the sum of logarithms smaller: without the division the shortest sentence would win.", [7]]
  ],
  "poster": 0
};

const BEAM = 5, MOST = 11, LAYERS = 2, HEADS = 4;
const NAMES = { e: "Encoder", d: "Decoder, to what is said", c: "Decoder, to the memory" };

export const scenes = [
  { name: "the machine", set: {} },
  { name: "one head", set: { view: "head", at: "c0.1" } },
  { name: "one number", set: { view: "number", at: "c0.1", row: 4, col: 5 } },
  { name: "a head off", set: { off: "c1.0", touch: "off", step: 2 } },
  { name: "another word", set: { step: 4, prefix: "Ich weiß nicht, wie" } },
  { name: "temperature", set: { step: 5, heat: 3 } },
  { name: "the beam", set: { view: "beam", sentence: "He has been learning German for two years.", step: 9 } },
];

const whole = (most) => (t) => (/^\d{1,2}$/.test(t) ? Math.min(Number(t), most) : null);

export const controls = [
  { kind: "choice", name: "view", label: "show", options: [["machine", "machine"], ["head", "head"], ["number", "number"], ["beam", "beam"]], start: "machine" },
  { kind: "choice", name: "to", label: "into", options: [["de", "German"], ["en", "English"]], start: "de" },
  { kind: "words", name: "sentence", label: "say", start: "I don't know what you want.", longest: 60, patience: 400, also: { prefix: "", row: 0, col: 0 } },
  { kind: "steps", name: "step", label: "token", last: (state, data) => (state.view === "beam" ? beamOf(state, data).grown : run(state, data).said).length - 1, start: 5, wait: 900, write: (n) => String(n + 1), when: ({ view }) => view === "machine" || view === "beam" },
  { kind: "slider", name: "heat", label: "temperature", low: 0.2, high: 5, start: 1, log: true, when: ({ view }, tall) => tall && view === "machine" }, // elsewhere it stands above the bars
  { kind: "picture", name: "touch", start: "look", read: (t) => (t === "off" ? t : null) }, // what a press on a map does
  { kind: "picture", name: "at", start: "c0.1", read: (t) => (/^[edc][01]\.[0-3]$/.test(t) ? t : null) },
  { kind: "picture", name: "row", start: 0, read: whole(MOST) },
  { kind: "picture", name: "col", start: 0, read: whole(MOST) },
  { kind: "picture", name: "dim", start: 12, read: whole(47) },
  { kind: "picture", name: "off", start: "", read: (t) => (/^([edc][01]\.[0-3] ?)*$/.test(t) ? t : null) },
  { kind: "picture", name: "prefix", start: "", read: (t) => (t.length < 120 ? t : null) },
];

export const prepare = (data) => ({ model: new Transformer(data), subwords: new Subwords(data.merges), kept: new Map() });

function keep(data, key, make) {
  if (data.kept.size > 40) data.kept.clear();
  if (!data.kept.has(key)) data.kept.set(key, make());
  return data.kept.get(key);
}

const offSet = ({ off }) => new Set(off.split(" ").filter(Boolean));
const sourceOf = ({ sentence, to }, { subwords }) => [subwords.tag(to), ...subwords.encode(sentence)].slice(0, MOST);

/** What the machine read, said, and everything on the way; kept, so that a moved step costs nothing. */
export function run(state, data) {
  const { sentence, to, prefix, off } = state, { model, subwords } = data;
  return keep(data, `${to}|${sentence.trim()}|${prefix}|${off}`, () => {
    if (!sentence.trim()) return { read: [], said: [], steps: [], text: "" };
    const source = sourceOf(state, data), piece = (n) => (n === EOS ? "the end" : subwords.decode([n]));
    const found = model.translate(source, { prefix: prefix ? subwords.encode(prefix) : [], longest: MOST - 1, off: offSet(state) });
    const words = found.steps.map(({ word }) => word), read = source.slice(1).map(piece);
    return { ...found, read: [to === "de" ? "→ German" : "→ English", ...read.map(shown)], unknown: [false, ...rare(read)], said: words.map(piece).map(shown), words, text: subwords.decode(words).trim(), cut: subwords.encode(sentence).length + 1 > MOST };
  });
}

/** The beam after each token, and where the best was on its way. */
export function beamOf(state, data) {
  return keep(data, `beam ${state.to}|${state.sentence.trim()}|${state.off}`, () => {
    if (!state.sentence.trim()) return { grown: [], best: [] };
    const { grown } = data.model.beam(sourceOf(state, data), BEAM, { longest: MOST, off: offSet(state) }), best = [];
    for (let n = grown.length - 1, at = 0; n >= 0; n--) { best[n] = at; at = grown[n][at].parent; }
    return { grown, best };
  });
}

/** One head: who asks, who is asked, the weights, and its queries and keys. */
export function headOf(at, found) {
  const [kind, l, h] = [at[0], Number(at[1]), Number(at[3])], asks = found.said.map((word) => `→ ${word}`);
  if (kind === "e") {
    const { q, k, maps } = found.encoded.layers[l], size = q.columns / HEADS;
    return { rows: found.read, cols: found.read, map: maps[h], q: (i) => q.values.subarray(i * q.columns, (i + 1) * q.columns), k, h, size };
  }
  const name = kind === "d" ? "self" : "cross", k = kind === "d" ? found.past.layers[l].k : found.encoded.memory[l][0];
  return {
    rows: asks, cols: kind === "d" ? ["start", ...found.said.slice(0, -1)] : found.read, map: found.steps.map((one) => one.layers[l][name].rows[h]), q: (i) => found.steps[i].layers[l][name].q, k, h, size: k.columns / HEADS,
  };
}

/** One number of a head: its query's and key's 48 numbers, their products, and the row of scores that the softmax turns into weights. */
export function numberOf({ at, row, col }, found) {
  const { q, k, h, size, rows, cols, map } = headOf(at, found), i = Math.min(row, map.length - 1), j = Math.min(col, map[i].length - 1);
  const cut = (values, from) => Array.from(values.subarray(from, from + size)), query = cut(q(i), h * size), key = cut(k.values, j * k.columns + h * size);
  return { i, j, query, key, products: query.map((v, d) => v * key[d]), size, asks: rows[i], asked: cols[j], cols, row: map[i], scores: scores(q(i), k, h, size).slice(0, map[i].length) };
}

const placeOf = (at) => `${NAMES[at[0]]}, layer ${Number(at[1]) + 1}, head ${Number(at[3]) + 1}`;
const ordinal = (n) => ["first", "second", "third", "fourth", "fifth"][n];

export function say(state, data) {
  const found = run(state, data);
  if (!found.read.length) return { title: "Type a sentence, and follow it through the whole translator", note: "", alt: "Nothing is typed yet." };
  const marks = `${found.cut ? `     (only the first ${MOST - 1} tokens are read)` : ""}${found.unknown.some(Boolean) ? "     (? a rare word, read in pieces)" : ""}`;
  if (state.view === "head") {
    const { rows, cols, map } = headOf(state.at, found), i = Math.min(state.row, map.length - 1), j = argmax(map[i]);
    return { title: `${placeOf(state.at)}: “${rows[i]}” listens most to “${cols[j]}”`, note: habits(state.at, map) + marks, alt: `A table of weights, ${rows.length} rows for who asks, ${cols.length} columns for who is asked. ${percent(map[i][j])} of row ${rows[i]} goes to ${cols[j]}.` };
  }
  if (state.view === "number") {
    const { asks, asked, products, size, scores: all, j, row } = numberOf(state, found);
    return { title: `“${asks}” and “${asked}”: q · k / √${size} = ${fixed(all[j])}, which becomes ${percent(row[j])} of the attention`, note: `${placeOf(state.at)}: ${size} products sum to ${fixed(sum(products))}; divided by √${size} = ${fixed(Math.sqrt(size))} that is ${fixed(all[j])}.`, alt: `Bars of the query's, the key's and the products' ${size} numbers, and the softmax of ${all.length} scores.` };
  }
  if (state.view === "beam") {
    const { grown, best } = beamOf(state, data), t = Math.min(state.step, grown.length - 1), low = Math.max(...best), when = best.indexOf(low);
    return { title: low ? `The winner was only ${ordinal(low)} after ${when + 1} token${when ? "s" : ""}` : "The winner led from its first token on", note: `After ${t + 1} token${t ? "s" : ""} the best is “${data.subwords.decode(grown[t][0].tokens).trim()}”, ${fixed(grown[t][0].score)} a token.${marks}`, alt: `A tree with ${BEAM} branches kept after each of ${t + 1} tokens.` };
  }
  const t = Math.min(state.step, found.said.length - 1), p = hot(found.steps[t], state.heat), off = offSet(state).size, plain = off ? run({ ...state, off: "" }, data).text : "";
  const language = { de: "German", en: "English" }[state.to], other = { de: "English", en: "German" }[state.to], heads = `${off} head${off > 1 ? "s" : ""} off`;
  return {
    title: looksWrong(state.sentence, state.to) ? `This looks like ${language} already: choose “into ${other}”`
      : off ? (plain === found.text ? `${heads}, and it still says “${found.text}”` : `${heads}: “${found.text}”`)
      : state.heat !== 1 ? `At temperature ${fixed(state.heat, 1)} “${found.said[t]}” comes with ${percent(p[found.words[t]])} instead of ${percent(found.steps[t].p[found.words[t]])}`
      : state.prefix ? `Made to begin “${state.prefix}”, it goes on: “${found.text}”` : `It says “${found.text}”, one token at a time`,
    note: `${off && plain !== found.text ? `With all heads: “${plain}”` : `Token ${t + 1} is “${found.said[t]}”, with ${percent(p[found.words[t]], 1)}.`}${state.touch === "off" ? " Press a map to switch its head off, or on again." : ""}${marks}`,
    alt: `${found.read.length} tokens pass ${LAYERS} encoder layers of ${HEADS} heads; ${t + 1} of ${found.said.length} tokens said by ${LAYERS} decoder layers with ${2 * HEADS} heads each; then the likeliest candidates with their probabilities.`,
  };
}

const hot = ({ logits }, heat) => softmax(Array.from(logits, (x) => x / heat));

/** What a head does on the whole: how much of its attention goes to the token itself, the one before, the next, the first. */
function habits(at, map) {
  const mean = (pick) => sum(map.map((row, i) => row[pick(i)] ?? 0)) / map.length;
  if (at[0] === "c") return `On average ${percent(mean(() => 0))} of it goes to the mark of the language, ${percent(sum(map.map((row) => Math.max(...row))) / map.length)} to whoever is heard most.`;
  return `On average ${percent(mean((i) => i))} goes to the token itself, ${percent(mean((i) => i - 1))} to the one before${at[0] === "e" ? `, ${percent(mean((i) => i + 1))} to the next` : ""}.`;
}

export function draw(root, state, ctx) {
  const found = run(state, ctx.data), views = { machine: drawMachine, head: drawHead, number: drawNumber, beam: drawBeam };
  for (const name of Object.keys(views)) layer(root, name).attr("display", found.read.length && name === state.view ? null : "none");
  if (found.read.length) views[state.view](layer(root, state.view), state, found, ctx);
}

// --- the whole machine ------------------------------------------------------------------------------------------------

/** A token that fits into so many units. */
const fit = (token, units, size) => (token.length * size * 0.58 > units ? `${token.slice(0, Math.max(2, Math.floor(units / size / 0.58) - 1))}…` : token);

/** Where the parts of the machine stand. */
function floor({ W, H, tall }) {
  const left = tall ? 104 : 126, strip = tall ? 40 : 84, dec = tall ? 40 : Math.min(88, (W - left - 316) / 8.8), side = left + 4 * (2 * dec + 24) + 22;
  const high = tall ? Math.min(190, (H - 172) / 2) : 214, bottom = tall ? high + 58 : 306, gap = tall ? 10 : 34;
  const enc = tall ? 60 : Math.min(100, (side - left - 2 * strip - 3 * gap - 40) / 4);
  const encoder = range(LAYERS, (l) => left + strip + gap + l * (2 * enc + 8 + gap));
  return {
    left, strip, top: 28, bottom, high, enc, dec, encoder, memory: encoder[1] + 2 * enc + 8 + gap, decoder: range(2 * LAYERS, (n) => left + 10 + n * (2 * dec + 6 + (tall ? 8 : 18))),
    list: tall ? { x: 4, y: bottom + high + 14, w: W - 8, most: 3 } : { x: side, y: 20, w: W - side, most: 10 },
  };
}

function drawMachine(g, state, found, ctx) {
  const at = floor(ctx), { W, tall } = ctx, t = Math.min(state.step, found.said.length - 1), off = offSet(state), n = found.read.length, m = found.said.length;
  const rowIn = at.high / Math.max(n, 6), rowOut = at.high / Math.max(m, 6), size = tall ? 16 : 18;
  const boxes = [...range(LAYERS * HEADS, (b) => ["e", b]), ...range(LAYERS * HEADS, (b) => ["d", b]), ...range(LAYERS * HEADS, (b) => ["c", b])].map(([kind, b]) => {
    const l = Math.floor(b / HEADS), h = b % HEADS, side = kind === "e" ? at.enc : at.dec, x0 = kind === "e" ? at.encoder[l] : at.decoder[2 * l + (kind === "c" ? 1 : 0)];
    const y0 = (kind === "e" ? at.top : at.bottom) + (at.high - 2 * side - 8) / 2;
    return { kind, l, name: `${kind}${l}.${h}`, x: x0 + (h % 2) * (side + (kind === "e" ? 8 : 6)), y: y0 + (h > 1 ? side + 8 : 0), side };
  });
  const still = g.node().still, same = still && still.found === found && still.W === W && still.H === ctx.H;  // a hand moves the step only
  g.node().still = { found, W, H: ctx.H };
  const [flow, , heat, , , embedded, memory] = ["flow", "boxes", "heat", "crosses", "now", "embedded", "memory"].map((name) => layer(g, name));
  if (!same) drawFlow(flow, at, ctx);
  const press = (name) => () => ctx.set(state.touch === "off" ? { off: toggled(off, name) } : { view: "head", at: name, row: name[0] === "e" ? 0 : t });
  put(layer(g, "boxes"), "rect", boxes.map(({ name, x, y, side }) => ({
    key: name, x, y, width: side, height: side, rx: 4, fill: colour(off.has(name) ? "paper" : "faint"), stroke: colour(off.has(name) ? "red" : "line"), "stroke-width": off.has(name) ? 3 : 1.5,
    "stroke-dasharray": off.has(name) ? "6 5" : null, press: press(name), pressed: off.has(name), label: `${placeOf(name)}${off.has(name) ? ", off" : ""}`,
  })), ctx);
  if (!same) drawHeat(heat, boxes.filter(({ name }) => !off.has(name)).map((box) => ({ ...box, map: headOf(box.name, found).map, rows: box.kind === "e" ? n : m, cols: box.kind === "d" ? m : n })), ctx);
  put(layer(g, "crosses"), "path", boxes.filter(({ name }) => off.has(name)).map(({ name, x, y, side: s }) => ({ key: name, d: `M${x + 8},${y + 8}l${s - 16},${s - 16}m0,${16 - s}l${16 - s},${s - 16}`, stroke: colour("red"), "stroke-width": 3, fill: "none", "pointer-events": "none" })), ctx);
  put(layer(g, "now"), "rect", boxes.filter(({ kind, name }) => kind !== "e" && !off.has(name)).map(({ name, x, y, side }) => ({ key: name, x: x - 2, y: y + (t * side) / m - 1, width: side + 4, height: side / m + 2, rx: 2, fill: "none", stroke: colour("orange"), "stroke-width": 2.5, "pointer-events": "none" })), ctx);
  // rows of maps that stand two high cannot lie level with their word: a bracket leads from it to them
  const word = at.bottom + (t + 0.5) * rowOut, level = boxes.filter(({ name }) => /^d0\.[02]/.test(name)).map(({ y, side }) => y + ((t + 0.5) * side) / m), trunk = at.left + 3;
  put(layer(g, "lead"), "path", [{ key: "lead", d: `M${at.left - 2},${word}H${trunk}M${trunk},${Math.min(word, level[0])}V${Math.max(word, level[1])}${level.map((y) => `M${trunk},${y}H${at.left + 8}`).join("")}`, fill: "none", stroke: colour("orange"), "stroke-width": 2.5, "pointer-events": "none" }], ctx);
  if (!same) drawStrip(embedded, found.encoded.embedded, n, at.left + 4, at.top, at.strip, rowIn, ctx);
  if (!same) drawStrip(memory, found.encoded.x, n, at.memory, at.top, at.strip, rowIn, ctx);
  const list = state.sentence.trim().split(/\s+/);
  put(layer(g, "touch"), "rect", [
    ...found.read.slice(1).map((word, i) => ({ key: `r${i}`, x: 0, y: at.top + (i + 1) * rowIn + 1, width: at.left - 2, height: rowIn - 2, rx: 6, fill: "transparent", label: `swap the word of ${word} with the next`, press: () => ctx.set({ sentence: swapped(list, found, i + 1), prefix: "" }) })),
    ...found.said.map((word, i) => ({ key: `s${i}`, x: 0, y: at.bottom + i * rowOut + 1, width: at.left - 2, height: rowOut - 2, rx: 6, fill: i === t ? colour("orange") : "transparent", label: `token ${i + 1}, ${word}`, pressed: i === t, press: () => ctx.set({ step: i }) })),
  ], ctx);
  put(layer(g, "tokens"), "text", [
    ...found.read.map((word, i) => text(`r${i}`, at.left - 8, at.top + (i + 0.5) * rowIn + size * 0.35, fit(word, at.left - (found.unknown[i] ? 34 : 12), size) + (found.unknown[i] ? " ?" : ""), { size, at: "end", ink: found.unknown[i] ? "red" : i ? "ink" : "soft" })),
    ...found.said.map((word, i) => text(`s${i}`, at.left - 8, at.bottom + (i + 0.5) * rowOut + size * 0.35, fit(word, at.left - 12, size), { size, at: "end", bold: i === t, fill: i === t ? "var(--on-orange)" : colour(i < t ? "ink" : "soft") })),
  ], ctx);
  drawCandidates(layer(g, "candidates"), state, found, t, at.list, ctx);
}

const toggled = (off, name) => (off.has(name) ? [...off].filter((one) => one !== name) : [...off, name]).join(" ");

/** The sentence with the word to which token i belongs and the next one exchanged. */
function swapped(list, found, i) {
  let word = -1;
  for (let n = 1; n <= i; n++) if (!found.read[n].startsWith("…") && /\p{L}|\p{N}/u.test(found.read[n]) && word < list.length - 1) word += found.read[n - 1] === "'" || /^'/.test(found.read[n]) ? 0 : 1;
  const at = clamp(word, 0, list.length - 2), next = [...list];
  if (next.length > 1) [next[at], next[at + 1]] = [next[at + 1], next[at]];
  return next.join(" ");
}

/** Names of the parts, and the way from one to the next. */
function drawFlow(g, at, ctx) {
  const { tall } = ctx, size = 17, mid = at.top + at.high / 2, low = at.bottom + at.high / 2, wide = 2 * at.enc + 8, narrow = 2 * at.dec + 6, head = at.bottom - 8;
  const line = (key, points) => ({ key, d: path(points), fill: "none", stroke: colour("soft"), "stroke-width": 2.5, "marker-end": null });
  const down = at.memory + at.strip / 2, between = at.bottom - (tall ? 34 : 40), crosses = [at.decoder[1], at.decoder[3]].map((x) => x + narrow / 2);
  put(layer(g, "ways"), "path", [
    ...(tall ? [] : [line("a", [[at.left + at.strip + 6, mid], [at.encoder[0] - 6, mid]]), line("b", [[at.encoder[0] + wide + 4, mid], [at.encoder[1] - 4, mid]]), line("c", [[at.encoder[1] + wide + 4, mid], [at.memory - 4, mid]]),
      ...range(3, (i) => line(`d${i}`, [[at.decoder[i] + narrow + 2, low], [at.decoder[i + 1] - 2, low]])), line("e", [[at.decoder[3] + narrow + 2, low], [at.list.x - 6, low]])]),
    line("memory", [[down, at.top + at.high + 4], [down, between]]), line("memory across", [[Math.min(down, crosses[0]), between], [Math.max(down, crosses[1]), between]]),
    ...crosses.map((x, i) => line(`into${i}`, [[x, between], [x, at.bottom + (at.high - 2 * at.dec - 8) / 2 - (tall ? 4 : 26)]])),
  ].map((one) => ({ ...one, stroke: colour(/^(into|memory)/.test(one.key) ? "green" : "line") })), ctx);
  put(layer(g, "names"), "text", tall ? [text("read", 4, at.top - 10, "input", { size, ink: "soft" }), text("e0", at.encoder[0], at.top - 10, "encoder", { size, bold: true }), text("m", at.memory + at.strip, at.top - 10, "memory", { size, at: "end", ink: "green" }), text("said", 4, head, "output", { size, ink: "soft" }), text("d", at.decoder[0], head, "decoder", { size, bold: true })] : [
    text("read", at.left - 8, at.top - 10, "input", { size, at: "end", ink: "soft" }), text("emb", at.left + 4, at.top - 10, "embedding", { size, ink: "soft" }), text("m", at.memory, at.top - 10, "memory", { size, bold: true, ink: "green" }),
    ...range(LAYERS, (l) => text(`e${l}`, at.encoder[l], at.top - 10, `encoder layer ${l + 1}`, { size, bold: true })),
    text("said", at.left - 8, head, "output", { size, at: "end", ink: "soft" }),
    ...range(2 * LAYERS, (n) => text(`d${n}`, at.decoder[n] + narrow / 2, at.bottom + (at.high - 2 * at.dec - 8) / 2 - 8, n % 2 ? "to memory" : "to itself", { size, at: "middle", ink: n % 2 ? "green" : "ink" })),
    ...range(LAYERS, (l) => text(`l${l}`, at.decoder[2 * l] + narrow + 9, at.bottom + (at.high + 2 * at.dec + 8) / 2 + 22, `decoder layer ${l + 1}`, { size, at: "middle", bold: true })),
  ], ctx);
}

/** All cells of all maps, as one path for each of five strengths. */
function drawHeat(g, boxes, ctx) {
  const paths = ["", "", "", "", ""];
  for (const { map, x, y, side, rows, cols } of boxes) {
    const w = side / cols, h = side / rows;
    map.forEach((row, i) => row.forEach((weight, j) => {
      const strength = Math.min(4, Math.floor(Math.sqrt(weight) * 5));
      if (weight > 0.015) paths[strength] += `M${(x + j * w).toFixed(1)},${(y + i * h).toFixed(1)}h${w.toFixed(1)}v${h.toFixed(1)}h${(-w).toFixed(1)}z`;
    }));
  }
  put(g, "path", paths.map((d, i) => ({ key: i, d, fill: colour("blue"), "fill-opacity": 0.12 + 0.22 * i, "pointer-events": "none" })), { ...ctx, ms: 0 });
}

/** The first 48 of each token's 192 numbers: blue above zero, orange below. */
function drawStrip(g, { columns, values }, n, x, y, width, row, ctx) {
  const paths = ["", "", "", "", "", ""], w = width / 48, top = Math.max(...range(n, (i) => Math.max(...values.subarray(i * columns, i * columns + 48).map(Math.abs))));
  for (let i = 0; i < n; i++)
    for (let d = 0; d < 48; d++) {
      const v = values[i * columns + d], strength = Math.min(2, Math.floor((4 * Math.abs(v)) / top));
      paths[strength + (v < 0 ? 3 : 0)] += `M${(x + d * w).toFixed(1)},${(y + i * row + 1).toFixed(1)}h${w.toFixed(2)}v${(row - 2).toFixed(1)}h${(-w).toFixed(2)}z`;
    }
  put(g, "path", paths.map((d, i) => ({ key: i, d, fill: colour(i < 3 ? "blue" : "orange"), "fill-opacity": [0.15, 0.5, 1][i % 3] })), { ...ctx, ms: 0 });
}

/** The most probable tokens of this step, at this temperature; a press says one instead. */
function drawCandidates(g, state, found, t, { x, y, w, most }, ctx) {
  const { subwords } = ctx.data, step = found.steps[t], p = hot(step, state.heat), word = found.words[t];
  step.order ??= range(p.length).sort((a, b) => step.logits[b] - step.logits[a]).slice(0, 10); // the same at every temperature
  const list = step.order.slice(0, most);
  if (!list.includes(word)) list[most - 1] = word;
  const size = ctx.tall ? 16 : 18, row = ctx.tall ? 21 : 42, name = Math.min(96, w * 0.44), reach = w - name - 62, top = ctx.tall ? y : y + 84, spelled = (n) => (n === EOS ? "the end" : shown(subwords.decode([n])));
  put(layer(g, "bars"), "rect", list.map((n, i) => ({ key: n, x: x + name, y: top + i * row + 3, width: Math.max(2, reach * p[n]), height: row - 8, rx: 4, fill: colour(n === word ? "orange" : "blue"), from: { width: 0 } })), ctx);
  put(layer(g, "names"), "text", [
    ...(ctx.tall ? [] : [text("title", x, y + 66, "next token", { size: 18, bold: true }), text("heat", x, y, `temperature ${fixed(state.heat, 1)}`, { size: 18 })]),
    ...list.map((n, i) => text(`n${n}`, x + name - 8, top + i * row + row / 2 + size * 0.3, fit(spelled(n), name - 8, size), { size, at: "end", bold: n === word })),
    ...list.map((n, i) => text(`p${n}`, x + name + Math.max(2, reach * p[n]) + 6, top + i * row + row / 2 + size * 0.3, percent(p[n]), { size })),
  ], ctx);
  if (!ctx.tall) drawHeatSlider(layer(g, "heat"), state, { x: x + 4, y: y + 24, w: w - 24 }, ctx);
  put(layer(g, "hits"), "rect", list.filter((n) => n !== EOS).map((n) => ({ key: n, x, y: top + list.indexOf(n) * row, width: w, height: row - 2, rx: 5, fill: "transparent", label: `say ${spelled(n)} here`, pressed: n === word, press: () => ctx.set({ prefix: subwords.decode([...found.words.slice(0, t), n]).trim() }) })), ctx);
}

/** The temperature, from 0.2 to 5, as a knob on a line: the same steps everywhere are the same factor. */
function drawHeatSlider(g, { heat }, { x, y, w }, ctx) {
  const at = (v) => x + (w * Math.log(v / 0.2)) / Math.log(25), back = (px) => clamp(Number((0.2 * 25 ** ((px - x) / w)).toPrecision(2)), 0.2, 5);
  put(layer(g, "track"), "line", [{ key: "track", x1: x, x2: x + w, y1: y, y2: y, stroke: colour("line"), "stroke-width": 6, "stroke-linecap": "round" }], ctx);
  put(layer(g, "knob"), "circle", [{
    key: "knob", cx: at(heat), cy: y, r: 11, fill: colour("blue"), class: "grab", drag: (px) => ctx.set({ heat: back(px) }, 0),
    slide: { label: "temperature", min: 0, max: w, step: w / 32, value: at(heat) - x, text: fixed(heat, 1), set: (px) => ctx.set({ heat: back(x + px) }, 0) },
  }], ctx);
}

// --- one head, one number ---------------------------------------------------------------------------------------------

function drawHead(g, state, found, ctx) {
  const { W, H, tall } = ctx, { rows, cols, map } = headOf(state.at, found), i = Math.min(state.row, rows.length - 1), size = tall ? 15 : 18, left = tall ? 92 : 140, above = tall ? 70 : 84;
  const w = Math.min((W * (tall ? 1 : 0.66) - left - (tall ? 44 : 0)) / cols.length, 66), h = Math.min((H - above - (tall ? 70 : 12)) / rows.length, 46), off = offSet(state).has(state.at);
  put(layer(g, "cells"), "rect", map.flatMap((row, r) => row.map((weight, c) => ({
    key: `${r} ${c}`, x: left + c * w, y: above + r * h, width: w - 2, height: h - 2, rx: 4, fill: colour("blue"), "fill-opacity": 0.04 + shade(weight) * 0.96, stroke: r === i ? colour("orange") : "none", "stroke-width": 2.5,
    cell: [r, c], press: () => ctx.set({ view: "number", row: r, col: c }), label: `${rows[r]} to ${cols[c]}: ${percent(weight)}`,
  }))), ctx);
  put(layer(g, "numbers"), "text", w < 30 ? [] : map.flatMap((row, r) => row.map((weight, c) => text(`${r} ${c}`, left + (c + 0.5) * w - 1, above + (r + 0.5) * h + size * 0.33, weight < 0.005 ? "0" : String(Math.round(100 * weight)), { size: Math.min(size, h * 0.6 < 15 ? 15 : size), at: "middle", fill: on("blue", 0.04 + shade(weight) * 0.96) }))), ctx);
  put(layer(g, "rows"), "text", rows.map((word, r) => text(r, left - 8, above + (r + 0.5) * h + size * 0.35, fit(word, left - 10, size), { size, at: "end", bold: r === i })), ctx);
  put(layer(g, "cols"), "text", cols.map((word, c) => ({ ...text(c, 0, 0, fit(word, 86, size), { size }), transform: `translate(${(left + (c + 0.4) * w).toFixed(1)},${above - 8}) rotate(-38)` })), ctx);
  const x = tall ? 4 : W * 0.69, y = tall ? H - 62 : 96;
  const sides = ["e0", "e1", "d0", "c0", "d1", "c1"], step = tall ? 0 : 40;
  put(layer(g, "pick"), "rect", [
    { key: "off", x, y, width: tall ? 220 : W * 0.3, height: 44, rx: 8, fill: off ? colour("red") : colour("faint"), stroke: colour(off ? "red" : "line"), press: () => ctx.set({ off: toggled(offSet(state), state.at) }), pressed: off, label: "switch this head off" },
    ...(tall ? [] : sides.flatMap((side, s) => range(HEADS, (n) => ({ key: `${side}.${n}`, x: x + 150 + n * 40, y: y + 84 + s * step, width: 34, height: 34, rx: 6, fill: colour(`${side}.${n}` === state.at ? "blue" : "faint"), stroke: colour("line"), press: () => ctx.set({ at: `${side}.${n}` }), pressed: `${side}.${n}` === state.at, label: placeOf(`${side}.${n}`) })))),
  ], ctx);
  put(layer(g, "said"), "text", [
    text("off", x + 14, y + 28, off ? "this head is off" : "switch this head off", { size: 18, bold: true, fill: off ? "var(--on-red)" : colour("ink") }),
    ...(tall ? [] : sides.map((side, s) => text(side, x, y + 107 + s * step, { e: "encoder", d: "to itself", c: "to memory" }[side[0]] + ` ${Number(side[1]) + 1}`, { size: 18 }))),
    ...(tall ? [] : sides.flatMap((side, s) => range(HEADS, (n) => text(`${side}.${n}`, x + 167 + n * 40, y + 107 + s * step, String(n + 1), { size: 18, at: "middle", fill: `${side}.${n}` === state.at ? "var(--on-blue)" : colour("ink") })))),
    text("unit", x, tall ? y - 12 : y + 84 + 6 * step + 34, "per cent of each row's attention", { size: 17, ink: "soft" }),
  ], ctx);
}

function drawNumber(g, state, found, ctx) {
  const { W, H, tall } = ctx, one = numberOf(state, found), { size: n, query, key, products } = one, d = Math.min(state.dim, n - 1);
  const left = 8, w = tall ? W - 16 : W * 0.6, bar = w / n, band = tall ? Math.min(84, H * 0.17) : (H - 46) / 3, rows = [["q", query, "blue", `q of “${one.asks}”`], ["k", key, "green", `k of “${one.asked}”`], ["qk", products, "purple", "their products"]];
  const x = (i) => left + i * bar, middle = (r) => 26 + r * band + band * 0.56, tallest = (list) => Math.max(...list.map(Math.abs), 1e-9);
  put(layer(g, "axes"), "line", rows.map(([name], r) => ({ key: name, x1: left, x2: left + w, y1: middle(r), y2: middle(r), stroke: colour("line"), "stroke-width": 1.5 })), ctx);
  put(layer(g, "bars"), "rect", rows.flatMap(([name, list, ink], r) => list.map((v, i) => {
    const h = (Math.abs(v) / tallest(list)) * band * 0.36;
    return { key: `${name}${i}`, x: x(i) + 1, width: bar - 2, y: v < 0 ? middle(r) : middle(r) - h, height: Math.max(h, 0.5), fill: colour(i === d ? "orange" : ink), "pointer-events": "none" };
  })), ctx);
  const here = (px) => clamp(Math.floor((px - left) / bar), 0, n - 1);
  put(layer(g, "grab"), "rect", [{
    key: "dim", x: x(d) - 2, y: 8, width: bar + 4, height: 3 * band + 18, rx: 5, fill: colour("orange"), "fill-opacity": 0.16, stroke: colour("orange"), "stroke-width": 1.5, class: "grab", drag: (px) => ctx.set({ dim: here(px) }, 0),
    slide: { label: "which of the 48 numbers", min: 0, max: n - 1, step: 1, value: d, text: `number ${d + 1}`, set: (v) => ctx.set({ dim: v }, 0) },
  }], ctx);
  put(layer(g, "names"), "text", rows.map(([name, , , label], r) => text(name, left, 22 + r * band, `${label}${name === "qk" ? `, sum ${fixed(sum(products))}` : ""}`, { size: tall ? 16 : 19, bold: true, class: "halo" })), ctx);
  const side = tall ? { x: 8, y: 3 * band + 50, w: W - 16 } : { x: W * 0.65, y: 28, w: W * 0.35 };
  put(layer(g, "sums"), "text", [
    text("d", side.x, side.y, `number ${d + 1}: ${fixed(query[d])} × ${fixed(key[d])} = ${fixed(products[d])}`, { size: tall ? 16 : 19, ink: "ink" }),
    text("all", side.x, side.y + (tall ? 24 : 30), `all ${n}: ${fixed(sum(products))} / √${n} = ${fixed(one.scores[one.j])}`, { size: tall ? 16 : 19, bold: true }),
    text("then", side.x, side.y + (tall ? 48 : 68), tall ? "softmax over the row:" : "softmax over the row of scores:", { size: 17, ink: "soft" }),
  ], ctx);
  drawRow(layer(g, "row"), one, { ...side, y: side.y + (tall ? 56 : 82), h: H - side.y - (tall ? 60 : 90) }, ctx);
}

/** The scores of a row and the weights that the softmax makes of them; a press asks another token. */
function drawRow(g, { cols, row, scores: all, j }, { x, y, w, h }, ctx) {
  const step = Math.min(h / row.length, 38), size = Math.max(15, Math.min(18, step * 0.62)), name = ctx.tall ? 96 : 112, reach = w - name - 128;
  put(layer(g, "hits"), "rect", row.map((_, c) => ({ key: c, x, y: y + c * step, width: w, height: step - 2, rx: 5, fill: c === j ? colour("faint") : "transparent", label: `ask ${cols[c]}`, pressed: c === j, press: () => ctx.set({ col: c }) })), ctx);
  put(layer(g, "bars"), "rect", row.map((weight, c) => ({ key: c, x: x + name + 66, y: y + c * step + 3, width: Math.max(1.5, reach * weight), height: step - 8, rx: 3, fill: colour(c === j ? "orange" : "blue"), "pointer-events": "none" })), ctx);
  put(layer(g, "texts"), "text", row.flatMap((weight, c) => [
    text(`n${c}`, x + name - 6, y + c * step + step / 2 + size * 0.3, fit(cols[c], name - 8, size), { size, at: "end", bold: c === j }), text(`s${c}`, x + name + 58, y + c * step + step / 2 + size * 0.3, fixed(all[c]), { size, at: "end", mono: true }),
    text(`w${c}`, x + name + 72 + Math.max(1.5, reach * weight), y + c * step + step / 2 + size * 0.3, percent(weight), { size, bold: c === j }),
  ]), ctx);
}

// --- the beam ---------------------------------------------------------------------------------------------------------

function drawBeam(g, state, found, ctx) {
  const { W, H, tall } = ctx, { grown, best } = beamOf(state, ctx.data), t = Math.min(state.step, grown.length - 1), { subwords } = ctx.data;
  const along = (tall ? H - 30 : W - 8) / (grown.length + 1), across = (tall ? W - 4 : H - 40) / BEAM, size = tall ? 15 : 18;
  const spot = (n, rank) => (tall ? [4 + (rank + 0.5) * across, 22 + (n + 1.4) * along] : [4 + (n + 1.5) * along, 34 + (rank + 0.5) * across]), start = tall ? [W / 2, 18] : [34, H / 2];
  const nodes = grown.slice(0, t + 1).flatMap((beam, n) => beam.map((one, rank) => {
    const before = n ? grown[n - 1][one.parent].tokens.length : 0, over = one.tokens.length === before;
    return { n, rank, one, over, word: over ? "" : one.tokens.at(-1) === EOS ? "the end" : shown(subwords.decode([one.tokens.at(-1)])), won: best[n] === rank, from: n ? spot(n - 1, one.parent) : start };
  }));
  const w = Math.min((tall ? across : along) - 10, 118), h = tall ? Math.min(along - 12, 30) : 40;
  put(layer(g, "links"), "path", nodes.map(({ n, rank, one, over, won, from: [x0, y0] }) => {
    const [x1, y1] = spot(n, rank), d = tall ? `M${x0},${y0}C${x0},${(y0 + y1) / 2} ${x1},${(y0 + y1) / 2} ${x1},${y1}` : `M${x0},${y0}C${(x0 + x1) / 2},${y0} ${(x0 + x1) / 2},${y1} ${x1},${y1}`;
    return { key: `${n} ${rank}`, d, fill: "none", stroke: colour(won ? "orange" : "line"), "stroke-width": won ? 6 : 1.5 + 6 * Math.exp(2 * one.score), "stroke-dasharray": over ? "3 6" : null };
  }), ctx);
  const shownNodes = nodes.filter(({ over }) => !over);
  put(layer(g, "nodes"), "rect", shownNodes.map(({ n, rank, one, won }) => {
    const [x, y] = spot(n, rank);
    return { key: `${n} ${rank}`, x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 8, fill: colour(won ? "orange" : "faint"), stroke: colour(won ? "orange" : "line"), press: () => ctx.set({ step: n }), pressed: n === t, label: `${subwords.decode(one.tokens)}, ${fixed(one.score)} a token` };
  }), ctx);
  put(layer(g, "texts"), "text", [text("start", tall ? W / 2 : 4, tall ? 16 : H / 2 - 12, tall ? "" : "start", { size, ink: "soft" }), ...shownNodes.map(({ n, rank, word, won }) => {
    const [x, y] = spot(n, rank);
    return text(`${n} ${rank}`, x, y + size * 0.35, fit(word, w - 4, size), { size, at: "middle", bold: won, fill: won ? "var(--on-orange)" : colour("ink") });
  }), ...(tall ? [] : range(BEAM, (rank) => text(`rank${rank}`, 4, 34 + (rank + 0.5) * across + 6, rank === 2 ? "" : `${rank + 1}.`, { size: 17, ink: "soft" })))], ctx);
}
