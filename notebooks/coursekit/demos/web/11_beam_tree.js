// Lab 11: beam search as a tree that grows, with two examples.

import { fixed, sum } from "./numbers.js";
import { colour, layer, put, words } from "./kit.js";

export const meta = {
  "name": "11_beam_tree",
  "title": "Beam search: keep several sentences in play",
  "look": "Press play: branches are looked at, k are kept (thick), the others dropped (dashed). Click a word to follow its path.",
  "questions": [
    ["Greedy took the best word each time. Why is its sentence not the best?", "The best first word leads to many middling second words. A slightly worse start had one very good continuation.", [1, 2]],
    ["With which k does beam search look at everything?", "Here with 3: no first word is dropped. In general only a k as large as the number of all beginnings will do.", [2, 5]],
    ["Why do we add logarithms instead of multiplying probabilities?", "A product of many small numbers becomes too small for a computer to hold; the sum of their logarithms does not, and keeps the order.", [3, 4]]
  ],
  "poster": 1
};

const GROWN = 4;

export const scenes = [
  { name: "greedy takes the bait", set: { k: 1 } },
  { name: "two beams", set: { k: 2 } },
  { name: "logarithms add up", set: { example: "sums", k: 2, unit: "logs" } },
  { name: "one beam there", set: { example: "sums", k: 1, unit: "logs" } },
  { name: "three beams: everything", set: { k: 3 } },
];

export const controls = [
  { kind: "choice", name: "example", label: "example", options: [["trap", "greedy trap"], ["sums", "The cat"]], start: "trap" },
  { kind: "slider", name: "k", label: "beams k", low: 1, high: 3, start: 1 },
  { kind: "choice", name: "unit", label: "numbers", options: [["p", "shares"], ["logs", "logs"]], start: "p" },
  { kind: "steps", name: "step", label: "grown", last: GROWN, start: GROWN, wait: 1300 },
  { kind: "picture", name: "path", start: "", read: (text) => (/^[A-Za-z]*( [a-z]+)?$/.test(text) ? text : null) },
];

/** What may follow what was said. Words that are less probable than those shown are left out. */
export const TREES = {
  trap: {
    "": { I: 0.5, You: 0.4, We: 0.1 }, I: { ran: 0.4, ate: 0.35, saw: 0.25 }, You: { saw: 0.7, ran: 0.2, ate: 0.1 }, We: { ate: 0.6, ran: 0.3, saw: 0.1 },
  },
  sums: { "": { The: 0.4, A: 0.2, One: 0.15 }, The: { cat: 0.5, dog: 0.3 }, A: { cat: 0.5, dog: 0.1 }, One: { cat: 0.3, dog: 0.2 } },
};

const join = (said, word) => (said ? `${said} ${word}` : word);

/** For each word of the sentence: every candidate with its sum of logarithms, and the k that are kept. */
export function search(tree, k) {
  let kept = new Map([["", 0]]);
  return [1, 2].map(() => {
    const candidates = new Map([...kept].flatMap(([said, total]) => Object.entries(tree[said]).map(([word, p]) => [join(said, word), total + Math.log(p)])));
    const best = [...candidates].sort((a, b) => b[1] - a[1]).slice(0, k);
    kept = new Map(best);
    return { candidates, kept };
  });
}

const number = (log, unit) => (unit === "p" ? fixed(Math.exp(log)) : fixed(log));
const top = (candidates) => [...candidates].reduce((a, b) => (b[1] > a[1] ? b : a));

export function say({ example, k, unit, step }) {
  const tree = TREES[example], rounds = search(tree, k), [found, score] = top(rounds[1].kept), [best, bestScore] = top(search(tree, 99)[1].candidates);
  const looked = sum(rounds.slice(0, step < 3 ? Math.min(step, 1) : 2).map((r) => r.candidates.size)), all = sum(Object.values(tree).map((row) => Object.keys(row).length));
  const title = step < 1 ? "Nothing is said yet: which words may begin?"
    : step < 2 ? `${rounds[0].candidates.size} words may begin the sentence`
      : step < 3 ? `k = ${k} keeps ${[...rounds[0].kept.keys()].map((w) => `“${w}”`).join(", ")}`
        : step < 4 ? `${rounds[1].candidates.size} sentences are looked at; the best of them ${k > 1 ? "stay" : "stays"}`
          : found !== best ? `k = ${k}: “${found}” with ${number(score, unit)} hides “${best}” with ${number(bestScore, unit)}`
            : `k = ${k} finds “${found}” with ${number(score, unit)}: no sentence is better`;
  return {
    title,
    note: `looked at ${looked} of ${all} branches   (${unit === "p" ? "numbers multiply" : "logarithms add up"} along a path)`,
    alt: `Beam search with k = ${k} finds “${found}” with ${number(score, unit)}. The best sentence of all is “${best}” with ${number(bestScore, unit)}.`,
  };
}

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, { example, k, unit, step, path } = state, tree = TREES[example], rounds = search(tree, k), [found] = top(rounds[1].kept);
  const firsts = Object.keys(tree[""]), leaves = firsts.flatMap((w) => Object.keys(tree[w]).map((v) => join(w, v)));
  const xs = tall ? [26, W * 0.33, W * 0.64] : [50, W * 0.29, W * 0.57], y0 = 60, gap = (H - y0 - 24) / (leaves.length - 0.6);
  const y = Object.fromEntries(leaves.map((leaf, i) => [leaf, y0 + gap * (i + 0.2)]));
  for (const w of firsts) { const mine = leaves.filter((leaf) => leaf.startsWith(`${w} `)); y[w] = sum(mine.map((leaf) => y[leaf])) / mine.length; }
  y[""] = (y[leaves[0]] + y[leaves.at(-1)]) / 2;
  const depth = (node) => (node ? node.split(" ").length : 0), parent = (node) => node.split(" ").slice(0, -1).join(" ");
  const seen = (node) => rounds[depth(node) - 1].candidates.has(node) && step >= 2 * depth(node) - 1;
  const judged = (node) => step >= 2 * depth(node), stays = (node) => judged(node) && rounds[depth(node) - 1].kept.has(node);
  const nodes = [...firsts, ...leaves], size = tall ? 20 : 27, onPath = (node) => path === node || path.startsWith(`${node} `);
  const half = (tall ? 36 : 62), x = (node) => xs[depth(node)];
  const edge = (node) => {
    const from = x(parent(node)) + (parent(node) ? half : tall ? 20 : 30), to = x(node) - half, ya = y[parent(node)], yb = y[node], mid = (from + to) / 2;
    return `M${from},${ya.toFixed(1)}C${mid},${ya.toFixed(1)} ${mid},${yb.toFixed(1)} ${to},${yb.toFixed(1)}`;
  };
  const g = layer(root, "tree");
  put(layer(g, "edges"), "path", nodes.map((node) => {
    const p = tree[parent(node)][node.split(" ").at(-1)];
    return {
      key: `${example} ${node}`, d: edge(node), fill: "none", stroke: colour(onPath(node) ? "blue" : stays(node) ? "orange" : seen(node) ? "soft" : "line"), "stroke-width": stays(node) ? 3 + 12 * p : seen(node) ? 3 : 1.5,
      "stroke-dasharray": stays(node) ? null : seen(node) ? (judged(node) ? "8 7" : null) : "2 8", "stroke-linecap": "round",
    };
  }), ctx);
  put(layer(g, "shares"), "text", nodes.filter(seen).map((node) => {
    const from = x(parent(node)) + (parent(node) ? half : 20), to = x(node) - half, by = 0.68;
    return words(`${example} ${node}`, from + by * (to - from), y[parent(node)] + 0.83 * (y[node] - y[parent(node)]) + 7, number(Math.log(tree[parent(node)][node.split(" ").at(-1)]), unit), { size: tall ? 17 : 20, at: "middle", bold: stays(node), class: "halo" });
  }), ctx);
  put(layer(g, "pills"), "rect", nodes.map((node) => ({
    key: `${example} ${node}`, x: x(node) - half + 2, y: y[node] - Math.min(gap * 0.42, 22), width: 2 * half - 4, height: Math.min(gap * 0.84, 44), rx: Math.min(gap * 0.42, 22), fill: colour(stays(node) ? "orange" : "paper"),
    stroke: colour(onPath(node) ? "blue" : stays(node) ? "orange" : seen(node) ? "soft" : "line"), "stroke-width": onPath(node) ? 5 : 2, "stroke-dasharray": !stays(node) && judged(node) && seen(node) ? "6 5" : null,
    press: () => ctx.set({ path: path === node ? "" : node }), pressed: path === node, label: `follow “${node}”`,
  })), ctx);
  put(layer(g, "words"), "text", nodes.map((node) => words(`${example} ${node}`, x(node), y[node] + size * 0.34, node.split(" ").at(-1), { size: Math.min(size, gap * 0.62), at: "middle", bold: stays(node), fill: stays(node) ? "var(--on-orange)" : colour(seen(node) ? "ink" : "soft") })), ctx);
  put(layer(g, "root"), "circle", [{ key: "root", cx: xs[0], cy: y[""], r: tall ? 18 : 26, fill: colour("blue") }], ctx);
  // each looked-at sentence's sum, as a bar of its probability
  const at = xs[2] + half + 14, reach = W - at - (tall ? 72 : 245), show = leaves.filter(seen), most = Math.exp(top(search(tree, 99)[1].candidates)[1]);
  put(layer(g, "bars"), "rect", show.map((leaf) => ({ key: `${example} ${leaf}`, x: at, y: y[leaf] - Math.min(gap * 0.3, 13), width: (reach * Math.exp(rounds[1].candidates.get(leaf))) / most, height: Math.min(gap * 0.6, 26), rx: 4, fill: colour(stays(leaf) ? "orange" : "line"), from: { width: 0 } })), ctx);
  put(layer(g, "sums"), "text", show.map((leaf) => {
    const v = rounds[1].candidates.get(leaf), mark = tall ? "" : judged(leaf) ? (leaf === found ? "  ← the answer" : stays(leaf) ? "  kept" : "") : "";
    return words(`${example} ${leaf}`, at + (reach * Math.exp(v)) / most + 8, y[leaf] + 7, number(v, unit) + mark, { size: tall ? 17 : 21, bold: stays(leaf) });
  }), ctx);
  const product = path && nodes.includes(path) ? path.split(" ").map((_, i, all) => { const node = all.slice(0, i + 1).join(" "); return tree[parent(node)][all[i]]; }) : null;
  const told = product ? `“${path}”: ${product.map((p) => number(Math.log(p), unit)).join(unit === "p" ? " · " : " + ").replaceAll("+ −", "− ")} = ${number(sum(product.map(Math.log)), unit)}` : "";
  put(layer(g, "heads"), "text", tall ? [words("told", 4, 24, told || "click a word to follow its path", { size: 19, bold: !!told, ink: told ? "ink" : "soft", room: W - 8 })] : [
    words("first", xs[1], 26, "first word", { size: 20, at: "middle", ink: "soft" }), words("second", xs[2], 26, "second word", { size: 20, at: "middle", ink: "soft" }),
    words("told", at, 26, told || (unit === "p" ? "the product" : "the sum"), { size: 20, bold: !!told, ink: told ? "ink" : "soft", room: W - at - 4 }),
  ], ctx);
}
