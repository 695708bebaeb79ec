// Attention as threads: what was read on the left, what was said on the right.

import { argmax } from "./numbers.js";
import { colour, layer, put, words as text } from "./kit.js";

/** The words read, the words said, and a thread from each said word to whom it heard, as thick as the weight. */
export function drawThreads(g, { read, unknown, heard, said, shown, from, to, name }, t, ctx, box) {
  const n = Math.max(read.length, said.length), row = Math.min(box.h / n, 46), size = Math.max(17, Math.min(ctx.tall ? 18 : 23, row * 0.66)), right = box.x + box.w;
  const y = (i, count) => box.y + (box.h - row * count) / 2 + (i + 0.5) * row, ys = (j) => y(j, read.length), yt = (i) => y(i, said.length), mid = (box.x + right) / 2;
  const thread = (i, j) => `M${box.x},${ys(j).toFixed(1)}C${mid},${ys(j).toFixed(1)} ${mid},${yt(i).toFixed(1)} ${right},${yt(i).toFixed(1)}`;
  const links = heard.flatMap((row, i) => row.map((w, j) => ({ i, j, w }))).filter(({ i, w }) => i !== t && w > 0.2);
  put(layer(g, "others"), "path", links.map(({ i, j, w }) => ({ key: `${i} ${j}`, d: thread(i, j), fill: "none", stroke: colour("line"), "stroke-width": 6 * w, "stroke-opacity": i < t ? 1 : 0.4 })), ctx);
  put(layer(g, "mine"), "path", heard[t].map((w, j) => ({ key: j, d: thread(t, j), fill: "none", stroke: colour("orange"), "stroke-width": 18 * w, "stroke-opacity": w < 0.01 ? 0 : 0.95, "stroke-linecap": "round" })), ctx);
  const most = argmax(heard[t]);
  put(layer(g, "said"), "rect", said.map((_, i) => ({
    key: i, x: right + 4, y: yt(i) - row / 2 + 1, width: ctx.tall ? 128 : 150, height: row - 2, rx: 7, fill: i === t ? colour("orange") : "transparent", cell: [i, 0], press: () => ctx.set({ step: i }), pressed: i === t, label: name(i),
  })), ctx);
  put(layer(g, "words"), "text", [
    ...read.map((word, j) => text(`s${j}`, box.x - 10, ys(j) + size * 0.35, shown(word, 11) + (unknown[j] ? " ?" : ""), { size, at: "end", bold: j === most || unknown[j], ink: unknown[j] ? "red" : "ink" })),
    ...said.map((word, i) => text(`t${i}`, right + 14, yt(i) + size * 0.35, shown(word, 11), { size, bold: i === t, fill: i === t ? "var(--on-orange)" : colour(i < t ? "ink" : "soft") })),
    text("en", box.x - 10, box.y - 12, from, { size: 18, at: "end", ink: "soft" }), text("de", right + 14, box.y - 12, to, { size: 18, ink: "soft" }),
  ], ctx);
}
