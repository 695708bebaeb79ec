// Lab 12's transformer, run in the browser: an encoder and a decoder of post-LN blocks, in single precision.
//
// A matrix is {rows, columns, values}: a Float32Array, row by row. Weights have the names and the shapes of PyTorch's.

import { range } from "./numbers.js";

export const BOS = 1;
export const EOS = 2;
export const UNKNOWN = 3;

/** Numbers in half precision, as base64 → Float32Array. */
export function halves(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), raw = new Uint16Array(bytes.buffer), out = new Float32Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    const bits = raw[i], sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, part = bits & 1023;
    out[i] = sign * (exponent ? 2 ** (exponent - 15) * (1 + part / 1024) : 2 ** -14 * (part / 1024));
  }
  return out;
}

const matrix = (rows, columns) => ({ rows, columns, values: new Float32Array(rows * columns) });
const rowOf = ({ columns, values }, i) => values.subarray(i * columns, (i + 1) * columns);

/** x Wᵀ + b, as nn.Linear. */
function linear(x, { values: w }, b) {
  const n = x.columns, out = matrix(x.rows, w.length / n);
  for (let i = 0; i < x.rows; i++)
    for (let o = 0; o < out.columns; o++) {
      let total = b ? b.values[o] : 0;
      for (let k = 0, xi = i * n, wo = o * n; k < n; k++) total += x.values[xi + k] * w[wo + k];
      out.values[i * out.columns + o] = total;
    }
  return out;
}

/** LayerNorm(x + y) with its weight and bias. */
function addNorm(x, y, weight, bias) {
  const out = matrix(x.rows, x.columns), n = x.columns;
  for (let i = 0; i < x.rows; i++) {
    let mean = 0, square = 0;
    for (let k = 0; k < n; k++) mean += x.values[i * n + k] + y.values[i * n + k];
    mean /= n;
    for (let k = 0; k < n; k++) square += (x.values[i * n + k] + y.values[i * n + k] - mean) ** 2;
    const by = 1 / Math.sqrt(square / n + 1e-5);
    for (let k = 0; k < n; k++) out.values[i * n + k] = (x.values[i * n + k] + y.values[i * n + k] - mean) * by * weight.values[k] + bias.values[k];
  }
  return out;
}

/** Queries, keys and values cut into heads → what each query hears, and the weights [head][query][key]. */
function attend(q, k, v, heads) {
  const size = q.columns / heads, out = matrix(q.rows, q.columns), maps = [];
  for (let h = 0; h < heads; h++) {
    const map = [];
    for (let i = 0; i < q.rows; i++) {
      const scores = new Float64Array(k.rows);
      let top = -Infinity, total = 0;
      for (let j = 0; j < k.rows; j++) {
        let s = 0;
        for (let d = h * size; d < (h + 1) * size; d++) s += q.values[i * q.columns + d] * k.values[j * k.columns + d];
        scores[j] = s / Math.sqrt(size);
        top = Math.max(top, scores[j]);
      }
      for (let j = 0; j < k.rows; j++) total += scores[j] = Math.exp(scores[j] - top);
      for (let j = 0; j < k.rows; j++) {
        scores[j] /= total;
        for (let d = h * size; d < (h + 1) * size; d++) out.values[i * q.columns + d] += scores[j] * v.values[j * v.columns + d];
      }
      map.push(Array.from(scores));
    }
    maps.push(map);
  }
  return [out, maps];
}

/** Rows of a above those of b. */
function stack(a, b) {
  if (!a) return b;
  const out = matrix(a.rows + b.rows, a.columns);
  out.values.set(a.values);
  out.values.set(b.values, a.values.length);
  return out;
}

export class Transformer {
  /** `weights`: name → [shape, base64 of half precision]. */
  constructor({ weights, heads }) {
    this.heads = heads;
    this.w = Object.fromEntries(Object.entries(weights).map(([name, [shape, text]]) => [name, { rows: shape[0], columns: shape[1] ?? 1, values: halves(text) }]));
    this.w["target_embedding.weight"] ??= this.w["source_embedding.weight"]; // one table for both, where they share their subwords
    this.width = this.w["source_embedding.weight"].columns;
    this.layers = range(12).filter((i) => `encoder.${i}.norm1.weight` in this.w).length;
  }

  embed(table, words, first = 0) {
    const x = matrix(words.length, this.width), D = this.width;
    words.forEach((word, t) => rowOf(this.w[table], word).forEach((v, d) => {
      const angle = (first + t) / 10000 ** ((d - (d % 2)) / D);
      x.values[t * D + d] = v * Math.sqrt(D) + (d % 2 ? Math.cos(angle) : Math.sin(angle));
    }));
    return x;
  }

  lin(name, x) { return linear(x, this.w[`${name}.weight`], this.w[`${name}.bias`]); }
  norm(name, x, y) { return addNorm(x, y, this.w[`${name}.weight`], this.w[`${name}.bias`]); }

  /** Two layers, ReLU between them. */
  think(name, x) {
    const hidden = this.lin(`${name}.linear1`, x);
    hidden.values.forEach((v, i) => { if (v < 0) hidden.values[i] = 0; });
    return this.lin(`${name}.linear2`, hidden);
  }

  /** Word numbers → the memory, and the maps of each layer. */
  encode(source) {
    let x = this.embed("source_embedding.weight", source);
    const maps = [];
    for (let i = 0; i < this.layers; i++) {
      const at = `encoder.${i}`, [heard, map] = attend(...["Q", "K", "V"].map((m) => this.lin(`${at}.attention.W_${m}`, x)), this.heads);
      maps.push(map);
      x = this.norm(`${at}.norm1`, x, this.lin(`${at}.attention.W_O`, heard));
      x = this.norm(`${at}.norm2`, x, this.think(`${at}.feed_forward`, x));
    }
    const memory = range(this.layers, (i) => ["K", "V"].map((m) => this.lin(`decoder.${i}.cross_attention.W_${m}`, x)));
    return { x, memory, maps };
  }

  /** One more word of the translation → the logits of the next, and the cross-attention of the last layer, mean over heads. */
  step(word, { memory }, past) {
    let y = this.embed("target_embedding.weight", [word], past.length), cross;
    past.length += 1;
    for (let i = 0; i < this.layers; i++) {
      const at = `decoder.${i}`, [q, k, v] = ["Q", "K", "V"].map((m) => this.lin(`${at}.self_attention.W_${m}`, y)), kept = (past.layers[i] ??= {});
      [kept.k, kept.v] = [stack(kept.k, k), stack(kept.v, v)];
      y = this.norm(`${at}.norm1`, y, this.lin(`${at}.self_attention.W_O`, attend(q, kept.k, kept.v, this.heads)[0]));
      const [heard, maps] = attend(this.lin(`${at}.cross_attention.W_Q`, y), ...memory[i], this.heads);
      cross = maps;
      y = this.norm(`${at}.norm2`, y, this.lin(`${at}.cross_attention.W_O`, heard));
      y = this.norm(`${at}.norm3`, y, this.think(`${at}.feed_forward`, y));
    }
    const logits = linear(y, this.w["target_embedding.weight"]).values;
    return { logits, heard: cross[0][0].map((_, j) => cross.reduce((total, head) => total + head[0][j], 0) / this.heads) };
  }

  /** Translate greedily after the words in `prefix`: each step's word, its probabilities and whom it heard. */
  translate(source, prefix = [], longest = 15) {
    const encoded = this.encode(source), past = { length: 0, layers: [] }, steps = [];
    for (let word = BOS; steps.length <= longest; ) {
      const { logits, heard } = this.step(word, encoded, past), top = logits.reduce((a, b) => Math.max(a, b), -Infinity);
      const powers = Array.from(logits, (x) => Math.exp(x - top)), total = powers.reduce((a, b) => a + b, 0), p = powers.map((x) => x / total);
      word = prefix[steps.length] ?? p.reduce((best, x, i) => (x > p[best] ? i : best), 0);
      steps.push({ word, p, heard });
      if (word === EOS) break;
    }
    return steps;
  }
  /** The k best translations that a beam finds, best first: {tokens, heard, score = ln P / n}. A finished one keeps its place. */
  beam(source, k, longest = 60) {
    const encoded = this.encode(source), score = ({ logP, tokens }) => logP / Math.max(tokens.length, 1);
    let beam = [{ tokens: [], logP: 0, heard: [], past: { length: 0, layers: [] } }];
    for (let n = 0; n < longest && beam.some((one) => one.tokens.at(-1) !== EOS); n++) {
      const candidates = beam.flatMap((one) => {
        if (one.tokens.at(-1) === EOS) return [one];
        const past = { length: one.past.length, layers: one.past.layers.map((kept) => ({ ...kept })) };
        const { logits, heard } = this.step(one.tokens.at(-1) ?? BOS, encoded, past), top = logits.reduce((a, b) => Math.max(a, b), -Infinity);
        const total = top + Math.log(logits.reduce((a, x) => a + Math.exp(x - top), 0));
        return best(logits, k).map((word) => ({ tokens: [...one.tokens, word], logP: one.logP + logits[word] - total, heard: [...one.heard, heard], past }));
      });
      beam = candidates.sort((a, b) => score(b) - score(a)).slice(0, k);
    }
    return beam.map((one) => ({ tokens: one.tokens, heard: one.heard, score: score(one) }));
  }
}

/** The places of the k largest numbers, largest first. */
function best(list, k) {
  const found = [];
  for (let i = 0; i < list.length; i++) {
    if (found.length === k && list[i] <= list[found.at(-1)]) continue;
    let at = found.length;
    while (at > 0 && list[found[at - 1]] < list[i]) at--;
    found.splice(at, 0, i);
    if (found.length > k) found.pop();
  }
  return found;
}
