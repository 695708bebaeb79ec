# ---
# jupyter:
#   course:
#     data: []
#     minutes: 100
#     demo: 08_multi_head
# ---

# %% [markdown]
# # 08 · Multi-head attention: why listen in several ways?
#
# **What you already have.** One head of attention: each query hands out *one* unit of attention, and hears *one* blend of the
# values. In lab 07 you taught such a head to look one word back.
#
# **What is missing.** Read this sentence, and stop at *it*:
#
# > *The animal did not cross the street because **it** was too tired.*
#
# To understand *it* you need the noun it stands for, what that noun did or did not do, and how it felt. Those are three
# questions. A single head could spread its attention over *animal*, *cross* and *tired*, but what it hears is then a stew of
# the three. If all three speak through the same columns, nobody can tell any more which part came from where.
#
# **In this lab** you let several heads listen at the same time, each with its own question. You will be able to
#
# * cut vectors into heads and put them together again, and avoid a mistake that raises no error;
# * write multi-head attention for one sentence that listens to itself, and for one that listens to another;
# * build it as a PyTorch module that agrees with PyTorch's own up to rounding;
# * look inside any model and see what its heads listen to;
# * show what $h$ heads can do that one head of the same size can't, and say why a larger one would not help.
#
# *100 minutes: 70 for the five questions, 10 for the two answers in words, 20 to read and look.*
#
# From now on we use PyTorch, which brings the gradients that you computed by hand in lab 07.

# %% locked="setup"
import torch
from torch import nn
from coursekit import break_it, check, progress, start

start("08_multi_head")

# %% [markdown]
# From lab 07, now on tensors: `scaled_dot_product_attention(q, k, v, mask)` returns `(output, weights)`, takes any number
# of leading axes, and True in the mask means "may attend". It comes with `causal_mask` and `padding_mask`. You may use all three everywhere.

# %% locked="lab_07"
from coursekit.provided.p07_self_attention import causal_mask, padding_mask, scaled_dot_product_attention

# %% [markdown]
# ## 1 · One stew, or three plates
#
# By hand. Three words bring the values *animal* = 5, *cross* = 1, *tired* = 3. One head that listens to all three equally
# hears their mean, 3. It would hear the same from 3, 3, 3, or from *animal* = 1, *cross* = 5. Three heads with one word each
# hear (5, 1, 3), and nothing is lost.
#
# In the original transformer a word has $d_{model} = 512$ numbers and there are $h = 8$ heads, so each head gets queries, keys
# and values of size
#
# $$d_k = d_v = \frac{d_{model}}{h} = \frac{512}{8} = 64$$
#
# Are eight heads eight times the work, then? For the scores they are not (nor for matrices and values): eight heads of size 64 compute as many products as one of
# size 512. But there are eight times as many scores to go through the softmax and to keep:

# %%
d_model, T = 512, 10
for h in (1, 8):
    d_k = d_model // h
    print(f"{h} head{'s' if h > 1 else ' '} of size {d_k:3}: {h * T * T * d_k:,} products for the {h * T * T:3} scores of {T} words")

# %% [markdown]
# ## 2 · Cutting into heads
#
# A sentence is a matrix with a row for each word. The heads share the **columns**: head 0 gets the first $d_h$ numbers of *every*
# word, head 1 the next $d_h$ numbers of every word, and so on. Every head sees all words, but only its part of each.
#
# A batch $(B, T, h \cdot d_h)$ becomes $(B, h, T, d_h)$: the head axis goes in front of the words, because matrix products work
# on the last two axes. A tiny case with two words of size 4 and two heads:
#
# ```
# word 0   [ 0  1 |  2  3]          head 0  [ 0  1]     head 1  [ 2  3]
# word 1   [10 11 | 12 13]    →             [10 11]             [12 13]
# ```
#
# **The mistake that raises no error.** `x.reshape(B, h, T, d_h)` has the right shape and the wrong content. A reshape
# keeps the order of the numbers in memory, and there word 0 comes first, all of it:

# %%
x = torch.tensor([[[0, 1, 2, 3], [10, 11, 12, 13]]])  # (1, 2, 4)
x.reshape(1, 2, 2, 2)

# %% [markdown]
# Head 0 got *word 0, cut in two*, and never sees word 1. The cut must happen where the columns are: first split the last axis
# into two, $(B, T, h, d_h)$, and *then* exchange the axes of words and heads.
#
# > **A note on the lecture.** One slide writes the weights as $w[i, j, k]$ with the head $k$ last. That is the same table with
# > its axes in another order. We put the head in front, $(B, h, T_q, T_k)$, as PyTorch does.

# %% [markdown]
# ### Question 1 · `split_heads` ●○○ (10 minutes, 3 points)
#
# `split_heads(x, h)` cuts `x` of shape `(B, T, D)` into `h` heads and returns a tensor of shape `(B, h, T, D / h)`. `D` is
# divisible by `h`. (`x` may be a transposed view, whose numbers lie in memory in another order than its axes say. You need not care: one axis of any view can
# be cut in two.)

# %% question="split_heads"
def split_heads(x, h):
    """(B, T, D) → (B, h, T, D / h): head i gets columns i · D/h up to (i + 1) · D/h of every word."""
    ### BEGIN SOLUTION
    B, T, D = x.shape
    return x.reshape(B, T, h, D // h).transpose(1, 2)
    ### END SOLUTION

# %% test="split_heads" points=3
check("split_heads", split_heads)

# %% [markdown]
# The picture: six words of size 8, two heads. The colour says which head a number goes to.

# %% tags=["skip-grading"]
import matplotlib.pyplot as plt
from coursekit.figures import BLUE, GREEN, INK, ORANGE, heatmap
from coursekit.notebook.progress import track
from coursekit.notebook.until_written import needs, until_written
from matplotlib.colors import ListedColormap

with until_written():
    needs("split_heads")
    numbers = torch.arange(48.0).reshape(1, 6, 8)
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    for ax, heads, title in ((axes[0], split_heads(numbers, 2), "Split: each head sees all words"),
                             (axes[1], numbers.reshape(1, 2, 6, 4), "Reshaped: each head sees half the words")):
        owner = torch.isin(numbers[0], heads[0, 1]).float()  # 1 where head 1 got the number
        heatmap(owner, [f"word {t}" for t in range(6)], "01234567", ax=ax, cmap=ListedColormap([BLUE, ORANGE]),
                title=title, xlabel="column  (blue: head 0, orange: head 1)", aspect="auto")
    plt.show()

# %% [markdown]
# ### Question 2 · `merge_heads` ●○○ (5 minutes, 3 points)
#
# The way back. `merge_heads(x)` takes `(B, h, T, d_h)` and returns `(B, T, h · d_h)`: the results of the heads of a word side
# by side, head 0 first. It undoes `split_heads`. (After axes have been exchanged, `view` can't join them; `reshape` can.)

# %% question="merge_heads"
def merge_heads(x):
    """(B, h, T, d_h) → (B, T, h · d_h): the heads of each word side by side."""
    ### BEGIN SOLUTION
    B, h, T, d_h = x.shape
    return x.transpose(1, 2).reshape(B, T, h * d_h)
    ### END SOLUTION

# %% test="merge_heads" points=3
check("merge_heads", merge_heads)

# %% [markdown]
# ## 3 · Several heads, one product
#
# Each head $i$ has its own three matrices, and so its own way to ask, to offer and to answer:
#
# $$\mathrm{head}_i = \mathrm{Attention}(X W_i^Q,\; M W_i^K,\; M W_i^V) \qquad
# \mathrm{MultiHead} = [\mathrm{head}_1, \dots, \mathrm{head}_h]\; W^O$$
#
# $X$ is the sentence that listens. $M$ (for *memory*) is the sentence it listens to: the same one in **self-attention**, another one
# in **cross-attention**, for instance the English sentence while the German one is being written. Queries come from the listener,
# keys *and* values from the memory.
#
# (Formulas count the heads from 1, code and figures from 0.) The last matrix, $W^O$, mixes what the heads brought home. Without it head 3's findings would stay in the columns of head 3 until the next layer. Cut it into $h$ bands of $d_v$ rows, and
# $[\text{head}_1, \dots, \text{head}_h]\,W^O = \sum_i \text{head}_i W^O_i$: every head adds its own piece to the output.
#
# And a trick: we don't keep $h$ small matrices but put them side by side in one big one, $W^Q = [W_1^Q, \dots, W_h^Q]$. One product
# $XW^Q$ makes the queries of all heads at once, and `split_heads` takes them apart.
#
# | | shape |
# |---|---|
# | $X$, $M$ | $(B, T_q, d_{model})$, $(B, T_k, d_{model})$ |
# | $W^Q$, $W^K$ | $(d_{model}, h \cdot d_k)$ |
# | $W^V$ | $(d_{model}, h \cdot d_v)$ |
# | $W^O$ | $(h \cdot d_v, d_{model})$ |
# | weights | $(B, h, T_q, T_k)$ |

# %% [markdown]
# ### Question 3 · `multi_head_attention` ●●○ (20 minutes, 5 points)
#
# `multi_head_attention(x, memory, W_Q, W_K, W_V, W_O, h, mask=None)` returns the pair `(output, weights)` of shapes
# `(B, T_q, d_model)` and `(B, h, T_q, T_k)`.
#
# * The shapes of the arguments are those of the table; $d_k$ and $d_v$ may differ.
# * `mask`: `None`, or booleans of shape `(T_q, T_k)`, `(B, T_q, T_k)` or `(B, 1, T_k)`, the same for all heads. It has no axis for the
#   heads yet: `mask.unsqueeze(-3)` gives it one, in the right place for all three shapes. (What happens without it if $B$ happens
#   to equal $h$? The optional part at the end lets you see it.)
# * Each query is allowed at least one key.
# * Each head divides its scores by the root of *its own* size $d_k$; `scaled_dot_product_attention` does that.

# %% question="multi_head_attention"
def multi_head_attention(x, memory, W_Q, W_K, W_V, W_O, h, mask=None):
    """Listener x, memory, four matrices, h heads → output (B, Tq, d_model), weights (B, h, Tq, Tk)."""
    ### BEGIN SOLUTION
    q = split_heads(x @ W_Q, h)  # (B, h, Tq, d_k)
    k = split_heads(memory @ W_K, h)  # (B, h, Tk, d_k)
    v = split_heads(memory @ W_V, h)  # (B, h, Tk, d_v)
    if mask is not None:
        mask = mask.unsqueeze(-3)
    heard, weights = scaled_dot_product_attention(q, k, v, mask)
    return merge_heads(heard) @ W_O, weights
    ### END SOLUTION

# %% test="multi_head_attention" points=5
check("multi_head_attention", multi_head_attention)

# %% [markdown]
# With one head, and a $W^O$ that changes nothing, it must be lab 07's attention again:

# %% tags=["skip-grading"]
with until_written():
    needs("multi_head_attention")
    torch.manual_seed(0)
    x = torch.randn(1, 5, 8)
    W_Q, W_K, W_V = torch.randn(3, 8, 8)
    several, _ = multi_head_attention(x, x, W_Q, W_K, W_V, torch.eye(8), h=1)
    one, _ = scaled_dot_product_attention(x @ W_Q, x @ W_K, x @ W_V)
    print("largest difference:", (several - one).abs().max().item())

# %% [markdown]
# ### Four heads made by hand
#
# Before heads are learned, let us *make* some, to see that a head is just a question. Each word gets four marks (noun, verb,
# adjective, pronoun) and a one-hot position. Head 0 asks for the position before. With heads 1 to 3 a **pronoun** asks: where are the
# nouns? The verbs? The adjectives? Other words have no question for them (a query of zeros), so these heads hear all words alike: a head
# can't listen to nobody, for its weights must sum to 1.

# %% tags=["skip-grading"]
sentence = "The animal did not cross the street because it was too tired".split()
noun, verb, adjective, pronoun = range(4)
kinds = {"animal": noun, "street": noun, "did": verb, "cross": verb, "was": verb, "tired": adjective, "it": pronoun}

marks = torch.zeros(12, 4)
for t, word in enumerate(sentence):
    if word in kinds:
        marks[t, kinds[word]] = 1
story = torch.cat([marks, torch.eye(12)], dim=1).unsqueeze(0)  # (1, 12, 16)

asks, offers = torch.zeros(16, 4, 12), torch.zeros(16, 4, 12)  # W_Q and W_K: (d_model, head, d_k)
asks[4:, 0] = 30 * torch.diag(torch.ones(11), -1)  # position t asks for …
offers[4:, 0] = torch.eye(12)  # … position t − 1
for head, wanted in ((1, noun), (2, verb), (3, adjective)):
    asks[pronoun, head, 0], offers[wanted, head, 0] = 30, 1

# %% tags=["skip-grading"]
with until_written():
    needs("multi_head_attention")
    identity = torch.eye(16).repeat(1, 4)  # every head reports all that it hears, and W_O mixes nothing
    _, weights = multi_head_attention(story, story, asks.flatten(1), offers.flatten(1), identity, torch.eye(64), h=4)
    fig, ax = plt.subplots(figsize=(9, 2.6))
    heatmap(weights[0, :, sentence.index("it")], ["one word back?", "nouns?", "verbs?", "adjectives?"], sentence,
            ax=ax, numbers=".2f", vmin=0, vmax=1, aspect="auto", title="Four heads answer four questions about “it”",
            ylabel="head", xlabel="“it” listens to (weight)")
    plt.show()

# %% [markdown]
# Every row sums to 1: each *head* hands out one unit of attention, so *it* now has four. Is *it* the animal or the street? The noun
# head can't decide, because both are nouns. But the last head has found *tired*, and with that in hand, a **second layer** can
# ask better: which noun can be tired? That is why layers are stacked (lab 09), and in lab 12 you'll see your own translator decide it.
#
# ## 4 · A module that learns
#
# In PyTorch, what is learned lives in an `nn.Module`. Each of our four matrices becomes an `nn.Linear(d_model, d_model)`, which
# holds a matrix and a bias vector, and is called like a function: `self.W_Q(x)`.

# %% [markdown]
# ### Question 4 · `MultiHeadAttention` ●●○ (20 minutes, 6 points)
#
# A class with
#
# * `MultiHeadAttention(d_model, h)`: makes four layers `nn.Linear(d_model, d_model)`, with bias, as the attributes **`W_Q`**, **`W_K`**,
#   **`W_V`**, **`W_O`**, and nothing else that is learned. Each head has size `d_model / h`, a whole number.
# * `forward(x, memory=None, mask=None)`: `x` is `(B, T_q, d_model)`, `memory` is `(B, T_k, d_model)`, or `None`: then `x` listens to itself.
#   `mask` as in question 3. Returns `(output, weights)` of shapes `(B, T_q, d_model)` and `(B, h, T_q, T_k)`.
#
# (`nn.MultiheadAttention` is PyTorch's own. You write yours, and it will agree with PyTorch's.)

# %% question="MultiHeadAttention"
class MultiHeadAttention(nn.Module):
    """Self-attention, or cross-attention when a memory is given, with h heads (Vaswani et al. 2017, 3.2.2)."""

    def __init__(self, d_model, h):
        super().__init__()
        ### BEGIN SOLUTION
        self.h = h
        self.W_Q = nn.Linear(d_model, d_model)
        self.W_K = nn.Linear(d_model, d_model)
        self.W_V = nn.Linear(d_model, d_model)
        self.W_O = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, x, memory=None, mask=None):
        """x (B, Tq, d_model), memory (B, Tk, d_model) or None → output (B, Tq, d_model), weights (B, h, Tq, Tk)."""
        ### BEGIN SOLUTION
        memory = x if memory is None else memory
        q, k, v = (split_heads(y, self.h) for y in (self.W_Q(x), self.W_K(memory), self.W_V(memory)))
        if mask is not None:
            mask = mask.unsqueeze(-3)
        heard, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.W_O(merge_heads(heard)), weights
        ### END SOLUTION

# %% test="MultiHeadAttention" points=6
check("MultiHeadAttention", MultiHeadAttention)

# %% [markdown]
# **The sizes of the first transformer**, $d_{model} = 512$ and $h = 8$. Now a German sentence of three words listens to an English one of four
# (in the lecture's letters, $N(D) = 3$ and $N(E) = 4$), so the weights have the shape $[h, 3, 4]$. The vectors are random here: the words only
# name the rows and columns.

# %% tags=["skip-grading"]
with until_written():
    needs("MultiHeadAttention")
    torch.manual_seed(1)
    attention = MultiHeadAttention(d_model=512, h=8)
    english, german = "Let there be light".split(), "Es werde Licht".split()
    output, weights = attention(torch.randn(1, 3, 512), memory=torch.randn(1, 4, 512))
    print("output:", tuple(output.shape), "  weights:", tuple(weights.shape))
    print(f"parameters: {sum(p.numel() for p in attention.parameters()):,} = 4 · (512 · 512 + 512), for any number of heads")

    fig, axes = plt.subplots(2, 4, figsize=(9.4, 4.2), sharex=True, sharey=True)
    for head, ax in enumerate(axes.flat):
        heatmap(weights[0, head].detach(), german, english, ax=ax, vmin=0, vmax=weights.max().item())
        ax.set_title(f"head {head}", fontsize=10)
    axes[0, 0].set_ylabel("listener")
    axes[1, 0].set(xlabel="memory", ylabel="listener")
    fig.colorbar(axes[0, 0].images[0], ax=axes, label="weight", shrink=0.8)
    fig.suptitle("Eight heads, eight opinions: untrained, but already different", x=0.02, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# (The Latin *Fiat lux* has two words, so its weights on the English would be $[8, 2, 4]$. The listener and the memory need not have the same
# length.)
#
# **The same as PyTorch's?** PyTorch stacks the three input matrices in one, `in_proj_weight`. Copy its weights into your module,
# give both the same sentence, and compare:

# %% tags=["skip-grading"]
with until_written():
    needs("MultiHeadAttention")
    torch.manual_seed(2)
    theirs = nn.MultiheadAttention(512, 8, batch_first=True)
    ours = MultiHeadAttention(512, 8)
    with torch.no_grad():
        for layer, W, b in zip((ours.W_Q, ours.W_K, ours.W_V), theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)):
            layer.weight.copy_(W)
            layer.bias.copy_(b)
        ours.W_O.load_state_dict(theirs.out_proj.state_dict())
        x, mask = torch.randn(2, 6, 512), causal_mask(6)
        expected, _ = theirs(x, x, x, attn_mask=~mask)  # PyTorch's mask is True where attention is forbidden!
        print("largest difference:", (ours(x, mask=mask)[0] - expected).abs().max().item())

# %% [markdown]
# Mind the `~`: PyTorch's module wants True where one may *not* attend, the opposite of ours (and of PyTorch's own
# `scaled_dot_product_attention`). Whoever mixes the two up gets a model in which each word hears only its future. The last word has none and gets *nan*,
# which spreads to the loss and to every weight; with `need_weights=False` today's PyTorch makes zeros of it, there is no *nan*, and nobody notices.
#
# ## 5 · What do the heads listen to?
#
# Soon a model will contain many attention layers, deep inside. How can we see their weights, without rewriting the model? A
# **hook** is a note that you leave at a module: "call this function after each forward pass, with the module, its inputs and its
# output". You get a handle with which to take the note away again:

# %%
layer, seen = nn.Linear(2, 1), []
handle = layer.register_forward_hook(lambda module, inputs, output: seen.append(output.shape))
layer(torch.ones(3, 2))
handle.remove()
layer(torch.ones(5, 2))  # nobody notes this one
seen

# %% [markdown]
# ### Question 5 · `attention_maps` ●●○ (15 minutes, 3 points)
#
# `attention_maps(model, *inputs)` runs `model(*inputs)` once and returns a dictionary: for each `MultiHeadAttention` inside the model,
# its name and its weights in this run, a tensor of shape `(B, h, T_q, T_k)`.
#
# * `model.named_modules()` yields the pairs `(name, module)`, the model itself with the name `""`. `isinstance(module,
#   MultiHeadAttention)` says which ones matter.
# * The weights are the second part of the output. Cut them off from the gradient, with `.detach()`.
# * Afterwards the model is as it was before: none of your hooks is left, those that others had left are still there, and each module is in training
#   or evaluation mode, as it was. (You need not change the mode for the run. No model here runs a layer twice, or fails.)
# * A hook returns nothing: what it returns would take the place of the layer's output.
#
# A trap: a function made in a loop looks its variables up when it is *called*, not when it is made. By then the loop variable has
# its last value. `def note(module, inputs, output, name=name)` keeps the value of now.

# %% question="attention_maps"
def attention_maps(model, *inputs):
    """Run model(*inputs); {name: weights (B, h, Tq, Tk), detached} of each MultiHeadAttention inside."""
    ### BEGIN SOLUTION
    maps, handles = {}, []
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):

            def note(module, inputs, output, name=name):
                maps[name] = output[1].detach()

            handles.append(module.register_forward_hook(note))
    try:
        model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return maps
    ### END SOLUTION

# %% test="attention_maps" points=3
check("attention_maps", attention_maps)

# %% [markdown]
# ## 6 · One head, two heads, three heads
#
# Now an experiment. Eight words; each carries a random message of eight numbers. Each word (from the fourth on) shall report
# **three messages**: that of the word before, that of the word before that, and that of the first word.
#
# We give every model the same number of parameters, and only change $h$. A guess in advance: a head brings home *one* blend of messages, in which
# all of them share the same columns. Whatever the blend, it is *one* direction in the space of three independent messages: of the total variance, one third is
# explained, and 2/3 remains as error. Two heads: 1/3. Three heads: 0.
#
# A word's vector has 24 numbers: eight for the message, eight for the position, and eight to spare.

# %% tags=["skip-grading"]
def make_batch(n, width=24, size=8):
    """Words (n, 8, width), and the three messages that each of the last five reports (n, 5, 3 size)."""
    message = torch.randn(n, 8, size)
    x = torch.cat([message, 2 * torch.eye(8).expand(n, 8, 8), torch.zeros(n, 8, width - 8 - size)], dim=-1)
    first = message[:, :1].expand(n, 5, size)
    return x, torch.cat([message[:, 2:-1], message[:, 1:-2], first], dim=-1)


class Reporter(nn.Module):
    """A layer of attention, and a linear layer that reads the report from it."""

    def __init__(self, h, width=24, size=8):
        super().__init__()
        self.listen, self.report = MultiHeadAttention(width, h), nn.Linear(width, 3 * size)

    def forward(self, x):
        return self.report(self.listen(x)[0])[:, 3:]

# %% tags=["skip-grading"]
def learn(h, width=24, size=8, steps=400):
    """Train a reporter with h heads, words of ``width`` numbers and messages of ``size``; returns it and its error after each step."""
    torch.manual_seed(0)
    model, errors = Reporter(h, width, size), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)  # lab 10 opens this box
    for _ in track(range(steps), f"training with h = {h}, width {width}"):
        x, wanted = make_batch(64, width, size)
        loss = nn.functional.mse_loss(model(x), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        errors.append(loss.item())
    return model, errors


with until_written():
    needs("MultiHeadAttention")
    runs = {h: learn(h) for h in (1, 2, 3)}
    wide = learn(1, width=48)

# %% tags=["skip-grading"]
with until_written():
    needs("MultiHeadAttention")
    fig, ax = plt.subplots(figsize=(7.2, 3.4))
    for (h, (model, errors)), colour in zip(runs.items(), (ORANGE, GREEN, BLUE)):
        ax.plot(errors, color=colour, label=f"h = {h}")
        ax.axhline(1 - h / 3, color=colour, lw=1, ls=":", label="the guess" if h == 3 else None)
        print(f"h = {h}: error {sum(errors[-50:]) / 50:.3f}, the guess was {1 - h / 3:.3f}")
    ax.plot(wide[1], color=INK, lw=1, label="h = 1, twice as wide")
    print(f"h = 1, twice as wide: error {sum(wide[1][-50:]) / 50:.3f}")
    ax.set(xlabel="training step", ylabel="share of the variance left", ylim=(-0.03, 1.45))
    ax.set_title("Each further head explains another third of the variance")
    ax.legend(ncols=2, loc="upper right")
    plt.show()

# %% [markdown]
# The errors stop where the argument said. (With another seed three heads may need more steps.) A head twice as wide hardly helps: it carries the same one blend in more columns, for the weights are the same for all columns.
# (The guess supposes that a head chooses its words by their *place*. It may also look at *what* is said: with messages of two numbers one head comes to 0.49, two to 0.18. Try `learn(1, size=2)`.)
#
# And what does each head of the third model do? You have a tool for that now:

# %% tags=["skip-grading"]
with until_written():
    needs("MultiHeadAttention", "attention_maps")
    model = runs[3][0]
    maps = attention_maps(model, make_batch(1)[0])
    print("found:", {name: tuple(weights.shape) for name, weights in maps.items()})
    fig, axes = plt.subplots(1, 3, figsize=(9.4, 2.7))
    for head, ax in enumerate(axes):
        heatmap(maps["listen"][0, head, 3:], "34567", "01234567", ax=ax, vmin=0, vmax=1, xlabel="listens to word")
        ax.set_title(f"head {head}")
    axes[0].set_ylabel("word")
    fig.colorbar(axes[0].images[0], ax=axes, label="weight")
    fig.suptitle("Each of the three heads has taken mostly one question", x=0.02, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# Nobody told them who should do what. *Mostly* is enough: with as many blends as messages, $W^O$ and the report layer can take the blends apart again.
#
# And in large models? Clark and others (2019) found heads in BERT that look at the word before, or from an object to its verb. Voita and others and Michel
# and others (both 2019) found that many heads of a trained translator can be taken away with little loss; lab 12 tries it.
#
# ## 7 · In your own words (10 minutes, 2 points each)
#
# **(a)** A head of size 512 has as many parameters as eight heads of size 64. Why can the eight do something that the one can't? And
# what does the one have that the eight don't?

# %% [markdown] written="why_several" points=2
# ### BEGIN SOLUTION
# The softmax hands out one unit of attention for each query and head. One head, however large, brings back a single weighted mean of the values:
# if it listens to three words, it hears their mixture and can't separate them again (unless the words already wrote to different columns). Eight heads have eight sets of weights, so each can
# listen to another word, and the results stay apart until W_O mixes them. In exchange, a head of size 512 compares queries and keys by 512
# features instead of 64, so its one question can be much finer (its score matrix may have a higher rank).
# ### END SOLUTION

# %% [markdown]
# **(b)** A colleague cuts into heads with `x.reshape(B, h, T, d_h)`. There is no error, and the loss even falls. How could you
# find out, without reading the code, that something is wrong? Name one experiment.

# %% [markdown] written="find_the_reshape" points=2
# ### BEGIN SOLUTION
# For example: shuffle the words (no positions, no mask). The outputs should be the same ones, shuffled in the same way; after the bare reshape they differ.
# Or: compare with nn.MultiheadAttention under copied weights. Or: look at the heads one by one (attention_maps): change the last word, and with a proper split
# the weights of every head change; with the bare reshape head 0 sees only the first T/h words, so its weights stay. (To change one word and watch the *outputs* may show
# nothing: if the heads are put together by a proper merge, every output changes in both cases.)
# ### END SOLUTION

# %% [markdown]
# ## Optional · Break it to believe it ●●○ (10 minutes, no points)
#
# Five impostors of `multi_head_attention` wait behind the card below. One of them gives the mask no axis for the heads. All five pass a test with one sentence, one head and matrices that change nothing:

# %% locked="weak_input"
sentence_of_three = torch.tensor([[[1.0, 0, 2, 0], [0, 1, 0, 1], [1, 1, 0, 0]]])  # (1, 3, 4)
weak_input = (sentence_of_three, sentence_of_three, torch.eye(4), torch.eye(4), torch.eye(4), torch.eye(4), 1)

# %% [markdown]
# Let `counterexample()` return an input `(x, memory, W_Q, W_K, W_V, W_O, h, mask)` for which they go wrong. Your own function says what is right. (The missing axis of the mask often raises an error; the worst errors are silent. Question 3 hints at when this one is.)

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong multi-head attention away: (x, memory, W_Q, W_K, W_V, W_O, h, mask)."""
    ### BEGIN SOLUTION
    torch.manual_seed(0)
    x, memory, matrices = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(4, 4, 4)
    mask = torch.tensor([[[True] * 5] * 3, [[True, True, False, False, False]] * 3])  # (B, Tq, Tk), B = h
    return x, memory, *matrices, 2, mask
    ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("multi_head_attention")
    break_it(counterexample, multi_head_attention)

# %% [markdown]
# ## What you can do now

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# * You cut into heads along the columns, and you know why a bare reshape is wrong although it fits.
# * Your `MultiHeadAttention` does self- and cross-attention and agrees with PyTorch's up to rounding.
# * You can look at the attention maps of any model.
# * You can say, and show, what $h$ heads buy: $h$ shorter messages instead of one long one, for the same number of parameters.
#
# ## What is still missing
#
# In section 3 *it* found both nouns with one head and *tired* with another, but to combine these findings it needs a second layer on top of the first, and
# then a third. If you just stack attention layers, all words become alike, and soon it makes no difference who listens to whom. What holds a
# deep stack together? Three small inventions, in lab 09.
