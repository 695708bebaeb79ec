# ---
# jupyter:
#   course:
#     data: []
#     minutes: 100
#     demo: 07_self_attention
# ---

# %% [markdown]
# # 07 · Self-attention: who should I listen to?
#
# **What you already have.** In lab 03 a word far back could decide what comes next, if a *mask* silenced all
# the words that don't matter. You looked the right mask up in a table with a score for every pair of words. In
# labs 05 and 06 you gave each word a vector and each position a vector.
#
# **What is missing.** For 50,000 words that table has 2,500 million scores, and none for a word that it has not met. The words
# themselves must work out, from their vectors, who should listen to whom.
#
# **In this lab** you build the function at the heart of every transformer, in about five lines of NumPy, and
# its gradient, in about five more. You will be able to
#
# * draw a smooth curve along dots without a formula for the curve, and see that this is already attention;
# * look things up in a *soft* dictionary, many queries at once;
# * say why the scores are divided by $\sqrt{d_k}$, and show it;
# * hide the future and the padding with a mask;
# * compute the gradients by hand, and let a head *find out* with them whom to listen to.
#
# Everything here can be done with NumPy. Your functions get arrays, return new ones and never change their arguments.
#
# *100 minutes: 75 for the six functions, 10 for the two answers in words, 15 to read and look.*

# %% locked="setup"
import numpy as np
from coursekit import break_it, check, progress, start

start("07_self_attention")

# %% [markdown]
# One tool from lab 00, so that you have it at hand. It may be used everywhere in this lab. Scores of $-\infty$
# get weight 0.

# %% locked="softmax_given"
def softmax(scores, axis=-1):
    """exp(scores) / sum of exp(scores) along ``axis``, safe for large scores (you wrote it in lab 00)."""
    exponentials = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return exponentials / exponentials.sum(axis=axis, keepdims=True)

# %% [markdown]
# ## 1 · A curve without a formula
#
# Eleven dots. What is the height *between* them? You could fit a line or a polynomial. Or you could ask the
# dots: each one answers with its own height, and **the nearer a dot, the more its answer counts**. The result
# is a weighted mean.
#
# Three words for the rest of your life with transformers:
#
# * the place you ask about is the **query**,
# * the place of each dot is its **key**: it decides how much the dot counts,
# * the height of each dot is its **value**: it is what the dot has to say.
#
# How much does a dot at distance $d$ count? A popular choice is the Gaussian kernel, a bell of width σ
# (say *sigma*):
#
# $$w_i = \frac{e^{-d_i^2/2\sigma^2}}{\sum_j e^{-d_j^2/2\sigma^2}} \qquad\qquad \hat{y} = \sum_i w_i\,y_i$$
#
# (Statisticians call this Nadaraya–Watson regression, after two papers of 1964.)
#
# **By hand.** Dots at $x = 0, 1, 2$ with heights $0, 10, 40$. Query at 1, σ = 1:
#
# | dot | distance | $e^{-d^2/2}$ | weight |
# |---|---|---|---|
# | 0 | 1 | 0.607 | 0.274 |
# | 1 | 0 | 1 | 0.452 |
# | 2 | 1 | 0.607 | 0.274 |
#
# The sum of the third column is 2.213, so $\hat y = 0.452 \cdot 10 + 0.274 \cdot 40 = 15.48$.
#
# > **A note on the lecture.** The slide's code has `exp(-(D**2)/(sigma))`, a kernel whose σ is not a length.
# > We use the usual $e^{-d^2/2\sigma^2}$: σ is then the width of the bell, in the units of $x$.

# %% [markdown]
# ### Question 1 · `kernel_smooth` ●○○ (10 minutes, 3 points)
#
# `kernel_smooth(x, y, query, sigma)` returns the smoothed height at every query.
#
# * `x`, `y`: arrays of shape `(n,)`, the places and heights of the dots;
# * `query`: array of shape `(m,)`, the places you ask about; like `x` and `y`, it holds floats or integers;
# * `sigma`: a number above 0;
# * returns an array of shape `(m,)`.
#
# Far away from every dot all the exponentials round to 0, and 0/0 is *not a number*. Your function should still
# answer there, as the formula does: nearly with the nearest dot, and two dots that are equally near share. Look at the
# formula for the weights again: exponentials, divided by their sum. Which function that you already have does exactly
# this, and safely?

# %% question="kernel_smooth"
def kernel_smooth(x, y, query, sigma):
    """Gaussian-weighted mean of ``y`` at each query.  x, y: (n,), query: (m,), sigma > 0 → (m,)."""
    ### BEGIN SOLUTION
    distance = query[:, None] - x[None, :]  # (m, n)
    weights = softmax(-(distance**2) / (2 * sigma**2), axis=1)
    return weights @ y
    ### END SOLUTION

# %% test="kernel_smooth" points=3
check("kernel_smooth", kernel_smooth)

# %% [markdown]
# σ is a knob. Small, and only the nearest dot speaks. Large, and everyone speaks at once.

# %% tags=["skip-grading"]
import matplotlib.pyplot as plt
from coursekit.figures import BLUE, GREEN, INK, ORANGE, heatmap
from coursekit.notebook.until_written import needs, until_written

dots = np.linspace(0, 10, 11)
heights = np.sin(dots) + 0.1 * dots + np.random.default_rng(3).normal(0, 0.2, 11)
grid = np.linspace(0, 10, 400)

with until_written():
    needs("kernel_smooth")
    fig, axes = plt.subplots(1, 3, figsize=(10, 2.9), sharey=True)
    findings = ("the nearest dot wins", "a smooth curve", "nearly flat")
    for ax, sigma, finding in zip(axes, (0.1, 0.6, 5), findings):
        ax.plot(grid, kernel_smooth(dots, heights, grid, sigma), color=BLUE)
        ax.plot(dots, heights, "o", color=ORANGE)
        ax.set_title(f"σ = {sigma:g}: {finding}")
        ax.set_xlabel("place (key, query)")
    axes[0].set_ylabel("height (value)")
    plt.show()

# %% [markdown]
# ## 2 · From distance to dot product
#
# Words are not points on a line; they are vectors. The distance still makes sense, but there is something cheaper.
# Multiply out the squared distance between a query $q$ and a key $k$:
#
# $$-\frac{|q-k|^2}{2\sigma^2} \;=\; \frac{q\cdot k}{\sigma^2} \;-\; \frac{|q|^2}{2\sigma^2} \;-\; \frac{|k|^2}{2\sigma^2}$$
#
# The middle term is the same for all keys, so the softmax does not see it. If all keys have the same length, the
# same holds for the last term. What remains is the **dot product**, divided by a temperature. So for keys of one length
# attention *is* kernel smoothing, with the dot product in place of the distance. (Otherwise a longer key also has a louder voice.)

# %% tags=["skip-grading"]
draw = np.random.default_rng(0)
keys = draw.normal(size=(5, 3))
keys /= np.linalg.norm(keys, axis=1, keepdims=True)  # all keys have length 1
query, sigma = draw.normal(size=3), 0.7

print("by distance:   ", softmax(-((query - keys) ** 2).sum(axis=1) / (2 * sigma**2)).round(4))
print("by dot product:", softmax(keys @ query / sigma**2).round(4))

# %% [markdown]
# ### A film night, by hand
#
# Three films. The **key** of a film is what its description says, the **value** is what we want to know about it:
# how long it is.
#
# * *Alien*: thrilling horror, science fiction, in space, in the future. 117 minutes.
# * *Star Wars*: entertaining science fiction, in space, in the past. 121 minutes.
# * *Titanic*: boring love story, on a ship, in the past. 194 minutes. (The lecturer's verdict, not ours.)
#
# Each vector has ten entries, one for each word. Somebody asks for a **"boring love story, on a ship, in the past"**:

# %% locked="films"
words = "thrilling entertaining boring horror science-fiction love-story space ship future past".split()


def describe(text):
    """One number for each of the ten words: 1 if the text has it."""
    return np.array([float(word in text.split()) for word in words])


film_keys = np.array([
    describe("thrilling horror science-fiction space future"),  # Alien
    describe("entertaining science-fiction space past"),  # Star Wars
    describe("boring love-story ship past"),  # Titanic
])  # (3, 10)
film_values = np.array([[117.0], [121.0], [194.0]])  # (3, 1), minutes
film_queries = np.array([
    describe("boring love-story ship past"),
    describe("boring love-story space"),
])  # (2, 10)

# %% tags=["skip-grading"]
one_query = film_queries[0]
scores = film_keys @ one_query  # how many words agree
weights = softmax(scores / np.sqrt(10))  # √10: in a moment
print("words in common:", scores)
print("weights:        ", weights.round(3))
print("answer:         ", (weights @ film_values).round(1), "minutes")

# %% [markdown]
# *Titanic* agrees in 4 words, *Star Wars* in 1 (*past*), *Alien* in none. The weights are 0.60, 0.23 and 0.17, and the
# answer is a blend of the three values: 164 minutes.
#
# That was one query. Now all queries at once: put the queries in the rows of $Q$, the keys in the rows of $K$, and
# the values in the rows of $V$. Then $QK^\top$ holds *all* the dot products, one row for each query:
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V$$
#
# ($\sqrt{d_k}$ stands where $\sigma^2$ stood; section 3 says why.)
#
# | | shape | |
# |---|---|---|
# | $Q$ | $(T_q, d_k)$ | row $i$: what position $i$ is looking for |
# | $K$ | $(T_k, d_k)$ | row $j$: what position $j$ offers |
# | $V$ | $(T_k, d_v)$ | row $j$: what position $j$ says if it is listened to |
# | weights | $(T_q, T_k)$ | row $i$: how position $i$ shares out its attention; sums to 1 |
# | output | $(T_q, d_v)$ | row $i$: what position $i$ hears |
#
# It is called *self*-attention when queries, keys and values are all made from the same sentence $X$:
# $Q = XW^Q$, $K = XW^K$, $V = XW^V$, with three matrices that are learned. The table of weights then has $T \cdot T$ entries: for twice the text
# it is four times as large. That is the price of letting everybody listen to everybody.
#
# > **A note on the lectures.** One slide sums over the queries. *Each query hands out one unit of attention*, so the softmax runs
# > over the **keys**. The same slide divides by $\sqrt E$, where $E$ is the size of the embedding; right is $\sqrt{d_k}$, where $d_k$ says how many
# > numbers a query and a key have.

# %% [markdown]
# ### Question 2 · `scaled_dot_product_attention` ●●○ (20 minutes, 5 points)
#
# `scaled_dot_product_attention(q, k, v, mask=None)` returns the pair `(output, weights)`, in this order.
#
# * `q`: `(…, T_q, d_k)`, `k`: `(…, T_k, d_k)`, `v`: `(…, T_k, d_v)`. The dots stand for any number of leading axes
#   (none, or a batch, or a batch and heads), the same for all three;
# * `mask`: `None`, or an array of booleans that broadcasts to `(…, T_q, T_k)`. **True means "may attend"**. Where it is
#   False the score becomes $-\infty$ *before* the softmax (`np.where` does it). Every query may attend to at least one key.
#   (With heads, whoever calls gives the mask a shape that fits; the function adds no axis);
# * `output`: `(…, T_q, d_v)`, `weights`: `(…, T_q, T_k)`.
#
# To transpose only the last two axes of `k`, whatever comes before them, use `np.swapaxes(k, -1, -2)`.
# (PyTorch has this whole function ready-made. Not here: you write it.)

# %% question="scaled_dot_product_attention"
def scaled_dot_product_attention(q, k, v, mask=None):
    """q (…, Tq, d_k), k (…, Tk, d_k), v (…, Tk, d_v) → output (…, Tq, d_v), weights (…, Tq, Tk)."""
    ### BEGIN SOLUTION
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])  # (…, Tq, Tk)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    return weights @ v, weights
    ### END SOLUTION

# %% test="scaled_dot_product_attention" points=5
check("scaled_dot_product_attention", scaled_dot_product_attention)

# %% [markdown]
# A matrix product is only a fast way to write two loops. If that is not obvious yet, compare your function with the
# slow version, one query and one key at a time:

# %% tags=["skip-grading"]
def attention_one_by_one(q, k, v):
    """The same in loops: slow, and easy to read."""
    output = np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        scores = np.array([q[i] @ k[j] for j in range(len(k))]) / np.sqrt(q.shape[-1])
        for weight, value in zip(softmax(scores), v):
            output[i] += weight * value
    return output


with until_written():
    needs("scaled_dot_product_attention")
    quick, film_weights = scaled_dot_product_attention(film_queries, film_keys, film_values)
    slow = attention_one_by_one(film_queries, film_keys, film_values)
    print("all at once:", quick.ravel().round(2), "  one by one:", slow.ravel().round(2))
    fig, ax = plt.subplots(figsize=(7.2, 2.2))
    heatmap(film_weights, ["boring love story, ship, past", "boring love story, space"], ["Alien", "Star Wars", "Titanic"], ax=ax,
            title="Both queries are answered in one product", xlabel="key", ylabel="query",
            numbers=True, vmin=0, vmax=1, aspect="auto")
    plt.setp(ax.get_xticklabels(), rotation=0, ha="center")
    plt.show()

# %% [markdown]
# The second query hears 149.5 minutes, which fits none of the films. Section 4 asks more sharply.
#
# ## 3 · Why divide by $\sqrt{d_k}$?
#
# Take a query and a key, all of whose $2d_k$ entries are independent, with mean 0 and variance 1. Each product $q_i k_i$ has mean 0 and
# variance 1 too, and variances add up: **the dot product has variance $d_k$**. Vectors with many entries make large scores, large scores
# make a softmax that puts nearly everything on one key, and such a softmax hardly reacts to its scores any more: its derivative is small, and most queries get next to no gradient. Dividing by the standard
# deviation, $\sqrt{d_k}$, keeps the scores at variance 1 for every size.

# %% tags=["skip-grading"]
sizes = [2**n for n in range(1, 11)]
draw = np.random.default_rng(1)
variance = [(draw.normal(size=(2000, d)) * draw.normal(size=(2000, d))).sum(axis=1).var() for d in sizes]

fig, ax = plt.subplots(figsize=(5.4, 3.2))
ax.loglog(sizes, variance, "o", color=BLUE, label="measured")
ax.loglog(sizes, sizes, color=INK, lw=1, label="variance = d")
ax.set(xlabel="size d of query and key", ylabel="variance of q · k")
ax.set_title("The variance of q · k is d")
ax.legend()
plt.show()

# %% [markdown]
# And what a softmax makes of such scores: ten keys for each of 200 queries, all of them random, so that no key
# deserves to be preferred. How large is the largest weight? And how large is the softmax's derivative (all its entries squared, added up, and the root of that) for the median query?

# %% tags=["skip-grading"]
def derivative_size(weights):
    """The median size of the softmax's derivative, the table A_i ((1 if i = j) − A_j).  weights: (N, n) → number."""
    table = weights[:, :, None] * (np.eye(weights.shape[1]) - weights[:, None, :])  # (N, n, n)
    return np.median(np.sqrt((table**2).sum(axis=(1, 2))))


plain, scaled, plain_slope, scaled_slope = [], [], [], []
for d in sizes:
    q, k = draw.normal(size=(200, 1, d)), draw.normal(size=(200, 10, d))
    scores = (q * k).sum(axis=-1)  # (200, 10)
    for values, largest, slopes in ((scores, plain, plain_slope), (scores / np.sqrt(d), scaled, scaled_slope)):
        largest.append(softmax(values).max(axis=1).mean())
        slopes.append(derivative_size(softmax(values)))

fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.3))
for ax, without, divided in zip(axes, (plain, plain_slope), (scaled, scaled_slope)):
    ax.semilogx(sizes, without, "o-", color=ORANGE, label="plain scores")
    ax.semilogx(sizes, divided, "o-", color=BLUE, label="divided by √d")
    ax.set(xlabel="size d of query and key")
axes[0].set(ylabel="mean of the largest of 10 weights", ylim=(0, 1))
axes[0].set_title("Without scaling, one key takes more and more")
axes[1].set(ylabel="median size of the derivative", yscale="log")
axes[1].set_title("… and for most queries the derivative dies")
axes[1].legend()
plt.show()

# %% [markdown]
# ## 4 · A dictionary that can be asked approximately
#
# A shop keeps its orders as a dictionary, `{"order_100": "a1", "order_101": "b1", …, "order_110": "k1"}`. A Python dictionary
# answers only exact keys. Attention answers with a blend, and how sharp the blend is depends on the **temperature**
# τ (say *tau*): the scores are divided by it (on top of the $\sqrt{d_k}$). Warm, it is a kernel; cold, a dictionary. Your function has no argument for it, and needs none: **whoever wants a sharp
# answer makes a longer query**, a longer arrow: $q/\tau$ has scores $1/\tau$ times as large.
#
# Here the keys are the clock vectors of lab 06, one for each order number, all of the same length. We ask for
# `order_104` and `order_106` at the same time.

# %% tags=["skip-grading"]
orders = np.arange(100, 111)
items = [f"{letter}1" for letter in "abcdefghijk"]


def clocks(number):
    """Four clock hands for each number, of four speeds (lab 06)."""
    angle = np.outer(number, [1, 0.5, 0.25, 0.125])
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


with until_written():
    needs("scaled_dot_product_attention")
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    for tau, colour in ((1, GREEN), (0.1, ORANGE), (0.01, BLUE)):
        _, weights = scaled_dot_product_attention(clocks([104, 106]) / tau, clocks(orders), np.eye(11))
        for ax, row, number in zip(axes, weights, (104, 106)):
            ax.plot(orders, row, "o-", color=colour, label=f"τ = {tau:g}")
            ax.set(xlabel="key: number of the order", xticks=orders[::2])
            ax.set_title(f"order_{number} → {items[row.argmax()]}")
            print(f"τ = {tau:<5g} order_{number} → {items[row.argmax()]} with weight {row.max():.4f}")
    axes[0].set_ylabel("attention weight")
    axes[1].legend()
    plt.show()

# %% [markdown]
# As τ → 0 the weight of the right order goes to 1: order_104 gives *e1*, order_106 gives *g1*, exactly what the dictionary
# says. Asked for `order_999`, a dictionary raises a `KeyError`; attention can't, it always hands out its whole unit. And the soft version has a derivative everywhere. That is why it can be *learned*.
#
# ## 5 · Attention does not know the order of words
#
# Which word comes first appears nowhere in the formula. If you shuffle the words, every word hears the same voices as before,
# with the same weights:

# %% tags=["skip-grading"]
draw = np.random.default_rng(23)
vector = {word: draw.normal(size=4) for word in ("dog", "bites", "man")}
W_Q, W_K, W_V = draw.normal(size=(3, 4, 4)) / 2

with until_written():
    needs("scaled_dot_product_attention")
    fig, axes = plt.subplots(1, 2, figsize=(9, 2.2))
    for ax, sentence in zip(axes, (["dog", "bites", "man"], ["man", "bites", "dog"])):
        X = np.array([vector[word] for word in sentence])
        heard, _ = scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V)
        heatmap(heard, sentence, ax=ax, numbers=True, cmap="PuOr", vmin=-2, vmax=2, aspect="auto",
                xlabel="entry of the output")
        ax.set_xticks([])
    axes[0].set_title("Dog bites man …")
    axes[1].set_title("… or man bites dog: the same rows")
    plt.show()

# %% [markdown]
# Shuffle the input, and the output is shuffled in the same way, nothing more. (The word for it: attention is *equivariant*
# to permutations.) So it matters a great deal that lab 06's positions are added to the vectors first.
#
# ## 6 · Masks: what may not be heard
#
# **The future.** A decoder learns to predict the next word. In training the whole sentence is there at once, so a word could
# simply look at the word it is supposed to predict. The **causal mask** lets position $i$ attend to positions
# $0, 1, \dots, i$: to everything before it **and to itself**.
#
# > **A note on the lectures.** One slide *adds* a mask of 1 and 0 to the scores. Right is the recipe that you programmed: scores filled with
# > $-\infty$ where the mask is False, **position $i$ included**. The slides also say that masked attention can't run in parallel. In
# > training it can: all positions at once, which is the whole point. Only *writing* a new sentence goes word by word.

# %% [markdown]
# ### Question 3 · `causal_mask` ●○○ (5 minutes, 2 points)
#
# `causal_mask(T)` returns an array of **booleans** of shape `(T, T)`, a new one at each call, so that who changes one changes no other: entry `[i, j]` says whether position `i` may attend to
# position `j`. For `T = 3`:
#
# ```
# [[ True, False, False],
#  [ True,  True, False],
#  [ True,  True,  True]]
# ```

# %% question="causal_mask"
def causal_mask(T):
    """(T, T) booleans: row i is True at positions 0 to i."""
    ### BEGIN SOLUTION
    return np.tril(np.ones((T, T), dtype=bool))
    ### END SOLUTION

# %% test="causal_mask" points=2
check("causal_mask", causal_mask)

# %% [markdown]
# The lecture's German sentence has seven tokens. Of its 49 scores, 21 are in the future:

# %% tags=["skip-grading"]
german = "<bos> Ich habe einen Apfel gegessen <eos>".split()

with until_written():
    needs("scaled_dot_product_attention", "causal_mask")
    mask = np.asarray(causal_mask(7))
    print("scores set to −∞:", (~mask).sum())
    q, k = np.random.default_rng(4).normal(size=(2, 7, 16))
    _, weights = scaled_dot_product_attention(q, k, np.eye(7), mask)
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 4.2))
    heatmap(np.where(mask, np.round(q @ k.T / 4, 1) + 0.0, -np.inf), german, german, ax=axes[0], numbers=".1f", aspect="auto",
            cmap="PuOr", vmin=-4, vmax=4, xlabel="key: heard", ylabel="query: listening",
            title="Before the softmax: 21 are −∞")
    heatmap(weights, german, german, ax=axes[1], numbers=".2f", aspect="auto", vmin=0, vmax=1, xlabel="key: heard",
            title="After it: the future has weight 0")
    plt.show()

# %% [markdown]
# The first token can only listen to itself, so its single weight is 1. The last may listen to all.
#
# **The padding.** A batch is a rectangle, sentences are not. Short ones are filled up with a padding token, and nobody should
# listen to that.
#
# ### Question 4 · `padding_mask` ●○○ (5 minutes, 2 points)
#
# `padding_mask(lengths, T)` returns **booleans** of shape `(B, 1, T)`: for each sentence of the batch, True at its real
# positions (the first `lengths[b]`) and False at the padding behind them.
#
# * `lengths`: `B` whole numbers between 0 and `T`, as a list or an array. (A length of 0 leaves nobody to listen to; question 2 is never asked that.)
#
# The 1 in the middle stands for the queries: all queries of a sentence share one row, and NumPy's broadcasting copies it.
# For `lengths = [4, 3, 2]` (*Let there be light* / *Es werde Licht* / *Fiat lux*) and `T = 4`:
#
# ```
# [[[ True,  True,  True,  True]],
#  [[ True,  True,  True, False]],
#  [[ True,  True, False, False]]]
# ```

# %% question="padding_mask"
def padding_mask(lengths, T):
    """lengths: B whole numbers → (B, 1, T) booleans, True at the first lengths[b] positions."""
    ### BEGIN SOLUTION
    return np.arange(T)[None, None, :] < np.asarray(lengths)[:, None, None]
    ### END SOLUTION

# %% test="padding_mask" points=2
check("padding_mask", padding_mask)

# %% [markdown]
# Both masks are True where one *may* attend, so "this **and** that" is simply `&`. Does it work? A sentence must
# get the same output in a padded batch as it gets alone:

# %% tags=["skip-grading"]
with until_written():
    needs("scaled_dot_product_attention", "padding_mask")
    batch = np.random.default_rng(5).normal(size=(3, 4, 8))  # the padding holds rubbish, on purpose
    lux = batch[2:, :2]  # the two words of Fiat lux
    alone, _ = scaled_dot_product_attention(lux, lux, lux)
    for name, mask in (("without a mask", None), ("with the mask", np.asarray(padding_mask([4, 3, 2], 4)))):
        together, _ = scaled_dot_product_attention(batch, batch, batch, mask)
        gap = np.abs(together[2:, :2] - alone).max()
        print(f"Fiat lux in the batch, {name}, differs from Fiat lux alone by {gap:.2g}")

# %% tags=["skip-grading"]
with until_written():
    needs("causal_mask", "padding_mask")
    both = np.asarray(causal_mask(4)) & np.asarray(padding_mask([4, 3, 2], 4))  # (4, 4) & (3, 1, 4) → (3, 4, 4)
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.1))
    for ax, allowed, line in zip(axes, both, ("Let there be light", "Es werde Licht ·", "Fiat lux · ·")):
        heatmap(allowed, line.split(), line.split(), ax=ax, vmin=0, vmax=1, xlabel="key")
        ax.set_title(line.replace(" ·", ""), fontsize=11)
    axes[0].set_ylabel("query")
    fig.suptitle("Yellow may be heard: not the future, not the padding (·)", x=0.02, ha="left", weight="bold")
    plt.show()

# %% [markdown]
# (The rows of the padding itself compute something too. Nobody reads it; in lab 10 the loss will skip it.)
#
# ### Optional · Break it to believe it ●●○ (10 minutes, no points)
#
# A test is as good as the inputs that it tries. Six impostors of `scaled_dot_product_attention` wait behind the card below. One of them divides by the root of the *number* of keys. All six pass a test with four
# words of four numbers each that listen to themselves:

# %% locked="weak_input"
four_words = np.array([[1.0, 0, 2, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 3]])
weak_input = (four_words, four_words, four_words)

# %% [markdown]
# Let `counterexample()` return an input for which they go wrong: a tuple `(q, k, v)` or `(q, k, v, mask)`. Your own function says what is right. Can one input expose all six? (Think of the hidden tests: what is
# the same in the weak test that need not be? What does it never try?)

# %% question="counterexample" points=0
def counterexample():
    """An input that gives wrong attention functions away: (q, k, v) or (q, k, v, mask)."""
    ### BEGIN SOLUTION
    draw = np.random.default_rng(0)
    q, k, v = draw.normal(size=(2, 3, 4)), draw.normal(size=(2, 5, 4)), draw.normal(size=(2, 5, 2))
    q[1, 2] = 3000 * k[1, 0]  # one loud query; the others stay soft
    return q, k, v, np.array([[[True] * 5], [[True] * 3 + [False] * 2]])
    ### END SOLUTION

# %% tags=["skip-grading"]
with until_written():
    needs("scaled_dot_product_attention")
    break_it(counterexample, scaled_dot_product_attention)

# %% [markdown]
# ## 7 · The older sister: additive attention
#
# Attention was invented nearly three years before the transformer (Bahdanau, Cho and Bengio 2014; Vaswani and others 2017), to help a recurrent network translate: while the decoder writes
# word after word, an *alignment model* $a$ says how well each source word matches what it needs now. That model was a small
# feed-forward network with one hidden layer:
#
# $$e_{ij} = w \cdot \tanh\!\left(q_i W_q + k_j W_k\right)$$
#
# The rest is as before: softmax over the keys, weighted mean of the values. There are no dot products between queries and keys,
# so the two may have **different sizes**. And because $|\tanh| < 1$, a score is never larger than $\sum|w|$, however large queries and keys
# grow. So the scores are **not divided by $\sqrt{d_k}$**; the scaling sits in how $W_q$, $W_k$ and $w$ are drawn (below: divided by $\sqrt{16}$). The price: the hidden layer must be computed anew for every pair $(i, j)$.
#
# **By hand.** One query, two keys, all of size 1, a hidden layer of size 1; $W_q = W_k = 1$, $w = 2$. The query is 0, the
# keys are 0 and 1. The scores are $2\tanh(0) = 0$ and $2\tanh(1) = 1.523$, the weights 0.179 and 0.821.

# %% [markdown]
# ### Question 5 · `additive_attention` ●●○ (15 minutes, 4 points)
#
# `additive_attention(q, k, v, W_q, W_k, w, mask=None)` returns the pair `(output, weights)`.
#
# * `q`: `(…, T_q, d_q)`, `k`: `(…, T_k, d_k)`, `v`: `(…, T_k, d_v)`, leading axes as in question 2;
# * `W_q`: `(d_q, d_a)`, `W_k`: `(d_k, d_a)`, `w`: `(d_a,)`, where `d_a` is the size of the hidden layer;
# * `mask` and the results as in question 2.
#
# Each query must meet each key. Give the queries an extra axis where the keys have theirs, and the keys one where the
# queries have theirs: shapes `(…, T_q, 1, d_a)` and `(…, 1, T_k, d_a)` add up to `(…, T_q, T_k, d_a)`.

# %% question="additive_attention"
def additive_attention(q, k, v, W_q, W_k, w, mask=None):
    """Scores w · tanh(q W_q + k W_k), softmax over keys → output (…, Tq, d_v), weights (…, Tq, Tk)."""
    ### BEGIN SOLUTION
    queries = (q @ W_q)[..., :, None, :]  # (…, Tq, 1, d_a)
    keys = (k @ W_k)[..., None, :, :]  # (…, 1, Tk, d_a)
    scores = np.tanh(queries + keys) @ w  # (…, Tq, Tk)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    return weights @ v, weights
    ### END SOLUTION

# %% test="additive_attention" points=4
check("additive_attention", additive_attention)

# %% [markdown]
# In section 4 a longer query gave a sharper answer. Additive attention can't be shouted at by a query (only a larger $w$ sharpens it): query and key share one tanh, and a
# loud query pushes it to its ceiling, where the key makes no difference any more.

# %% tags=["skip-grading"]
with until_written():
    needs("scaled_dot_product_attention", "additive_attention")
    draw = np.random.default_rng(6)
    q, k, v = draw.normal(size=(200, 1, 16)), draw.normal(size=(200, 10, 16)), np.ones((200, 10, 1))
    W_q, W_k, w = draw.normal(size=(16, 16)) / 4, draw.normal(size=(16, 16)) / 4, draw.normal(size=16) / 4
    loudness = np.geomspace(0.1, 100, 25)
    dot = [scaled_dot_product_attention(q * s, k, v)[1].max(axis=-1).mean() for s in loudness]
    tanh = [additive_attention(q * s, k, v, W_q, W_k, w)[1].max(axis=-1).mean() for s in loudness]

    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    ax.semilogx(loudness, dot, color=BLUE, label="dot product")
    ax.semilogx(loudness, tanh, color=ORANGE, label="additive")
    ax.set(xlabel="length of the query (times)", ylabel="mean of the largest of 10 weights", ylim=(0, 1.02))
    ax.set_title("A loud query sharpens the dot product, not the tanh")
    ax.legend()
    plt.show()

# %% [markdown]
# Why then did the dot product win? It is one matrix product, and those are what computers do best. (Undivided it did worse for large $d_k$; hence the root.)
#
# ## 8 · Learning whom to listen to
#
# Nobody fills in a table of masks now: the matrices $W^Q$ and $W^K$ decide who listens to whom, and they are learned by
# gradient descent. For that we need the gradients. You know $\partial L/\partial\,\mathrm{output}$, called `d_output`, and walk
# back through the three steps of the forward pass, with $A$ for the weights and $S$ for the scaled scores:
#
# **1 · The output** was $O = AV$, a plain matrix product. So
#
# $$dV = A^\top\, dO \qquad\qquad dA = dO\; V^\top$$
#
# **2 · The softmax.** All weights of a row share one unit of attention: raise one, and the others fall. In one row $A_m = e^{S_m}/\sum_n e^{S_n}$ the score $S_m$ stands above and below the line, another score $S_j$ only below,
# so $\partial A_m/\partial S_j = A_m\,([m = j] - A_j)$. Multiply by $dA_m$ and add up over $m$: each entry is compared with the *weighted mean* of its row,
#
# $$dS_{ij} = A_{ij}\,\Big(dA_{ij} - \sum_m A_{im}\, dA_{im}\Big)$$
#
# By hand: weights $(\tfrac12, \tfrac12)$ and $dA = (1, 0)$ give the mean $\tfrac12$ and $dS = (\tfrac14, -\tfrac14)$. A row of
# $dS$ always sums to 0, and a masked score, with weight 0, gets gradient 0.
#
# **3 · The scores** were $S = QK^\top/\sqrt{d_k}$, so
#
# $$dQ = \frac{dS\; K}{\sqrt{d_k}} \qquad\qquad dK = \frac{dS^\top\, Q}{\sqrt{d_k}}$$

# %% [markdown]
# ### Question 6 · `attention_backward` ●●● (20 minutes, 4 points)
#
# `attention_backward(q, k, v, weights, d_output)` returns the triple `(d_q, d_k, d_v)`: the gradients $dQ$, $dK$ and $dV$, with the shapes of `q`,
# `k` and `v`. (So here `d_k` and `d_v` are arrays, not sizes. The size under the root is `q.shape[-1]`.)
#
# * `q`, `k`, `v`: as in question 2 (floats or integers); `weights`: what the forward pass returned, so that nothing needs to be computed twice;
# * `d_output`: $dO$, an array with the shape of the output.
#
# All leading axes are equal. A mask needs no attention (!) here: its zeros are in the weights already. By hand, please:
# no automatic differentiation.

# %% question="attention_backward"
def attention_backward(q, k, v, weights, d_output):
    """From d_output (like the output) and the forward pass's weights to the gradients (d_q, d_k, d_v) of q, k, v."""
    ### BEGIN SOLUTION
    d_v = np.swapaxes(weights, -1, -2) @ d_output
    d_weights = d_output @ np.swapaxes(v, -1, -2)
    mean = (weights * d_weights).sum(axis=-1, keepdims=True)
    d_scores = weights * (d_weights - mean) / np.sqrt(q.shape[-1])
    return d_scores @ k, np.swapaxes(d_scores, -1, -2) @ q, d_v
    ### END SOLUTION

# %% test="attention_backward" points=4
check("attention_backward", attention_backward)

# %% [markdown]
# Now the payoff. Sentences of eight words, each word of one of three kinds, drawn anew in every step. Every word also gets a random message, its value.
# First task: **say your left neighbour's message**. Second task: **say the message of the last word before you that is of your own kind**. (Who has
# no such word says its own.) The loss is the squared error of what the head puts out. Nobody tells it about weights, and random messages cannot be
# guessed: it must find out whom to listen to. Your gradient does the rest. (9,000 steps in all: seconds with array products, but some minutes
# if your functions are loops in Python. It only takes its time.)

# %% tags=["skip-grading"]
def one_back(kinds):
    """Whom to listen to: the word before.  (B, 8) → (B, 8) places"""
    return np.broadcast_to(np.maximum(np.arange(8) - 1, 0), kinds.shape)


def last_of_my_kind(kinds):
    """Whom to listen to: the last word before that is of the same kind.  (B, 8) → (B, 8) places"""
    same = (kinds[:, :, None] == kinds[:, None, :]) & np.tri(8, k=-1, dtype=bool)
    return np.where(same.any(axis=2), np.where(same, np.arange(8), -1).max(axis=2), np.arange(8))


def learn(whom, see_words, steps=3000, rate=4):
    """Gradient descent on W_Q and W_K, with 16 new sentences in each step.  → losses, weights on the right word, map, kinds"""
    draw = np.random.default_rng(7)
    W_Q, W_K = draw.normal(size=(2, 11, 16)) * 0.3
    places, losses, right = np.broadcast_to(clocks(np.arange(8)), (16, 8, 8)), [], []
    for step in range(steps):
        kinds = draw.integers(3, size=(16, 8))
        X = np.concatenate([places, see_words * np.eye(3)[kinds]], axis=2)  # (16, 8, 11): place and, perhaps, kind
        q, k, v = X @ W_Q, X @ W_K, draw.normal(size=(16, 8, 8))
        output, weights = scaled_dot_product_attention(q, k, v, np.asarray(causal_mask(8)))
        speaker = whom(kinds)[:, :, None]
        error = output - np.take_along_axis(v, speaker, axis=1)
        d_q, d_k, _ = attention_backward(q, k, v, weights, 2 * error / error.size)
        # W_Q gets X.T @ d_q, added up over all sentences
        W_Q, W_K = W_Q - rate * np.tensordot(X, d_q, ([0, 1], [0, 1])), W_K - rate * np.tensordot(X, d_k, ([0, 1], [0, 1]))
        losses.append((error**2).mean())
        others = speaker[:, :, 0] != np.arange(8)  # who listens to itself has no choice to make
        right.append(np.take_along_axis(weights, speaker, axis=2)[:, :, 0][others].mean())
    return losses, right, weights[0], kinds[0]

# %% tags=["skip-grading"]
with until_written():
    needs("scaled_dot_product_attention", "causal_mask", "attention_backward")
    runs = {"one back, sees places": learn(one_back, False), "own kind, sees places": learn(last_of_my_kind, False),
            "own kind, sees places and kinds": learn(last_of_my_kind, True)}
    fig, axes = plt.subplots(1, 3, figsize=(12, 3.6), width_ratios=[1.3, 1, 1])
    for (name, (losses, right, _, _)), colour in zip(runs.items(), (BLUE, ORANGE, GREEN)):
        axes[0].semilogy(np.convolve(losses, np.full(20, 1 / 20), "valid"), color=colour, label=name)
        print(f"{name:>32s}: weight on the right word {np.mean(right[:5]):.2f} at first, {np.mean(right[-50:]):.2f} at the end")
    table = np.eye(8)[last_of_my_kind(np.random.default_rng(8).integers(3, size=(20_000, 8)))].mean(axis=0)  # how often each place is right
    axes[0].axhline(1 - (table**2).sum(axis=1).mean(), color=INK, lw=1, ls=":", label="own kind, best fixed table of places")
    axes[0].set(xlabel="step", ylabel="mean squared error (of 20 steps)")
    axes[0].set_title("The loss falls if the task is seen")
    fig.legend(loc="outside lower left", ncols=2)
    for ax, name, title in zip(axes[1:], list(runs)[::2], ("One back", "The last of one's own kind")):
        _, _, weights, kinds = runs[name]
        letters = [f"{place} {'abc'[kind]}" for place, kind in enumerate(kinds)]
        heatmap(weights, letters, letters, ax=ax, vmin=0, vmax=1, title=title, xlabel="key: place, kind", ylabel="query")
        plt.setp(ax.get_xticklabels(), rotation=90)
    plt.show()

# %% [markdown]
# Nobody named a weight, and the head has found its mask. *One back* could still have stood in a fixed table of places. *My own kind* could not (orange: with
# places alone it guesses about as well as the best fixed table, dotted): the mask is another one in every sentence, and two matrices make it from the vectors. (Not perfectly: now and then a
# row wavers between two words. Three times the steps lift the weight to 0.97.)
#
# ## 9 · In your own words (10 minutes, 2 points each)
#
# **(a)** A friend leaves out the division by $\sqrt{d_k}$ and finds that a model with $d_k = 4$ trains well but one with
# $d_k = 512$ hardly learns at all. Explain what happens, from the variance of the scores to the gradient. Two to four sentences.

# %% [markdown] written="why_scale" points=2
# ### BEGIN SOLUTION
# With independent entries of variance 1 the dot product has variance $d_k$: scores of about ±2 for $d_k = 4$, but about ±23 for
# $d_k = 512$. A softmax of such scores gives nearly all the weight to one key, whichever happens to be ahead. There the factor
# $A_{ij}(dA_{ij} - \text{mean})$ is nearly zero: the losing weights are about 0, and for the winner $dA$ nearly equals the row's mean. So
# most queries get next to no gradient, and the few in which two keys happen to be level get a large one: the model hardly learns, and by jerks. Dividing by $\sqrt{d_k}$ brings the variance back to 1 for every size.
# ### END SOLUTION

# %% [markdown]
# **(b)** A causal mask is used, but no positions are added. Does *dog bites man* still give each word the same output as *man
# bites dog*? Say why, or why not.

# %% [markdown] written="order_and_masks" points=2
# ### BEGIN SOLUTION
# No. The mask is tied to positions, not to words: in *dog bites man* the dog hears only itself and the man hears all three; in *man
# bites dog* it is the other way round. The set of keys that a word may hear now depends on where it stands, so the
# output does as well. (A causal mask tells a model something about order, even without positions.)
# ### END SOLUTION

# %% [markdown]
# ## What you can do now

# %% tags=["skip-grading"]
progress()

# %% [markdown]
# * You know attention from three sides: as a smooth curve along dots, as a soft dictionary, and as lab 03's mask that is
#   now computed from vectors instead of looked up.
# * You can say what is divided by $\sqrt{d_k}$ and why, which axis the softmax runs along and why, and what a mask does and when.
# * You have computed the gradient of attention yourself, and with it a head found out by itself whom to listen to.
#
# ## What is still missing
#
# A head that you train does one thing: it looks one word back, or for its own kind. In *the animal did not cross the street because it was too tired*,
# the word *it* needs to find its noun, its verb, and what follows from *tired*, all at once. But each query hands out **one** unit of
# attention, in **one** way. Why not ask in several ways at the same time? That is lab 08.
