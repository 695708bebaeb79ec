// Lab 03: every earlier word votes on what follows "ran", and a mask decides how loud each voice is.

import { clamp, dot, fixed, percent, range, spaced, sum } from "./numbers.js";
import { colour, layer, path, put, scale, words } from "./kit.js";

export const meta = {
  "name": "03_votes_and_mask",
  "title": "How can one word far back decide?",
  "look": "Pull the handles of the undecided to the left, one by one: their half votes leave both piles, and the bell below grows narrow.",
  "questions": [
    ["Eight voters say “half, half”. They do no harm to the winner. Why is it better to silence them?", "They add nothing to the lead, but each adds its noise: without them the wrong word wins far more seldom.", [1, 2, 4]],
    ["Who should set the handles when there are 50,000 words?", "Nobody by hand: they are worked out from the words themselves, by queries and keys. That is attention.", [4, 5]],
    ["What does a handle at one half mean?", "This word's vote counts half: a mask need not be yes or no, and a soft one can be learned.", [3]]
  ],
  "poster": 2
};

const KNOWS = 2;
const masked = (of) => range(9, of).join(",");

export const scenes = [
  { name: "all vote", set: {} },
  { name: "the other sentence", set: { log: "battery" } },
  { name: "the undecided whisper", set: { log: "battery", mask: masked((i) => (i === KNOWS ? 1 : 0.3)) } },
  { name: "only one may vote", set: { log: "battery", mask: masked((i) => (i === KNOWS ? 1 : 0)) } },
  { name: "the one is silenced", set: { log: "battery", mask: masked((i) => (i === KNOWS ? 0 : 1)) } },
];

export const controls = [
  { kind: "choice", name: "log", label: "check the", options: [["program", "program log"], ["battery", "battery log"]], start: "program" },
  { kind: "slider", name: "noise", label: "noise in each vote", low: 0, high: 1, step: 0.1, start: 0.4, write: (x) => x.toFixed(1) },
  { kind: "picture", name: "mask", start: masked(() => 1), read: (text) => (maskOf(text).length === 9 && maskOf(text).every((m) => m >= 0 && m <= 1) ? text : null) },
];

const maskOf = (text) => text.split(",").map(Number);
const SENTENCES = {
  program: "check the program log and find out whether it ran please".split(" "),
  battery: "check the battery log and find out whether it ran down please".split(" "),
};
const CANDIDATES = ["down", "please"], COLOURS = ["orange", "blue"];

/** For each of the nine voters the shares of "down" and "please" among what followed it and a later "ran". */
export const votes = (log) => SENTENCES[log].slice(0, 9).map((voter) => {
  const counts = [0, 0];
  for (const sentence of Object.values(SENTENCES)) {
    const now = sentence.indexOf("ran");
    counts[CANDIDATES.indexOf(sentence[now + 1])] += sentence.slice(0, now).filter((word) => word === voter).length;
  }
  return counts.map((n) => n / sum(counts));
});

/** The votes for both candidates, each voter weighted by the mask. */
export const totals = (log, mask) => range(2, (c) => dot(mask, votes(log).map((row) => row[c])));

/** The error function (Abramowitz and Stegun 7.1.26 is too coarse: its series and continued fraction). */
export function erf(x) {
  const a = Math.abs(x);
  if (a > 6) return Math.sign(x);
  let term = a, total = a;
  for (let n = 1; n < 120; n++) {
    term *= (-a * a) / n;
    total += term / (2 * n + 1);
  }
  return (Math.sign(x) * 2 * total) / Math.sqrt(Math.PI);
}

/** The lead of the right word, its standard deviation under the noise, and how often the wrong word wins. */
export function lead(log, mask, noise) {
  const right = CANDIDATES.indexOf(SENTENCES[log][10]), total = totals(log, mask);
  const by = total[right] - total[1 - right], sd = noise * Math.sqrt(2 * sum(mask.map((m) => m * m)));
  return { by, sd, right, wrong: sd === 0 ? (Math.abs(by) < 1e-12 ? 0.5 : by < 0 ? 1 : 0) : 0.5 * (1 - erf(by / sd / Math.SQRT2)) };
}

const amount = (x) => fixed(x, 1).replace(/\.0$/, "");

export function say(state) {
  const mask = maskOf(state.mask), total = totals(state.log, mask), { wrong } = lead(state.log, mask, state.noise);
  const [low, high] = [Math.min(...total), Math.max(...total)];
  const title = !mask.some((m) => m > 0) ? "nobody may vote, nothing is said"
    : high - low < 1e-9 ? `a tie, ${amount(high)} to ${amount(low)}, the one who knows is silent`
      : low === 0 ? `only the one that knows may vote, the wrong word wins ${percent(wrong)} of the time`
        : `“${CANDIDATES[total.indexOf(high)]}” wins by ${amount(high)} to ${amount(low)} votes`;
  return {
    title: `“… whether it ran ___”: ${title}`,
    note: `check the ${state.log} log and find out whether it ran ___ (down or please?)   with noise ${state.noise.toFixed(1)} the wrong word wins ${percent(wrong)} of the time`,
    alt: `After the ${state.log} log nine words vote on what follows ran: down ${amount(total[0])}, please ${amount(total[1])}. The wrong word wins ${percent(wrong)} of the time.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, mask = maskOf(state.mask), rows = votes(state.log), voters = SENTENCES[state.log].slice(0, 9);
  const row = tall ? Math.min(34, (H * 0.52) / 9.6) : (H - 60) / 9.4, top = 44, x0 = tall ? 112 : 150, track = tall ? 120 : W * 0.2;
  const high = Math.min(row - 8, 44), x = scale([0, 1], [x0, x0 + track]), y = (i) => top + i * row;
  const set = (i, m) => {
    const moved = maskOf(ctx.now().mask);
    moved[i] = Number(clamp(m, 0, 1).toFixed(1));
    ctx.set({ mask: moved.join(",") }, 0);
  };
  const g = layer(root, "voters");
  put(layer(g, "heads"), "text", [
    words("voter", x0 - 24, 22, "voter", { size: 19, at: "end", ink: "soft" }), words("mask", x0, 22, "how loud", { size: 19, ink: "soft" }),
    words("vote", x0 + track + 66, 22, tall ? "its vote" : "its vote: down, please", { size: 19, ink: "soft" }),
  ], ctx);
  put(layer(g, "words"), "text", voters.map((word, i) => words(i, x0 - 24, y(i) + high / 2 + 7, word, { size: tall ? 18 : 23, at: "end", bold: Math.max(...rows[i]) === 1, ink: mask[i] ? "ink" : "soft" })), ctx);
  put(layer(g, "tracks"), "rect", voters.map((_, i) => ({ key: i, x: x0, y: y(i) + high / 2 - 4, width: track, height: 8, rx: 4, fill: colour("line"), drag: (px) => set(i, x.back(px)) })), ctx);
  put(layer(g, "fills"), "rect", voters.map((_, i) => ({ key: i, x: x0, y: y(i) + high / 2 - 4, width: track * mask[i], height: 8, rx: 4, fill: colour("green"), "pointer-events": "none" })), ctx);
  put(layer(g, "handles"), "circle", voters.map((word, i) => ({
    key: i, cx: x(mask[i]), cy: y(i) + high / 2, r: tall ? 13 : 15, fill: colour("green"), stroke: colour("paper"), "stroke-width": 3, class: "grab", drag: (px) => set(i, x.back(px)),
    slide: { label: `how loud “${word}” is`, value: mask[i], min: 0, max: 1, step: 0.1, text: amount(mask[i]), set: (m) => set(i, m) },
  })), ctx);
  const votesAt = x0 + track + 66, unit = tall ? Math.min(110, W - votesAt - 14) : W * 0.16;
  put(layer(g, "loud"), "text", voters.map((_, i) => words(i, x0 + track + 22, y(i) + high / 2 + 7, amount(mask[i]), { size: tall ? 17 : 20, bold: true })), ctx);
  // the same pieces, small, beside their voter; large ones lie on the piles
  const pieces = rows.flatMap((shares, i) => shares.map((share, c) => ({ i, c, share, left: votesAt + unit * sum(shares.slice(0, c)) * mask[i] + (c && shares[0] ? 3 : 0), wide: share * mask[i] * unit })));
  put(layer(g, "votes"), "rect", pieces.map(({ i, c, left, wide }) => ({ key: i * 2 + c, x: left, y: y(i) + 2, width: wide, height: high - 4, rx: 4, fill: colour(COLOURS[c]) })), ctx);
  drawCount(layer(root, "count"), state, ctx, { mask, rows }, tall ? { x: 40, y: y(9) + 24, w: W * 0.42, h: H - y(9) - 60 } : { x: votesAt + unit + W * 0.07, y: 30, w: W - votesAt - unit - W * 0.09, h: H * 0.54 });
  drawBell(layer(root, "bell"), state, ctx, mask, tall ? { x: W * 0.56, y: y(9) + 66, w: W * 0.4, h: H - y(9) - 122 } : { x: votesAt + unit + W * 0.07, y: H * 0.73, w: W - votesAt - unit - W * 0.09, h: H * 0.17 });
}

/** Two piles: each voter's weighted piece lies on the word that it is for. */
function drawCount(g, state, ctx, { mask, rows }, box) {
  const total = totals(state.log, mask), base = box.y + box.h, unit = (box.h - 36) / 6, wide = Math.min(box.w * 0.36, 130);
  const x = (c) => box.x + box.w * (c ? 0.74 : 0.26) - wide / 2;
  const heights = [0, 0];
  const pieces = rows.flatMap((shares, i) => shares.map((share, c) => {
    const h = share * mask[i] * unit;
    heights[c] += h;
    return { key: i * 2 + c, x: x(c), y: base - heights[c], width: wide, height: h, fill: colour(COLOURS[c]), stroke: colour("paper"), "stroke-width": h > 4 ? 2 : 0 };
  }));
  put(layer(g, "pieces"), "rect", pieces, ctx);
  put(layer(g, "base"), "line", [{ key: "base", x1: box.x, x2: box.x + box.w, y1: base, y2: base, stroke: colour("soft"), "stroke-width": 2 }], ctx);
  put(layer(g, "words"), "text", total.flatMap((value, c) => [
    words(`n${c}`, x(c) + wide / 2, base - value * unit - 10, amount(value), { size: ctx.tall ? 24 : 30, at: "middle", bold: true }),
    words(`w${c}`, x(c) + wide / 2, base + 26, CANDIDATES[c], { size: ctx.tall ? 20 : 23, at: "middle", bold: true }),
  ]), ctx);
}

/** The lead of the right word as the noise shakes it; what lies left of zero is lost. */
function drawBell(g, { log, noise }, ctx, mask, box) {
  const { by, sd, right, wrong } = lead(log, mask, noise), reach = 3.2, x = scale([-reach, reach], [box.x, box.x + box.w]);
  const width = Math.max(sd, 0.06), bell = (v) => Math.exp(-0.5 * ((v - by) / width) ** 2);
  const curve = (from, to) => path([[x(from), box.y + box.h], ...spaced(from, to, 90).map((v) => [x(v), box.y + box.h * (1 - bell(v))]), [x(to), box.y + box.h]], true);
  put(layer(g, "all"), "path", [{ key: "all", d: curve(-reach, reach), fill: colour(COLOURS[right]), "fill-opacity": 0.35 }], ctx);
  put(layer(g, "lost"), "path", [{ key: "lost", d: curve(-reach, 0), fill: colour("red") }], ctx);
  put(layer(g, "zero"), "line", [{ key: "zero", x1: x(0), x2: x(0), y1: box.y - 12, y2: box.y + box.h + 4, stroke: colour("ink"), "stroke-width": 2 }, { key: "base", x1: box.x, x2: box.x + box.w, y1: box.y + box.h, y2: box.y + box.h, stroke: colour("soft"), "stroke-width": 2 }], ctx);
  const small = ctx.tall ? 17 : 19, out = ctx.tall ? 14 : 0;
  put(layer(g, "words"), "text", [
    words("title", box.x + box.w / 2, box.y - 22, ctx.tall ? "lead, shaken" : ctx.W < 1150 ? "the lead, shaken by the noise" : `the lead of “${CANDIDATES[right]}”, shaken by the noise`, { size: small, at: "middle", ink: "soft" }),
    words("lost", box.x - out, box.y + box.h + 24, `lost: ${percent(wrong)}`, { size: ctx.tall ? 17 : 21, bold: true }),
    words("won", box.x + box.w + out, box.y + box.h + 24, `won: ${percent(1 - wrong)}`, { size: ctx.tall ? 17 : 21, bold: true, at: "end" }),
  ], ctx);
}
