# ---
# jupyter:
#   course:
#     data: [names.txt, 13_beyond]
#     minutes: 125
#     demo: 13_beyond
# ---

# %% [markdown]
# # 13 · Beyond: what else is it good for?
#
# **What you already have.** All the parts: attention with masks (07), several heads (08), blocks (09), training (10), decoding
# (11), and a translator made of them (12).
#
# **What is missing.** Almost nothing, and that is the surprise of this last lab. The models that read contracts, write
# letters, look at X-rays and take dictation are made of nearly the *same block*. They differ in three small things: what may look at what (the
# **mask**), what is to be guessed (the **task**), and what a row of the input stands for (the **token**).
#
# And most of them share one secret: they **learn first and get their task afterwards**. Nobody has labels for a billion sentences. But to guess a hidden word, or the next one, no labels are needed.
#
# **In this lab** you change one thing at a time. You will be able to
#
# * train an encoder to fill in blanks, as BERT does;
# * turn it into a decoder that writes, as GPT does, with one mask, and check that it never looks ahead;
# * pre-train a model on plain text, fine-tune it on 200 labels, and measure what the reading was worth;
# * count what attention costs, see that a sparse mask alone saves nothing, and compute only what it allows;
# * cut images into tokens and sound into tokens, and feed them to the very same block;
# * say which family serves which purpose, and why.
#
# *125 minutes: 85 for the five functions, 5 for the answer in words, 35 to read and look.*

# %% locked="setup"
import numpy as np
import torch
from torch import nn
from coursekit import break_it, check, progress, start

start("13_beyond")

# %% [markdown]
# From labs 07 and 09: yours, where they pass their public checks, else the course's. `causal_mask(T)` is `(T, T)`, True where a position may attend. `EncoderBlock(d_model, heads, d_ff)` is a
# layer of self-attention and a feed-forward layer with their Add & Norm; call it as `block(x, mask)`, with a mask that broadcasts
# to `(B, T, T)`. You may use both everywhere. (If your mask of lab 07 is a NumPy array, `torch.as_tensor(...)` makes a tensor of it.)

# %% locked="earlier_labs"
from coursekit.checks.earlier_labs import mine

causal_mask = mine("07", "causal_mask")
EncoderBlock = mine("09", "EncoderBlock")

PAD, MASK = 0, 1  # two token numbers that stand for no word: padding, and a blank

# %% [markdown]
# ## 1 · BERT's way: fill in the blanks
#
# > *The doctor washed her ____ before the operation.*
#
# You filled that in with what stands **before and after** the blank. A model that learns to do so must learn much about language, and
# nobody has to label anything: take any text, hide some words, ask for them. This is the *masked language model*.
#
# One problem: after training nobody writes `[MASK]` into their sentences. A model that only ever works at blanks would be lazy everywhere
# else. So the authors of BERT (Devlin et al., 2019) choose 15 % of the tokens as those to be guessed, and **of those that are chosen**
#
# * 80 % become `[MASK]`,
# * 10 % become a random word, so that the model can't trust what it sees,
# * 10 % stay as they are, so that it does not *mis*trust everything.
#
# By hand, with two tokens chosen:
#
# | | the | doctor | washed | her | hands | (padding) |
# |---|---|---|---|---|---|---|
# | ids | 5 | 9 | 4 | 7 | 6 | 0 |
# | chosen? | | yes | | | yes | never |
# | inputs | 5 | **1** (`[MASK]`) | 4 | 7 | **8** (random) | 0 |
# | targets | −100 | **9** | −100 | −100 | **6** | −100 |
#
# The target −100 says "no question here": PyTorch's `cross_entropy` leaves those positions out.

# %% [markdown]
# ### Question 1 · `masked_lm_batch` ●●○ (15 minutes, 4 points)
#
# `masked_lm_batch(ids, V, rng, rate=0.15)` returns the pair `(inputs, targets)`, two new integer arrays of the shape of `ids`.
#
# * `ids`: integer array `(B, T)` in NumPy. Number 0 is padding, 1 is `[MASK]`, and the words are 2, 3, …, V − 1. (`<bos>` and `<eos>` are among them here, and may
#   be chosen; BERT itself spares such tokens.)
# * Each position that is not padding is chosen with probability `rate`, **independently** of all others (so now and then none is).
# * Each chosen position, again independently: with probability 0.8 the input becomes 1; with probability 0.1 a word drawn uniformly from
#   2 … V − 1 (it may happen to be the old one); otherwise it stays.
# * `targets`: the **original** number at chosen positions, −100 everywhere else (also at padding).
# * All randomness comes from `rng`, a NumPy generator (`rng.random(shape)`, `rng.integers(low, high, shape)`); `ids` is left as it is.

# %% question="masked_lm_batch"
def masked_lm_batch(ids, V, rng, rate=0.15):
    """(B, T) ids → inputs (B, T) with blanks, targets (B, T) with −100 where nothing is asked."""
    ### BEGIN SOLUTION
    chosen = (rng.random(ids.shape) < rate) & (ids != PAD)
    fate = rng.random(ids.shape)
    words = rng.integers(2, V, ids.shape)
    inputs = np.where(chosen & (fate < 0.8), MASK, ids)
    inputs = np.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs)
    return inputs, np.where(chosen, ids, -100)
    ### END SOLUTION

# %% test="masked_lm_batch" points=4
check("masked_lm_batch", masked_lm_batch)

# %% [markdown]
# Our text is lab 01's names, so a token is a letter. A row is `<bos>`, the letters, `<eos>`, and padding (printed as `<`, `>` and `·`):

# %% tags=["skip-grading"]
import matplotlib.pyplot as plt
from coursekit.figures import BLUE, GREEN, INK, ORANGE, PURPLE, RED, bars, heatmap
from coursekit.data.names import names
from coursekit.notebook.progress import fastest, track
from coursekit.notebook.until_written import needs, until_written
from matplotlib.colors import ListedColormap

torch.set_num_threads(1)  # for models as small as these, sharing the work out costs more than it saves

SYMBOLS = ["·", "▢", "<", *"abcdefghijklmnopqrstuvwxyz", ">"]  # padding, blank, <bos>, letters, <eos>
V, LENGTH = len(SYMBOLS), 17
shuffled = [name for name in np.random.default_rng(13).permutation(names()) if len(name) <= LENGTH - 2]
held_out, learned = shuffled[:2000], shuffled[2000:]


def encode(some):
    """Names → (B, LENGTH) numbers."""
    return np.array([[SYMBOLS.index(c) for c in f"<{name}>".ljust(LENGTH, "·")] for name in some])


train_ids, test_ids = encode(learned), encode(held_out)
print(f"{len(learned):,} names to learn from, {len(held_out):,} held out; {V} tokens")
with until_written():
    needs("masked_lm_batch")
    inputs, targets = masked_lm_batch(train_ids[:6], V, np.random.default_rng(4), rate=0.3)
    for row, asked in zip(inputs, targets):
        print("".join(SYMBOLS[i] for i in row), "  asked:", " ".join("." if a < 0 else SYMBOLS[a] for a in asked))

# %% [markdown]
# ## 2 · GPT's way: what comes next?
#
# BERT fills in, but it can't *write*: writing means that nothing stands after the blank yet. GPT (Radford et al., 2018) plays lab 01's game with a longer memory:
# guess the next token from those before. As in lab 10, a text is cut twice, one token apart: the model reads all tokens but the last, and should say all but the first.
# So a text of $T + 1$ tokens holds $T$ questions:
#
# | the model reads | $x_1$ | $x_2$ | … | $x_T$ |
# |---|---|---|---|---|
# | and should say | $x_2$ | $x_3$ | … | $x_{T+1}$ |
#
# All $T$ guesses are made in one go, and the causal mask keeps each of them honest:
#
# $$L = -\frac{1}{T} \sum_{t=1}^{T} \log P(x_{t+1} \mid x_1, \dots, x_t)$$
#
# Look at the two models side by side. Both: embed the tokens, add positions, pass through blocks, end with a linear layer that has a score
# for each token. **As models, our two differ in the mask alone.** (The real BERT has a few more parts, and a second task: does this sentence follow that one?)
#
# | | BERT: encoder | GPT: decoder |
# |---|---|---|
# | may look at | everything but padding | itself and what is before, but no padding |
# | is asked for | the blanks | the next token, everywhere |
#
# (A GPT is called a *decoder* for its causal mask. It has no second sentence to listen to, so its blocks have no cross-attention: they
# are lab 09's `EncoderBlock`, with a causal mask.)
#
# > **A note on the lecture.** It counts BERT and ELMo among the *decoders*, because they are language models. BERT is an encoder: it sees
# > both sides and does not write. ELMo is no transformer at all, but two recurrent networks, one from each side. GPT is the decoder.
#
# > **Another.** "Masked attention cannot be computed in parallel" is true only when *writing*, where the next token does not exist yet. In
# > *training* the text is there, and one pass makes all the guesses at once. That is one reason why these models could grow so large.

# %% [markdown]
# ### Question 2 · `TinyLM` ●●○ (20 minutes, 5 points)
#
# A class `TinyLM(V, d_model, heads, d_ff, layers, max_length, causal)` with the attributes
#
# * `embedding`: `nn.Embedding(V, d_model)`, and `position`: `nn.Embedding(max_length, d_model)`, learned positions 0, 1, 2, …
#   (`padding_idx=0` is allowed for `embedding` and changes nothing here);
# * `blocks`: an `nn.ModuleList` of `layers` blocks `EncoderBlock(d_model, heads, d_ff)`;
# * `head`: `nn.Linear(d_model, V)`, with weights of its own; nothing else is learned, and nothing is random (no dropout).
#
# `forward(ids)` takes integers `(B, T)`, $T \le$ `max_length`, and returns **logits** `(B, T, V)` (no softmax). It adds the position's vector to the
# token's (no $\sqrt{d}$ here), goes through the blocks in order, then through `head`.
#
# **No position attends to padding** (number 0), as a key; what comes out *at* a padding position is never used. If `causal` is true, no position
# attends to a later one either. The first token of a row is never padding. Masks are combined with `&`; `(ids != PAD)` is `(B, T)` and needs an
# axis for the queries: `(B, 1, T)`.

# %% question="TinyLM"
class TinyLM(nn.Module):
    """A language model of lab 09's blocks: a decoder if causal (GPT's way), else an encoder (BERT's way)."""

    def __init__(self, V, d_model, heads, d_ff, layers, max_length, causal):
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(V, d_model)
        self.position = nn.Embedding(max_length, d_model)
        self.blocks = nn.ModuleList([EncoderBlock(d_model, heads, d_ff) for _ in range(layers)])
        self.head = nn.Linear(d_model, V)
        self.causal = causal
        ### END SOLUTION

    def forward(self, ids):
        """ids (B, T) → logits (B, T, V)."""
        ### BEGIN SOLUTION
        T = ids.shape[1]
        mask = (ids != PAD)[:, None, :]  # (B, 1, T)
        if self.causal:
            mask = mask & torch.as_tensor(causal_mask(T))  # (B, T, T)
        x = self.embedding(ids) + self.position(torch.arange(T))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)
        ### END SOLUTION

# %% test="TinyLM" points=5
check("TinyLM", TinyLM)

# %% [markdown]
# **Does it look ahead?** Ask the gradient. If the gradient of the guess at position $t$ with respect to the vector of the token at position $s$ is not zero, the guess depends on that token. For a decoder it must be *exactly* zero for all $s > t$: not small, zero.

# %% tags=["skip-grading"]
def influence(model, ids):
    """(T, T): how strongly the guess at position t (row) depends on the token at position s (column)."""
    vectors = []
    handle = model.embedding.register_forward_hook(lambda module, given, out: vectors.append(out))
    logits = model(ids)
    handle.remove()
    rows = [torch.autograd.grad(logits[0, t].square().sum(), vectors[0], retain_graph=True)[0][0] for t in range(ids.shape[1])]
    return torch.stack(rows).norm(dim=-1)


with until_written():
    needs("TinyLM")
    fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.6))
    for ax, causal, title in zip(axes, (False, True), ("Encoder: all see all", "Decoder: nobody sees the future")):
        torch.manual_seed(0)
        strength = influence(TinyLM(V, 32, 4, 64, 2, LENGTH, causal), torch.tensor(encode(["olivia"])[:, :8]))
        future = strength.triu(1)
        heatmap(torch.where(strength > 0, strength, torch.nan), "<olivia>", "<olivia>", ax=ax, title=title,
                xlabel="token", ylabel="guess made at", colorbar="size of the gradient")
        print(f"causal = {causal!s:5}  largest gradient from the future: {future.max():.6g}")
    plt.show()

# %% [markdown]
# White is an exact zero, not merely a small number. Now train both on the same names, with the same size and the same number of steps.

# %% tags=["skip-grading"]
def fit(model, make_batch, steps, what, rate=4e-3):
    """Adam with a short warm-up and a straight way down; make_batch() gives inputs and targets. Returns the losses."""
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=rate), []
    for step in track(range(steps), what) if what else range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * min((step + 1) / 30, (steps - step) / steps)
        inputs, targets = make_batch()
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, -2), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


rng = np.random.default_rng(0)


def blanks():
    """BERT's task."""
    inputs, targets = masked_lm_batch(train_ids[rng.integers(len(train_ids), size=128)], V, rng)
    return torch.as_tensor(inputs), torch.as_tensor(targets)


def next_letters(ids=None):
    """GPT's task: rows of T + 1 tokens make inputs and targets of T, one step apart; padding is no question."""
    ids = torch.tensor(train_ids[rng.integers(len(train_ids), size=128)] if ids is None else ids)
    return ids[:, :-1], torch.where(ids[:, 1:] == PAD, -100, ids[:, 1:])

# %% tags=["skip-grading"]
with until_written():
    needs("masked_lm_batch", "TinyLM")
    torch.manual_seed(1)
    encoder = TinyLM(V, 48, 4, 96, 2, LENGTH, causal=False)
    fit(encoder, blanks, 350, "the encoder fills in blanks")

# %% tags=["skip-grading"]
with until_written():
    needs("TinyLM")
    torch.manual_seed(1)
    decoder = TinyLM(V, 48, 4, 96, 2, LENGTH, causal=True)
    fit(decoder, next_letters, 350, "the decoder says what comes next")

# %% [markdown]
# ### The last lab against the first
#
# Lab 01 counted pairs of letters, lab 11's model runs of up to five. The decoder plays the same game and sees the whole name so far. The held-out names
# decide (mean negative log-likelihood of a letter; lower is better):

# %% tags=["skip-grading"]
from coursekit.models.letters import LetterModel
from coursekit.provided.p01_markov_bigram import average_nll, bigram_counts, normalise_rows, sample_name

bigram = normalise_rows(bigram_counts(learned) + 0.01)  # a touch of lab 02: nothing is impossible
with until_written(), torch.no_grad():
    needs("TinyLM")
    inputs, targets = next_letters(test_ids)
    decoder_nll = nn.functional.cross_entropy(decoder(inputs).flatten(0, 1), targets.flatten()).item()
    scores = {"uniform (ln 27)": np.log(27), "bigram (lab 01)": average_nll(bigram, held_out), "tiny GPT": decoder_nll,
              "counts, four letters back (lab 11)": LetterModel(words=learned).average_nll(held_out)}
    ax = bars(scores, "%.3f", size=(7.2, 2.5), color=[INK, ORANGE, BLUE, GREEN])
    ax.set(xlabel="nats for each letter, on held-out names", xlim=(0, 3.8))
    ax.set_title("The tiny GPT beats the bigram; counts of four letters beat both")
    plt.show()

# %% [markdown]
# (Lab 11's counts do better still: with 27 symbols, a memory of four is hard to beat for a small model in 350 steps. With words in place of letters nearly every run of five would be new, and a table of counts
# knows nothing of what is new.)

# %% tags=["skip-grading"]
@torch.no_grad()
def write(model, rng):
    """Roll a name, letter by letter (lab 11)."""
    ids = [2]
    while len(ids) < LENGTH:
        p = torch.softmax(model(torch.tensor([ids]))[0, -1, 3:].double(), dim=-1).numpy()
        ids.append(3 + int(rng.choice(V - 3, p=p / p.sum())))
        if ids[-1] == V - 1:
            break
    return "".join(SYMBOLS[i] for i in ids[1:]).strip(">")


with until_written():
    needs("TinyLM")
    dice = np.random.default_rng(7)
    print("bigram:  ", ", ".join(sample_name(bigram, dice) for _ in range(8)))
    print("tiny GPT:", ", ".join(write(decoder, dice) for _ in range(8)))

# %% [markdown]
# Now a contest in BERT's field: **one letter of a held-out name is hidden. Which?** The encoder sees both sides; the decoder, asked for its next letter, only what stands before. That is not quite fair: its hands are tied (it may even answer that the name ends). A decoder
# has an opinion on the rest of the name, too, if one asks it differently: put each of the 26 letters in, and let it say how probable **the whole name** is then.

# %% tags=["skip-grading"]
with until_written(), torch.no_grad():
    needs("masked_lm_batch", "TinyLM")
    pick = np.random.default_rng(3)
    place = np.array([1 + pick.integers(len(name)) for name in held_out])
    row, truth = np.arange(len(held_out)), test_ids[np.arange(len(held_out)), place]
    hidden = test_ids.copy()
    hidden[row, place] = MASK
    right = {"always “a”": (truth == SYMBOLS.index("a")).mean()}
    right["decoder: its next letter"] = (decoder(torch.tensor(test_ids))[row, place - 1].argmax(-1).numpy() == truth).mean()
    right["encoder: the blank"] = (encoder(torch.tensor(hidden))[row, place].argmax(-1).numpy() == truth).mean()
    likely = []  # how probable is each name with each letter in the gap?
    for letter in track(range(3, V - 1), "26 names from each"):
        hidden[row, place] = letter
        inputs, targets = next_letters(hidden)
        logs = -nn.functional.cross_entropy(decoder(inputs).flatten(0, 1), targets.flatten(), reduction="none")
        likely.append(logs.reshape(targets.shape).sum(dim=1))
    right["decoder: the whole name"] = (3 + torch.stack(likely).argmax(dim=0).numpy() == truth).mean()

# %% tags=["skip-grading"]
with until_written():
    needs("masked_lm_batch", "TinyLM")
    ax = bars(right, "{:.1%}", size=(7.2, 2.5), color=[INK, BLUE, GREEN, BLUE])
    ax.set(xlabel="share of hidden letters guessed", xlim=(0, 0.6))
    best = "decoder, asked 26 times," if right["decoder: the whole name"] > right["encoder: the blank"] else "encoder"
    ax.set_title(f"To fill a blank, it helps to see both sides; the {best} does best")
    plt.show()

# %% [markdown]
# Both sides help, and the encoder gets them in **one** pass. The decoder can use them as well, but it needs 26 passes for one blank of one letter; with a vocabulary of 30,000 words and three blanks it would need $30{,}000^3$, or lab 11's beam.
# Why does it do so well here? One reason is that it had more lessons: a question at *every* position, the encoder at 15 % of them. (When we gave the encoder six times the steps, so about as many questions, it drew level: 40 %. To ask for 40 % of the letters at once did not help: 33 %.) That may speak for decoders in large models, too; and a large one can be told its task in words, or shown a few examples in its text,
# without any further training (GPT-3: Brown et al., 2020).
#
# So each has its trade: **the encoder fills in at one look, where the decoder needs 26; the decoder writes.**
#
# | family | mask | other work it does well |
# |---|---|---|
# | encoder (BERT) | full | sentiment, search |
# | encoder–decoder (lab 12's translator) | full, then causal, with cross-attention | summary |
# | decoder (GPT) | causal | completion, code |

# %% [markdown]
# ## 3 · Learn first, get the task later
#
# Now a task with labels. In 2017, was a name given to girls or to boys? The list of the US Social Security counts the births, and we take the names where at least nine children of ten agree. (It is a convention of one country and one year, and no more than that. It
# is a handy task, because its rule is somewhere in the letters.) But suppose that somebody had to label names by hand and stopped after 200.
#
# * **From scratch**: a fresh encoder, trained on the 200 labels.
# * **Pre-trained, then fine-tuned**: *your* encoder from section 2, which has read 44,800 names without any label, drawn from a list of nearly 28,000 (the held-out names are not among them). Its head for letters goes, a head for two classes comes, and all of it is trained on the same 200 labels.
#
# Guess before you look: how many points is the reading worth with 200 labels, and with 1,000?

# %% tags=["skip-grading"]
import copy

from coursekit import path

given_to = dict(zip(names(), path("13_beyond/given_to.txt").read_text().strip()))  # g, b, or - where they are not of one mind


class NameReader(nn.Module):
    """A language model without its head: the mean of what its blocks say at all tokens but padding, then two scores."""

    def __init__(self, model):
        super().__init__()
        self.model, self.head = model, nn.Linear(48, 2)

    def forward(self, ids):
        real = ids != PAD
        x = self.model.embedding(ids) + self.model.position(torch.arange(ids.shape[1]))
        for block in self.model.blocks:
            x = block(x, real[:, None])
        return self.head((x * real[..., None]).sum(1) / real.sum(1, keepdim=True))


def labelled(some):
    """Names with a label → their tokens, and 0 for girls, 1 for boys."""
    some = [name for name in some if given_to[name] in "gb"]
    return torch.tensor(encode(some)), torch.tensor(["gb".index(given_to[name]) for name in some])


def fine_tuned(model, ids, labels, steps=250):
    """The share of held-out names that are right after training on a few labels."""
    reader, draw = NameReader(model), np.random.default_rng(0)

    def some():
        chosen = torch.as_tensor(draw.integers(len(ids), size=32))
        return ids[chosen], labels[chosen]

    fit(reader, some, steps, "")
    with torch.no_grad():
        return (reader(test_names).argmax(-1) == test_labels).float().mean().item()

# %% tags=["skip-grading"]
with until_written():
    needs("masked_lm_batch", "TinyLM")
    test_names, test_labels = labelled(held_out)
    counts, draws = (50, 200, 1000), 4
    shares = {"from scratch": [], "pre-trained": []}
    for count in track(counts, "learning from few labels"):
        found = {name: [] for name in shares}
        for draw in range(draws):
            few, few_labels = labelled(np.random.default_rng(draw).permutation(learned)[: 2 * count])
            torch.manual_seed(draw)
            fresh = TinyLM(V, 48, 4, 96, 2, LENGTH, causal=False)
            for name, model in (("from scratch", fresh), ("pre-trained", copy.deepcopy(encoder))):
                found[name].append(fine_tuned(model, few[:count], few_labels[:count]))
        for name in shares:
            shares[name].append(found[name])

# %% tags=["skip-grading"]
with until_written():
    needs("masked_lm_batch", "TinyLM")
    fig, ax = plt.subplots(figsize=(7.2, 3))
    for (name, share), colour, mark in zip(shares.items(), (ORANGE, BLUE), "so"):
        ax.plot(counts, np.mean(share, axis=1), "-", color=colour, label=f"{name} (mean of the draws)")
        ax.plot(counts, share, mark, color=colour, ms=4, alpha=0.6)
    ax.axhline(1 - test_labels.float().mean().item(), color=INK, lw=1, ls=":", label="always “girls”")
    ax.set(xscale="log", xlabel="labels to learn from", ylabel="held-out names right (from 0.5)", xticks=counts, xticklabels=counts, ylim=(0.5, 0.85))
    ax.minorticks_off()
    ax.set_title(f"200 labels: {np.mean(shares['from scratch'][1]):.0%} from scratch, {np.mean(shares['pre-trained'][1]):.0%} after reading without labels")
    ax.legend(loc="upper left")
    plt.show()
    gains = 100 * (np.mean(shares["pre-trained"], axis=1) - np.mean(shares["from scratch"], axis=1))
    print("the reading is worth", ", ".join(f"{gain:.1f} points with {count:,} labels" for count, gain in zip(counts, gains)))

# %% [markdown]
# Each point is another draw of labels and of first weights (of a pre-trained one only the new head's). The reading seems to be worth less the more labels there are, but with 1,000 of them still something. (Nor does it only save steps: when we gave both twice as many, 3.7 points were left with 200 labels and 1.9 with 1,000.) Nothing was said about girls and boys while it read; but probably one must know, to guess letters, which endings go with which beginnings.
# The authors of GPT made the same experiment in earnest (Radford et al., 2018, table 5, which the lecture shows): eight tasks, each learned with and without pre-training,
# and by an LSTM (one layer, 2048 units) that was pre-trained as well. The two that were pre-trained went on guessing words while they learned the task.

# %% tags=["skip-grading"]
ablation = {  # CoLA, SST-2, MRPC, STS-B, QQP, MNLI, QNLI, RTE
    "transformer, pre-trained": [45.4, 91.3, 82.3, 82.0, 70.3, 81.8, 88.1, 56.0],
    "transformer, not pre-trained": [18.9, 84.0, 79.4, 30.9, 65.5, 75.7, 71.2, 53.8],
    "LSTM, pre-trained": [30.3, 90.5, 83.2, 71.8, 68.1, 73.7, 81.1, 54.6],
}
averages = {name: np.mean(row) for name, row in ablation.items()}
ax = bars(averages, "%.1f", size=(7.2, 2.2), color=[BLUE, ORANGE, INK])
ax.set(xlabel="average of eight tasks", xlim=(0, 88))
ax.set_title("Not pre-trained, the transformer falls behind an LSTM that was")
plt.show()

# %% [markdown]
# (The paper prints 74.7, 59.9 and 69.1.) The machine matters, and what it has read before its lesson matters more: by this rough measure, a transformer without pre-training loses 15 points, an LSTM with it 5½.
#
# ## 4 · What does attention cost?
#
# Every position looks at every other: $T^2$ pairs. Ten times the text costs a hundred times the attention, and a book of 100,000 tokens has
# ten billion pairs, in each head and each layer. But does every word need every other? Four cheaper ideas, and the full one:
#
# | kind | position $i$ may attend to $j$ if |
# |---|---|
# | `"full"` | always |
# | `"causal"` | $j \le i$ |
# | `"local"` | $\lvert i - j\rvert \le$ `width` |
# | `"dilated"` | $i - j$ is a multiple of `dilation`, and $\lvert i - j\rvert \le$ `width` · `dilation` |
# | `"global"` | as in `"local"`; **or** $i$ or $j$ is one of the first `n_global` positions |
#
# *Local* is a window of `width` neighbours on each side. *Dilated* has as many (fewer near the ends), spread out with gaps, so it reaches further at the same price. *Global*
# adds a few positions that everybody hears and that hear everybody (Longformer, Beltagy et al., 2020).
#
# By hand: `"local"` with $T = 4$ and width 1 has rows of 2, 3, 3, 2 pairs: 10 of 16.

# %% [markdown]
# ### Question 3 · `sparse_mask` ●●○ (15 minutes, 4 points)
#
# `sparse_mask(kind, T, width=2, dilation=2, n_global=1)` returns a tensor `(T, T)` of booleans, True where row $i$ may attend to column $j$, by the table above. (Ones and
# zeros are no mask: `masked_fill` and `&` ask for True and False.)
#
# * `width` 0 or more, `dilation` 1 or more, `n_global` 0 or more; any of them may be larger than $T$. Arguments that a kind does not need are ignored.
# * Any other `kind` raises a `ValueError`.
# * `torch.arange(T)` as a column minus the same as a row gives all $i - j$ at once.

# %% question="sparse_mask"
def sparse_mask(kind, T, width=2, dilation=2, n_global=1):
    """(T, T) booleans, True where row i may attend to column j.  kind: full, causal, local, dilated or global."""
    ### BEGIN SOLUTION
    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]
    gap = i - j
    if kind == "full":
        return torch.ones(T, T, dtype=torch.bool)
    if kind == "causal":
        return gap >= 0
    if kind == "local":
        return gap.abs() <= width
    if kind == "dilated":
        return (gap % dilation == 0) & (gap.abs() <= width * dilation)
    if kind == "global":
        return (gap.abs() <= width) | (i < n_global) | (j < n_global)
    raise ValueError(f"there is no mask called {kind!r}")
    ### END SOLUTION

# %% test="sparse_mask" points=4
check("sparse_mask", sparse_mask)

# %% tags=["skip-grading"]
with until_written():
    needs("sparse_mask")
    fig, axes = plt.subplots(1, 5, figsize=(9.6, 2.5))
    for ax, kind in zip(axes, ("full", "causal", "local", "dilated", "global")):
        mask = torch.as_tensor(sparse_mask(kind, 16))
        ax.imshow(mask, cmap=ListedColormap(["#e8ecef", BLUE]), vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[], xlabel="listens to j")
        ax.set_title(f"{kind}: {int(mask.sum())}", fontsize=11)
    axes[0].set_ylabel("position i")
    fig.suptitle("Of 256 pairs of 16 positions, the plain window keeps fewer than a third", x=0.02, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# The pairs can be counted without drawing: $T^2$, $\;T(T+1)/2$, and for a window of width $w < T$ it is $T(2w+1) - w(w+1)$. For $T = 16$, $w = 2$: 256, 136 and 74.
# Dilation gives 16 + 2 · 14 + 2 · 12 = 68, and one global position adds 13 in its row and 13 in its column to the window: 100.
#
# What do the saved pairs cost? Position 2 needs to know what position 15 says. After how many layers can it, with each mask? Guess first.

# %% tags=["skip-grading"]
with until_written():
    needs("sparse_mask")
    for kind in ("full", "causal", "local", "dilated", "global"):
        mask = torch.as_tensor(sparse_mask(kind, 16)).float()
        heard, reached = torch.eye(16), []  # heard[i, j] > 0: position i can know something of position j
        for _ in range(16):
            heard = ((mask @ heard) > 0).float()
            reached.append(heard[2, 15].item())
        print(f"{kind:8} {'never' if not any(reached) else reached.index(1) + 1}")

# %% [markdown]
# Causal, never: 15 is in the future. Dilated, never either: from an even position one only gets to even ones. (Longformer dilates a few heads only: the others keep the near words.)
#
# **A mask alone saves nothing**: in code like ours it forbids pairs after their scores were computed. To save time, the forbidden ones must not be computed
# at all. For a window that is easy: cut out each position and its $2w$ neighbours.

# %% tags=["skip-grading"]
def full_attention(q, k, v, mask=None):
    scores = q @ k.T / q.shape[-1] ** 0.5
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -torch.inf), dim=-1) @ v


def window_attention(q, k, v, width):
    """Only the pairs in the window are computed: (T, 2 width + 1) scores instead of (T, T)."""
    T, size = len(q), 2 * width + 1
    near_k, near_v = (nn.functional.pad(x, (0, 0, width, width)).unfold(0, size, 1) for x in (k, v))  # (T, d, size)
    there = nn.functional.pad(torch.ones(T, dtype=torch.bool), (width, width)).unfold(0, size, 1)
    scores = (q[:, None] @ near_k)[:, 0] / q.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~there, -torch.inf), dim=-1)
    return (near_v @ weights[..., None])[..., 0]


with until_written():
    needs("sparse_mask")
    q, k, v = torch.randn(3, 50, 16)
    mask = torch.as_tensor(sparse_mask("local", 50, 8))
    print("the same result as the mask:", torch.allclose(full_attention(q, k, v, mask), window_attention(q, k, v, 8), atol=1e-5))

# %% tags=["skip-grading"]
with until_written():
    needs("sparse_mask")
    lengths = [256, 512, 1024, 2048, 4096]
    kinds = dict(zip(("full", "causal", "local", "dilated", "global"), (INK, BLUE, ORANGE, GREEN, PURPLE)))
    styles = dict(zip(kinds, ("-", "-", "-", "--", ":")))
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.5))
    for kind, colour in kinds.items():
        left.loglog(lengths, [int(torch.as_tensor(sparse_mask(kind, T, 8)).sum()) for T in lengths], color=colour, label=kind, ls=styles[kind])
    left.set_title("Full and causal grow with T², the others with T")
    left.set(xlabel="length T", ylabel="pairs allowed")
    left.legend()
    inputs = {T: torch.randn(3, T, 32) for T in lengths}
    right.loglog(lengths, [1000 * fastest(full_attention, *inputs[T]) for T in lengths], color=INK, label="all pairs")
    right.loglog(lengths, [1000 * fastest(full_attention, *inputs[T], torch.as_tensor(sparse_mask("local", T, 8))) for T in lengths], color=RED, ls="--", label="all pairs, then a mask")
    right.loglog(lengths, [1000 * fastest(window_attention, *inputs[T], 8) for T in lengths], color=ORANGE, label="window only")
    right.set_title("On long texts a window saves time, a mask alone does not")
    right.set(xlabel="length T", ylabel="milliseconds, this computer")
    right.legend()
    for ax in (left, right):
        ax.set_xticks(lengths, [str(T) for T in lengths], minor=False)
        ax.minorticks_off()
    plt.show()

# %% [markdown]
# (Where the black curve climbs faster than $T^2$, its table of scores has probably outgrown the processor's fast memory.)
#
# How long are the texts that models read? The lecture has a table of *context lengths*, as their makers announced them. If each token listens to all before it, each costs half its square in pairs (BERT all of it), in every head of every layer. (How the closed models compute theirs is not published.)

# %% tags=["skip-grading"]
contexts = {"BERT": 512, "Llama 2": 4_096, "GPT-4": 32_768, "GPT-4 Turbo": 128_000, "Llama 3.1": 131_072, "Claude 3.5 Sonnet": 200_000, "Gemini 1.5 Pro": 2_097_152}
millions = [(T * T if name == "BERT" else T * (T + 1) / 2) / 1e6 for name, T in contexts.items()]
pairs = [f"{T:,} tokens, {M:,.3g} million pairs" if M < 1e3 else f"{T:,} tokens, {M / 1e3:,.0f} billion pairs" for T, M in zip(contexts.values(), millions)]
ax = bars(contexts, pairs, size=(8.2, 2.9), color=BLUE)
ax.set(xscale="log", xlim=(200, 2e9), xlabel="context length in tokens")
growth = contexts["Gemini 1.5 Pro"] / contexts["Llama 2"]
ax.set_title(f"From Llama 2 to Gemini 1.5: {growth:.0f} times the tokens, about {round(growth**2, -3):,.0f} times the pairs", fontsize=11)
plt.show()

# %% [markdown]
# > **A note on the lecture.** It gives Llama 2 a context of 32K. Llama 2 was trained with 4K (4,096 tokens); 32K is what it was stretched to afterwards. GPT-4 came with 8K and with 32K.
#
# ## 5 · An image is a sentence of patches
#
# Attention takes a sequence of vectors. It does not ask where they come from. The **vision transformer** (Dosovitskiy et al., 2020) cuts an image into
# squares of $p \times p$ pixels, writes each square out as one long vector, and reads the squares like words, with positions. By hand, a 4 × 4 image with $p = 2$:
#
# ```
#  0  1 |  2  3
#  4  5 |  6  7        patch 0: [0 1 4 5]     patch 1: [ 2  3  6  7]
# ------+-------   →   patch 2: [8 9 12 13]   patch 3: [10 11 14 15]
#  8  9 | 10 11
# 12 13 | 14 15
# ```
#
# It is lab 08's lesson again: a bare `reshape` would keep the order in memory and make `[0 1 2 3]` the first patch. Split the axes first, then exchange them.

# %% [markdown]
# ### Question 4 · `patchify` ●●○ (15 minutes, 3 points)
#
# `patchify(images, p)` takes a tensor `(B, H, W, C)` of `C` colour channels and returns a tensor `(B, N, p · p · C)` with $N = \frac{H}{p} \cdot \frac{W}{p}$.
#
# * The patches go row by row, from the top left; within a patch the pixels do, too; within a pixel the channels.
# * $H$ and $W$ may differ. If `p` does not divide both, raise a `ValueError`.
# * The tensor may be a transposed view: use `reshape`, not `view`.

# %% question="patchify"
def patchify(images, p):
    """(B, H, W, C) → (B, (H / p) · (W / p), p · p · C): squares as vectors, row by row."""
    ### BEGIN SOLUTION
    B, H, W, C = images.shape
    if H % p or W % p:
        raise ValueError(f"patches of {p} do not fill an image of {H} by {W}")
    squares = images.reshape(B, H // p, p, W // p, p, C).transpose(2, 3)  # (B, rows, columns, p, p, C)
    return squares.reshape(B, -1, p * p * C)
    ### END SOLUTION

# %% test="patchify" points=3
check("patchify", patchify)

# %% [markdown]
# ### Optional · Break it to believe it ●●○ (10 minutes, no points)
#
# A test is as good as the inputs that it tries. Five impostors of `patchify` wait behind the card below; one of them takes the height for the width. All five pass a test with this drawing:

# %% locked="weak_input"
drawing = (torch.arange(4)[:, None] - torch.arange(4)).abs().float()  # dark in one diagonal
weak_input = (drawing[None, :, :, None], 2)

# %% [markdown]
# Let `counterexample()` return `(images, p)` for which they go wrong. Can one input expose all five?

# %% question="counterexample" points=0
def counterexample():
    """Images (B, H, W, C) and a size p that give wrong patches away."""
    ### BEGIN SOLUTION
    return torch.arange(2 * 6 * 9 * 3).reshape(2, 6, 9, 3), 3
    ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("patchify")
    break_it(counterexample, patchify)

# %% [markdown]
# scikit-learn brings 1,797 handwritten digits of 8 × 8 pixels. With $p = 2$ a digit is a sentence of 16 words, each of 4 numbers:

# %% tags=["skip-grading"]
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

digits = load_digits()
images = torch.tensor(digits.images / 16, dtype=torch.float)[..., None]  # (1797, 8, 8, 1)
labels = torch.tensor(digits.target)

with until_written():
    needs("patchify")
    patches = torch.as_tensor(patchify(images[:1], 2))
    fig = plt.figure(figsize=(8.6, 2.4))
    picture, *small = fig.subplot_mosaic([["image"] * 4 + [f"{r}{c}" for c in range(8)] for r in range(2)]).values()
    picture.imshow(images[0, ..., 0], cmap="gray_r")
    picture.set(xticks=[1.5, 3.5, 5.5], yticks=[1.5, 3.5, 5.5], xticklabels=[], yticklabels=[], xlabel="8 × 8 pixels")
    picture.grid(color=ORANGE, lw=1.5)
    for n, (ax, patch) in enumerate(zip(small, patches[0])):
        ax.imshow(patch.reshape(2, 2), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[], xlabel=str(n))
        ax.spines[:].set_visible(True)
    fig.suptitle("A digit becomes a sentence of 16 patches", x=0.02, ha="left", weight="bold")
    plt.show()

# %% tags=["skip-grading"]
class TinyViT(nn.Module):
    """Patches through a linear layer, plus positions, blocks, the mean of all places, ten scores."""

    def __init__(self, p=2, d_model=48):
        super().__init__()
        self.p, self.embed, self.position = p, nn.Linear(p * p, d_model), nn.Parameter(0.1 * torch.randn((8 // p) ** 2, d_model))
        self.blocks = nn.ModuleList([EncoderBlock(d_model, 4, 96) for _ in range(2)])
        self.head = nn.Linear(d_model, 10)

    def forward(self, images):
        x = self.embed(torch.as_tensor(patchify(images, self.p), dtype=images.dtype)) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(dim=1))


def some_digits():
    chosen = torch.as_tensor(rng.integers(1400, size=96))
    return images[chosen], labels[chosen]


with until_written():
    needs("patchify")
    torch.manual_seed(0)
    vit = TinyViT()
    fit(vit, some_digits, 300, "the vision transformer looks at digits")
    with torch.no_grad():
        guesses = vit(images[1400:]).argmax(-1)
    digits_right = (guesses == labels[1400:]).float().mean().item()
    flat = images.flatten(1).numpy()
    others = {"one linear layer": LogisticRegression(max_iter=2000), "the nearest known digit": KNeighborsClassifier(1)}
    for name, reader in others.items():
        print(f"{name}: {reader.fit(flat[:1400], labels[:1400]).score(flat[1400:], labels[1400:]):.0%}")

# %% tags=["skip-grading"]
with until_written():
    needs("patchify")
    wrong = (guesses != labels[1400:]).nonzero()[:4, 0].tolist()
    shown = list(range(4)) + wrong
    fig, axes = plt.subplots(1, len(shown), figsize=(9, 1.9))
    for ax, n in zip(axes, shown):
        ax.imshow(images[1400 + n, ..., 0], cmap="gray_r")
        good = guesses[n] == labels[1400 + n]
        ax.set(xticks=[], yticks=[])
        ax.set_xlabel(f"says {guesses[n]}" + ("" if good else f", is {labels[1400 + n]}"), color=INK if good else RED)
    fig.suptitle(f"The same block reads digits: {digits_right:.0%} of 397 unseen ones", x=0.02, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# It reads, but to compare with 1,400 known digits, pixel by pixel, does better (the second number above). Three times the steps did not change that. On small sets of images a vision transformer usually has no advantage. Its authors' own lost to
# convolutions when it was pre-trained on 1.3 million images, and won with 300 million: section 3 again.
#
# ## 6 · Sound is a sentence of frames
#
# A second of speech is 16,000 numbers (8,000 in ours), and no single one of them means anything. What we hear is how strong each *frequency* is, from moment to moment.
# So cut the signal into short overlapping **frames**, and describe each frame by the strength of its frequencies. The recipe:
#
# 1. **Frames.** Frame $t$ is the samples from $t \cdot hop$ up to (not including) $t \cdot hop + frame$. Only whole frames: $\left\lfloor \frac{N - frame}{hop} \right\rfloor + 1$ of them.
# 2. **Window.** A hard cut smears each tone over all frequencies, so each frame is faded in and out by the (periodic) Hann window $w_n = \tfrac12 - \tfrac12 \cos\frac{2\pi n}{frame}$, $n = 0, \dots, frame - 1$.
# 3. **Power.** $\lvert \mathrm{rfft} \rvert^2$ of the windowed frame: $\frac{frame}{2} + 1$ numbers, for the frequencies $0, \frac{rate}{frame}, \dots, \frac{rate}{2}$.
# 4. **Mel bands.** We hear 200 and 300 Hz as far apart, 5,000 and 5,100 as nearly the same. The mel scale, $m = 2595 \log_{10}(1 + f / 700)$, is even to the ear. Triangles of
#    equal width *in mel* sum the power into a few bands.
# 5. **Logarithm.** Loudness is heard in ratios: $\ln \max(\text{power in the band}, 10^{-10})$. The floor keeps silence from becoming −∞.
#
# The triangles are given. `mel_filters(n_mels, frame, rate)` is `(n_mels, frame / 2 + 1)`; each would reach the height 1 at its centre, where few of our frequencies happen to lie:

# %% locked="mel_filters"
def mel_filters(n_mels, frame, rate):
    """(n_mels, frame // 2 + 1): triangles of height 1, evenly spaced in mel from 0 to rate / 2."""
    highest = 2595 * np.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (np.linspace(0, highest, n_mels + 2) / 2595) - 1)  # back to hertz
    frequencies = np.arange(frame // 2 + 1) * rate / frame
    low, centre, high = (corners[k : n_mels + k, None] for k in range(3))
    rising, falling = (frequencies - low) / (centre - low), (high - frequencies) / (high - centre)
    return np.maximum(0, np.minimum(rising, falling))

# %% tags=["skip-grading"]
fig, ax = plt.subplots(figsize=(7.2, 2.4))
for n, triangle in enumerate(mel_filters(20, 256, 8000)):
    ax.plot(np.arange(129) * 8000 / 256, triangle, color=(BLUE, ORANGE)[n % 2], lw=1.5)
ax.set(xlabel="frequency in Hz", ylabel="weight")
ax.set_title("Mel bands: narrow where the ear is fine, wide where it is not")
plt.show()

# %% [markdown]
# ### Question 5 · `mel_spectrogram` ●●○ (20 minutes, 4 points)
#
# `mel_spectrogram(signal, rate, frame=256, hop=128, n_mels=20)` returns an array `(T, n_mels)` with a row for each frame, by the five steps above.
#
# * `signal`: NumPy array `(N,)`, integers or floats, $N \ge$ `frame`; samples at the end that fill no whole frame are left out.
# * `rate`: samples in a second; `frame` is even. Nothing is padded or centred, and nothing is divided by the frame's length.
# * You may use `np.fft.rfft` and `mel_filters`. (`torch.stft` and `scipy.signal` know steps 1 to 3, `librosa` knows all of them; here they may not be asked.)

# %% question="mel_spectrogram"
def mel_spectrogram(signal, rate, frame=256, hop=128, n_mels=20):
    """signal (N,) → (T, n_mels): the natural logarithm of the power in each mel band, frame by frame."""
    ### BEGIN SOLUTION
    starts = np.arange(0, len(signal) - frame + 1, hop)
    frames = signal[starts[:, None] + np.arange(frame)]  # (T, frame)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(frame) / frame)
    power = np.abs(np.fft.rfft(frames * window)) ** 2  # (T, frame / 2 + 1)
    return np.log(np.maximum(power @ mel_filters(n_mels, frame, rate).T, 1e-10))
    ### END SOLUTION

# %% test="mel_spectrogram" points=4
check("mel_spectrogram", mel_spectrogram)

# %% [markdown]
# To look at: five tones, each an octave above the last, and three vowels. A vowel is a buzz (the vocal cords, here 120 times a second) that the mouth colours: it makes two
# or three regions louder, the *formants*, and by them we tell *a*, *i* and *u* apart.

# %% tags=["skip-grading"]
RATE = 8000
seconds = np.arange(int(0.6 * RATE)) / RATE
rising_tone = np.concatenate([np.sin(2 * np.pi * f * seconds[: RATE // 5]) for f in (220, 440, 880, 1760, 3520)])


def vowel(formants, pitch=120):
    """A buzz of harmonics, those near a formant louder."""
    harmonics = pitch * np.arange(1, int(RATE / 2 / pitch))
    loud = sum(1 / (1 + ((harmonics - f) / 80) ** 2) for f in formants)
    return (loud[:, None] * np.sin(2 * np.pi * harmonics[:, None] * seconds)).sum(axis=0)


spoken = np.concatenate([vowel(f) for f in ((800, 1200, 2500), (300, 2300, 3000), (320, 800, 2300))])
with until_written():
    needs("mel_spectrogram")
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.3), sharey=True)
    for ax, sound, title in ((axes[0], rising_tone, "Each octave is a larger step than the last"), (axes[1], spoken, "a, i, u: the bright bands tell them apart")):
        mels = np.asarray(mel_spectrogram(sound, RATE, n_mels=32))
        shown = ax.imshow(mels.T, origin="lower", aspect="auto", vmin=-4.3, vmax=8.7, extent=(0, len(sound) / RATE, 0, 32))
        ax.set_xlabel("seconds")
        ax.set_title(title, fontsize=10.5)
    for n, name in enumerate("aiu"):
        axes[1].text(0.3 + 0.6 * n, 30, name, ha="center", va="top", color="white", weight="bold", fontsize=12, bbox={"fc": INK, "ec": "none", "pad": 2})
    axes[0].set_ylabel("mel band")
    fig.colorbar(shown, ax=axes, label="ln power")
    plt.show()
    print(f"{len(spoken):,} samples became {len(mel_spectrogram(spoken, RATE))} frames: tokens for the same block as before")

# %% [markdown]
# **And now through the block.** Each frame is a vector, so a linear layer, positions and *your* `EncoderBlock` take over, as they did with patches. One vowel held still would be too easy: the mean of its frames says nearly all. So let it hear *two*: *au* or *ua*, *ai* or *ia*,
# 240 of them by voices of many pitches (90 to 260 Hz), under noise as strong as the voice. The test: 120 by voices that it has never heard. Four readers: a linear one of the mean of all frames, a linear one of all frames in order, the block without positions, the block with them. Which must fail, and why at one half?

# %% tags=["skip-grading"]
class TinyListener(nn.Module):
    """Frames through a linear layer, plus positions (or none), a block, the mean of all frames, four scores."""

    def __init__(self, bands, frames, positions, d_model=48):
        super().__init__()
        self.embed, self.position = nn.Linear(bands, d_model), nn.Parameter(0.1 * torch.randn(frames, d_model))
        self.block, self.head, self.positions = EncoderBlock(d_model, 4, 96), nn.Linear(d_model, 4), positions

    def forward(self, frames):
        return self.head(self.block(self.embed(frames) + self.positions * self.position).mean(dim=1))


FORMANTS = {"a": (800, 1200, 2500), "i": (300, 2300, 3000), "u": (320, 800, 2300)}
PAIRS = ("au", "ua", "ai", "ia")


def voices(count, draw):
    """Two vowels each by voices of any pitch and shape, and noise → frames, and the pair's number."""
    spoken, frames = draw.integers(4, size=count), []
    for n in spoken:
        shape, pitch = draw.normal(1, 0.12, 3), draw.uniform(90, 260)
        sound = np.concatenate([vowel(np.array(FORMANTS[name]) * shape, pitch)[:1200] for name in PAIRS[n]])
        frames.append(mel_spectrogram(sound + draw.normal(0, sound.std(), 2400), RATE, n_mels=32))
    return torch.tensor((np.stack(frames) - 5) / 5, dtype=torch.float), torch.tensor(spoken)


with until_written():
    needs("mel_spectrogram")
    heard, spoken_pairs = voices(240, np.random.default_rng(0))
    new, new_pairs = voices(120, np.random.default_rng(1))
    listeners = {}
    for name, squeeze in (("linear, mean of the frames", lambda x: x.mean(1)), ("linear, all frames in order", lambda x: x.flatten(1))):
        listeners[name] = LogisticRegression(max_iter=3000).fit(squeeze(heard), spoken_pairs).score(squeeze(new), new_pairs)
    for name, positions in (("the block without positions", 0), ("the block", 1)):
        torch.manual_seed(0)
        listener = TinyListener(*heard.shape[:0:-1], positions)
        fit(listener, lambda: (heard, spoken_pairs), 80, f"{name} listens")
        with torch.no_grad():
            listeners[name] = (listener(new).argmax(-1) == new_pairs).float().mean().item()
    ax = bars(listeners, "{:.0%}", size=(7.2, 2.4), color=[INK, INK, ORANGE, BLUE])
    ax.axvline(0.25, color=INK, lw=1, ls=":")
    ax.set(xlabel="share of 120 unseen pairs of vowels (dotted: guessing)", xlim=(0, 1.12))
    ax.set_title("The same block hears which vowel came first, if it knows the positions")
    plt.show()

# %% [markdown]
# *au* and *ua* have nearly the same frames in another order, so a mean cannot tell them apart, nor can a block without positions (lab 06). These two still tell *u* from *i*, which leaves two of the four pairs, and guess between them: one half. (A linear reader of all frames in order does as well as the block here.)
#
# With a decoder that listens to such frames by cross-attention and writes letters, you have a speech recogniser: lab 12, with another kind of source sentence.
#
# **Optional: the cepstrum.** The lecture names one more step, the *mel-frequency cepstrum*: a cosine transform of the logarithms, across the bands of a frame. Its first numbers say how the bands rise and fall slowly (the mouth), its later ones the quick ripple
# (the voice). Speech recognisers kept about the first thirteen for decades: few numbers, hardly correlated, and the same vowel at a low and at a high pitch should look more alike. Does it?

# %% tags=["skip-grading"]
from itertools import combinations

from scipy.fft import dct

with until_written():
    needs("mel_spectrogram")
    spoken_by = {f"{name}, {pitch} Hz": np.mean(mel_spectrogram(vowel(formants, pitch), RATE, n_mels=32), axis=0)
                 for name, formants in FORMANTS.items() for pitch in (100, 220)}
    bands = np.stack(list(spoken_by.values()))
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.4))
    for ax, vectors, title in ((axes[0], bands, "32 bands"), (axes[1], dct(bands, norm="ortho")[:, 1:9], "8 cepstral numbers")):
        far = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
        nearest = (far + np.diag(np.full(6, np.inf))).argmin(axis=1)
        alike = (nearest // 2 == np.arange(6) // 2).sum()
        heatmap(far / far.max(), list(spoken_by), list(spoken_by), ax=ax, numbers=".1f", title=f"{title}: {alike} of 6 are nearest to their own vowel", vmin=0, vmax=1)
        ax.tick_params(axis="x", rotation=40)
        ax.title.set_fontsize(10)
    fig.suptitle("Distance between vowels (1: the farthest pair)", x=0.02, ha="left", weight="bold")
    plt.show()

    means = {(name, pitch): np.mean(mel_spectrogram(vowel(formants, pitch), RATE, n_mels=32), axis=0) for name, formants in FORMANTS.items() for pitch in range(90, 261, 10)}
    described = {"32 bands": lambda x: x, "32 bands without the loudness": lambda x: x - x.mean(axis=-1, keepdims=True), "8 cepstral numbers": lambda x: dct(x, norm="ortho")[:, 1:9]}
    for name, describe in described.items():
        right = 0
        for low, high in combinations(range(90, 261, 10), 2):
            vectors = describe(np.stack([means[vowel_name, pitch] for vowel_name in FORMANTS for pitch in (low, high)]))
            far = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1) + np.diag(np.full(6, np.inf))
            right += (far.argmin(axis=1) // 2 == np.arange(6) // 2).sum()
        print(f"all pairs of pitches, {name}: {right} of 918 vowels right")

# %% [markdown]
# Number 0 of the cepstrum is only the loudness, and is left out. Between 100 and 220 Hz no vowel is nearest to itself at the other pitch with 32 bands; with eight cepstral numbers *i* and *u* are, *a* is not yet.
# Over all 153 pairs of pitches from 90 to 260 Hz most of the cepstrum's gain comes from leaving out the loudness. A transformer can learn such things from the bands by itself, so
# many of today's recognisers (Whisper, for one) stop at step 5.
#
# ## 7 · What was gained: the papers' tables
#
# (Optional reading.) First, translation (Vaswani et al., 2017, table 2). Quality is BLEU, upwards is better; cost is the arithmetic of training, leftwards is cheaper, on a scale of powers of ten. (For the transformers the paper prints one cost for both languages.)

# %% tags=["skip-grading"]
german = {"GNMT + RL": (24.6, 2.3e19), "ConvS2S": (25.16, 9.6e18), "MoE": (26.03, 2.0e19), "GNMT + RL ensemble": (26.30, 1.8e20),
          "ConvS2S ensemble": (26.36, 7.7e19), "Transformer (base)": (27.3, 3.3e18), "Transformer (big)": (28.4, 2.3e19)}
french = {"Deep-Att": (39.2, 1.0e20), "GNMT + RL": (39.92, 1.4e20), "ConvS2S": (40.46, 1.5e20), "MoE": (40.56, 1.2e20), "Deep-Att ensemble": (40.4, 8.0e20),
          "GNMT + RL ensemble": (41.16, 1.1e21), "ConvS2S ensemble": (41.29, 1.2e21), "Transformer (base)": (38.1, 3.3e18), "Transformer (big)": (41.8, 2.3e19)}


def beats(table, winner):
    """How many times cheaper a transformer is than the best ensemble, if it is better."""
    best, cost = max(value for name, value in table.items() if name.endswith("ensemble"))
    return cost / table[winner][1] if table[winner][0] > best else None


places = ({"GNMT + RL ensemble": ("left", -30, -14), "ConvS2S ensemble": ("left", -20, 8)},
          {"GNMT + RL ensemble": ("right", -7, -7), "ConvS2S ensemble": ("right", -5, 5), "Deep-Att ensemble": ("center", 0, 7), "ConvS2S": ("right", -6, -13), "MoE": ("right", -7, -2)})
fig, axes = plt.subplots(1, 2, figsize=(10.4, 3.8), gridspec_kw={"wspace": 0.1})
for ax, table, title in ((axes[0], german, f"To German, base wins at 1/{beats(german, 'Transformer (base)'):.0f} of the cost"),
                         (axes[1], french, f"To French, only big does, at 1/{beats(french, 'Transformer (big)'):.0f}")):
    for name, (score, cost) in table.items():
        ours = name.startswith("Transformer")
        ax.plot(cost, score, "o", ms=7, color=ORANGE if ours else BLUE)
        beside = places[table is french].get(name, ("left", 7, -3))  # neighbours that are too close for their names
        ax.annotate(name, (cost, score), beside[1:], textcoords="offset points", fontsize=8, ha=beside[0], weight="bold" if ours else None)
    ax.set(xscale="log", xlim=(2e18, 2e21), xlabel="FLOPs of training", ylabel="BLEU")
    ax.set_title(title, fontsize=10.5)
axes[0].set_ylim(24, 29)
axes[1].set_ylim(37.5, 42.3)
plt.show()

# %% [markdown]
# Second, GLUE: understanding sentences (Devlin et al., 2019, table 1). Each column is a test, with the number of its labels below; each cell is a score out of 100, and the last column their mean. The first row is the best
# earlier system of each test, some of them with ELMo inside; the other four learned from plain text first, and then the task. GPT has 117 million parameters, BERT base 110 and BERT large 340. (BERT also read more text than GPT did, so the mask is not the whole story.)

# %% tags=["skip-grading"]
labels_of = {"MNLI-m": 392, "MNLI-mm": 392, "QQP": 363, "QNLI": 108, "SST-2": 67, "CoLA": 8.5, "STS-B": 5.7, "MRPC": 3.5, "RTE": 2.5}  # thousands
glue = {"before GPT": [80.6, 80.1, 66.1, 82.3, 93.2, 35.0, 81.0, 86.0, 61.7], "ELMo": [76.4, 76.1, 64.8, 79.8, 90.4, 36.0, 73.3, 84.9, 56.8],
        "GPT (decoder)": [82.1, 81.4, 70.3, 87.4, 91.3, 45.4, 80.0, 82.3, 56.0], "BERT base (encoder)": [84.6, 83.4, 71.2, 90.5, 93.5, 52.1, 85.8, 88.9, 66.4],
        "BERT large": [86.7, 85.9, 72.1, 92.7, 94.9, 60.5, 86.5, 89.3, 70.1]}
better = sum(b > g for b, g in zip(glue["BERT base (encoder)"], glue["GPT (decoder)"]))
columns = [*(f"{task}\n{count:g}k" for task, count in labels_of.items()), "mean"]
fig, ax = plt.subplots(figsize=(9.4, 3))
heatmap([[*row, np.mean(row)] for row in glue.values()], list(glue), columns, ax=ax, numbers=".1f", aspect="auto",
        title=f"BERT base (both sides) beats GPT (one side) in {better} of {len(labels_of)}")
ax.axvline(len(labels_of) - 0.5, color="white", lw=4)
plt.show()

# %% [markdown]
# > **A note on the table.** The paper's last column (74.0, 71.0, 75.1, 79.6, 82.1) is this mean, but for rounding; MNLI counts twice in it. The columns are not the same thing, though: accuracies, F1 scores, correlations. Nobody can say what one point of their
# > mean is.
#
# Third, RoPE, the turning positions of lab 06 (Su et al., 2021, table 2; the column MNLI holds two numbers, for matched and for mismatched texts):

# %% tags=["skip-grading"]
columns = ["MRPC", "SST-2", "QNLI", "STS-B", "QQP", "MNLI-m", "MNLI-mm"]
bert, roformer = [88.9, 93.5, 90.5, 85.8, 71.2, 84.6, 83.4], [89.5, 90.7, 88.0, 87.0, 86.4, 80.2, 79.8]
gain = np.subtract(roformer, bert)
fig, ax = plt.subplots(figsize=(7.2, 2.9))
drawn = ax.bar(columns, gain, color=[GREEN if g > 0 else RED for g in gain])
ax.bar_label(drawn, fmt="%+.1f", padding=3)
ax.axhline(0, color=INK, lw=1)
ax.set(ylabel="points gained", ylim=(-7, 18))
ax.set_title(f"RoFormer against BERT: {int((gain > 0).sum())} columns up, {int((gain < 0).sum())} down")
plt.show()

# %% [markdown]
# Read tables like these as a detective would. One column jumps by fifteen points while four fall: when one test behaves so differently, ask whether both numbers
# were measured in the same way before you believe in a miracle. Here they were not: BERT's row comes from GLUE's hidden test set, RoFormer's from the open validation set. RoPE's real strength is elsewhere: it lets place enter the scores only as the *offset* between two words, and that in every layer.
#
# ## 8 · In your own words (5 minutes, 2 points)

# %% [markdown]
# ### Which family?
#
# Three customers come to you. The first wants all names of people and places in a newspaper marked (NER). The second wants manuals
# translated. The third wants a chat assistant. Which family do you recommend to each (encoder, decoder, encoder–decoder), and what about its *mask* makes it fit?

# %% [markdown] written="which_family" points=2
# ### BEGIN SOLUTION
# **NER: an encoder.** Whether *Washington* is a person or a place is often decided by the words after it, so each position should see both sides
# (full mask). A label comes out at each position; nothing is written, so nothing needs to be hidden.
#
# **Translation: both.** The source is complete, so an encoder reads it with the full mask. The target is written from left to right, so a decoder with the
# causal mask writes it, and listens to the source by cross-attention.
#
# **Chat: a decoder.** The conversation is one growing text, and the answer is its continuation. The causal mask makes training the same as use: at
# every position, guess the next token from what was said so far.
# ### END SOLUTION

# %% [markdown]
# ## What you can do now
#
# * Make a masked-language-model batch, 80/10/10, and say why not simply 100 % blanks.
# * Change an encoder into a decoder with one mask, and check with a gradient that it doesn't see the future.
# * Count the pairs of any mask, and say why a mask alone saves no time.
# * Pre-train a model on plain text, fine-tune it on a few labels, and say what the reading was worth.
# * Turn images and sound into sequences, and give them to a block that you built yourself.
# * Pick the family for a task.

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# ## What is still missing
#
# From a table of letter pairs in lab 01 to this, there was one question above all: *what must I look at to know?* What separates your models from
# the large ones is much more of everything (data, width, depth, computers), and a handful of further ideas. You can read them all now:
#
# * in the block: the norm before the sublayer (pre-LN), a simpler norm (RMSNorm, 2019), a gated feed-forward layer (SwiGLU, 2020), lab 06's RoPE (2021);
# * cheaper: several feed-forward layers of which each token uses few (sparsely gated mixture of experts, 2017), heads that share keys and values (grouped-query attention, 2023), scores that never
#   leave the fast memory (FlashAttention, 2022);
# * afterwards: people's examples and judgements turn a model that *continues* text into one that *helps* (instruction tuning and RLHF, Ouyang et al. 2022).
#
# You know what is inside. The next question is yours.
