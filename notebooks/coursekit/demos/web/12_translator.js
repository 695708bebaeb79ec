// Lab 12: a sentence through the shipped translator, word by word. The trained model runs here, in the browser.

import { argmax, fixed, percent, range } from "./numbers.js";
import { colour, layer, put, words as text } from "./kit.js";
import { drawThreads } from "./threads.js";
import { EOS, Transformer, UNKNOWN } from "./transformer.js";

export const meta = {
  "name": "12_translator",
  "title": "Inside the translator, word by word",
  "look": "Type an English sentence. Click a German word to see whom it listened to, or another candidate to make the machine say that instead.",
  "questions": [
    ["Only the last word differs. How can “es” or “sie”, which comes earlier, know of it?", "The decoder reads the whole English sentence before its first word: the memory of “it” has already heard “tired” or “wide”.", [1, 2, 3]],
    ["German puts a part of the verb at the end. Which English word does that part listen to?", "The same verb as its first part, far to the left: threads cross there. No word order is built in.", [4]],
    ["How sure is the machine about words that it never saw in training?", "It must say something, and its probabilities tell nothing of that: an unknown word is only a blank to it.", [6]],
    ["It was made to begin with “weil”. What changes in the rest?", "Every later word depends on what already stands there: the verb moves to the end of its clause, as after any “weil”. It cannot take the beginning back.", [5]]
  ],
  "poster": 1
};

const START = "The animal did not cross the street because it was too";

export const scenes = [
  { name: "too tired", set: {} },
  { name: "too wide", set: { sentence: `${START} wide.` } },
  { name: "the bridge", set: { sentence: "The dog will not cross the bridge because it is too narrow." } },
  { name: "a verb in two places", set: { sentence: "Yesterday the man gave the child a book.", step: 1 } },
  { name: "another beginning", set: { prefix: "weil", step: 1 } },
  { name: "an unknown word", set: { sentence: `${START} blue.`, step: 12 } },
];

const MOST = 14;

export const controls = [
  { kind: "words", name: "sentence", label: "English", start: `${START} tired.`, longest: 120, patience: 350, also: { prefix: "" } },
  { kind: "steps", name: "step", label: "word", last: (state, data) => Math.max(0, told(state, data).steps.length - 1), start: 9, wait: 900, write: (n) => String(n + 1) },
  { kind: "picture", name: "prefix", start: "", read: (t) => (t.length < 150 ? t : null) },
];

const ALWAYS_CAPITAL = new Set(["I", "Anna", "Maria", "Peter", "Thomas"]);
const PRONOUNS = ["er", "sie", "es"];

/** Words and signs, as the corpus cuts them: the first word's capital goes unless it always has one. */
export function tokenize(sentence) {
  const tokens = sentence.match(/[\p{L}\p{N}_]+(?:['’-][\p{L}\p{N}_]+)*|[^\p{L}\p{N}_\s]/gu) ?? [];
  if (tokens.length && !ALWAYS_CAPITAL.has(tokens[0])) tokens[0] = tokens[0][0].toLowerCase() + tokens[0].slice(1);
  return tokens;
}

/** The sentence as one writes it. */
export const detokenize = (tokens) => {
  const joined = tokens.join(" ").replaceAll(/\s+([.,!?;:])/g, "$1");
  return joined.slice(0, 1).toUpperCase() + joined.slice(1);
};

export function prepare(data) {
  const numbers = (list) => new Map(list.map((word, i) => [word, i]));
  return { ...data, model: new Transformer(data), inEnglish: numbers(data.english), inGerman: numbers(data.german), kept: new Map() };
}

/** What the machine read and said: words, numbers, steps; kept, so that a moved step costs nothing. */
export function told({ sentence, prefix }, data) {
  const key = `${sentence}\n${prefix}`;
  if (!data.kept.has(key)) {
    const all = tokenize(sentence), read = all.slice(0, MOST), forced = prefix.split(" ").map((w) => data.inGerman.get(w)).filter((n) => n !== undefined);
    const steps = read.length ? data.model.translate(read.map((w) => data.inEnglish.get(w) ?? UNKNOWN), { prefix: forced }).steps : [];
    if (data.kept.size > 60) data.kept.clear();
    data.kept.set(key, { read, cut: all.length > MOST, unknown: read.map((w) => !data.inEnglish.has(w)), steps, said: steps.map(({ word }) => (word === EOS ? "<eos>" : data.german[word])), forced: forced.length });
  }
  return data.kept.get(key);
}

const shown = (word, most = 14) => (word === "<eos>" ? "the end" : word.length > most ? `${word.slice(0, most - 1)}…` : word);

export function say(state, data) {
  const { read, unknown, steps, said, cut } = told(state, data);
  if (!read.length) return { title: "Type an English sentence, and the machine translates it", note: "It knows the words of the course's own corpus: animals, streets, people, what they do.", alt: "Nothing is typed yet." };
  const lost = unknown.filter(Boolean).length, t = Math.min(state.step, steps.length - 1), { p, word, heard } = steps[t], most = argmax(heard);
  const translation = detokenize(said.filter((w) => w !== "<eos>"));
  const german = lost > read.length / 2;
  return {
    title: german ? `${lost} of ${read.length} words it never saw: is this English?` : `It is ${percent(p[word], 1)} sure of “${shown(said[t])}”, which listens most to “${shown(read[most])}”`,
    note: `${translation}${lost && !german ? `     (? ${lost > 1 ? "words" : "a word"} it never saw)` : ""}${cut ? `     (only the first ${MOST} words are read)` : ""}`,
    alt: `“${detokenize(read)}” becomes “${translation}”. Word ${t + 1} of ${said.length}, ${shown(said[t])}, listens most to ${read[most]}, ${fixed(heard[most])}.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall, data } = ctx, found = told(state, data), t = Math.min(state.step, found.steps.length - 1);
  const threads = layer(root, "threads"), choices = layer(root, "choices"), pronoun = layer(root, "pronoun");
  for (const g of [threads, choices, pronoun]) g.attr("display", found.read.length ? null : "none");
  if (!found.read.length) return;
  drawThreads(threads, { ...found, heard: found.steps.map((one) => one.heard), shown, from: "English", to: tall ? "" : "German, one by one", name: (i) => `${shown(found.said[i])}, ${percent(found.steps[i].p[found.steps[i].word])}` }, t, ctx, tall ? { x: 128, y: 34, w: W - 268, h: H * 0.6 } : { x: 170, y: 40, w: W * 0.6 - 320, h: H - 56 });
  drawChoices(choices, state, found, t, ctx, tall ? { x: 8, y: H * 0.6 + 66, w: W * 0.56, row: Math.min(32, (H * 0.4 - 90) / 5) } : { x: W * 0.66, y: 28, w: W * 0.33, row: 44 });
  drawPronoun(pronoun, found, ctx, tall ? { x: W * 0.62, y: H * 0.6 + 66, w: W * 0.37, row: Math.min(32, (H * 0.4 - 90) / 5) } : { x: W * 0.66, y: 318, w: W * 0.33, row: 44 });
}

function bars(g, rows, ctx, { x, y, w, row }, title) {
  const name = ctx.tall ? 76 : 104, reach = w - name - (ctx.tall ? 66 : 84);
  put(layer(g, "bars"), "rect", rows.map(({ key, p, ink, press, label, pressed }, i) => ({ key: `${i} ${key}`, x: x + name, y: y + 14 + i * row, width: Math.max(reach * p, 2), height: row - 10, rx: 5, fill: colour(ink), from: { width: 0 } })), ctx);
  put(layer(g, "names"), "text", [
    text("title", x, y, title, { size: ctx.tall ? 17 : 21, bold: true }),
    ...rows.map(({ key, word }, i) => text(`n${i} ${key}`, x + name - 10, y + 14 + i * row + row * 0.5, word, { size: ctx.tall ? 17 : 21, at: "end" })),
    ...rows.map(({ key, p }, i) => text(`p${i} ${key}`, x + name + Math.max(reach * p, 2) + 8, y + 14 + i * row + row * 0.5, percent(p, 1), { size: ctx.tall ? 17 : 20, bold: true })),
  ], ctx);
  put(layer(g, "hits"), "rect", rows.filter((r) => r.press).map(({ key, press, label, pressed }, i) => ({ key: `${i} ${key}`, x, y: y + 10 + i * row, width: w, height: row - 3, rx: 6, fill: "transparent", press, label, pressed })), ctx);
}

/** The five most probable words of this step; a press says it instead. */
function drawChoices(g, state, { steps, said }, t, ctx, box) {
  const { p, word } = steps[t], best = range(p.length).sort((a, b) => p[b] - p[a]).slice(0, 5), name = (n) => (n === EOS ? "<eos>" : ctx.data.german[n]);
  if (!best.includes(word)) best[4] = word;
  const instead = (n) => () => ctx.set({ prefix: [...said.slice(0, t), name(n)].filter((w) => w !== "<eos>").join(" ") });
  bars(g, best.map((n) => ({ key: name(n), word: shown(name(n), ctx.tall ? 8 : 9), p: p[n], ink: n === word ? "orange" : "blue", pressed: n === word, label: `say ${shown(name(n))} here`, press: n === EOS ? undefined : instead(n) })), ctx, box,
    ctx.tall ? "may come here" : `what may follow “${t ? shown(said[t - 1], 12) : "the start"}”?`);
}

/** How sure each pronoun was where one was said for "it". */
function drawPronoun(g, { read, steps, said }, ctx, box) {
  const at = read.includes("it") ? said.findLastIndex((w) => PRONOUNS.includes(w)) : -1;
  g.attr("display", at < 0 ? "none" : null);
  if (at < 0) return;
  const p = PRONOUNS.map((w) => steps[at].p[ctx.data.inGerman.get(w)]), top = argmax(p);
  bars(g, PRONOUNS.map((word, i) => ({ key: word, word, p: p[i], ink: i === top ? "purple" : "sky" })), ctx, box, ctx.tall ? "“it”" : "“it” in German");
}
