# ---
# jupyter:
#   course:
#     data: []
#     minutes: 100
#     demo: 09_blocks
# ---

# %% [markdown]
# # 09 · Blocks: what holds it together?
#
# **What you already have.** Multi-head attention as a module (lab 08): each word listens to the others, in several ways at once.
#
# **What is missing.** Read again:
#
# > *The animal did not cross the street because **it** was too tired.*
#
# In one layer *it* can find the nouns *animal* and *street*, and the word *tired*. To conclude that the animal is meant, it must
# think about what it heard, and then ask again, better. So we want to **stack** layers: six of them, or a hundred. But if
# you simply stack attention, something goes badly wrong. You will see it in a minute.
#
# **In this lab** you build the three things that make deep stacks possible, and with them the two blocks of the transformer. You will
# be able to
#
# * show what happens to words, and to gradients, in a stack of plain attention;
# * write layer normalisation, the feed-forward layer and the residual connection;
# * assemble the encoder block and the decoder block, which agree with PyTorch's own up to rounding;
# * say which word can influence which, and show it with a gradient.
#
# *100 minutes: 65 for the five functions, 10 for the two answers in words, 25 to read and look.*

# %% locked="setup"
import torch
from torch import nn
from coursekit import break_it, check, progress, start

start("09_blocks")

# %% [markdown]
# From lab 08: `MultiHeadAttention(d_model, h)` is a module with the layers `W_Q`, `W_K`, `W_V` and `W_O`. Called as
# `attention(x, memory, mask)` it returns the pair `(output, weights)`. Without a `memory`, `x` listens to itself; True in the
# mask means "may attend". From lab 07 come the masks. You may use all three everywhere.
#
# `mine("08", "MultiHeadAttention")` looks for *your* lab 08 beside this one. If your module passes its public checks there, your blocks are made of it, here and in
# lab 12; if not, the course's own version steps in. The line that it prints says which.

# %% locked="given"
from coursekit.provided.p07_self_attention import causal_mask, padding_mask
from coursekit.checks.earlier_labs import mine

MultiHeadAttention = mine("08", "MultiHeadAttention")

# %% [markdown]
# ## 1 · A stack of plain attention
#
# Eight words, each a random vector. They go through attention once, twice, three times. How alike are two words? We measure the
# cosine of the angle between their vectors: 1 means the same direction. (*Spread* is the standard deviation of all the numbers.)

# %% tags=["skip-grading"]
import matplotlib.pyplot as plt
from coursekit.figures import BLUE, GREEN, ORANGE, heatmap
from coursekit.notebook.until_written import needs, until_written

torch.manual_seed(1)
words = torch.randn(1, 8, 64)  # one sentence of eight words, d_model = 64


def plain_attention():
    """A layer of attention with d_model = 64 and four heads. Its biases begin at 0, its weights as nn.Linear draws them."""
    attention = MultiHeadAttention(64, 4)
    for name, parameter in attention.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
    return attention


def likeness(x):
    """(1, T, d_model) → (T, T): the cosine between each two words."""
    unit = nn.functional.normalize(x[0].detach(), dim=-1)
    return unit @ unit.T

# %% tags=["skip-grading"]
fig, axes = plt.subplots(1, 4, figsize=(9.6, 3))
x = words
for depth, ax in enumerate(axes):
    heatmap(likeness(x), "01234567", "01234567", ax=ax, vmin=0, vmax=1, xlabel=f"word (spread {x.std():.2g})")
    ax.set_title(("before", "after one layer", "after two", "after three")[depth], fontsize=10.5)
    x, _ = plain_attention()(x)
axes[0].set_ylabel("word")
fig.colorbar(axes[0].images[0], ax=axes, label="cosine", shrink=0.8, extend="min")
fig.suptitle("After two layers of plain attention all words point the same way", x=0.02, ha="left", weight="bold")
plt.show()

# %% [markdown]
# Why? What a head brings home is a *weighted mean* of the words. Means of means of means are all alike, as paints are that are
# stirred together. (Dong, Cordonnier and Loukas 2021 prove it, under the title *Attention is not all you need*.) And the numbers get smaller on the way: in every layer because `nn.Linear`'s first weights shrink what they multiply (the two here
# to about a third), and in the first also because a mean of unlike parts is smaller than they are. Three things are needed:
#
# 1. something that keeps the **size** of the numbers sane: *layer normalisation*;
# 2. something that lets each word **think** for itself, instead of only mixing: the *feed-forward layer*;
# 3. something that keeps each word **itself**: the *residual connection*.
#
# ## 2 · Layer normalisation
#
# Take the vector of one word, $x_i$. Subtract its mean, divide by its standard deviation: now its $d$ numbers have mean 0 and
# variance 1. Then let the model choose another size γ (*gamma*) and another place β (*beta*) for each of the $d$ entries, if it
# prefers; these two are learned.
#
# $$\mu_i = \frac1d \sum_k x_{ik} \qquad \sigma_i^2 = \frac1d \sum_k (x_{ik}-\mu_i)^2 \qquad
# \mathrm{LN}(x_i) = \gamma \odot \frac{x_i - \mu_i}{\sqrt{\sigma_i^2 + \epsilon}} + \beta$$
#
# ($\odot$ multiplies entry by entry.)
#
# **By hand.** $x = (1, 3, 5, 7)$. The mean is 4, the variance $(9 + 1 + 1 + 9)/4 = 5$, and its root 2.236. The result is
# $(-1.342, -0.447, 0.447, 1.342)$.
#
# Three things that people get wrong:
#
# * **Which axis?** Each word is normalised *by itself*, over its own $d$ entries, the last axis. Not over the words of the
#   sentence, and not over the batch.
# * **Which variance?** The one that divides by $d$. (`torch.var` divides by $d - 1$ unless you say `unbiased=False`.) And subtract the
#   mean *before* you square: the mean of the squares minus the square of the mean is the same on paper, but if the mean is large, single precision loses it.
# * **Where is ε?** Inside the root. It saves a vector whose entries are all equal from 0/0.
#
# > **A note on the lectures.** One writes $\mathrm{LN}(x_i) = \gamma\,(x_i-\mu_i)/\sigma_i + \beta$ without the ε; in programs it is always
# > there. Another says that "the values of the matrix" are shifted and scaled. What is meant is every *row* of the matrix by itself.

# %% [markdown]
# ### Question 1 · `LayerNorm` ●●○ (15 minutes, 4 points)
#
# A class with
#
# * `LayerNorm(d_model, eps=1e-5)`: makes two parameters (`nn.Parameter`) of shape `(d_model,)`: **`weight`** for γ, at first all ones,
#   and **`bias`** for β, at first all zeros. Nothing else is learned.
# * `forward(x)`: `x` has shape `(…, d_model)`, with any leading axes or none. Returns a tensor of the same shape, in which every vector along the
#   last axis is normalised, times the weight, plus the bias.
#
# (`nn.LayerNorm` is PyTorch's own. You write yours.)

# %% question="LayerNorm"
class LayerNorm(nn.Module):
    """Mean 0 and variance 1 along the last axis, then times weight plus bias (Ba, Kiros and Hinton 2016)."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        ### BEGIN SOLUTION
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps
        ### END SOLUTION

    def forward(self, x):
        """x (…, d_model) → (…, d_model)."""
        ### BEGIN SOLUTION
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = (centred**2).mean(dim=-1, keepdim=True)
        return self.weight * centred / torch.sqrt(variance + self.eps) + self.bias
        ### END SOLUTION

# %% test="LayerNorm" points=4
check("LayerNorm", LayerNorm)

# %% [markdown]
# The picture: eight words, some loud, some quiet, some high, some low.

# %% tags=["skip-grading"]
with until_written():
    needs("LayerNorm")
    loudness = torch.tensor([1, 0.1, 3, 1, 0.3, 2, 1, 0.5])[:, None]
    loud = words[0, :, :24] * loudness + torch.arange(8)[:, None] - 3
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 3))
    for ax, x, title in ((axes[0], loud, "Before: loud words and quiet ones"),
                         (axes[1], LayerNorm(24)(loud).detach(), "After: all speak at one volume")):
        spread = x.std(dim=-1, unbiased=False)
        labels = [f"{mean + 0.0:.1f} ± {deviation:.1f}" for mean, deviation in zip(x.mean(dim=-1).round(decimals=4), spread)]
        heatmap(x, labels, ax=ax, cmap="PuOr", vmin=-6, vmax=6, title=title, xlabel="entry of the vector", aspect="auto")
        ax.set_xticks([])
    axes[0].set_ylabel("word: mean ± deviation")
    plt.show()

# %% [markdown]
# Every row on the right has mean 0 and variance 1. In numbers, for a whole batch, and when 1000 is added to all entries:

# %% tags=["skip-grading"]
with until_written():
    needs("LayerNorm")
    norm = LayerNorm(64).double()
    x = 5 * torch.randn(2, 7, 64, dtype=torch.double) - 2
    y = norm(x).detach()
    print(f"means:     {y.mean(-1).min():+.1e} to {y.mean(-1).max():+.1e}")
    print(f"variances: {y.var(-1, unbiased=False).min():.6f} to {y.var(-1, unbiased=False).max():.6f}  (a hair below 1: that is the ε)")
    print(f"x + 1000 changes the result by {(norm(x + 1000) - y).abs().max():.0e}")

# %% [markdown]
# ### Optional · Break it to believe it ●●○ (10 minutes, no points)
#
# A test is as good as the inputs that it tries. Five impostors of your norm wait behind the card below; one of them normalises all words together. All five pass a test with this one word:

# %% locked="weak_input"
def layer_norm(x):
    """Yours, with γ = 1 and β = 0.  x (…, d_model) → same."""
    return LayerNorm(x.shape[-1]).to(x.dtype)(x)


weak_input = torch.tensor([[100.0, 300.0, 500.0, 700.0]]).double()

# %% [markdown]
# Let `counterexample()` return words `(…, d_model)` for which they go wrong. Can one input expose all five?

# %% question="counterexample" points=0
def counterexample():
    """Words, a tensor (…, d_model), that give wrong norms away."""
    ### BEGIN SOLUTION
    words = torch.arange(48.0).reshape(3, 16).double() ** 2
    words[1] = 7  # a word whose entries are all equal
    words[2] *= 1e-6  # a quiet one …
    words[0, 3] = 1e6  # … and one with a single loud entry
    return words
    ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("LayerNorm")
    break_it(counterexample, layer_norm)

# %% [markdown]
# ## 3 · The feed-forward layer: each word thinks for itself
#
# Attention moves information *between* words; but the values that it moves are only mixed. What should a word *conclude* from what it heard?
# In lab 03 a matrix and a ReLU built features such as "*battery* **and** *ran*", and a second matrix turned them into votes. This
# is the same thing, with learned matrices:
#
# $$\mathrm{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# **By hand**, with lab 03's numbers (its column of ones is now $b_1$). Its entries are *battery*, *program*, *ran*, and the word heard the first and the last:
# $x = (1, 0, 1)$. The columns of $W_1$ ask for *battery & ran* and for *program & ran*:
#
# $$W_1 = \begin{pmatrix} 1 & -1 \\ -1 & 1 \\ 1 & 1 \end{pmatrix} \quad b_1 = (-1, -1) \quad\Rightarrow\quad
# x W_1 + b_1 = (1, -1) \;\;\xrightarrow{\mathrm{ReLU}}\;\; (1, 0)$$
#
# A word that heard neither, or *battery* alone, or *ran* alone, gets $(0, 0)$: only both together say something new. No weighted sum could, not even with a
# constant: where both give 1 and one gives 0, it gives −1 for neither.
#
# The middle is usually four times as wide as the model: 2048 for $d_{model} = 512$. The layer is the same for every word, and no
# word looks at another. Two thirds of an encoder block's parameters are in there.

# %% [markdown]
# ### Question 2 · `FeedForward` ●○○ (10 minutes, 3 points)
#
# A class with
#
# * `FeedForward(d_model, d_ff)`: makes two layers, **`linear1`** = `nn.Linear(d_model, d_ff)` and **`linear2`** =
#   `nn.Linear(d_ff, d_model)`, and nothing else that is learned;
# * `forward(x)`: `x` of shape `(…, d_model)` goes through `linear1`, a ReLU and `linear2`, and keeps its shape.

# %% question="FeedForward"
class FeedForward(nn.Module):
    """linear2(ReLU(linear1(x))), the same for every word (Vaswani et al. 2017, equation 2)."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        ### BEGIN SOLUTION
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        ### END SOLUTION

    def forward(self, x):
        """x (…, d_model) → (…, d_model)."""
        ### BEGIN SOLUTION
        return self.linear2(torch.relu(self.linear1(x)))
        ### END SOLUTION

# %% test="FeedForward" points=3
check("FeedForward", FeedForward)

# %% [markdown]
# What does the width buy? Here "words" have a single number, and the layer must learn a curve. Each hidden unit can put at most one
# bend into a straight line.

# %% tags=["skip-grading"]
def learn_curve(width, place, curve, steps=1000):
    """Train a feed-forward layer of this width; returns what it says at each place."""
    torch.manual_seed(2)
    layer = FeedForward(1, width)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.03)  # lab 10 opens this box
    for _ in range(steps):
        optimizer.zero_grad()
        ((layer(place) - curve) ** 2).mean().backward()
        optimizer.step()
    return layer(place).detach()


with until_written():
    needs("FeedForward")
    place = torch.linspace(-3, 3, 121)[:, None]
    curve = torch.sin(2 * place) + 0.3 * place
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 2.9), sharey=True)
    for ax, width in zip(axes, (1, 4, 64)):
        ax.plot(place, curve, color="#b8c2cc", lw=5, label="wanted")
        ax.plot(place, learn_curve(width, place, curve), color=BLUE, label="learned")
        ax.set_title(f"{width} hidden unit{'s' if width > 1 else ''}", fontsize=10.5)
        ax.set_xlabel("input")
    axes[0].set_ylabel("output")
    axes[0].legend(fontsize=9)
    fig.suptitle("More hidden units, more bends", x=0.02, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# ## 4 · The residual connection: stay yourself
#
# The idea is almost too simple. Don't *replace* a word's vector by what the sublayer says about it. **Add** it to the vector, then
# normalise:
#
# $$\mathrm{output} = \mathrm{LN}\big(x + \mathrm{SubLayer}(x)\big)$$
#
# In pictures of the transformer this is the box *Add & Norm*, and the arrow that leads around the sublayer: the **skip connection** (He and others 2015). It does two things:
#
# * **Nothing gets lost.** If the sublayer says nothing, the word passes, only normalised. A sublayer needs to say only what should *change*, and each word stays itself.
# * **Gradients get through.** On the way back the sum hands the whole gradient to both sides: into the sublayer *and* around it. Only the norm behind the sum changes it.
#
# **By hand.** $x = (1, 2)$ and a sublayer that says $(10, 20)$: the sum is $(11, 22)$. The norm makes $(-1, 1)$ of it.

# %% [markdown]
# ### Question 3 · `residual` ●○○ (5 minutes, 3 points)
#
# `residual(x, sublayer, norm)` returns the `norm` of the sum of `x` and `sublayer(x)`.
#
# * `x`: a tensor, which stays as it is, even if the sublayer hands `x` itself back (as `nn.Identity()` does).
# * `sublayer`, `norm`: functions (or modules, which are called just like functions) from a tensor to a tensor of the same shape. Call each
#   of them once: some sublayers are random (you will meet dropout), and a second call would say something else.

# %% question="residual"
def residual(x, sublayer, norm):
    """Add & Norm: norm(x + sublayer(x)).  x (…, d_model) → (…, d_model)."""
    ### BEGIN SOLUTION
    return norm(x + sublayer(x))
    ### END SOLUTION

# %% test="residual" points=3
check("residual", residual)

# %% [markdown]
# > **A note on the order.** The first transformer normalises *after* the sum, as the lecture's equation does, and so do we
# > ("post-LN"). Most later models normalise the sublayer's *input* instead, $x + \mathrm{SubLayer}(\mathrm{LN}(x))$ ("pre-LN"). Then no norm stands on
# > the way around, and very deep stacks are easier to train (Xiong and others 2020). Many also leave the mean and β out of the norm (*RMSNorm*) and put a gate into the
# > feed-forward layer (*SwiGLU*).
#
# Is it worth it? Sixteen layers of attention, with and without skips, with and without norms, from two kinds of first weights: those of `nn.Linear`, and Xavier's (Glorot and Bengio 2010), with which square matrices keep the size of what
# they multiply, and others nearly. We look at the gradient that arrives at two matrices of every layer. Where none arrives, nothing tells a matrix which way to go. $W^O$ says what a
# layer adds; $W^Q$ says whom its words listen to. Before you run it: what will die, and where?

# %% tags=["skip-grading"]
def xavier(module):
    """The module, all its matrices drawn anew so that, on average, they keep the size of what they multiply."""
    for parameter in module.parameters():
        if parameter.dim() == 2:
            nn.init.xavier_uniform_(parameter)
    return module


def gradients_arriving(draw, norm, add, depth=16):
    """The gradient's size at W_O and at W_Q in each layer of a stack, and at its input, for some loss at the end."""
    torch.manual_seed(5)
    layers = [(draw(plain_attention()), LayerNorm(64) if norm else nn.Identity()) for _ in range(depth)]
    x = start = words.clone().requires_grad_()
    for attention, after in layers:
        listen = lambda y: attention(y)[0]
        x = residual(x, listen, after) if add else after(listen(x))
    (x * torch.randn(x.shape, generator=torch.Generator().manual_seed(9))).sum().backward()
    sizes = {name: [getattr(layer, name).weight.grad.norm().item() for layer, _ in layers] for name in ("W_O", "W_Q")}
    return sizes | {"input": start.grad.norm().item()}


with until_written():
    needs("LayerNorm", "residual")
    as_drawn = lambda module: module
    panels = {
        (as_drawn, False): "nn.Linear, no norm: all vanish without skips",
        (as_drawn, True): "nn.Linear, norms: $W^Q$'s vanish without skips",
        (xavier, False): "Xavier, no norm: now they explode with skips",
        (xavier, True): "Xavier, norms: $W^Q$'s fade even with skips",
    }
    fig, axes = plt.subplots(2, 2, figsize=(9.6, 5.8), sharex=True, sharey=True)
    lines = []
    for ax, ((draw, norm), title) in zip(axes.flat, panels.items()):
        for add, colour, way in ((True, BLUE, "with skips"), (False, ORANGE, "without skips")):
            sizes = gradients_arriving(draw, norm, add)
            for name, mark in (("W_O", "o-"), ("W_Q", "s--")):
                size = [max(value, 1e-9) for value in sizes[name]]
                ax.semilogy(range(1, 17), size, mark, ms=4, color=colour, label=f"$W^{name[-1]}$, {way}")
            stack = f"{'Xavier' if draw is xavier else 'nn.Linear'}, {'norms' if norm else 'no norm'}"
            lines.append(f"{stack + ',':<19} {way + ':':<14} at the input {sizes['input']:.1e}, at W_O {sizes['W_O'][0]:.1e} to {sizes['W_O'][-1]:.1e}")
        ax.set_title(title, fontsize=10.5)
    axes[0, 0].set_yticks([10.0**k for k in (-9, -6, -3, 0, 3, 6)], ["$10^{-9}$ or less", "$10^{-6}$", "$10^{-3}$", "1", "1000", "$10^6$"])
    for ax in axes[1]:
        ax.set(xlabel="layer", xticks=range(1, 17, 3))
    fig.supylabel("size of the gradient", fontsize=10.5)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=10, handlelength=4)
    fig.suptitle("Without skips $W^Q$ soon gets next to nothing; without norms the first weights decide", x=0.02, ha="left", weight="bold")
    plt.show()
    print("\n".join(lines))

# %% [markdown]
# Two different things go wrong.
#
# * **Vanishing and exploding gradients** (no norm, left). `nn.Linear`'s weights make the words smaller in each layer, and the gradient on the way back. What $W^O$ gets is the product of the two, so *every* layer pays for all the others: without skips it gets tens of
#   millions of times less. Xavier's weights cure that, but with skips all that they say piles up (and in the last layers the softmax gets stuck at 0 and 1: hence the hole before the end). A norm after each layer keeps the size (right), *also without skips*.
# * **Rank collapse** (no skips, everywhere). The gradient at $W^Q$ (and $W^K$) is next to nothing from the fourth layer on, with norms and whatever the weights: the words are alike by then, as in section 1, and it makes no difference who listens to whom. (The level near $10^{-6}$ is rounding in single precision.) A norm can't bring back what the words
#   no longer have: their differences. With the skip they lose them far more slowly, because each word is still in the sum. How slowly depends on how loudly the layers speak beside it: with Xavier's weights the gradient at $W^Q$ still fades (bottom right).
#
# ## 5 · The encoder block
#
# Now put the parts together. The lecture's two equations are the whole block number $l$, from the words $x^{(l-1)}$ to the words $x^{(l)}$:
#
# $$\hat x^{(l)} = \mathrm{LN}\big(\mathrm{MSA}(x^{(l-1)}, x^{(l-1)}, x^{(l-1)}) + x^{(l-1)}\big) \qquad
# x^{(l)} = \mathrm{LN}\big(\mathrm{FFN}(\hat x^{(l)}) + \hat x^{(l)}\big)$$
#
# First listen (MSA: multi-head self-attention), then think, each with *Add & Norm*. What comes out has the shape of what went in, so the next block can take
# it from there. The two norms are two modules: each has its own γ and β.
#
# One more thing: **dropout**. In training mode `nn.Dropout(p)` sets each number to 0 with probability $p$, so that no word can rely on a single entry of a vector, and divides the others
# by $1 - p$, so that their mean stays. Here it acts on **what each sublayer says, before the sum**, and
# nowhere else (PyTorch's layers also drop inside the sublayers). In evaluation mode it does nothing.

# %% [markdown]
# ### Question 4 · `EncoderBlock` ●●○ (20 minutes, 5 points)
#
# A class with
#
# * `EncoderBlock(d_model, heads, d_ff, dropout=0.0)`: makes the parts **`attention`** (a `MultiHeadAttention`), **`feed_forward`** (your
#   `FeedForward`), **`norm1`** and **`norm2`** (your `LayerNorm` with its usual `eps`), and an `nn.Dropout` (under any name); nothing else that is learned.
#   The names matter: the learned numbers are then called `attention.W_Q.weight`, `feed_forward.linear1.bias`, `norm1.weight` and so on, and later labs load them by these names.
# * `forward(x, mask=None)`: `x` is `(B, T, d_model)`; `mask` is `None`, or booleans of shape `(T, T)`, `(B, T, T)` or `(B, 1, T)`, as your attention takes
#   them. First the attention with `norm1`, then the feed-forward layer with `norm2`, each through `residual`, with dropout on what the sublayer says. Returns **one** tensor
#   `(B, T, d_model)`.
#
# Two hints: `residual` wants a function of one argument, and `lambda y: …` makes one on the spot. And attention returns a *pair*.
# (PyTorch's own is `nn.TransformerEncoderLayer`. You write yours.)

# %% question="EncoderBlock"
class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each with Add & Norm (post-LN, Vaswani et al. 2017)."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        ### BEGIN SOLUTION
        self.attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask True = may attend → (B, T, d_model)."""
        ### BEGIN SOLUTION
        heard = residual(x, lambda y: self.drop(self.attention(y, mask=mask)[0]), self.norm1)
        return residual(heard, lambda y: self.drop(self.feed_forward(y)), self.norm2)
        ### END SOLUTION

# %% test="EncoderBlock" points=5
check("EncoderBlock", EncoderBlock)

# %% [markdown]
# **Shapes walking through.** A hook (lab 08) at each part of your block notes what comes out. Two sentences of seven words walk
# through a block of the first transformer's size. (Each box is as high as a word's vector is long; the eight tiles are the heads' maps. A part whose numbers are used, but which
# is not called itself, stays empty.)

# %% tags=["skip-grading"]
from coursekit.figures.block_shapes import draw_walk, stations

with until_written():
    needs("EncoderBlock")
    block = EncoderBlock(d_model=512, heads=8, d_ff=2048)
    walk = stations(block, torch.randn(2, 7, 512))
    draw_walk(walk, title="Whatever happens inside: 512 numbers a word go in, 512 come out")
    plt.show()
    print(f"parameters: {sum(p.numel() for p in block.parameters()):,}, of them in the feed-forward layer:",
          f"{sum(p.numel() for p in block.feed_forward.parameters()):,}")

# %% [markdown]
# **A remedy for section 1.** Twelve blocks, and after each of them we ask how alike the words are, on average. The same parts in pre-LN order run beside them:

# %% tags=["skip-grading"]
def mean_likeness(make, depth=12):
    """The mean cosine of two different words before and after each of ``depth`` layers: the mean of five draws of the weights."""
    alike = torch.zeros(5, depth + 1)
    for draw in range(5):
        torch.manual_seed(draw)
        x = words
        for layer in range(depth + 1):
            alike[draw, layer] = (likeness(x).sum() - 8) / 56
            x = make()(x)
            x = x[0] if isinstance(x, tuple) else x
    return alike.mean(dim=0)


with until_written():
    needs("LayerNorm", "residual", "EncoderBlock")

    class PreLN(EncoderBlock):
        def forward(self, x):
            x = x + self.attention(self.norm1(x))[0]
            return x + self.feed_forward(self.norm2(x))

    def attention_alone():
        attention, norm = plain_attention(), LayerNorm(64)
        return lambda x: residual(x, lambda y: attention(y)[0], norm)

    fig, ax = plt.subplots(figsize=(9.6, 3.4))
    ax.plot(mean_likeness(plain_attention), "s--", color=ORANGE, label="plain attention")
    orders = ((EncoderBlock, "o", BLUE, "your encoder blocks (post-LN)"), (PreLN, "^", GREEN, "your parts in pre-LN order"))
    for kind, mark, colour, name in orders:
        ax.plot(mean_likeness(lambda: xavier(kind(64, 4, 256))), mark + ":", color=colour, label=f"{name}, Xavier's weights")
        ax.plot(mean_likeness(lambda: kind(64, 4, 256)), mark + "-", color=colour, label=name)
    ax.set(xlabel="layers", ylabel="mean likeness of two words", ylim=(-0.1, 1.08))
    ax.set_title("In blocks words stay different longer: how long depends on the first weights")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=9)
    plt.show()
    print(f"after twelve layers: your blocks {mean_likeness(lambda: EncoderBlock(64, 4, 256))[-1]:.2f},",
          f"attention with Add & Norm alone (biases 0) {mean_likeness(attention_alone)[-1]:.2f}")

# %% [markdown]
# The blocks are random here, so each still stirs, the more the louder it speaks, and the words drift together. (About half of your blocks' drift is not attention's: their ReLUs and biases push all words the same way.)
#
# **A silent block.** If both sublayers say nothing (their last matrices and biases are zero), normalised words pass as they are, however many such blocks
# there are. Some deep models start so on purpose: each block does no harm until it has learned something.

# %% tags=["skip-grading"]
with until_written(), torch.no_grad():
    needs("LayerNorm", "EncoderBlock")
    x = LayerNorm(64)(words)
    y = x
    for _ in range(100):
        silent = EncoderBlock(64, 4, 256)
        for layer in (silent.attention.W_O, silent.feed_forward.linear2):
            layer.weight.zero_()
            layer.bias.zero_()
        y = silent(y)
    print(f"after 100 silent blocks the words have changed by {(y - x).abs().max():.1e} at most: the ε of the first norm; the other 199 change nothing")

# %% [markdown]
# **The same as PyTorch's?** Copy your weights into PyTorch's encoder layer, and give both the same sentence:

# %% tags=["skip-grading"]
def copy_attention(ours, theirs):
    """Our four layers into PyTorch's, which keeps Q, K and V in one matrix."""
    theirs.in_proj_weight.copy_(torch.cat([ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight]))
    theirs.in_proj_bias.copy_(torch.cat([ours.W_Q.bias, ours.W_K.bias, ours.W_V.bias]))
    theirs.out_proj.load_state_dict(ours.W_O.state_dict())


def copy_rest(ours, theirs, norms):
    """The feed-forward layer and the norms, which have the same names in both."""
    for name in ("linear1", "linear2"):
        getattr(theirs, name).load_state_dict(getattr(ours.feed_forward, name).state_dict())
    for name in norms:
        getattr(theirs, name).load_state_dict(getattr(ours, name).state_dict())


with until_written(), torch.no_grad():
    needs("EncoderBlock")
    ours = EncoderBlock(64, 4, 256)
    theirs = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    copy_attention(ours.attention, theirs.self_attn)
    copy_rest(ours, theirs, ("norm1", "norm2"))
    print(f"largest difference: {(ours(words) - theirs(words)).abs().max():.0e}")

# %% [markdown]
# ## 6 · The decoder block
#
# The decoder writes the translation. Its block has **three** sublayers. With $y$ for the target's words and $x^{(N)}$ for what the last
# encoder block says about the source:
#
# $$\begin{aligned}
# \hat y^{(l)} &= \mathrm{LN}\big(\mathrm{MaskedMSA}(y^{(l-1)}, y^{(l-1)}, y^{(l-1)}) + y^{(l-1)}\big) \\
# \tilde y^{(l)} &= \mathrm{LN}\big(\mathrm{MCA}(\hat y^{(l)}, x^{(N)}, x^{(N)}) + \hat y^{(l)}\big) \\
# y^{(l)} &= \mathrm{LN}\big(\mathrm{FFN}(\tilde y^{(l)}) + \tilde y^{(l)}\big)
# \end{aligned}$$
#
# 1. It listens to **itself**: to what has been written so far. The causal mask hides what comes later.
# 2. It listens to the **source** (MCA: multi-head cross-attention): the *queries* come from the decoder, *keys and values* from the **memory** $x^{(N)}$, and every
#    decoder block gets the *same* memory. A mask hides the padding of the source.
# 3. It thinks.
#
# The sentences may have different lengths: a target of $T$ words and a memory of $S$ words give cross-attention weights of shape $(T, S)$.
#
# > **A note on the lecture.** Its second equation has $\hat y^{(l-1)}$ where $\hat y^{(l)}$ is meant: the queries are what the *first* sublayer of the
# > same block has just said, not what the block below said.

# %% [markdown]
# ### Question 5 · `DecoderBlock` ●●○ (15 minutes, 5 points)
#
# A class with
#
# * `DecoderBlock(d_model, heads, d_ff, dropout=0.0)`: makes **`self_attention`**, **`cross_attention`**, **`feed_forward`**, **`norm1`**,
#   **`norm2`**, **`norm3`** (in the order of the sublayers) and an `nn.Dropout`; nothing else that is learned;
# * `forward(x, memory, self_mask=None, memory_mask=None)`: `x` is `(B, T, d_model)`, `memory` is `(B, S, d_model)`; `self_mask` is `None` or
#   booleans `(T, T)`, `(B, T, T)` or `(B, 1, T)`; `memory_mask` is `None` or booleans `(T, S)`, `(B, T, S)` or `(B, 1, S)`. Dropout as in the encoder block. Returns one tensor
#   `(B, T, d_model)`.
#
# The block makes no causal mask of its own: whoever calls it passes one as `self_mask`. (PyTorch's own is
# `nn.TransformerDecoderLayer`. You write yours.)

# %% question="DecoderBlock"
class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention to the memory, feed-forward, each with Add & Norm (post-LN)."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, x, memory, self_mask=None, memory_mask=None):
        """x (B, T, d_model), memory (B, S, d_model), masks True = may attend → (B, T, d_model)."""
        ### BEGIN SOLUTION
        written = residual(x, lambda y: self.drop(self.self_attention(y, mask=self_mask)[0]), self.norm1)
        heard = residual(written, lambda y: self.drop(self.cross_attention(y, memory, memory_mask)[0]), self.norm2)
        return residual(heard, lambda y: self.drop(self.feed_forward(y)), self.norm3)
        ### END SOLUTION

# %% test="DecoderBlock" points=5
check("DecoderBlock", DecoderBlock)

# %% tags=["skip-grading"]
with until_written(), torch.no_grad():
    needs("DecoderBlock")
    ours = DecoderBlock(64, 4, 256)
    theirs = nn.TransformerDecoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_rest(ours, theirs, ("norm1", "norm2", "norm3"))
    memory, mask = torch.randn(1, 5, 64), causal_mask(8)
    difference = ours(words, memory, mask) - theirs(words, memory, tgt_mask=~mask)  # PyTorch's mask: True = forbidden
    print(f"largest difference to PyTorch's decoder layer: {difference.abs().max():.0e}")

# %% [markdown]
# **Who can influence whom?** Ask the gradient. If a small change of word $j$ of the input does not change output $i$ at all, the gradient
# of output $i$ with respect to word $j$ is *exactly* 0.

# %% tags=["skip-grading"]
english, german = "I ate an apple <pad>".split(), "<bos> Ich habe einen Apfel gegessen".split()

with until_written():
    needs("DecoderBlock")
    torch.manual_seed(2)
    block = DecoderBlock(32, 4, 64)
    x, memory = torch.randn(1, 6, 32, requires_grad=True), torch.randn(1, 5, 32, requires_grad=True)
    output = block(x, memory, causal_mask(6), padding_mask([4], 5))
    direction = torch.randn(32)  # in which we watch an output
    pulls = [torch.autograd.grad(output[0, i] @ direction, (x, memory), retain_graph=True) for i in range(6)]
    influence = [torch.stack([pull[part][0].norm(dim=-1) for pull in pulls]) for part in (0, 1)]

    fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.9))
    for ax, size, columns, title in ((axes[0], influence[0], german, "Itself and its past, not its future"),
                                     (axes[1], influence[1], english, "Every source word, not the padding")):
        heatmap(size, german, columns, ax=ax, numbers=".2f", vmin=0, title=title, xlabel="a change here …")
        for i, j in (size == 0).nonzero().tolist():
            ax.texts[i * len(columns) + j].set_text("0")
    axes[0].set_ylabel("… moves the output here (size of the gradient)")
    plt.show()
    print("influence of “gegessen” on “Ich”:", influence[0][1, 5].item(), "  of <pad> on anything:", influence[1][:, 4].max().item())

# %% [markdown]
# The cells with a 0 are not small, they are 0, and would be for any words: what is masked gets a weight of exactly 0. This is what makes it possible to train all positions at once (lab 10), though in the
# end the decoder has to write word by word.
#
# And the whole stack? The first transformer had six blocks on each side:

# %% tags=["skip-grading"]
with until_written():
    needs("EncoderBlock", "DecoderBlock")
    sizes = {kind.__name__: sum(p.numel() for p in kind(512, 8, 2048).parameters()) for kind in (EncoderBlock, DecoderBlock)}
    for name, size in sizes.items():
        print(f"{name}: {size:>10,} parameters, six of them {6 * size:>11,}")
    together = 6 * sum(sizes.values())
    print(f"together {together:,}. 37,000 tokens with 512 numbers each add {37_000 * 512:,}:",
          f"{(together + 37_000 * 512) / 1e6:.0f} million. The paper says 65.")

# %% [markdown]
# ## 7 · In your own words (10 minutes, 2 points each)
#
# **(a)** A friend says: "*Attention is all you need*, the title says so. I leave out the feed-forward layers." What can a block with only
# attention (and Add & Norm) not do well, and why? Two or three sentences.

# %% [markdown] written="why_feed_forward" points=2
# ### BEGIN SOLUTION
# Attention moves information from word to word, but what arrives is a weighted mean of linear images of the words: within a head, nothing is computed from the
# *combination* of what was heard. A conclusion such as "battery and ran, but not program" needs a nonlinearity on each word's own vector, and that is the ReLU of
# the feed-forward layer. (The norm bends, too, but it only shifts and rescales the whole vector; it can't switch one feature on and another off.) The layer also holds two thirds of an encoder block's parameters
# (half of a decoder block's), and patterns of text (Geva and others 2021) and facts (Meng and others 2022) have been found there.
# ### END SOLUTION

# %% [markdown]
# **(b)** A friend stacks a hundred pre-LN blocks, $x + f(\mathrm{LN}(x))$, and no norm after the last one. Predict: what happens to the size of $x$ from block to block, and to the gradient on its way back to the first? Compare both with our order,
# $\mathrm{LN}(x + f(x))$. Three or four sentences.

# %% [markdown] written="why_residual" points=2
# ### BEGIN SOLUTION
# What f says has about the same size in every block, because its input is normalised; nothing makes the sum small again, so x grows from block to block (about with the root of their number, if the blocks say unrelated things), and
# each new block changes it less. That is why such models have one more norm at the end. On the way back the derivative of x + f(LN(x)) is 1 + something: one term of the product is 1 · 1 · 1 …, so the first block gets one whole copy of the gradient, however many there are.
# In our order x has the same size after every block, but each norm stands on the way around, too, and rescales the gradient once a sublayer, so that the straight way is no longer undamped.
# ### END SOLUTION

# %% [markdown]
# ## What you can do now

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# * You know what goes wrong in a stack of plain attention, and what skip and norm do against it.
# * You have built both blocks of the transformer from your own parts, and they agree with PyTorch's.
# * You can show with a gradient what a block can see and what it can't.
#
# ## What is still missing
#
# Stack a few blocks, put the tokens of lab 04 and the positions of lab 06 in front, a linear layer behind, and you have a transformer. Ask
# it for a translation, and it has no opinion: its millions of parameters are random, and to it nearly every word is as good as any other. How does it
# learn? That is lab 10.
