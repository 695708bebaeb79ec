# ---
# jupyter:
#   course:
#     data: [parallel, 12_translator]
#     minutes: 120
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
# **In this lab** you build the transformer of *Attention Is All You Need*, train it on two ordinary processor cores, and
# test it hard. You will be able to
#
# * assemble embeddings, positions, an encoder and a decoder into one model, and say what every mask is for;
# * turn sentences of all lengths into one batch, without letting the model see its own answer;
# * translate, word by word, with greedy and with beam search;
# * measure a translation with BLEU, and get the same number as the tool that every paper uses;
# * see in one German pronoun, and in what it hangs on, that your model has understood what *it* is.

# %% locked="setup"
import math

import numpy as np
import torch
from torch import nn
from coursekit import check, progress, start
from coursekit.data.vocabulary import BOS, EOS, PAD, UNKNOWN

start("12_translator")

# %% [markdown]
# ## 1 · The parts on the table
#
# `mine("09", "EncoderBlock")` looks for *your* lab 09 beside this one. If your block passes its public checks there, it is used
# here; if not, or if the lab is not there, the course's own version steps in, and the line below says why. So the translator will be
# as much yours as you have made it.

# %% locked="parts"
from coursekit.checks.earlier_labs import mine

sinusoidal = mine("06", "sinusoidal")  # (T, d_model) positions, a NumPy array
causal_mask = mine("07", "causal_mask")  # (T, T), True = may attend
EncoderBlock = mine("09", "EncoderBlock")  # (d_model, heads, d_ff, dropout=0.0), called with (x, mask)
DecoderBlock = mine("09", "DecoderBlock")  # called with (x, memory, self_mask, memory_mask)
beam_search = mine("11", "beam_search")  # (step, k, length_penalty, bos, eos, max_length)

# %% [markdown]
# Masks: True means "may attend". If yours from lab 07 are NumPy arrays, `torch.as_tensor(...)` makes tensors of them.
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
# | 3 | `UNKNOWN` | a word that training never showed |

# %% tags=["skip-grading"]
english_words, german_words = vocabularies(train_text)
train = numbered(train_text, english_words, german_words)
print(f"{len(english_words)} English words, {len(german_words)} German words")
print(parallel.tokenize("I ate an apple."), "→", english_words.encode("I ate an apple."))
print(german_words.decode(german_words.encode("Ich habe einen Apfel gegessen.")))

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
# The two are the same sentence, **shifted by one**. If you forget the shift, the answer stands in the question: the model learns to copy
# within a minute, with a wonderful loss, and can't translate a word.

# %% [markdown]
# ### Question 1 · `make_batch` ●●○ (15 minutes, 4 points)
#
# `make_batch(pairs)` takes a list of pairs `(source, target)`, both non-empty lists of word numbers (without any of the four special numbers),
# and returns three tensors of whole numbers (`torch.long`), one row for each pair, in their order:
#
# * `source`, shape `(B, S)`: the source sentences, filled up with `PAD` to the longest one, $S$;
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
    def rectangle(rows):
        width = max(len(row) for row in rows)
        return torch.tensor([row + [PAD] * (width - len(row)) for row in rows])

    sources, targets = [list(source) for source, _ in pairs], [list(target) for _, target in pairs]
    return (
        rectangle(sources),
        rectangle([[BOS] + target for target in targets]),
        rectangle([target + [EOS] for target in targets]),
    )
    ### END SOLUTION

# %% test="make_batch" points=4
check("make_batch", make_batch)

# %% tags=["skip-grading"]
import matplotlib.pyplot as plt
from coursekit.figures import BLUE, GREEN, ORANGE, PALETTE, heatmap
from coursekit.notebook.progress import track
from coursekit.notebook.until_written import needs, until_written
from matplotlib.colors import ListedColormap

with until_written():
    needs("make_batch")
    tiny = [pair for pair in train if len(pair[1]) < 9][:6]
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 2.9))
    for ax, part, name in zip(axes, make_batch(tiny), ("source", "decoder_input", "labels")):
        kind = torch.where(part > UNKNOWN, 3, part)  # PAD, BOS, EOS, or a word
        heatmap(kind, ax=ax, title=name, xlabel="place", aspect="auto", cmap=ListedColormap(["#e8ebee", ORANGE, GREEN, BLUE]),
                vmin=0, vmax=3, ylabel="sentence" if name == "source" else "")
    fig.suptitle("The labels are the decoder's input, one place earlier", x=0.02, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# Blue is a word, orange `BOS`, green `EOS`, grey padding.
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
# **Why the root?** The embeddings are drawn with the standard deviation $1/\sqrt{d_{model}}$. Their entries are about 0.09, the sines and cosines
# about 0.7: the word would drown in its place. Times $\sqrt{128} = 11.3$ they are equals.
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
# Positions come from `sinusoidal(T, d_model)`. Turn them into a tensor of the embedding's `dtype`. With `<bos>` a sentence has up to 64 words here, so one table of 64
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
    fig, ax = plt.subplots(figsize=(8, 2.2))
    ax.barh(list(shares)[::-1], list(shares.values())[::-1], color=BLUE)
    for place, count in enumerate(list(shares.values())[::-1]):
        ax.text(count, place, f" {count:,}", va="center")
    ax.set(xlabel="parameters", xlim=(0, 1.15 * max(shares.values())))
    ax.set_title(f"Your translator has {sum(shares.values()):,} parameters")
    plt.show()

# %% [markdown]
# ## 5 · Speaking
#
# Lab 11 needs one function, `step(prefixes)`: a list of n prefixes, all of one length, goes in, and an array `(n, V)` of *log*-probabilities comes out. Then
# `beam_search(step, k, length_penalty, bos, eos, max_length)` returns the hypotheses as a list of `(tokens, score)`, best first; the tokens come without
# `bos` and with `eos`, if it came. A beam with $k = 1$ is greedy.
#
# **Cache what does not change.** The English sentence stays the same while the German one grows, and so does the memory. So the encoder runs
# **once for a sentence**, not once for each word. Only the decoder runs again.

# %% [markdown]
# ### Question 3 · `translate` ●●○ (20 minutes, 5 points)
#
# `translate(model, source, beam=1, length_penalty=0.0, max_length=40)` returns a list of target word numbers (Python integers), without `BOS` and without `EOS`.
#
# * `model` has the methods of question 2; `source` is a non-empty list of word numbers, one sentence;
# * the search is `beam_search` with `k = beam`, and the best hypothesis wins; `max_length` counts the chosen words, `EOS` included;
# * put the model into evaluation mode first (`model.eval()`), and let nothing be recorded for gradients (`torch.no_grad()`);
# * call `model.encode` **exactly once**, and `model.decode` with what it returned. All n prefixes of a call listen to the same memory: either
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

# %% test="translate" points=5
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
# ## 6 · Learning
#
# The loop is that of lab 10: predict, compare, go downhill, 64 pairs at a time. Sentences of similar length go into the same batch, so that little is
# padding. The learning rate climbs for 300 steps and then falls to 0 in a straight line; each step also makes every weight
# a little smaller (*weight decay*), which keeps the model from learning pairs by heart.
#
# Below, the curve grows for twenty seconds (with a shorter climb), so that you see it learn. **For the whole training, set `TRAIN_FULL = True`**: about three minutes on two cores. You
# may stop it at any time (the ■ button, or Ctrl-C): it leaves a checkpoint, and the next run goes on from there.

# %% tags=["skip-grading"]
from coursekit.translator.training import Training, fresh

TRAIN_FULL = False

with until_written():
    needs("make_batch", "Transformer")
    torch.manual_seed(0)
    model = fresh(Transformer(len(english_words), len(german_words), **SIZES))
    checkpoint = "my_translator.pt" if TRAIN_FULL else None
    training = Training(model, make_batch, train, warm_up=300 if TRAIN_FULL else 50, checkpoint=checkpoint)
    training.run(seconds=None if TRAIN_FULL else 20)
    print(f"{len(training.losses):,} of {training.steps:,} steps in {training.seconds:.0f} s")

# %% [markdown]
# Guessing among all German words would cost about $\ln 1048 = 7.0$ for each. The fall from there is quick: first the model learns which words are frequent, then what German sentences look like, and
# only then what the *English* sentence has to do with it.
#
# If you did not wait, here is the same model after the whole training. Its weights come with the course and go into **your** `Transformer`:

# %% tags=["skip-grading"]
from coursekit.translator.word_model import load
from coursekit.translator.word_model import exact_match

with until_written():
    needs("make_batch", "Transformer")
    if TRAIN_FULL and training.finished:
        print("This is the model that you have just trained.")
    else:
        model, english_words, german_words = load(Transformer)
        print("These are the weights that come with the course, in your Transformer.")

# %% [markdown]
# ## 7 · Does it translate?
#
# Type your own sentence into the list. (The words must be among those it knows; the others become `<unk>`.)

# %% tags=["skip-grading"]
def say(sentence, beam=4):
    """The German for an English sentence."""
    return german_words.decode(translate(model, english_words.encode(sentence), beam=beam))


with until_written():
    needs("make_batch", "Transformer", "translate")
    for sentence in ["I ate an apple.", "I am a student.", "Let there be light.", "The cat jumped on the roof.",
                     "Yesterday the old man did not open the window.", "She says that the children play in the garden.",
                     "I do not like apples and you like oranges."]:
        print(f"{sentence:<60} {say(sentence)}")

# %% [markdown]
# *I ate an apple* has four words, *Ich habe einen Apfel gegessen* has five. One English verb has become two, and the second one stands at the end. Who listened to
# whom? The decoder's last cross-attention tells, as the mean of its heads:

# %% tags=["skip-grading"]
from coursekit.translator.attention_map import alignment

with until_written():
    needs("make_batch", "Transformer", "translate")
    source = english_words.encode("I ate an apple.")
    target = translate(model, source)
    weights = alignment(model, source, target)  # (words said, source words)
    fig, ax = plt.subplots(figsize=(5.4, 4))
    heatmap(weights, [german_words.words[n] for n in target] + ["<eos>"], parallel.tokenize("I ate an apple."), ax=ax,
            numbers=".1f", vmin=0, vmax=1, xlabel="listens to", ylabel="while saying",
            title="“gegessen”, at the end, comes from “ate”")
    plt.show()

# %% [markdown]
# *habe* looks at the verb, too, but also at *I*: it must agree with its subject (*ich habe*, *du hast*). And *einen* looks at *apple*, because
# its ending depends on the gender of *Apfel*. Nobody told it which word belongs to which. It found out because that is how one gets the next word right.
#
# ## 8 · How good is it? BLEU
#
# Exact match is a hard judge: one wrong ending, and the sentence counts as wrong. **BLEU** (Papineni et al. 2002), by which all translators have been compared for twenty years, counts
# *how many n-grams* (runs of n words, n = 1 to 4) of the translation also stand in the reference:
#
# $$p_n = \frac{\text{n-grams of the translations that are in their references (clipped)}}{\text{n-grams of the translations}}$$
#
# $$\mathrm{BLEU} = 100 \cdot \mathrm{BP} \cdot \sqrt[4]{p_1 p_2 p_3 p_4}$$
#
# * **Clipped**: an n-gram counts at most as often as it occurs in that sentence's reference. *der der der der* would otherwise have $p_1 = 1$.
# * **Corpus**: matches and totals are summed over *all* sentences first, then divided. BLEU is not the mean of sentence scores.
# * **Brevity penalty**: with $c$ words in all translations together and $r$ in all references, $\mathrm{BP} = 1$ if $c \ge r$ and $e^{1 - r/c}$ otherwise. Precision alone would reward him who says only what he is sure of.
#
# **By hand.** Translation *a b c d e*, reference *a b c d f g*. $p_1 = 4/5$, $p_2 = 3/4$, $p_3 = 2/3$, $p_4 = 1/2$; their product is $0.2$, its fourth root $0.669$.
# $\mathrm{BP} = e^{1 - 6/5} = 0.819$. BLEU $= 54.75$.

# %% [markdown]
# ### Question 4 · `bleu` ●●○ (20 minutes, 4 points)
#
# `bleu(hypotheses, references)` returns the corpus BLEU, a number from 0 to 100.
#
# * Both are lists of the same length; item $i$ is a sentence, a **list of words** (strings). Each translation has one reference.
# * Words are compared as they are: no lower-casing, no cutting.
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

# %% test="bleu" points=4
check("bleu", bleu)

# %% [markdown]
# Now your translator, by your BLEU, on 200 sentences that it has never seen, next to `sacrebleu`, the tool that papers use:

# %% tags=["skip-grading"]
def compare_with_sacrebleu():
    """Your BLEU and sacreBLEU's on the same 200 translations."""
    import sacrebleu

    unseen = parallel.load("test_sentences")[:200]
    hypotheses = [parallel.tokenize(say(english, beam=1)) for english, _ in track(unseen, "translating")]
    references = [parallel.tokenize(german) for _, german in unseen]
    theirs = sacrebleu.corpus_bleu([" ".join(h) for h in hypotheses], [[" ".join(r) for r in references]],
                                   tokenize="none", smooth_method="none", force=True).score
    print(f"your BLEU {bleu(hypotheses, references):.6f}, sacreBLEU {theirs:.6f}")


with until_written():
    needs("make_batch", "Transformer", "translate", "bleu")
    compare_with_sacrebleu()

# %% [markdown]
# > **A word of care.** A BLEU this high says that the test sentences come from the same small grammar as the training sentences. On news, good systems reach 30 to 45. A
# > BLEU means something only beside another one *on the same test set*.
#
# ## 9 · New combinations, and *it*
#
# Has the model learned the language, or the sentences? The corpus holds back *combinations*: training has seen *beautiful* with many nouns, and animals
# with many adjectives, but never a *beautiful animal*. And it holds back whole cases of *it*.

# %% tags=["skip-grading"]
with until_written():
    needs("make_batch", "Transformer")
    scores = {split.removeprefix("test_"): exact_match(model, make_batch, numbered(parallel.load(split), english_words, german_words))
              for split in track(("test_sentences", "test_combinations", "test_coreference"), "testing")}
    fig, ax = plt.subplots(figsize=(7.2, 2.4))
    ax.barh(["unseen " + name if name != "coreference" else "what is “it”?" for name in scores][::-1],
            [100 * score for score in scores.values()][::-1], color=BLUE)
    for place, score in enumerate(list(scores.values())[::-1]):
        ax.text(100 * score, place, f" {100 * score:.1f}", va="center")
    ax.set(xlabel="translations that are right, word for word (%)", xlim=(0, 112))
    ax.set_title("It has learned a language, not a list of sentences")
    plt.show()

# %% [markdown]
# (How can 2,000 sentences be tested in a second? The model is shown the reference and must choose its next word at every place. If it always does, greedy decoding
# would have walked the same way; at its first mistake, it would have left it. So one pass tells.)
#
# And now the sentence that this course has carried along since lab 08. *The animal did not cross the street because it was too tired*, or *too wide*. English leaves open who *it* is.
# German can't: **es** is the animal (*das Tier*), **sie** the street (*die Straße*). To choose, the model has to know that streets are not tired.
#
# What does it look at, and what does it decide by? The attention maps answer the first question. For the second we ask the gradient, as in lab 09: when the decoder is about to say
# *es* or *sie*, a small change of which English word's vector **sways** the choice most? (The largest is drawn as 1.)

# %% tags=["skip-grading"]
from coursekit.translator.attention_map import self_attention_from, sway

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
        ax.set_title(f"… {' '.join(german[place - 1:-1])}: of the two nouns, “{german[place]}” (not “{other}”) hangs on “{noun}”", fontsize=11)
        print(f"{sentence}\n    {german_words.decode(said)}")
    plt.show()

# %% [markdown]
# One adjective at the very end has changed one small word in the middle. Read the rows (of the course's weights; each number is that layer's strongest head). In layer 1, *it* looks at
# the adjective (and at *street* already, if something was wide). In layer 2 it looks at *animal* in one sentence, and at *street* in the other. And the choice of the pronoun hangs on the same noun (and, of course, on *it*
# itself): nobody ever told the model what *it* is.
#
# But **looking is not deciding.** Another training run of the same model chose *es* and *sie* just as well, and in both sentences its *it* looked at *animal*. An attention map says
# what a head has read, and more layers come after it; it is evidence, not proof. The pronoun is the proof.
#
# ## 10 · In your own words (2 points each)
#
# **(a)** A friend forgets the shift: `decoder_input` and `labels` both begin with the first German word. In training the loss falls to nearly 0 at once. What has the model learned, and what
# will `translate` say?

# %% [markdown] written="no_shift" points=2
# ### BEGIN SOLUTION
# At each place the decoder is shown the very word that it should say, so it learns to copy its input and ignores the English sentence. That is easy, so the loss
# falls at once. In translate nobody shows the answer: after `<bos>`, which it never met, or any word w, it says w again, so the output is one word repeated.
# The cause is that the target leaks into the decoder's input; a loss that is too good to be true is the sign.
# ### END SOLUTION

# %% [markdown]
# **(b)** Your model translates unseen combinations nearly without a mistake. Name one experiment that would show whether it can also translate sentences *longer* than any in training, and what
# part of the model you would suspect first if it can't.

# %% [markdown] written="longer_sentences" points=2
# ### BEGIN SOLUTION
# For example: join two test sentences with "and" (or keep all training sentences to at most ten words and test on longer ones), and compare the exact match at each length. The first
# suspects are the positions: rows of the sinusoidal table beyond the longest training sentence were never met in training, so queries and keys were never fitted to them. (The second:
# `<eos>`, which was never seen so late.) Relative positions, such as RoPE of lab 06, help there.
# ### END SOLUTION

# %% [markdown]
# ## What you can do now

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# * You have built a transformer, of your own parts, that translates.
# * You know which mask stands where, and why the target is shifted.
# * You search with a beam over a model with a cached memory.
# * You measure with BLEU, and know what it does not tell.
# * You have seen it decide what *it* is.
#
# ## What is still missing
#
# The decoder still computes all its old places again for each new word. Real systems keep the keys and values of the past, too. And translation is only one thing that this machine can
# do. With the encoder alone one can read, with the decoder alone one can write, and the "words" may be pieces of a picture or of a sound. In lab 13.
