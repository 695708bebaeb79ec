// Small mathematics that several demos share, and how numbers are written.

/** The sum of a list. */
export const sum = (list) => list.reduce((a, b) => a + b, 0);

/** The dot product of two lists. */
export const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);

/** The softmax of a list; −∞ becomes 0. */
export function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((s) => Math.exp(s - top));
  const total = sum(powers);
  return powers.map((p) => p / total);
}

/** The place of the largest number. */
export const argmax = (list) => list.reduce((best, x, i) => (x > list[best] ? i : best), 0);

/** 0, 1, …, n − 1, or what `of` makes of them. */
export const range = (n, of = (i) => i) => Array.from({ length: n }, (_, i) => of(i));

/** n numbers from low to high. */
export const spaced = (low, high, n) => range(n, (i) => low + ((high - low) * i) / (n - 1));

/** The value within its bounds. */
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** A generator of random numbers below 1; the same seed gives the same numbers (mulberry32). */
export function random(seed) {
  let a = (seed * 2654435761 + 0x9e3779b9) >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A place of the list p of probabilities, drawn with the generator. */
export function draw(rng, p) {
  let left = rng() * sum(p);
  for (let i = 0; i < p.length; i++) {
    left -= p[i];
    if (left < 0) return i;
  }
  return p.findLastIndex((x) => x > 0);
}

/** ln Γ(x) for x > 0 (Lanczos, g = 7). */
export function lnGamma(x) {
  const c = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lnGamma(1 - x);
  const t = x - 1 + 7.5;
  const series = c.slice(1).reduce((s, ci, i) => s + ci / (x + i), c[0]);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(series);
}

/** A number with n decimals and a true minus sign. */
export const fixed = (x, n = 2) => {
  const text = x.toFixed(n);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
};

/** A share in per cent. */
export const percent = (p, n = 0) => `${fixed(100 * p, n)}%`;

/** A number of two significant digits, as a slider says it. */
export const short = (x) => String(Number(x.toPrecision(2)));

/** A whole number with commas between thousands. */
export const commas = (n) => Math.round(n).toLocaleString("en-US");
