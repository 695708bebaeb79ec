// Lab 12's transformer, run in the browser: an encoder and a decoder of post-LN blocks, in single precision.
//
// A matrix is {rows, columns, values}: a Float32Array, row by row. Weights have the names and the shapes of PyTorch's.

import { argmax, range, softmax } from "./numbers.js";

export const BOS = 1;
export const EOS = 2;
export const UNKNOWN = 3;

/** What each pattern of 16 bits is worth in half precision. */
const HALF = Float32Array.from({ length: 65536 }, (_, bits) => {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, part = bits & 1023;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + part / 1024) : 2 ** -14 * (part / 1024));
});

/** Numbers in half precision, as base64 → Float32Array. */
export function halves(text) {
  const bytes = atob(text), out = new Float32Array(bytes.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = HALF[bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8)];
  return out;
}

const matrix = (rows, columns) => ({ rows, columns, values: new Float32Array(rows * columns) });
const rowOf = ({ columns, values }, i) => values.subarray(i * columns, (i + 1) * columns);

/** x Wᵀ + b, as nn.Linear. Four outputs grow side by side: one alone would wait for each of its own additions. */
function linear(x, { values: w }, b) {
  const n = x.columns, m = w.length / n, out = matrix(x.rows, m), from = Float64Array.from(x.values), to = out.values, bias = b?.values ?? new Float32Array(m);
  let o = 0;
  for (; o + 3 < m; o += 4)
    for (let i = 0; i < x.rows; i++) {
      let s0 = bias[o], s1 = bias[o + 1], s2 = bias[o + 2], s3 = bias[o + 3];
      for (let k = 0, at = i * n, w0 = o * n, w1 = w0 + n, w2 = w1 + n, w3 = w2 + n; k < n; k++) {
        const v = from[at + k];
        s0 += v * w[w0 + k];
        s1 += v * w[w1 + k];
        s2 += v * w[w2 + k];
        s3 += v * w[w3 + k];
      }
      const at = i * m + o;
      to[at] = s0;
      to[at + 1] = s1;
      to[at + 2] = s2;
      to[at + 3] = s3;
    }
  for (; o < m; o++)
    for (let i = 0; i < x.rows; i++) {
      let total = bias[o];
      for (let k = 0; k < n; k++) total += from[i * n + k] * w[o * n + k];
      to[i * m + o] = total;
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

/** Queries, keys and values cut into heads → what each query hears, and the weights [head][query][key]. A head that is off says 0. */
function attend(q, k, v, heads, off) {
  const size = q.columns / heads, out = matrix(q.rows, q.columns), maps = [];
  for (let h = 0; h < heads; h++) {
    const map = [];
    for (let i = 0; i < q.rows; i++) {
      const row = softmax(scores(rowOf(q, i), k, h, size));
      if (!off(h))
        for (let j = 0; j < k.rows; j++)
          for (let d = h * size; d < (h + 1) * size; d++) out.values[i * q.columns + d] += row[j] * v.values[j * v.columns + d];
      map.push(row);
    }
    maps.push(map);
  }
  return [out, maps];
}

/** q · k / √d_k of one query with every key, in the head whose numbers begin at h × size. */
export function scores(query, k, h, size) {
  return range(k.rows, (j) => {
    let s = 0;
    for (let d = h * size; d < (h + 1) * size; d++) s += query[d] * k.values[j * k.columns + d];
    return s / Math.sqrt(size);
  });
}

/** Rows of a above those of b. */
function stack(a, b) {
  if (!a) return b;
  const out = matrix(a.rows + b.rows, a.columns);
  out.values.set(a.values);
  out.values.set(b.values, a.values.length);
  return out;
}

const silent = (off, place) => (h) => off.has(`${place}.${h}`);
const NONE = new Set();

/** A model and its runs. `off` names heads that are switched off: "e0.1" is the encoder's first layer's second head, "d" the
 *  decoder's look at itself, "c" its look at the memory. */
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

  /** Word numbers → the embedded words, the memory (keys and values for each decoder layer), and each layer's queries, keys and maps. */
  encode(source, off = NONE) {
    const embedded = this.embed("source_embedding.weight", source), layers = [];
    let x = embedded;
    for (let i = 0; i < this.layers; i++) {
      const at = `encoder.${i}`, [q, k, v] = ["Q", "K", "V"].map((m) => this.lin(`${at}.attention.W_${m}`, x));
      const [heard, maps] = attend(q, k, v, this.heads, silent(off, `e${i}`));
      layers.push({ q, k, maps });
      x = this.norm(`${at}.norm1`, x, this.lin(`${at}.attention.W_O`, heard));
      x = this.norm(`${at}.norm2`, x, this.think(`${at}.feed_forward`, x));
    }
    const memory = range(this.layers, (i) => ["K", "V"].map((m) => this.lin(`decoder.${i}.cross_attention.W_${m}`, x)));
    return { embedded, x, memory, layers, off };
  }

  /** One more word for each hypothesis, which keeps its past → for each the logits of the next word, whom it heard (the last
   *  layer's cross-attention, mean over heads), and each layer's queries and rows of weights. */
  step(words, { memory, off }, pasts) {
    let y = words.map((word, n) => this.embed("target_embedding.weight", [word], pasts[n].length)).reduce(stack);
    const layers = words.map(() => []);
    for (let i = 0; i < this.layers; i++) {
      const at = `decoder.${i}`, [q, k, v] = ["Q", "K", "V"].map((m) => this.lin(`${at}.self_attention.W_${m}`, y));
      const own = pasts.map((past, n) => {
        const kept = (past.layers[i] ??= {}), one = (x) => ({ rows: 1, columns: x.columns, values: rowOf(x, n) });
        [kept.k, kept.v] = [stack(kept.k, one(k)), stack(kept.v, one(v))];
        const [heard, maps] = attend(one(q), kept.k, kept.v, this.heads, silent(off, `d${i}`));
        layers[n].push({ self: { q: rowOf(q, n), rows: maps.map((map) => map[0]) } });
        return heard;
      }).reduce(stack);
      y = this.norm(`${at}.norm1`, y, this.lin(`${at}.self_attention.W_O`, own));
      const asked = this.lin(`${at}.cross_attention.W_Q`, y), [heard, maps] = attend(asked, ...memory[i], this.heads, silent(off, `c${i}`));
      layers.forEach((list, n) => { list[i].cross = { q: rowOf(asked, n), rows: maps.map((map) => map[n]) }; });
      y = this.norm(`${at}.norm2`, y, this.lin(`${at}.cross_attention.W_O`, heard));
      y = this.norm(`${at}.norm3`, y, this.think(`${at}.feed_forward`, y));
    }
    for (const past of pasts) past.length += 1;
    const logits = linear(y, this.w["target_embedding.weight"]);
    return words.map((_, n) => {
      const { rows } = layers[n].at(-1).cross;
      return { logits: rowOf(logits, n), layers: layers[n], heard: rows[0].map((_, j) => rows.reduce((total, row) => total + row[j], 0) / this.heads) };
    });
  }

  /** Translate greedily after the words in `prefix`: what was encoded, the decoder's past, and each step's word, its
   *  probabilities, whom it heard, and what `step` says. */
  translate(source, { prefix = [], longest = 15, off = NONE } = {}) {
    const encoded = this.encode(source, off), past = { length: 0, layers: [] }, steps = [];
    for (let word = BOS; steps.length <= longest; ) {
      const [one] = this.step([word], encoded, [past]), p = softmax(Array.from(one.logits));
      word = prefix[steps.length] ?? argmax(p);
      steps.push({ word, p, ...one });
      if (word === EOS) break;
    }
    return { encoded, past, steps };
  }

  /** The k best translations that a beam finds, best first: {tokens, heard, score = ln P / n}; `grown`: the beam after each step,
   *  with each hypothesis' place in the one before. A finished one keeps its place. */
  beam(source, k, { longest = 60, off = NONE } = {}) {
    const encoded = this.encode(source, off), score = ({ logP, tokens }) => logP / Math.max(tokens.length, 1), grown = [];
    let beam = [{ tokens: [], logP: 0, heard: [], past: { length: 0, layers: [] } }];
    const done = (one) => one.tokens.at(-1) === EOS;
    for (let n = 0; n < longest && !beam.every(done); n++) {
      const open = beam.filter((one) => !done(one)), pasts = open.map(({ past }) => fork(past));
      const said = this.step(open.map((one) => one.tokens.at(-1) ?? BOS), encoded, pasts);
      const candidates = beam.flatMap((one, parent) => {
        if (done(one)) return [{ ...one, parent }];
        const at = open.indexOf(one), { logits, heard } = said[at], top = logits.reduce((a, b) => Math.max(a, b), -Infinity);
        const total = top + Math.log(logits.reduce((a, x) => a + Math.exp(x - top), 0));
        return best(logits, k).map((word) => ({ tokens: [...one.tokens, word], logP: one.logP + logits[word] - total, heard: [...one.heard, heard], past: pasts[at], parent }));
      });
      beam = candidates.sort((a, b) => score(b) - score(a)).slice(0, k);
      grown.push(beam.map((one) => ({ tokens: one.tokens, parent: one.parent, score: score(one) })));
    }
    return { found: beam.map((one) => ({ tokens: one.tokens, heard: one.heard, score: score(one) })), grown };
  }
}

/** The same past, to be gone on with by more than one. */
const fork = (past) => ({ length: past.length, layers: past.layers.map((kept) => ({ ...kept })) });

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
