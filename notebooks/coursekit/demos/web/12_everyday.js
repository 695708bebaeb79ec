// Lab 12: everyday sentences, both ways, by the model that learned from Tatoeba. It runs here, in the browser.

import { argmax, fixed } from "./numbers.js";
import { colour, layer, put, words as text } from "./kit.js";
import { looksWrong, rare, shown, Subwords } from "./subwords.js";
import { drawThreads } from "./threads.js";
import { EOS, Transformer } from "./transformer.js";

export const meta = {
  "name": "12_everyday",
  "title": "Everyday sentences, both ways",
  "look": "Type what you would say to a friend, in English or in German; click one of the five translations to see what it listened to.",
  "questions": [
    ["Which of the five would you have said? Does the machine's order agree?", "Its order is by probability for each token: what many people wrote, not what is best here.", [1, 3]],
    ["“You” has three translations. Which does it choose, and what in the sentence could tell it?", "du, Sie or ihr: a name, a title or a “both of you” would tell. Without them it says what stood most often in its training.", [2]],
    ["A long word is read in pieces. What do the pieces listen to?", "Each to the part of the other language that it stands for, and to the piece before it.", [4]],
    ["The sentence is German already. What does the machine make of it, and why does it not refuse?", "It says something all the same: its softmax shares 100% among the tokens that it has, and “I don't know” is not one of them.", [5]]
  ],
  "poster": 1
};

export const scenes = [
  { name: "a question of words", set: {} },
  { name: "you: du, Sie, ihr?", set: { sentence: "Where did you learn German?", choice: 1, step: 2 } },
  { name: "and back", set: { to: "en", sentence: "Ich habe das Buch gestern gelesen.", step: 1 } },
  { name: "a word in pieces", set: { to: "en", sentence: "Der Bahnhofsvorsteher lacht.", step: 1 } },
  { name: "the wrong way", set: { sentence: "Was machst du morgen?", step: 1 } },
];

const BEAM = 5, MOST = 18;

export const controls = [
  { kind: "choice", name: "to", label: "into", options: [["de", "German"], ["en", "English"]], start: "de" },
  { kind: "words", name: "sentence", label: "say", start: "I don't know what you want.", longest: 120, patience: 400, also: { choice: 0 } },
  { kind: "steps", name: "step", label: "token", last: (state, data) => Math.max(0, (told(state, data).found[state.choice]?.tokens.length ?? 1) - 1), start: 6, wait: 900, write: (n) => String(n + 1) },
  { kind: "picture", name: "choice", start: 0, read: (t) => (/^[0-4]$/.test(t) ? Number(t) : null) },
];

export const prepare = (data) => ({ model: new Transformer(data), subwords: new Subwords(data.merges), kept: new Map() });

/** What was read and the five translations found, best first; kept, so that a moved step costs nothing. */
export function told({ sentence, to }, { model, subwords, kept }) {
  const key = `${to} ${sentence.trim()}`;
  if (!kept.has(key)) {
    const source = subwords.encode(sentence), piece = (n) => (n === EOS ? "the end" : subwords.decode([n]));
    const found = sentence.trim() ? model.beam([subwords.tag(to), ...source].slice(0, 65), BEAM).found : [];
    if (kept.size > 60) kept.clear();
    kept.set(key, {
      read: source.slice(0, MOST).map(piece), cut: source.length > MOST,
      found: found.map(({ tokens, heard, score }) => ({ text: subwords.decode(tokens).trim(), tokens: tokens.map(piece), heard: heard.map((row) => row.slice(1)), score })),
    });
  }
  return kept.get(key);
}

export function say(state, data) {
  const { read, found, cut } = told(state, data);
  if (!found.length) return { title: "Type an everyday sentence, and the machine translates it", note: "It learned from Tatoeba: short sentences, such as people say to each other.", alt: "Nothing is typed yet." };
  const one = found[Math.min(state.choice, found.length - 1)], t = Math.min(state.step, one.tokens.length - 1, MOST - 1), row = one.heard[t].slice(0, MOST), most = argmax(row);
  const [is, other] = state.to === "de" ? ["German", "English"] : ["English", "German"];
  return {
    title: looksWrong(state.sentence, state.to) ? `This looks like ${is} already: choose “into ${other}”` : `“${shown(one.tokens[t])}” listens most to “${shown(read[most])}”`,
    note: `${one.text || "(nothing)"}${cut || one.tokens.length > MOST ? `     (the picture shows the first ${MOST} tokens)` : ""}${rare(read).some(Boolean) ? "     (? a rare word, read in pieces)" : ""}`,
    alt: `“${state.sentence}” becomes “${one.text}”. Token ${t + 1} of ${one.tokens.length} listens most to ${shown(read[most])}, ${fixed(row[most])}.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall, data } = ctx, { read, found } = told(state, data), one = found[Math.min(state.choice, found.length - 1)];
  const threads = layer(root, "threads"), list = layer(root, "list");
  for (const g of [threads, list]) g.attr("display", one ? null : "none");
  if (!one) return;
  const said = one.tokens.slice(0, MOST), t = Math.min(state.step, said.length - 1);
  const cutTo = (token, most) => { const s = shown(token); return s.length > (most ?? 14) ? `${s.slice(0, (most ?? 14) - 1)}…` : s; };
  drawThreads(threads, {
    read, unknown: rare(read), said, heard: one.heard.slice(0, MOST).map((row) => row.slice(0, MOST)), shown: cutTo, from: tall ? "" : "read", to: tall ? "" : "said", name: (i) => shown(said[i]),
  }, t, ctx, tall ? { x: 130, y: 10, w: W - 270, h: H * 0.58 } : { x: 170, y: 40, w: W * 0.54 - 320, h: H - 56 });
  drawList(list, found, one, ctx, tall ? { x: 8, y: H * 0.58 + 44, w: W - 16, row: (H * 0.42 - 56) / BEAM } : { x: W * 0.57, y: 40, w: W * 0.42, row: Math.min(88, (H - 60) / BEAM) });
}

/** The five best that the beam found, with their scores as bars. */
function drawList(g, found, chosen, ctx, { x, y, w, row }) {
  const size = ctx.tall ? 18 : 22, fit = Math.floor((w - 20) / (size * 0.6)), short = (s) => (s.length > fit ? `${s.slice(0, fit - 1)}…` : s || "(nothing)");
  put(layer(g, "title"), "text", [text("title", x, y - 8, ctx.tall ? "the five best" : "the five best that the beam found", { size: ctx.tall ? 18 : 21, bold: true })], ctx);
  put(layer(g, "cards"), "rect", found.map((one, i) => ({
    key: i, x, y: y + 6 + i * row, width: w, height: row - 8, rx: 10, fill: colour(one === chosen ? "faint" : "paper"), stroke: colour(one === chosen ? "orange" : "line"), "stroke-width": one === chosen ? 4 : 1.5,
    press: () => ctx.set({ choice: i }), pressed: one === chosen, label: one.text,
  })), ctx);
  put(layer(g, "texts"), "text", found.map((one, i) => text(`${i} ${one.text}`, x + 12, y + 6 + i * row + (row - 8) * (row < 46 ? 0.66 : 0.44), short(one.text), { size, bold: one === chosen })), ctx);
  const roomy = row > 58;
  put(layer(g, "bars"), "rect", roomy ? found.map((one, i) => ({ key: i, x: x + 12, y: y + 6 + i * row + row * 0.54, width: (w - 190) * Math.exp(one.score), height: 10, rx: 5, fill: colour("blue") })) : [], ctx);
  put(layer(g, "scores"), "text", roomy ? found.map((one, i) => text(i, x + w - 12, y + 6 + i * row + row * 0.66, `${fixed(one.score)} a token`, { size: 17, at: "end", ink: "soft" })) : [], ctx);
}
