// Lab 13: a tone or three vowels become a sentence of frames: waveform, spectrogram, mel bands. The sound can be heard.

import { argmax, clamp, commas, range, sum } from "./numbers.js";
import { colour, layer, path, put, words } from "./kit.js";

export const meta = {
  "name": "13_sound_to_mel",
  "title": "Sound is a sentence of frames",
  "look": "Press ♪ to hear it, and drag the orange frame: so many samples become one token of a few numbers.",
  "questions": [
    ["Each octave doubles the frequency. Why are its steps more even in mel than in hertz?", "Mel follows the ear, nearly a logarithm above 1,000 Hz: to double a frequency is to add about the same.", [1, 5]],
    ["Longer frames: what gets sharper, and what is smeared?", "Pitch gets sharper, for more waves are counted; time is smeared, for all that happens in one frame becomes one column.", [4, 6]],
    ["How many tokens would a minute of speech be? And how many pairs for attention?", "With frames of 256 samples 62 tokens a second, 3,700 a minute: nearly 14 million pairs.", [2, 3]]
  ],
  "poster": 1
};

const RATE = 8000, DEPTH = 12;

export const scenes = [
  { name: "octaves", set: {} },
  { name: "vowels: a", set: { name: "vowels", moment: 15 } },
  { name: "vowels: i", set: { name: "vowels", moment: 50 } },
  { name: "long frames", set: { name: "vowels", size: 512, moment: 85 } },
  { name: "eight bands", set: { bands: 8, moment: 90 } },
  { name: "two tones", set: { name: "hum" } },
];

export const controls = [
  { kind: "choice", name: "name", label: "sound", options: [["octaves", "octaves"], ["vowels", "a, i, u"], ["tone", "a tone"], ["hum", "two tones"]], start: "octaves" },
  { kind: "choice", name: "size", label: "frame", options: [128, 256, 512].map((n) => [n, String(n)]), start: 256 },
  { kind: "slider", name: "bands", label: "mel bands", low: 8, high: 40, start: 32 },
  { kind: "steps", name: "moment", label: "moment", last: 100, start: 50, wait: 70, write: (x) => `${x}%` },
];

// --- the mathematics ----------------------------------------------------------------------------------------------

const sine = (hertz, seconds) => Float64Array.from({ length: Math.round(seconds * RATE) }, (_, n) => Math.sin((2 * Math.PI * hertz * n) / RATE));
const FORMANTS = { a: [800, 1200, 2500], i: [300, 2300, 3000], u: [320, 800, 2300] };

/** A buzz of 120 hertz, its harmonics louder near the vowel's formants. */
function vowel(name, seconds) {
  const total = new Float64Array(Math.round(seconds * RATE));
  for (let hertz = 120; hertz < RATE / 2; hertz += 120) {
    const loud = sum(FORMANTS[name].map((f) => 1 / (1 + ((hertz - f) / 80) ** 2)));
    sine(hertz, seconds).forEach((v, n) => { total[n] += loud * v; });
  }
  const most = total.reduce((a, v) => Math.max(a, Math.abs(v)), 0);
  return total.map((v) => v / most);
}

const kept = new Map();
const once = (key, make) => { if (!kept.has(key)) kept.set(key, make()); return kept.get(key); };

/** One second of sound, between −1 and 1. */
export const sound = (name) => once(name, () => {
  const joined = (parts) => Float64Array.from(parts.flatMap((part) => [...part])).slice(0, RATE);
  if (name === "tone") return sine(440, 1);
  if (name === "hum") { const high = sine(3000, 1); return sine(300, 1).map((v, n) => (v + high[n]) / 2); }
  if (name === "octaves") return joined(range(5, (k) => sine(220 * 2 ** k, 0.2)));
  return joined([..."aiu"].map((v) => vowel(v, 1 / 3)));
});

/** The powers of a frame's frequencies, frame / 2 + 1 of them (a fast Fourier transform of real numbers). */
export function spectrum(samples) {
  const n = samples.length, re = Float64Array.from(samples), im = new Float64Array(n);
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) [re[i], re[j]] = [re[j], re[i]];
  }
  for (let size = 2; size <= n; size *= 2)
    for (let start = 0; start < n; start += size)
      for (let k = 0; k < size / 2; k++) {
        const angle = (-2 * Math.PI * k) / size, c = Math.cos(angle), s = Math.sin(angle), a = start + k, b = a + size / 2;
        const x = re[b] * c - im[b] * s, y = re[b] * s + im[b] * c;
        [re[b], im[b], re[a], im[a]] = [re[a] - x, im[a] - y, re[a] + x, im[a] + y];
      }
  return range(n / 2 + 1, (k) => re[k] ** 2 + im[k] ** 2);
}

/** The power of each frequency in frames that overlap by half, faded by a Hann window. */
export const powers = (name, frame) => once(`${name} ${frame}`, () => {
  const signal = sound(name), fade = range(frame, (n) => 0.5 * (1 - Math.cos((2 * Math.PI * n) / frame)));
  return range(Math.floor((signal.length - frame) / (frame / 2)) + 1, (t) => spectrum(fade.map((f, n) => f * signal[(t * frame) / 2 + n])));
});

/** Where the triangles begin, peak and end, in hertz: bands + 2 numbers, evenly spaced in mel. */
export const corners = (bands) => range(bands + 2, (k) => 700 * (10 ** ((k * Math.log10(1 + RATE / 1400)) / (bands + 1)) - 1));

/** The logarithm of the power under each triangle, frame by frame. */
export const mels = (name, frame, bands) => once(`${name} ${frame} ${bands}`, () => {
  const at = corners(bands);
  const triangles = range(bands, (k) => range(frame / 2 + 1, (i) => [i, Math.max(0, Math.min(((i * RATE) / frame - at[k]) / (at[k + 1] - at[k]), (at[k + 2] - (i * RATE) / frame) / (at[k + 2] - at[k + 1])))]).filter(([, w]) => w > 0));
  return powers(name, frame).map((power) => triangles.map((row) => Math.log(Math.max(sum(row.map(([i, w]) => power[i] * w)), 1e-10))));
});

const frameAt = ({ moment }, count) => Math.min(count - 1, Math.round((moment / 100) * (count - 1)));

export function say({ name, size, bands, moment }) {
  const found = mels(name, size, bands), t = frameAt({ moment }, found.length), loud = argmax(found[t]);
  return {
    title: `At ${((t * size) / 2 / RATE).toFixed(2)} s the loudest of ${bands} bands is around ${commas(corners(bands)[loud + 1])} Hz`,
    note: `8,000 samples → ${found.length} frames × ${size / 2 + 1} frequencies → ${found.length} tokens × ${bands} numbers`,
    alt: `One second of sound becomes ${found.length} frames of ${bands} mel bands. Frame ${t} is loudest in band ${loud}.`,
  };
}

// --- the sound ----------------------------------------------------------------------------------------------------

let speaker = null, playing = null;

/** Play the sound once; the frame follows. */
function hear(name, ctx) {
  leave();
  speaker ??= new AudioContext();
  const samples = sound(name), buffer = speaker.createBuffer(1, samples.length, RATE);
  buffer.copyToChannel(Float32Array.from(samples, (v) => v * 0.5), 0);
  const source = speaker.createBufferSource();
  source.buffer = buffer;
  source.connect(speaker.destination);
  source.start();
  const began = performance.now();
  playing = { source, timer: setInterval(() => {
    const moment = Math.min(100, Math.round((performance.now() - began) / 10));
    ctx.set({ moment }, 0);
    if (moment >= 100) leave();
  }, 30) };
}

/** Stop what sounds. */
export function leave() {
  if (!playing) return;
  clearInterval(playing.timer);
  playing.source.stop();
  playing = null;
}

// --- the picture --------------------------------------------------------------------------------------------------

export function draw(root, state, ctx) {
  const { W, H, tall } = ctx, { name, size, bands } = state, found = mels(name, size, bands), count = found.length, t = frameAt(state, count);
  const left = tall ? 52 : 72, w = tall ? W - left - 12 : W * 0.66 - left, band = (H - (tall ? 262 : 164)) / 3.3;
  const boxes = { wave: { x: left, y: 44, w, h: band * 0.9 }, hertz: { x: left, y: 44 + band * 0.9 + 44, w, h: band * 1.2 }, mel: { x: left, y: 44 + band * 2.1 + 84, w, h: band * 1.2 } };
  if (!tall) boxes.mel.y -= 6;
  drawWave(layer(root, "wave"), state, ctx, t, boxes.wave);
  const logs = once(`log ${name} ${size}`, () => powers(name, size).map((row) => row.map((v) => Math.log(Math.max(v, 1e-10)))));
  tiles(layer(root, "hertz"), `${name} ${size}`, logs, "blue", boxes.hertz, ctx);
  tiles(layer(root, "mel"), `${name} ${size} ${bands}`, found, "green", boxes.mel, ctx);
  const pick = (px) => ctx.set({ moment: clamp(Math.round(((px - left) / w) * 100), 0, 100) }, 0);
  const step = w / count, g = layer(root, "now");
  put(layer(g, "fields"), "rect", [boxes.wave, boxes.hertz, boxes.mel].map((b, i) => ({ key: i, x: b.x, y: b.y, width: b.w, height: b.h, fill: "transparent", drag: pick, class: "grab" })), ctx);
  layer(g, "fields").selectAll("rect").on("click", function (event) { const m = ctx.root.node().getScreenCTM().inverse(); pick(event.clientX * m.a + m.e); });
  put(layer(g, "frames"), "rect", [boxes.hertz, boxes.mel].map((b, i) => ({ key: i, x: left + t * step - 2, y: b.y - 4, width: Math.max(step, 3) + 4, height: b.h + 8, rx: 3, fill: "none", stroke: colour("orange"), "stroke-width": 4, "pointer-events": "none" })), ctx);
  put(layer(g, "grip"), "circle", [{
    key: "grip", cx: left + (t + 0.5) * step, cy: boxes.mel.y + boxes.mel.h + 12, r: 11, fill: colour("orange"), stroke: colour("ink"), "stroke-width": 2, class: "grab", drag: pick,
    slide: { label: "moment", value: state.moment, min: 0, max: 100, step: 1, text: `${((t * size) / 2 / RATE).toFixed(2)} seconds`, set: (moment) => ctx.set({ moment }, 0) },
  }], ctx);
  put(layer(g, "ear"), "rect", [{ key: "ear", x: left + w - 118, y: 2, width: 118, height: 34, rx: 17, fill: colour("orange"), press: () => hear(ctx.now().name, ctx), label: "hear the sound" }], ctx);
  const small = tall ? 17 : 19;
  put(layer(g, "words"), "text", [
    words("ear", left + w - 59, 26, "♪ hear it", { size: 20, at: "middle", bold: true, fill: "var(--on-orange)" }),
    words("wave", left, 26, tall ? "the waveform" : "the waveform around the frame", { size: small, bold: true }),
    words("hertz", left, boxes.hertz.y - 10, "spectrogram, in hertz", { size: small, bold: true }), words("mel", left, boxes.mel.y - 10, "mel frames, by band", { size: small, bold: true }),
    words("h1", left - 8, boxes.hertz.y + 15, "4,000", { size: 17, at: "end", ink: "soft" }), words("h0", left - 8, boxes.hertz.y + boxes.hertz.h, "0", { size: 17, at: "end", ink: "soft" }),
    words("m1", left - 8, boxes.mel.y + 15, String(bands - 1), { size: 17, at: "end", ink: "soft" }), words("m0", left - 8, boxes.mel.y + boxes.mel.h, "0", { size: 17, at: "end", ink: "soft" }),
    words("second", left + w, boxes.mel.y + boxes.mel.h + 26, "1 second", { size: 17, at: "end", ink: "soft" }),
  ].filter((mark) => !(mark.key === "second" && t > count * 0.78)), ctx);
  drawToken(layer(root, "token"), found, t, bands, ctx, tall ? { x: left, y: boxes.mel.y + boxes.mel.h + 62, w, h: H - boxes.mel.y - boxes.mel.h - 74, flat: true } : { x: W * 0.71, y: 40, w: W * 0.27, h: H - 76 });
}

function drawWave(g, { name, size }, ctx, t, box) {
  const signal = sound(name), start = (t * size) / 2, first = clamp(start - size, 0, signal.length - 3 * size), shown = signal.slice(first, first + 3 * size), step = box.w / shown.length, mid = box.y + box.h / 2;
  put(layer(g, "frame"), "rect", [{ key: "frame", x: box.x + (start - first) * step, y: box.y, width: size * step, height: box.h, rx: 4, fill: colour("orange"), "fill-opacity": 0.25, stroke: colour("orange"), "stroke-width": 4 }], ctx);
  put(layer(g, "line"), "path", [{ key: "line", d: path([...shown].map((v, n) => [box.x + n * step, mid - v * box.h * 0.46])), fill: "none", stroke: colour("ink"), "stroke-width": 1.6 }], { ...ctx, ms: 0 });
}

/** Loudness in eight shades, one path a shade, drawn anew only when the numbers or the box changed. */
function tiles(g, key, values, ink, box, ctx) {
  const most = Math.max(...values.map((row) => Math.max(...row))), columns = values.length, rows = values[0].length, wide = box.w / columns, high = box.h / rows;
  const called = `${key} ${box.x} ${box.y} ${box.w} ${box.h}`;
  put(layer(g, "back"), "rect", [{ key: "back", x: box.x, y: box.y, width: box.w, height: box.h, fill: colour("faint") }], { ...ctx, ms: 0 });
  if (g.node().called === called) return;
  g.node().called = called;
  const ways = range(8, () => []);
  values.forEach((row, t) => row.forEach((v, f) => {
    const shade = Math.ceil(((v - most + DEPTH) / DEPTH) * 8);
    if (shade >= 1) ways[Math.min(shade, 8) - 1].push(`M${(box.x + t * wide).toFixed(1)},${(box.y + box.h - (f + 1) * high).toFixed(1)}h${(wide + 0.4).toFixed(1)}v${(high + 0.4).toFixed(1)}h-${(wide + 0.4).toFixed(1)}z`);
  }));
  put(layer(g, "shades"), "path", ways.map((way, i) => ({ key: i, d: way.join("") || "M0,0", fill: colour(ink), "fill-opacity": (i + 1) / 8 })), { ...ctx, ms: 0 });
}

function drawToken(g, found, t, bands, ctx, box) {
  const most = Math.max(...found.map((row) => Math.max(...row))), share = (v) => Math.max(0.012, (v - most + DEPTH) / DEPTH), loud = argmax(found[t]), pitch = (box.flat ? box.w : box.h) / bands;
  put(layer(g, "bars"), "rect", found[t].map((v, k) => ({
    key: k, fill: colour(k === loud ? "orange" : "green"), rx: 2,
    ...(box.flat ? { x: box.x + k * pitch + 1, y: box.y + box.h * (1 - share(v)), width: pitch - 2, height: box.h * share(v) } : { x: box.x, y: box.y + (bands - 1 - k) * pitch + 1, width: box.w * share(v), height: pitch - 2 }),
  })), ctx);
  put(layer(g, "words"), "text", [
    words("title", box.x, box.y - 14, `token ${t}: ${bands} numbers`, { size: ctx.tall ? 18 : 21, bold: true }),
    ...(box.flat ? [] : [words("how", box.x, box.y + box.h + 26, "logarithm of each band's power", { size: 18, ink: "soft" })]),
  ], ctx);
}
