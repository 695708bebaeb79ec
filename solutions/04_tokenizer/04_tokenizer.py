# ---
# jupyter:
#   course:
#     data: [04_tokenizer]
#     minutes: 110
#     demo: 04_tokenizer
# ---

# %% [markdown]
# # 04 · Tokens: what is a token?
#
# **What you already have.** Labs 01 and 03 predicted the next *word*. For that, somebody had to give us a list of all
# words first. Nobody has such a list. Tomorrow's newspaper holds a name, a typo or an emoji that is not on it.
#
# **The question of this lab.** In which pieces should a model read? Whole words are too many, and the next one is
# always missing. Letters are few, but a letter means nothing, and the text gets long. The answer lies between: let
# the *text itself* say which letters belong together. That is **byte-pair encoding**, and most large language
# models read this way.
#
# You build a complete tokenizer in six small functions. When you are through you can
#
# * write any character of any language as bytes, bit by bit,
# * cut a text into chunks without losing a single character,
# * learn a vocabulary of pieces from a text, and encode and decode with it,
# * say what makes learning from a million characters slow, and what makes it fast,
# * explain why language models stumble over spelling and sums, and why Hindi costs more than English.
#
# *110 minutes: 80 for the six functions, 10 for the two answers in words, 20 to read and look. Optional parts are extra.*

# %% locked="setup"
import time
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
import regex
from coursekit import break_it, check, progress, start
from coursekit.figures import BLUE, GREEN, ORANGE, bars
from coursekit.data.speeches import speech_text
from coursekit.notebook.progress import fastest, track
from coursekit.notebook.until_written import needs, until_written
from coursekit.figures.token_boxes import published_merges, published_numbers, show_bits, show_pieces, speech_merges

start("04_tokenizer")

# %% [markdown]
# First the trouble with words, in numbers. Our text is the State of the Union speeches of the American presidents,
# from 1945 on. We make a list of all words in the first million characters, and then read on.

# %% tags=["skip-grading"]
everything = speech_text()
before, after = everything[:1_000_000].lower(), everything[1_000_000:].lower()
known = set(regex.findall(r"\p{L}+", before))
later = regex.findall(r"\p{L}+", after)
unknown = [word for word in later if word not in known]
missing = Counter(unknown)
print(f"{len(known):,} words on the list; {len(missing):,} words are missing from it, such as")
print(", ".join([word for word, count in missing.items() if count > 25 and len(word) > 9][:7]))
print(f"one word in {len(later) / len(unknown):.0f} cannot even be written down")

# %% [markdown]
# ## Part A · Below the letters: bytes
#
# We want an alphabet that is small *and* complete. Letters of which language? All of them, with Greek, Chinese and
# emoji: **Unicode** gives every character a number, its **code point**. There is room for $17 \cdot 2^{16}$ of them,
# from `0` to `10FFFF` in hexadecimal. That is complete, but not small.

# %%
print(f"{17 * 2**16:,} code points, the last is U+{17 * 2**16 - 1:X}")
print("A", ord("A"), " é", ord("é"), " €", ord("€"), " 😀", ord("😀"))

# %% [markdown]
# The trick is to write the number of a character with a few **bytes**, numbers from 0 to 255. Then 256 symbols
# suffice for everything that Unicode can write. The common way to do so is **UTF-8**: small numbers get one byte, larger ones
# up to four.
#
# | code points | byte 1 | byte 2 | byte 3 | byte 4 | own bits |
# |---|---|---|---|---|---|
# | 0 to 7F | `0xxxxxxx` | | | | 7 |
# | 80 to 7FF | `110xxxxx` | `10xxxxxx` | | | 5 + 6 = 11 |
# | 800 to FFFF | `1110xxxx` | `10xxxxxx` | `10xxxxxx` | | 4 + 6 + 6 = 16 |
# | 10000 to 10FFFF | `11110xxx` | `10xxxxxx` | `10xxxxxx` | `10xxxxxx` | 3 + 6 + 6 + 6 = 21 |
#
# The `x` hold the code point in binary, with zeros in front if there is room. The other bits are **markers**: the
# first byte says how many bytes there are, and `10` says “I go on with the character that began before me”. So a reader who lands
# in the middle of a text finds the next beginning.

# %% tags=["skip-grading"]
show_bits({"A": "Latin letter", "é": "e with an accent", "€": "euro sign", "😀": "grinning face"},
          "UTF-8: orange marks the role of a byte, blue carries the character's number")

# %% [markdown]
# ### 1 · `utf8_encode` ●●○ (15 minutes, 4 points)
#
# *By hand.* é is U+00E9, in binary `11101001`. That is more than 7F, so it takes two bytes. Fill up to eleven bits,
# `00011101001`, and cut them into five and six:
#
# `00011` `101001` → `110`**`00011`** `10`**`101001`** → 195, 169
#
# Three operations on whole numbers do all the work: `n & 0b111111` keeps the **lowest six bits**, `n >> 6`
# **drops them**, and `0b10000000 | n` puts a **marker** in front.
#
# `utf8_encode(codepoint)`: a whole number → a list of one to four whole numbers, the bytes in order. (A `bytes`
# object is fine too.) A number below 0 or above 10FFFF is no code point: `raise ValueError(...)`. (Numbers from D800
# to DFFF never occur in text; you need not treat them specially.)
#
# Python's own `.encode` does this job, so it is off limits *in this question*. Later in the lab you may use it.

# %% question="utf8_encode"
def utf8_encode(codepoint):
    """The UTF-8 bytes of one code point.  int → list of 1 to 4 ints, or ValueError."""
    ### BEGIN SOLUTION
    if not 0 <= codepoint <= 0x10FFFF:
        raise ValueError("a code point lies between 0 and 10FFFF")
    if codepoint <= 0x7F:
        return [codepoint]
    if codepoint <= 0x7FF:
        return [0b11000000 | codepoint >> 6, 0b10000000 | codepoint & 0b111111]
    last, middle = 0b10000000 | codepoint & 0b111111, 0b10000000 | codepoint >> 6 & 0b111111
    if codepoint <= 0xFFFF:
        return [0b11100000 | codepoint >> 12, middle, last]
    return [0b11110000 | codepoint >> 18, 0b10000000 | codepoint >> 12 & 0b111111, middle, last]
    ### END SOLUTION


# %% test="utf8_encode" points=4
check("utf8_encode", utf8_encode)

# %% [markdown]
# > **A note on the lecture.** It calls *Unicode* a variable-length encoding. Unicode is the numbering: every
# > character has one number. *UTF-8* is the encoding of variable length, one to four bytes for that number. (What looks like
# > one character may be several: Hindi द्र is three, and é can also be e and an accent, U+0301: to a tokenizer another text.)

# %% tags=["skip-grading"]
sea = {"English": "the sea", "German": "das große Meer", "Greek": "θάλασσα", "Russian": "море",
       "Hindi": "समुद्र", "Chinese": "大海", "emoji": "🌊🌊"}
with until_written():
    needs("utf8_encode")
    lengths = [sum(len(utf8_encode(ord(c))) for c in text) / len(text) for text in sea.values()]
    fig, ax = plt.subplots(figsize=(6.8, 2.9))
    ax.barh(list(sea), lengths, color=BLUE)
    ax.set(xlabel="bytes a character", xlim=(0, 4.4))
    ax.set_title("Words for the sea: one byte a character in English, three in Hindi")
    ax.invert_yaxis()

# %% [markdown]
# Keep that picture in mind. A model that reads bytes spends three steps on a character of Hindi where English takes one.
# Merging will help, but most of all the languages
# that it is trained on, and hardly those that share no letters with them.

# %% [markdown]
# ## Part B · Cutting before merging
#
# Soon we merge neighbours that often stand together. Left alone, this would glue whole phrases: *of the* would
# become one token, and *dog.* another than *dog!* So a text is first cut into **chunks**, and merges stay inside a
# chunk. GPT-2 cuts with one regular expression. Here it is as a slide of the lecture prints it, and what it does:

# %% tags=["skip-grading"]
SLIDE = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
sentence = "Wait, it's 3.50 (½ price)!"
show_pieces({"the text": [sentence], "the slide's chunks": regex.findall(SLIDE, sentence)},
            "Something is lost on the slide")

# %% [markdown]
# Where are the comma, the brackets, the `!`? A tokenizer that loses characters is of no use. Somewhere in the
# pattern a single character is missing.
#
# ### 2 · `pre_tokenize` ●●○ (15 minutes, 3 points)
#
# Write the pattern anew. At each place of the text the **first** of these six rules that fits takes its chunk, as
# long as it can be:
#
# 1. an English ending: a straight apostrophe followed by `s`, `d`, `m`, `t`, `ll`, `ve` or `re`, in small letters;
# 2. **letters** (one or more), with the *one* blank before them if there is one: `·it`;
# 3. **digits** and other number characters such as ½, with the blank before them: `·3`;
# 4. **anything else that is not white space**, with the blank before it: `,` `·(` `)!`;
# 5. white space (blanks, tabs, line ends), but **not its last character** if something follows: where this last one is a
#    blank, it belongs to what comes next;
# 6. white space (so a tab or a line end right before a word is a chunk of its own).
#
# In the library `regex`, `\p{L}` is a letter of any script, `\p{N}` a number character, `\s` white space and `\S` anything
# but; ` ?` is a blank or none, `[^…]` is *any character but these*, and `(?!\S)` holds where the next character is
# white space, or the text ends. Rules 5 and 6 are `\s+(?!\S)` and `\s+`, and a bar `|` separates the rules.
#
# `pre_tokenize(text)`: a string → the list of its chunks (strings), in order. Nothing is lost, so
# `"".join(pre_tokenize(text)) == text`, always. The empty text has no chunks.

# %% question="pre_tokenize"
def pre_tokenize(text):
    """Cut a text into chunks; joined they are the text again.  str → list of str."""
    ### BEGIN SOLUTION
    return regex.findall(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text)
    ### END SOLUTION


# %% test="pre_tokenize" points=3
check("pre_tokenize", pre_tokenize)

# %% tags=["skip-grading"]
with until_written():
    needs("pre_tokenize")
    show_pieces({"your chunks": pre_tokenize(sentence),
                 "German": pre_tokenize("Wir fahren um 7 Uhr ans Meer."),
                 "code": pre_tokenize("if sea:\n    sail(speed=12)  # fast")},
                "Words take the blank before them along, and nothing is lost")

# %% [markdown]
# > **A note on the lecture.** In the slide's pattern the `^` of `[^\s\p{L}\p{N}]` is missing, in GPT-2's and in
# > GPT-4's, so signs are dropped. With the `^` every character finds its rule.

# %% [markdown]
# ## Part C · What a merge is
#
# A text is now a row of bytes: *aaabdaaabac* is `97 97 97 98 100 97 97 97 98 97 99`. A **merge** takes two tokens that
# stand side by side and writes one new token for them. The 256 bytes have the ids 0 to 255, so the first new token
# gets the id **256**, the next 257, and so on. Here are three merges:
#
# | merge | the text becomes | spelled |
# |---|---|---|
# | | 97 97 97 98 100 97 97 97 98 97 99 | a a a b d a a a b a c |
# | (97, 97) → 256 | 256 97 98 100 256 97 98 97 99 | **aa** a b d **aa** a b a c |
# | (256, 97) → 257 | 257 98 100 257 98 97 99 | **aaa** b d **aaa** b a c |
# | (257, 98) → 258 | 258 100 258 97 99 | **aaab** d **aaab** a c |
#
# Eleven numbers have become five. The three merges *are* the tokenizer: with them anyone can go there and back.
# We keep them in a dictionary, **in the order they were learned**:

# %% locked="toy_merges"
toy_merges = {(97, 97): 256, (256, 97): 257, (257, 98): 258}

# %% [markdown]
# ### 3 · `decode` ●○○ (10 minutes, 2 points)
#
# The way back is the easy one, so we take it first. Every token stands for some bytes. A byte stands for itself. A
# merged token stands for the bytes of its left part, followed by those of its right part: 256 is `a`+`a`, 257 is
# `aa`+`a`, 258 is `aaa`+`b`. Join the bytes of all tokens, and read them as UTF-8.
#
# `decode(ids, merges)`
#
# * `ids`: a list of token ids, each below 256 or one of the new ids in `merges`; the empty list gives `""`;
# * `merges`: a dictionary `{(left, right): new id}` in the order learned, so that the ids ascend (it may be empty);
# * returns a string. First join *all* the bytes, then decode once: a character's bytes may lie in two tokens. Bytes that
#   are no valid UTF-8 (half an emoji) must not raise: `.decode("utf-8", errors="replace")` puts a `�` there.

# %% question="decode"
def decode(ids, merges):
    """The text that token ids spell.  ids: list of int, merges: {(left, right): new id} → str."""
    ### BEGIN SOLUTION
    spelled = {byte: bytes([byte]) for byte in range(256)}
    for (left, right), new in merges.items():
        spelled[new] = spelled[left] + spelled[right]
    return b"".join(spelled[token] for token in ids).decode("utf-8", errors="replace")
    ### END SOLUTION


# %% test="decode" points=2
check("decode", decode)

# %% tags=["skip-grading"]
with until_written():
    needs("decode")
    print(decode([258, 100, 258, 97, 99], toy_merges))
    print(decode([240, 159, 152, 128], {}), "  and cut short:", decode([240, 159, 152], {}))

# %% [markdown]
# ## Part D · Learning the merges
#
# Which pairs shall we merge? The recipe is short:
#
# > Count all pairs of neighbours. Merge the most frequent one everywhere. Repeat.
#
# Our first text is the lecture's rhyme (from Simon Prince's *Understanding Deep Learning*, 2023). Here, as on the slides, every word ends with a `_` (the mark that says *the word
# is over*), and pairs never reach from one word into the next.

# %% locked="rhyme"
lines = ["a sailor went to sea sea sea", "to see what he could see see see",
         "but all that he could see see see", "was the bottom of the deep blue sea sea sea"]


def count_words(chunks):
    """How often each chunk occurs, as {tuple of its bytes: count}, in the order first met."""
    words = {}
    for chunk in chunks:
        word = tuple(chunk.encode("utf-8"))
        words[word] = words.get(word, 0) + 1
    return words


rhyme = count_words([word + "_" for line in lines for word in line.split()])
sea_word = tuple(b"sea_")
print(f"{sum(rhyme.values())} words, {len(rhyme)} different")
print(f"sea_ is {sea_word} and occurs {rhyme[sea_word]} times")

# %% [markdown]
# A text says the same words over and over. So we count pairs in each *different* word once, and let the pair count
# as often as the word occurs. The million characters of Part F hold about 190,000 chunks, but only 11,000
# different ones. Counted in pairs, that is ten times less work.
#
# ### 4 · `count_pairs` ●○○ (5 minutes, 2 points)
#
# `count_pairs(words)`: `words` is a dictionary `{tuple of token ids: how often the word occurs}` → a dictionary
# `{(left, right): how often the two stand side by side}`, without pairs that never occur.
#
# * Every position counts, overlapping ones too: `(97, 97, 97)` holds the pair (97, 97) **twice**.
# * Pairs never reach from one word into the next; a word of one token has no pair.
# * The pairs stand in the dictionary in the order in which they are first met: word by word, from left to right.
#   (A Python dictionary keeps the order in which keys come in, so this happens by itself.)

# %% question="count_pairs"
def count_pairs(words):
    """How often each pair of neighbours occurs.  {tuple of ids: count} → {(left, right): count}."""
    ### BEGIN SOLUTION
    pairs = {}
    for word, count in words.items():
        for pair in zip(word, word[1:]):
            pairs[pair] = pairs.get(pair, 0) + count
    return pairs
    ### END SOLUTION


# %% test="count_pairs" points=2
check("count_pairs", count_pairs)

# %% tags=["skip-grading"]
with until_written():
    needs("count_pairs")
    counted = count_pairs(rhyme)
    most = sorted(counted, key=counted.get, reverse=True)[:12]
    fig, ax = plt.subplots(figsize=(6.8, 2.8))
    names, heights = [bytes(pair).decode() for pair in most], [counted[pair] for pair in most]
    ax.bar(names, heights, color=[ORANGE] + [BLUE] * 11)
    ax.set(xlabel="pair", ylabel="occurrences", title="s followed by e is the most frequent pair")

# %% [markdown]
# One tool is given, because its only difficulty is a trap: replacing a pair **from left to right, without overlap**.
# In `a a a` the pair (a, a) is found at the first place; the third *a* has no partner left.

# %% locked="merge_pair"
def merge_pair(word, pair, new):
    """The word (a tuple or list of ids) with the pair replaced by the id ``new``, from the left, no overlap."""
    word, pair, merged, place = tuple(word), tuple(pair or ()), [], 0
    while place < len(word):
        if word[place : place + 2] == pair:
            merged.append(new)
            place += 2
        else:
            merged.append(word[place])
            place += 1
    return tuple(merged)


print(merge_pair((97, 97, 97), (97, 97), 256), merge_pair(tuple(b"sea_"), (115, 101), 256))

# %% [markdown]
# ### 5 · `train_bpe` ●●● (20 minutes, 5 points)
#
# Now the recipe, `merges` times: count the pairs of the words *as they are now*, take the most frequent pair, give it
# the next free id (256 first), replace it in all words.
#
# `train_bpe(words, merges)`
#
# * `words`: a dictionary as above, with bytes (0 to 255) as token ids; it must stay unchanged;
# * `merges`: how many merges to learn, a whole number from 0 on;
# * returns a dictionary `{(left, right): new id}`.
# * **On a tie** the pair wins that a fresh count meets first: in the earliest word, and there furthest to the left.
#   `max(pairs, key=pairs.get)` does exactly that with a dictionary from `count_pairs`.
# * A pair that occurs once may be merged too. When **no pair is left**, stop early, with fewer merges.
#
# *By hand.* `{(97, 98): 2, (98, 97, 98): 1}`: (97, 98) occurs 2 + 1 times and becomes 256. Now the words are `(256,)` and
# `(98, 256)`; the only pair left is (98, 256), which becomes 257. Then there is nothing left to merge.
#
# Make it right, not fast: a new count for every merge is fine. Speed is Part F.

# %% question="train_bpe"
def train_bpe(words, merges):
    """Learn merges, most frequent pair first.  {tuple of ids: count}, int → {(left, right): new id}."""
    ### BEGIN SOLUTION
    learned = {}
    while len(learned) < merges:
        pairs = count_pairs(words)
        if not pairs:
            break
        best = max(pairs, key=pairs.get)
        learned[best] = 256 + len(learned)
        words = {merge_pair(word, best, learned[best]): count for word, count in words.items()}
    return learned
    ### END SOLUTION


# %% test="train_bpe" points=5
check("train_bpe", train_bpe)

# %% [markdown]
# Watch it work. After two merges you should find the lecture's table c: `_` 21 times, `se` 13, `a` and `e_` 12 each.

# %% tags=["skip-grading"]
def tokens_in_use(words):
    """How often each token id occurs in the words, the most frequent first."""
    uses = {}
    for word, count in words.items():
        for token in word:
            uses[token] = uses.get(token, 0) + count
    return dict(sorted(uses.items(), key=lambda item: -item[1]))


with until_written():
    needs("decode", "count_pairs", "train_bpe")
    rhyme_merges, rhyme_words = train_bpe(rhyme, 50), rhyme
    for table, (pair, new) in zip("abc", [(None, None), *rhyme_merges.items()]):
        rhyme_words = {merge_pair(word, pair, new): count for word, count in rhyme_words.items()}
        uses = tokens_in_use(rhyme_words)
        top = [f"{decode([token], rhyme_merges)} {n}" for token, n in list(uses.items())[:14]]
        print(f"{table}) {len(uses)} types:", ", ".join(top), "…")
    left = count_pairs(rhyme_words)
    tied = [decode(pair, rhyme_merges) for pair, count in left.items() if count == max(left.values())]
    print(f"the third merge: {' and '.join(tied)} tie at {max(left.values())}, and {tied[0]} is met first")

# %% tags=["skip-grading"]
def rhyme_after(count):
    """The rhyme's pieces when only the first ``count`` merges are known."""
    pieces = []
    for word in " ".join(lines).split():
        ids = tuple((word + "_").encode())
        for pair, new in list(rhyme_merges.items())[:count]:
            ids = merge_pair(ids, pair, new)
        pieces += [decode([token], rhyme_merges) for token in ids]
    return pieces


with until_written():
    needs("decode", "count_pairs", "train_bpe")
    show_pieces({f"{count} merges": rhyme_after(count) for count in (0, 2, 5, 17, 50)},
                "From letters to words: see and sea are whole after five merges")

# %% [markdown]
# *sea* and *see* are whole after five merges. From the 18th merge on every pair occurs only once; *sailor* comes then. After 50 every
# word is one token, and no pair remains.
#
# The **learned vocabulary** grows by one with every merge. (All 256 bytes are in it from the start; the picture
# begins with the 18 letters of the rhyme and the `_`.) The number of types **in use** in the text rises at first, since a new token joins while its parts still occur elsewhere, wavers, and falls in
# the end, since the parts die out.

# %% tags=["skip-grading"]
with until_written():
    needs("decode", "count_pairs", "train_bpe")
    rhyme_words, types, length = rhyme, [], []
    for pair, new in [(None, None), *rhyme_merges.items()]:
        rhyme_words = {merge_pair(word, pair, new): count for word, count in rhyme_words.items()}
        uses = tokens_in_use(rhyme_words)
        types.append(len(uses))
        length.append(sum(uses.values()))
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.3))
    axes[0].plot(types[0] + np.arange(len(types)), color=ORANGE, label=f"{types[0]} signs + one a merge")
    axes[0].plot(types, color=BLUE, label="types in use")
    axes[0].set(xlabel="merges", ylabel="types")
    axes[0].set_title(f"In use: {types[0]} → {max(types)} → {types[-1]} types")
    axes[0].legend(loc="upper left")
    axes[1].plot(length, color=GREEN)
    axes[1].set(xlabel="merges", ylabel="tokens", ylim=(0, None))
    axes[1].set_title(f"The rhyme shrinks: {length[0]} → {length[-1]} tokens")

# %% [markdown]
# > **A note on the lecture.** Tables a, b and c are right, and so are the 18 types at the end. Tables d and e
# > miscount in places: e prints `to_` with 1, but *to sea* and *to see* make 2. A quick test of such a table: its
# > counts, each times the length of its token, must add up to the length of the text.

# %% tags=["skip-grading"]
with until_written():
    needs("decode", "count_pairs", "train_bpe")
    spelled = {decode([token], rhyme_merges): n for token, n in tokens_in_use(rhyme_words).items()}
    print(", ".join(f"{piece} {n}" for piece, n in spelled.items()))
    print("characters in these tokens:", sum(len(piece) * n for piece, n in spelled.items()))
    print("characters in the rhyme:   ", sum(len(word) * n for word, n in rhyme.items()))

# %% [markdown]
# ## Part E · Reading with the merges
#
# New text arrives, *baab* or *seesaw* or a poem. How is it cut? **By doing to it what was done in training, in the same
# order**: the merge that was learned first is applied first. Not the longest token that fits, and not the pair that
# happens to be frequent in the new text.
#
# ### 6 · `encode` ●●○ (15 minutes, 4 points)
#
# For each chunk of `pre_tokenize(text)`: write it as bytes (`.encode("utf-8")` is allowed now). Then, among the pairs of
# neighbours that have a merge, take the one that was **learned earliest** (the smallest new id) and replace it in the
# chunk. Repeat until no pair has a merge. Put the ids of all chunks into one list. (No need for speed.)
#
# *By hand,* with the toy merges, (97, 97) → 256, (256, 97) → 257 and (257, 98) → 258: *aaab* is `97 97 97 98`. The pair (97, 97) has the merge 256, (97, 98) has none →
# `256 97 98` → 257 → `257 98` → `258`. And *baab* → `98 97 97 98` → `98 256 98`, which stays: (256, 98) has no merge.
# *aaaa* becomes `256 256`: the longer *aaa* never gets its turn.
#
# `encode(text, merges)`: a string and a dictionary `{(left, right): new id}` in the order learned → a list of whole
# numbers. The empty text gives an empty list. Whatever the text, `decode(encode(text, merges), merges) == text`.

# %% question="encode"
def encode(text, merges):
    """The token ids of a text.  str, {(left, right): new id} → list of int."""
    ### BEGIN SOLUTION
    ids = []
    for chunk in pre_tokenize(text):
        word = tuple(chunk.encode("utf-8"))
        while known := [pair for pair in zip(word, word[1:]) if pair in merges]:
            earliest = min(known, key=merges.get)
            word = merge_pair(word, earliest, merges[earliest])
        ids += word
    return ids
    ### END SOLUTION


# %% test="encode" points=4
check("encode", encode)

# %% tags=["skip-grading"]
with until_written():
    needs("decode", "count_pairs", "train_bpe", "encode")
    print(encode("aaabdaaabac", toy_merges))
    for text in ["seesaw", "déjà vu 😀", "  two  blanks\n", "海"]:
        ids = encode(text, rhyme_merges)
        print(f"{text!r:18} → {ids} → {'the same' if decode(ids, rhyme_merges) == text else 'NOT the same'}")

# %% [markdown]
# No text in the world is unknown to this tokenizer. In the worst case it falls back on single bytes. That is what
# the 256 bytes at the bottom are for. (Llama 2, with the library SentencePiece, merges characters instead and keeps the
# bytes for emergencies. The recipe is the same. Gage invented it in 1994 to compress files; Sennrich, Haddow and Birch
# brought it to translation in 2016, and GPT-2 put the bytes below it in 2019.)
#
# A model needs a few more tokens that stand for no text: *a sentence begins*, `<bos>`; *it ends*, `<eos>`; *nothing stands here*,
# `<pad>`. They get ids of their own, and are put in beside the encoded text, so that no text can spell them. You meet them in the later labs.

# %% [markdown]
# ### In your own words (a) · without bytes (5 minutes, 2 points)
#
# A classmate leaves UTF-8 out. Their tokenizer starts from the different *characters*
# of the training text, not from bytes. It is trained on English speeches. Then somebody types 😀. What happens in
# their `encode`, why can it not happen in yours, and what does yours pay for that? Two to four sentences.

# %% [markdown] written="why_bytes" points=2
# ### BEGIN SOLUTION
# Their vocabulary has no entry for 😀, because it never occurred in the speeches, so `encode` fails, or must replace it by an
# “unknown” token, from which it cannot be restored. With bytes every character of every script consists of the same 256 symbols,
# and all of them are in the vocabulary from the start. The price is length: a character that is rare in training
# stays split into its two to four bytes, so such texts take many tokens (and a single token may be no whole character).
# ### END SOLUTION

# %% [markdown]
# ## Part F · A million characters
#
# A rhyme is a toy. Let us learn from the first million characters of the speeches.

# %% tags=["skip-grading"]
million = everything[:1_000_000]


with until_written():
    needs("pre_tokenize", "train_bpe")
    speech_words = count_words(pre_tokenize(million))
    print(f"{sum(speech_words.values()):,} chunks, {len(speech_words):,} different")
    seconds = fastest(train_bpe, speech_words, 20, tries=3, what="20 merges")
    print(f"20 merges took {seconds:.1f} s; at this pace 2,000 take {seconds * 100:.0f} s (rather less, as the words get shorter), and GPT-2 has 50,000")

# %% [markdown]
# Every merge counts *everything* anew. How much of it changes in one merge? Let us look: how many of the different
# words hold the pair that is being merged?

# %% tags=["skip-grading"]
with until_written():
    needs("pre_tokenize", "train_bpe")
    spoken, touched = speech_words, []
    for pair, new in track(list(speech_merges().items())[:80], "merges"):
        smaller = {merge_pair(word, pair, new): count for word, count in spoken.items()}
        touched.append(len(smaller.keys() - spoken.keys()))
        spoken = smaller
    fig, ax = plt.subplots(figsize=(7.2, 3.1))
    ax.bar(range(1, len(touched) + 1), touched, color=BLUE, width=0.8)
    ax.axhline(len(spoken), color=ORANGE, label="words that a plain recount looks at")
    ax.set(yscale="log", ylim=(0.5, 80_000), xlabel="merge", ylabel="different words")
    ax.set_title(f"Half of the first 80 merges change fewer than {np.median(touched) + 1:.0f} words; a recount visits {len(spoken):,}", fontsize=10.5)
    ax.legend(loc="upper right")

# %% [markdown]
# (And later merges change fewer still: half of the 2,000 change six words at most.) So do not recount: **correct**. A merge changes only the words that hold the pair. For each of them, take away its
# pairs from the counts, merge, and add its new pairs. To find those words at once, keep a second dictionary:
# for every pair, the set of words that hold it.
#
# ```text
# number the words; spelled[i] is word i as a list of tokens, counts[i] how often it occurs
# pairs[pair]   = how often the pair occurs in all
# holders[pair] = the set of the numbers i of words that hold it
# repeat:
#     best = the most frequent pair        (on a tie: earliest word, then leftmost)
#     for every i in holders[best]:
#         for every pair of spelled[i]: pairs[pair] −= counts[i] (at 0 the pair leaves), i leaves holders[pair]
#         spelled[i] = merge_pair(spelled[i], best, new)
#         for every pair of spelled[i]: pairs[pair] += counts[i], i joins holders[pair]
# ```
#
# ### For those who like a challenge · `train_bpe_fast` ●●● (no points)
#
# Write it. Same arguments and same result as `train_bpe`. A trap: you cannot loop over a set while it changes (loop over a copy, `list(holders[best])`).

# %% question="train_bpe_fast" points=0
def train_bpe_fast(words, merges):
    """The same merges as ``train_bpe``, with counts that are corrected instead of counted anew."""
    ### BEGIN SOLUTION
    spelled, counts = list(words), list(words.values())
    pairs, holders, learned = count_pairs(words), {}, {}
    for i, word in enumerate(spelled):
        for pair in zip(word, word[1:]):
            holders.setdefault(pair, set()).add(i)

    def first_place(pair):
        i = min(holders[pair])
        return i, list(zip(spelled[i], spelled[i][1:])).index(pair)

    while len(learned) < merges and pairs:
        highest = max(pairs.values())
        tied = [pair for pair, count in pairs.items() if count == highest]
        best = tied[0] if len(tied) == 1 else min(tied, key=first_place)
        learned[best] = 256 + len(learned)
        for i in list(holders[best]):
            for pair in zip(spelled[i], spelled[i][1:]):
                pairs[pair] -= counts[i]
                holders[pair].discard(i)
                if not pairs[pair]:
                    del pairs[pair]
            spelled[i] = merge_pair(spelled[i], best, learned[best])
            for pair in zip(spelled[i], spelled[i][1:]):
                pairs[pair] = pairs.get(pair, 0) + counts[i]
                holders.setdefault(pair, set()).add(i)
    return learned
    ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("pre_tokenize", "count_pairs", "train_bpe")
    print("the same merges as the course's:", train_bpe_fast(speech_words, 2000) == speech_merges())
    fast = [fastest(train_bpe_fast, speech_words, merges, tries=2, what=f"{merges:,} merges") for merges in (200, 1000, 2000)]
    plain = [*(fastest(train_bpe, speech_words, merges, tries=2) for merges in (5, 10)), seconds]

# %% tags=["skip-grading"]
with until_written():
    needs("pre_tokenize", "count_pairs", "train_bpe")
    fig, ax = plt.subplots(figsize=(7.2, 3.3))
    ax.plot([20, 2000], [seconds, seconds * 100], ":", color=ORANGE)
    ax.plot([5, 10, 20], plain, "o-", color=ORANGE, label="counting anew (dotted: at the same pace)")
    ax.plot([200, 1000, 2000], fast, "o-", color=BLUE, label="correcting the counts")
    ax.set(xscale="log", yscale="log", xlabel="merges", ylabel="seconds",
           title=f"2,000 merges in {fast[-1]:.1f} s; counting anew, at the pace of the first 20, {seconds * 100:.0f} s")
    ax.legend(loc="upper left")

# %% [markdown]
# Challenge or not, the 2,000 merges come with the lab. What has
# the tokenizer found in the speeches?

# %% tags=["skip-grading"]
merges = speech_merges()
with until_written():
    needs("decode")
    learned = [decode([token], merges) for token in merges.values()]
    show_pieces({"merges 1 to 20": learned[:20], "merges 501 to 515": learned[500:515],
                 "the last 15": learned[-15:], "the longest": sorted(learned, key=len, reverse=True)[:10]},
                "First short pieces, many with their blank; among the longest are the words that presidents like")

# %% tags=["skip-grading"]
speech = "In 1946 Congress approved strawberries for the sailors, in 1996 bread, in 2026 tea."
with until_written():
    needs("decode", "encode")
    rows = {}
    for count in (0, 100, 500, 2000):
        some = dict(list(merges.items())[:count])
        pieces = [decode([token], some) for token in encode(speech, some)]
        rows[f"{count:,} merges: {len(pieces)}"] = pieces
    show_pieces(rows, "The more merges, the fewer tokens")
    for spelling in (" Congress", "Congress", " congress", " CONGRESS"):
        print(f"{spelling!r:11} → {encode(spelling, merges)}")

# %% [markdown]
# Now you see with the model's eyes. `·Congress` is a single number; how many *s* does it hold? The model cannot see
# that, it must have learned it by heart, nor that its other spellings, with no number in common, are the same word. And the years: `·1946` was in the speeches often enough to be one token,
# `·1996` falls into three, `·2026` into four. How should anybody calculate with such numbers? Much that looks
# strange in language models, in spelling and in sums, begins at this point.
#
# How much does a larger vocabulary buy? We encode the million characters with the first 0, 50, 100, … 2,000 merges.

# %% tags=["skip-grading"]
with until_written():
    needs("pre_tokenize", "train_bpe", "encode")
    chunks = {bytes(word).decode(): count for word, count in speech_words.items()}
    sizes, rates = [0, 50, 100, 200, 500, 1000, 2000], []
    for size in track(sizes, "vocabulary sizes"):
        some = dict(list(merges.items())[:size])
        tokens = sum(len(encode(chunk, some)) * count for chunk, count in chunks.items())
        rates.append(len(million.encode()) / tokens)
    fig, ax = plt.subplots(figsize=(7.2, 3.2))
    ax.plot([256 + size for size in sizes], rates, "o-")
    ax.set(xlabel="size of the vocabulary", ylabel="bytes a token", ylim=(0, None))
    ax.set_title(f"The first 100 merges gain {rates[2] - rates[0]:.1f} bytes a token, "
                 f"the last 1,000 {rates[-1] - rates[-2]:.1f}")

# %% [markdown]
# And what about texts that are not speeches? Here is one sentence in several languages, two lines of code and
# forty digits, all with the same 2,000 merges.

# %% tags=["skip-grading"]
samples = {"English": "The ship sails across the sea to the old harbour.",
           "German": "Das Schiff segelt über das Meer zum alten Hafen.",
           "French": "Le navire traverse la mer vers le vieux port.",
           "Greek": "Το πλοίο διασχίζει τη θάλασσα προς το παλιό λιμάνι.",
           "Hindi": "जहाज़ समुद्र पार करके पुराने बंदरगाह तक जाता है।",
           "Japanese": "船は海を渡って古い港へ行く。",
           "some Python": "for ship in harbour:\n    ship.sail(speed=12)",
           "some digits": "3141592653 2718281828 1414213562 1618033988"}
with until_written():
    needs("pre_tokenize", "encode")
    counts = [len(encode(text, merges)) for text in samples.values()]
    ax = bars(dict(zip(samples, counts)), "%g", size=(7.2, 3.4), color=[ORANGE] + [BLUE] * 5 + ["#8a97a3"] * 2)
    ax.set(xlabel="tokens (grey: other texts)", xlim=(0, max(counts) * 1.12),
           title=f"The same sentence: {counts[0]} tokens in English, {counts[4]} in Hindi")
    plt.show()
    for name in ("English", "Hindi", "Japanese"):
        print(f"{name}: {len(samples[name])} characters, {len(samples[name].encode())} bytes, {len(encode(samples[name], merges))} tokens")
    show_pieces({"chunks": pre_tokenize("समुद्र")}, "One Hindi word, cut at its signs, which count as no letters")

# %% [markdown]
# Whoever pays by the token would pay nearly seven times as much in Hindi, and the model's memory would fill up sooner. That is no property
# of Hindi. It comes from two choices that people made: UTF-8 takes three bytes a character, and above all the merges were learned from an English text, so none
# applies. A third would hurt as soon as merges were learned from Hindi: GPT-2's pattern cuts words at their signs for vowels, and for *no vowel*, which are no letters to it (`\p{M}`, not `\p{L}`). (GPT-4o has 200,000 tokens and a pattern that keeps such words whole. Its Hindi is much shorter.)

# %% [markdown]
# ### In your own words (b) · a million merges (5 minutes, 2 points)
#
# Suppose our text were large enough for 1,000,000 merges. Name one thing that would get
# better and two that would get worse. (The picture of bytes a token helps, and so does lab 02: what do we know about what
# we have hardly ever seen?) Three or four sentences.

# %% [markdown] written="why_not_a_million" points=2
# ### BEGIN SOLUTION
# Better: texts like the training text get shorter, nearly one token a word, so the model reads and writes them in fewer
# steps. Worse: each further merge gains less and less, while the table with one row for each token grows without end (1,024 numbers for each of a
# million tokens are a thousand million numbers). Worse too: the late tokens are rare, so little that is reliable can be learned about them (lab 02's trouble), and words that share parts (*sailor*, *sailors*) no longer share tokens.
# ### END SOLUTION

# %% [markdown]
# ## Optional · Your tokenizer is GPT-2's and GPT-4's (10 minutes, no points)
#
# What you wrote is no toy. OpenAI has published the merges of GPT-2 (50,000) and the ranked tokens of GPT-4, from which its merges (100,000) follow; both come with this lab. Two things differ
# from yours. GPT-4 cuts with another pattern (here with the `^` that the slide lost, too): English endings in capitals, too, numbers in groups of at most three digits and without the blank before them, line ends
# together with the signs before them, and before a word any one sign may take the place of the blank. And both *number* the single bytes in another order;
# all merges keep their numbers.

# %% tags=["skip-grading"]
GPT4 = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}|"
        r" ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")


def read_like(model, text):
    """What GPT-2 or GPT-4 reads: your encode with its cuts and merges.  → the pieces, and their published numbers

    Your encode calls pre_tokenize, so for a moment that name stands for the model's own cuts.
    """
    global pre_tokenize
    merges, numbers, yours = published_merges(model), published_numbers(), pre_tokenize
    chunks = yours(text) if model == "gpt2" else regex.findall(GPT4, text)
    pre_tokenize = lambda chunk: [chunk]  # the text is cut already
    try:
        ids = [token for chunk in track(chunks, model) for token in encode(chunk, merges)]
    finally:
        pre_tokenize = yours
    return [decode([token], merges) for token in ids], [numbers[token] if token < 256 else token for token in ids]


# %% [markdown]
# The lecture shows what GPT-4 makes of the rhyme (without the marks `_`): 36 numbers.

# %% tags=["skip-grading"]
slide = [64, 93637, 4024, 311, 9581, 9581, 9581, 198, 998, 1518, 1148, 568, 1436, 1518, 1518, 1518, 198, 8248, 682,
         430, 568, 1436, 1518, 1518, 1518, 198, 16514, 279, 5740, 315, 279, 5655, 6437, 9581, 9581, 9581]
with until_written():
    needs("pre_tokenize", "decode", "encode")
    pieces, numbers = read_like("gpt4", "\n".join(lines))
    print(numbers)
    print(f"{len(numbers)} tokens; the slide's numbers, one by one: {numbers == slide}")
    show_pieces({"GPT-4": pieces}, f"GPT-4 reads the rhyme in {len(pieces)} tokens")

# %% [markdown]
# And the slide's Python class (from Andrej Karpathy's *minbpe*, as are the riddles below and, taken there from Wikipedia, *aaabdaaabac*). It shows one reason why GPT-2 was poor at Python: every blank of the indentation but the last is a token of its own. `<|endoftext|>` in it is read
# here as a **special token** that says *here a document ends*; its number, 50256 or 100257, stands behind all merges. Where a text holds the mark itself, whoever encodes has to look for
# it *before* cutting, and must be able to trust the text. (If somebody types these thirteen characters into a chat, they must stay text; read as the token they would tell the model that its text is over.)

# %% tags=["skip-grading"]
python_class = '''class Tokenizer:
    """Base class for Tokenizers"""

    def __init__(self):
        # default: vocab size of 256 (all bytes), no merges, no patterns
        self.merges = {} # (int, int) -> int
        self.pattern = "" # str
        self.special_tokens = {} # str -> int, e.g. {'<|endoftext|>': 100257}
        self.vocab = self._build_vocab() # int -> bytes'''


def read_all(model, text):
    """The pieces of a text in which ``<|endoftext|>`` is one token."""
    special = "<|endoftext|>"
    before, *others = [read_like(model, part)[0] for part in text.split(special)]
    return before + [piece for part in others for piece in (special, *part)]


with until_written():
    needs("pre_tokenize", "decode", "encode")
    readers = {"GPT-2": read_all("gpt2", python_class), "GPT-4": read_all("gpt4", python_class)}
    show_pieces({f"{name}: {len(pieces)}": pieces for name, pieces in readers.items()}, "The Python class: GPT-4 needs a third fewer tokens than GPT-2")

# %% [markdown]
# Two more riddles of the lecture's list are solved by looking. Why are you warned of a *trailing blank*? And why did GPT-3, which reads with GPT-2's
# tokenizer, stumble over *SolidGoldMagikarp*, the name of somebody who wrote very many posts on Reddit?

# %% tags=["skip-grading"]
with until_written():
    needs("pre_tokenize", "decode", "encode")
    texts = ["We went to sea", "We went to ", " SolidGoldMagikarp"]
    for name, model in (("GPT-2", "gpt2"), ("GPT-4", "gpt4")):
        show_pieces({repr(text): read_like(model, text)[0] for text in texts}, f"{name} reads")

# %% [markdown]
# *sea* wants its blank **in front**: `·sea` is one token. After a trailing blank the model has a lone `·` behind it. By the rules of cutting that never stands before a bare `sea`, only before words that bring a blank of
# their own. So it is thrown off before it has begun. And the name is a *single token* of GPT-2: the text from which the merges were learned must have been full of it. The text
# from which the *model* was learned very probably was not (Rumbelow and Watkins 2023), so hardly anything ever corrected that token's row in the table of vectors (lab 05):
# the model had a word that it had never learned. GPT-4's merges know no such token.

# %% [markdown]
# ### Optional · Break it to believe it ●●○ (10 minutes, no points)
#
# Four impostors of `encode` wait behind the card below. One of them applies the merge that was learned *last* before the others. All four pass a test with the toy merges:

# %% locked="weak_input"
weak_input = ("aaabdaaabac", toy_merges)

# %% [markdown]
# Let `counterexample()` return an input `(text, merges)` for which they go wrong. Your own function says what is right. You may invent merges: a few are enough, with bytes such as `ord("a")` and new
# ids from 256 on, in the order learned.

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong tokenizers away: (text, merges)."""
    ### BEGIN SOLUTION
    a, b, c, x, blank = map(ord, "abcx ")
    return "abc x aÉB", {(b, c): 256, (a, b): 257, (x, blank): 258}
    ### END SOLUTION


# %% tags=["skip-grading"]
with until_written():
    needs("encode")
    break_it(counterexample, encode)

# %% [markdown]
# ## What you can do now
#
# You can turn any text of any language into a list of whole numbers, and back, without losing anything; and you can
# say where the pieces come from. You have built what stands at the door of most language models, and you know what it
# hides from the model behind it. The translator of lab 12 reads and writes with a tokenizer like yours.

# %% locked="progress"
progress()

# %% [markdown]
# ## What is still missing
#
# Token 1402 and token 1403 are just numbers. *sea* is no nearer to *ocean* than to *tax*. Whatever a model learns about
# one word it must learn anew for the next. Could a number say what a word *means*? That is **lab 05**.
