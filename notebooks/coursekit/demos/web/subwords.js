// The translator's subwords: byte-pair encoding as lab 04 learns it, shifted by the four special tokens.

const FIRST = 4;
const CHUNKS = /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
const pairOf = (a, b) => a * 65536 + b;

export class Subwords {
  constructor(merges) {
    this.merges = new Map(merges.map(([a, b], i) => [pairOf(a, b), 256 + i]));
    this.spelled = Array.from({ length: 256 }, (_, byte) => [byte]);
    for (const [a, b] of merges) this.spelled.push([...this.spelled[a], ...this.spelled[b]]);
  }

  /** The token that asks for a translation into a language. */
  tag(language) { return FIRST + this.spelled.length + ["en", "de"].indexOf(language); }

  encode(text) { return (` ${text.trim()}`.match(CHUNKS) ?? []).flatMap((chunk) => this.chunk(chunk)).map((n) => FIRST + n); }

  /** Bytes, then the merge learned earliest, again and again. */
  chunk(text) {
    let word = [...new TextEncoder().encode(text)];
    for (;;) {
      let first = Infinity;
      for (let i = 0; i + 1 < word.length; i++) first = Math.min(first, this.merges.get(pairOf(word[i], word[i + 1])) ?? Infinity);
      if (first === Infinity) return word;
      const joined = [];
      for (let i = 0; i < word.length; i++) joined.push(i + 1 < word.length && this.merges.get(pairOf(word[i], word[i + 1])) === first ? (i++, first) : word[i]);
      word = joined;
    }
  }

  /** Tokens as text; special ones are left out. */
  decode(tokens) {
    const bytes = tokens.filter((n) => n >= FIRST && n < FIRST + this.spelled.length).flatMap((n) => this.spelled[n - FIRST]);
    return new TextDecoder().decode(Uint8Array.from(bytes));
  }
}
