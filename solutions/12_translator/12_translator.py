# ---
# jupyter:
#   course:
#     data: [parallel, 12_translator, tatoeba]
#     minutes: 140
#     demo: 12_translator
# ---

# %% [markdown]
# # 12 · The translator: does it all work?
#
# **What you already have.** Positions (lab 06), attention and masks (07), several heads (08), blocks that can be
# stacked (09), a way to learn (10) and a way to speak (11). Every part of a translator lies on your table.
#
# **What is missing.** The machine. Nobody has put the parts together, shown it a sentence, and asked: *and in German?*
#
# **In this lab** you build the transformer of *Attention Is All You Need* and test it hard, in two acts. In the first it learns a small grammar, on
# one ordinary processor core, and must find out what *it* is. In the second it gets a million words of real sentences. You will be able to
#
# * assemble embeddings, positions, an encoder and a decoder into one model, and say what every mask is for;
# * translate, word by word, with greedy and with beam search, and keep what need not be computed twice;
# * train it with your own loss, optimizer and learning rate;
# * take it apart: what does a head look at, and what happens without it?
# * measure a translation with BLEU, get the same number as the tool that papers use, and know what it does not tell.
#
# *140 minutes: 93 for the five functions, 10 for the two answers in words, 37 to read and look. The two acts make two good sittings.*

# %% locked="setup"
import math

import numpy as np
import torch
from torch import nn
from coursekit import break_it, check, progress, start
from coursekit.data.vocabulary import BOS, EOS, PAD, UNKNOWN

start("12_translator")

# %% [markdown]
# ## 1 · The parts on the table
#
# `mine("09", "EncoderBlock")` looks for *your* lab 09 beside this one. If your block passes its public checks there, it is used
# here; if not, or if the lab is not there, the course's own version steps in, and the line below says why. So the translator will be
# as much yours as you have made it: here are parts of seven labs.

# %% locked="parts"
from coursekit.checks.earlier_labs import mine, on_tensors

encode, decode = mine("04", "encode"), mine("04", "decode")  # (text, merges) → numbers, and back
sinusoidal = mine("06", "sinusoidal")  # (T, d_model) positions, a NumPy array
causal_mask = mine("07", "causal_mask")  # (T, T), True = may attend
attend = on_tensors(mine("07", "scaled_dot_product_attention"))  # (q, k, v) → (output, weights)
split_heads, merge_heads = mine("08", "split_heads"), mine("08", "merge_heads")  # (B, T, D) → (B, h, T, D / h), and back
EncoderBlock = mine("09", "EncoderBlock")  # (d_model, heads, d_ff, dropout=0.0), called with (x, mask)
DecoderBlock = mine("09", "DecoderBlock")  # called with (x, memory, self_mask, memory_mask)
residual = mine("09", "residual")  # (x, sublayer, norm)
shift_targets = mine("10", "shift_targets")  # (sentences, bos, eos, pad) → decoder_input, labels
lab_10 = {name: mine("10", name) for name in ("masked_cross_entropy", "adam_step", "noam_rate", "train_step")}
beam_search = mine("11", "beam_search")  # (step, k, length_penalty, bos, eos, max_length)

# %% [markdown]
# Masks: True means "may attend". If yours from lab 07 are NumPy arrays, `torch.as_tensor(...)` makes tensors of them. (Your attention of lab 07 speaks NumPy,
# too; `on_tensors` lets it take tensors and give tensors, without gradients.)
#
# # Act one: a grammar
#
# ## 2 · Two languages, as numbers
#
# The course brings 44,000 pairs of short sentences, made by a grammar that gets German right: genders, cases, verbs at the end.

# %% tags=["skip-grading"]
from coursekit.data import parallel
from coursekit.data.vocabulary import numbered, vocabularies

train_text = parallel.load("train")
for english, german in train_text[3:9]:
    print(f"{english:<62} {german}")

# %% [markdown]
# Each word gets a number, in each language separately. Four numbers stand for no word:
#
# | number | name | means |
# |---|---|---|
# | 0 | `PAD` | filling, after the end of a short sentence |
# | 1 | `BOS` | beginning of a sentence |
# | 2 | `EOS` | end of a sentence |
# | 3 | `UNKNOWN` | any word that is not in the list (printed as `<unk>`) |

# %% tags=["skip-grading"]
english_words, german_words = vocabularies(train_text)
train = numbered(train_text, english_words, german_words)
print(f"{len(english_words)} English words, {len(german_words)} German words")
print(parallel.tokenize("I ate an apple."), "→", english_words.encode("I ate an apple."))
print(german_words.decode(german_words.encode("Ich habe einen Apfel gegessen.")))

# %% [markdown]
# Every word of the training text is in the list, so `UNKNOWN` would never occur in training, and a number that training never met means nothing: asked for *zebra*, the model would
# answer with any word at all. So in one pair of sixty we hide a word and its translation. The model learns that what it does not know stays unknown, and where it belongs:

# %% tags=["skip-grading"]
from coursekit.translator.word_model import with_unknown

taught = with_unknown(train)
for source, target in [pair for pair in taught if UNKNOWN in pair[0]][:3]:
    print(f"{english_words.decode(source):<55} {german_words.decode(target)}")

# %% [markdown]
# ## 3 · A batch, and who may see what
#
# A batch is a rectangle of numbers, so short sentences are filled up with `PAD` at their **end**. The German side is needed twice:
# as what the decoder **is given** and as what it **should say**. At every place it gets all words so far and should say the next:
#
# ```
# decoder_input  <bos>  Ich    habe   einen  Apfel  gegessen  .
# labels         Ich    habe   einen  Apfel  gegessen  .      <eos>
# ```
#
# The two are the same sentence, **shifted by one**. If you forget the shift, the answer stands in the question (and at the end of this lab we ask you what happens then).

# %% [markdown]
# ### Question 1 · `make_batch` ●○○ (8 minutes, 2 points)
#
# Lab 10's `shift_targets` makes both German rows of a batch. Only the English side is new.
#
# `make_batch(pairs)` takes a list of pairs `(source, target)`, both non-empty lists of word numbers (without `PAD`, `BOS` and `EOS`; unknown words have a number like any other),
# and returns three tensors of whole numbers (`torch.long`), one row for each pair, in their order:
#
# * `source`, shape `(B, S)`: the source sentences, filled up with `PAD` to the longest one, $S$; they get neither `BOS` nor `EOS`;
# * `decoder_input`, shape `(B, T + 1)`: `BOS`, then the target sentence, then `PAD`s, where $T$ is the length of the longest target;
# * `labels`, shape `(B, T + 1)`: the target sentence, then `EOS`, then `PAD`s.
#
# **By hand.** The pairs `([7, 8, 9], [5])` and `([4], [6, 7])` become
#
# ```
# source  7 8 9      decoder_input  1 5 0      labels  5 2 0
#         4 0 0                     1 6 7              6 7 2
# ```

# %% question="make_batch"
def make_batch(pairs):
    """[(source, target), …] → source (B, S), decoder_input (B, T + 1), labels (B, T + 1), filled with PAD at the end."""
    ### BEGIN SOLUTION
    S = max(len(source) for source, _ in pairs)
    source = torch.tensor([list(source) + [PAD] * (S - len(source)) for source, _ in pairs])
    return source, *shift_targets([list(target) for _, target in pairs], BOS, EOS, PAD)
    ### END SOLUTION

# %% test="make_batch" points=2
check("make_batch", make_batch)

# %% tags=["skip-grading"]
import matplotlib.pyplot as plt
from coursekit.figures import BLUE, GREEN, INK, ORANGE, bars, heatmap
from coursekit.notebook.progress import fastest, track
from coursekit.notebook.until_written import needs, until_written
from matplotlib.colors import ListedColormap

with until_written():
    needs("make_batch")
    tiny = [pair for pair in train if len(pair[1]) < 6][:6]
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 2.9))
    for ax, part, name in zip(axes, make_batch(tiny), ("source", "decoder_input", "labels")):
        kind = torch.where(part > UNKNOWN, 3, part)  # PAD, BOS, EOS, or a word
        heatmap(kind, ax=ax, title=name, xlabel="place", aspect="auto", cmap=ListedColormap(["#e8ebee", ORANGE, GREEN, BLUE]),
                vmin=0, vmax=3, ylabel="sentence" if name == "source" else "")
        for (row, column), number in np.ndenumerate(part.numpy()):
            ax.text(column, row, number, ha="center", va="center", fontsize=8, color="white" if number > UNKNOWN else INK)
    fig.suptitle("The labels are the decoder's input, one place earlier", x=0.02, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# Blue is a word with its number, orange `BOS`, green `EOS`, grey padding.
#
# ## 4 · The machine
#
# **Encoder.** Each source word becomes a vector, gets its position, and goes through the encoder's blocks. What comes out is the **memory**: the
# English words, each knowing its sentence.
#
# **Decoder.** Each German word so far becomes a vector with a position, and goes through the decoder's blocks. A block listens first to the German
# words *so far* and then to the memory. What comes out at place $t$ is compared with every German word: the logits of the next word.
#
# $$x_t = \sqrt{d_{model}}\; E[w_t] + P[t] \qquad\qquad \mathrm{logits}_t = E_{German}\; y_t$$
#
# **Why the root?** The embeddings are drawn with the standard deviation $1/\sqrt{d_{model}}$. With $d_{model} = 128$, as below, their entries are about 0.09, the sines and cosines
# about 0.7: the place would drown out the word. Times $\sqrt{128} = 11.3$ they are of like size.
#
# **Tied weights.** The German table $E_{German}$ is used twice: to *read* a word and to *choose* one. A word's row says what the word is
# like, and that is good for both. It also saves a matrix.
#
# **Three masks.** Where may who look?
#
# | who listens | to whom | mask |
# |---|---|---|
# | English | English | no padding: (B, 1, S) |
# | German | German so far | causal: (T, T) |
# | German | English | no padding: (B, 1, S) |
#
# (German padding needs none. It stands at the end, so that the causal mask hides it from every real word, and what it says itself is never asked.)

# %% [markdown]
# ### Question 2 · `Transformer` ●●● (35 minutes, 7 points)
#
# `Transformer(source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0)`, with these names for what it learns, and nothing else learned:
#
# * `source_embedding`, `target_embedding`: `nn.Embedding(source_size, d_model)` and `nn.Embedding(target_size, d_model)`, drawn from a normal
#   distribution with mean 0 and standard deviation $1/\sqrt{d_{model}}$ (`nn.init.normal_(table.weight, std=…)`);
# * `encoder`, `decoder`: each an `nn.ModuleList` of `layers` blocks; each block gets `(d_model, heads, d_ff, dropout)`.
#
# Three methods. `source` is `(B, S)`, `target` is `(B, T)`, both whole numbers, filled with `PAD` at the end:
#
# * `encode(source)` returns the pair `memory` `(B, S, d_model)` and `memory_mask` `(B, 1, S)`, True where the source is not `PAD`;
# * `decode(target, memory, memory_mask)` returns the logits `(B, T, target_size)`;
# * `forward(source, target)` returns the logits `(B, T, target_size)`.
#
# Positions come from `sinusoidal(T, d_model)`. Turn them into a tensor of the embedding's `dtype`. No sentence here has more than 64 words, `<bos>` included, so one table of 64
# rows will do: `register_buffer("positions", …, persistent=False)` keeps it beside the weights without learning it. The logits have no bias.
# Dropout happens in the blocks only. (`nn.Transformer` and its layers are PyTorch's own; you have better ones: yours.)

# %% question="Transformer"
class Transformer(nn.Module):
    """Encoder and decoder with sinusoidal positions and tied output weights (Vaswani et al. 2017)."""

    def __init__(self, source_size, target_size, d_model, heads, d_ff, layers, dropout=0.0):
        super().__init__()
        ### BEGIN SOLUTION
        self.scale = math.sqrt(d_model)
        self.source_embedding = nn.Embedding(source_size, d_model)
        self.target_embedding = nn.Embedding(target_size, d_model)
        for table in (self.source_embedding, self.target_embedding):
            nn.init.normal_(table.weight, std=d_model**-0.5)
        self.encoder = nn.ModuleList(EncoderBlock(d_model, heads, d_ff, dropout) for _ in range(layers))
        self.decoder = nn.ModuleList(DecoderBlock(d_model, heads, d_ff, dropout) for _ in range(layers))
        self.register_buffer("positions", torch.as_tensor(sinusoidal(64, d_model)), persistent=False)
        ### END SOLUTION

    def encode(self, source):
        """source (B, S) → memory (B, S, d_model), memory_mask (B, 1, S)."""
        ### BEGIN SOLUTION
        mask = (source != PAD).unsqueeze(1)
        x = self.source_embedding(source) * self.scale  # (B, S, d_model)
        x = x + self.positions[: source.shape[1]].to(x.dtype)
        for block in self.encoder:
            x = block(x, mask)
        return x, mask
        ### END SOLUTION

    def decode(self, target, memory, memory_mask):
        """target (B, T), and what encode returned → logits (B, T, target_size)."""
        ### BEGIN SOLUTION
        so_far = torch.as_tensor(causal_mask(target.shape[1]))
        y = self.target_embedding(target) * self.scale  # (B, T, d_model)
        y = y + self.positions[: target.shape[1]].to(y.dtype)
        for block in self.decoder:
            y = block(y, memory, so_far, memory_mask)
        return y @ self.target_embedding.weight.T
        ### END SOLUTION

    def forward(self, source, target):
        """source (B, S), target (B, T) → logits (B, T, target_size)."""
        ### BEGIN SOLUTION
        return self.decode(target, *self.encode(source))
        ### END SOLUTION

# %% test="Transformer" points=7
check("Transformer", Transformer)

# %% tags=["skip-grading"]
from coursekit.translator.word_model import SIZES

with until_written():
    needs("Transformer")
    torch.manual_seed(0)
    model = Transformer(len(english_words), len(german_words), **SIZES)
    shares = {}  # each table counts once, also one that is used twice
    for name, numbers in model.named_parameters():
        part = name.split(".")[0]
        shares[part] = shares.get(part, 0) + numbers.numel()
    fig, ax = plt.subplots(figsize=(5.4, 2.2))
    ax.barh(list(shares)[::-1], list(shares.values())[::-1], color=BLUE)
    for place, count in enumerate(list(shares.values())[::-1]):
        ax.text(count, place, f" {count:,}", va="center")
    ax.set(xlabel="parameters", xticks=(0, 200_000, 400_000), xlim=(0, 1.3 * max(shares.values())))
    ax.set_title(f"Your translator has {sum(shares.values()):,} parameters")
    plt.show()
    print(", ".join(f"{name} = {size}" for name, size in SIZES.items()))

# %% [markdown]
# ## 5 · Speaking
#
# Lab 11 needs one function, `step(prefixes)`: a list of n prefixes, all of one length, goes in, and an array `(n, V)` of *log*-probabilities comes out. Then
# `beam_search(step, k, length_penalty, bos, eos, max_length)` returns the hypotheses as a list of `(tokens, score)`, best first; the tokens come without
# `bos` and with `eos`, if it came. A beam with $k = 1$ is greedy.
#
# **Cache what does not change.** While the German sentence grows, the English one stays the same, and with it the memory. So the encoder runs
# **once for a sentence**, not once for each word. Only the decoder runs again.

# %% [markdown]
# ### Question 3 · `translate` ●●○ (15 minutes, 4 points)
#
# `translate(model, source, beam=1, length_penalty=0.0, max_length=40)` returns a list of target word numbers (Python integers), without the `BOS` that the search starts from and without `EOS`.
#
# * `model` has the methods of question 2; `source` is a non-empty list of word numbers, one sentence;
# * the search is `beam_search` with `k = beam`, and the best hypothesis wins; `max_length` counts the chosen words, `EOS` included;
# * put the model into evaluation mode first (`model.eval()`), and let nothing be recorded for gradients (`torch.no_grad()`);
# * call `model.encode` **exactly once**, and `model.decode` with what it returned. All n prefixes of one call of `step` listen to the same memory: either
#   repeat it (`expand`) or let PyTorch do so, as a batch of 1 fits to any batch;
# * `step` gives NumPy numbers to the search: the last place's logits, through a log-softmax, `.double().numpy()`.

# %% question="translate"
def translate(model, source, beam=1, length_penalty=0.0, max_length=40):
    """One sentence of word numbers → the best translation that a beam finds, as a list of word numbers."""
    ### BEGIN SOLUTION
    model.eval()
    with torch.no_grad():
        memory, memory_mask = model.encode(torch.tensor([list(source)]))

    def step(prefixes):
        n = len(prefixes)
        with torch.no_grad():
            logits = model.decode(torch.tensor(prefixes), memory.expand(n, -1, -1), memory_mask.expand(n, -1, -1))
        return logits[:, -1].double().log_softmax(dim=-1).numpy()

    tokens, _ = beam_search(step, beam, length_penalty, BOS, EOS, max_length)[0]
    return [int(token) for token in tokens if token != EOS]
    ### END SOLUTION

# %% test="translate" points=4
check("translate", translate)

# %% [markdown]
# Has it understood anything yet? It has never seen a sentence:

# %% tags=["skip-grading"]
with until_written():
    needs("Transformer", "translate")
    for beam in (1, 4):
        said = translate(model, english_words.encode("I ate an apple."), beam=beam, max_length=12)
        print(f"untrained, beam {beam}: {german_words.decode(said)}")

# %% [markdown]
# Why just that? Reading and choosing share one table (tied weights), and the way around each sublayer (lab 09's skip connection) carries what was read through to the end. So a fresh decoder likes best the word that it has just read.
#
# ### What else need not be computed twice?
#
# For each new word `decode` computes *all* the German positions again, and gets for the old ones exactly what it got before: the causal mask keeps the new word from them. Look at what the new
# position needs: its own query, and the **keys and values** of all positions. The old keys and values don't change. So keep them: this is the **KV cache**, and hardly any chat model runs without one.
#
# | | computed for word number $t$ | by hand, $t = 3$ |
# |---|---|---|
# | without a cache | $q$, $k$, $v$ of $t$ positions, $t \times t$ scores | 9 products $q \cdot k$ |
# | with a cache | $q$, $k$, $v$ of 1 position, $1 \times t$ scores | 3 products |

# %% [markdown]
# ### Question 4 · `cached_attention` ●●○ (15 minutes, 4 points)
#
# `cached_attention(attention, x, h, cache=None)` is self-attention for one new position. It returns the pair `(output, cache)`.
#
# * `attention`: a `MultiHeadAttention` of lab 08, with the layers `W_Q`, `W_K`, `W_V`, `W_O`; `h`: how many heads it has;
# * `x`, shape `(B, 1, d_model)`: the vectors of the **newest** position of B sentences;
# * `cache`: `None` for the first position; else the pair `(keys, values)` that the call before returned, each `(B, t, d_model)`, the oldest position first. It is not changed;
# * `output`, shape `(B, 1, d_model)`: what `attention` says at the newest position, which listens to all earlier ones **and to itself**;
# * the `cache` that you return is a pair `(keys, values)`, each `(B, t + 1, d_model)`: `W_K(x)` and `W_V(x)` of all positions so far, not yet cut into heads.
#
# You have `split_heads(x, h)`, `merge_heads(x)` and `attend(q, k, v)`, which returns `(output, weights)`. `torch.cat([a, b], dim=1)` puts rows below rows. No mask is needed: who could be
# hidden? (Nothing is learned here, so no gradients need to flow.)

# %% question="cached_attention"
def cached_attention(attention, x, h, cache=None):
    """x (B, 1, d_model), cache (keys, values) of t positions or None → output (B, 1, d_model), cache of t + 1."""
    ### BEGIN SOLUTION
    keys, values = attention.W_K(x), attention.W_V(x)
    if cache is not None:
        keys, values = torch.cat([cache[0], keys], dim=1), torch.cat([cache[1], values], dim=1)
    heard, _ = attend(*(split_heads(part, h) for part in (attention.W_Q(x), keys, values)))
    return attention.W_O(merge_heads(heard)), (keys, values)
    ### END SOLUTION

# %% test="cached_attention" points=4
check("cached_attention", cached_attention)

# %% [markdown]
# Now a stack of your decoder blocks, word after word, once as `decode` does it and once with the cache. First: is it the same? Then: what does the next word cost?

# %% tags=["skip-grading"]
def next_with_cache(blocks, h, x, memory, caches):
    """One new position (B, 1, d_model) through the decoder's blocks; ``caches`` keeps each block's keys and values."""
    for n, block in enumerate(blocks):
        def listen(y):
            heard, caches[n] = cached_attention(block.self_attention, y, h, caches[n])
            return heard

        x = residual(x, listen, block.norm1)
        x = residual(x, lambda y: block.cross_attention(y, memory)[0], block.norm2)
        x = residual(x, block.feed_forward, block.norm3)
    return x


def next_without(blocks, x, memory):
    """All positions (B, t, d_model) again, and of the result the last one."""
    mask = torch.as_tensor(causal_mask(x.shape[1]))
    for block in blocks:
        x = block(x, memory, mask)
    return x[:, -1:]


with until_written(), torch.no_grad():
    needs("cached_attention")
    torch.manual_seed(0)
    blocks = nn.ModuleList(DecoderBlock(128, 4, 256) for _ in range(4)).double().eval()
    words, memory, caches, gaps = torch.randn(1, 40, 128).double(), torch.randn(1, 9, 128).double(), [None] * 4, []
    for t in range(40):
        new = next_with_cache(blocks, 4, words[:, t : t + 1], memory, caches)
        gaps.append((new - next_without(blocks, words[:, : t + 1], memory)).abs().max().item())
    print(f"40 words, 4 blocks: the largest difference is {max(gaps):.0e}")

# %% tags=["skip-grading"]
with until_written(), torch.no_grad():
    needs("cached_attention")
    blocks, lengths, cost = blocks.float(), (8, 16, 32, 64, 128, 256, 512), {"all positions again": [], "with the cache": []}
    words, memory = torch.randn(1, 512, 128), torch.randn(1, 9, 128)
    for t in track(lengths, "timing"):
        past = [(words[:, : t - 1], words[:, : t - 1])] * 4  # any numbers will do: only the time counts
        ways = (lambda: next_without(blocks, words[:, :t], memory),
                lambda: next_with_cache(blocks, 4, words[:, t - 1 : t], memory, list(past)))
        for name, way in zip(cost, ways):
            cost[name].append(1000 * fastest(way))
    fig, ax = plt.subplots(figsize=(7.2, 3.2))
    for (name, milliseconds), colour, mark in zip(cost.items(), (ORANGE, BLUE), "so"):
        ax.plot(lengths, milliseconds, mark + "-", color=colour, label=name)
    ax.set(xlabel="words so far", ylabel="milliseconds for the next word", ylim=(0, None))
    ax.set_title(f"Word number 512: {cost['all positions again'][-1] / cost['with the cache'][-1]:.0f} times faster with the cache")
    ax.legend()
    plt.show()

# %% [markdown]
# The price is memory: two vectors for each word, layer and sentence. For a large model and a long text that is gigabytes, and one reason why a longer conversation costs more. (The keys and values of the English
# memory never change, so they could be kept as well. Our `translate` stays as it is: in a beam each hypothesis needs a cache of its own, to be sorted along with it, and our sentences are short.)
#
# ## 6 · Learning
#
# The step is lab 10's, and so are the loss and Adam: yours, if they pass their checks. Sentences of similar length go into the same batch, so that little is
# padding. Two things are added for a short training. The rate is `noam_rate` times the share of the plan that is left, so that it ends at 0; and each step makes every weight
# a little smaller (*weight decay*), which helps against learning pairs by heart.
#
# Below, the curve grows for twenty seconds (with a shorter climb), so that you see it learn. **For the whole training, set `TRAIN_FULL = True`**: about four minutes on a core that is free, longer on one that
# is shared. You may stop it at any time (the ■ button, or Ctrl-C): it leaves a checkpoint, and the next run goes on from there.

# %% tags=["skip-grading"]
from coursekit.translator.training import Training, fresh

TRAIN_FULL = False
torch.set_num_threads(1)  # so small a model gains little from a second core, and loses much when another program wants it

with until_written():
    needs("make_batch", "Transformer")
    torch.manual_seed(0)
    model = fresh(Transformer(len(english_words), len(german_words), **SIZES))
    checkpoint = "my_translator.pt" if TRAIN_FULL else None
    training = Training(model, make_batch, taught, lab_10, warm_up=400 if TRAIN_FULL else 150, checkpoint=checkpoint)
    training.run(seconds=None if TRAIN_FULL else 20)
    print(f"{len(training.losses):,} of {training.steps:,} steps in {training.seconds:.0f} s")

# %% [markdown]
# Guessing among all German words would cost about $\ln 1053 = 7.0$ for each. The fall from there is quick. But has the model learned to translate, or only what German looks like? Give it the English of *another* sentence: a loss
# that stays as it was owes nothing to the English. (The curve ends higher, chiefly because training adds lab 10's label smoothing.)
#
# If you did not wait, here is also the same model after the whole training. Its weights come with the course and go into **your** `Transformer`:

# %% tags=["skip-grading"]
from coursekit.translator.word_model import load
from coursekit.translator.word_model import exact_match

with until_written():
    needs("make_batch", "Transformer")
    after = f"after {len(training.losses):,} steps"
    stages = {after: training.model}
    if TRAIN_FULL and training.finished:
        print("This is the model that you have just trained.")
    else:
        model, english_words, german_words = load(Transformer)
        stages["the course's weights"] = model
        print("These are the weights that come with the course, in your Transformer.")
    source, decoder_input, labels = make_batch(numbered(parallel.load("test_sentences")[:400], english_words, german_words))
    for stage, one in stages.items():
        one.eval()
        with torch.no_grad():
            own, others = (lab_10["masked_cross_entropy"](one(english, decoder_input), labels, PAD).item() for english in (source, source.roll(1, 0)))
        print(f"{stage:<21} loss with its own English {own:.2f}, with the English of another sentence {others:.2f}")

# %% [markdown]
# ## 7 · Does it translate?
#
# These are all the words that it knows. Make sentences of them, and put yours into the list below.

# %% tags=["skip-grading"]
import textwrap

with until_written():
    needs("make_batch", "Transformer")
    print(textwrap.fill(" ".join(english_words.words[4:]), 150))

# %% tags=["skip-grading"]
def say(sentence, beam=4):
    """The German for an English sentence; a word that is not in the list is named."""
    numbers = english_words.encode(sentence)
    strange = [word for word, number in zip(parallel.tokenize(sentence), numbers) if number == UNKNOWN]
    if strange:
        print(f"  (not in its list, so it reads <unk>: {', '.join(strange)})")
    return german_words.decode(translate(model, numbers, beam=beam))


with until_written():
    needs("make_batch", "Transformer", "translate")
    for sentence in ["I ate an apple.", "Let there be light.", "The cat jumped on the roof.", "The dog bites the man.",
                     "Yesterday the old man did not open the window.", "She says that the children play in the garden.",
                     "I am a student and you are a teacher.", "The dog bites the zebra."]:
        print(f"{sentence:<60} {say(sentence)}")

# %% [markdown]
# *I ate an apple* has four words, *Ich habe einen Apfel gegessen* has five. One English verb has become two, and the second one stands at the end. Who listened to
# whom? The decoder's last cross-attention tells, as the mean of its heads:

# %% tags=["skip-grading"]
from coursekit.translator.attention_map import alignment, self_attention_from

with until_written():
    needs("make_batch", "Transformer", "translate")
    source = english_words.encode("I ate an apple.")
    target = translate(model, source)
    weights = alignment(model, source, target)  # (words said, source words)
    fig, ax = plt.subplots(figsize=(5.4, 4))
    heatmap(weights, [german_words.words[n] for n in target] + ["<eos>"], parallel.tokenize("I ate an apple."), ax=ax,
            numbers=".2f", vmin=0, vmax=1, xlabel="listens to", ylabel="while saying",
            title="“gegessen”, at the end, looks at “ate”")
    plt.show()
    print(f"in the encoder's layer 2 “an” looks at “apple” with {self_attention_from(model, source, 2)[1, 3]:.2f}")

# %% [markdown]
# *habe* looks at the verb, and also at *I*, with which it must agree (*ich habe*, *du hast*). *einen* looks at *an*, and little at *apple*, although its ending depends on the gender of *Apfel*; but *an*, in the memory, has heard *apple*. (For *zebra* it had to guess a gender: *die*, for *das Zebra*.) Nobody told it which word belongs to which. It found out because that is how one gets the next word right.
# (The decoder writes small letters at the start; `german_words.decode` makes a capital of the first.)
#
# ## 8 · New combinations, and *it*
#
# Has the model learned the language, or the sentences? The corpus holds back *combinations*: training has seen *beautiful* with many nouns, and animals
# with many adjectives, but never a *beautiful animal*. And it holds back whole cases of *it*.

# %% tags=["skip-grading"]
with until_written():
    needs("make_batch", "Transformer")
    scores = {split.removeprefix("test_"): exact_match(model, make_batch, numbered(parallel.load(split), english_words, german_words))
              for split in track(("test_sentences", "test_combinations", "test_coreference"), "testing")}
    fig, ax = plt.subplots(figsize=(5.4, 2.4))
    ax.barh(["unseen " + name if name != "coreference" else "what is “it”?" for name in scores][::-1],
            [100 * score for score in scores.values()][::-1], color=BLUE)
    for place, score in enumerate(list(scores.values())[::-1]):
        ax.text(100 * score, place, f" {100 * score:.1f}", va="center")
    ax.set(xlabel="right, word for word (%)", xlim=(0, 119))
    ax.set_title(f"Unseen combinations are right: {100 * scores['combinations']:.1f} of 100")
    plt.show()

# %% [markdown]
# (How can 2,000 sentences be tested in a few seconds? The model is shown the reference and must choose its next word at every place. If it always does, greedy decoding
# would have walked the same way; at its first mistake, it would have left it. So one pass tells.)
#
# And now the sentence that this course has carried along since lab 07. *The animal did not cross the street because it was too tired*, or *too wide*. English leaves open who *it* is.
# German can't: **es** is the animal (*das Tier*), **sie** the street (*die Straße*). To choose, the model must have learned something like *streets are not tired*.
#
# What does it look at, and what does it decide by? The attention maps answer the first question. For the second we ask the gradient, as in lab 09: when the decoder is about to say
# *es* or *sie*, a small change of which English word's vector (as it enters the encoder) **sways** the choice most? (The largest is drawn as 1.)

# %% tags=["skip-grading"]
from coursekit.translator.attention_map import sway

with until_written():
    needs("make_batch", "Transformer", "translate")
    fig, axes = plt.subplots(2, 1, figsize=(9.6, 5.2))
    for ax, adjective in zip(axes, ("tired", "wide")):
        sentence = f"The animal did not cross the street because it was too {adjective}."
        words, source = parallel.tokenize(sentence), english_words.encode(sentence)
        said = translate(model, source, beam=4)
        german = [german_words.words[number] for number in said]
        place = next(n for n, word in enumerate(german) if word in ("es", "sie"))
        other = "sie" if german[place] == "es" else "es"
        looks = self_attention_from(model, source, words.index("it"))  # (layers, words)
        sways = sway(model, source, said, place, german_words.numbers[other])  # (words,)
        heatmap(torch.cat([looks, sways[None] / sways.max()]), [f"“it” looks, layer {n + 1}" for n in range(len(looks))] + [f"sways “{german[place]}”"], words,
                ax=ax, numbers=".2f", vmin=0, vmax=1, aspect="auto")
        ax.axhline(len(looks) - 0.5, color="white", lw=4)
        noun = max(("animal", "street"), key=lambda noun: sways[words.index(noun)])
        ax.set_title(f"… {' '.join(german[place - 1:-1])}: of the two nouns, “{german[place]}” (not “{other}”) is swayed more by “{noun}”", fontsize=11)
        print(f"{sentence}\n    {german_words.decode(said)}")
    axes[1].set_xlabel("“looks”: each number is the layer's strongest head, so rows do not sum to 1")
    plt.show()

# %% [markdown]
# One adjective at the very end has changed, besides its own translation, one small word. Read the rows (of the course's weights). In layer 1, *it* looks at
# the adjective. In layer 2 it looks at *animal* in one sentence, and at *street* in the other. And of the two nouns the same one sways the choice of the pronoun more (*it* itself does most). The adjective, which alone differs, sways it little: exchanged, it turns the answer; nudged a little, it hardly counts. So a gradient does not name the cause either. Nobody ever marked the noun that *it* stands for: the German pronoun was all that the model had to learn from.
#
# ### Looking is not deciding: take a head away
#
# A map says what a head has read, and the gradient what would matter if it changed a little. Neither says that the model could not do without. To know what is *needed*, take it away (an *ablation*): set the columns of $W^O$ that belong to one head to 0, so that what it found goes nowhere, and ask 240 sentences of the
# test again. Each comes with a twin that differs in one adjective, and so in German in one pronoun, too (a head counts as missed if more than a tenth of the pronouns that were right go wrong). Whoever knows the two nouns, but not which of them is meant, gets half of them right.

# %% tags=["skip-grading"]
def twins_of(text):
    """Sentences two by two, as numbers, where both have as many German words."""
    pairs = numbered(text, english_words, german_words)
    return [pair for n in range(0, len(pairs), 2) if len(pairs[n][1]) == len(pairs[n + 1][1]) for pair in pairs[n : n + 2]]


def pronoun_places(labels):
    """Where the pronoun stands: the first word in which twins differ.  labels (B, T) → (B,)."""
    twin = labels.reshape(-1, 2, labels.shape[1])
    return (twin[:, 0] != twin[:, 1]).int().argmax(dim=1).repeat_interleave(2)


def pronouns(model, pairs, rivals):
    """The pronoun of the three that gets the highest logit, the right words before it given, and the right one: each (B,)."""
    source, decoder_input, labels = make_batch(pairs)
    place, rows = pronoun_places(labels), torch.arange(len(pairs))
    with torch.no_grad():
        logits = model(source, decoder_input)[rows, place]
    return rivals[logits[:, rivals].argmax(dim=1)], labels[rows, place]


def right_without(model, heads, pairs, rivals):
    """The share of pronouns that are right while the columns of W_O of all ``heads``, pairs (attention, number), are 0."""
    kept = [(attention.W_O.weight, attention.W_O.weight.detach().clone()) for attention, _ in heads]
    with torch.no_grad():
        for attention, head in heads:
            attention.W_O.weight.unflatten(1, (SIZES["heads"], -1))[:, head] = 0
        try:
            chosen, right = pronouns(model, pairs, rivals)
        finally:
            for weight, before in reversed(kept):
                weight.copy_(before)
    return (chosen == right).float().mean().item()

# %% tags=["skip-grading"]
with until_written():
    needs("make_batch", "Transformer")
    twins = twins_of(parallel.load("test_coreference")[:240])
    rivals, h = torch.tensor([german_words.numbers[word] for word in ("er", "sie", "es")]), SIZES["heads"]
    layers = {f"encoder {n + 1}": block.attention for n, block in enumerate(model.encoder)}
    for n, block in enumerate(model.decoder):
        layers |= {f"decoder {n + 1}, itself": block.self_attention, f"decoder {n + 1}, English": block.cross_attention}
    whole = right_without(model, [], twins, rivals)
    left = [[right_without(model, [(layer, head)], twins, rivals) for head in range(h)] for layer in track(layers.values(), "taking heads away")]
    fig, ax = plt.subplots(figsize=(7.2, 3.4))
    lost = sum(share < 0.9 * whole for row in left for share in row)
    heatmap(torch.tensor(left) * 100, list(layers), [f"head {n + 1}" for n in range(h)], ax=ax, numbers=".1f", vmin=33, vmax=100, aspect="auto", xlabel="head taken away",
            ylabel="layer", title=f"Pronouns right without one head (%): {24 - lost} of 24 are not missed")
    plt.show()

    spare = {name: [(layer, head) for head in range(h) if row[head] >= 0.9 * whole] for (name, layer), row in zip(layers.items(), left)}
    together = spare.pop("decoder 2, English")
    others = [pair for pairs in spare.values() for pair in pairs]
    print(f"without the {len(together)} of “decoder 2, English”, all at once: {right_without(model, together, twins, rivals):.1%}")
    print(f"without the {len(others)} others that can go, all at once: {right_without(model, others, twins, rivals):.1%}")
    for adjective in ("tired", "wide"):
        sentence = f"The animal did not cross the street because it was too {adjective}."
        words, source = parallel.tokenize(sentence), english_words.encode(sentence)
        for layer, head in ((0, 1), (1, 0)):
            weights = self_attention_from(model, source, words.index("it"), head=head)[layer]
            print(f"encoder layer {layer + 1}, head {head + 1}, “it … {adjective}”:", ", ".join(f"{words[n]} {weights[n]:.2f}" for n in weights.argsort(descending=True)[:4]))
    print("encoder layer 1, head 2, on other adjectives:", end=" ")
    for adjective in ("weak", "lazy", "hungry", "sick", "wet", "hot", "high", "narrow"):
        words = f"the animal did not cross the street because it was too {adjective} .".split()
        weights = self_attention_from(model, english_words.encode(" ".join(words)), words.index("it"), head=1)[0]
        print(f"{adjective} {weights[words.index(adjective)]:.2f}", end="  ")
    print()

# %% [markdown]
# (Of the course's weights.) Of 24 heads, 22 can go one at a time, and not a pronoun changes. Two can't.
#
# * **Encoder layer 1, head 2** looks at *wide* with nearly all its attention, and at *tired* hardly at all (printed above): it seems to raise its hand for what one says of things, not of living beings. (The nouns have no part in that score: in layer 1 no word has heard
#   another yet.) Without it half of the pronouns are right, which fits a model that still knows the two nouns, but not which is meant.
# * **Encoder layer 2, head 1** is needed, too, probably for the noun: that is where it looks. Without it the pronoun is hardly better than guessed.
#
# It seems that the first finds out **what is said**, and so which of the two is meant, and the second **fetches that noun**, with its gender: two steps, one in each layer, as lab 09 promised of a stack. (And in layer 1 the *strongest* look was another head's, at *tired*. It can go.)
#
# **Not missed is not useless.** The four heads of the decoder's second layer that listen to the English can each go alone, but not all four: any three of them are enough; they share this work. The other 18 can go all at once,
# and every pronoun is still right: for this one task, six heads of 24 suffice.
#
# **Layer by layer.** Every block adds to the same vectors and normalises them (the *residual stream*), so we can read along. Does the vector of *it* already tell which pronoun is due? Ask the simplest reader there is: a linear classifier (a *probe*), trained on half of the test
# sentences, which must name the pronoun from that one vector in the other half.

# %% tags=["skip-grading"]
def after_each_block(blocks, run):
    """What enters the first block and what leaves each block, (B, T, d_model), while ``run()`` runs."""
    stream = []
    handles = [blocks[0].register_forward_pre_hook(lambda block, inputs: stream.append(inputs[0]))]
    handles += [block.register_forward_hook(lambda block, inputs, output: stream.append(output)) for block in blocks]
    with torch.no_grad():
        run()
    for handle in handles:
        handle.remove()
    return stream


with until_written():
    needs("make_batch", "Transformer")
    from sklearn.linear_model import LogisticRegression

    every = twins_of(parallel.load("test_coreference"))
    source, _, labels = make_batch(every)
    place = pronoun_places(labels)
    rows, half = torch.arange(len(every)), len(every) // 4 * 2  # twins stay together
    at, due = (source == english_words.numbers["it"]).int().argmax(dim=1), labels[rows, place]
    readable = []
    for x in after_each_block(model.encoder, lambda: model.encode(source)):
        vectors = x[rows, at].numpy()
        reader = LogisticRegression(C=0.1, max_iter=2000).fit(vectors[:half], due[:half])
        readable.append(reader.score(vectors[half:], due[half:]))
    places = ("before block 1", "after block 1", "after block 2")
    ax = bars(dict(zip(places, readable)), "{:.0%}", size=(7.2, 2.2), color=BLUE)
    ax.axvline(due.bincount().max() / len(due), color=INK, lw=1, ls=":", label="always the commonest")
    ax.legend(loc="upper right")
    ax.set(xlabel="share of pronouns read off the vector of “it”", xlim=(0, 1.12))
    ax.set_title("A linear reader finds the pronoun in “it” after the second block, hardly before")
    plt.show()

# %% [markdown]
# And the decoder? At the place where the pronoun is due, compare its vector with the German words after each block, as if that were the last (the *logit lens*):

# %% tags=["skip-grading"]
with until_written():
    needs("make_batch", "Transformer", "translate")
    for adjective in ("tired", "wide"):
        source = english_words.encode(f"The animal did not cross the street because it was too {adjective}.")
        said = translate(model, source, beam=4)
        place = next(n for n, number in enumerate(said) if number in rivals.tolist())
        stream = after_each_block(model.decoder, lambda: model(torch.tensor([source]), torch.tensor([[BOS, *said]])))
        print(f"… {adjective}")
        for when, y in zip(("before block 1", "after block 1", "after block 2"), stream):
            best = (y[0, place] @ model.target_embedding.weight.T).topk(3)
            print(f"  {when:<15}", ", ".join(f"{german_words.words[n]} ({logit:.1f})" for logit, n in zip(best.values, best.indices)))
        it = parallel.tokenize(english_words.decode(source)).index("it")
        print(f"  of its look at the English, block 2 gives “it” {alignment(model, source, said)[place, it]:.2f}")
    source, decoder_input, labels = make_batch(twins)
    place, rows = pronoun_places(labels), torch.arange(len(twins))
    for when, y in zip(("before block 1", "after block 1", "after block 2"), after_each_block(model.decoder, lambda: model(source, decoder_input))):
        likeliest = (y[rows, place] @ model.target_embedding.weight[rivals].T).argmax(dim=1)
        print(f"{when:<15} the likeliest of er, sie, es is right in {(rivals[likeliest] == labels[rows, place]).float().mean():.0%} of {len(twins)} sentences")

# %% [markdown]
# Before the first block there is only the word that was just said (*weil*). After the first, *weil* is still ahead, and pronouns come up behind it, in both sentences the same two, and no better than guessed. The second listens to the English *it*, whose vector by then tells which noun is meant.
#
# | what do we ask? | of | here |
# |---|---|---|
# | what is looked at? | the map | the adjective, then a noun |
# | what would sway it? | the gradient | that noun, more than the other |
# | what is needed? | ablation | two heads |
# | where can it be read? | probe, logit lens | after the second block |
#
# # Act two: real sentences
#
# ## 9 · The same machine, a million words
#
# The grammar has some 590 English words, and its author knows every rule. [Tatoeba](https://tatoeba.org) is a collection of everyday sentences that people have written and translated. The course has trained a larger transformer of the same class (3.2 million parameters, one list of 6,000 pieces for both languages)
# on 163,906 pairs of it, each in both directions, for 76 minutes on one core. Here are its weights, in **your** `Transformer`, with your blocks, your beam, and your tokenizer of lab 04: words are now
# pieces of words, so that no word is unknown. A sentence begins with a **tag** that says into which language it should go.

# %% tags=["skip-grading"]
from coursekit.translator.everyday import load_everyday, test_pairs

with until_written():
    needs("Transformer")
    everyday, merges, tag = load_everyday(Transformer)
    print(f"{sum(weights.numel() for weights in everyday.parameters()):,} parameters, {len(merges):,} merges, tags {tag}")


def numbers_of(sentence, language="de"):
    """The tag of the language to go to, and the sentence's pieces: lab 04's numbers, after the four special ones."""
    return [tag[language], *(4 + n for n in encode(" " + sentence, merges))]


def text_of(numbers):
    """The sentence that pieces spell."""
    return decode([n - 4 for n in numbers if 4 <= n < min(tag.values())], merges).strip()


def say_everyday(sentence, language="de", beam=4):
    """A translation of any sentence, into German (de) or English (en)."""
    return text_of(translate(everyday, numbers_of(sentence, language), beam=beam, length_penalty=1.0, max_length=60))

# %% tags=["skip-grading"]
with until_written():
    needs("Transformer", "translate")
    print([text_of([n]) for n in numbers_of("The dog bites the zebra.")[1:]])
    for sentence in ["The dog bites the zebra.", "Hello!", "Where did you learn German?", "I'd like a cup of coffee, please.",
                     "She was late because she had missed the bus.", "Can you help me tomorrow?"]:
        print(f"{sentence:<46} {say_everyday(sentence)}")
    print(f"{'Ich habe keine Ahnung, was er meint.':<46} {say_everyday('Ich habe keine Ahnung, was er meint.', 'en')}")

# %% [markdown]
# No word is unknown any more, but *zebra* comes in three pieces, none of which says *animal*, and *bit·es* begins like *bit*: probably hence *biss*. An ending gets lost, too (*he mean*).
#
# **Yours.** Write a sentence, up to about fifteen words. Which piece of the translation listened to which piece of the source?

# %% tags=["skip-grading"]
my_sentence = "I have been looking for my keys all day."

with until_written():
    needs("Transformer", "translate")
    source = numbers_of(my_sentence)
    target = translate(everyday, source, beam=4, length_penalty=1.0, max_length=60)
    pieces = ["<to German>", *(text_of([n]) or "·" for n in source[1:])]
    fig, ax = plt.subplots(figsize=(8, 4.6))
    heatmap(alignment(everyday, source, target), [*(text_of([n]) or "·" for n in target), "<eos>"], pieces, ax=ax, vmin=0, aspect="auto",
            xlabel="listens to", ylabel="while saying", title=f"“{text_of(target)}”", colorbar="weight")
    ax.tick_params(axis="x", rotation=40)
    plt.show()

# %% [markdown]
# ## 10 · How good is it? BLEU
#
# Exact match is a hard judge, and among real sentences an unfair one: for *tickets*, *Karten* is as good as *Tickets*. **BLEU** (Papineni et al. 2002), by which most translators have been compared for twenty years, counts
# *how many n-grams* (runs of n words, n = 1 to 4) of the translation also stand in the reference:
#
# $$p_n = \frac{\text{n-grams of the translations that are in their references (clipped)}}{\text{n-grams of the translations}}$$
#
# $$\mathrm{BLEU} = 100 \cdot \mathrm{BP} \cdot \sqrt[4]{p_1 p_2 p_3 p_4}$$
#
# * **Clipped**: an n-gram counts at most as often as it occurs in that sentence's reference. *der der der der* would otherwise have $p_1 = 1$.
# * **Corpus**: matches and totals are summed over *all* sentences first, then divided. BLEU is not the mean of sentence scores.
# * **Brevity penalty**: with $c$ words in all translations together and $r$ in all references, $\mathrm{BP} = 1$ if $c \ge r$ and $e^{1 - r/c}$ otherwise. Precision alone would reward a translator that says only what it is sure of.
#
# **By hand.** Translation *a b c d e*, reference *a b c d f g*. $p_1 = 4/5$, $p_2 = 3/4$, $p_3 = 2/3$, $p_4 = 1/2$; their product is $0.2$, its fourth root $0.669$.
# $\mathrm{BP} = e^{1 - 6/5} = 0.819$. BLEU $= 54.75$.

# ### Question 5 · `bleu` ●●○ (20 minutes, 3 points)
#
# `bleu(hypotheses, references)` returns the corpus BLEU, a number from 0 to 100, not rounded.
#
# * Both are lists of the same length; item $i$ is a sentence, a **list of words** (strings). Each translation has one reference.
# * Words are compared as they are: no lower-casing, no cutting. A punctuation mark is a word, too.
# * If for some n nothing matches (or there are no n-grams at all), BLEU is 0. A translation may be empty; it then just has no n-grams.
#
# (`sacrebleu` and `nltk` know the answer; here they may not be asked. `collections.Counter` helps: `a & b` keeps the smaller counts.)

# %% question="bleu"
def bleu(hypotheses, references):
    """Corpus BLEU of lists of words, 0 to 100 (Papineni et al. 2002)."""
    ### BEGIN SOLUTION
    from collections import Counter

    def n_grams(words, n):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    logarithms = 0.0
    for n in (1, 2, 3, 4):
        matches = total = 0
        for hypothesis, reference in zip(hypotheses, references):
            found = n_grams(hypothesis, n)
            matches += sum((found & n_grams(reference, n)).values())
            total += sum(found.values())
        if matches == 0:
            return 0.0
        logarithms += math.log(matches / total) / 4
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    return 100 * math.exp(logarithms + min(0.0, 1 - r / c))
    ### END SOLUTION

# %% test="bleu" points=3
check("bleu", bleu)

# %% [markdown]
# ### Optional · Break it to believe it ●●○ (10 minutes, no points)
#
# Many a paper has published a BLEU that no other program could find again. This one agrees with yours on the test below:

# %% locked="suspect"
def hasty_bleu(hypotheses, references):
    """Looks right, and passes the test below."""
    scores = []
    for said, right in zip(hypotheses, references):
        scores.append(bleu([said], [right]))
    return sum(scores) / len(scores)


weak_input = (["I ate an apple in the garden today".split()], ["I ate an apple in the kitchen today".split()])

# %% tags=["skip-grading"]
with until_written():
    needs("bleu")
    print("the weak test: is it the same?", math.isclose(hasty_bleu(*weak_input), bleu(*weak_input)))

# %% [markdown]
# Let `counterexample()` return translations and references, `(hypotheses, references)`, for which it goes wrong. Five more impostors pass the weak test, too. Can one corpus expose all six?

# %% question="counterexample" points=0
def counterexample():
    """Two lists of sentences, each a list of words, that give wrong BLEUs away."""
    ### BEGIN SOLUTION
    hypotheses = ["the cat sat on the the mat today".split(), "a dog ran home very Fast".split(), "so it is".split()]
    references = ["the cat sat on a mat today he said to me".split(), "a dog ran home very fast".split(), "so it is now".split()]
    return hypotheses, references
    ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("bleu")
    break_it(counterexample, bleu, hasty_bleu)

# %% [markdown]
# Now your translators, by your BLEU, on sentences that they have never seen, next to `sacrebleu`, the tool that papers use. Greedy or with a beam of 4: what is the search worth?

# %% tags=["skip-grading"]
HOW_MANY = 150  # up to 300 sentences; more take longer, and tell more

with until_written():
    needs("make_batch", "Transformer", "translate", "bleu")
    import re

    import sacrebleu

    cut = re.compile(r"\w+|[^\w\s]").findall  # words and punctuation marks
    real = test_pairs()[:: max(1, 300 // HOW_MANY)][:HOW_MANY]
    easy = parallel.load("test_sentences")[:HOW_MANY]
    found = {"grammar, greedy": [say(english, beam=1) for english, _ in track(easy, "the grammar")],
             "everyday, greedy": [say_everyday(english, beam=1) for english, _ in track(real, "everyday, greedy")],
             "everyday, beam 4": [say_everyday(english) for english, _ in track(real, "everyday, beam")]}
    scores = {}
    for name, translations in found.items():
        hypotheses = [cut(one) for one in translations]
        references = [cut(german) for _, german in (easy if name.startswith("grammar") else real)]
        scores[name] = bleu(hypotheses, references)
        theirs = sacrebleu.corpus_bleu([" ".join(h) for h in hypotheses], [[" ".join(r) for r in references]],
                                       tokenize="none", smooth_method="none", force=True).score
        own_cut = sacrebleu.corpus_bleu(translations, [[german for _, german in (easy if name.startswith("grammar") else real)]]).score
        print(f"{name:<18} your BLEU {scores[name]:.6f}, sacreBLEU {theirs:.6f}, and {own_cut:.6f} where it cuts the words itself")

# %% tags=["skip-grading"]
with until_written():
    needs("make_batch", "Transformer", "translate", "bleu")
    ax = bars(scores, "%.1f", size=(7.2, 2.2), color=[INK, ORANGE, BLUE])
    ax.set(xlabel=f"BLEU on {HOW_MANY} unseen sentences", xlim=(0, 112))
    ax.set_title(f"Real sentences are another matter; on these a beam is worth {scores['everyday, beam 4'] - scores['everyday, greedy']:.1f}")
    plt.show()
    both = zip(real, found["everyday, greedy"], found["everyday, beam 4"])
    differ = [(*pair, one, four) for pair, one, four in both if one != four]
    hits = [sum(row[1] == row[n] for row in differ) for n in (2, 3)]
    print(f"In {len(differ)} of {HOW_MANY} sentences they differ; greedy says the reference in {hits[0]} of them, the beam in {hits[1]}. The first three:")
    for english, german, one, four in differ[:3]:
        print(f"{english}\n    greedy:    {one}\n    beam 4:    {four}\n    reference: {german}")

# %% [markdown]
# > **A word of care.** The first bar says only that its test sentences come from the same small grammar as its training sentences. A BLEU means something only beside another one *on the same test set, cut into words in the same way* (Post 2018):
# > on all 2,626 sentences of Tatoeba that were held out the model has 38.2 greedily and 40.1 with a beam of 5, not 4 (with 150 a BLEU can be six points off: these happen to be easier ones). And it counts runs of words, not meaning: a good synonym
# > costs as much as a blunder. Learned measures such as COMET agree better with people, and stand beside it today.
#
# **The gallery.** Which translations share the fewest words with their reference? Read them: some are wrong, and some are just another way to say it.

# %% tags=["skip-grading"]
with until_written():
    needs("make_batch", "Transformer", "translate", "bleu")
    rows = []
    for (english, german), said in zip(real, found["everyday, beam 4"]):
        right, ours = set(cut(german)), set(cut(said))
        rows.append((len(right & ours) / len(right | ours), english, said, german))
    for share, english, said, german in sorted(rows)[:10]:
        print(f"{english}\n    it says:   {said}\n    reference: {german}")

# %% [markdown]
# The model makes up words where pieces go together that never met (nobody checks that a word exists), seems to confuse words that begin alike (*entdeckt* is *discovers*: from *discount*?), and loses the thread in long sentences. A hundred times the parameters and ten thousand times
# the text mend much of that; the machine stays the same.
#
# ### Optional · Switch it off ●●○ (15 minutes, no points)
#
# You know why each part is there. Do you know what happens without it? Below, your `Transformer` learns to reverse letters (lab 10's task), once whole and once with a part switched off: the root of
# $d_k$, the ways around the sublayers (*skips*), the norms, the positions, or the shift. **Predict first**: draw both curves on paper, and write down how many unseen sequences will be right when it writes by itself. One of the five makes the
# loss *better* and the model useless, and one turns out not to be needed in so shallow a model (lab 09 showed where it is). The training is short: even the whole one is not finished.

# %% tags=["skip-grading"]
from coursekit.translator.bench import PARTS, learn

print("parts:", ", ".join(PARTS))
switched_off = "positions"  # your choice

with until_written():
    needs("make_batch", "Transformer")
    runs = {name: learn(Transformer, make_batch, lab_10, without=name) for name in track(("nothing", switched_off), "learning")}
    fig, ax = plt.subplots(figsize=(7.2, 3.2))
    for (name, run), colour in zip(runs.items(), (BLUE, ORANGE)):
        ax.plot(run.losses, color=colour, label=f"{'whole' if name == 'nothing' else 'without ' + name}: {run.right:.0%} of unseen sequences right")
    ax.set(xlabel="step", ylabel="loss for each letter", ylim=(0, None))
    ax.set_title(f"The same transformer, with and without {switched_off}")
    ax.legend(fontsize=9)
    plt.show()

# %% [markdown]
# ## 11 · In your own words (10 minutes, 2 points each)
#
# **(a)** A friend forgets the shift: `decoder_input` and `labels` both begin with the first German word. In training the loss falls to nearly 0 at once. What has the model learned, and what
# will `translate` say?

# %% [markdown] written="no_shift" points=2
# ### BEGIN SOLUTION
# At each place the decoder is shown the very word that it should say, so it learns to copy its input and ignores the English sentence. That is easy, so the loss
# falls at once. In translate nobody shows the answer: after `<bos>`, which it never met as an input, it says some word (perhaps `<bos>` itself), and after any word w it says w again, so the output is one word repeated.
# The cause is that the target leaks into the decoder's input; a loss that is too good to be true is the sign.
# ### END SOLUTION

# %% [markdown]
# **(b)** Your model translates unseen combinations nearly without a mistake. Name one experiment that would show whether it can also translate sentences *longer* than any in training, and what
# part of the model you would suspect first if it can't.

# %% [markdown] written="longer_sentences" points=2
# ### BEGIN SOLUTION
# For example: join two test sentences with "and" (or keep all training sentences to at most ten words and test on longer ones), and compare the exact match at each length. The first
# suspects are the positions: rows of the sinusoidal table beyond the longest training sentence were never met in training, so queries and keys were never fitted to them. (The second:
# `<eos>`, which was never seen so late.) Relative positions that are made for it, such as ALiBi of lab 06, help there.
# ### END SOLUTION

# %% [markdown]
# ## What you can do now

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# * You have built a transformer, of your own parts, that translates: a grammar, and the everyday.
# * You know which mask stands where, and why the target is shifted.
# * You search with a beam over a model with a cached memory, and know what a KV cache keeps, what it saves and what it costs.
# * You have seen it decide what *it* is, and know the difference between looking, mattering and being needed.
# * You measure with BLEU, and know what it does not tell.
#
# ## What is still missing
#
# Translation is only one thing that this machine can do. With the encoder alone one can read, with the decoder alone one can write, and the "words" may be pieces of a picture or of a sound. In lab 13.
