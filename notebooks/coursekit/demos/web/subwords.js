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

/** A token as an audience reads it: a piece that goes on with a word begins with dots. */
export const shown = (token) => (token === "the end" ? token : token.startsWith(" ") ? token.slice(1) || "␣" : /^\p{L}/u.test(token) ? `…${token}` : token);

/** For each token, whether its word is in so many pieces that the machine hardly ever saw it whole. */
export function rare(tokens) {
  const first = tokens.map((token, i) => (i === 0 || token.startsWith(" ") || !/^[\p{L}\uFFFD]/u.test(token) ? i : -1));
  for (let i = 1; i < first.length; i++) if (first[i] < 0) first[i] = first[i - 1];
  return first.map((at) => first.filter((other) => other === at).length > 2);
}

const USUAL = {
  en: new Set("the a is are was were i you he she it we they not do did does what where and to of in this that have has will can".split(" ")),
  de: new Set("der die das ein eine ist sind war ich du er sie es wir ihr nicht was wo und zu in dem den mit hat habe haben wird kann dein mein".split(" ")),
};

/** Whether a sentence that should be in one language looks like the other: more of its small words are the other's. */
export function looksWrong(sentence, to) {
  const list = sentence.toLowerCase().match(/\p{L}+/gu) ?? [], count = (language) => list.filter((word) => USUAL[language].has(word)).length;
  return count(to) > count(to === "de" ? "en" : "de");
}
