// Lab 02: what a few throws tell about a coin or a three-sided die, given what was believed before.

import { clamp, draw as drawn, fixed, lnGamma, percent, random, range, short, spaced, sum } from "./numbers.js";
import { colour, layer, path, put, scale, wide, words } from "./kit.js";

export const meta = {
  "name": "02_dirichlet",
  "title": "What do a few throws tell?",
  "look": "Each throw adds a block and pushes the belief a little. Pull the dashed blocks up or down: they are α, throws that nobody made.",
  "questions": [
    ["Three throws, three heads. What would you bet on the fourth, and what does the peak bet?", "With α = 1 the mean says (3 + 1)/(3 + 2) = 80%. The peak says 100%: it bets everything on what it saw.", [2, 4]],
    ["Which α says: I am sure that this coin is loaded, I just don't know to which side?", "α below 1: the belief is high at both ends and low in the middle.", [1, 3]],
    ["A letter pair never occurred in the names. What has this triangle to do with it?", "It is the face that never came: with α > 0 it still gets a share, and the model never says “impossible”.", [5, 6]]
  ],
  "poster": 4
};

export const scenes = [
  { name: "nothing seen", set: { seen: 0 } },
  { name: "five throws", set: { seen: 5 } },
  { name: "a stubborn belief", set: { seen: 5, alpha: 20 } },
  { name: "sixty throws", set: { seen: 60 } },
  { name: "a die, C unseen", set: { thing: "die", seen: 6 } },
  { name: "the die, sixty throws", set: { thing: "die", seen: 60 } },
];

const LAST = 60;

export const controls = [
  { kind: "choice", name: "thing", label: "throw", options: [["coin", "a coin"], ["die", "a die with three faces"]], start: "coin" },
  { kind: "steps", name: "seen", label: "throws", last: LAST, start: 0, wait: 350 },
  { kind: "slider", name: "alpha", label: "α, the belief before", low: 0.1, high: 20, start: 1, log: true },
  { kind: "again", name: "seed", label: "other throws", start: 240, also: { said: "" } },
  { kind: "picture", name: "said", start: "001001", read: (text) => (/^[012]{0,60}$/.test(text) ? text : null) },
];

/** The shares that the throws follow; the audience does not know them. */
const TRUTH = { coin: [0.7, 0.3], die: [0.6, 0.3, 0.1] };
const FACES = { coin: ["heads", "tails"], die: ["A", "B", "C"] };
const COLOURS = ["blue", "orange", "green"];

/** The throws that were seen: first those made by hand, then those of a die. */
export function throws({ thing, seen, seed, said }) {
  const rng = random(seed), K = TRUTH[thing].length;
  const list = [...said].map(Number).map((face) => face % K);
  while (list.length < LAST) list.push(drawn(rng, TRUTH[thing]));
  return list.slice(0, seen);
}

export const countsOf = (state) => TRUTH[state.thing].map((_, face) => throws(state).filter((f) => f === face).length);

/** The shares as believed on average: (n + α) / (N + K α). */
export const believed = (counts, alpha) => counts.map((n) => (n + alpha) / (sum(counts) + counts.length * alpha));

/** The largest standard deviation of a share under the belief. */
export function spread(counts, alpha) {
  const a = counts.map((n) => n + alpha), total = sum(a);
  return Math.max(...a.map((x) => Math.sqrt(((x / total) * (1 - x / total)) / (total + 1))));
}

/** The most believable shares, (n + α − 1) / …; null where the density has no top inside. */
export function peak(counts, alpha) {
  const a = counts.map((n) => n + alpha - 1);
  return a.every((x) => x > 0) ? a.map((x) => x / sum(a)) : null;
}

/** ln of the Dirichlet density at shares p. */
export const logDensity = (p, a) => sum(p.map((x, i) => (a[i] - 1) * Math.log(x))) + lnGamma(sum(a)) - sum(a.map(lnGamma));

export function say(state) {
  const { thing, seen, alpha } = state, counts = countsOf(state), shares = believed(counts, alpha), faces = FACES[thing];
  const never = counts.indexOf(0);
  const title = !seen
    ? Math.abs(alpha - 1) < 0.05 ? `Before the first throw every ${thing} is as believable as any other, however bent`
      : `Before any throw, α = ${short(alpha)} believes in ${alpha > 1 ? "fair" : "one-sided"} things`
    : never >= 0 ? `${faces[never]} never came in ${seen} throw${seen > 1 ? "s" : ""}, and still gets ${percent(shares[never], 1)}`
      : `${seen} throws tell the shares to about ±${Math.round(100 * spread(counts, alpha))} points`;
  return {
    title,
    note: `believed share = (count + α) / (throws + ${faces.length}α), with α = ${short(alpha)} and ${seen} throw${seen === 1 ? "" : "s"}`,
    alt: faces.map((face, i) => `${face} ${counts[i]} times, believed ${percent(shares[i])}`).join(", "),
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, counts = countsOf(state);
  const left = tall ? { x: 46, y: 20, w: W - 70, h: H * 0.42 } : { x: 60, y: 24, w: W * 0.54, h: H - 150 };
  const right = tall ? { x: 40, y: H * 0.42 + 96, w: W - 60, h: H * 0.58 - 198 } : { x: W * 0.67, y: 24, w: W * 0.31, h: H - 150 };
  const [coin, die] = [layer(root, "coin"), layer(root, "die")];
  coin.attr("display", state.thing === "coin" ? null : "none");
  die.attr("display", state.thing === "die" ? null : "none");
  state.thing === "coin" ? drawCoin(coin, counts, state, ctx, left) : drawDie(die, counts, state, ctx, left);
  drawBlocks(layer(root, "blocks"), counts, state, ctx, right);
  drawThrows(layer(root, "throws"), state, ctx, tall ? { x: 20, y: H - 22, w: W - 40 } : { x: 20, y: H - 26, w: W - 40 });
}

function drawCoin(g, counts, { alpha }, ctx, box) {
  const grid = spaced(0.004, 0.996, 160), a = counts.map((n) => n + alpha);
  const density = grid.map((p) => Math.exp(logDensity([p, 1 - p], a)));
  const top = Math.max(1.3, 1.15 * Math.max(...density.filter((_, i) => grid[i] > 0.02 && grid[i] < 0.98)));
  const x = scale([0, 1], [box.x, box.x + box.w]), y = scale([0, top], [box.y + box.h, box.y]);
  const points = grid.map((p, i) => [x(p), y(Math.min(density[i], top))]);
  put(layer(g, "area"), "path", [{ key: "area", d: path([[x(0), y(0)], ...points, [x(1), y(0)]], true), fill: colour("blue"), "fill-opacity": 0.16 }], ctx);
  put(layer(g, "curve"), "path", [{ key: "curve", d: path(points), fill: "none", stroke: colour("blue"), "stroke-width": 5, "stroke-linejoin": "round" }], ctx);
  put(layer(g, "base"), "line", [{ key: "base", x1: x(0), x2: x(1), y1: y(0), y2: y(0), stroke: colour("soft"), "stroke-width": 2 }], ctx);
  const [mean] = believed(counts, alpha), best = sum(counts) ? peak(counts, alpha) : null, right = mean > 0.72;
  const called = best && `peak ${fixed(best[0])}`, size = ctx.tall ? 18 : 20;
  put(layer(g, "mean"), "line", [{ key: "mean", x1: x(mean), x2: x(mean), y1: y(0), y2: box.y + 2, stroke: colour("ink"), "stroke-width": 3 }], ctx);
  put(layer(g, "peak"), "line", best ? [{
    key: "peak", x1: x(best[0]), x2: x(best[0]), y1: y(0), y2: y(Math.exp(logDensity(best, a))), stroke: colour("red"), "stroke-width": 3, "stroke-dasharray": "9 7",
  }] : [], ctx);
  put(layer(g, "words"), "text", [
    ...[0, 0.5, 1].map((p) => words(`t${p}`, x(p), y(0) + 26, percent(p), { size: 18, at: "middle", ink: "soft" })),
    words("x", x(0.25), y(0) + 26, "share of heads", { size: 18, at: "middle", ink: "soft" }),
    words("y", box.x, box.y - 4, "belief", { size: 18, ink: "soft" }),
    words("mean", x(mean) + (right ? -10 : 10), box.y + 16, `mean ${fixed(mean)}`, { size: 21, bold: true, at: right ? "end" : "start", class: "halo" }),
    ...(best ? [words("peak", best[0] > mean ? Math.min(x(best[0]) + 10, ctx.W - wide(called, size)) : x(best[0]) - 10, y(0) - 14, called, { size, at: best[0] > mean ? "start" : "end", class: "halo" })] : []),
  ], ctx);
}

// the large triangle, filled with small ones: their corners and their middles as shares
const ROWS = 26;
const SMALL = range(ROWS).flatMap((i) => range(ROWS - i).flatMap((j) => {
  const k = ROWS - i - j;
  const up = [[i, j, k], [i + 1, j, k - 1], [i, j + 1, k - 1]], down = [[i + 1, j, k - 1], [i, j + 1, k - 1], [i + 1, j + 1, k - 2]];
  return (k > 1 ? [up, down] : [up]).map((corners) => corners.map((c) => c.map((v) => v / ROWS)));
}));
export const MIDDLES = SMALL.map((corners) => range(3, (i) => sum(corners.map((c) => c[i])) / 3));

/** Where shares lie in the triangle of side 1: A below left, B below right, C on top. */
export const spot = ([, b, c]) => [b + c / 2, (c * Math.sqrt(3)) / 2];

function drawDie(g, counts, { alpha }, ctx, box) {
  const size = Math.min(box.w - 30, (box.h - 34) / 0.866), ox = box.x + (box.w - size) / 2, oy = box.y + 30 + size * 0.866;
  const at = (p) => { const [a, b] = spot(p); return [ox + a * size, oy - b * size]; };
  const a = counts.map((n) => n + alpha), density = MIDDLES.map((p) => logDensity(p, a)), high = Math.max(...density);
  const field = layer(g, "field").attr("stroke", colour("blue")).attr("fill", colour("blue"));
  const cells = field.selectChildren("path").data(SMALL);
  cells.enter().append("path").merge(cells).each(function (corners, i) {
    if (this.size !== size || this.ox !== ox || this.oy !== oy) this.setAttribute("d", path(corners.map(at), true));
    Object.assign(this, { size, ox, oy });
    const opacity = (0.92 * Math.exp(density[i] - high)).toFixed(2);
    if (this.shown !== opacity) this.setAttribute("opacity", (this.shown = opacity));
  });
  put(layer(g, "edge"), "path", [{ key: "edge", d: path([[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(at), true), fill: "none", stroke: colour("ink"), "stroke-width": 3, "stroke-linejoin": "round" }], ctx);
  const mean = at(believed(counts, alpha)), N = sum(counts), seen = N ? at(counts.map((n) => n / N)) : null;
  put(layer(g, "seen"), "path", seen ? [{ key: "seen", d: "M-11,-11L11,11M-11,11L11,-11", transform: `translate(${seen[0].toFixed(1)},${seen[1].toFixed(1)})`, stroke: colour("red"), "stroke-width": 6, "stroke-linecap": "round" }] : [], ctx);
  put(layer(g, "mean"), "circle", [{ key: "mean", cx: mean[0], cy: mean[1], r: 12, fill: colour("paper"), stroke: colour("ink"), "stroke-width": 4 }], ctx);
  const corner = (face, p, dx, dy) => { const [cx, cy] = at(p); return words(face, cx + dx, cy + dy, face, { size: 26, at: "middle", bold: true }); };
  put(layer(g, "words"), "text", [
    corner("A", [1, 0, 0], -26, 10), corner("B", [0, 1, 0], 26, 10), corner("C", [0, 0, 1], 0, -10),
    words("mean", box.x - 30, box.y + 4, "○ mean of the belief", { size: 19 }),
    words("seen", box.x - 30, box.y + 32, "× as counted", { size: 19 }),
  ], ctx);
}

/** Each face's blocks: α dashed ones that were there before, and one for each throw. Their share is the belief. */
function drawBlocks(g, counts, state, ctx, box) {
  const { alpha, thing, seen } = state, faces = FACES[thing], K = faces.length, shares = believed(counts, alpha);
  const tallest = Math.max(alpha, 1.2) + Math.max(...counts, 3), base = box.y + box.h - 4;
  const unit = (box.h - 44) / tallest, step = box.w / K, width = Math.min(step * 0.62, 120);
  const x = (i) => box.x + step * (i + 0.5) - width / 2;
  const pull = (py) => ctx.set({ alpha: Number(clamp((base - py) / unit, 0.1, 20).toPrecision(2)) }, 0);
  const thrown = throws(state), order = [0, 0, 0];
  const push = (face) => ctx.set({ said: (thrown.join("") + face).slice(0, LAST), seen: Math.min(thrown.length + 1, LAST) }, 400);
  put(layer(g, "before"), "rect", faces.map((face, i) => ({
    key: i, x: x(i), y: base - alpha * unit, width, height: alpha * unit, rx: 4, fill: colour("faint"), stroke: colour(COLOURS[i]), "stroke-width": 2.5, "stroke-dasharray": "7 5",
    class: "grab", drag: (_, py) => pull(py),
  })), ctx);
  const gap = unit > 7 ? 2 : 0;
  put(layer(g, "seen"), "rect", thrown.map((face, n) => ({
    key: n, x: x(face), y: base - (alpha + ++order[face]) * unit + gap, width, height: Math.max(unit - gap, 1), rx: Math.min(4, unit / 4), fill: colour(COLOURS[face]),
    from: { y: box.y - 30 },
  })), ctx);
  put(layer(g, "handle"), "rect", faces.map((face, i) => ({
    key: i, x: x(i) + width / 2 - 22, y: base - alpha * unit - 7, width: 44, height: 14, rx: 7, fill: colour("paper"), stroke: colour("ink"), "stroke-width": 2.5, class: "grab",
    drag: (_, py) => pull(py), slide: { label: `α, held at ${face}`, value: alpha, min: 0.1, max: 20, step: 0.1, text: short(alpha), set: (a) => ctx.set({ alpha: Number(a.toPrecision(2)) }, 0) },
  })), ctx);
  put(layer(g, "base"), "line", [{ key: "base", x1: box.x, x2: box.x + box.w, y1: base, y2: base, stroke: colour("soft"), "stroke-width": 2 }], ctx);
  put(layer(g, "shares"), "text", faces.map((face, i) => words(i, x(i) + width / 2, base - (alpha + counts[i]) * unit - 16, percent(shares[i], 1), { size: 23, at: "middle", bold: true, class: "halo" })), ctx);
  put(layer(g, "faces"), "rect", faces.map((face, i) => ({
    key: i, x: x(i) - 4, y: base + 8, width: width + 8, height: 42, rx: 8, fill: colour(COLOURS[i]), press: seen < LAST ? () => push(i) : undefined, label: `throw ${face} yourself`,
  })), ctx);
  put(layer(g, "names"), "text", faces.map((face, i) => words(i, x(i) + width / 2, base + 36, `+ ${face}`, { size: 21, at: "middle", bold: true, fill: `var(--on-${COLOURS[i]})` })), ctx);
}

function drawThrows(g, { thing, ...state }, ctx, { x, y, w }) {
  const thrown = throws({ thing, ...state }), fit = Math.floor((w - 110) / 36), first = Math.max(0, thrown.length - fit);
  const shown = thrown.slice(first), side = 30;
  put(layer(g, "title"), "text", [words("title", x, y + 7, first ? "the last:" : "throws:", { size: 19, ink: "soft" }), ...(thrown.length ? [] : [words("none", x + 92, y + 7, "none yet", { size: 19, ink: "soft" })])], ctx);
  put(layer(g, "discs"), "circle", shown.map((face, i) => ({ key: first + i, cx: x + 110 + i * 36, cy: y, r: side / 2, fill: colour(COLOURS[face]), from: { cx: x + w } })), ctx);
  put(layer(g, "letters"), "text", shown.map((face, i) => words(first + i, x + 110 + i * 36, y + 6, FACES[thing][face][0].toUpperCase(), { size: 18, at: "middle", bold: true, fill: `var(--on-${COLOURS[face]})`, from: { x: x + w } })), ctx);
}
